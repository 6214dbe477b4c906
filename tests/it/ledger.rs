//! Nothing vanishes silently from real pages: each letter that a page shows stands in its Markdown
//! or in the ledger.
//!
//! The pages are read where they lie: the folder in the environment variable `CORPUS_BENCH`, else
//! `../shared/bench` beside the project. Where they are absent, the test says so and passes.

#![expect(clippy::print_stdout, reason = "a test that finds no pages says so")]

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use corpus::extract::{ExtractOptions, ImageMode, Source, SourceFormat, extract};
use corpus::model::Ledger;
use flate2::read::MultiGzDecoder;
use rayon::prelude::*;
use scraper::{Html, Node};
use unicode_normalization::UnicodeNormalization as _;

/// Every page of so many is read: all of them take minutes without optimization.
const STEP: usize = 5;

/// Elements whose text depends on the parser's view of scripts, or becomes something else: TeX.
const APART: &[&str] =
    &["noscript", "noframes", "iframe", "template", "math", "svg", "head", "title"];

fn pages() -> Vec<PathBuf> {
    let folder = std::env::var_os("CORPUS_BENCH").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/bench"),
        PathBuf::from,
    );
    let Ok(entries) = fs::read_dir(folder.join("extraction/pages")) else {
        println!("skipped: no pages in {}", folder.display());
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().step_by(STEP).collect()
}

fn read(path: &Path) -> String {
    let mut html = Vec::new();
    MultiGzDecoder::new(File::open(path).unwrap()).read_to_end(&mut html).unwrap();
    String::from_utf8_lossy(&html).into_owned()
}

type Letters = HashMap<char, usize>;

fn count(letters: &mut Letters, text: &str) {
    for letter in text.nfc().filter(|c| c.is_alphanumeric()) {
        *letters.entry(letter).or_default() += 1;
    }
}

/// The letters of the page's text, as another reader of the same parser sees it.
fn shown(html: &str) -> Letters {
    let page = Html::parse_document(html);
    let mut letters = Letters::new();
    for node in page.tree.nodes() {
        let Node::Text(text) = node.value() else { continue };
        let is_apart = |node: ego_tree::NodeRef<'_, Node>| {
            node.value().as_element().is_some_and(|element| APART.contains(&element.name()))
        };
        if !node.ancestors().any(is_apart) {
            count(&mut letters, text);
        }
    }
    letters
}

/// How many letters neither the Markdown nor the ledger has.
fn missing(html: &str, main_content: &str) -> usize {
    let options = ExtractOptions {
        main_content: main_content.to_owned(),
        // Addresses would make up for letters that are lost.
        links: false,
        images: ImageMode::None,
        ..ExtractOptions::default()
    };
    let source = Source { text: html, url: None, format: SourceFormat::Html };
    let document = extract(source, &options, Ledger::keeping_texts()).unwrap();
    let mut kept = Letters::new();
    count(&mut kept, document.markdown.as_str());
    document.ledger.texts().for_each(|(_, text)| count(&mut kept, text));
    let lost =
        |(letter, wanted): (char, usize)| wanted.saturating_sub(*kept.get(&letter).unwrap_or(&0));
    shown(html).into_iter().map(lost).sum()
}

#[test]
fn each_letter_of_a_real_page_is_kept_or_told() {
    let failed: Vec<String> = pages()
        .par_iter()
        .flat_map(|path| {
            let html = read(path);
            let lost = |mode: &str| (mode.to_owned(), missing(&html, mode));
            let lost = ["off", "auto"].map(lost).into_iter().filter(|(_, lost)| *lost > 0);
            lost.map(|(mode, lost)| format!("{}, {mode}: {lost}", path.display()))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(failed.is_empty(), "{} pages lose letters:\n{}", failed.len(), failed.join("\n"));
}
