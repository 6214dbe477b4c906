//! What is put around a chunk, and the chunk itself.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::heading::Breadcrumb;
use super::space::{Ends, in_one_form};
use super::tokens::TokenMap;
use super::units::{Carried, Outline, Unit, cost};
use super::{ChunkInput, ChunkOptions};
use crate::model::{BlockKind, Chunk, ChunkFlag, ContentHash, chunk_id};

/// Makes a chunk of each group of units.
pub(super) fn assemble(
    input: ChunkInput<'_>,
    outline: &Outline,
    tokens: &TokenMap<'_>,
    groups: Vec<Range<usize>>,
    options: &ChunkOptions,
) -> Vec<Chunk> {
    let mut assembler = Assembler {
        input,
        outline,
        tokens,
        options,
        chunks: Vec::new(),
        chars: 0,
        equal: HashMap::new(),
    };
    let mut waiting: Vec<Range<usize>> = groups.into_iter().rev().collect();
    let mut before: Option<Range<usize>> = None;
    while let Some(group) = waiting.pop() {
        let mut draft = assembler.draft(&group, before.as_ref());
        let is_over = draft.token_count > options.max_tokens;
        if let Some(cut) = assembler.last_cut(&group).filter(|_| is_over) {
            // The count by look-up was short of the true one: the last unit goes on by itself.
            waiting.push(cut..group.end);
            waiting.push(group.start..cut);
            continue;
        }
        if is_over && !draft.flags.contains(&ChunkFlag::HardSplit) {
            draft.flags.push(ChunkFlag::HardSplit);
        }
        assembler.finish(draft);
        before = Some(group);
    }
    assembler.chunks
}

struct Assembler<'a> {
    input: ChunkInput<'a>,
    outline: &'a Outline,
    tokens: &'a TokenMap<'a>,
    options: &'a ChunkOptions,
    chunks: Vec<Chunk>,
    /// Characters before the next chunk.
    chars: usize,
    /// How often a chunk with this embedded text came before.
    equal: HashMap<ContentHash, usize>,
}

/// A chunk before its place among the others is known.
struct Draft {
    bytes: Range<usize>,
    prefix: String,
    suffix: String,
    overlap: String,
    token_count: usize,
    heading_path: Vec<String>,
    anchor: Option<String>,
    kinds: Vec<BlockKind>,
    flags: Vec<ChunkFlag>,
}

