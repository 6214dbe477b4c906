//! Everything that is kept of a page in a run: its row in `pages` and its rows in `chunks`.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    Chunk, ContentHash, DuplicateBy, Markdown, Metadata, PageFlag, PageOutcome, Quality, Removal,
    Sketch, Timestamp, Validators,
};

/// The four counts of every page, in Unicode scalar values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentCounts {
    /// The source as it was read.
    pub original_html_chars: u64,
    /// The Markdown before cleaning.
    pub initial_markdown_chars: u64,
    /// What cleaning removed from the Markdown.
    pub filtered_chars_removed: u64,
    /// The Markdown that is kept.
    pub final_filtered_chars: u64,
}

/// Everything that is kept of a page in a run.
///
/// # Invariants
///
/// - There are chunks only where the outcome is [`PageOutcome::Collected`].
/// - `chunks` are in reading order and tile `markdown`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageRecord {
    /// The page's key: its canonical address, or the name of a file.
    pub url: String,
    /// The host of `url`; empty for a file.
    pub host: String,
    /// The address that answered.
    pub final_url: String,
    /// See [`super::document_id`].
    pub document_id: Uuid,
    /// What became of the page.
    pub outcome: PageOutcome,
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// The media type, where there was an answer.
    pub content_type: Option<String>,
    /// The encoding that the body was read in.
    pub charset: Option<String>,
    /// Links between a seed and the page.
    pub depth: u32,
    /// The page that the address was found on.
    pub referrer: Option<String>,
    /// When the answer had arrived, or the attempt had ended.
    pub fetched_at: Timestamp,
    /// When the page was first collected.
    pub first_seen_at: Timestamp,
    /// When its content last changed.
    pub changed_at: Timestamp,
    /// From the request to the end of the body.
    pub elapsed_ms: u64,
    /// Length of the decoded body.
    pub body_bytes: u64,
    /// What the page says about itself.
    pub metadata: Metadata,
    /// What its text is like, where there was any.
    #[serde(default)]
    pub quality: Option<Quality>,
    /// By which texts like it are found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sketch: Option<Sketch>,
    /// The page that it is nearly equal to: known once the other pages of the run are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near_duplicate_of: Option<String>,
    /// The main content.
    pub markdown: Markdown,
    /// The four counts.
    pub counts: ContentCounts,
    /// What was removed, by rule.
    pub removed: Vec<Removal>,
    /// Limits that cut the page.
    pub flags: Vec<PageFlag>,
    /// The chunks.
    pub chunks: Vec<Chunk>,
    /// Hash of `markdown`, where there is any.
    pub content_hash: Option<ContentHash>,
    /// Hash of the body's bytes, where there was one.
    pub body_hash: Option<ContentHash>,
    /// What to recognize the page by next time.
    pub validators: Validators,
    /// Counts the contents that this page has had, from 1.
    pub version: u32,
    /// The run that made this record.
    pub run_id: String,
    /// Addresses in scope that the page links to, in page order.
    pub outlinks: Vec<String>,
}

impl PageRecord {
    /// The record with another outcome, of which no content is kept.
    #[must_use]
    pub fn without_content(mut self, outcome: PageOutcome) -> Self {
        self.drop_content();
        Self { outcome, content_hash: None, body_hash: None, ..self }
    }

    /// Drops what only a page that is collected has in the corpus.
    pub fn drop_content(&mut self) {
        self.chunks.clear();
        self.markdown = Markdown::default();
    }

    /// Whether text of the page may be missing.
    pub fn is_partial(&self) -> bool {
        self.flags.iter().any(|flag| flag.is_partial())
    }

    /// Whether the page says that its canonical address is another.
    pub fn is_alias(&self) -> bool {
        self.metadata.canonical_url.as_ref().is_some_and(|url| *url != self.url)
    }

    /// Whether its content is that of another page.
    pub fn is_content_duplicate(&self) -> bool {
        matches!(
            self.outcome,
            PageOutcome::Duplicate {
                by: DuplicateBy::Body | DuplicateBy::Markdown | DuplicateBy::Likeness,
                ..
            }
        )
    }

    /// Whether there was a body, so that what the record says of it is new.
    pub fn has_body(&self) -> bool {
        self.body_hash.is_some() || self.content_hash.is_some()
    }

    /// Tokens of all its chunks.
    pub fn token_count(&self) -> u64 {
        self.chunks.iter().map(|chunk| u64::from(chunk.token_count)).sum()
    }
}
