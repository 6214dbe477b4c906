//! Main content: which elements are what the reader came for, and which are boilerplate.
//!
//! In: the tree, the page's address and its JSON-LD. Out: for every node the rule that removes it,
//! if one does. Two candidates are made over the one tree:
//!
//! - *marked*: the part that the page marks as main ([`candidates::marked`]), without landmarks,
//!   elements named as boilerplate ([`prune`]), and sections with a telling heading ([`sections`]);
//! - *article*: the elements with the most paragraphs ([`scoring`]), tidied of link lists and forms
//!   ([`tidy`]).
//!
//! [`arbiter`] chooses, by what kind of page it is ([`page_type`]) and by how far the two agree. What
//! is chosen is trimmed: teasers and bylines ([`teasers`], [`beside`]), what stands around an
//! article ([`ends`]), its title ([`title`]), and headings that are left with nothing ([`empty`]).
//!
//! Promises: a page with visible text is never empty; code, data tables, the main heading and
//! anything that is more than half of the text never go by a name alone; time is linear.

mod arbiter;
mod beside;
mod candidates;
mod empty;
mod ends;
mod grid;
mod lines;
mod measure;
mod names;
mod page_type;
mod phrases;
mod pictures;
mod prune;
mod scoring;
mod sections;
mod teasers;
mod tidy;
mod title;

use std::collections::HashSet;

pub(super) use self::measure::Removed;
use self::measure::{Page, remove};
use self::page_type::Guess;
use super::hidden::hidden_by;
use super::linked_data::LinkedData;
use super::tree::{NodeId, Step, Tree};
use crate::model::{PageType, WebUrl};

/// What is kept of a page.
#[derive(Default)]
pub(super) struct Selection {
    /// By node: the rule that removes it, with all in it.
    pub(super) removed: Removed,
    /// Whether no main content was found although it was looked for.
    pub(super) is_whole: bool,
    /// Pictures whose alternative text only repeats what stands beside them.
    pub(super) captioned: HashSet<NodeId>,
    /// The page's type, where the choice asked for it.
    pub(super) page_type: Option<PageType>,
}

impl Selection {
    /// Keeps `kept` with all in and above them, and removes the rest by `rule`. Where `kept` is
    /// empty, everything is kept.
    pub(super) fn keeping(tree: &Tree, kept: &[NodeId], rule: &'static str) -> Self {
        let mut selection = whole_page(tree);
        selection.is_whole = kept.is_empty();
        if kept.is_empty() {
            return selection;
        }
        let mut is_kept = vec![false; tree.len()];
        let mut is_above = vec![false; tree.len()];
        for node in kept {
            mark(&mut is_kept, *node);
            for above in tree.ancestors(*node) {
                if is_above.get(above.index()) == Some(&true) {
                    break;
                }
                mark(&mut is_above, above);
            }
        }
        let mut step = Some(Step::Enter(NodeId::DOCUMENT));
        while let Some(now) = step {
            step = tree.after(now, NodeId::DOCUMENT);
            let Step::Enter(node) = now else { continue };
            if is_kept.get(node.index()) == Some(&true) {
                step = tree.after(Step::Leave(node), NodeId::DOCUMENT);
            } else if is_above.get(node.index()) != Some(&true) {
                // What no reader sees goes by the rule that says so.
                if hidden_by(tree, node).is_none() {
                    selection.remove(node, rule);
                }
                step = tree.after(Step::Leave(node), NodeId::DOCUMENT);
            }
        }
        selection
    }

    fn remove(&mut self, node: NodeId, rule: &'static str) {
        remove(&mut self.removed, node, rule);
    }
}

fn mark(marks: &mut [bool], node: NodeId) {
    if let Some(slot) = marks.get_mut(node.index()) {
        *slot = true;
    }
}

/// Keeps everything.
pub(super) fn whole_page(tree: &Tree) -> Selection {
    Selection { removed: vec![None; tree.len()], ..Selection::default() }
}

/// Looks for the main content. `url` and `data` help to tell what kind of page it is.
pub(super) fn select(
    tree: &Tree,
    url: Option<&WebUrl>,
    data: &LinkedData,
    title: Option<&str>,
) -> Selection {
    let Some(page) = Page::read(tree) else { return whole_page(tree) };
    let stated = Guess::stated(&page, url, data);
    let (mut removed, kind) = arbiter::choose(&page, stated);
    if matches!(kind, Guess::Article | Guess::Page | Guess::Documentation) {
        teasers::prune(&page, &mut removed);
        beside::prune(&page, stated, &mut removed);
    }
    if matches!(kind, Guess::Article | Guess::Page) {
        ends::prune(&page, &mut removed);
    }
    if matches!(stated, Some(Guess::Article | Guess::Page | Guess::Forum)) {
        title::prune(&page, title, &mut removed);
    }
    empty::prune(&page, &mut removed);
    let page_type = Some(kind.page_type(url));
    if candidates::is_empty(&page, &removed) {
        return Selection { is_whole: true, page_type, ..whole_page(tree) };
    }
    pictures::prune(&page, &mut removed);
    let captioned = pictures::captioned(&page, &removed);
    Selection { removed, captioned, page_type, ..Selection::default() }
}

#[cfg(test)]
mod tests;
