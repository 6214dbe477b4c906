//! The pages that a page leads to.

use std::collections::HashSet;

use super::Addresses;
use super::index::Index;
use super::tree::{NodeId, Tree};
use crate::model::{Refresh, WebUrl};

/// The addresses that the page links to, each once and in page order, at most `max`; and whether
/// that limit cut them.
///
/// Links marked `nofollow`, `ugc` or `sponsored` are not the page's recommendation and are left
/// out.
pub(super) fn outlinks(
    tree: &Tree,
    index: &Index,
    addresses: &Addresses,
    max: usize,
) -> (Vec<WebUrl>, bool) {
    let mut seen = HashSet::new();
    let mut outlinks = Vec::new();
    for node in &index.statements {
        let Some(url) = target(tree, *node).and_then(|href| addresses.page(&href)) else {
            continue;
        };
        if seen.contains(&url) {
            continue;
        }
        if outlinks.len() >= max {
            return (outlinks, true);
        }
        seen.insert(url.clone());
        outlinks.push(url);
    }
    (outlinks, false)
}

/// Media types of feeds.
const FEEDS: &[&str] = &["application/rss+xml", "application/atom+xml", "application/feed+json"];

/// Most feeds of a page that are looked at.
const MAX_FEEDS: usize = 10;

/// The feeds that the page names: `link` elements that stand for it in another form.
pub(super) fn feeds(tree: &Tree, index: &Index, addresses: &Addresses) -> Vec<WebUrl> {
    let feed = |node| {
        let element = tree.element(node)?;
        let is_other_form = has_word(element.attribute("rel"), &["alternate"]);
        let media_type = element.attribute("type")?.split(';').next()?.trim();
        let is_feed = FEEDS.iter().any(|feed| feed.eq_ignore_ascii_case(media_type));
        (is_other_form && is_feed).then(|| addresses.page(element.attribute("href")?))?
    };
    index.elements(tree, "link").filter_map(feed).take(MAX_FEEDS).collect()
}

/// Where the page sends its reader before it can be read.
pub(super) fn redirect(tree: &Tree, index: &Index, addresses: &Addresses) -> Option<WebUrl> {
    index.statements.iter().find_map(|node| {
        let element = tree.element(*node).filter(|element| element.tag() == "meta")?;
        is_refresh(element.attribute("http-equiv")).then_some(())?;
        let refresh = Refresh::parse(element.attribute("content")?)?;
        refresh.is_redirect().then(|| addresses.page(refresh.target))?
    })
}

fn target(tree: &Tree, node: NodeId) -> Option<String> {
    let element = tree.element(node)?;
    let attribute = |name| element.attribute(name).map(str::to_owned);
    match element.tag() {
        "a" | "area" if !is_unendorsed(element.attribute("rel")) => attribute("href"),
        "iframe" | "frame" => attribute("src"),
        "link" if leads_on(element.attribute("rel"), element.attribute("hreflang")) => {
            attribute("href")
        }
        "meta" if is_refresh(element.attribute("http-equiv")) => {
            Refresh::parse(element.attribute("content")?).map(|refresh| refresh.target.to_owned())
        }
        _ => None,
    }
}

fn has_word(attribute: Option<&str>, words: &[&str]) -> bool {
    let mut stated = attribute.unwrap_or_default().split_ascii_whitespace();
    stated.any(|word| words.iter().any(|wanted| wanted.eq_ignore_ascii_case(word)))
}

fn is_unendorsed(rel: Option<&str>) -> bool {
    has_word(rel, &["nofollow", "ugc", "sponsored"])
}

fn leads_on(rel: Option<&str>, hreflang: Option<&str>) -> bool {
    has_word(rel, &["next", "prev"]) || hreflang.is_some() && has_word(rel, &["alternate"])
}

fn is_refresh(http_equiv: Option<&str>) -> bool {
    http_equiv.is_some_and(|value| value.trim().eq_ignore_ascii_case("refresh"))
}
