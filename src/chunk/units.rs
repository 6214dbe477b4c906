//! Where a document may be cut: a sequence of units that tile it.
//!
//! A unit is the smallest stretch that packing moves. A block that fits the budget is one unit;
//! a longer one falls into items, rows, lines or sentences, and those into words and graphemes
//! where even they are too long. Only starts are recorded: a unit ends where the next begins, so
//! that units tile the document by construction.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::ChunkInput;
use super::sentence::{grapheme_starts, is_inside, line_starts, sentence_starts, word_starts};
use super::tokens::TokenMap;
use crate::model::BlockKind;

/// What a cut before a unit costs.
pub(super) mod cost {
    /// Before a heading.
    pub(crate) const HEADING: u32 = 0;
    /// Between blocks.
    pub(crate) const BLOCK: u32 = 1;
    /// Between list items and between table rows.
    pub(crate) const ITEM: u32 = 2;
    /// Between blocks of one item, after a blank line in code, and before a block that the
    /// paragraph above introduces.
    pub(crate) const INNER: u32 = 3;
    /// Between lines of code that are not indented, and those that are.
    pub(crate) const CODE_LINE: u32 = 5;
    pub(crate) const INDENTED_LINE: u32 = 7;
    /// Between sentences, lines of a paragraph, words, graphemes.
    pub(crate) const SENTENCE: u32 = 6;
    pub(crate) const LINE: u32 = 8;
    pub(crate) const WORD: u32 = 12;
    pub(crate) const GRAPHEME: u32 = 20;
    /// Before a block whose paragraph above ends with a colon.
    pub(crate) const INTRODUCED: u32 = 10;
    /// Beside a fence: such a cut leaves a chunk of no code.
    pub(crate) const FENCE: u32 = 30;
}

/// A stretch that is never cut again; it ends where the next unit begins.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// Where it begins, in bytes.
    pub(super) start: usize,
    /// What a cut before it costs.
    pub(super) cost: u32,
    /// The kind of block it is, or is part of.
    pub(super) kind: BlockKind,
    /// The last heading at or above it, as an index into [`Outline::headings`].
    pub(super) heading: Option<usize>,
    /// What must be repeated before a cut here, as an index into [`Outline::carried`].
    pub(super) carried: Option<usize>,
    /// Whether it begins inside a block.
    pub(super) is_continued: bool,
}

/// A heading, with the one above it.
#[derive(Clone, Debug)]
pub(super) struct OutlineHeading {
    pub(super) level: u8,
    pub(super) text: String,
    pub(super) parent: Option<usize>,
    pub(super) anchor: Option<String>,
}

/// What a cut inside a block repeats before it, and closes before that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Carried {
    /// First lines of the list items around.
    pub(super) parents: String,
    /// The table's header or the opening fence.
    pub(super) opening: String,
    /// The closing fence.
    pub(super) closing: String,
    /// Whether `opening` was cut to fit.
    pub(super) is_truncated: bool,
    /// Tokens of `parents` and `opening`.
    pub(super) tokens: usize,
}

/// A document's units, headings, and what its blocks carry.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) units: Vec<Unit>,
    pub(super) headings: Vec<OutlineHeading>,
    pub(super) carried: Vec<Carried>,
    /// Length of the document in bytes.
    pub(super) length: usize,
}

impl Outline {
    /// The stretch of the units `range`.
    pub(super) fn bytes(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.units.get(range.start).map_or(self.length, |unit| unit.start);
        let end = self.units.get(range.end).map_or(self.length, |unit| unit.start);
        start..end
    }

    /// The headings above a unit, outermost first: those that stand before it.
    pub(super) fn path(&self, unit: &Unit) -> Vec<usize> {
        let own = unit.heading.filter(|_| unit.kind == BlockKind::Heading);
        let first = match own {
            Some(own) => self.headings.get(own).and_then(|heading| heading.parent),
            None => unit.heading,
        };
        let above = |index: &usize| self.headings.get(*index).and_then(|heading| heading.parent);
        let mut path: Vec<usize> = std::iter::successors(first, above).collect();
        path.reverse();
        path
    }
}

/// Most tokens of a list item's first line that are carried.
const MAX_PARENT_TOKENS: usize = 40;

