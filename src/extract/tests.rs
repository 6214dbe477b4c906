//! What extraction promises, on random pages.

use proptest::prelude::*;

use super::*;

fn convert(html: &str) -> Document {
    let options = ExtractOptions { main_content: "off".to_owned(), ..ExtractOptions::default() };
    let source = Source { text: html, url: None, format: SourceFormat::Html };
    extract(source, &options, Ledger::keeping_texts()).unwrap()
}

/// A piece of a page: `Word` becomes a word that the page has only once.
#[derive(Clone, Copy, Debug)]
enum Bit {
    Word,
    Markup(&'static str),
}

const MARKUP: &[&str] = &[
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<b>",
    "</b>",
    "<i>",
    "</i>",
    "<code>",
    "</code>",
    "<h2>",
    "</h2>",
    "<a href=/x>",
    "</a>",
    "<ul>",
    "</ul>",
    "<ol start=3>",
    "</ol>",
    "<li>",
    "</li>",
    "<table>",
    "</table>",
    "<tr>",
    "<td>",
    "<td colspan=3>",
    "<th>",
    "<caption>",
    "<pre>",
    "</pre>",
    "<blockquote>",
    "</blockquote>",
    "<br>",
    "<hr>",
    "<span hidden>",
    "</span>",
    "<script>",
    "</script>",
    "<style>",
    "</style>",
    "<select>",
    "</select>",
    "<option>",
    "<textarea>",
    "</textarea>",
    "<button>",
    "</button>",
    "<svg>",
    "<text>",
    "</svg>",
    "<dl>",
    "<dt>",
    "<dd>",
    "</dl>",
    "<details>",
    "<summary>",
    "</details>",
    "<sup>",
    "</sup>",
    "<q>",
    "</q>",
    "<ruby>",
    "<rp>",
    "<rt>",
    "</ruby>",
    "<noscript>",
    "</noscript>",
    "<template>",
    "</template>",
    "<iframe>",
    "</iframe>",
    "<object>",
    "</object>",
    "<!-- -->",
    " ",
    "\n",
    "<span class=lineno>",
    "<a class=headerlink>",
    "<div aria-hidden=true>",
    "<kbd>",
    "</kbd>",
    "<figure>",
    "<figcaption>",
    "</figure>",
    "<menu>",
    "<my-tag>",
    "</my-tag>",
    "<del>",
    "</del>",
    "<ol reversed>",
    "<li value=7>",
    "<td rowspan=2>",
    "<thead>",
    "<tfoot>",
    "<h1>",
    "</h1>",
    "<section>",
    "<sub>",
    "<div style='display: none'>",
    "<div role=tabpanel hidden>",
    "<table><tr><td>",
    "<ul><li>",
    "<pre><code class=ruby>",
];

fn bits() -> impl Strategy<Value = Vec<Bit>> {
    let bit = prop_oneof![Just(Bit::Word), prop::sample::select(MARKUP).prop_map(Bit::Markup),];
    prop::collection::vec(bit, 0..60)
}

fn page(bits: &[Bit]) -> (String, Vec<String>) {
    let (mut html, mut words) = (String::new(), Vec::new());
    for bit in bits {
        match bit {
            Bit::Markup(markup) => html.push_str(markup),
            Bit::Word => {
                let word = format!("q{}z", words.len());
                html.push_str(&word);
                words.push(word);
            }
        }
    }
    (html, words)
}

/// The Markdown of `markdown` rendered as HTML: the same page, as Markdown sees it.
fn render(markdown: &str) -> String {
    use pulldown_cmark::{Options, Parser, html};
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut rendered = String::new();
    html::push_html(&mut rendered, Parser::new_ext(markdown, options));
    rendered
}

/// Words, marks and block starts that a text may hold without meaning them.
fn literal_text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "tea", "*", "**", "_", "__", "a_b", "*x*", "`", "``", "[", "]", "](", "(u)", "!", "<", ">",
        "<b>", "</b>", "<!--", "<?", "&", "&copy;", "&#38;", "\\", "\\*", "|", "~", "~~", "#",
        "##", "-", "+", "1.", "2)", "=", "---", "***", "```", "~~~", ">", "[x]:", "$", ".", "€",
        "é", "「", "x", ":-",
    ]);
    prop::collection::vec(prop_oneof![3 => word, 1 => Just(" ")], 1..12)
        .prop_map(|words| words.concat())
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

proptest! {
    #[test]
    fn every_word_is_once_in_the_markdown_or_in_the_ledger(bits in bits()) {
        let (html, words) = page(&bits);
        let document = convert(&html);
        for word in words {
            let kept = document.markdown.as_str().matches(&word).count();
            let rule = document.ledger.find(&word);
            let lost = usize::from(rule.is_some());
            prop_assert_eq!(kept + lost, 1, "{} in {}: {:?}", word, html, rule);
        }
    }

    #[test]
    fn literal_text_stays_literal(
        texts in prop::collection::vec(literal_text(), 1..4),
        element in prop::sample::select(vec!["p", "li", "h2", "td", "b", "a href=/u", "code", "pre"]),
    ) {
        let name = element.split(' ').next().unwrap_or_default();
        let html: String = texts.iter().fold(String::new(), |html, text| {
            html + &format!("<{element}>{}</{name}>\n", escape_html(text))
        });
        let html = if name == "td" { format!("<table><tr><th>a<th>b<tr>{html}</table>") } else { html };
        let shown = |html: &str| {
            let (tree, _) = parse::parse(html, ParseLimits { max_depth: 99, max_nodes: 9_999 });
            let text = tree.text_content(NodeId::DOCUMENT);
            text.chars().filter(|c| !c.is_whitespace()).collect::<String>()
        };
        let markdown = convert(&html).markdown;
        prop_assert_eq!(shown(&render(markdown.as_str())), shown(&html), "{}", markdown.as_str());
    }

    #[test]
    fn converting_what_was_rendered_changes_nothing(bits in bits()) {
        let (html, _) = page(&bits);
        let first = convert(&html).markdown;
        let second = convert(&render(first.as_str())).markdown;
        prop_assert_eq!(second.as_str(), first.as_str(), "{}\n{}", html, render(first.as_str()));
    }
}

#[test]
fn hidden_text_is_kept_where_it_is_asked_for() {
    let html = "<p>Seen.<p hidden>Folded.<p style='left:-9999px'>Aside.<div aria-hidden=true>Shown \
                twice.</div><script>never()</script>";
    let with = |hidden| {
        let options =
            ExtractOptions { main_content: "off".to_owned(), hidden, ..ExtractOptions::default() };
        let source = Source { text: html, url: None, format: SourceFormat::Html };
        extract(source, &options, Ledger::default()).unwrap().markdown
    };
    assert_eq!(with(HiddenMode::Remove).as_str(), "Seen.\n");
    assert_eq!(with(HiddenMode::Keep).as_str(), "Seen.\n\nFolded.\n\nAside.\n\nShown twice.\n");
}
