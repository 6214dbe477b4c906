//! HTML to Markdown, as a user of the library sees it: what each construct becomes, what each
//! behaviour of the reference converters becomes here, and what hostile pages cost.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "clippy allows them in tests, but not in the helpers of a test binary"
)]

use std::fs;
use std::path::{Path, PathBuf};

use corpus::extract::{ExtractOptions, ImageMode, Source, SourceFormat, extract};
use corpus::model::{Document, Ledger, PageFlag};

fn whole_page() -> ExtractOptions {
    ExtractOptions { main_content: "off".to_owned(), ..ExtractOptions::default() }
}

fn convert_with(html: &str, options: &ExtractOptions) -> Document {
    let source = Source { text: html, url: None, format: SourceFormat::Html };
    extract(source, options, Ledger::keeping_texts()).expect("a page that can be converted")
}

fn convert(html: &str) -> Document {
    convert_with(html, &whole_page())
}

#[track_caller]
fn check(html: &str, want: &str) {
    assert_eq!(convert(html).markdown.as_str().trim_end(), want, "\n{html}");
}

#[track_caller]
fn check_lost(html: &str, text: &str, rule: &str) {
    let document = convert(html);
    assert!(!document.markdown.as_str().contains(text), "{text} is kept of {html}");
    assert_eq!(document.ledger.find(text), Some(rule), "{html}");
}

/// Every `.html` file under `tests/fixtures/html`, in the order of their names.
fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/html");
    let mut found = Vec::new();
    for folder in fs::read_dir(root).unwrap() {
        let files = fs::read_dir(folder.unwrap().path()).unwrap();
        found.extend(files.map(|file| file.unwrap().path()));
    }
    found.retain(|path| path.extension().is_some_and(|extension| extension == "html"));
    found.sort();
    found
}