/// Reads the units of `input` for chunks of `budget` tokens.
pub(super) fn read(input: ChunkInput<'_>, tokens: &TokenMap, budget: usize) -> Outline {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut reader = Reader {
        input,
        tokens,
        budget,
        outline: Outline { length: input.markdown.len(), ..Outline::default() },
        items: Vec::new(),
        skip: 0,
        heading_text: None,
        split: None,
        protected: Vec::new(),
        paragraph: None,
    };
    for (event, range) in Parser::new_ext(input.markdown, options).into_offset_iter() {
        reader.event(&event, range);
    }
    reader.finish()
}

/// A block whose inside is being read because it does not fit.
enum Split {
    Paragraph { range: Range<usize>, carried: Option<usize> },
    /// Text that stands in a list item without a paragraph of its own.
    ItemText { range: Range<usize> },
    Table { body: Option<usize>, carried: Carried, header_end: usize },
}

struct Reader<'a> {
    input: ChunkInput<'a>,
    tokens: &'a TokenMap,
    budget: usize,
    outline: Outline,
    /// List items around, outermost first.
    items: Vec<OpenItem>,
    /// Open blocks under a unit that is whole: their events say nothing.
    skip: usize,
    heading_text: Option<String>,
    split: Option<Split>,
    /// Inlines of the paragraph being read that must stay whole.
    protected: Vec<Range<usize>>,
    /// The paragraph read last, where no other block came after it.
    paragraph: Option<Range<usize>>,
}

struct OpenItem {
    start: usize,
}

