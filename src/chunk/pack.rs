//! Which units form a chunk: the cheapest cuts within the budget, section by section.
//!
//! A section that fits, with all its subsections, is one group. Otherwise its own body and each
//! of its children are packed by themselves; a body is cut where the sum of cut costs and of
//! misfits to a fixed target size is smallest. Small neighbours then join.
//!
//! An edit moves cuts only nearby: the target does not depend on the section's length, and of
//! places that are else alike those are cut whose own text leans to it, so that the cuts behind
//! an edit soon fall where they fell before.

use std::ops::Range;

use super::tokens::TokenMap;
use super::units::{MARGIN, Outline, Unit};
use super::{ChunkOptions, budget};
use crate::model::ContentHash;

/// What a chunk costs by itself, what one below the small size costs on top, and how much a
/// misfit to the target weighs. Found by search over technical documentation (dev questions).
const CHUNK_COST: f64 = 4.0;
const SMALL_COST: f64 = 6.0;
const MISFIT_WEIGHT: f64 = 12.0;

/// What the cut before a unit costs on top where its text does not lean to it: enough to choose
/// among rows or sentences that are alike, and too little to choose another kind of place.
const AVERSE_COST: f64 = 0.5;

/// One unit in so many leans to a cut before it.
const LEANING: u64 = 4;

/// The target size, as a share of the budget.
const TARGET: f64 = 0.7;

/// Groups below this many tokens join a neighbour where both fit, as a share of the budget.
const SMALL: f64 = 0.25;

/// Cuts the units of `outline` into groups, in order: each becomes a chunk.
pub(super) fn pack(
    markdown: &str,
    outline: &Outline,
    tokens: &TokenMap<'_>,
    options: &ChunkOptions,
) -> Vec<Range<usize>> {
    let budget = budget(options);
    let mut up_to: Vec<usize> =
        outline.units.iter().map(|unit| tokens.count(0..unit.start)).collect();
    up_to.push(tokens.count(0..outline.length));
    let before = outline.units.iter().map(|unit| before(outline, unit)).collect();
    let packer = Packer { markdown, outline, up_to, before, budget, options };
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
    /// By unit: tokens of the document up to it; at the end, of the whole.
    up_to: Vec<usize>,
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

    /// Tokens of a chunk of the units `range`, with what is put around it.
    fn size(&self, range: &Range<usize>) -> usize {
        let before = self.before.get(range.start).copied().unwrap_or(0);
        before + self.text_size(range) + self.behind(range)
    }

    fn text_size(&self, range: &Range<usize>) -> usize {
        let up_to = |index| self.up_to.get(index).copied().unwrap_or(0);
        up_to(range.end).saturating_sub(up_to(range.start))
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
        if self.size(&range) <= self.budget {
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
                if self.text_size(&piece) > self.budget && !is_single {
                    break;
                }
                if self.size(&piece) > self.budget && !is_single {
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
        self.text_size(piece) + around + MARGIN <= self.budget
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
        let leans = ContentHash::of(text.trim().as_bytes()).first_u64().is_multiple_of(LEANING);
        f64::from(cost) + if leans { 0.0 } else { AVERSE_COST }
    }

    /// What a piece of a body that ends at `end` costs by itself.
    fn cost(&self, piece: &Range<usize>, end: usize) -> f64 {
        if piece.end < end && self.leaves_lead(piece) {
            return f64::INFINITY;
        }
        let share = ratio(self.size(piece), self.budget);
        let misfit = share - TARGET;
        let small = if share < SMALL { SMALL_COST } else { 0.0 };
        MISFIT_WEIGHT * misfit * misfit + CHUNK_COST + small
    }

    /// Joins neighbours of one section while one of them is small and both fit. A heading
    /// without text joins what comes next.
    fn join_small(&self, groups: Vec<Range<usize>>) -> Vec<Range<usize>> {
        let mut joined: Vec<Range<usize>> = Vec::with_capacity(groups.len());
        for group in groups {
            match joined.last_mut().filter(|last| self.can_join(last, &group)) {
                Some(last) => last.end = group.end,
                None => joined.push(group),
            }
        }
        joined
    }

    fn can_join(&self, last: &Range<usize>, group: &Range<usize>) -> bool {
        let both = last.start..group.end;
        let is_bare = |group: &Range<usize>| group.clone().all(|index| self.is_lead(index));
        if is_bare(last) {
            return self.size(&both) <= self.budget || self.fits_bare(&both);
        }
        if is_bare(group) && group.end < self.outline.units.len() {
            return false;
        }
        let small = self.options.heading_cut_ratio.of(self.budget) / 2;
        let is_small = self.text_size(last) < small || self.text_size(group) < small;
        is_small && self.size(&both) <= self.budget
    }
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
