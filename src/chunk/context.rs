//! What is put around a chunk, and the chunk itself.

use std::collections::HashMap;
use std::ops::Range;

use super::tokens::TokenMap;
use super::units::{Carried, Outline, Unit, cost};
use super::{ChunkInput, ChunkOptions, budget};
use crate::model::{BlockKind, Chunk, ChunkFlag, ContentHash, chunk_id};

/// Most tokens of a breadcrumb for chunks of `budget` tokens: an eighth, at most 32. Outer
/// headings go first, since longer ones cost more recall than they bring.
pub(super) fn max_breadcrumb(budget: usize) -> usize {
    (budget / 8).min(32)
}

/// Makes a chunk of each group of units.
pub(super) fn assemble(
    input: ChunkInput<'_>,
    outline: &Outline,
    tokens: &TokenMap,
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
    tokens: &'a TokenMap,
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
        let can_stand_last =
            |n: &usize| units.get(n - 1).is_some_and(|u| u.kind != BlockKind::Heading);
        (1..units.len()).rev().find(can_stand_last).map(|n| group.start + n)
    }

    fn draft(&self, group: &Range<usize>, before: Option<&Range<usize>>) -> Draft {
        let bytes = self.outline.bytes(group);
        let units = self.units(group);
        let mut flags = Vec::new();
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
        if let Some(first) = units.first() {
            let path = self.outline.path(first);
            let names = path.iter().filter_map(|n| self.outline.headings.get(*n));
            draft.heading_path = names.map(|heading| heading.text.clone()).collect();
            draft.prefix = self.breadcrumb(&draft.heading_path, units);
            if let Some(carried) = self.carried(first) {
                draft.prefix.push_str(&carried.parents);
                draft.prefix.push_str(&carried.opening);
                flags.extend(carried.is_truncated.then_some(ChunkFlag::HeaderTruncated));
            }
            flags.extend((first.is_continued && group.start > 0).then_some(ChunkFlag::Continued));
            flags.extend((first.cost == cost::GRAPHEME).then_some(ChunkFlag::HardSplit));
        }
        if let Some(next) = self.outline.units.get(group.end).filter(|next| next.is_continued) {
            let closing =
                self.carried(next).map(|carried| carried.closing.clone()).unwrap_or_default();
            draft.suffix = self.closing(&draft.bytes, closing);
        }
        draft.flags = flags;
        draft.token_count = self.count(&draft);
        draft
    }

    fn carried(&self, unit: &Unit) -> Option<&Carried> {
        unit.carried.and_then(|n| self.outline.carried.get(n))
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

    /// The headings above, as one line; where there are none, the page's title.
    fn breadcrumb(&self, path: &[String], units: &[Unit]) -> String {
        let most = max_breadcrumb(budget(self.options));
        let has_heading = units.iter().any(|unit| unit.kind == BlockKind::Heading);
        let names: Vec<&str> = match (path, self.input.title) {
            ([], Some(title)) if !has_heading => vec![title],
            _ => path.iter().map(String::as_str).filter(|name| !name.is_empty()).collect(),
        };
        let kept = (0..names.len()).find_map(|outer| {
            let line = names.get(outer..)?.join(" > ");
            (self.tokens.count_other(&line) < most).then_some(line)
        });
        match kept {
            Some(line) if !line.is_empty() => format!("{line}\n\n"),
            _ => String::new(),
        }
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
                !self.options.embed_overlap || self.options.tokenizer.count(text) < most_tokens;
            if !is_running || !is_short || !has_room || text.contains("```") || text.contains("~~~")
            {
                break;
            }
            start = unit.start;
        }
        self.text(start..end).to_owned()
    }

    fn finish(&mut self, draft: Draft) {
        let text = self.text(draft.bytes.clone()).to_owned();
        let chars = self.chars..self.chars + text.chars().count();
        self.chars = chars.end;
        let parts = [draft.prefix.as_bytes(), text.as_bytes(), draft.suffix.as_bytes()];
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
