//! Finds the article of a page by its paragraphs, as reading views do.
//!
//! Every paragraph gives points to the elements around it; an element loses them by the share of
//! its text that is in links. The best element and those of its siblings that do nearly as well
//! are the article (the method of Arc90's Readability).

use super::measure::{Facts, Measures, Page, Removed, is_removed};
use super::names::{Hint, Kind};
use crate::extract::tree::NodeId;

/// How far the names of elements are trusted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// What a name calls boilerplate is out.
    Names,
    /// A name counts for or against an element.
    Weights,
    /// Text alone counts.
    Text,
}

/// Points by node.
struct Scores<'p, 'a> {
    page: &'p Page<'a>,
    measures: &'p Measures,
    points: Vec<Option<f64>>,
    trust: Trust,
}

/// How many elements above a paragraph get points.
const LEVELS: usize = 5;

/// Shortest text that is a paragraph, in characters.
const MIN_PARAGRAPH_CHARS: u32 = 25;

/// The elements that make up the article, all children of one; empty where nothing has points.
pub(super) fn article(
    page: &Page<'_>,
    measures: &Measures,
    removed: &Removed,
    trust: Trust,
) -> Vec<NodeId> {
    let mut scores = Scores { page, measures, points: vec![None; page.tree.len()], trust };
    for node in page.kept(page.body, removed) {
        scores.read(node, removed);
    }
    let best = scores.best(removed);
    let Some(best) = best else { return Vec::new() };
    let best = scores.climb(best);
    scores.with_siblings(best, removed)
}

/// Whether an element is laid out as a block that a paragraph cannot hold.
pub(super) fn is_block(tag: &str) -> bool {
    matches!(
        tag,
        "blockquote"
            | "dl"
            | "div"
            | "ol"
            | "p"
            | "pre"
            | "table"
            | "ul"
            | "section"
            | "article"
            | "main"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "form"
            | "figure"
            | "center"
            | "header"
            | "footer"
            | "aside"
            | "nav"
            | "hr"
            | "fieldset"
            | "details"
            | "address"
            | "tr"
            | "td"
            | "th"
            | "tbody"
            | "li"
            | "dt"
            | "dd"
            | "img"
    )
}

impl Scores<'_, '_> {
    fn read(&mut self, node: NodeId, removed: &Removed) {
        let tag = self.page.tree.tag(node);
        let facts = self.measures.of(node);
        if facts.text < MIN_PARAGRAPH_CHARS {
            return;
        }
        match tag {
            "section" | "h2" | "h3" | "h4" | "h5" | "h6" | "p" | "td" | "pre" => {
                // The paragraphs of a cell that has some count for themselves.
                if tag != "td" || !self.has_block_child(node) {
                    self.give(self.page.tree.parent(node), facts);
                }
                if tag == "td" {
                    self.read_runs(node, removed);
                }
            }
            "div" | "body" | "center" | "article" | "main" | "form" | "font" | "span"
            | "blockquote" | "dd" => {
                self.read_runs(node, removed);
            }
            _ => {}
        }
    }

    /// Gives points for the runs of inline content that stand directly in `node`.
    fn read_runs(&mut self, node: NodeId, removed: &Removed) {
        let tree = self.page.tree;
        let is_inline = matches!(tree.tag(node), "span" | "font");
        let mut runs = Vec::new();
        let mut run = Facts::default();
        let mut breaks = 0;
        let mut has_blocks = false;
        for child in tree.children(node) {
            if is_removed(removed, child) {
                continue;
            }
            let tag = tree.tag(child);
            let facts = self.measures.of(child);
            if tag == "br" {
                breaks += 1;
                continue;
            }
            if is_block(tag) || self.has_block_child(child) {
                has_blocks = true;
                runs.push(std::mem::take(&mut run));
                breaks = 0;
                continue;
            }
            if facts.text == 0 {
                continue;
            }
            if breaks > 1 {
                has_blocks = true;
                runs.push(std::mem::take(&mut run));
            }
            breaks = 0;
            run.text += facts.text;
            run.commas += facts.commas;
            run.linked += facts.linked;
        }
        runs.push(run);
        if is_inline && (!has_blocks || runs.len() < 3) || tree.tag(node) == "td" && !has_blocks {
            return;
        }
        let is_paragraph = !has_blocks && run.link_density() < 0.25;
        for run in runs.into_iter().filter(|run| run.text >= MIN_PARAGRAPH_CHARS) {
            self.give(if is_paragraph { tree.parent(node) } else { Some(node) }, run);
        }
    }

    fn has_block_child(&self, node: NodeId) -> bool {
        let tree = self.page.tree;
        tree.element(node).is_some() && tree.children(node).any(|child| is_block(tree.tag(child)))
    }

