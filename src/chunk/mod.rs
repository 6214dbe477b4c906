//! Cuts a document's Markdown into chunks, along its structure.
//!
//! In: Markdown, from any source. Out: [`Chunk`]s in reading order.
//!
//! `reader` reads the Markdown's blocks and lists where it may be cut and what a cut there costs;
//! a block that fits is one unit, a longer one is cut by `split` or `table`. `pack` chooses the cuts section
//! by section, by dynamic programming over those costs. `context` puts around each chunk what a
//! reader needs from before the cut.
//!
//! Promises, for every input; the tests hold them on random documents:
//!
//! - Nothing is lost: the texts, joined, are the document, byte for byte.
//! - Nothing is torn: with prefix and suffix, fences are closed and table rows have the header of
//!   their own table.
//! - Nothing is too long: `prefix + text + suffix` is within `max_tokens`, save where the flag
//!   `hard_split` says why not.
//! - Time is linear in the document for a given budget, and nothing recurses.
//!
//! What it does not do: it changes no character of the text, and knows nothing of pages around.

mod context;
mod heading;
mod label;
mod pack;
mod parents;
mod reader;
mod sentence;
mod space;
mod split;
mod table;
mod tokenizer;
mod tokens;
mod units;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use self::tokenizer::{
    Tokenizer, TokenizerError, TokenizerFile, TokenizerName, UnknownTokenizer, WANTED,
};
use self::tokens::TokenMap;
use crate::model::{Chunk, Heading, Ratio};

/// Names the rules that cut: another name means that chunks, and so their identifiers, may differ.
pub const CHUNKER_VERSION: &str = "corpus-2";

/// How long chunks may be, and what is carried into them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChunkOptions {
    /// Most tokens of prefix, text and suffix together. At least 32.
    ///
    /// Small chunks with context win at a fixed number of retrieved tokens: on technical
    /// documentation, recall at 1,000 tokens fell from 0.80 to 0.76 and 0.74 as the limit rose
    /// from 200 to 400 and 800.
    pub max_tokens: usize,
    /// What counts tokens. [`Tokenizer::load`] makes it ready.
    pub tokenizer: TokenizerName,
    /// Most lines repeated from the chunk before, in the column `overlap`. 0 turns it off.
    pub overlap_lines: usize,
    /// Whether the overlap is part of the embedded text, and counted.
    pub embed_overlap: bool,
    /// Share of the limit below which a chunk is rather filled up than ended before a heading.
    pub heading_cut_ratio: Ratio,
}

impl Default for ChunkOptions {
    fn default() -> Self {
        Self {
            max_tokens: 256,
            tokenizer: TokenizerName::O200kBase,
            overlap_lines: 5,
            embed_overlap: false,
            heading_cut_ratio: Ratio::from_thousandths(500),
        }
    }
}

/// A document to be cut.
#[derive(Clone, Copy, Debug)]
pub struct ChunkInput<'a> {
    /// Its Markdown.
    pub markdown: &'a str,
    /// Its title: the outermost part of breadcrumbs above which no main heading stands.
    pub title: Option<&'a str>,
    /// Its headings in order, for their anchors; may be empty.
    pub headings: &'a [Heading],
    /// Its identifier, from which those of the chunks follow.
    pub document_id: Uuid,
}

/// Cuts `input` into chunks, whose tokens `tokenizer` counts: the one that `options` name.
pub fn chunk(input: ChunkInput<'_>, options: &ChunkOptions, tokenizer: &Tokenizer) -> Vec<Chunk> {
    if input.markdown.is_empty() {
        return Vec::new();
    }
    let tokens = TokenMap::new(input.markdown, tokenizer);
    let outline = reader::read(input, &tokens, budget(options));
    let groups = pack::pack(input.markdown, &outline, &tokens, options);
    context::assemble(input, &outline, &tokens, groups, options)
}

/// Tokens that prefix, text and suffix may have together: the limit, less what is kept free for
/// an embedded overlap.
fn budget(options: &ChunkOptions) -> usize {
    let overlap = if options.embed_overlap { options.max_tokens / 4 } else { 0 };
    options.max_tokens.max(1) - overlap
}

#[cfg(test)]
mod invariants;
#[cfg(test)]
mod tests;
