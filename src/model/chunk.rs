//! A piece of a document, ready to be embedded.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::ContentHash;

/// A piece of a document, ready to be embedded.
///
/// # Invariants
///
/// - `text` is exactly `markdown[bytes]` of its document, never empty.
/// - The spans of a document's chunks meet: none overlap, none are missing.
/// - `prefix + text + suffix` parses on its own: fences are closed, table rows have their header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// See [`super::chunk_id`].
    pub id: Uuid,
    /// The piece itself.
    pub text: String,
    /// Where it stands in the document, in bytes.
    pub bytes: Range<usize>,
    /// Where it stands in the document, in Unicode scalar values.
    pub chars: Range<usize>,
    /// What a reader needs from before the cut: breadcrumb, table header, opening fence, parent
    /// list item.
    pub prefix: String,
    /// What must follow the cut: a closing fence.
    pub suffix: String,
    /// The last lines of the chunk before, whole blocks or sentences. Not counted in `bytes`.
    pub overlap: String,
    /// Whether `overlap` is part of the embedded text.
    #[serde(default)]
    pub embeds_overlap: bool,
    /// Tokens of the embedded text.
    pub token_count: u32,
    /// The headings above the chunk, outermost first.
    pub heading_path: Vec<String>,
    /// The fragment of the nearest heading.
    pub anchor: Option<String>,
    /// The kinds of block in it, each once, in order of appearance.
    pub kinds: Vec<BlockKind>,
    /// What a reader of the chunk should know.
    pub flags: Vec<ChunkFlag>,
    /// Hash of `text`.
    pub content_hash: ContentHash,
    /// Hash of prefix, text and suffix: a cache key for embeddings.
    pub embed_hash: ContentHash,
}

impl Chunk {
    /// What to embed: overlap (where configured), prefix, text and suffix.
    pub fn embed_text(&self) -> String {
        let overlap = if self.embeds_overlap { self.overlap.as_str() } else { "" };
        [overlap, &self.prefix, &self.text, &self.suffix].concat()
    }
}

/// A kind of block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// A heading of any level.
    Heading,
    /// A paragraph.
    Paragraph,
    /// A fenced or indented code block.
    Code,
    /// A table.
    Table,
    /// A list item.
    ListItem,
    /// A block quotation.
    Quote,
    /// Raw HTML.
    Html,
    /// A thematic break.
    Rule,
}

impl BlockKind {
    /// The word in the `kinds` column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Heading => "heading",
            Self::Paragraph => "paragraph",
            Self::Code => "code",
            Self::Table => "table",
            Self::ListItem => "list_item",
            Self::Quote => "quote",
            Self::Html => "html",
            Self::Rule => "rule",
        }
    }
}

/// What a reader of a chunk should know about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChunkFlag {
    /// It begins inside a table, a code block, a list item or a paragraph.
    Continued,
    /// A single piece that cannot be cut is longer than the budget, or had to be cut anywhere.
    HardSplit,
    /// The carried table header was too long and is cut at a cell.
    HeaderTruncated,
    /// Its page is nearly equal to another; see `near_duplicate_of` in `pages`.
    NearDuplicate,
    /// Its text stands in another page too, which goes before this one in the order of originals.
    Repeated,
    /// Its page was cut by a limit.
    PartialPage,
}

impl ChunkFlag {
    /// The word in the `flags` column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Continued => "continued",
            Self::HardSplit => "hard_split",
            Self::HeaderTruncated => "header_truncated",
            Self::NearDuplicate => "near_duplicate",
            Self::Repeated => "repeated",
            Self::PartialPage => "partial_page",
        }
    }
}
