//! What a page says about itself.
//!
//! Each fact comes from the first of these that states it, the most trusted first: JSON-LD of the
//! page's main thing, Open Graph and its kin, Dublin Core and plain `meta`, microdata, elements
//! with a meaning (`time`, `rel=author`), the address. The title is the exception: the page's only
//! main heading goes first, since all others also name the site.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Addresses;
use super::breadcrumbs::breadcrumbs;
use super::index::Index;
use super::linked_data::LinkedData;
use super::meta::Meta;
use super::tree::{NodeId, Tree};
use crate::model::{FactSource, Metadata, collapse};

/// Longest value that is a fact and not a text, in characters.
const MAX_FACT_CHARS: usize = 300;

/// Most keywords of a page.
const MAX_KEYWORDS: usize = 50;

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
    let linked = |names: &[&str]| {
        let stated =
            names.iter().find_map(|name| things.iter().find_map(|thing| fact(thing.get(*name)?)));
        stated.map(|value| (value, FactSource::JsonLd))
    };
    let element = |value: Option<String>| value.map(|value| (value, FactSource::Element));
    let site = || {
        let name = data.of(&["WebSite"]).find_map(|site| fact(site.get("name")?));
        name.map(|value| (value, FactSource::JsonLd))
    };
    let image = || {
        let stated = things.iter().find_map(|thing| image_address(thing.get("image")?));
        stated.map(|value| (value, FactSource::JsonLd))
    };
    let mut facts = Facts::default();
    let title = element(only_main_heading(tree, index))
        .or_else(|| linked(&["headline"]))
        .or_else(|| meta.first(&["og:title", "twitter:title", "dc.title", "headline"]))
        .or_else(|| element(title_element(tree, index)))
        .or_else(|| linked(&["name"]));
    let description = meta
        .first(&["description", "og:description", "twitter:description", "dc.description"])
        .or_else(|| linked(&["description"]));
    let author = linked(&["author", "creator"])
        .or_else(|| meta.first(&["author", "article:author", "dc.creator", "parsely-author"]))
        .filter(|(author, _)| !author.starts_with("http"))
        .or_else(|| author_element(tree, index));
    let site_name = meta
        .first(&["og:site_name", "application-name"])
        .or_else(site)
        .or_else(|| linked(&["publisher"]));
    let image = image().or_else(|| meta.first(&["og:image", "og:image:url", "twitter:image"]));
    let published_at = linked(&["datePublished", "dateCreated", "uploadDate"])
        .or_else(|| meta.first(PUBLISHED))
        .or_else(|| time_element(tree, index))
        .or_else(|| addresses.date().map(|date| (date, FactSource::Address)));
    let modified_at = linked(&["dateModified"]).or_else(|| meta.first(MODIFIED));
    let keywords = keywords(&things, &meta);
    Metadata {
        title: facts.take("title", title),
        description: facts.take("description", description),
        author: facts.take("author", author),
        site_name: facts.take("site_name", site_name),
        keywords: facts.take("keywords", keywords).unwrap_or_default(),
        image: facts.take("image", image).and_then(|image| addresses.write(&image)),
        breadcrumbs: facts.take("breadcrumbs", breadcrumbs(tree, index, data)).unwrap_or_default(),
        published_at: facts.take("published_at", published_at),
        modified_at: facts.take("modified_at", modified_at),
        canonical_url: canonical(tree, index, addresses),
        lang: declared_language(tree, index),
        sources: facts.0,
        ..Metadata::default()
    }
}

/// Where each fact comes from.
#[derive(Default)]
struct Facts(BTreeMap<String, FactSource>);

impl Facts {
    /// The value of a fact, whose source is noted.
    fn take<T>(&mut self, name: &str, fact: Option<(T, FactSource)>) -> Option<T> {
        let (value, source) = fact?;
        self.0.insert(name.to_owned(), source);
        Some(value)
    }
}