impl Assembler<'_> {
    fn text(&self, range: Range<usize>) -> &str {
        self.input.markdown.get(range).unwrap_or_default()
    }

    fn units(&self, group: &Range<usize>) -> &[Unit] {
        self.outline.units.get(group.clone()).unwrap_or_default()
    }

    /// Where a group that is too long is cut: before its last unit, unless that would leave a
    /// heading last.
    fn last_cut(&self, group: &Range<usize>) -> Option<usize> {
        let units = self.units(group);
        let can_stand_last = |n: &usize| units.get(n - 1).is_some_and(|u| !u.is_lead);
        (1..units.len()).rev().find(can_stand_last).map(|n| group.start + n)
    }

    fn draft(&self, group: &Range<usize>, before: Option<&Range<usize>>) -> Draft {
        let bytes = self.outline.bytes(group);
        let units = self.units(group);
        let mut draft = Draft {
            prefix: String::new(),
            suffix: String::new(),
            overlap: before.map_or(String::new(), |before| self.overlap(before)),
            token_count: 0,
            heading_path: Vec::new(),
            anchor: self.anchor(units),
            kinds: kinds(units),
            flags: Vec::new(),
            bytes,
        };
        if let Some(next) = self.outline.units.get(group.end).filter(|next| next.is_continued) {
            let closing = self.outline.carried(next).map(|carried| carried.closing.clone());
            draft.suffix = self.closing(&draft.bytes, closing.unwrap_or_default());
        }
        if let Some(first) = units.first() {
            draft.heading_path = self.outline.path(first);
            draft.flags = self.flags(first, group.end);
            for prefix in self.prefixes(units) {
                draft.prefix = prefix;
                draft.token_count = self.count(&draft);
                if draft.token_count <= self.options.max_tokens {
                    break;
                }
            }
        }
        draft
    }

    fn flags(&self, first: &Unit, end: usize) -> Vec<ChunkFlag> {
        let is_continued = first.is_continued && first.start > 0;
        let is_truncated = self.outline.carried(first).is_some_and(|c| c.is_truncated);
        let next = self.outline.units.get(end);
        let is_hard = [Some(first), next].into_iter().flatten().any(|u| u.cost == cost::GRAPHEME);
        let flags = [
            is_truncated.then_some(ChunkFlag::HeaderTruncated),
            is_continued.then_some(ChunkFlag::Continued),
            is_hard.then_some(ChunkFlag::HardSplit),
        ];
        flags.into_iter().flatten().collect()
    }

    /// What can stand before a chunk, the fullest first. The last holds only what the text cannot
    /// be read without.
    fn prefixes(&self, units: &[Unit]) -> Vec<String> {
        let Some(first) = units.first() else { return Vec::new() };
        let none = Carried::default();
        let carried = self.outline.carried(first).unwrap_or(&none);
        let breadcrumb = self.breadcrumb(first, units);
        let (parents, opening) = (carried.parents.as_str(), carried.opening.as_str());
        let mut prefixes = vec![
            [&breadcrumb.full, parents, opening].concat(),
            [&breadcrumb.short, parents, opening].concat(),
            [parents, opening].concat(),
            opening.to_owned(),
        ];
        prefixes.dedup();
        prefixes
    }

    /// The headings above; where there are none, the page's title, unless the chunk holds a main
    /// heading, which says the same.
    fn breadcrumb(&self, first: &Unit, units: &[Unit]) -> Breadcrumb {
        if units.iter().any(|unit| self.is_main_heading(unit))
            && !self.outline.has_heading_above(first)
        {
            return Breadcrumb::default();
        }
        self.outline.breadcrumb(first).clone()
    }

    fn is_main_heading(&self, unit: &Unit) -> bool {
        let heading = unit.heading.and_then(|own| self.outline.headings.get(own));
        unit.kind == BlockKind::Heading && heading.is_some_and(|heading| heading.level == 1)
    }

    /// A closing fence, on a line of its own.
    fn closing(&self, bytes: &Range<usize>, closing: String) -> String {
        let needs_line = !closing.is_empty() && !self.text(bytes.clone()).ends_with('\n');
        if needs_line { format!("\n{closing}") } else { closing }
    }

    fn count(&self, draft: &Draft) -> usize {
        let overlap = if self.options.embed_overlap { draft.overlap.as_str() } else { "" };
        let text = self.text(draft.bytes.clone());
        let before = [overlap, &draft.prefix].concat();
        self.tokens.count_around(&before, (text, draft.bytes.clone()), &draft.suffix)
    }

    fn anchor(&self, units: &[Unit]) -> Option<String> {
        let heading = units.first().and_then(|unit| unit.heading)?;
        self.outline.headings.get(heading).and_then(|heading| heading.anchor.clone())
    }

    /// The last lines of the chunk before: whole units of running text, at most `overlap_lines`.
    fn overlap(&self, before: &Range<usize>) -> String {
        let units = self.units(before);
        let end = self.outline.bytes(before).end;
        let most_tokens = self.options.max_tokens / 4;
        let mut start = end;
        for unit in units.iter().rev() {
            let is_running =
                matches!(unit.kind, BlockKind::Paragraph | BlockKind::ListItem | BlockKind::Quote);
            let text = self.text(unit.start..end);
            let is_short = text.trim_end().lines().count() <= self.options.overlap_lines;
            let has_room =
                !self.options.embed_overlap || self.tokens.count_alone(text) < most_tokens;
            if !is_running || !is_short || !has_room || text.contains("```") || text.contains("~~~")
            {
                break;
            }
            start = unit.start;
        }
        self.text(start..end).to_owned()
    }

    /// What stands for `text`, which stands at `bytes`, where chunks are told apart.
    fn in_one_form<'t>(&self, text: &'t str, bytes: &Range<usize>) -> Cow<'t, str> {
        let ranges = &self.outline.verbatim;
        let first = ranges.partition_point(|range| range.end <= bytes.start);
        let inside = ranges.iter().skip(first).take_while(|range| range.start < bytes.end);
        let within = inside.map(|range| {
            range.start.max(bytes.start) - bytes.start..range.end.min(bytes.end) - bytes.start
        });
        let lists = &self.outline.lists;
        let is_in_list = |at: usize| {
            let after = lists.partition_point(|list| list.end <= bytes.start + at);
            lists.get(after).is_some_and(|list| list.start <= bytes.start + at)
        };
        let is_last = bytes.end == self.outline.length;
        let ends = if is_last { Ends::Document } else { Ends::Chunk };
        in_one_form(text, within, is_in_list, ends)
    }

    fn finish(&mut self, draft: Draft) {
        let text = self.text(draft.bytes.clone()).to_owned();
        let chars = self.chars..self.chars + text.chars().count();
        self.chars = chars.end;
        let plain = self.in_one_form(&text, &draft.bytes);
        let parts = [draft.prefix.as_bytes(), plain.as_bytes(), draft.suffix.as_bytes()];
        let embed_hash = ContentHash::of_parts(&parts);
        let ordinal = self.equal.entry(embed_hash).or_insert(0);
        let id = chunk_id(self.input.document_id, embed_hash, *ordinal);
        *ordinal += 1;
        self.chunks.push(Chunk {
            id,
            content_hash: ContentHash::of(text.as_bytes()),
            text,
            bytes: draft.bytes,
            chars,
            prefix: draft.prefix,
            suffix: draft.suffix,
            overlap: draft.overlap,
            embeds_overlap: self.options.embed_overlap,
            token_count: u32::try_from(draft.token_count).unwrap_or(u32::MAX),
            heading_path: draft.heading_path,
            anchor: draft.anchor,
            kinds: draft.kinds,
            flags: draft.flags,
            embed_hash,
        });
    }
}

fn kinds(units: &[Unit]) -> Vec<BlockKind> {
    let mut kinds = Vec::new();
    for unit in units {
        if !kinds.contains(&unit.kind) {
            kinds.push(unit.kind);
        }
    }
    kinds
}
