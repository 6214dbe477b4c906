//! Takes out pictures that decorate: icons, logos, portraits beside names, and one picture shown
//! again and again.

use std::collections::HashSet;

use super::measure::{Page, Removed, remove};
use super::names::Hint;
use crate::extract::tree::NodeId;

/// Largest side of an icon, in CSS pixels.
const MAX_ICON_PIXELS: u32 = 64;

/// Removes the pictures from what is kept.
pub(super) fn prune(page: &Page<'_>, removed: &mut Removed) {
    let kept = page.kept(page.body, removed);
    // What a heading or link says already.
    let mut seen: HashSet<String> = kept
        .iter()
        .filter(|node| {
            matches!(page.tree.tag(**node), "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "a")
        })
        .map(|node| plain(&page.tree.text_content(*node)))
        .collect();
    for node in kept {
        if page.tree.tag(node) != "img" {
            continue;
        }
        let alt = plain(page.tree.attribute(node, "alt").unwrap_or_default());
        let is_repeated = !alt.is_empty() && !seen.insert(alt.clone());
        if is_repeated || is_icon(page, node) || is_mark(&alt) {
            remove(removed, node, "content.picture");
        }
    }
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn is_icon(page: &Page<'_>, node: NodeId) -> bool {
    let is_small = |name: &str| {
        let side = page
            .tree
            .attribute(node, name)
            .and_then(|side| side.trim_end_matches("px").parse::<u32>().ok());
        side.is_some_and(|side| side <= MAX_ICON_PIXELS)
    };
    is_small("width") || is_small("height") || page.naming(node).has(Hint::Icon)
}

/// Whether alternative text says that the picture stands for a name.
fn is_mark(alt: &str) -> bool {
    let mut words = alt.split(|c: char| !c.is_alphanumeric());
    alt.len() <= 60 && words.any(|word| matches!(word, "logo" | "icon" | "avatar"))
}