impl Reader<'_> {
    fn text(&self, range: Range<usize>) -> &str {
        self.input.markdown.get(range).unwrap_or_default()
    }

    fn event(&mut self, event: &Event<'_>, range: Range<usize>) {
        if self.skip > 0 {
            match event {
                Event::Start(_) => self.skip += 1,
                Event::End(_) => self.skip -= 1,
                _ => {}
            }
            return;
        }
        self.item_text(event, &range);
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(*tag),
            Event::Text(text) | Event::Code(text) if self.heading_text.is_some() => {
                if let Some(heading) = &mut self.heading_text {
                    heading.push_str(text);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut self.heading_text {
                    heading.push(' ');
                }
            }
            Event::Code(_) | Event::InlineHtml(_) => self.protected.push(range),
            Event::Rule => self.block(range, BlockKind::Rule),
            _ => {}
        }
    }

    /// Follows text that stands in an item without a paragraph of its own.
    fn item_text(&mut self, event: &Event<'_>, range: &Range<usize>) {
        let is_inline = match event {
            Event::Start(tag) => is_inline(tag),
            Event::End(_) => return,
            Event::Rule | Event::Html(_) => false,
            _ => true,
        };
        match &mut self.split {
            Some(Split::ItemText { range: text }) if is_inline => text.end = range.end,
            None if is_inline && self.heading_text.is_none() && !self.items.is_empty() => {
                self.protected.clear();
                self.split = Some(Split::ItemText { range: range.clone() });
            }
            Some(Split::ItemText { .. }) => self.close_paragraph(),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        let fits = self.fits(&range);
        match tag {
            Tag::Heading { level, .. } => self.heading(*level as u8, range),
            Tag::Paragraph if fits => self.whole(range, BlockKind::Paragraph),
            Tag::Paragraph => self.open_paragraph(range),
            Tag::CodeBlock(_) if fits => self.whole(range, BlockKind::Code),
            Tag::CodeBlock(kind) => {
                self.code(kind, range);
                self.skip = 1;
            }
            Tag::HtmlBlock if fits => self.whole(range, BlockKind::Html),
            Tag::HtmlBlock => {
                self.block(range.clone(), BlockKind::Html);
                self.lines(range, BlockKind::Html, None);
                self.skip = 1;
            }
            Tag::Table(_) if fits => self.whole(range, BlockKind::Table),
            Tag::Table(_) => self.open_table(range),
            Tag::TableRow => self.table_row(range),
            Tag::List(_) if fits && self.items.is_empty() => self.whole(range, BlockKind::ListItem),
            Tag::Item if fits => self.whole(range, BlockKind::ListItem),
            Tag::Item => {
                self.block(range.clone(), BlockKind::ListItem);
                self.items.push(OpenItem { start: range.start });
            }
            Tag::BlockQuote(_) if fits => self.whole(range, BlockKind::Quote),
            Tag::Link { .. } | Tag::Image { .. } if self.heading_text.is_none() => {
                self.protected.push(range);
                // The text of an item that has no paragraph of its own stands in the item.
                self.skip = 1;
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                let text = self.heading_text.take().unwrap_or_default();
                if let Some(heading) = self.outline.headings.last_mut() {
                    heading.text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                }
            }
            TagEnd::Paragraph => self.close_paragraph(),
            TagEnd::Item => {
                if matches!(self.split, Some(Split::ItemText { .. })) {
                    self.close_paragraph();
                }
                self.items.pop();
            }
            TagEnd::Table => self.split = None,
            _ => {}
        }
    }

    /// Whether a block can be one unit, with the breadcrumb and the items around before it.
    fn fits(&self, range: &Range<usize>) -> bool {
        self.tokens.count(range.clone()) <= self.room(0)
    }

    /// Tokens left for text where `carried` tokens stand before it.
    fn room(&self, carried: usize) -> usize {
        let around = if self.items.is_empty() { 0 } else { MAX_PARENT_TOKENS.min(self.budget / 4) };
        self.budget.saturating_sub(self.breadcrumb_reserve() + around + carried + MARGIN).max(self.budget / 4).max(1)
    }

    fn breadcrumb_reserve(&self) -> usize {
        let has_path = !self.outline.headings.is_empty() || self.input.title.is_some();
        if has_path { super::context::max_breadcrumb(self.budget) } else { 0 }
    }

    /// A block that is one unit.
    fn whole(&mut self, range: Range<usize>, kind: BlockKind) {
        self.block(range.clone(), kind);
        if kind == BlockKind::Paragraph {
            self.paragraph = Some(range);
        }
        self.skip = 1;
    }

    /// The start of a block.
    fn block(&mut self, range: Range<usize>, kind: BlockKind) {
        let line = self.line_start(range.start);
        let is_item_start = self.items.last().is_some_and(|item| self.line_start(item.start) == line);
        let mut cost = match kind {
            BlockKind::Heading => cost::HEADING,
            BlockKind::ListItem => cost::ITEM,
            _ if !self.items.is_empty() => cost::INNER,
            _ => cost::BLOCK,
        };
        if let Some(above) = self.paragraph.take().filter(|_| kind != BlockKind::Heading) {
            let introduces = self.text(above).trim_end().ends_with(':');
            let is_introduced = !matches!(kind, BlockKind::Paragraph | BlockKind::Rule);
            if introduces {
                cost = cost.max(cost::INTRODUCED);
            } else if is_introduced {
                cost = cost.max(cost::INNER);
            }
        }
        let parents = if is_item_start { self.items.len().saturating_sub(1) } else { self.items.len() };
        let carried = self.carry_parents(parents);
        self.push(line, cost, kind, carried);
    }

    fn push(&mut self, start: usize, cost: u32, kind: BlockKind, carried: Option<usize>) {
        let heading = self.outline.headings.len().checked_sub(1);
        let start = if self.outline.units.is_empty() { 0 } else { start };
        if self.outline.units.last().is_some_and(|last| last.start >= start) {
            return;
        }
        let is_continued = cost >= cost::INNER && kind != BlockKind::Heading && carried.is_some();
        self.outline.units.push(Unit { start, cost, kind, heading, carried, is_continued });
    }

    /// A cut inside a block.
    fn push_inner(&mut self, start: usize, cost: u32, kind: BlockKind, carried: Option<usize>) {
        let before = self.outline.units.len();
        self.push(start, cost, kind, carried);
        for unit in self.outline.units.iter_mut().skip(before) {
            unit.is_continued = true;
        }
    }

    fn line_start(&self, at: usize) -> usize {
        self.text(0..at).rfind('\n').map_or(0, |end| end + 1)
    }

    fn heading(&mut self, level: u8, range: Range<usize>) {
        let mut parent = self.outline.headings.len().checked_sub(1);
        while let Some(above) = parent.and_then(|index| self.outline.headings.get(index)) {
            if above.level < level {
                break;
            }
            parent = above.parent;
        }
        let number = self.outline.headings.len();
        let anchor = self.input.headings.get(number).and_then(|heading| heading.anchor.clone());
        self.outline.headings.push(OutlineHeading { level, text: String::new(), parent, anchor });
        self.block(range, BlockKind::Heading);
        self.heading_text = Some(String::new());
    }

    /// The first lines of the outer `depth` items around.
    fn carry_parents(&mut self, depth: usize) -> Option<usize> {
        if depth == 0 {
            return None;
        }
        let parents = self.parents(depth);
        let tokens = self.tokens.count_other(&parents);
        Some(self.carry(Carried { parents, tokens, ..Carried::default() }))
    }

    fn carry(&mut self, carried: Carried) -> usize {
        if self.outline.carried.last() != Some(&carried) {
            self.outline.carried.push(carried);
        }
        self.outline.carried.len() - 1
    }

    fn parents(&self, depth: usize) -> String {
        // Items that begin on one line are carried by that line.
        let mut lines: Vec<usize> = self.items.iter().take(depth).map(|item| self.line_start(item.start)).collect();
        lines.dedup();
        let mut parents = String::new();
        let keep = lines.len().saturating_sub(3);
        for start in lines.into_iter().skip(keep) {
            let rest = self.text(start..self.input.markdown.len());
            let line = rest.lines().next().unwrap_or_default();
            let line = shorten(line, MAX_PARENT_TOKENS.min(self.budget / 4));
            if !line.contains("```") && !line.contains("~~~") && !line.trim_start().starts_with('|') {
                parents.push_str(line);
                parents.push('\n');
            }
        }
        parents
    }

    fn open_paragraph(&mut self, range: Range<usize>) {
        self.block(range.clone(), BlockKind::Paragraph);
        let depth = self.items.len().saturating_sub(1);
        let carried = self.carry_parents(depth);
        self.protected.clear();
        self.split = Some(Split::Paragraph { range, carried });
    }

    fn close_paragraph(&mut self) {
        let (range, carried, kind) = match self.split.take() {
            Some(Split::Paragraph { range, carried }) => (range, carried, BlockKind::Paragraph),
            Some(Split::ItemText { range }) => {
                let carried = self.carry_parents(self.items.len().saturating_sub(1));
                (range, carried, BlockKind::ListItem)
            }
            other => {
                self.split = other;
                return;
            }
        };
        let protected = std::mem::take(&mut self.protected);
        if !self.fits(&range) {
            self.sentences(range.clone(), kind, carried, &protected);
        }
        self.paragraph = Some(range);
    }

    /// Cuts `range` at sentences, and longer ones at lines, words and graphemes.
    fn sentences(
        &mut self,
        range: Range<usize>,
        kind: BlockKind,
        carried: Option<usize>,
        protected: &[Range<usize>],
    ) {
        let carried_tokens = carried.and_then(|n| self.outline.carried.get(n)).map_or(0, |c| c.tokens);
        let room = self.room(carried_tokens);
        let mut pending = vec![(range, Grain::Sentence)];
        while let Some((piece, grain)) = pending.pop() {
            if piece.is_empty() {
                continue;
            }
            let starts = grain.starts(self.text(piece.clone()), room);
            let starts = starts.into_iter().map(|start| piece.start + start);
            let is_hard = grain == Grain::Grapheme;
            let starts: Vec<usize> = starts.filter(|at| is_hard || !is_inside(protected, *at)).collect();
            let mut ends = starts.clone();
            ends.push(piece.end);
            let mut inner = Vec::new();
            let mut start = piece.start;
            for end in ends {
                inner.push(start..end);
                start = end;
            }
            for part in inner.into_iter().rev() {
                let is_long = self.tokens.count(part.clone()) > room;
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

    fn lines(&mut self, range: Range<usize>, kind: BlockKind, carried: Option<usize>) {
        let starts: Vec<usize> = line_starts(self.text(range.clone())).map(|at| range.start + at).collect();
        let mut start = range.start;
        for end in starts.into_iter().chain([range.end]) {
            self.line(start..end, cost::LINE, kind, carried);
            start = end;
        }
    }

    /// A line that is a unit, or several where it is too long.
    fn line(&mut self, range: Range<usize>, cost: u32, kind: BlockKind, carried: Option<usize>) {
        self.push_inner(range.start, cost, kind, carried);
        let carried_tokens = carried.and_then(|n| self.outline.carried.get(n)).map_or(0, |c| c.tokens);
        if self.tokens.count(range.clone()) > self.room(carried_tokens) {
            self.sentences(range, kind, carried, &[]);
        }
    }

    /// Cuts code at its lines; each part opens with the block's fence and closes it.
    fn code(&mut self, kind: &CodeBlockKind<'_>, range: Range<usize>) {
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
        let tokens = self.tokens.count_other(&parents) + self.tokens.count_other(&opening) + 2;
        let closing = format!("{lead}{closing}\n");
        Some(self.carry(Carried { parents, opening, closing, tokens, is_truncated: false }))
    }

    fn open_table(&mut self, range: Range<usize>) {
        self.block(range.clone(), BlockKind::Table);
        let start = self.line_start(range.start);
        let text = self.text(start..range.end);
        let mut lines = text.split_inclusive('\n');
        let (header, delimiter) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let header_end = start + header.len() + delimiter.len();
        let lead_length = range.start - start;
        let lead = blank_lead(header.get(..lead_length).unwrap_or_default());
        let opening = format!("{lead}{}{delimiter}", header.get(lead_length..).unwrap_or_default());
        let (opening, is_truncated) = self.fit_header(opening);
        let parents = self.parents(self.items.len());
        let tokens = self.tokens.count_other(&parents) + self.tokens.count_other(&opening);
        let carried = Carried { parents, opening, closing: String::new(), is_truncated, tokens };
        self.split = Some(Split::Table { body: None, carried, header_end });
    }

    /// A header that takes more than a third of the budget is cut at a cell; its rows then have
    /// the columns left.
    fn fit_header(&self, header: String) -> (String, bool) {
        let most = self.budget / 3;
        if self.tokens.count_other(&header) <= most {
            return (header, false);
        }
        let mut lines = header.lines();
        let (names, delimiter) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let ends: Vec<usize> = cell_ends(names);
        let marks: Vec<usize> = cell_ends(delimiter);
        let pairs = ends.iter().zip(&marks);
        let cut = pairs.rev().map(|(name, mark)| {
            format!("{}\n{}\n", names.get(..*name).unwrap_or_default(), delimiter.get(..*mark).unwrap_or_default())
        });
        let fitting = cut.into_iter().find(|header| self.tokens.count_other(header) <= most);
        (fitting.unwrap_or_default(), true)
    }

    fn table_row(&mut self, range: Range<usize>) {
        let Some(Split::Table { body, carried, header_end }) = &mut self.split else { return };
        let header_end = *header_end;
        let carried = if let Some(body) = body {
            *body
        } else {
            let number = self.outline.carried.len();
            *body = Some(number);
            self.outline.carried.push(std::mem::take(carried));
            number
        };
        let start = self.line_start(range.start);
        // The first row stays with the header that it stands under.
        let cost = if start <= header_end { cost::FENCE } else { cost::ITEM };
        self.row(start..range.end, cost, carried);
        self.skip = 1;
    }

    /// A row, cut at its cells where it is too long.
    fn row(&mut self, range: Range<usize>, cost: u32, carried: usize) {
        self.push_inner(range.start, cost, BlockKind::Table, Some(carried));
        let tokens = self.outline.carried.get(carried).map_or(0, |carried| carried.tokens);
        if self.tokens.count(range.clone()) <= self.room(tokens) {
            return;
        }
        let ends = cell_ends(self.text(range.clone()));
        let mut start = range.start;
        for end in ends.into_iter().map(|end| range.start + end) {
            self.push_inner(start, cost::SENTENCE, BlockKind::Table, Some(carried));
            if self.tokens.count(start..end) > self.room(tokens) {
                self.sentences(start..end, BlockKind::Table, Some(carried), &[]);
            }
            start = end;
        }
    }

    fn finish(mut self) -> Outline {
        if self.outline.units.is_empty() {
            self.push(0, 0, BlockKind::Paragraph, None);
            let range = 0..self.input.markdown.len();
            self.sentences(range, BlockKind::Paragraph, None, &[]);
        }
        self.outline
    }
}

fn is_inline(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. }
    )
}

/// Tokens by which a count by look-up may fall short of the true one.
const MARGIN: usize = 4;

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
fn blank_lead(lead: &str) -> String {
    lead.chars().map(|c| if c == '>' { '>' } else { ' ' }).collect()
}

/// Ends of a row's cells, each behind its `|`, the outer left one aside.
fn cell_ends(row: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut is_escaped = false;
    for (at, c) in row.char_indices() {
        if c == '|' && !is_escaped && at > 0 {
            ends.push(at + 1);
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    if ends.last() != Some(&row.len()) {
        match ends.last_mut().filter(|end| row.get(**end..).is_some_and(|rest| rest.trim().is_empty())) {
            Some(end) => *end = row.len(),
            None => ends.push(row.len()),
        }
    }
    ends
}

/// `line` up to a word boundary within about `tokens` tokens, before anything that would have to
/// be closed.
fn shorten(line: &str, tokens: usize) -> &str {
    let most = tokens * 3;
    if line.len() <= most {
        return line;
    }
    let cut = line.get(..line.floor_char_boundary(most)).unwrap_or_default();
    let open = cut.find(['`', '[', '*', '<']).unwrap_or(cut.len());
    let end = cut.get(..open).and_then(|text| text.rfind(' ')).unwrap_or(open);
    let kept = cut.get(..end).unwrap_or_default();
    if kept.trim().len() < 4 { "" } else { kept }
}
