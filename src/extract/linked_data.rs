//! What a page says about itself in JSON-LD: the things it names, by type, in page order.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use super::breadcrumbs::of_list;
use super::index::Index;
use super::tree::Tree;

/// Properties whose values are things of the page themselves.
const INNER: &[&str] =
    &["@graph", "mainEntity", "mainEntityOfPage", "hasPart", "itemListElement", "item"];

/// Longest script that is read, in bytes.
const MAX_BYTES: usize = 500_000;

/// Most things that are read from a page.
const MAX_THINGS: usize = 500;

/// The things that the page's JSON-LD names, those at the top of each script first.
#[derive(Debug, Default)]
pub(super) struct LinkedData {
    things: Vec<Map<String, Value>>,
    breadcrumbs: Vec<String>,
}

impl LinkedData {
    /// Reads every JSON-LD script; one that is no JSON is left out.
    pub(super) fn read(tree: &Tree, index: &Index) -> Self {
        let mut data = Self::default();
        for node in index.elements(tree, "script") {
            let kind = tree.attribute(node, "type").unwrap_or_default();
            if kind.trim().to_ascii_lowercase().starts_with("application/ld+json") {
                data.read_script(&tree.text_content(node));
            }
        }
        data
    }

    fn read_script(&mut self, text: &str) {
        if text.len() > MAX_BYTES {
            return;
        }
        let text = text
            .trim()
            .trim_start_matches("<!--")
            .trim_end_matches("-->")
            .trim()
            .trim_end_matches(';');
        let value = serde_json::from_str::<Value>(text).or_else(|_| {
            let lenient: String =
                text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            serde_json::from_str(&lenient)
        });
        let Ok(value) = value else { return };
        let mut waiting = VecDeque::from([value]);
        while let Some(value) = waiting.pop_front() {
            if self.things.len() >= MAX_THINGS {
                return;
            }
            match value {
                Value::Array(values) => waiting.extend(values),
                Value::Object(thing) => self.read_thing(thing, &mut waiting),
                _ => {}
            }
        }
    }

    fn read_thing(&mut self, mut thing: Map<String, Value>, waiting: &mut VecDeque<Value>) {
        if self.breadcrumbs.is_empty() && is_a(&thing, "BreadcrumbList") {
            self.breadcrumbs = of_list(&thing);
        }
        for key in INNER {
            let is_inner = matches!(thing.get(*key), Some(Value::Array(_) | Value::Object(_)));
            waiting.extend(is_inner.then(|| thing.remove(*key)).flatten());
        }
        if thing.contains_key("@type") {
            self.things.push(thing);
        }
    }

    /// The names in the first list of breadcrumbs, the outermost first.
    pub(super) fn breadcrumbs(&self) -> &[String] {
        &self.breadcrumbs
    }

    /// The things of any of `types`, in page order.
    pub(super) fn of<'a>(
        &'a self,
        types: &'a [&str],
    ) -> impl Iterator<Item = &'a Map<String, Value>> + 'a {
        self.things.iter().filter(move |thing| types.iter().any(|name| is_a(thing, name)))
    }

    /// Whether there is a thing of any of `types`.
    pub(super) fn is_any(&self, types: &[&str]) -> bool {
        self.things.iter().any(|thing| types.iter().any(|name| is_a(thing, name)))
    }

    /// How many things of type `name` there are.
    pub(super) fn count(&self, name: &str) -> usize {
        self.things.iter().filter(|thing| is_a(thing, name)).count()
    }
}

fn is_a(thing: &Map<String, Value>, name: &str) -> bool {
    let is_name = |value: &Value| {
        value.as_str().is_some_and(|stated| stated.rsplit(['/', ':']).next() == Some(name))
    };
    match thing.get("@type") {
        Some(Value::Array(types)) => types.iter().any(is_name),
        Some(value) => is_name(value),
        None => false,
    }
}
