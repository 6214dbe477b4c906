//! Cuts blocks that are too long: paragraphs at sentences, code at lines, each finer where even
//! those are too long.

use std::ops::Range;

use pulldown_cmark::CodeBlockKind;

use super::reader::Reader;
use super::sentence::{grapheme_starts, is_inside, line_starts, sentence_starts, word_starts};
use super::units::{Carried, cost};
use crate::model::BlockKind;

impl Reader<'_> {
    /// Cuts `range` at sentences, and longer ones at lines, words and graphemes.
    pub(super) fn sentences(
        &mut self,
        range: Range<usize>,
        kind: BlockKind,
        carried: Option<usize>,
        protected: &[Range<usize>],
    ) {
        let room = self.room_beside(carried);
        let first = range.start;
        let leads = self.tokens.count(self.leads_start(first)..first);
        let mut pending = vec![(range, Grain::Sentence)];
        while let Some((piece, grain)) = pending.pop() {
            if piece.is_empty() {
                continue;
            }
            let starts = grain.starts(self.text(piece.clone()), room);
            let starts = starts.into_iter().map(|start| piece.start + start);
            let is_hard = grain == Grain::Grapheme;
            let starts: Vec<usize> =
                starts.filter(|at| is_hard || !is_inside(protected, *at)).collect();
            let mut ends = starts.clone();
            ends.push(piece.end);
            let mut inner = Vec::new();
            let mut start = piece.start;
            for end in ends {
                inner.push(start..end);
                start = end;
            }
            for part in inner.into_iter().rev() {
                let above = if part.start == first { leads } else { 0 };
                let is_long = above + self.tokens.count(part.clone()) > room;
                match grain.finer().filter(|_| is_long) {
                    Some(finer) => pending.push((part, finer)),
                    None => pending.push((part, Grain::Done(grain.cost()))),
                }
            }
            self.drain_done(&mut pending, kind, carried);
        }
    }

    fn drain_done(
        &mut self,
        pending: &mut Vec<(Range<usize>, Grain)>,
        kind: BlockKind,
        carried: Option<usize>,
    ) {
        while let Some((part, Grain::Done(cost))) = pending.last().cloned() {
            pending.pop();
            self.push_inner(part.start, cost, kind, carried);
        }
    }

    pub(super) fn lines(&mut self, range: Range<usize>, kind: BlockKind, carried: Option<usize>) {
        let starts: Vec<usize> =
            line_starts(self.text(range.clone())).map(|at| range.start + at).collect();
        let mut start = range.start;
        for end in starts.into_iter().chain([range.end]) {
            self.line(start..end, cost::LINE, kind, carried);
            start = end;
        }
    }

    /// A line that is a unit, or several where it is too long.
    fn line(&mut self, range: Range<usize>, cost: u32, kind: BlockKind, carried: Option<usize>) {
        self.push_inner(range.start, cost, kind, carried);
        if self.tokens.count(range.clone()) > self.room_beside(carried) {
            self.sentences(range, kind, carried, &[]);
        }
    }

    /// Cuts code at its lines; each part opens with the block's fence and closes it.
    pub(super) fn code(&mut self, kind: &CodeBlockKind<'_>, range: Range<usize>) {
        let is_fenced = matches!(kind, CodeBlockKind::Fenced(_));
        self.block(range.clone(), BlockKind::Code);
        let start = self.line_start(range.start);
        let text = self.text(start..range.end).to_owned();
        let carried = if is_fenced { self.carry_fence(&text, range.start - start) } else { None };
        let mut lines: Vec<Range<usize>> = Vec::new();
        let mut from = 0;
        for end in line_starts(&text).chain([text.len()]) {
            lines.push(from..end);
            from = end;
        }
        let last = lines.len() - 1;
        let mut was_blank = false;
        for (n, line) in lines.into_iter().enumerate().skip(1) {
            let content = text.get(line.clone()).unwrap_or_default();
            let is_indented = content.starts_with([' ', '\t']);
            let cost = match n {
                1 => cost::FENCE,
                n if n == last && is_fenced => cost::FENCE,
                _ if was_blank => cost::INNER,
                _ if is_indented => cost::INDENTED_LINE,
                _ => cost::CODE_LINE,
            };
            was_blank = content.trim().is_empty();
            self.line(start + line.start..start + line.end, cost, BlockKind::Code, carried);
        }
    }

    fn carry_fence(&mut self, text: &str, fence_at: usize) -> Option<usize> {
        let first = text.lines().next().unwrap_or_default();
        let lead = blank_lead(first.get(..fence_at).unwrap_or_default());
        let fence = first.get(fence_at..).unwrap_or_default();
        let mark = fence.chars().next()?;
        let closing: String = fence.chars().take_while(|c| *c == mark).collect();
        let opening = format!("{lead}{fence}\n");
        let parents = self.parents(self.items.len());
        let parent_tokens = self.tokens.count_other(&parents);
        let closing = format!("{lead}{closing}\n");
        let tokens = self.tokens.count_other(&opening) + self.tokens.count_other(&closing);
        let is_truncated = false;
        Some(self.carry(Carried { parents, opening, closing, is_truncated, parent_tokens, tokens }))
    }
}

/// How finely a stretch is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grain {
    Sentence,
    Line,
    Word,
    Grapheme,
    Done(u32),
}

impl Grain {
    fn starts(self, text: &str, room: usize) -> Vec<usize> {
        match self {
            Self::Sentence => sentence_starts(text),
            Self::Line => line_starts(text).collect(),
            Self::Word => word_starts(text),
            Self::Grapheme => grapheme_starts(text, room / 2),
            Self::Done(_) => Vec::new(),
        }
    }

    fn finer(self) -> Option<Self> {
        match self {
            Self::Sentence => Some(Self::Line),
            Self::Line => Some(Self::Word),
            Self::Word => Some(Self::Grapheme),
            Self::Grapheme | Self::Done(_) => None,
        }
    }

    fn cost(self) -> u32 {
        match self {
            Self::Sentence => cost::SENTENCE,
            Self::Line => cost::LINE,
            Self::Word => cost::WORD,
            Self::Grapheme => cost::GRAPHEME,
            Self::Done(cost) => cost,
        }
    }
}

/// What stands before a block on its first line, for another line: list marks become blanks,
/// quotation marks stay.
pub(super) fn blank_lead(lead: &str) -> String {
    lead.chars().map(|c| if c == '>' { '>' } else { ' ' }).collect()
}

/// A line with single blanks between its words, and none around it.
pub(super) fn plain_line(line: &str) -> String {
    let words = line.split_ascii_whitespace();
    words.collect::<Vec<_>>().join(" ")
}
