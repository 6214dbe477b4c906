//! Which characters of a text need a backslash so that it stays the text it is.
//!
//! A character is escaped only where CommonMark would read it as markup *there*: emphasis only
//! where a run can open or close and has a partner, brackets only where a target follows, block
//! marks only at the start of a line.

/// Characters that may be markup inside a line.
const CANDIDATES: &[char] = &['\\', '`', '*', '_', '~', '[', ']', '!', '<', '&', '|'];

/// The text of a block as it will be written: literal text, and markup that stands as it is.
#[derive(Debug, Default)]
pub(super) struct BlockText {
    text: Vec<char>,
    /// By character: whether it is literal, so that it may be escaped.
    literal: Vec<bool>,
    /// Stretches that are the text of a link.
    links: Vec<(usize, usize)>,
}

/// What kind of block a text stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A paragraph: each of its lines could be read as the start of another block.
    Paragraph,
    /// A heading: its end could be read as a closing sequence.
    Heading,
    /// A table cell: a `|` would end it.
    Cell,
}

impl BlockText {
    /// Adds literal text.
    pub(super) fn push_text(&mut self, text: &str) {
        self.text.extend(text.chars());
        self.literal.resize(self.text.len(), true);
    }

    /// Adds markup.
    pub(super) fn push_markup(&mut self, markup: &str) {
        self.text.extend(markup.chars());
        self.literal.resize(self.text.len(), false);
    }

    /// How many characters there are.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The last character.
    pub(super) fn last(&self) -> Option<char> {
        self.text.last().copied()
    }

    /// Says that the characters from `start` on are the text of a link.
    pub(super) fn mark_link(&mut self, start: usize) {
        self.links.push((start, self.text.len()));
    }

    /// Whether the run of `*` or `_` markup around `index` can open, and can close, emphasis.
    pub(super) fn can_delimit(&self, index: usize) -> (bool, bool) {
        let Some(mark) = self.at(index) else { return (false, false) };
        let is_mark = |i: &usize| self.at(*i) == Some(mark) && !self.is_literal(*i);
        let start = (0..index).rev().take_while(is_mark).last().unwrap_or(index);
        let end = (index..self.len()).take_while(is_mark).last().unwrap_or(index);
        let before = start.checked_sub(1).and_then(|i| self.at(i));
        let after = self.at(end + 1);
        let (left, right) = flanking(before, after);
        if mark == '_' {
            let can_open = left && (!right || before.is_none_or(is_punctuation));
            let can_close = right && (!left || after.is_none_or(is_punctuation));
            return (can_open, can_close);
        }
        (left, right)
    }

    /// The text with a backslash before every literal character that needs one. Characters for
    /// which `dropped` holds are left out.
    pub(super) fn escaped(&self, place: Place, dropped: &[bool]) -> String {
        let mut needs = vec![false; self.text.len()];
        if self.text.iter().any(|c| CANDIDATES.contains(c)) {
            self.mark_inline(place, &mut needs);
        }
        match place {
            Place::Paragraph => self.mark_lines(&mut needs),
            Place::Heading => self.mark_closing_sequence(&mut needs),
            Place::Cell => {}
        }
        let mut escaped = String::with_capacity(self.text.len() + 8);
        for (index, c) in self.text.iter().enumerate() {
            if dropped.get(index) == Some(&true) {
                continue;
            }
            let is_needed = needs.get(index) == Some(&true);
            if is_needed && (self.is_literal(index) || *c == '|') {
                escaped.push('\\');
            }
            escaped.push(*c);
        }
        escaped
    }

    fn mark_lines(&self, needs: &mut [bool]) {
        let mut start = 0;
        let mut position = LinePosition::First;
        while start < self.len() {
            let line = self.text.get(start..).unwrap_or_default();
            let length = line.iter().position(|c| *c == '\n').unwrap_or(line.len());
            let line = line.get(..length).unwrap_or_default();
            if self.is_literal(start) {
                if let Some(at) = block_start(line, position) {
                    set(needs, start + at, true);
                }
            }
            start += length + 1;
            position = LinePosition::Continuation;
        }
    }

    /// `## C #` would lose its last sign.
    fn mark_closing_sequence(&self, needs: &mut [bool]) {
        let signs = self.text.iter().rev().take_while(|c| **c == '#').count();
        let start = self.len() - signs;
        let is_apart = start.checked_sub(1).is_none_or(|before| self.at(before) == Some(' '));
        set(needs, start, signs > 0 && is_apart);
    }

