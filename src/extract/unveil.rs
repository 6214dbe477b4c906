//! Hidden text that is shown: where a page is nothing without it, and where it is asked for.
//!
//! Some pages are a shell: their text stands in `noscript`, for those who run no scripts, or in an
//! element that stays hidden until a script has run. A reader sees that text, so it is shown.

use std::collections::HashSet;

use html5ever::local_name;

use super::hidden::hidden_by;
use super::index::Index;
use super::tree::{NodeId, Step, Tree};

/// Least text, in bytes, that is more than a notice to turn scripts on.
const MIN_BYTES: usize = 400;

/// How many times the visible text the hidden text must be.
const MIN_RATIO: usize = 2;

/// Shows hidden elements that hold more than twice the text that the body shows otherwise.
pub(super) fn unveil(tree: &mut Tree) {
    let Some(body) = tree.descendants(NodeId::DOCUMENT).find(|node| tree.tag(*node) == "body")
    else {
        return;
    };
    // What is unveiled may hold hidden elements itself, as a shell in a shell does.
    for _ in 0..3 {
        let (visible, veils) = read(tree, body);
        let hidden: usize = veils.iter().map(|(_, bytes)| bytes).sum();
        if hidden < MIN_BYTES || hidden <= visible * MIN_RATIO {
            return;
        }
        let largest = veils.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
        for (node, _) in veils.iter().filter(|(_, bytes)| bytes * 4 >= largest) {
            show(tree, *node);
        }
    }
}

/// Shows what a click unfolds where it stands: panels of tabs and accordions.
pub(super) fn unfold(tree: &mut Tree, index: &Index) {
    if index.controls.is_empty() && !index.has_tabs {
        return;
    }
    for node in folded(tree, index) {
        show(tree, node);
    }
}

/// The hidden panels outside of menus and dialogs.
fn folded(tree: &Tree, index: &Index) -> Vec<NodeId> {
    let controlled: HashSet<&str> = index
        .controls
        .iter()
        .filter_map(|node| tree.attribute(*node, "aria-controls"))
        .flat_map(str::split_ascii_whitespace)
        .collect();
    let mut panels = Vec::new();
    let mut step = Some(Step::Enter(NodeId::DOCUMENT));
    while let Some(now) = step {
        step = tree.after(now, NodeId::DOCUMENT);
        let Step::Enter(node) = now else { continue };
        if is_aside(tree, node) {
            step = tree.after(Step::Leave(node), NodeId::DOCUMENT);
            continue;
        }
        let is_hidden = matches!(
            hidden_by(tree, node),
            Some(
                "extract.hidden_attribute"
                    | "extract.aria_hidden"
                    | "extract.hidden_style"
                    | "extract.unreadable_style"
            )
        );
        let is_controlled = || tree.attribute(node, "id").is_some_and(|id| controlled.contains(id));
        if is_hidden && (tree.attribute(node, "role") == Some("tabpanel") || is_controlled()) {
            panels.push(node);
        }
    }
    panels
}

/// Whether what the element unfolds is no part of the text.
fn is_aside(tree: &Tree, node: NodeId) -> bool {
    let is_by_role = matches!(
        tree.attribute(node, "role"),
        Some(
            "navigation"
                | "menu"
                | "menubar"
                | "listbox"
                | "dialog"
                | "alertdialog"
                | "banner"
                | "search"
        )
    );
    is_by_role
        || matches!(
            tree.tag(node),
            "nav" | "header" | "footer" | "form" | "dialog" | "template" | "noscript"
        )
}

/// Shows every element that an attribute or its style hides.
pub(super) fn unveil_all(tree: &mut Tree) {
    let is_veiled = |node: &NodeId| {
        matches!(
            hidden_by(tree, *node),
            Some(
                "extract.hidden_attribute"
                    | "extract.aria_hidden"
                    | "extract.hidden_style"
                    | "extract.unreadable_style"
            )
        )
    };
    let veiled: Vec<NodeId> = tree.descendants(NodeId::DOCUMENT).filter(is_veiled).collect();
    for node in veiled {
        show(tree, node);
    }
}

/// Bytes of text outside of links that the body shows, and those of every hidden element.
fn read(tree: &Tree, body: NodeId) -> (usize, Vec<(NodeId, usize)>) {
    let mut veils = Vec::new();
    let mut visible = 0;
    let mut step = Some(Step::Enter(body));
    while let Some(now) = step {
        step = tree.after(now, body);
        let Step::Enter(node) = now else { continue };
        let rule = hidden_by(tree, node).filter(|_| node != body);
        match rule {
            Some("extract.noscript" | "extract.hidden_attribute" | "extract.hidden_style") => {
                veils.push((node, plain_bytes(tree, node)));
            }
            Some(_) => {}
            None if tree.tag(node) == "a" => {}
            None => {
                visible += tree.text(node).map_or(0, |text| text.trim().len());
                continue;
            }
        }
        step = tree.after(Step::Leave(node), body);
    }
    (visible, veils)
}

/// Bytes of text outside of links in `root`, as if it were shown.
fn plain_bytes(tree: &Tree, root: NodeId) -> usize {
    let mut bytes = 0;
    let mut step = Some(Step::Enter(root));
    while let Some(now) = step {
        step = tree.after(now, root);
        let Step::Enter(node) = now else { continue };
        let is_never_text = matches!(
            tree.tag(node),
            "script" | "style" | "template" | "iframe" | "a" | "svg" | "select"
        );
        if node != root && is_never_text {
            step = tree.after(Step::Leave(node), root);
        } else {
            bytes += tree.text(node).map_or(0, |text| text.trim().len());
        }
    }
    bytes
}

/// Takes from an element what hides it.
pub(super) fn show(tree: &mut Tree, node: NodeId) {
    let Some(element) = tree.element_mut(node) else { return };
    if element.name.local == local_name!("noscript") {
        element.name.local = local_name!("div");
    }
    element
        .attributes
        .retain(|attribute| !matches!(&*attribute.name.local, "hidden" | "aria-hidden" | "style"));
}
