//! Main content by CSS selectors that the user gives.
//!
//! Selectors are matched by `scraper`, over a copy of the tree that keeps elements and their
//! attributes alone: it is made only where a selector is given.

use std::collections::HashSet;

use scraper::{Html, Selector};

use super::content::{Removed, Selection};
use super::tree::{NodeId, Step, Tree};
use super::{ExtractError, ExtractOptions};

/// Checks that `selector` is one.
pub(super) fn check(selector: &str) -> Result<(), ExtractError> {
    parse(selector).map(|_| ())
}

fn parse(selector: &str) -> Result<Selector, ExtractError> {
    Selector::parse(selector).map_err(|_| ExtractError::Selector(selector.to_owned()))
}

/// Keeps the elements that match `selector`, with all in them; the rest is removed as
/// `content.not_selected`. Where nothing matches, the whole page stays.
pub(super) fn select(tree: &Tree, selector: &str) -> Result<Selection, ExtractError> {
    let selector = parse(selector)?;
    let copy = Copy::of(tree);
    let matched: Vec<NodeId> = copy.select(&selector).collect();
    Ok(Selection::keeping(tree, &matched, "content.not_selected"))
}

/// Elements that the user picks by selectors, in document order.
pub(super) struct Picks {
    /// Those that stay.
    pub(super) keep: Vec<NodeId>,
    drop: Vec<NodeId>,
}

impl Picks {
    /// Finds what `options.keep` and `options.drop` match.
    pub(super) fn find(tree: &Tree, options: &ExtractOptions) -> Result<Self, ExtractError> {
        if options.keep.is_empty() && options.drop.is_empty() {
            return Ok(Self { keep: Vec::new(), drop: Vec::new() });
        }
        let copy = Copy::of(tree);
        let find = |selectors: &[String]| -> Result<Vec<NodeId>, ExtractError> {
            let mut found = Vec::new();
            for selector in selectors {
                found.extend(copy.select(&parse(selector)?));
            }
            Ok(found)
        };
        Ok(Self { keep: find(&options.keep)?, drop: find(&options.drop)? })
    }

    /// Takes the picks over into `removed`: what goes goes, also out of what stays.
    pub(super) fn apply(&self, tree: &Tree, removed: &mut Removed) {
        if !self.keep.is_empty() && !removed.is_empty() {
            keep(tree, &self.keep, removed);
        }
        if !self.drop.is_empty() {
            removed.resize(tree.len(), None);
        }
        for node in &self.drop {
            if let Some(slot) = removed.get_mut(node.index()) {
                *slot = Some("extract.drop_selector");
            }
        }
    }
}

/// Takes back what removes `kept`. A rule that removes an element above one of them moves to the
/// other elements in it.
fn keep(tree: &Tree, kept: &[NodeId], removed: &mut Removed) {
    let around = Selection::keeping(tree, kept, "content.not_selected").removed;
    let is_kept: HashSet<NodeId> = kept.iter().copied().collect();
    let mut rules: Vec<Option<&'static str>> = vec![None];
    let mut kept_depth = 0_usize;
    let mut step = Some(Step::Enter(NodeId::DOCUMENT));
    while let Some(now) = step {
        step = tree.after(now, NodeId::DOCUMENT);
        let node = match now {
            Step::Enter(node) => node,
            Step::Leave(node) => {
                rules.pop();
                kept_depth -= usize::from(is_kept.contains(&node));
                continue;
            }
        };
        let Some(slot) = removed.get_mut(node.index()) else { continue };
        let rule = slot.or(rules.last().copied().flatten());
        kept_depth += usize::from(is_kept.contains(&node));
        let is_outside = around.get(node.index()).copied().flatten().is_some();
        if kept_depth > 0 {
            *slot = None;
            rules.push(None);
        } else if is_outside && rule.is_some() {
            *slot = rule;
            step = tree.after(Step::Leave(node), NodeId::DOCUMENT);
        } else {
            *slot = None;
            rules.push(rule);
        }
    }
}

struct Copy {
    html: Html,
    originals: std::collections::HashMap<ego_tree::NodeId, NodeId>,
}

impl Copy {
    /// The elements of the original that `selector` matches.
    fn select(&self, selector: &Selector) -> impl Iterator<Item = NodeId> {
        let matched = self.html.select(selector);
        matched.filter_map(|element| self.originals.get(&element.id()).copied())
    }

    fn of(tree: &Tree) -> Self {
        let mut html = Html::new_document();
        let mut originals = std::collections::HashMap::new();
        let mut above = vec![html.tree.root().id()];
        for step in tree.walk(NodeId::DOCUMENT) {
            match step {
                Step::Enter(node) => {
                    let parent = above.last().copied().unwrap_or_else(|| html.tree.root().id());
                    let own = tree.element(node).and_then(|element| {
                        let copy = scraper::node::Element::new(
                            element.name.clone(),
                            element.attributes.clone(),
                        );
                        let mut parent = html.tree.get_mut(parent)?;
                        Some(parent.append(scraper::Node::Element(copy)).id())
                    });
                    if let Some(own) = own {
                        originals.insert(own, node);
                    }
                    above.push(own.unwrap_or(parent));
                }
                Step::Leave(_) => {
                    above.pop();
                }
            }
        }
        Self { html, originals }
    }
}