/// What the page says it is about.
fn keywords(things: &[&Map<String, Value>], meta: &Meta) -> Option<(Vec<String>, FactSource)> {
    let linked = things.iter().find_map(|thing| match thing.get("keywords")? {
        Value::Array(words) => {
            Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","))
        }
        words => words.as_str().map(str::to_owned),
    });
    let (list, source) = match linked {
        Some(list) => (list, FactSource::JsonLd),
        None => meta
            .first(&["keywords", "news_keywords", "parsely-tags", "dc.subject"])
            .or_else(|| meta.all("article:tag"))?,
    };
    let mut words: Vec<String> = Vec::new();
    for word in list.split([',', ';', '，', '、']).map(collapse) {
        let is_new = !word.is_empty() && !words.contains(&word);
        if is_new && word.chars().count() <= MAX_FACT_CHARS && words.len() < MAX_KEYWORDS {
            words.push(word);
        }
    }
    (!words.is_empty()).then_some((words, source))
}

/// The address in a JSON-LD image: itself, a thing's `url`, or the first of a list.
fn image_address(image: &Value) -> Option<String> {
    match image {
        Value::String(address) => Some(address.clone()),
        Value::Object(thing) => thing.get("url").and_then(Value::as_str).map(str::to_owned),
        Value::Array(images) => images.first().and_then(|first| match first {
            Value::Array(_) => None,
            first => image_address(first),
        }),
        _ => None,
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
fn time_element(tree: &Tree, index: &Index) -> Option<(String, FactSource)> {
    let stated = |node: NodeId| {
        let value = tree.attribute(node, "datetime").or_else(|| tree.attribute(node, "content"))?;
        Some(collapse(value)).filter(|value| !value.is_empty())
    };
    let is_publication = |node: &NodeId| {
        tree.attribute(*node, "itemprop").is_some_and(|name| name.contains("datePublished"))
    };
    let by_microdata = index.statements.iter().copied().filter(is_publication).find_map(stated);
    let by_time =
        || index.elements(tree, "time").find_map(stated).map(|t| (t, FactSource::Element));
    by_microdata.map(|date| (date, FactSource::Microdata)).or_else(by_time)
}

/// What microdata or a link calls the author.
fn author_element(tree: &Tree, index: &Index) -> Option<(String, FactSource)> {
    let node = index.statements.iter().copied().find(|node| {
        let has = |attribute: &str| {
            let value = tree.attribute(*node, attribute).unwrap_or_default();
            value.split_ascii_whitespace().any(|word| word == "author")
        };
        has("itemprop") || has("rel")
    })?;
    let text = collapse(&tree.text_content(node));
    let by_microdata = tree.attribute(node, "itemprop").is_some();
    let source = if by_microdata { FactSource::Microdata } else { FactSource::Element };
    (!text.is_empty() && text.chars().count() <= 80).then_some((text, source))
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

#[cfg(test)]
mod tests {
    use crate::extract::{ExtractOptions, Source, SourceFormat, extract};
    use crate::model::{Ledger, Metadata, WebUrl};

    fn metadata(html: &str, address: &str) -> Metadata {
        let url = WebUrl::parse(address).ok();
        let source = Source { text: html, url: url.as_ref(), format: SourceFormat::Html };
        extract(source, &ExtractOptions::default(), Ledger::default()).unwrap().metadata
    }

    #[test]
    fn metadata_trusts_linked_data_most() {
        let html = r#"<title>Picking | Tea Times</title><meta property=og:title content="Open">
            <meta name=author content="webmaster"><script type="application/ld+json">
            {"@graph": [{"@type": "WebSite", "name": "Tea Times"}, {"@type": ["Article"], "headline": "Picking",
            "author": [{"@type": "Person", "name": "Ann"}, {"@type": "Person", "name": "Bo"}],
            "datePublished": "2024-05-17"}]}</script><body><p>Text."#;
        let stated = metadata(html, "https://example.org/2020/01/02/a");
        assert_eq!(stated.title.as_deref(), Some("Picking"));
        assert_eq!(stated.author.as_deref(), Some("Ann, Bo"));
        assert_eq!(stated.site_name.as_deref(), Some("Tea Times"));
        assert_eq!(stated.published_at.as_deref(), Some("2024-05-17"));
        let bare = metadata("<body><p>Text.", "https://example.org/2020/01/02/a");
        assert_eq!(bare.published_at.as_deref(), Some("2020-01-02"));
    }
}
