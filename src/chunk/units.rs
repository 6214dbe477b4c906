//! Where a document may be cut: a sequence of units that tile it.
//!
//! A unit is the smallest stretch that packing moves. A block that fits the budget is one unit;
//! a longer one falls into items, rows, lines or sentences, and those into words and graphemes
//! where even they are too long. Only starts are recorded: a unit ends where the next begins, so
//! that units tile the document by construction.

use std::ops::Range;

use super::heading::Breadcrumb;
use crate::model::BlockKind;

/// Tokens by which a count by look-up may fall short of the true one.
pub(super) const MARGIN: usize = 4;

/// The level of a section below a label, a paragraph of nothing but strong text: below that of
/// every heading.
pub(super) const LABEL_LEVEL: u8 = 7;

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
    /// The level of the section that it begins: of a heading, or [`LABEL_LEVEL`].
    pub(super) level: Option<u8>,
    /// Whether it stands for what follows, as headings and labels do: no chunk ends with it.
    pub(super) is_lead: bool,
    /// The last heading at or above it, as an index into [`Outline::headings`].
    pub(super) heading: Option<usize>,
    /// What must be repeated before a cut here, as an index into [`Outline::carried`].
    pub(super) carried: Option<usize>,
    /// Whether it begins inside a block.
    pub(super) is_continued: bool,
}

/// A heading, with the one above it.
#[derive(Clone, Debug, Default)]
pub(super) struct OutlineHeading {
    pub(super) level: u8,
    /// What it says, without marks.
    pub(super) text: String,
    /// Its Markdown as it is written.
    pub(super) source: String,
    /// Its Markdown without the destinations of links.
    pub(super) unlinked: String,
    pub(super) parent: Option<usize>,
    pub(super) anchor: Option<String>,
}

/// What a cut inside a block repeats before it, and closes before that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Carried {
    /// The label above and the first lines of the list items around.
    pub(super) parents: String,
    /// The table's header or the opening fence.
    pub(super) opening: String,
    /// The closing fence.
    pub(super) closing: String,
    /// Whether `opening` was cut to fit.
    pub(super) is_truncated: bool,
    /// Tokens of `parents`, which give way to a block that fits only without them.
    pub(super) parent_tokens: usize,
    /// Tokens of `opening` and `closing`, which never do.
    pub(super) tokens: usize,
}

/// A document's units, headings, and what its blocks carry.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) units: Vec<Unit>,
    pub(super) headings: Vec<OutlineHeading>,
    pub(super) carried: Vec<Carried>,
    /// Of each heading, the breadcrumb that ends with it.
    pub(super) breadcrumbs: Vec<Breadcrumb>,
    /// The breadcrumb where no heading stands above.
    pub(super) title: Breadcrumb,
    /// Where white space says something: code, HTML and line breaks, in order.
    pub(super) verbatim: Vec<Range<usize>>,
    /// The outermost lists, in order: indentation says something in them alone.
    pub(super) lists: Vec<Range<usize>>,
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

    /// The innermost heading above a unit: of those that stand before it.
    fn above(&self, unit: &Unit) -> Option<usize> {
        match unit.heading.and_then(|own| self.headings.get(own)) {
            Some(own) if unit.kind == BlockKind::Heading => own.parent,
            _ => unit.heading,
        }
    }

    /// Whether a heading stands before `unit`.
    pub(super) fn has_heading_above(&self, unit: &Unit) -> bool {
        self.above(unit).is_some()
    }

    /// The texts of the headings above a unit, outermost first.
    pub(super) fn path(&self, unit: &Unit) -> Vec<String> {
        let heading = |index: usize| self.headings.get(index);
        let parent = |index: &usize| heading(*index).and_then(|heading| heading.parent);
        let path = std::iter::successors(self.above(unit), parent);
        let mut path: Vec<String> =
            path.filter_map(heading).map(|heading| heading.text.clone()).collect();
        path.reverse();
        path
    }

    /// The breadcrumb of a chunk that begins with `unit`.
    pub(super) fn breadcrumb(&self, unit: &Unit) -> &Breadcrumb {
        self.above(unit).and_then(|n| self.breadcrumbs.get(n)).unwrap_or(&self.title)
    }

    /// What a cut before `unit` carries.
    pub(super) fn carried(&self, unit: &Unit) -> Option<&Carried> {
        unit.carried.and_then(|n| self.carried.get(n))
    }
}
