//! Markdown from anyone to chunks; the length decides how long they may be.
#![no_main]

use corpus::chunk::ChunkOptions;
use corpus_fuzz::check_chunks;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|markdown: &str| {
    let max_tokens = [32, 33, 64, 256][markdown.len() % 4];
    let embed_overlap = markdown.len() % 3 == 0;
    let overlap_lines = markdown.len() % 5;
    let options =
        ChunkOptions { max_tokens, embed_overlap, overlap_lines, ..ChunkOptions::default() };
    check_chunks(markdown, &options);
});
