//! Where a document may be cut: a sequence of units that tile it.
//!
//! A unit is the smallest stretch that packing moves. A block that fits the budget is one unit;
//! a longer one falls into items, rows, lines or sentences, and those into words and graphemes
//! where even they are too long. Only starts are recorded: a unit ends where the next begins, so
//! that units tile the document by construction.

use std::ops::Range;

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
