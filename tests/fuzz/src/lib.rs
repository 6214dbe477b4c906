//! What several fuzz targets hold their input against.

#![forbid(unsafe_code)]

use std::collections::HashSet;

use corpus::chunk::{ChunkInput, ChunkOptions, Tokenizer, chunk};
use corpus::model::{ChunkFlag, WebUrl, document_id};

/// Splits `data` after its first line: what the target is asked about, and what is asked.
pub fn first_line(data: &[u8]) -> (&[u8], &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    (&data[..end], data.get(end + 1..).unwrap_or_default())
}

/// Chunks `markdown` and holds the chunks against what `corpus::chunk` promises.
///
/// # Panics
///
/// Panics where a promise is broken.
pub fn check_chunks(markdown: &str, options: &ChunkOptions) {
    let document_id = document_id("https://example.org/");
    let input = ChunkInput { markdown, title: Some("Title"), headings: &[], document_id };
    let tokenizer = Tokenizer::O200kBase;
    let chunks = chunk(input, options, &tokenizer);
    let (mut bytes, mut chars) = (0, 0);
    let mut ids = HashSet::new();
    for chunk in &chunks {
        assert!(!chunk.text.is_empty(), "a chunk is empty");
        assert_eq!((chunk.bytes.start, chunk.chars.start), (bytes, chars), "chunks meet");
        assert_eq!(markdown.get(chunk.bytes.clone()), Some(chunk.text.as_str()));
        assert_eq!(chunk.text.chars().count(), chunk.chars.len());
        (bytes, chars) = (chunk.bytes.end, chunk.chars.end);
        let tokens = tokenizer.count(&chunk.embed_text());
        assert_eq!(tokens, chunk.token_count as usize, "the count is that of the text");
        assert!(
            tokens <= options.max_tokens || chunk.flags.contains(&ChunkFlag::HardSplit),
            "{tokens} tokens are more than {} without a flag: {chunk:?}",
            options.max_tokens
        );
        assert!(ids.insert(chunk.id), "an id stands twice");
    }
    assert_eq!(bytes, markdown.len(), "nothing is lost");
}

/// Holds an address against the invariants of [`WebUrl`] and of its key.
///
/// # Panics
///
/// Panics where one does not hold.
pub fn check_address(url: &WebUrl) {
    assert_eq!(WebUrl::parse(url.as_str()).as_ref(), Ok(url), "an address reads as itself");
    assert!(matches!(url.as_url().scheme(), "http" | "https"));
    assert!(!url.as_str().contains('#') && url.as_str().len() <= 2083);
    assert!(url.as_url().username().is_empty() && url.as_url().password().is_none());
    let key = url.key();
    let again = WebUrl::parse(key.as_str()).expect("a key is an address");
    assert_eq!(again.key(), key, "the key of a key is itself");
    assert_eq!(again.authority(), url.authority(), "a key stays on its host");
}
