//! A page from anyone, through every pure stage: HTML → Markdown → chunks.
#![no_main]

use corpus::chunk::ChunkOptions;
use corpus::clean::{CleanOptions, clean};
use corpus::extract::{ExtractOptions, HiddenMode, Source, SourceFormat, extract};
use corpus::model::{Document, Ledger, WebUrl};
use corpus_fuzz::{check_address, check_chunks};
use libfuzzer_sys::fuzz_target;
use pulldown_cmark::{Event, Options, Parser, Tag};

/// The only HTML that Markdown may hold: what it has no word of its own for.
const MARKUP: &[&str] = &["<br>", "<sup>", "</sup>", "<sub>", "</sub>"];

fn convert(html: &str, options: &ExtractOptions) -> Document {
    let url = WebUrl::parse("https://h.example/a/b").expect("an address");
    let source = Source { text: html, url: Some(&url), format: SourceFormat::Html };
    let mut document = extract(source, options, Ledger::default()).expect("no selectors are set");
    clean(&mut document, CleanOptions::default());
    document
}

fn check_target(target: &str) {
    let scheme = url::Url::parse(target).map(|url| url.scheme().to_owned());
    let is_safe = scheme.map_or(true, |scheme| {
        matches!(scheme.as_str(), "http" | "https" | "mailto" | "ftp" | "tel")
    });
    assert!(is_safe, "`{target}` leads to a script");
}

/// Holds Markdown against what a page may bring about in it.
fn check_markdown(markdown: &str) {
    assert!(!markdown.contains(['\r', '\0', '\u{202e}', '\u{2066}']), "a control is left");
    assert!(markdown.is_empty() || markdown.ends_with('\n') && !markdown.ends_with("\n\n"));
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                check_target(&dest_url);
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                assert!(MARKUP.contains(&html.trim()), "the page's own `{html}` is HTML");
            }
            _ => {}
        }
    }
}

fuzz_target!(|html: &str| {
    let options = ExtractOptions {
        main_content: if html.len() % 2 == 0 { "auto" } else { "off" }.to_owned(),
        hidden: if html.len() % 3 == 0 { HiddenMode::Keep } else { HiddenMode::Remove },
        max_depth: 40,
        max_nodes: 5_000,
        max_links: 20,
        max_markdown_chars: 20_000,
        ..ExtractOptions::default()
    };
    let document = convert(html, &options);
    let markdown = document.markdown.as_str();
    assert!(markdown.chars().count() <= options.max_markdown_chars + 1);
    assert!(document.outlinks.len() <= options.max_links);
    document.outlinks.iter().for_each(check_address);
    check_markdown(markdown);
    assert_eq!(convert(html, &options), document, "the same page is another document");
    check_chunks(markdown, &ChunkOptions { max_tokens: 64, ..ChunkOptions::default() });
});
