//! What extraction promises, on small pages.

use super::*;

#[track_caller]
fn check(html: &str, want: &str) {
    let options = ExtractOptions { main_content: "off".to_owned(), ..ExtractOptions::default() };
    let source = Source { text: html, url: None, format: SourceFormat::Html };
    let document = extract(source, &options, Ledger::default()).unwrap();
    assert_eq!(document.markdown.as_str().trim_end(), want);
}

#[test]
fn emphasis() {
    check("<p>foo<b>bar</b>baz</p>", "foo**bar**baz");
    check("<p><b>bold </b>next, <b> lead</b>x</p>", "**bold** next, **lead**x");
}
