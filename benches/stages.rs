//! Rates of the stages on the pages of the site that ships with the project.

#![expect(clippy::unwrap_used, reason = "a bench may fail")]

use std::hint::black_box;
use std::path::{Path, PathBuf};

use corpus::chunk::{ChunkInput, ChunkOptions, Tokenizer, chunk};
use corpus::config::Config;
use corpus::extract::{ExtractOptions, Source, SourceFormat, extract};
use corpus::model::{Ledger, document_id};
use corpus::pipeline::{Clock, Converter, Input, LocalJob, PageInput, convert_to_sink};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn demo_site() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("config/demo-site")
}

/// The HTML pages in `folder` and below.
fn pages(folder: PathBuf) -> Vec<Vec<u8>> {
    let mut folders = vec![folder];
    let mut pages = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "html") {
                pages.push(std::fs::read(path).unwrap());
            }
        }
    }
    pages
}

fn texts(pages: &[Vec<u8>]) -> Vec<String> {
    pages.iter().map(|page| String::from_utf8_lossy(page).into_owned()).collect()
}

/// Whole pages to Markdown, beside what it costs to parse them into the trees of html5ever's users.
/// `CORPUS_BENCH_PAGES` names a folder of pages; without it the demo site is converted.
fn markdown(criterion: &mut Criterion) {
    let folder = std::env::var_os("CORPUS_BENCH_PAGES").map_or_else(demo_site, PathBuf::from);
    let texts = texts(&pages(folder));
    let options = ExtractOptions { main_content: "off".to_owned(), ..ExtractOptions::default() };
    let mut group = criterion.benchmark_group("markdown");
    group.throughput(Throughput::Bytes(texts.iter().map(String::len).sum::<usize>() as u64));
    group.bench_function("html5ever into a tree", |bencher| {
        let nodes = |text| scraper::Html::parse_document(text).tree.nodes().len();
        bencher.iter(|| texts.iter().map(|text| nodes(black_box(text))).sum::<usize>());
    });
    group.bench_function("whole page", |bencher| {
        let bytes = |text| {
            let source = Source { text, url: None, format: SourceFormat::Html };
            extract(source, &options, Ledger::default()).unwrap().markdown.as_str().len()
        };
        bencher.iter(|| texts.iter().map(|text| bytes(black_box(text))).sum::<usize>());
    });
    group.finish();
}

fn stages(criterion: &mut Criterion) {
    let pages = pages(demo_site());
    let texts = texts(&pages);
    let bytes: usize = texts.iter().map(String::len).sum();
    let options = ExtractOptions::default();
    let document = |text: &str| {
        let source = Source { text, url: None, format: SourceFormat::Html };
        extract(source, &options, Ledger::default()).unwrap()
    };
    let markdown: Vec<String> =
        texts.iter().map(|text| document(text).markdown.into_string()).collect();
    let markdown_bytes: usize = markdown.iter().map(String::len).sum();

    let mut group = criterion.benchmark_group("stages");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("extract", |bencher| {
        bencher.iter(|| {
            texts.iter().map(|text| document(black_box(text)).headings.len()).sum::<usize>()
        });
    });
    group.bench_function("whole page", |bencher| {
        let converter = Converter::new(&Config::default());
        let inputs: Vec<PageInput> = pages
            .iter()
            .map(|page| PageInput::new("file:///a".to_owned(), None, "text/html", page.clone()))
            .collect();
        bencher.iter(|| {
            inputs
                .iter()
                .map(|input| converter.convert(black_box(input), "").outlinks.len())
                .sum::<usize>()
        });
    });
    group.throughput(Throughput::Bytes(markdown_bytes as u64));
    for (name, tokenizer, max_tokens) in
        [("chunk, o200k_base", Tokenizer::O200kBase, 256), ("chunk, chars", Tokenizer::Chars, 1024)]
    {
        let options = ChunkOptions { max_tokens, ..ChunkOptions::default() };
        let cut = |markdown: &String| {
            let document_id = document_id("file:///a");
            let input = ChunkInput { markdown, title: None, headings: &[], document_id };
            chunk(input, &options, &tokenizer).len()
        };
        group.bench_function(name, |bencher| {
            bencher.iter(|| markdown.iter().map(|text| cut(black_box(text))).sum::<usize>());
        });
    }
    group.finish();
}

fn pipeline(criterion: &mut Criterion) {
    let folder = demo_site();
    let job = LocalJob {
        config: Config::default(),
        inputs: vec![Input::Path(folder)],
        charset: None,
        cuts: true,
        clock: Clock::System,
    };
    criterion.bench_function("pipeline over files", |bencher| {
        bencher.iter(|| convert_to_sink(&job, |_, _| {}, &mut |_| {}).unwrap());
    });
}

criterion_group!(benches, markdown, stages, pipeline);
criterion_main!(benches);
