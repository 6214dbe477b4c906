//! One page through every stage: what the config makes of it.

#![expect(clippy::unwrap_used, reason = "clippy allows it in tests, but not in their helpers")]

use std::path::Path;

use corpus::config::Config;
use corpus::model::{Exclusion, PageOutcome, WebUrl};
use corpus::pipeline::{Converted, Converter, PageInput};

fn convert(config: &str, url: &str, html: &str) -> Converted {
    let config = Config::parse(config, Path::new("site.toml"), &|_| None).unwrap();
    let base = WebUrl::parse(url).unwrap();
    let input = PageInput::new(url.to_owned(), Some(base), "text/html", html.as_bytes().to_vec());
    Converter::new(&config).convert(&input, "run-000001")
}

#[test]
fn each_host_has_the_main_content_that_its_table_names() {
    let config = "[extract]\nmain_content = \"off\"\n\
                  [[site]]\nhost = \"*.example.org\"\nmain_content = \"#a\"\ndrop = [\"i\"]\n";
    let html = "<p id=a>one <i>two</i></p><p>three</p>";
    let markdown = |url| convert(config, url, html).record.markdown.into_string();
    assert_eq!(markdown("http://docs.example.org/"), "one\n");
    assert_eq!(markdown("http://example.com/"), "one *two*\n\nthree\n");
}

#[test]
fn a_page_that_is_not_wanted_is_excluded_with_its_measures_and_leads_on() {
    let config = "[quality]\nlanguages = [\"de\"]\n";
    let html = "<p>The lighthouse stood at the end of the pier, and nobody had lit it for many \
                years. <a href=/keeper>The keeper</a> had left with the last ship.</p>";
    let page = convert(config, "http://example.org/", html);
    assert_eq!(page.record.outcome, PageOutcome::Excluded(Exclusion::Language));
    assert_eq!(page.record.metadata.lang.as_deref(), Some("en"));
    assert_eq!(page.record.quality.unwrap().words, 25);
    assert_eq!((page.record.markdown.as_str(), page.record.chunks.len()), ("", 0));
    assert_eq!(page.outlinks, [WebUrl::parse("http://example.org/keeper").unwrap()]);
    let page = convert("[quality]\nmin_words = 25\n", "http://example.org/", html);
    assert_eq!(page.record.outcome, PageOutcome::Collected);
    let page =
        convert("[quality]\nheuristics = [\"gopher.word_count\"]\n", "http://a.example/", html);
    assert_eq!(page.record.outcome, PageOutcome::Excluded(Exclusion::Heuristic));
}

#[test]
fn each_fact_about_a_page_names_its_source() {
    let html = r#"<html lang=en><head><title>A lamp · The Harbour</title>
        <meta property="og:site_name" content="The Harbour">
        <meta name="DC.creator" content="Ada Keeper">
        <meta name=description content="How the lamp was lit.">
        <meta property="article:tag" content="lamps"><meta property="article:tag" content="ships">
        <link rel=canonical href="/lamp">
        <script type="application/ld+json">{"@graph": [
          {"@type": "BlogPosting", "datePublished": "2024-05-17",
           "image": {"@type": "ImageObject", "url": "/lamp.jpg"}},
          {"@type": "BreadcrumbList", "itemListElement": [
            {"@type": "ListItem", "position": 2, "item": {"name": "Stories"}},
            {"@type": "ListItem", "position": 1, "name": "Home"}]}]}</script></head>
        <body><main><h1>A lamp</h1><p>It was lit, and it burned for the whole night.</main>"#;
    let record = convert("", "http://harbour.example/2024/lamp", html).record;
    let metadata = record.metadata;
    assert_eq!(metadata.title.as_deref(), Some("A lamp"));
    assert_eq!(metadata.author.as_deref(), Some("Ada Keeper"));
    assert_eq!(metadata.keywords, ["lamps", "ships"]);
    assert_eq!(metadata.image.as_deref(), Some("http://harbour.example/lamp.jpg"));
    assert_eq!(metadata.breadcrumbs, ["Home", "Stories"]);
    assert_eq!(metadata.canonical_url.as_deref(), Some("http://harbour.example/lamp"));
    let sources: Vec<String> =
        metadata.sources.iter().map(|(name, source)| format!("{name}:{source}")).collect();
    let want = [
        "author:dublin-core",
        "breadcrumbs:json-ld",
        "description:meta",
        "image:json-ld",
        "keywords:open-graph",
        "published_at:json-ld",
        "site_name:open-graph",
        "title:element",
    ];
    assert_eq!(sources, want);
}

#[test]
fn breadcrumbs_are_read_from_the_list_that_the_page_calls_so() {
    let trail = "<a href=/>Home</a> › <a href=/b>Boats</a>";
    let list = "<ol><li><a href=/>Home</a> /</li><li>» <a href=/b>Boats</a></li></ol>";
    for html in [
        format!("<div class='nav breadcrumbs'>{trail}</div>"),
        format!("<nav aria-label=Breadcrumb>{list}</nav>"),
    ] {
        let html = format!("{html}<main><h1>A boat</h1><p>It lies in the harbour.</main>");
        let metadata = convert("", "http://harbour.example/b/1", &html).record.metadata;
        assert_eq!(metadata.breadcrumbs, ["Home", "Boats"], "{html}");
    }
}
