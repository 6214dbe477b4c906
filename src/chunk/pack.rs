//! Which units form a chunk: the cheapest cuts within the budget, section by section.
//!
//! A section that fits, with all its subsections, is one group. Otherwise its own body and each
//! of its children are packed by themselves; a body is cut where the sum of cut costs and of
//! misfits to a fixed target size is smallest. Small neighbours then join.
//!
//! An edit moves cuts only nearby: the target does not depend on the section's length, and of
//! places that are else alike those are cut whose own text leans to it, so that the cuts behind
//! an edit soon fall where they fell before. White space moves none: choices are made by weight,
//! which counts none of it, and several units share a chunk only where there is room for some more.

use std::ops::Range;

use super::tokens::{Measure, TokenMap};
use super::units::{MARGIN, Outline, Unit};
use super::{ChunkOptions, budget};

/// What a chunk costs by itself, what one below the small size costs on top, and how much a
/// misfit to the target weighs. Found by search over technical documentation (dev questions).
const CHUNK_COST: f64 = 4.0;
const SMALL_COST: f64 = 6.0;
const MISFIT_WEIGHT: f64 = 12.0;

/// What the cut before a unit costs on top where its text does not lean to it at all: enough to
/// choose among places that are alike, and to keep the choice when sizes change a little.
const AVERSE_COST: f64 = 2.0;

/// The target size as a share of the budget, and how far off it costs nothing.
const TARGET: f64 = 0.7;
const TOLERANCE: f64 = 0.1;

/// A piece below this share of the budget costs more.
const SMALL: f64 = 0.25;

/// A group of fewer tokens says too little by itself: it joins a neighbour wherever both fit.
const TINY: usize = 32;

/// Cuts the units of `outline` into groups, in order: each becomes a chunk.
pub(super) fn pack(
    markdown: &str,
    outline: &Outline,
    tokens: &TokenMap<'_>,
    options: &ChunkOptions,
) -> Vec<Range<usize>> {
    let budget = budget(options);
    let starts = outline.units.iter().map(|unit| unit.start).chain([outline.length]);
    let up_to = starts.map(|start| tokens.measure(start)).collect();
    let before = outline.units.iter().map(|unit| before(outline, unit)).collect();
    let packer = Packer { markdown, outline, tokens, up_to, before, budget, options };
    packer.section(0..outline.units.len(), 0)
}

/// Tokens that stand before a chunk that begins with `unit`.
fn before(outline: &Outline, unit: &Unit) -> usize {
    let carried = outline.carried(unit).map_or(0, |c| c.parent_tokens + c.tokens);
    outline.breadcrumb(unit).tokens + carried
}

struct Packer<'a> {
    markdown: &'a str,
    outline: &'a Outline,
    tokens: &'a TokenMap<'a>,
    /// By unit: the document up to it; at the end, the whole.
    up_to: Vec<Measure>,
    /// By unit: tokens that stand before a chunk that begins with it.
    before: Vec<usize>,
    budget: usize,
    options: &'a ChunkOptions,
}