    fn at(&self, index: usize) -> Option<char> {
        self.text.get(index).copied()
    }

    fn is_literal(&self, index: usize) -> bool {
        self.literal.get(index).copied().unwrap_or(false)
    }

    fn mark_inline(&self, place: Place, needs: &mut [bool]) {
        self.mark_brackets(needs);
        self.mark_runs(needs);
        let last_close = self.text.iter().rposition(|c| *c == '>');
        for (index, c) in self.text.iter().enumerate() {
            let next = self.at(index + 1);
            let need = match c {
                '\\' => next.is_none_or(|next| next == '\n' || next.is_ascii_punctuation()),
                '!' => next == Some('[') && !self.is_literal(index + 1),
                '<' => {
                    next.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
                        && last_close.is_some_and(|close| close > index)
                }
                '&' => self.is_entity(index),
                '|' => place == Place::Cell,
                _ => false,
            };
            set(needs, index, need);
        }
    }

    /// Whether an entity begins at `start`: `&name;`, `&#1;` or `&#x1;`.
    fn is_entity(&self, start: usize) -> bool {
        let rest = self.text.get(start + 1..).unwrap_or_default();
        let end = rest.iter().take(33).position(|c| *c == ';').unwrap_or(0);
        let name: String = rest.get(..end).unwrap_or_default().iter().collect();
        match name.strip_prefix('#') {
            Some(number) => {
                let digits = number.strip_prefix(['x', 'X']);
                let is_hex = digits.is_some_and(|d| d.chars().all(|c| c.is_ascii_hexdigit()));
                let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
                digits.is_some_and(|d| !d.is_empty() && d.len() <= 6) && is_hex
                    || is_number && number.len() <= 7
            }
            None => {
                name.starts_with(|c: char| c.is_ascii_alphabetic())
                    && name.chars().all(|c| c.is_ascii_alphanumeric())
            }
        }
    }

    /// Brackets in the text of a link, and brackets whose partner has a target behind it.
    fn mark_brackets(&self, needs: &mut [bool]) {
        for (start, end) in &self.links {
            for index in *start..*end {
                set(needs, index, self.is_literal(index) && matches!(self.at(index), Some('[' | ']')));
            }
        }
        let mut open = Vec::new();
        for (index, c) in self.text.iter().enumerate() {
            match c {
                '[' if self.is_literal(index) => open.push(index),
                ']' if self.is_literal(index) => {
                    let Some(start) = open.pop() else { continue };
                    if matches!(self.at(index + 1), Some('(' | '[')) {
                        set(needs, start, true);
                        set(needs, index, true);
                    }
                }
                _ => {}
            }
        }
    }

    /// Runs of back-ticks, emphasis marks and tildes that would pair.
    fn mark_runs(&self, needs: &mut [bool]) {
        let runs = self.runs();
        for mark in ['`', '*', '_', '~'] {
            let of_mark: Vec<&DelimiterRun> = runs.iter().filter(|run| run.mark == mark).collect();
            let openers: Vec<usize> = indices(&of_mark, |run| run.can_open);
            let closers: Vec<usize> = indices(&of_mark, |run| run.can_close);
            let (first_open, last_close) = (openers.first().copied(), closers.last().copied());
            let lengths = count_lengths(&of_mark);
            for run in of_mark.iter().filter(|run| self.is_literal(run.start)) {
                let pairs = match mark {
                    '`' => lengths.get(run.length.min(63)).is_some_and(|n| *n > 1),
                    '~' if run.length > 2 => false,
                    _ => {
                        run.can_open && last_close.is_some_and(|at| at > run.start)
                            || run.can_close && first_open.is_some_and(|at| at < run.start)
                    }
                };
                for index in run.start..run.start + run.length {
                    set(needs, index, pairs);
                }
            }
        }
    }

