//! What each rule takes out of small pages, and what its guard keeps.

use proptest::prelude::*;

use crate::extract::{ExtractOptions, Source, SourceFormat, extract};
use crate::model::{Document, Ledger, PageType, WebUrl};

pub(super) const PROSE: &str = "<p>Tea is picked by hand, early in the morning, while the leaves are wet. \
    It is then spread on cloth, turned twice, and left to wither in the shade for a day.</p>\
    <p>What happens next decides its colour, its taste and its price. Green tea is heated at once, \
    black tea is rolled and left to ferment, and white tea is only dried.</p>\
    <p>Packed in chests, it goes down to the coast, where it is tasted, sold, and shipped within a \
    week, since nobody pays well for the tea of last spring.</p>";

pub(super) fn document(html: &str, address: &str) -> Document {
    let url = WebUrl::parse(address).ok();
    let source = Source { text: html, url: url.as_ref(), format: SourceFormat::Html };
    extract(source, &ExtractOptions::default(), Ledger::keeping_texts()).unwrap()
}

/// The rule that removed `text` from the page, or `kept`.
pub(super) fn fate(page: &Document, text: &str) -> &'static str {
    let is_kept = page.markdown.as_str().contains(text);
    match (is_kept, page.ledger.find(text)) {
        (true, None) => "kept",
        (false, Some(rule)) => rule,
        (true, Some(_)) => "kept and removed",
        (false, None) => "lost",
    }
}

#[track_caller]
fn check(html: &str, fates: &[(&str, &str)]) {
    check_at("https://example.org/tea/picking", html, fates);
}

#[track_caller]
fn check_at(address: &str, html: &str, fates: &[(&str, &str)]) {
    let page = document(html, address);
    for (text, want) in fates {
        assert_eq!(fate(&page, text), *want, "{text:?} of\n{}\n{:#?}", page.markdown, page.ledger);
    }
}

pub(super) fn article(inside: &str) -> String {
    format!("<title>Picking tea</title><body><main><h1>Picking</h1>{PROSE}{inside}</main>")
}

#[test]
fn landmarks_go() {
    let html = format!(
        "<body><header><a href=/>Home</a></header><nav><a href=/a>Green</a></nav>\
         <main><h1>Picking</h1>{PROSE}<aside role=complementary>Did you know</aside></main>\
         <footer>All rights</footer>"
    );
    check(
        &html,
        &[
            ("Tea is picked", "kept"),
            ("Green tea is", "kept"),
            ("Home", "content.outside_main"),
            ("All rights", "content.outside_main"),
            ("Did you know", "content.aside"),
        ],
    );
    check_at(
        "https://docs.example.org/tea",
        &html.replace("main>", "div>"),
        &[
            ("Tea is picked", "kept"),
            ("Home", "content.site_header"),
            ("All rights", "content.site_footer"),
        ],
    );
}

#[test]
fn names_count_as_whole_words() {
    let with = |class: &str| article(&format!("<div class='{class}'>Short note.</div>"));
    let rule =
        |class: &str| fate(&document(&with(class), "https://example.org/docs/a"), "Short note.");
    assert_eq!(rule("cookie-banner"), "content.consent");
    assert_eq!(rule("site_newsletter_box"), "content.newsletter");
    assert_eq!(rule("shareButtons"), "content.sharing");
    assert_eq!(rule("has-sidebar"), "kept");
    assert_eq!(rule("threads"), "kept");
    assert_eq!(rule("headline"), "kept");
}

#[test]
fn no_name_removes_most_of_a_page() {
    check(
        &format!("<body><div class=sidebar><h2>Picking</h2>{PROSE}</div>"),
        &[("Tea is picked", "kept")],
    );
}

#[test]
fn no_name_removes_code_or_the_main_heading() {
    let html = format!(
        "<body><div class=header><h1>Picking</h1></div>{PROSE}<div class=related><pre>let tea = 1;</pre></div>"
    );
    check_at(
        "https://docs.example.org/tea",
        &html,
        &[("Picking", "kept"), ("let tea = 1;", "kept")],
    );
}

#[test]
fn lists_of_short_links_go_unless_they_are_the_page() {
    let links = "<ul><li><a href=/1>One</a><li><a href=/2>Two</a><li><a href=/3>Three</a><li><a href=/4>Four</a></ul>";
    check_at("https://docs.example.org/tea", &article(links), &[("Three", "content.link_list")]);
    check_at(
        "https://docs.example.org/tea",
        &format!("<body><main>{links}</main>"),
        &[("Three", "kept")],
    );
}

#[test]
fn sections_go_by_their_heading() {
    let teasers = "<section><h2>Related articles</h2><p>Brewing coffee at home.</p></section>";
    check(&article(teasers), &[("Brewing coffee", "content.related")]);
    let loose = "<h3>Leave a comment</h3><p>Your name</p><h3>Sources</h3><p>A book.</p>";
    check_at(
        "https://docs.example.org/tea",
        &article(loose),
        &[("Your name", "content.comments"), ("A book.", "kept")],
    );
}

