//! The page's `meta` elements.

use super::index::Index;
use super::tree::Tree;
use crate::model::{FactSource, collapse};

/// The `meta` elements that have a name and a content, in order.
pub(super) struct Meta(Vec<Stated>);

struct Stated {
    name: String,
    content: String,
    source: FactSource,
}

impl Meta {
    pub(super) fn collect(tree: &Tree, index: &Index) -> Self {
        let stated = index.elements(tree, "meta").filter_map(|node| {
            let named = ["property", "name", "itemprop"];
            let (key, name) =
                named.iter().find_map(|key| Some((*key, tree.attribute(node, key)?)))?;
            let name = name.trim().to_ascii_lowercase();
            let content = collapse(tree.attribute(node, "content")?);
            let source = source(key, &name);
            (!content.is_empty()).then_some(Stated { name, content, source })
        });
        Self(stated.collect())
    }

    /// The content of the first of `names` that is given.
    pub(super) fn first(&self, names: &[&str]) -> Option<(String, FactSource)> {
        names.iter().find_map(|name| {
            let stated = self.0.iter().find(|stated| stated.name == *name)?;
            Some((stated.content.clone(), stated.source))
        })
    }

    /// The contents of all elements named `name`, joined by commas.
    pub(super) fn all(&self, name: &str) -> Option<(String, FactSource)> {
        let mut all = self.0.iter().filter(|stated| stated.name == name).peekable();
        let source = all.peek()?.source;
        let contents: Vec<&str> = all.map(|stated| stated.content.as_str()).collect();
        Some((contents.join(","), source))
    }
}

/// What kind of statement an element with `name` in attribute `key` is.
fn source(key: &str, name: &str) -> FactSource {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if key == "itemprop" {
        FactSource::Microdata
    } else if begins(&["og:", "article:", "twitter:"]) {
        FactSource::OpenGraph
    } else if begins(&["dc.", "dcterms."]) {
        FactSource::DublinCore
    } else {
        FactSource::Meta
    }
}
