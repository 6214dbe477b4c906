//! Which units form a chunk: the cheapest cuts within the budget, section by section.
//!
//! A section that fits, with all its subsections, is one group. Otherwise its own body and each
//! of its children are packed by themselves; a body is cut where the sum of cut costs and of
//! misfits to a fixed target size is smallest. The target does not depend on the section's
//! length, so that an edit moves cuts only nearby. Small neighbours then join.

use std::ops::Range;

use super::tokens::TokenMap;
use super::units::{Outline, Unit};
use super::{ChunkOptions, budget, context};
use crate::model::BlockKind;

/// What a chunk costs by itself, what one below the small size costs on top, and how much a
/// misfit to the target weighs. Found by search over technical documentation (dev questions).
const CHUNK_COST: f64 = 4.0;
const SMALL_COST: f64 = 6.0;
const MISFIT_WEIGHT: f64 = 12.0;

/// The target size, as a share of the budget.
const TARGET: f64 = 0.7;

/// Groups below this many tokens join a neighbour where both fit, as a share of the budget.
const SMALL: f64 = 0.25;

/// Cuts the units of `outline` into groups, in order: each becomes a chunk.
pub(super) fn pack(
    outline: &Outline,
    tokens: &TokenMap,
    options: &ChunkOptions,
) -> Vec<Range<usize>> {
    let budget = budget(options);
    let mut up_to: Vec<usize> =
        outline.units.iter().map(|unit| tokens.count(0..unit.start)).collect();
    up_to.push(tokens.count(0..outline.length));
    let before = outline.units.iter().map(|unit| before(outline, unit, budget)).collect();
    let packer = Packer { outline, up_to, before, budget, options };
    packer.section(0..outline.units.len())
}

/// Tokens that stand before a chunk that begins with `unit`.
fn before(outline: &Outline, unit: &Unit, budget: usize) -> usize {
    let carried = unit.carried.and_then(|n| outline.carried.get(n)).map_or(0, |c| c.tokens);
    let path = outline.path(unit);
    let breadcrumb = path.iter().filter_map(|n| outline.headings.get(*n));
    // About a token for four bytes, and one for each separator.
    let estimate: usize = breadcrumb.map(|heading| heading.text.len() / 4 + 2).sum();
    carried + estimate.min(context::max_breadcrumb(budget)) + 1
}

struct Packer<'a> {
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
        let unit = self.unit(index).filter(|unit| unit.kind == BlockKind::Heading)?;
        unit.heading.and_then(|n| self.outline.headings.get(n)).map(|heading| heading.level)
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
        let carried = next.and_then(|unit| unit.carried).and_then(|n| self.outline.carried.get(n));
        carried.map_or(0, |carried| if carried.closing.is_empty() { 0 } else { 3 })
    }

    /// Packs a section: the units `range`, of which the first may be its heading.
    ///
    /// The sections inside are found by level, so the depth of this recursion is that of Markdown
    /// headings: six.
    fn section(&self, range: Range<usize>) -> Vec<Range<usize>> {
        if range.is_empty() {
            return Vec::new();
        }
        if self.size(&range) <= self.budget {
            return vec![range];
        }
        let own = self.level(range.start);
        let children = self.children(&range, own);
        let body = range.start..children.first().map_or(range.end, |child| child.start);
        let mut groups = Vec::new();
        let mut lead = None;
        if (body.clone()).all(|index| self.level(index).is_some()) && !children.is_empty() {
            lead = (!body.is_empty()).then_some(body.start);
        } else {
            groups = self.body(body);
        }
        for child in children {
            for mut group in self.section(child) {
                if let Some(start) = lead.take() {
                    group.start = start;
                }
                groups.push(group);
            }
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
        let mut best: Vec<(f64, usize)> = vec![(0.0, range.start)];
        for end in range.start + 1..=range.end {
            let mut choice = (f64::INFINITY, end - 1);
            for start in (range.start..end).rev() {
                let piece = start..end;
                let is_single = end - start == 1 || self.is_heading_and_one(&piece);
                if self.text_size(&piece) > self.budget && !is_single {
                    break;
                }
                if self.size(&piece) > self.budget && !is_single {
                    continue;
                }
                let before = best.get(start - range.start).map_or(f64::INFINITY, |(cost, _)| *cost);
                let cost = before + self.cost(&piece, &range);
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

    /// A heading and the unit below it, which may be over the budget together: a heading never
    /// stands last.
    fn is_heading_and_one(&self, piece: &Range<usize>) -> bool {
        (piece.start..piece.end - 1).all(|index| self.level(index).is_some())
    }

    fn cost(&self, piece: &Range<usize>, whole: &Range<usize>) -> f64 {
        let is_last = piece.end == whole.end;
        if self.level(piece.end - 1).is_some() && !is_last {
            return 1e9;
        }
        let cut = if piece.start == whole.start {
            0
        } else {
            self.unit(piece.start).map_or(0, |u| u.cost)
        };
        let share = ratio(self.size(piece), self.budget);
        let misfit = share - TARGET;
        let small = if share < SMALL { SMALL_COST } else { 0.0 };
        f64::from(cut) + MISFIT_WEIGHT * misfit * misfit + CHUNK_COST + small
    }

    /// Joins neighbours of one section while one of them is small and both fit.
    fn join_small(&self, groups: Vec<Range<usize>>) -> Vec<Range<usize>> {
        let small = self.options.heading_cut_ratio.of(self.budget) / 2;
        let mut joined: Vec<Range<usize>> = Vec::with_capacity(groups.len());
        for group in groups {
            if let Some(last) = joined.last_mut() {
                let both = last.start..group.end;
                let is_small = self.text_size(last) < small || self.text_size(&group) < small;
                if is_small && self.size(&both) <= self.budget {
                    last.end = group.end;
                    continue;
                }
            }
            joined.push(group);
        }
        joined
    }
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
