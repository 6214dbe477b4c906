//! The few elements that say something of the page or lead on from it, found in one walk.
//!
//! Metadata, links and hidden panels are each read by a rule of their own; without the index each
//! would walk the whole page again.

use html5ever::local_name;

use super::breadcrumbs::names_breadcrumbs;
use super::tree::{Element, NodeId, Tree};

/// The elements of a page that rules ask for, in document order.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Elements that state a fact of the page or lead to another.
    pub(super) statements: Vec<NodeId>,
    /// Elements that show or hide others: those with `aria-controls`.
    pub(super) controls: Vec<NodeId>,
    /// The page's own style sheets.
    pub(super) sheets: Vec<NodeId>,
    /// The first list of breadcrumbs.
    pub(super) breadcrumbs: Option<NodeId>,
    /// Whether there is a panel of tabs.
    pub(super) has_tabs: bool,
}

impl Index {
    /// Reads `tree`.
    pub(super) fn of(tree: &Tree) -> Self {
        let mut index = Self::default();
        for node in tree.descendants(NodeId::DOCUMENT) {
            if let Some(element) = tree.element(node) {
                index.add(node, element);
            }
        }
        index
    }

    fn add(&mut self, node: NodeId, element: &Element) {
        let mut is_statement = states(element);
        for attribute in &element.attributes {
            match attribute.name.local {
                local_name!("itemprop") | local_name!("rel") => is_statement = true,
                local_name!("class") | local_name!("aria-label")
                    if self.breadcrumbs.is_none() && names_breadcrumbs(&attribute.value) =>
                {
                    self.breadcrumbs = Some(node);
                }
                local_name!("aria-controls") => self.controls.push(node),
                local_name!("role") => self.has_tabs |= &*attribute.value == "tabpanel",
                _ => {}
            }
        }
        if element.name.local == local_name!("style") {
            self.sheets.push(node);
        }
        if is_statement {
            self.statements.push(node);
        }
    }

    /// The HTML elements named `tag`, which must be one of those that state something.
    pub(super) fn elements<'a>(
        &'a self,
        tree: &'a Tree,
        tag: &'a str,
    ) -> impl Iterator<Item = NodeId> + 'a {
        self.statements.iter().copied().filter(move |node| tree.tag(*node) == tag)
    }
}

/// Whether an element states something by its name.
fn states(element: &Element) -> bool {
    matches!(
        element.name.local,
        local_name!("a")
            | local_name!("area")
            | local_name!("base")
            | local_name!("frame")
            | local_name!("h1")
            | local_name!("html")
            | local_name!("iframe")
            | local_name!("link")
            | local_name!("meta")
            | local_name!("script")
            | local_name!("time")
            | local_name!("title")
    )
}
