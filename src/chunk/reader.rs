//! Reads a document's units from the events of a Markdown parser.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::ChunkInput;
use super::tokens::TokenMap;
use super::units::{Carried, Outline, OutlineHeading, Unit, cost};
use crate::model::{BlockKind, collapse};

/// Most tokens of a list item's first line that are carried.
const MAX_PARENT_TOKENS: usize = 40;

/// Reads the units of `input` for chunks of `budget` tokens.
pub(super) fn read(input: ChunkInput<'_>, tokens: &TokenMap, budget: usize) -> Outline {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
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
pub(super) enum Split {
    Paragraph {
        range: Range<usize>,
        carried: Option<usize>,
    },
    /// Text that stands in a list item without a paragraph of its own.
    ItemText {
        range: Range<usize>,
    },
    Table {
        body: Option<usize>,
        carried: Carried,
        header_end: usize,
    },
}

/// Reads a document's events.
pub(super) struct Reader<'a> {
    pub(super) input: ChunkInput<'a>,
    pub(super) tokens: &'a TokenMap,
    pub(super) budget: usize,
    pub(super) outline: Outline,
    /// List items around, outermost first.
    pub(super) items: Vec<OpenItem>,
    /// Open blocks under a unit that is whole: their events say nothing.
    pub(super) skip: usize,
    heading_text: Option<String>,
    pub(super) split: Option<Split>,
    /// Inlines of the paragraph being read that must stay whole.
    protected: Vec<Range<usize>>,
    /// The paragraph read last, where no other block came after it.
    paragraph: Option<Range<usize>>,
}

/// A list item that is being read.
pub(super) struct OpenItem {
    start: usize,
}

impl Reader<'_> {
    pub(super) fn text(&self, range: Range<usize>) -> &str {
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
                    heading.text = collapse(&text);
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
    pub(super) fn fits(&self, range: &Range<usize>) -> bool {
        self.tokens.count(range.clone()) <= self.room(0)
    }

    /// Tokens left for text where `carried` tokens stand before it.
    pub(super) fn room(&self, carried: usize) -> usize {
        let around = if self.items.is_empty() { 0 } else { MAX_PARENT_TOKENS.min(self.budget / 4) };
        self.budget
            .saturating_sub(self.breadcrumb_reserve() + around + carried + MARGIN)
            .max(self.budget / 4)
            .max(1)
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
    pub(super) fn block(&mut self, range: Range<usize>, kind: BlockKind) {
        let line = self.line_start(range.start);
        let is_item_start =
            self.items.last().is_some_and(|item| self.line_start(item.start) == line);
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
        let parents =
            if is_item_start { self.items.len().saturating_sub(1) } else { self.items.len() };
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
    pub(super) fn push_inner(
        &mut self,
        start: usize,
        cost: u32,
        kind: BlockKind,
        carried: Option<usize>,
    ) {
        let before = self.outline.units.len();
        self.push(start, cost, kind, carried);
        for unit in self.outline.units.iter_mut().skip(before) {
            unit.is_continued = true;
        }
    }

    pub(super) fn line_start(&self, at: usize) -> usize {
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
    pub(super) fn carry_parents(&mut self, depth: usize) -> Option<usize> {
        if depth == 0 {
            return None;
        }
        let parents = self.parents(depth);
        let tokens = self.tokens.count_other(&parents);
        Some(self.carry(Carried { parents, tokens, ..Carried::default() }))
    }

    pub(super) fn carry(&mut self, carried: Carried) -> usize {
        if self.outline.carried.last() != Some(&carried) {
            self.outline.carried.push(carried);
        }
        self.outline.carried.len() - 1
    }

    pub(super) fn parents(&self, depth: usize) -> String {
        // Items that begin on one line are carried by that line.
        let mut lines: Vec<usize> =
            self.items.iter().take(depth).map(|item| self.line_start(item.start)).collect();
        lines.dedup();
        let mut parents = String::new();
        let keep = lines.len().saturating_sub(3);
        for start in lines.into_iter().skip(keep) {
            let rest = self.text(start..self.input.markdown.len());
            let line = rest.lines().next().unwrap_or_default();
            let line = shorten(line, MAX_PARENT_TOKENS.min(self.budget / 4));
            if !line.contains("```") && !line.contains("~~~") && !line.trim_start().starts_with('|')
            {
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
