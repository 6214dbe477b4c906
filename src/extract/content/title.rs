//! Takes the title out of an article or thread: it is a fact about the page, with a column of its
//! own, and every chunk names it.

use super::measure::{Page, Removed, remove};
use crate::model::collapse;

/// Removes the main heading where `title`, which the page's metadata keeps, says the same.
pub(super) fn prune(page: &Page<'_>, title: Option<&str>, removed: &mut Removed) {
    let Some(title) = title else { return };
    let measures = page.measure(removed);
    // A character counts twice at most; headings that nest are not read again and again.
    let most = u32::try_from(title.chars().count()).unwrap_or(u32::MAX).saturating_mul(2);
    for node in page.kept(page.body, removed) {
        let fits = page.tree.tag(node) == "h1" && measures.of(node).text <= most;
        if fits && collapse(&page.tree.text_content(node)) == title {
            remove(removed, node, "content.title");
        }
    }
}
