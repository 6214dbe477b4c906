//! Takes the title out of an article or thread: it is a fact about the page, with a column of its
//! own, and every chunk names it.

use super::measure::{Page, Removed, remove};
use crate::model::collapse;

/// Removes the main heading where `title`, which the page's metadata keeps, says the same.
pub(super) fn prune(page: &Page<'_>, title: Option<&str>, removed: &mut Removed) {
    let Some(title) = title else { return };
    for node in page.kept(page.body, removed) {
        if page.tree.tag(node) == "h1" && collapse(&page.tree.text_content(node)) == title {
            remove(removed, node, "content.title");
        }
    }
}
