//! Holds what chunking promises on real documentation.
//!
//! The documents are read where they lie: the folder in the environment variable `CORPUS_BENCH`,
//! else `../shared/bench` beside the project. Where they are absent, the test says so and passes.

#![expect(clippy::print_stdout, reason = "a test that finds no documents says so")]

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use corpus::chunk::{ChunkInput, ChunkOptions, Tokenizer, chunk};
use corpus::model::{Chunk, ChunkFlag, document_id};
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::Value;

const BUDGET: usize = 256;

fn folder() -> PathBuf {
    std::env::var_os("CORPUS_BENCH").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/bench"),
        PathBuf::from,
    )
}

/// Documents as (name, Markdown); none where the file is absent.
fn documents() -> Vec<(String, String)> {
    let Ok(file) = File::open(folder().join("chunking/structured_docs.jsonl.gz")) else {
        println!("skipped: no documents in {}", folder().display());
        return Vec::new();
    };
    let lines = BufReader::new(flate2::read::MultiGzDecoder::new(file)).lines();
    let document = |line: String| {
        let value: Value = serde_json::from_str(&line).unwrap();
        let field = |name: &str| value[name].as_str().unwrap().to_owned();
        (field("doc_id"), field("text"))
    };
    lines.map(|line| document(line.unwrap())).collect()
}

fn cut(name: &str, markdown: &str) -> Vec<Chunk> {
    let document_id = document_id(&format!("file:///{name}"));
    let options = ChunkOptions { max_tokens: BUDGET, ..ChunkOptions::default() };
    let input = ChunkInput { markdown, title: None, headings: &[], document_id };
    chunk(input, &options, &Tokenizer::O200kBase)
}

/// What may not be cut below the budget.
fn whole(markdown: &str) -> Vec<std::ops::Range<usize>> {
    let is_whole = |event: &Event<'_>| {
        matches!(
            event,
            Event::Code(_) | Event::Start(Tag::Link { .. } | Tag::CodeBlock(_) | Tag::TableRow)
        )
    };
    let events = Parser::new_ext(markdown, Options::ENABLE_TABLES).into_offset_iter();
    events.filter(|(event, _)| is_whole(event)).map(|(_, range)| range).collect()
}

#[test]
fn real_documents_are_cut_as_promised() {
    let mut ids = HashSet::new();
    let mut torn = Vec::new();
    for (name, markdown) in documents() {
        let chunks = cut(&name, &markdown);
        let mut end = 0;
        for chunk in &chunks {
            assert_eq!(chunk.bytes.start, end, "{name}: chunks meet");
            assert_eq!(markdown.get(chunk.bytes.clone()), Some(chunk.text.as_str()), "{name}");
            end = chunk.bytes.end;
            let counted = Tokenizer::O200kBase.count(&chunk.embed_text());
            assert_eq!(counted, chunk.token_count as usize, "{name}: {}", chunk.text);
            let is_flagged = chunk.flags.contains(&ChunkFlag::HardSplit);
            assert!(counted <= BUDGET || is_flagged, "{name}: {counted} tokens: {}", chunk.text);
            assert!(ids.insert(chunk.id), "{name}: an id twice");
        }
        assert_eq!(end, markdown.len(), "{name}: nothing is lost");
        let starts: Vec<usize> = chunks.iter().map(|chunk| chunk.bytes.start).collect();
        for range in whole(&markdown) {
            let text = markdown.get(range.clone()).unwrap();
            let next = starts.partition_point(|start| *start <= range.start);
            let is_cut = starts.get(next).is_some_and(|start| *start < range.end);
            // A row needs its header beside it, so the longest fits half of the budget at least.
            if is_cut && Tokenizer::O200kBase.count(text) <= BUDGET / 2 {
                torn.push(format!("{name}: {text}"));
            }
        }
    }
    assert!(torn.is_empty(), "{torn:#?}");
}