#[test]
fn a_heading_does_not_take_the_prose_below_it() {
    let html = format!("<body><main><h2>Share</h2>{PROSE}{PROSE}</main>");
    check(&html, &[("Tea is picked", "kept")]);
}

#[test]
fn a_thread_keeps_its_posts_and_loses_their_profiles() {
    let post = |text: &str| {
        format!(
            "<div class=comment><div class=user-info><b>Ann</b><ul><li>Posts: 4,032</li></ul></div>\
             <p>{text} I steep mine for two minutes, no more.</p><div class=signature>Tea or nothing</div></div>"
        )
    };
    let html = format!(
        "<body><h1>How long?</h1><div class=comments>{}{}</div>",
        post("First."),
        post("Second.")
    );
    check_at(
        "https://forum.example.org/t/how-long/12",
        &html,
        &[
            ("First.", "kept"),
            ("Second.", "kept"),
            ("Posts: 4,032", "content.profile"),
            ("Tea or nothing", "content.profile"),
        ],
    );
}

#[test]
fn an_article_loses_its_comments() {
    let html = article("<div id=comments><p>Great post, thank you!</p></div>");
    let page = document(&html, "https://example.org/a");
    assert!(fate(&page, "Great post").starts_with("content."));
}

#[test]
fn a_page_without_landmarks_is_read_by_its_paragraphs() {
    let links = "<a href=/1>Money</a> <a href=/2>Sports</a> <a href=/3>Weather</a><br>".repeat(9);
    let html = format!("<body><table><tr><td>{links}</td><td><div>{PROSE}</div></td></tr></table>");
    let page = document(&html, "https://example.org/a.asp");
    assert_eq!(fate(&page, "Tea is picked"), "kept");
    assert!(!page.markdown.as_str().contains("Weather"), "{}", page.markdown);
}

#[test]
fn characters_count_where_words_have_no_spaces() {
    let prose = "<p>茶叶在清晨采摘，那时叶子还是湿的。然后铺在布上，翻动两次，在阴凉处放置一天。</p>\
                 <p>接下来的步骤决定了它的颜色、味道和价格，也决定了谁会在什么时候、用什么样的茶壶来喝它。绿茶立即加热，红茶揉捻后发酵，白茶只需晒干。</p>";
    let links = "<li><a href=/1>财经</a></li><li><a href=/2>体育</a></li>".repeat(12);
    let page = document(
        &format!("<body><ul>{links}</ul><div>{}</div>", prose.repeat(3)),
        "https://example.org/1",
    );
    assert_eq!(fate(&page, "绿茶立即加热"), "kept");
    assert!(!page.markdown.as_str().contains("财经"));
}

#[test]
fn text_that_waits_for_a_script_is_shown() {
    let prose = PROSE.repeat(2);
    check(
        &format!("<body><div>Loading</div><noscript><div>{prose}</div></noscript>"),
        &[("Tea is picked", "kept")],
    );
    check(&format!("<body><div style='opacity: 0'>{prose}</div>"), &[("Tea is picked", "kept")]);
    check(
        &format!("<body><main>{prose}</main><div hidden>{PROSE} Secret.</div>"),
        &[("Secret.", "extract.hidden_attribute")],
    );
}

#[test]
fn teasers_go_out_of_a_text() {
    let card =
        "<div><h3><a href=/b>Brewing</a></h3><img src=/b.png><p>How long, how hot.</p></div>";
    let line = "<p>Read also: <a href=/c>The history of the tea trade</a></p>";
    let own = "<h2><a href=#own>Sorting</a></h2><img src=/s.png><p>By size alone.</p>";
    check_at(
        "https://docs.example.org/tea",
        &article(&format!("{card}{line}{own}<p>{PROSE}</p>")),
        &[
            ("How long, how hot.", "content.teaser"),
            ("The history of the tea trade", "content.teaser"),
            ("By size alone.", "kept"),
        ],
    );
}

#[test]
fn a_list_of_cards_is_no_teaser() {
    let card =
        "<div><h3><a href=/b>Brewing</a></h3><img src=/b.png><p>How long, how hot.</p></div>";
    check_at(
        "https://docs.example.org/tea",
        &format!("<body><main><h1>Guides</h1>{}</main>", card.repeat(6)),
        &[("How long, how hot.", "kept")],
    );
}

#[test]
fn an_article_loses_slide_shows_and_lines_about_it() {
    let head = r#"<script type="application/ld+json">{"@type": "NewsArticle"}</script>"#;
    let beside = "<div class=slideshow><p>Picture one of nine.</p></div><p class=byline>By Ann</p>";
    let html = article(beside);
    check(
        &format!("{head}{html}"),
        &[("Picture one of nine.", "content.gallery"), ("By Ann", "content.about")],
    );
    check_at("https://shop.example.org/a", &html, &[("Picture one of nine.", "kept")]);
}

