//! Reads a document's units from the events of a Markdown parser.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::ChunkInput;
use super::heading::{Breadcrumb, Name, OpenHeading};
use super::label;
use super::tokens::TokenMap;
use super::units::{Carried, LABEL_LEVEL, MARGIN, Outline, OutlineHeading, Unit, cost};
use crate::model::BlockKind;

/// Most bytes of white space behind a block that are looked at.
const MOST_SPACE: usize = 64;

/// Reads the units of `input` for chunks of `budget` tokens.
pub(super) fn read(input: ChunkInput<'_>, tokens: &TokenMap<'_>, budget: usize) -> Outline {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut reader = Reader {
        input,
        tokens,
        budget,
        outline: Outline { length: input.markdown.len(), ..Outline::default() },
        items: Vec::new(),
        skip: 0,
        heading: None,
        split: None,
        protected: Vec::new(),
        label: None,
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
        /// By column: what is carried where a chunk begins in it. Filled as rows need it.
        columns: Vec<usize>,
    },
}

/// Reads a document's events.
pub(super) struct Reader<'a> {
    pub(super) input: ChunkInput<'a>,
    pub(super) tokens: &'a TokenMap<'a>,
    pub(super) budget: usize,
    pub(super) outline: Outline,
    /// List items around, outermost first.
    pub(super) items: Vec<OpenItem>,
    /// Open blocks under a unit that is whole: their events say nothing.
    pub(super) skip: usize,
    heading: Option<OpenHeading>,
    pub(super) split: Option<Split>,
    /// Inlines of the paragraph being read that must stay whole.
    protected: Vec<Range<usize>>,
    /// The label above, where one stands between here and the last heading.
    pub(super) label: Option<Range<usize>>,
    /// The paragraph read last, where no other block came after it.
    paragraph: Option<Range<usize>>,
}

/// A list item that is being read.
pub(super) struct OpenItem {
    pub(super) start: usize,
}

