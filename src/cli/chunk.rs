//! `corpus chunk`.

use std::io::Read as _;
use std::path::Path;

use serde::Serialize;

use super::args::ChunkArgs;
use super::{Failure, exit, load_or_default, say};
use crate::chunk::{ChunkInput, Tokenizer, TokenizerName, WANTED, chunk};
use crate::model::{Chunk, ChunkFlag, ContentHash, document_id};

/// A chunk as one JSON line.
#[derive(Serialize)]
pub(super) struct ChunkLine<'a> {
    chunk_id: String,
    chunk_index: usize,
    total_chunks: usize,
    char_start: usize,
    char_end: usize,
    byte_start: usize,
    byte_end: usize,
    text: &'a str,
    prefix: &'a str,
    suffix: &'a str,
    overlap: &'a str,
    token_count: u32,
    heading_path: &'a [String],
    anchor: Option<&'a str>,
    kinds: Vec<&'static str>,
    flags: Vec<&'static str>,
    content_hash: ContentHash,
    embed_hash: ContentHash,
}

impl<'a> ChunkLine<'a> {
    /// The lines of a document's chunks.
    pub(super) fn all(chunks: &'a [Chunk]) -> Vec<Self> {
        let line = |(chunk_index, chunk): (usize, &'a Chunk)| Self {
            chunk_id: chunk.id.to_string(),
            chunk_index,
            total_chunks: chunks.len(),
            char_start: chunk.chars.start,
            char_end: chunk.chars.end,
            byte_start: chunk.bytes.start,
            byte_end: chunk.bytes.end,
            text: &chunk.text,
            prefix: &chunk.prefix,
            suffix: &chunk.suffix,
            overlap: &chunk.overlap,
            token_count: chunk.token_count,
            heading_path: &chunk.heading_path,
            anchor: chunk.anchor.as_deref(),
            kinds: chunk.kinds.iter().map(|kind| kind.name()).collect(),
            flags: chunk.flags.iter().copied().map(ChunkFlag::name).collect(),
            content_hash: chunk.content_hash,
            embed_hash: chunk.embed_hash,
        };
        chunks.iter().enumerate().map(line).collect()
    }
}

/// Chunks as JSON lines.
pub(super) fn lines(chunks: &[Chunk]) -> String {
    let mut lines = String::new();
    for line in ChunkLine::all(chunks) {
        lines.push_str(&serde_json::to_string(&line).unwrap_or_default());
        lines.push('\n');
    }
    lines
}

pub(super) fn run(args: &ChunkArgs) -> Result<u8, Failure> {
    let config = load_or_default(args.config.as_deref())?;
    let (mut options, mut counter) = (config.chunk, config.tokenizer);
    if let Some(max_tokens) = args.max_tokens {
        if max_tokens < 1 {
            return Err(Failure::usage("`--max-tokens` is 0", "give at least 1"));
        }
        options.max_tokens = max_tokens;
    }
    if let Some(name) = &args.tokenizer {
        (options.tokenizer, counter) = tokenizer(name)?;
    }
    let text = read(&args.file)?;
    let url = format!("file:///{}", args.file.display());
    let input =
        ChunkInput { markdown: &text, title: None, headings: &[], document_id: document_id(&url) };
    say::data(&lines(&chunk(input, &options, &counter)))?;
    Ok(exit::DONE)
}

fn tokenizer(name: &str) -> Result<(TokenizerName, Tokenizer), Failure> {
    let refuse = |why: String| Failure::usage(why, format!("`--tokenizer` must be {WANTED}"));
    let name = TokenizerName::try_from(name.to_owned())
        .map_err(|_| refuse(format!("`{name}` is not a tokenizer")))?;
    let tokenizer = Tokenizer::load(&name)
        .map_err(|error| refuse(format!("cannot count with `{name}`: {error}")))?;
    Ok((name, tokenizer))
}

/// The text of a file, or of the standard input for `-`.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    String::from_utf8(read_bytes(path)?).map_err(|_| {
        Failure::usage(
            format!("`{}` is not UTF-8 text", path.display()),
            "convert it to UTF-8 first",
        )
    })
}

/// The bytes of a file, or of the standard input for `-`.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    read.map_err(|error| {
        Failure::usage(format!("cannot read `{}`: {error}", path.display()), "check the path")
    })
}
