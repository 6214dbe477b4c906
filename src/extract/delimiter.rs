//! Delimiter runs: where `*`, `_`, `~` and back-ticks of a text would be read as markup.
//!
//! Renderers differ in whether symbols such as `€` count as punctuation (CommonMark before 0.31
//! and after). What is written must be read alike by both, so a mark is written only where both
//! let it open or close, and literal text is escaped where either would.

use std::ops::Range;

/// A run of equal characters that could delimit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DelimiterRun {
    /// The character.
    pub(super) mark: u8,
    /// Where it stands.
    pub(super) span: Range<usize>,
    /// What it is there for.
    pub(super) role: Role,
    /// Whether it can open.
    pub(super) opens: Flanking,
    /// Whether it can close.
    pub(super) closes: Flanking,
}

/// What a run is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It is text.
    Literal,
    /// It begins emphasis.
    Opener,
    /// It ends emphasis.
    Closer,
}

/// In which generations of renderers something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flanking {
    /// In none.
    Never,
    /// In some.
    Sometimes,
    /// In all.
    Always,
}

impl Flanking {
    fn of(votes: [bool; 2]) -> Self {
        match votes {
            [true, true] => Self::Always,
            [false, false] => Self::Never,
            _ => Self::Sometimes,
        }
    }
}

impl DelimiterRun {
    /// The run at `span` of `text`, all of whose bytes are `mark`.
    pub(super) fn new(text: &str, span: Range<usize>, mark: u8) -> Self {
        let before = text.get(..span.start).and_then(|text| text.chars().next_back());
        let after = text.get(span.end..).and_then(|text| text.chars().next());
        let (old_open, old_close) = if mark == b'~' && span.len() > 1 {
            // No specification: of two tildes some renderers look at white space alone.
            let is_word = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
            (is_word(after), is_word(before))
        } else {
            ability(before, after, mark, is_old_punctuation)
        };
        let (open, close) = ability(before, after, mark, is_punctuation);
        Self {
            mark,
            span,
            role: Role::Literal,
            opens: Flanking::of([old_open, open]),
            closes: Flanking::of([old_close, close]),
        }
    }
}

/// Whether a run between these characters can open, and can close (CommonMark 0.31 §6.2). The
/// edge of a text counts as white space.
fn ability(
    before: Option<char>,
    after: Option<char>,
    mark: u8,
    is_punctuation: impl Fn(char) -> bool,
) -> (bool, bool) {
    let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let is_mark = |c: Option<char>| c.is_some_and(&is_punctuation);
    let left = !is_space(after) && (!is_mark(after) || is_space(before) || is_mark(before));
    let right = !is_space(before) && (!is_mark(before) || is_space(after) || is_mark(after));
    if mark == b'_' {
        return (left && (!right || is_mark(before)), right && (!left || is_mark(after)));
    }
    (left, right)
}

/// Punctuation as CommonMark 0.31 has it: Unicode categories P and S.
fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    !c.is_alphanumeric()
        && !c.is_whitespace()
        && !unicode_normalization::char::is_combining_mark(c)
        && !matches!(c, '\u{200c}' | '\u{200d}' | '\u{e000}'..='\u{f8ff}')
}

/// Punctuation before CommonMark 0.31: without the symbols beyond ASCII.
fn is_old_punctuation(c: char) -> bool {
    is_punctuation(c) && !is_symbol(c)
}

/// Unicode category S beyond ASCII, by its blocks.
fn is_symbol(c: char) -> bool {
    matches!(
        c,
        '¢'..='¦' | '¨' | '©' | '¬' | '®'..='±' | '´' | '¸' | '×' | '÷' | '˂'..='˟'
            | '\u{20a0}'..='\u{20cf}' | '\u{2100}'..='\u{214f}' | '\u{2190}'..='\u{2307}'
            | '\u{230c}'..='\u{2328}' | '\u{232b}'..='\u{2767}' | '\u{2794}'..='\u{27c4}'
            | '\u{27c7}'..='\u{27e5}' | '\u{27f0}'..='\u{2982}' | '\u{2999}'..='\u{29d7}'
            | '\u{29dc}'..='\u{29fb}' | '\u{29fe}'..='\u{2bff}' | '〒' | '〓'
            | '\u{3200}'..='\u{33ff}' | '\u{1d000}'..='\u{1d3ff}' | '\u{1e2ff}' | '\u{1ec00}'..='\u{1faff}'
    )
}

/// The runs of literal text that would pair, as byte ranges. `runs` stand in order; markup runs
/// are those that stay.
///
/// An opener with a closer behind it is escaped. A closer is only where markup is open around it,
/// since no literal opener is left; and a run beside markup of its kind always, since the two
/// would be one run.
pub(super) fn pairing(runs: &[DelimiterRun]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for mark in [b'*', b'_', b'~'] {
        let of_mark = || runs.iter().filter(|run| run.mark == mark);
        let last_close = of_mark()
            .filter(|run| run.closes != Flanking::Never)
            .map(|run| run.span.start)
            .next_back();
        let mut open_markup = 0_usize;
        let mut markup_end = None;
        let mut behind = of_mark().skip(1);
        for run in of_mark() {
            let next = behind.next();
            match run.role {
                Role::Opener => open_markup += 1,
                Role::Closer => open_markup = open_markup.saturating_sub(1),
                Role::Literal => {}
            }
            if run.role != Role::Literal {
                markup_end = Some(run.span.end);
                continue;
            }
            let touches = markup_end == Some(run.span.start)
                || next.is_some_and(|next| {
                    next.role != Role::Literal && next.span.start == run.span.end
                });
            let opens = run.opens != Flanking::Never
                && last_close.is_some_and(|close| close > run.span.start);
            let closes = run.closes != Flanking::Never && open_markup > 0;
            let is_long = mark == b'~' && run.span.len() > 2;
            if touches || (opens || closes) && !is_long {
                found.push(run.span.clone());
            }
        }
    }
    found
}

/// The literal runs of back-ticks that would open a code span, as byte ranges: those with a run
/// of their length behind them. An escaped run counts as single back-ticks.
pub(super) fn opening_ticks(ticks: &[(Range<usize>, bool)]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut behind: Vec<usize> = Vec::new();
    let mut next_start = usize::MAX;
    let mut next_is_literal = true;
    for (n, (span, is_literal)) in ticks.iter().enumerate().rev() {
        let before = n.checked_sub(1).and_then(|n| ticks.get(n));
        let touches = before.is_some_and(|(before, is_text)| !is_text && before.end == span.start)
            || next_start == span.end && !next_is_literal;
        let is_escaped = *is_literal && (touches || behind.contains(&span.len()));
        let length = if is_escaped { 1 } else { span.len() };
        if is_escaped {
            found.push(span.clone());
        }
        // Lengths are few in any text; a hostile one may have as many as its square root.
        if !behind.contains(&length) {
            behind.push(length);
        }
        next_start = span.start;
        next_is_literal = *is_literal;
    }
    found
}
