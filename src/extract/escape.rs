//! Which characters of a text need a backslash so that it stays the text it is.
//!
//! A character is escaped only where CommonMark would read it as markup *there*: emphasis only
//! where a run can open or close and has a partner, brackets only where a target follows, block
//! marks only at the start of a line.

use std::ops::Range;

use super::delimiter::{DelimiterRun, Flanking, Role, opening_ticks, pairing};
use super::syntax::{LinePosition, block_start, is_entity, is_tag, is_target};

/// The text of a block as it will be written: literal text, and markup that stands as it is.
#[derive(Debug, Default)]
pub(super) struct BlockText {
    text: String,
    /// Stretches of markup, in order; none meet.
    markup: Vec<Range<usize>>,
    /// Stretches that are the text of a link or image, innermost first.
    links: Vec<Range<usize>>,
    /// The delimiters of emphasis, in pairs.
    emphasis: Vec<(Range<usize>, Range<usize>)>,
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
        self.text.push_str(text);
    }

    /// Adds markup.
    pub(super) fn push_markup(&mut self, markup: &str) {
        let start = self.text.len();
        self.text.push_str(markup);
        match self.markup.last_mut().filter(|before| before.end == start) {
            Some(before) => before.end = self.text.len(),
            None => self.markup.push(start..self.text.len()),
        }
    }

    /// How many bytes there are.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether the text ends in `mark`.
    pub(super) fn ends_with(&self, mark: &str) -> bool {
        self.text.ends_with(mark)
    }

    /// Says that the bytes from `start` on are the text of a link or image.
    pub(super) fn mark_link(&mut self, start: usize) {
        self.links.push(start..self.text.len());
    }

    /// Says that the markup at `open` and `close` delimits emphasis.
    pub(super) fn pair(&mut self, open: Range<usize>, close: Range<usize>) {
        self.emphasis.push((open, close));
    }

    /// The text with a backslash before every literal character that needs one.
    pub(super) fn escaped(mut self, place: Place) -> String {
        let mut needs = Vec::new();
        if self.text.bytes().any(is_candidate) {
            self.mark_inline(place, &mut needs);
        }
        match place {
            Place::Paragraph => self.mark_lines(&mut needs),
            Place::Heading => self.mark_closing_sequence(&mut needs),
            Place::Cell => {}
        }
        if needs.is_empty() {
            return std::mem::take(&mut self.text);
        }
        needs.sort_unstable();
        needs.dedup();
        let mut escaped = String::with_capacity(self.text.len() + needs.len());
        let mut from = 0;
        for at in needs {
            escaped.push_str(self.text.get(from..at).unwrap_or_default());
            escaped.push('\\');
            from = at;
        }
        escaped.push_str(self.rest(from));
        escaped
    }

    /// The pairs of emphasis, by the order in which they were told, that cannot open or close where
    /// they stand: they would be read as text.
    pub(super) fn dead_pairs(&self) -> Vec<usize> {
        let is_dead = |(open, close): &(Range<usize>, Range<usize>)| {
            let open = self.delimiter_run(open).map(|run| run.opens);
            let close = self.delimiter_run(close).map(|run| run.closes);
            open != Some(Flanking::Always) || close != Some(Flanking::Always)
        };
        let pairs = self.emphasis.iter().enumerate();
        pairs.filter(|(_, pair)| is_dead(pair)).map(|(n, _)| n).collect()
    }

    /// The whole run of markup that the delimiter at `span` is part of.
    fn delimiter_run(&self, span: &Range<usize>) -> Option<DelimiterRun> {
        let bytes = self.text.as_bytes();
        let mark = *bytes.get(span.start)?;
        let (before, after) = (bytes.get(..span.start)?, bytes.get(span.end..)?);
        let is_markup = |at: usize, byte: u8| byte == mark && !self.is_literal(at);
        let before = before.iter().rev().take(8).zip((0..span.start).rev());
        let left = before.take_while(|(byte, at)| is_markup(*at, **byte)).count();
        let after = after.iter().take(8).zip(span.end..);
        let right = after.take_while(|(byte, at)| is_markup(*at, **byte)).count();
        let whole = span.start - left..span.end + right;
        Some(DelimiterRun::new(&self.text, whole, mark))
    }

    fn mark_lines(&self, needs: &mut Vec<usize>) {
        let mut start = 0;
        let mut position = LinePosition::First;
        for line in self.text.split('\n') {
            if self.is_literal(start) {
                needs
                    .extend(block_start(line, position).into_iter().flatten().map(|at| at + start));
            }
            start += line.len() + 1;
            position = LinePosition::Continuation;
        }
    }

    /// `## C #` would lose its last sign.
    fn mark_closing_sequence(&self, needs: &mut Vec<usize>) {
        let rest = self.text.trim_end_matches('#');
        let is_apart = rest.is_empty() || rest.ends_with(' ');
        if rest.len() < self.text.len() && is_apart {
            needs.push(rest.len());
        }
    }

    fn is_literal(&self, at: usize) -> bool {
        let behind = self.markup.partition_point(|span| span.end <= at);
        self.markup.get(behind).is_none_or(|span| span.start > at)
    }

    fn rest(&self, at: usize) -> &str {
        self.text.get(at..).unwrap_or_default()
    }

    fn mark_inline(&self, place: Place, needs: &mut Vec<usize>) {
        let specials = self.specials(place, needs);
        self.mark_brackets(&specials, needs);
        self.mark_runs(&specials, needs);
    }

    /// Every bracket and delimiter, in order. What can be said of other bytes by what follows
    /// them goes to `needs`.
    fn specials(&self, place: Place, needs: &mut Vec<usize>) -> Vec<Special> {
        let last_close = self.text.rfind('>').unwrap_or(0);
        let last_instruction_close = self.text.rfind("?>").unwrap_or(0);
        let mut markup = self.markup.iter().peekable();
        let mut specials = Vec::new();
        for (at, byte) in self.text.bytes().enumerate().filter(|(_, byte)| is_candidate(*byte)) {
            while markup.peek().is_some_and(|span| span.end <= at) {
                markup.next();
            }
            let is_literal = markup.peek().is_none_or(|span| span.start > at);
            let next = self.text.as_bytes().get(at + 1);
            let is_needed = match byte {
                b'|' => place == Place::Cell,
                b'`' | b'*' | b'_' | b'~' | b'[' | b']' => {
                    specials.push(Special { at, byte, is_literal });
                    false
                }
                _ if !is_literal => false,
                b'\\' => next.is_some_and(|byte| *byte == b'\n' || byte.is_ascii_punctuation()),
                b'!' => next == Some(&b'[') && !self.is_literal(at + 1),
                b'<' if next == Some(&b'?') => at + 1 < last_instruction_close,
                b'<' => at < last_close && is_tag(self.rest(at)),
                _ => is_entity(self.rest(at)),
            };
            needs.extend(is_needed.then_some(at));
        }
        specials
    }

    /// Brackets whose partner has a target behind it, and brackets in the text of a link that have
    /// no partner in it.
    fn mark_brackets(&self, specials: &[Special], needs: &mut Vec<usize>) {
        let mut links = self.links.clone();
        links.sort_unstable_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        let mut links = links.into_iter().peekable();
        // Brackets without partner, outside links and in each link around.
        let mut outside = Vec::new();
        let mut around: Vec<(usize, Vec<usize>)> = Vec::new();
        let brackets = specials
            .iter()
            .filter(|special| special.is_literal && matches!(special.byte, b'[' | b']'));
        for bracket in brackets {
            while let Some((_, open)) = around.pop_if(|(end, _)| *end <= bracket.at) {
                needs.extend(open);
            }
            while let Some(link) = links.next_if(|span| span.start <= bracket.at) {
                if link.end > bracket.at {
                    around.push((link.end, Vec::new()));
                }
            }
            let is_in_link = !around.is_empty();
            let open = around.last_mut().map_or(&mut outside, |(_, open)| open);
            if bracket.byte == b'[' {
                open.push(bracket.at);
                continue;
            }
            match open.pop() {
                Some(start) if is_target(self.rest(bracket.at + 1)) => {
                    needs.push(start);
                    needs.extend(is_in_link.then_some(bracket.at));
                }
                None if is_in_link => needs.push(bracket.at),
                _ => {}
            }
        }
        needs.extend(around.into_iter().flat_map(|(_, open)| open));
    }

    /// Runs of back-ticks, emphasis marks and tildes that would pair.
    fn mark_runs(&self, specials: &[Special], needs: &mut Vec<usize>) {
        let mut runs = Vec::new();
        let mut ticks = Vec::new();
        for special in specials.chunk_by(Special::continues) {
            let (Some(first), Some(last)) = (special.first(), special.last()) else { continue };
            let span = first.at..last.at + 1;
            match first.byte {
                b'`' => ticks.push((span, first.is_literal)),
                b'*' | b'_' | b'~' if first.is_literal => {
                    runs.push(DelimiterRun::new(&self.text, span, first.byte));
                }
                _ => {}
            }
        }
        if !runs.is_empty() {
            for (open, close) in &self.emphasis {
                for (span, role) in [(open, Role::Opener), (close, Role::Closer)] {
                    let run = self.delimiter_run(span);
                    runs.extend(run.map(|run| DelimiterRun { span: span.clone(), role, ..run }));
                }
            }
            runs.sort_unstable_by_key(|run| run.span.start);
            needs.extend(pairing(&runs).into_iter().flatten());
        }
        needs.extend(opening_ticks(&ticks).into_iter().flatten());
    }
}

/// A byte that could be markup.
#[derive(Debug)]
struct Special {
    at: usize,
    byte: u8,
    is_literal: bool,
}

impl Special {
    /// Whether `next` goes on the run that this byte is in.
    fn continues(&self, next: &Self) -> bool {
        self.at + 1 == next.at && self.byte == next.byte && self.is_literal == next.is_literal
    }
}

/// Whether a byte may be markup inside a line.
fn is_candidate(byte: u8) -> bool {
    matches!(byte, b'\\' | b'`' | b'*' | b'_' | b'~' | b'[' | b']' | b'!' | b'<' | b'&' | b'|')
}