#[test]
fn a_page_of_comments_alone_is_a_thread() {
    let comment =
        "<li class=comment><p>I steep mine for two minutes. Never more, never less.</p></li>";
    let html =
        format!("<body><a href=/x>How long?</a><ol class=comments>{}</ol>", comment.repeat(9));
    let page = document(&html, "https://example.org/s/how-long");
    assert_eq!(page.metadata.page_type, Some(PageType::Forum));
    assert_eq!(fate(&page, "Never more, never less."), "kept");
}

#[test]
fn what_buyers_say_goes_from_a_product() {
    let head = r#"<script type="application/ld+json">{"@type": "Product", "name": "Cup"}</script>"#;
    let html = article("<div class='pdp-reviews'><p>Best cup ever. Buy it!</p></div>");
    let page = document(&format!("{head}{html}"), "https://example.org/cup");
    assert_eq!(page.metadata.page_type, Some(PageType::Product));
    assert_eq!(fate(&page, "Best cup ever."), "content.ratings");
    check(&html, &[("Best cup ever.", "kept")]);
}

#[test]
fn panels_that_unfold_are_read() {
    let panel = |role: &str| {
        format!(
            "<button aria-controls=p1>Care</button><div id=p1 {role} style='display:none'>Wash by hand.</div>"
        )
    };
    check(&article(&panel("")), &[("Wash by hand.", "kept")]);
    check(&article(&panel("role=dialog")), &[("Wash by hand.", "extract.hidden_style")]);
    check(
        &article("<div style='display:none'>Wash by hand.</div>"),
        &[("Wash by hand.", "extract.hidden_style")],
    );
}

#[test]
fn selectors_keep_and_drop_whatever_the_rules_say() {
    let html = format!(
        "<body><nav><p>Menu.</p><p class=note>Open daily.</p></nav><main>{PROSE}\
         <div class=price hidden>Four crowns.<i>Secret.</i></div></main>"
    );
    let options = ExtractOptions {
        keep: vec![".note".to_owned(), ".price".to_owned()],
        drop: vec!["i".to_owned(), "main > p:last-of-type".to_owned()],
        ..ExtractOptions::default()
    };
    let source = Source { text: &html, url: None, format: SourceFormat::Html };
    let page = extract(source, &options, Ledger::keeping_texts()).unwrap();
    for (text, want) in [
        ("Open daily.", "kept"),
        ("Four crowns.", "kept"),
        ("Tea is picked", "kept"),
        ("Secret.", "extract.drop_selector"),
        ("Packed in chests", "extract.drop_selector"),
    ] {
        assert_eq!(fate(&page, text), want, "{text:?} of\n{}\n{:#?}", page.markdown, page.ledger);
    }
    assert!(fate(&page, "Menu.").starts_with("content."), "{}", page.markdown);
}

#[test]
fn every_type_of_page_is_told() {
    let types = [
        ("https://example.org/", PageType::Home),
        ("https://docs.example.org/tea", PageType::Documentation),
        ("https://forum.example.org/t/tea/1", PageType::Forum),
        ("https://example.org/category/tea", PageType::Listing),
        ("https://example.org/tea", PageType::Article),
    ];
    for (address, want) in types {
        let page = document(&article(PROSE), address);
        assert_eq!(page.metadata.page_type, Some(want), "{address}");
    }
}

/// A page of random elements, each with a text of its own.
fn page_of(elements: &[(u8, u8, u8)]) -> (String, Vec<String>) {
    const TAGS: &[&str] = &[
        "div", "p", "nav", "main", "article", "aside", "footer", "h2", "li", "section", "td", "a",
    ];
    const NAMES: &[&str] =
        &["", "sidebar", "comments", "content", "related", "has-ad", "cookie-notice", "menu"];
    let mut html = String::from("<body>");
    let mut texts = Vec::new();
    for (n, (tag, name, depth)) in elements.iter().enumerate() {
        let tag = TAGS[usize::from(*tag) % TAGS.len()];
        let name = NAMES[usize::from(*name) % NAMES.len()];
        let text = format!("Word{n}x and more, said once.");
        html.extend(["<", tag, " class='", name, "'>", &text]);
        html.push_str(&"</div></section></article></main>".repeat(usize::from(*depth % 2)));
        texts.push(format!("Word{n}x"));
    }
    (html, texts)
}

proptest! {
    #[test]
    fn a_page_with_text_is_never_empty_and_every_text_has_a_fate(
        elements in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>()), 1..40),
    ) {
        let (html, texts) = page_of(&elements);
        let page = document(&html, "https://example.org/a");
        prop_assert!(!page.markdown.is_empty());
        for text in texts {
            prop_assert!(
                page.markdown.as_str().contains(&text) || page.ledger.find(&text).is_some() || page.ledger.removals().iter().any(|removal| removal.sample.contains(&text)),
                "{} is lost from {}", text, html
            );
        }
    }
}
