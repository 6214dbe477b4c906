//! `noscript`: mostly a plea to switch scripts on, sometimes the only copy of a text or image.

use std::collections::HashSet;

use super::hidden::hidden_by;
use super::media;
use super::tree::{NodeId, Step, Tree};

/// Letters and digits that a text must have to be more than a plea for scripts.
const MIN_LETTERS: usize = 200;

/// Decides which `noscript` of a page is read. The page is looked over once, when the first asks.
#[derive(Debug, Default)]
pub(super) struct NoScript {
    page: Option<Outside>,
}

/// What a page shows outside of its `noscript` elements.
#[derive(Debug, Default)]
struct Outside {
    images: HashSet<String>,
    letters: usize,
}

impl NoScript {
    /// Whether the `noscript` at `id` has an image that the page shows nowhere else, or more text
    /// than all the page.
    pub(super) fn is_only_copy(&mut self, tree: &Tree, id: NodeId) -> bool {
        let images: Vec<String> = tree
            .descendants(id)
            .filter(|node| tree.tag(*node) == "img" && !media::is_dot(tree, *node))
            .filter_map(|node| media::image_address(tree, node))
            .collect();
        let letters = letters(&tree.text_content(id));
        if images.is_empty() && letters == 0 {
            return false;
        }
        let page = self.page.get_or_insert_with(|| Outside::of(tree));
        let has_own_image = images.iter().any(|image| !page.images.contains(image));
        has_own_image || letters > MIN_LETTERS && letters > page.letters
    }
}

impl Outside {
    fn of(tree: &Tree) -> Self {
        let mut outside = Self::default();
        let root = NodeId::DOCUMENT;
        let mut step = Some(Step::Enter(root));
        while let Some(now) = step {
            step = tree.after(now, root);
            let Step::Enter(node) = now else { continue };
            if hidden_by(tree, node).is_some() || tree.tag(node) == "head" {
                step = tree.after(Step::Leave(node), root);
            } else if let Some(text) = tree.text(node) {
                outside.letters += letters(text);
            } else if tree.tag(node) == "img" {
                outside.images.extend(media::image_address(tree, node));
            }
        }
        outside
    }
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}
