//! The pages above a page, by its own word.

use serde_json::{Map, Value};

use super::index::Index;
use super::linked_data::LinkedData;
use super::tree::Tree;
use crate::model::{FactSource, collapse};

/// Most pages above a page; more is no trail.
const MAX_CRUMBS: usize = 12;

/// Longest name of such a page, in characters.
const MAX_CRUMB_CHARS: usize = 200;

/// The names of the pages above, the outermost first: from JSON-LD, else from the list that the
/// page calls so.
pub(super) fn breadcrumbs(
    tree: &Tree,
    index: &Index,
    data: &LinkedData,
) -> Option<(Vec<String>, FactSource)> {
    let linked = data.breadcrumbs();
    if is_trail(linked) {
        return Some((linked.to_vec(), FactSource::JsonLd));
    }
    let list = index.breadcrumbs?;
    let texts = |tag: &str| -> Vec<String> {
        let parts = tree.descendants(list).filter(|node| tree.tag(*node) == tag);
        let texts = parts.map(|node| plain(&tree.text_content(node)));
        // One more than a trail has tells that it is none; lists may be nested deep.
        texts.filter(|text| !text.is_empty()).take(MAX_CRUMBS + 1).collect()
    };
    let trail = Some(texts("li")).filter(|items| is_trail(items)).unwrap_or_else(|| texts("a"));
    is_trail(&trail).then_some((trail, FactSource::Element))
}

/// The trail that a JSON-LD `BreadcrumbList` states.
pub(super) fn of_list(list: &Map<String, Value>) -> Vec<String> {
    let Some(Value::Array(items)) = list.get("itemListElement") else { return Vec::new() };
    let name = |item: &Value| {
        let own = item.get("name").or_else(|| item.get("item")?.get("name"));
        own.and_then(Value::as_str).map(collapse)
    };
    let place = |item: &Value| item.get("position").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let mut placed: Vec<(u64, String)> =
        items.iter().filter_map(|item| Some((place(item), name(item)?))).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, name)| name).filter(|name| !name.is_empty()).collect()
}

fn is_trail(names: &[String]) -> bool {
    let is_name = |name: &String| name.chars().count() <= MAX_CRUMB_CHARS;
    !names.is_empty() && names.len() <= MAX_CRUMBS && names.iter().all(is_name)
}

/// Whether a class or a label calls its element a list of breadcrumbs.
pub(super) fn names_breadcrumbs(value: &str) -> bool {
    // Most values are not looked at word by word.
    let is_crumb = |word: &str| {
        let word = word.to_ascii_lowercase();
        matches!(word.as_str(), "breadcrumb" | "breadcrumbs" | "breadcrumb-list" | "breadcrumblist")
    };
    value.contains("readcrumb") && value.split_ascii_whitespace().any(is_crumb)
}

/// `text` without the marks that stand between names.
fn plain(text: &str) -> String {
    let is_mark = |c: char| c.is_whitespace() || matches!(c, '/' | '>' | '›' | '»' | '|' | '→');
    collapse(text.trim_matches(is_mark))
}
