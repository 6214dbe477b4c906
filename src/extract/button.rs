//! Buttons: most are controls, and some are words of a sentence, which explain themselves on a click.

use super::tree::{NodeId, Tree};

/// Most inline elements around a button, and most siblings on either side, that are looked at.
const MAX_LEVELS: usize = 4;
const MAX_SIBLINGS: usize = 32;

/// Whether the element at `node` is a button in the midst of a text: words stand before and behind
/// it in the same block.
pub(super) fn is_word(tree: &Tree, node: NodeId) -> bool {
    if tree.tag(node) != "button" {
        return false;
    }
    let mut top = node;
    for _ in 0..MAX_LEVELS {
        let Some(parent) = tree.parent(top) else { return false };
        if matches!(tree.tag(parent), "p" | "li" | "td" | "dd" | "blockquote") {
            return has_words(tree, top, Tree::previous) && has_words(tree, top, Tree::next);
        }
        if !matches!(tree.tag(parent), "span" | "em" | "strong" | "b" | "i" | "a" | "abbr") {
            return false;
        }
        top = parent;
    }
    false
}

/// Whether a text stands among the siblings of `node`, one after the other by `step`, with nothing
/// in between that ends a line.
fn has_words(tree: &Tree, node: NodeId, step: fn(&Tree, NodeId) -> Option<NodeId>) -> bool {
    std::iter::successors(step(tree, node), |sibling| step(tree, *sibling))
        .take(MAX_SIBLINGS)
        .take_while(|sibling| tree.tag(*sibling) != "br")
        .filter_map(|sibling| tree.text(sibling))
        .any(|text| text.chars().any(char::is_alphanumeric))
}