    fn give(&mut self, first: Option<NodeId>, paragraph: Facts) {
        let commas = f64::from(paragraph.commas);
        let points = 2.0 + commas + f64::from(paragraph.text / 100).min(3.0);
        let mut above = first;
        for level in 0..LEVELS {
            let Some(node) = above else { return };
            if self.page.tree.element(node).is_none() || node == NodeId::DOCUMENT {
                return;
            }
            let share = match level {
                0 => 1.0,
                1 => 2.0,
                _ => 3.0 * f64::from(u32::try_from(level).unwrap_or(u32::MAX)),
            };
            let start = self.start(node);
            if let Some(slot) = self.points.get_mut(node.index()) {
                *slot.get_or_insert(start) += points / share;
            }
            above = self.page.tree.parent(node).filter(|_| node != self.page.body);
        }
    }

    /// The points that an element has by what it is.
    fn start(&self, node: NodeId) -> f64 {
        let by_tag = match self.page.tree.tag(node) {
            "div" => 5.0,
            "pre" | "td" | "blockquote" => 3.0,
            "address" | "ol" | "ul" | "dl" | "dd" | "dt" | "li" | "form" => -3.0,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "th" => -5.0,
            _ => 0.0,
        };
        by_tag + weight(self.page, node, self.trust)
    }

    fn value(&self, node: NodeId) -> Option<f64> {
        let points = self.points.get(node.index()).copied().flatten()?;
        Some(points * (1.0 - self.measures.of(node).link_density()))
    }

    /// The best element; where three others nearly as good share an element above, that one.
    fn best(&self, removed: &Removed) -> Option<NodeId> {
        let mut top: Vec<(f64, NodeId)> = Vec::new();
        for node in &self.page.kept(self.page.body, removed) {
            let Some(value) = self.value(*node) else { continue };
            let at = top.iter().position(|(other, _)| value > *other).unwrap_or(top.len());
            if at < LEVELS {
                top.insert(at, (value, *node));
                top.truncate(LEVELS);
            }
        }
        let (best_value, best) = *top.first()?;
        let rivals: Vec<Vec<NodeId>> = top
            .iter()
            .skip(1)
            .filter(|(value, _)| *value >= best_value * 0.75)
            .map(|(_, node)| self.page.tree.ancestors(*node).collect())
            .collect();
        if rivals.len() < 3 {
            return Some(best);
        }
        let shared = self
            .page
            .tree
            .ancestors(best)
            .take_while(|above| *above != self.page.body)
            .find(|above| rivals.iter().filter(|rival| rival.contains(above)).count() >= 3);
        Some(shared.unwrap_or(best))
    }

    /// Moves up while the element around does better, or holds nothing else.
    fn climb(&self, best: NodeId) -> NodeId {
        let tree = self.page.tree;
        let mut top = best;
        let mut before = self.value(best).unwrap_or(0.0);
        let least = before / 3.0;
        for above in tree.ancestors(best) {
            if above == self.page.body || tree.tag(above) == "html" {
                break;
            }
            let Some(value) = self.value(above) else { continue };
            if value < least {
                break;
            }
            if value > before {
                top = above;
                break;
            }
            before = value;
        }
        let mut around = tree.parent(top);
        while let Some(above) = around.filter(|above| *above != self.page.body) {
            if self.measures.of(above).text != self.measures.of(top).text
                || tree.tag(above) == "html"
            {
                break;
            }
            top = above;
            around = tree.parent(above);
        }
        top
    }

    /// `best` and those of its siblings that belong to it.
    fn with_siblings(&self, best: NodeId, removed: &Removed) -> Vec<NodeId> {
        let tree = self.page.tree;
        let Some(parent) = tree.parent(best).filter(|_| best != self.page.body) else {
            return vec![best];
        };
        let value = self.value(best).unwrap_or(0.0);
        let least = (value * 0.2).max(10.0);
        let class = tree.attribute(best, "class").filter(|class| !class.is_empty());
        let belongs = |node: &NodeId| {
            if *node == best {
                return true;
            }
            if is_removed(removed, *node) {
                return false;
            }
            let is_alike = class.is_some() && tree.attribute(*node, "class") == class;
            let bonus = if is_alike { value * 0.2 } else { 0.0 };
            if self.value(*node).is_some_and(|own| own + bonus >= least) {
                return true;
            }
            let facts = self.measures.of(*node);
            tree.tag(*node) == "p"
                && (facts.text > 80 && facts.link_density() < 0.25
                    || facts.text > 0
                        && facts.text <= 80
                        && facts.linked == 0
                        && facts.sentences > 0)
        };
        tree.children(parent).filter(belongs).collect()
    }
}

/// The points that an element has by its names.
pub(super) fn weight(page: &Page<'_>, node: NodeId, trust: Trust) -> f64 {
    if trust == Trust::Text {
        return 0.0;
    }
    let naming = page.naming(node);
    let is_negative = naming.part.is_some_and(|kind| {
        !matches!(
            kind,
            Kind::Header
                | Kind::Navigation
                | Kind::Dialog
                | Kind::Control
                | Kind::Ratings
                | Kind::Gallery
        )
    });
    let good = if naming.has(Hint::Content) { 25.0 } else { 0.0 };
    let bad = if is_negative { 25.0 } else { 0.0 };
    good - bad
}