#[test]
fn every_fixture_becomes_the_markdown_beside_it() {
    let pages = fixtures();
    assert!(pages.len() >= 60, "{} fixtures", pages.len());
    let mut wrong = Vec::new();
    for page in pages {
        let html = fs::read_to_string(&page).unwrap();
        let want = fs::read_to_string(page.with_extension("md")).unwrap();
        let got = convert(&html).markdown.as_str().to_owned();
        if got != want {
            wrong.push(format!("{}\n--- is\n{got}--- must be\n{want}", page.display()));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The behaviours A1 to A13 of the page-to-Markdown reference that concern conversion.
#[test]
fn page_conversion_keeps_what_its_reference_keeps_and_what_it_loses() {
    // A1: scripts and styles go, the title is metadata.
    check_lost("<script>let a</script>b", "let a", "extract.script");
    check_lost("<style>.a{}</style>b", ".a{}", "extract.style");
    let titled = convert("<title>Tea</title><p>text</p>");
    assert_eq!(titled.metadata.title.as_deref(), Some("Tea"));
    assert_eq!(titled.markdown.as_str(), "text\n");
    // A2: attributes with state never reach Markdown.
    check(r#"<p data-state='{"secret":1}'>text</p>"#, "text");
    // A3: hidden code goes, visible code stays whatever its id.
    check_lost("<code style='display:none' id=bpr-guid-1>{}</code>x", "{}", "extract.hidden_style");
    check("<code id=data-types>u8</code>", "`u8`");
    // A4: of an image in a `data:` address its text stays, unless its true address is known.
    check("<img src='data:image/png;base64,AA' alt=tea>", "tea");
    check("<img src='data:image/png;base64,AA' data-src=/t.png alt=tea>", "![tea](/t.png)");
    // A5: links are kept, resolved, or reduced to their text.
    check("<base href='https://a.example/b/'><a href=c>d</a>", "[d](https://a.example/b/c)");
    let unlinked = ExtractOptions { links: false, ..whole_page() };
    assert_eq!(convert_with("<a href=/c>d</a>", &unlinked).markdown.as_str(), "d\n");
    // A6: images are treated alike in text, headings and cells.
    let page = "<h1><img src=/i alt=a></h1><table><tr><th>b<th><img src=/i alt=c></table>";
    for (images, want) in [
        (ImageMode::Url, "# ![a](/i)\n\n| b | ![c](/i) |\n| --- | --- |\n"),
        (ImageMode::Alt, "# a\n\n| b | c |\n| --- | --- |\n"),
        (ImageMode::None, "| b | |\n| --- | --- |\n"),
    ] {
        let options = ExtractOptions { images, ..whole_page() };
        assert_eq!(convert_with(page, &options).markdown.as_str(), want);
    }
    // A7: shadow roots and frames stand where they are.
    check("<x-a><template shadowrootmode=open><p>in</p></template></x-a>out", "in\n\nout");
    check("<iframe srcdoc='&lt;p>in'></iframe>out", "in\n\nout");
    // A8: a first row of header cells is the header, also in a body.
    check(
        "<table><tbody><tr><th>a<th>b<tr><td>1<td>2</table>",
        "| a | b |\n| --- | --- |\n| 1 | 2 |",
    );
    check(
        "<table><tr><td>a<td>b<tr><td>1<td>2</table>",
        "| | |\n| --- | --- |\n| a | b |\n| 1 | 2 |",
    );
    // A9: headings, bullets, and escapes where they are needed alone.
    check("<h2>a_b</h2><ul><li>2 * 3<li>*c*</ul>", "## a_b\n\n- 2 * 3\n- \\*c*");
    // A10: JSON that a page shows to its reader stays.
    let json = format!("{{\"$type\": \"{}\"}}", "long ".repeat(30).trim_end());
    check(&format!("<pre>{json}</pre>"), &format!("```\n{json}\n```"));
    // A11: one blank line between blocks, none lost in code.
    check("<p>a</p>\n\n\n<p>b</p><pre>c\n\n\n\nd</pre>", "a\n\nb\n\n```\nc\n\n\n\nd\n```");
    // A12: what is removed is counted.
    let counted = convert("<p>kept</p><p hidden>lost words</p>");
    assert_eq!(counted.original_html_chars, 35);
    assert_eq!(counted.initial_markdown_chars, 5);
    assert_eq!(counted.ledger.chars(), 10);
    // A13: without main content, navigation and footer stay.
    check("<nav>menu</nav><main>text</main><footer>end</footer>", "menu\n\ntext\n\nend");
}

/// The behaviours C1 to C12 of the safe-conversion reference that concern conversion.
#[test]
fn safe_conversion_keeps_what_its_reference_keeps_and_what_it_loses() {
    // C1: what is not text goes; a `noscript` with the only copy of an image stays.
    check_lost("<object>a b</object>c", "a b", "extract.frame");
    check_lost("<template>a b</template>c", "a b", "extract.template");
    check("<noscript><img src=/only.png alt=x></noscript>", "![x](/only.png)");
    // C2: hidden text goes, and so does text that nobody could read.
    for (element, rule) in [
        ("<p hidden>gone</p>", "extract.hidden_attribute"),
        ("<p aria-hidden=true>gone</p>", "extract.aria_hidden"),
        ("<p style='display: none !important'>gone</p>", "extract.hidden_style"),
        ("<p style=visibility:collapse>gone</p>", "extract.hidden_style"),
        ("<p style=font-size:0>gone</p>", "extract.unreadable_style"),
        ("<p style=text-indent:-9999px>gone</p>", "extract.unreadable_style"),
        ("<p style='color:red;background:red'>gone</p>", "extract.unreadable_style"),
    ] {
        check_lost(&format!("{element}<p>stays</p>"), "gone", rule);
    }
    check("<p hidden=until-found>found</p>", "found");
    for (lost, rule) in [
        ("\u{e0041}", "extract.tag_character"),
        ("\u{fe0e}", "extract.variation_selector"),
        ("\u{200d}", "extract.joiner"),
        ("\u{202e}", "extract.bidi_control"),
        ("\u{200b}", "extract.invisible_character"),
    ] {
        check_lost(&format!("a{lost}b"), lost, rule);
        check_lost(&format!("<pre>a{lost}b</pre>"), lost, rule);
    }
    check("<p>می\u{200c}خواهم</p>", "می\u{200c}خواهم");
    // C3: below the deepest level text stays, flat, and the page says so.
    let deep = convert(&format!("{}deep<p>end</p>", "<div>".repeat(20_000)));
    assert!(deep.markdown.as_str().contains("deep"));
    assert!(deep.flags.contains(&PageFlag::DepthCut));
    // C4: the limits on source and Markdown are flags of their own.
    let limits = ExtractOptions { max_source_chars: 20, max_markdown_chars: 4, ..whole_page() };
    let cut = convert_with("<p>one</p><p>two</p><p>three</p>", &limits);
    assert!(cut.flags.contains(&PageFlag::SourceCut) && cut.flags.contains(&PageFlag::MarkdownCut));
    assert_eq!(cut.markdown.as_str(), "one\n");
    // C5: markup never reaches Markdown raw.
    check("<p>&lt;b&gt;</p><unknown>x</unknown>", "\\<b>\n\nx");
    check("<p>E <script type='math/tex'>a<b</p><img></script>", "E $a< b< /p>< img>$");
    // C6: spans drive no output.
    check("<table><tr><th>h<tr><td colspan=1000000>x</table>", "| h |\n| --- |\n| x |");
    // C7: alignment, bars and breaks in cells.
    check(
        "<table><tr><th align=left>a<th style='text-align:center'>b<th align=right>c\
         <tr><td>x|y<td>1<br>2<td>z</table>",
        "| a | b | c |\n| :--- | :---: | ---: |\n| x\\|y | 1<br>2 | z |",
    );
    // C10: characters, nested marks, addresses.
    check(
        "<h1>&eacute; &amp; &mdash; &euro; &rsquo;</h1><p><b>bold <i>italic</i></b></p>",
        "# é & — € ’\n\n**bold *italic***",
    );
}

/// C12, and what else a page may do to its converter. None may overflow the stack, and what is
/// written stays in proportion to what is read; how long they take is measured elsewhere.
#[test]
fn hostile_pages_convert_in_proportion_to_their_size() {
    let pages = [
        "<table><tr><td colspan=1000000>x</td><td>y</td></tr><tr><td>a</td><td>b</td></tr></table>"
            .to_owned(),
        "<div>".repeat(20_000),
        "<div><!-- </div> --></span>".repeat(600),
        "<a href=/x>t".repeat(100_000),
        "<blockquote>".repeat(5_000),
        "<ul><li>x".repeat(5_000),
        "<b><i>x</b></i>".repeat(5_000),
        "<table><tr><td>x".repeat(500),
        format!("<table>{}", "<tr><td rowspan=65534 colspan=1000>x".repeat(2_000)),
        format!("<p>{}", "[".repeat(100_000)),
        format!("<p>{}", "*_".repeat(50_000)),
        format!("<p>{}", "](".repeat(50_000)),
        format!("<p>{}>", "<a b".repeat(50_000)),
        format!("<code>{}</code>", "`".repeat(100_000)),
        format!("<p>{}", "<br>".repeat(100_000)),
        "<svg>".repeat(3_000),
        format!("<p>\u{1f3f4}{}", "\u{e0062}".repeat(200_000)),
        format!("<ul class=breadcrumbs>{}", "<li>x<ul>".repeat(5_000)),
        format!("<iframe srcdoc='{}'>", "&lt;iframe srcdoc=x>".repeat(1_000)),
    ];
    for page in pages {
        let document = convert(&format!("{page}</iframe></table></a><p>last words</p>"));
        let markdown = document.markdown.as_str();
        let start: String = page.chars().take(40).collect();
        assert!(markdown.contains("last words"), "text is lost behind {start}");
        assert!(markdown.len() <= 8 * page.len() + 1_000, "{} for {start}", markdown.len());
    }
}

#[test]
fn a_button_in_a_sentence_is_a_word_of_it() {
    check(
        "<p>Return <em>the longest</em> <span><button><em>special</em></button></span> part of <code>s</code>.",
        "Return *the longest* *special* part of `s`.",
    );
    check_lost("<p>Pick the leaves. <button>Copy</button>", "Copy", "extract.button");
    check_lost("<p>Pick them.<br><button>Copy</button><br>Dry them.", "Copy", "extract.button");
}

#[test]
fn numbers_that_count_the_lines_of_code_are_no_code() {
    let rows = |numbers: &[&str]| {
        let row = |n: &&str| format!("<div><span>{n}</span><div>pick({n}0)</div></div>");
        format!("<pre>{}</pre>", numbers.iter().map(row).collect::<String>())
    };
    check(&rows(&["8", "9", "10"]), "```\npick(80)\npick(90)\npick(100)\n```");
    check(&rows(&["1", "3"]), "```\n1\npick(10)\n3\npick(30)\n```");
    check(&rows(&["1"]), "```\n1\npick(10)\n```");
}

#[test]
fn a_table_keeps_all_of_its_captions() {
    let table = |captions: &str| format!("<table>{captions}<tr><th>a<th>b<tr><td>1<td>2</table>");
    let rows = "| a | b |\n| --- | --- |\n| 1 | 2 |";
    check(&table("<caption>Tea</caption><caption></caption>"), &format!("Tea\n\n{rows}"));
    check(&table("<caption>Tea</caption><caption>Cups</caption>"), &format!("Tea Cups\n\n{rows}"));
}