    fn runs(&self) -> Vec<DelimiterRun> {
        let mut runs = Vec::new();
        let mut index = 0;
        while let Some(mark) = self.at(index) {
            if !matches!(mark, '`' | '*' | '_' | '~') {
                index += 1;
                continue;
            }
            let same = self.text.iter().skip(index).take_while(|c| **c == mark).count();
            let before = index.checked_sub(1).and_then(|index| self.at(index));
            let (left, right) = flanking(before, self.at(index + same));
            let is_word = mark == '_';
            let before_is_punctuation = before.is_none_or(is_punctuation);
            let after_is_punctuation = self.at(index + same).is_none_or(is_punctuation);
            runs.push(DelimiterRun {
                mark,
                start: index,
                length: same,
                can_open: left && (!is_word || !right || before_is_punctuation),
                can_close: right && (!is_word || !left || after_is_punctuation),
            });
            index += same;
        }
        runs
    }

}

/// The place of the character of `line` that would make it begin another block.
fn block_start(line: &[char], position: LinePosition) -> Option<usize> {
    let first = *line.first()?;
    let same = line.iter().take_while(|c| **c == first).count();
    let after = line.get(same).copied();
    let ends_word = after.is_none_or(|c| c == ' ');
    let is_all = |allowed: &[char]| line.iter().all(|c| allowed.contains(c));
    let is_continuation = position == LinePosition::Continuation;
    let begins = match first {
        '#' => same <= 6 && ends_word,
        '>' => true,
        '-' | '+' | '*' if same == 1 && ends_word => true,
        '-' | '_' | '*' if is_all(&[first, ' ']) => same >= 3 || first == '-' || line.len() >= 3,
        '=' => is_continuation && is_all(&['=', ' ']),
        '`' | '~' => same >= 3,
        '|' | ':' | '-' => is_continuation && is_all(&['|', ':', '-', ' ']),
        '<' => after.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')),
        '[' => is_definition(line),
        _ => false,
    };
    if first.is_ascii_digit() { ordinal_mark(line) } else { begins.then_some(0) }
}

/// Whether a line begins as a link or footnote definition, or as a task box.
fn is_definition(line: &[char]) -> bool {
    let close = line.iter().position(|c| *c == ']').unwrap_or(0);
    let is_box = close == 2
        && matches!(line.get(1), Some(' ' | 'x' | 'X'))
        && line.get(3).is_none_or(|c| *c == ' ');
    close > 1 && line.get(close + 1) == Some(&':') || is_box
}

/// The place of the `.` or `)` that makes a line begin an ordered item.
fn ordinal_mark(line: &[char]) -> Option<usize> {
    let digits = line.iter().take_while(|c| c.is_ascii_digit()).count();
    let is_mark = matches!(line.get(digits), Some('.' | ')'));
    let is_item = digits <= 9 && is_mark && line.get(digits + 1).is_none_or(|c| *c == ' ');
    is_item.then_some(digits)
}

/// Where a line stands in its paragraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinePosition {
    First,
    Continuation,
}

#[derive(Debug)]
struct DelimiterRun {
    mark: char,
    start: usize,
    length: usize,
    can_open: bool,
    can_close: bool,
}

fn indices(runs: &[&DelimiterRun], is_wanted: impl Fn(&DelimiterRun) -> bool) -> Vec<usize> {
    runs.iter().filter(|run| is_wanted(run)).map(|run| run.start).collect()
}

/// How many runs there are of each length; longer ones than 63 count as 63.
fn count_lengths(runs: &[&DelimiterRun]) -> [usize; 64] {
    let mut lengths = [0; 64];
    for run in runs {
        if let Some(n) = lengths.get_mut(run.length.min(63)) {
            *n += 1;
        }
    }
    lengths
}

fn set(needs: &mut [bool], index: usize, need: bool) {
    if let Some(slot) = needs.get_mut(index) {
        *slot |= need;
    }
}

/// Whether a delimiter run between these characters is left-flanking and right-flanking
/// (CommonMark 0.31 §6.2). The edge of a line counts as white space.
pub(super) fn flanking(before: Option<char>, after: Option<char>) -> (bool, bool) {
    let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let is_mark = |c: Option<char>| c.is_some_and(is_punctuation);
    let left = !is_space(after) && (!is_mark(after) || is_space(before) || is_mark(before));
    let right = !is_space(before) && (!is_mark(before) || is_space(after) || is_mark(after));
    (left, right)
}

/// Punctuation as CommonMark 0.31 has it: Unicode categories P and S.
pub(super) fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    !c.is_alphanumeric() && !c.is_whitespace() && !is_mark_character(c)
}

/// Combining marks belong to the letter before them.
fn is_mark_character(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}