impl Packer<'_> {
    fn unit(&self, index: usize) -> Option<&Unit> {
        self.outline.units.get(index)
    }

    fn level(&self, index: usize) -> Option<u8> {
        self.unit(index).and_then(|unit| unit.level)
    }

    fn is_lead(&self, index: usize) -> bool {
        self.unit(index).is_some_and(|unit| unit.is_lead)
    }

    fn text(&self, range: &Range<usize>) -> Measure {
        let up_to = |index| self.up_to.get(index).copied().unwrap_or_default();
        up_to(range.end) - up_to(range.start)
    }

    /// Tokens that are put around a chunk of the units `range`.
    fn around(&self, range: &Range<usize>) -> usize {
        self.before.get(range.start).copied().unwrap_or(0) + self.behind(range)
    }

    /// Whether the units `range` may be one chunk, with some room for white space that comes and
    /// goes: what fits by a hair must not be cut elsewhere for a blank more.
    fn fits(&self, range: &Range<usize>) -> bool {
        let text = self.text(range);
        text.tokens.max(text.bound) + self.around(range) <= self.budget
    }

    /// Tokens of a closing fence.
    fn behind(&self, range: &Range<usize>) -> usize {
        let next = self.unit(range.end).filter(|unit| unit.is_continued);
        let carried = next.and_then(|unit| self.outline.carried(unit));
        carried.map_or(0, |carried| if carried.closing.is_empty() { 0 } else { 3 })
    }

    /// Packs a section: the units `range`, of which the first `lead` are headings above that have
    /// no text of their own. The next may be its heading.
    ///
    /// The sections inside are found by level, so the depth of this recursion is that of Markdown
    /// headings, six, and one for labels.
    fn section(&self, range: Range<usize>, lead: usize) -> Vec<Range<usize>> {
        if range.is_empty() {
            return Vec::new();
        }
        if self.fits(&range) {
            return vec![range];
        }
        let inner = range.start + lead..range.end;
        let mut children = self.children(&inner, self.level(inner.start));
        let body = range.start..children.first().map_or(range.end, |child| child.start);
        let mut lead = body.len();
        let mut groups = Vec::new();
        let is_bare = body.clone().all(|index| self.is_lead(index));
        if let Some(first) = children.first_mut().filter(|_| is_bare) {
            first.start = range.start;
        } else {
            lead = 0;
            groups = self.body(body);
        }
        for child in children {
            groups.extend(self.section(child, std::mem::take(&mut lead)));
        }
        self.join_small(groups)
    }

    /// The direct subsections in `range`, behind the section's own heading.
    fn children(&self, range: &Range<usize>, own: Option<u8>) -> Vec<Range<usize>> {
        let first = range.start + usize::from(own.is_some());
        let mut starts: Vec<(usize, u8)> = Vec::new();
        for index in first..range.end {
            let Some(level) = self.level(index) else { continue };
            // A deeper heading belongs to the child before it.
            if starts.last().is_none_or(|(_, last)| level <= *last) {
                starts.push((index, level));
            }
        }
        let mut ends = starts.iter().skip(1).map(|(start, _)| *start).collect::<Vec<_>>();
        ends.push(range.end);
        starts.iter().zip(ends).map(|((start, _), end)| *start..end).collect()
    }

    /// Cuts a body where it costs least: dynamic programming over the place of the last cut.
    fn body(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let cuts: Vec<f64> = range.clone().map(|index| self.cut_cost(index)).collect();
        let cut = |start: usize| cuts.get(start - range.start).filter(|_| start > range.start);
        let mut best: Vec<(f64, usize)> = vec![(0.0, range.start)];
        for end in range.start + 1..=range.end {
            let mut choice = (f64::INFINITY, end - 1);
            for start in (range.start..end).rev() {
                let piece = start..end;
                let is_single = self.is_single(&piece);
                if self.text(&piece).tokens > self.budget && !is_single {
                    break;
                }
                if !is_single && !self.fits(&piece) {
                    continue;
                }
                let before = best.get(start - range.start).map_or(f64::INFINITY, |(cost, _)| *cost);
                let cost = before + cut(start).unwrap_or(&0.0) + self.cost(&piece, range.end);
                if cost < choice.0 {
                    choice = (cost, start);
                }
            }
            best.push(choice);
        }
        let mut groups = Vec::new();
        let mut end = range.end;
        while end > range.start {
            let start = best.get(end - range.start).map_or(range.start, |(_, start)| *start);
            groups.push(start..end);
            end = start;
        }
        groups.reverse();
        groups
    }

    /// Whether only one unit of a piece is not a heading. Such a piece may take the place of
    /// its own breadcrumb.
    fn is_single(&self, piece: &Range<usize>) -> bool {
        let are_leads = (piece.start..piece.end - 1).all(|index| self.is_lead(index));
        are_leads && (piece.len() == 1 || self.fits_bare(piece))
    }

    /// Whether a piece fits with only what it cannot be read without.
    fn fits_bare(&self, piece: &Range<usize>) -> bool {
        let carried = self.unit(piece.start).and_then(|unit| self.outline.carried(unit));
        let around = carried.map_or(0, |carried| carried.tokens) + self.behind(piece);
        let size = self.text(piece).tokens + around;
        if size.abs_diff(self.budget) > MARGIN {
            return size < self.budget;
        }
        let bytes = self.outline.bytes(piece);
        let opening = carried.map_or("", |carried| carried.opening.as_str());
        let text = self.markdown.get(bytes.clone()).unwrap_or_default();
        let alone = self.tokens.count_around(opening, (text, bytes), "");
        alone + self.behind(piece) <= self.budget
    }

    /// Whether a piece ends with a heading that could stand with the unit below it.
    fn leaves_lead(&self, piece: &Range<usize>) -> bool {
        let is_lead = |index: &usize| self.is_lead(*index);
        let leads = piece.clone().rev().take_while(is_lead).count();
        leads > 0 && self.fits_bare(&(piece.end - leads..piece.end + 1))
    }

    /// What a cut before a unit costs.
    fn cut_cost(&self, index: usize) -> f64 {
        let cost = self.unit(index).map_or(0, |unit| unit.cost);
        let text = self.markdown.get(self.outline.bytes(&(index..index + 1))).unwrap_or_default();
        f64::from(cost) + AVERSE_COST * aversion(text)
    }

    /// What a piece of a body that ends at `end` costs by itself.
    fn cost(&self, piece: &Range<usize>, end: usize) -> f64 {
        if piece.end < end && self.leaves_lead(piece) {
            return f64::INFINITY;
        }
        let share = ratio(self.text(piece).weight + self.around(piece), self.budget);
        let misfit = ((share - TARGET).abs() - TOLERANCE).max(0.0);
        let small = if share < SMALL { SMALL_COST } else { 0.0 };
        MISFIT_WEIGHT * misfit * misfit + CHUNK_COST + small
    }

    /// Joins what is small to a neighbour in its section, where both fit: to the next, or where
    /// that has no room to the one before. A heading without text joins what comes next.
    ///
    /// What is no longer small is not filled up further, so that an edit changes the joins of its
    /// neighbours and no others.
    fn join_small(&self, groups: Vec<Range<usize>>) -> Vec<Range<usize>> {
        let mut joined: Vec<Range<usize>> = Vec::with_capacity(groups.len());
        for group in groups {
            if let Some(last) = joined.last_mut().filter(|last| self.can_go_on(last, &group)) {
                last.end = group.end;
                continue;
            }
            self.join_back(&mut joined);
            joined.push(group);
        }
        self.join_back(&mut joined);
        joined
    }

    /// Whether `last` joins the group behind it.
    fn can_go_on(&self, last: &Range<usize>, group: &Range<usize>) -> bool {
        let both = last.start..group.end;
        if self.is_bare(last) {
            return self.fits(&both) || self.fits_bare(&both);
        }
        !self.is_bare(group) && self.is_small(last) && self.has_room(last, group)
    }

    /// Joins the last group to the one before it where it is still small.
    fn join_back(&self, joined: &mut Vec<Range<usize>>) {
        if let [.., before, last] = joined.as_mut_slice() {
            let is_wanted = self.is_small(last) && !self.is_bare(last) && !self.is_bare(before);
            if is_wanted && self.has_room(before, last) {
                before.end = last.end;
                joined.pop();
            }
        }
    }

    /// Whether a group is nothing but headings of what comes next.
    fn is_bare(&self, group: &Range<usize>) -> bool {
        group.end < self.outline.units.len() && group.clone().all(|index| self.is_lead(index))
    }

    /// Whether neighbours fit in one chunk. What says too little by itself needs no room for white
    /// space.
    fn has_room(&self, first: &Range<usize>, second: &Range<usize>) -> bool {
        let both = first.start..second.end;
        let text = self.text(&both);
        let is_tiny = |group| self.text(group).weight < TINY;
        let most = text.tokens.max(text.weight.midpoint(text.bound));
        let is_near = is_tiny(first) || is_tiny(second);
        self.fits(&both) || is_near && most + self.around(&both) <= self.budget
    }

    fn is_small(&self, group: &Range<usize>) -> bool {
        self.text(group).weight < self.options.heading_cut_ratio.of(self.budget) * 2 / 3
    }
}

/// How little `text` leans to a cut before it, from 0 to 1: a number that only its words decide.
fn aversion(text: &str) -> f64 {
    ratio(usize::from(hash_words(text)), usize::from(u16::MAX)).sqrt()
}

/// A hash of the words of `text`, whatever white space is between them: FNV-1a, which gives
/// the same number everywhere.
fn hash_words(text: &str) -> u16 {
    let seen = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let hash = seen.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let [high, low, ..] = hash.to_be_bytes();
    u16::from_be_bytes([high, low])
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
