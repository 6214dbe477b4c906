//! Takes out of an article what does not belong to its text: conditional cleaning.

use super::measure::{Facts, Measures, Next, Page, Removed, remove};
use super::names::Kind;
use super::scoring::{Trust, weight};
use crate::extract::tree::NodeId;

/// Removes from `root` blocks that hold links, fields, pictures or headings rather than text.
pub(super) fn tidy(page: &Page<'_>, root: NodeId, removed: &mut Removed, trust: Trust) {
    let measures = page.measure(removed);
    page.visit(root, removed, |node, removed| {
        if node == root {
            return Next::Into;
        }
        let tag = page.tree.tag(node);
        let is_checked =
            matches!(tag, "form" | "fieldset" | "table" | "ul" | "ol" | "div" | "section");
        let rule = always(page, node, tag, &measures).or_else(|| {
            (is_checked && is_clutter(page, &measures, node, trust)).then_some("content.clutter")
        });
        let Some(rule) = rule else { return Next::Into };
        remove(removed, node, rule);
        Next::Behind
    });
}

/// Elements that an article's text does not need, whatever they hold.
fn always(page: &Page<'_>, node: NodeId, tag: &str, measures: &Measures) -> Option<&'static str> {
    let naming = page.naming(node);
    match tag {
        "footer" => Some("content.site_footer"),
        "aside" => Some("content.aside"),
        "h1" | "h2" if weight(page, node, Trust::Weights) < 0.0 => Some("content.heading"),
        _ if naming.part == Some(Kind::Sharing)
            && measures.of(node).text < 500
            && tag != "body" =>
        {
            Some("content.sharing")
        }
        _ => None,
    }
}

fn is_clutter(page: &Page<'_>, measures: &Measures, node: NodeId, trust: Trust) -> bool {
    let facts = measures.of(node);
    let tag = page.tree.tag(node);
    if page.is_shielded(node) {
        return false;
    }
    let weight = weight(page, node, trust);
    if weight < 0.0 {
        return true;
    }
    if facts.commas >= 10 {
        return false;
    }
    holds_little_text(page, node, tag, facts, weight)
}

/// The thresholds are those of Readability's conditional cleaning.
fn holds_little_text(page: &Page<'_>, node: NodeId, tag: &str, facts: Facts, weight: f64) -> bool {
    let is_list =
        matches!(tag, "ul" | "ol") || f64::from(facts.list_text) > 0.9 * f64::from(facts.text);
    let is_in_figure = page.tree.ancestors(node).any(|above| page.tree.tag(above) == "figure");
    let headings =
        if facts.text == 0 { 0.0 } else { f64::from(facts.heading_text) / f64::from(facts.text) };
    let links = facts.link_density();
    let paragraphs = f64::from(facts.paragraphs);
    let text_share = f64::from(facts.text);
    if is_list && facts.items > 0 && facts.items == facts.images {
        return false;
    }
    (!is_in_figure && facts.images > 1 && paragraphs / f64::from(facts.images) < 0.5)
        || (!is_list && f64::from(facts.items) - 100.0 > paragraphs)
        || f64::from(facts.inputs) > (paragraphs / 3.0).floor()
        || (!is_list
            && !is_in_figure
            && headings < 0.9
            && facts.text < 25
            && (facts.images == 0 || facts.images > 2)
            && links > 0.0)
        || (!is_list && weight < 25.0 && links > 0.2)
        || (weight >= 25.0 && links > 0.5)
        || (facts.images == 0 && text_share == 0.0)
}
