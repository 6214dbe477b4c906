//! What a page says about itself.

use super::Addresses;
use super::tree::{NodeId, Tree};
use crate::model::{Document, Metadata};

/// Longest text that a language is recognized from, in bytes: more does not make it surer.
const LANGUAGE_SAMPLE_BYTES: usize = 2_048;

/// Reads the metadata, each from its most trusted source first.
pub(super) fn read(tree: &Tree, addresses: &Addresses) -> Metadata {
    let meta = Meta::collect(tree);
    let title = meta.first(&["og:title", "twitter:title"]).or_else(|| element_text(tree, "title"));
    Metadata {
        title: only_main_heading(tree).or(title),
        description: meta.first(&["description", "og:description", "twitter:description"]),
        author: meta.first(&["author", "article:author", "dc.creator"]),
        site_name: meta.first(&["og:site_name", "application-name"]),
        published_at: meta
            .first(&["article:published_time", "datepublished", "dc.date", "date"])
            .or_else(|| time_element(tree)),
        modified_at: meta.first(&["article:modified_time", "datemodified", "last-modified"]),
        canonical_url: canonical(tree, addresses),
        lang: declared_language(tree),
    }
}

/// Name and content of every `meta` element that has both: some speak to robots.
pub(super) fn robots(tree: &Tree) -> Vec<(String, String)> {
    let pair = |node| {
        let name = tree.attribute(node, "name")?.trim().to_ascii_lowercase();
        let is_for_robots = name == "robots" || name.ends_with("bot");
        is_for_robots.then(|| (name, tree.attribute(node, "content").unwrap_or_default().to_owned()))
    };
    elements(tree, "meta").filter_map(pair).collect()
}

/// Sets the document's language to that of its text, where that can be told, and leaves the
/// declared one otherwise.
pub(super) fn find_language(document: &mut Document) {
    let text = document.markdown.as_str();
    let sample = text.get(..text.floor_char_boundary(LANGUAGE_SAMPLE_BYTES)).unwrap_or(text);
    let found = whatlang::detect(sample).filter(whatlang::Info::is_reliable);
    if let Some(info) = found {
        document.metadata.lang = Some(short_code(info.lang()).to_owned());
    }
}

/// Languages that have a two-letter code, with it.
const SHORT_CODES: &[(&str, &str)] = &[
    ("eng", "en"),
    ("rus", "ru"),
    ("cmn", "zh"),
    ("spa", "es"),
    ("por", "pt"),
    ("ita", "it"),
    ("fra", "fr"),
    ("deu", "de"),
    ("ukr", "uk"),
    ("pol", "pl"),
    ("nld", "nl"),
    ("ces", "cs"),
    ("dan", "da"),
    ("swe", "sv"),
    ("nob", "nb"),
    ("fin", "fi"),
    ("hun", "hu"),
    ("ron", "ro"),
    ("tur", "tr"),
    ("ell", "el"),
    ("heb", "he"),
    ("ara", "ar"),
    ("pes", "fa"),
    ("hin", "hi"),
    ("ben", "bn"),
    ("jpn", "ja"),
    ("kor", "ko"),
    ("vie", "vi"),
    ("tha", "th"),
    ("ind", "id"),
    ("bul", "bg"),
    ("srp", "sr"),
    ("hrv", "hr"),
    ("slk", "sk"),
    ("slv", "sl"),
    ("lit", "lt"),
    ("lav", "lv"),
    ("est", "et"),
    ("cat", "ca"),
    ("bel", "be"),
    ("kat", "ka"),
    ("hye", "hy"),
    ("aze", "az"),
    ("uzb", "uz"),
    ("epo", "eo"),
    ("lat", "la"),
    ("afr", "af"),
    ("urd", "ur"),
    ("tam", "ta"),
    ("tel", "te"),
    ("kan", "kn"),
    ("mal", "ml"),
    ("mar", "mr"),
    ("guj", "gu"),
    ("pan", "pa"),
    ("nep", "ne"),
    ("sin", "si"),
    ("mya", "my"),
    ("khm", "km"),
    ("amh", "am"),
    ("tgl", "tl"),
    ("jav", "jv"),
    ("mkd", "mk"),
    ("yid", "yi"),
    ("tuk", "tk"),
    ("aka", "ak"),
    ("zul", "zu"),
    ("sna", "sn"),
    ("ori", "or"),
];

/// The two-letter code of a language where it has one (ISO 639-1), else the three-letter one.
fn short_code(lang: whatlang::Lang) -> &'static str {
    let code = lang.code();
    SHORT_CODES.iter().find(|(long, _)| *long == code).map_or(code, |(_, short)| short)
}

/// The page's `meta` elements, in order.
struct Meta(Vec<(String, String)>);

impl Meta {
    fn collect(tree: &Tree) -> Self {
        let pairs = elements(tree, "meta").filter_map(|node| {
            let name =
                ["property", "name", "itemprop"].iter().find_map(|key| tree.attribute(node, key));
            let content = collapse(tree.attribute(node, "content")?);
            Some((name?.trim().to_ascii_lowercase(), content)).filter(|(_, c)| !c.is_empty())
        });
        Self(pairs.collect())
    }

    /// The content of the first of `names` that is given.
    fn first(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| {
            self.0.iter().find(|(stated, _)| stated == name).map(|(_, content)| content.clone())
        })
    }
}

fn elements<'a>(tree: &'a Tree, tag: &'a str) -> impl Iterator<Item = NodeId> + 'a {
    tree.descendants(NodeId::DOCUMENT).filter(move |node| tree.tag(*node) == tag)
}

fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn element_text(tree: &Tree, tag: &str) -> Option<String> {
    let text = elements(tree, tag).next().map(|node| collapse(&tree.text_content(node)))?;
    (!text.is_empty()).then_some(text)
}

/// The text of the page's `h1`, where there is exactly one: most exact, since a `title` also
/// names the site.
fn only_main_heading(tree: &Tree) -> Option<String> {
    let mut headings = elements(tree, "h1");
    let (first, second) = (headings.next()?, headings.next());
    let mut text = String::new();
    for node in tree.descendants(first) {
        let is_marker = tree.parent(node).is_some_and(|p| super::media::is_permalink(tree, p));
        if let (Some(part), false) = (tree.text(node), is_marker) {
            text.push_str(part);
        }
    }
    Some(collapse(&text)).filter(|text| second.is_none() && !text.is_empty())
}

fn time_element(tree: &Tree) -> Option<String> {
    elements(tree, "time").find_map(|node| tree.attribute(node, "datetime")).map(collapse)
}

fn canonical(tree: &Tree, addresses: &Addresses) -> Option<String> {
    let link = elements(tree, "link").find(|node| {
        let rel = tree.attribute(*node, "rel").unwrap_or_default();
        rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("canonical"))
    })?;
    addresses.page(tree.attribute(link, "href")?).map(|url| url.key().to_string())
}

fn declared_language(tree: &Tree) -> Option<String> {
    let html = elements(tree, "html").next()?;
    let lang = tree.attribute(html, "lang").or_else(|| tree.attribute(html, "xml:lang"))?;
    let primary = lang.split(['-', '_']).next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_code =
        (2..=3).contains(&primary.len()) && primary.chars().all(|c| c.is_ascii_lowercase());
    is_code.then_some(primary)
}
