//! What a page says about itself.
//!
//! Each fact comes from the first of these that states it, the most trusted first: JSON-LD of the
//! page's main thing, Open Graph and its kin, Dublin Core and plain `meta`, microdata, elements
//! with a meaning (`time`, `rel=author`), the address. The title is the exception: the page's only
//! main heading goes first, since all others also name the site.

use serde_json::{Map, Value};

use super::Addresses;
use super::index::Index;
use super::linked_data::LinkedData;
use super::tree::{NodeId, Tree};
use crate::model::{Document, Metadata, collapse};

/// Longest text that a language is recognized from, in bytes: more does not make it surer.
const LANGUAGE_SAMPLE_BYTES: usize = 1_024;

/// Longest value that is a fact and not a text, in characters.
const MAX_FACT_CHARS: usize = 300;

/// Types of things that a page can be about, the most telling first.
const MAIN_THINGS: &[&str] = &[
    "NewsArticle",
    "BlogPosting",
    "TechArticle",
    "ScholarlyArticle",
    "Report",
    "Article",
    "DiscussionForumPosting",
    "QAPage",
    "Product",
    "Recipe",
    "Event",
    "Course",
    "WebPage",
    "CollectionPage",
];

/// Reads the metadata.
pub(super) fn read(
    tree: &Tree,
    index: &Index,
    addresses: &Addresses,
    data: &LinkedData,
) -> Metadata {
    let meta = Meta::collect(tree, index);
    let things: Vec<&Map<String, Value>> =
        MAIN_THINGS.iter().filter_map(|name| data.of(std::slice::from_ref(name)).next()).collect();
    let stated = |names: &[&str]| {
        names.iter().find_map(|name| things.iter().find_map(|thing| fact(thing.get(*name)?)))
    };
    let site = || data.of(&["WebSite"]).find_map(|site| fact(site.get("name")?));
    let title = stated(&["headline"])
        .or_else(|| meta.first(&["og:title", "twitter:title", "dc.title", "headline"]))
        .or_else(|| title_element(tree, index))
        .or_else(|| stated(&["name"]));
    Metadata {
        title: only_main_heading(tree, index).or(title),
        description: meta
            .first(&["description", "og:description", "twitter:description", "dc.description"])
            .or_else(|| stated(&["description"])),
        author: stated(&["author", "creator"])
            .or_else(|| meta.first(&["author", "article:author", "dc.creator", "parsely-author"]))
            .filter(|author| !author.starts_with("http"))
            .or_else(|| author_element(tree, index)),
        site_name: meta
            .first(&["og:site_name", "application-name"])
            .or_else(site)
            .or_else(|| stated(&["publisher"])),
        published_at: stated(&["datePublished", "dateCreated", "uploadDate"])
            .or_else(|| meta.first(PUBLISHED))
            .or_else(|| time_element(tree, index))
            .or_else(|| addresses.date()),
        modified_at: stated(&["dateModified"]).or_else(|| meta.first(MODIFIED)),
        canonical_url: canonical(tree, index, addresses),
        lang: declared_language(tree, index),
        page_type: None,
    }
}

/// `meta` names of the date of publication.
const PUBLISHED: &[&str] = &[
    "article:published_time",
    "og:published_time",
    "datepublished",
    "dc.date.issued",
    "dcterms.issued",
    "dc.date",
    "dcterms.date",
    "dcterms.created",
    "parsely-pub-date",
    "pubdate",
    "citation_publication_date",
    "date",
];

/// `meta` names of the date of the last change.
const MODIFIED: &[&str] = &[
    "article:modified_time",
    "og:updated_time",
    "datemodified",
    "dcterms.modified",
    "dc.date.modified",
    "last-modified",
];

/// The text of a JSON-LD value: itself, a thing's name, or those of a list.
fn fact(value: &Value) -> Option<String> {
    let one = |value: &Value| match value {
        Value::String(text) => Some(collapse(text)),
        Value::Object(thing) => thing.get("name").and_then(Value::as_str).map(collapse),
        _ => None,
    };
    let text = match value {
        Value::Array(values) => {
            let mut names: Vec<String> = values.iter().filter_map(one).collect();
            names.dedup();
            names.join(", ")
        }
        value => one(value)?,
    };
    (!text.is_empty() && text.chars().count() <= MAX_FACT_CHARS).then_some(text)
}

/// Name and content of every `meta` element that has both: some speak to robots.
pub(super) fn robots(tree: &Tree, index: &Index) -> Vec<(String, String)> {
    let pair = |node| {
        let name = tree.attribute(node, "name")?.trim().to_ascii_lowercase();
        let is_for_robots = name == "robots" || name.ends_with("bot");
        is_for_robots
            .then(|| (name, tree.attribute(node, "content").unwrap_or_default().to_owned()))
    };
    index.elements(tree, "meta").filter_map(pair).collect()
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
    fn collect(tree: &Tree, index: &Index) -> Self {
        let pairs = index.elements(tree, "meta").filter_map(|node| {
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

fn title_element(tree: &Tree, index: &Index) -> Option<String> {
    let text =
        index.elements(tree, "title").next().map(|node| collapse(&tree.text_content(node)))?;
    (!text.is_empty()).then_some(text)
}

/// The text of the page's `h1`, where there is exactly one: most exact, since a `title` also
/// names the site.
fn only_main_heading(tree: &Tree, index: &Index) -> Option<String> {
    let mut headings = index.elements(tree, "h1");
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

/// The first date that microdata calls that of publication, else that of the first `time`.
fn time_element(tree: &Tree, index: &Index) -> Option<String> {
    let stated = |node: NodeId| {
        let value = tree.attribute(node, "datetime").or_else(|| tree.attribute(node, "content"))?;
        Some(collapse(value)).filter(|value| !value.is_empty())
    };
    let is_publication = |node: &NodeId| {
        tree.attribute(*node, "itemprop").is_some_and(|name| name.contains("datePublished"))
    };
    let by_microdata = index.statements.iter().copied().filter(is_publication).find_map(stated);
    by_microdata.or_else(|| index.elements(tree, "time").find_map(stated))
}

/// What microdata or a link calls the author.
fn author_element(tree: &Tree, index: &Index) -> Option<String> {
    let node = index.statements.iter().copied().find(|node| {
        let has = |attribute: &str| {
            let value = tree.attribute(*node, attribute).unwrap_or_default();
            value.split_ascii_whitespace().any(|word| word == "author")
        };
        has("itemprop") || has("rel")
    })?;
    let text = collapse(&tree.text_content(node));
    (!text.is_empty() && text.chars().count() <= 80).then_some(text)
}

fn canonical(tree: &Tree, index: &Index, addresses: &Addresses) -> Option<String> {
    let link = index.elements(tree, "link").find(|node| {
        let rel = tree.attribute(*node, "rel").unwrap_or_default();
        rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("canonical"))
    })?;
    addresses.page(tree.attribute(link, "href")?).map(|url| url.key().to_string())
}

fn declared_language(tree: &Tree, index: &Index) -> Option<String> {
    let html = index.elements(tree, "html").next()?;
    let lang = tree.attribute(html, "lang").or_else(|| tree.attribute(html, "xml:lang"))?;
    let primary = lang.split(['-', '_']).next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_code =
        (2..=3).contains(&primary.len()) && primary.chars().all(|c| c.is_ascii_lowercase());
    is_code.then_some(primary)
}
