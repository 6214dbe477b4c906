//! The pages that a page leads to.

use std::collections::HashSet;

use super::Addresses;
use super::tree::{NodeId, Tree};
use crate::model::WebUrl;

/// The addresses that the page links to, each once and in page order, at most `max`; and whether
/// that limit cut them.
///
/// Links marked `nofollow`, `ugc` or `sponsored` are not the page's recommendation and are left
/// out.
pub(super) fn outlinks(tree: &Tree, addresses: &Addresses, max: usize) -> (Vec<WebUrl>, bool) {
    let mut seen = HashSet::new();
    let mut outlinks = Vec::new();
    for node in tree.descendants(NodeId::DOCUMENT) {
        let Some(url) = target(tree, node).and_then(|href| addresses.page(&href)) else { continue };
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
            refresh_target(element.attribute("content")?)
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

/// The address in `5; url=/next` (HTML, "shared declarative refresh steps").
fn refresh_target(content: &str) -> Option<String> {
    let (_, after) = content.split_once([';', ','])?;
    let after = after.trim_start();
    let (name, value) = after.split_once('=').unwrap_or(("url", after));
    let is_url = name.trim().eq_ignore_ascii_case("url");
    let value = value.trim().trim_matches(['"', '\'']);
    (is_url && !value.is_empty()).then(|| value.to_owned())
}
