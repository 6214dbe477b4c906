//! The lines of what is kept: runs of text that stand together in one block.

use super::measure::{Facts, Measures, Page, Removed};
use super::scoring::is_block;
use crate::extract::blocks::heading_level;
use crate::extract::tree::NodeId;

/// A run of text in one block, up to an empty line.
#[derive(Debug)]
pub(super) struct Line {
    /// The block that it stands in.
    pub(super) block: NodeId,
    /// Its text nodes, in document order.
    pub(super) nodes: Vec<NodeId>,
    /// What they hold.
    pub(super) facts: Facts,
}

/// The lines that `removed` leaves of the page, in document order.
pub(super) fn lines(page: &Page<'_>, removed: &Removed) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    let mut blocks = vec![page.body; page.tree.len()];
    let mut link_end = 0;
    let mut breaks = 0;
    for node in page.kept(page.body, removed) {
        let tag = page.tree.tag(node);
        let around = page.tree.parent(node).and_then(|parent| blocks.get(parent.index()).copied());
        let block = if is_block(tag) { node } else { around.unwrap_or(page.body) };
        if let Some(slot) = blocks.get_mut(node.index()) {
            *slot = block;
        }
        match tag {
            "a" => link_end = link_end.max(page.end(node)),
            "br" => breaks += 1,
            _ => {}
        }
        let mut facts = page.own(node);
        if page.tree.text(node).is_none() || facts.text == 0 {
            continue;
        }
        facts.linked = if page.start(node) < link_end { facts.text } else { 0 };
        match found.last_mut().filter(|line| line.block == block && breaks < 2) {
            Some(line) => {
                line.nodes.push(node);
                line.facts.add(&facts);
            }
            None => found.push(Line { block, nodes: vec![node], facts }),
        }
        breaks = 0;
    }
    found
}

impl Line {
    /// Its text, white space as it is written.
    pub(super) fn text(&self, page: &Page<'_>) -> String {
        self.nodes.iter().filter_map(|node| page.tree.text(*node)).collect()
    }

    /// Whether it is a heading, or stands in one.
    pub(super) fn is_heading(&self, page: &Page<'_>) -> bool {
        heading_level(page.tree.tag(self.block)).is_some()
    }
}

/// Takes `lines` out, each by its rule, and with them the elements that show nothing else.
pub(super) fn take_out<'l>(
    page: &Page<'_>,
    removed: &mut Removed,
    lines: impl IntoIterator<Item = (&'l Line, &'static str)>,
) {
    let before: Measures = page.measure(removed);
    let mut without = removed.clone();
    for (line, rule) in lines {
        for node in &line.nodes {
            super::remove(&mut without, *node, rule);
        }
    }
    let after = page.measure(&without);
    // The rule of the last text in an element, seen from the end of the page.
    let mut rules: Removed = without;
    for node in page.order.iter().rev() {
        let rule = rules.get(node.index()).copied().flatten();
        let parent = page.tree.parent(*node).and_then(|parent| rules.get_mut(parent.index()));
        if let (Some(slot), Some(rule)) = (parent, rule) {
            slot.get_or_insert(rule);
        }
    }
    for node in page.kept(page.body, removed) {
        let is_emptied = before.of(node).text > 0 && after.of(node).text == 0 && node != page.body;
        if let Some(rule) = rules.get(node.index()).copied().flatten().filter(|_| is_emptied) {
            super::remove(removed, node, rule);
        }
    }
}
