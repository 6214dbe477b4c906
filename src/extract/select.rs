//! Main content by a CSS selector that the user gives.
//!
//! Selectors are matched by `scraper`, over a copy of the tree that keeps elements and their
//! attributes alone: it is made only where a selector is given.

use scraper::{Html, Selector};

use super::ExtractError;
use super::content::Selection;
use super::tree::{NodeId, Step, Tree};

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
    let matched: Vec<NodeId> = copy
        .html
        .select(&selector)
        .filter_map(|element| copy.originals.get(&element.id()).copied())
        .collect();
    Ok(Selection::keeping(tree, &matched, "content.not_selected"))
}

struct Copy {
    html: Html,
    originals: std::collections::HashMap<ego_tree::NodeId, NodeId>,
}

impl Copy {
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
