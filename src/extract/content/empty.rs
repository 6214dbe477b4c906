//! Takes out headings whose section is gone.

use super::measure::{Page, Removed, is_removed, remove};
use crate::extract::blocks::heading_level;
use crate::extract::tree::NodeId;

/// Removes each heading behind which something was removed, and nothing is left before the next
/// heading of its level.
pub(super) fn prune(page: &Page<'_>, removed: &mut Removed) {
    let measures = page.measure(removed);
    // Headings that wait for something below them: node, level, whether something was removed.
    let mut open: Vec<(NodeId, u8, Option<&'static str>)> = Vec::new();
    let mut empty: Vec<(NodeId, &'static str)> = Vec::new();
    let mut at = 0;
    let mut inside_end = 0;
    let order = &page.order;
    while let Some(node) = order.get(at).copied() {
        if is_removed(removed, node) {
            let rule = removed.get(node.index()).copied().flatten();
            if page.end(node) > at {
                for (_, _, gone) in &mut open {
                    *gone = gone.or(rule);
                }
            }
            at = page.end(node).max(at + 1);
            continue;
        }
        let tag = page.tree.tag(node);
        if let Some(level) = heading_level(tag).filter(|_| measures.of(node).text > 0) {
            while let Some((heading, _, gone)) = open.pop_if(|(_, above, _)| *above >= level) {
                empty.extend(gone.map(|rule| (heading, rule)));
            }
            open.push((node, level, None));
            inside_end = page.end(node);
        } else if at >= inside_end
            && (page.own(node).text > 0 && page.tree.text(node).is_some()
                || matches!(tag, "img" | "video" | "iframe" | "math" | "table" | "hr"))
        {
            open.clear();
        }
        at += 1;
    }
    empty.extend(open.into_iter().filter_map(|(heading, _, gone)| Some((heading, gone?))));
    for (heading, rule) in empty {
        if page.tree.tag(heading) != "h1" {
            remove(removed, heading, rule);
        }
    }
}