impl Reader<'_> {
    pub(super) fn text(&self, range: Range<usize>) -> &str {
        self.input.markdown.get(range).unwrap_or_default()
    }

    fn event(&mut self, event: &Event<'_>, range: Range<usize>) {
        self.outline.note_space(self.input.markdown, event, &range);
        if self.skip > 0 {
            match event {
                Event::Start(_) => self.skip += 1,
                Event::End(_) => self.skip -= 1,
                _ => {}
            }
            return;
        }
        if let Some(heading) = self.heading.as_mut().filter(|_| !is_heading_end(event)) {
            heading.event(self.input.markdown, event, &range);
            return;
        }
        self.item_text(event, &range);
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(*tag),
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
            None if is_inline && !self.items.is_empty() => {
                self.protected.clear();
                self.split = Some(Split::ItemText { range: range.clone() });
            }
            Some(Split::ItemText { .. }) => self.close_paragraph(),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        let fits = self.fits_under_leads(&range);
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
            Tag::List(_) if self.items.is_empty() && fits => {
                self.whole(range, BlockKind::ListItem);
            }
            Tag::Item if fits => self.whole(range, BlockKind::ListItem),
            Tag::Item => {
                self.block(range.clone(), BlockKind::ListItem);
                self.items.push(OpenItem { start: range.start });
            }
            Tag::BlockQuote(_) if fits => self.whole(range, BlockKind::Quote),
            Tag::Link { .. } | Tag::Image { .. } => {
                self.protected.push(range);
                // The text of an item that has no paragraph of its own stands in the item.
                self.skip = 1;
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => self.close_heading(),
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

    /// Whether a block can be one unit. Breadcrumb and parents give way to a block that fits.
    pub(super) fn fits(&self, range: &Range<usize>) -> bool {
        let range = range.start..self.unit_end(range.end);
        let count = self.tokens.count(range.clone());
        let is_near = count.abs_diff(self.budget) <= MARGIN;
        if is_near {
            return self.tokens.count_alone(self.text(range)) <= self.budget;
        }
        count < self.budget
    }

    /// Where the unit of a block that ends at `end` ends: behind the blank lines after it.
    fn unit_end(&self, end: usize) -> usize {
        let rest = self.text(end..self.input.markdown.len()).bytes();
        // So many blank lines are too many to be read for every block that they end.
        let space = rest.take(MOST_SPACE).take_while(u8::is_ascii_whitespace);
        let lines = space.enumerate().filter(|(_, byte)| *byte == b'\n');
        lines.last().map_or(end, |(at, _)| end + at + 1)
    }

    /// Whether a block fits with the headings right above it: those never stand alone, so that a
    /// block which fits only without them is cut.
    pub(super) fn fits_under_leads(&self, range: &Range<usize>) -> bool {
        self.fits(&(self.leads_start(range.start)..range.end))
    }

    /// Where the headings begin that stand right above the block at `start`, or `start`. Those that
    /// take most of the budget themselves are not waited for.
    pub(super) fn leads_start(&self, start: usize) -> usize {
        let line = self.line_start(start);
        let above = self.outline.units.iter().rev().skip_while(|unit| unit.start >= line);
        let is_near = |unit: &&Unit| self.tokens.count(unit.start..line) <= self.budget / 2;
        let is_heading = |unit: &&Unit| unit.kind == BlockKind::Heading;
        let leads = above.take_while(is_heading).take_while(is_near);
        leads.last().map_or(start, |unit| unit.start)
    }

    /// Tokens left for text where `carried` tokens must stand around it.
    pub(super) fn room(&self, carried: usize) -> usize {
        self.budget.saturating_sub(carried + MARGIN).max(self.budget / 4).max(1)
    }

    /// Tokens left for text beside what `carried` must put around it.
    pub(super) fn room_beside(&self, carried: Option<usize>) -> usize {
        let carried = carried.and_then(|n| self.outline.carried.get(n));
        self.room(carried.map_or(0, |carried| carried.tokens))
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
        let cost = self.cost(kind);
        let is_item_start =
            self.items.last().is_some_and(|item| self.line_start(item.start) == line);
        let is_label = kind == BlockKind::Paragraph && label::is_label(self.text(range.clone()));
        let after_label = self.ends_with_lead();
        if kind == BlockKind::Heading || is_label && self.items.is_empty() && !after_label {
            self.label = None;
        }
        let parents =
            if is_item_start { self.items.len().saturating_sub(1) } else { self.items.len() };
        let carried = self.carry_parents(parents);
        let mut unit = self.unit(line, cost, kind);
        unit.carried = carried;
        unit.is_continued = !self.items.is_empty() && !is_item_start;
        unit.is_lead = is_label || kind == BlockKind::Heading;
        unit.level = match kind {
            BlockKind::Heading => self.outline.headings.last().map(|heading| heading.level),
            _ if is_label && self.items.is_empty() && !after_label => Some(LABEL_LEVEL),
            _ => None,
        };
        self.push(unit);
        if is_label && self.items.is_empty() {
            self.label = Some(range);
        }
    }

    fn ends_with_lead(&self) -> bool {
        self.outline.units.last().is_some_and(|unit| unit.is_lead)
    }

    /// What a cut before a block costs that comes next.
    fn cost(&mut self, kind: BlockKind) -> u32 {
        let cost = match kind {
            BlockKind::Heading => return cost::HEADING,
            BlockKind::ListItem => cost::ITEM,
            _ if !self.items.is_empty() || self.label.is_some() => cost::INNER,
            _ => cost::BLOCK,
        };
        let Some(above) = self.paragraph.take() else { return cost };
        let is_introduced = !matches!(kind, BlockKind::Paragraph | BlockKind::Rule);
        if self.text(above).trim_end().ends_with(':') {
            cost.max(cost::INTRODUCED)
        } else if is_introduced {
            cost.max(cost::INNER)
        } else {
            cost
        }
    }

    fn unit(&self, start: usize, cost: u32, kind: BlockKind) -> Unit {
        let heading = self.outline.headings.len().checked_sub(1);
        let start = if self.outline.units.is_empty() { 0 } else { start };
        let (level, carried) = (None, None);
        Unit { start, cost, kind, level, is_lead: false, heading, carried, is_continued: false }
    }

    fn push(&mut self, unit: Unit) {
        if self.outline.units.last().is_none_or(|last| last.start < unit.start) {
            self.outline.units.push(unit);
        }
    }

    /// A cut inside a block.
    pub(super) fn push_inner(
        &mut self,
        start: usize,
        cost: u32,
        kind: BlockKind,
        carried: Option<usize>,
    ) {
        self.push(Unit { carried, is_continued: true, ..self.unit(start, cost, kind) });
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
        self.heading = Some(OpenHeading::new(self.input.markdown, &range));
        self.outline.headings.push(OutlineHeading { level, parent, anchor, ..Default::default() });
        self.block(range, BlockKind::Heading);
    }

    fn close_heading(&mut self) {
        if let (Some(open), Some(last)) = (self.heading.take(), self.outline.headings.last_mut()) {
            open.close(self.input.markdown, last);
        }
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
        if !self.fits_under_leads(&range) {
            self.sentences(range.clone(), kind, carried, &protected);
        }
        self.paragraph = Some(range);
    }

    fn finish(mut self) -> Outline {
        if self.outline.units.is_empty() {
            self.push(self.unit(0, 0, BlockKind::Paragraph));
            let range = 0..self.input.markdown.len();
            self.sentences(range, BlockKind::Paragraph, None, &[]);
        }
        let title = self.input.title.map(|title| Name { source: title, unlinked: title });
        self.outline.breadcrumbs =
            Breadcrumb::all(&self.outline.headings, title, self.tokens, self.budget);
        self.outline.title = Breadcrumb::new(title.as_slice(), self.tokens, self.budget);
        self.outline
    }
}

fn is_heading_end(event: &Event<'_>) -> bool {
    matches!(event, Event::End(TagEnd::Heading(_)))
}

fn is_inline(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. }
    )
}
