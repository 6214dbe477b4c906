//! Takes out what is boilerplate on any kind of page, by landmarks, roles and whole names.

use super::measure::{Facts, Measures, Next, Page, Removed, remove};
use super::names::{Hint, Kind};
use super::page_type::Guess;
use crate::extract::tree::NodeId;

/// Least text of a page beside its cookie notice, in characters.
const MIN_PAGE_CHARS: u32 = 250;

/// Removes boilerplate from `root`.
pub(super) fn prune(page: &Page<'_>, root: NodeId, kind: Guess, removed: &mut Removed) {
    let measures = page.measure(removed);
    let total = measures.of(root).text;
    page.visit(root, removed, |node, removed| {
        if node == root {
            return Next::Into;
        }
        let Some(rule) = boilerplate(page, &measures, node, (total, kind)) else {
            return Next::Into;
        };
        remove(removed, node, rule);
        Next::Behind
    });
}

fn boilerplate(
    page: &Page<'_>,
    measures: &Measures,
    node: NodeId,
    (total, kind): (u32, Guess),
) -> Option<&'static str> {
    let element = page.tree.element(node).filter(|element| element.is_html())?;
    let facts = measures.of(node);
    let tag = element.tag();
    let is_most = u64::from(facts.text) * 2 > u64::from(total);
    // A notice may be longer than a short page.
    let rest = total.saturating_sub(facts.text);
    if page.naming(node).part == Some(Kind::Consent) && rest > MIN_PAGE_CHARS {
        return Some(Kind::Consent.rule());
    }
    if is_most || page.is_shielded(node) {
        return None;
    }
    if kind == Guess::Forum && page.naming(node).whole == Some(Kind::Comments) {
        return None;
    }
    let holds_content = facts.main_headings > 0 || facts.codes > 0 || facts.tables > 1;
    if is_bare_control(page, measures, node, tag) {
        return Some("content.control");
    }
    if kind == Guess::Forum && is_statistic(page, node, tag) {
        return Some("content.profile");
    }
    let by_landmark = landmark(page, node, tag, element.attribute("role"));
    if let Some(rule) = by_landmark {
        let is_safe = !holds_content
            || matches!(rule, "content.navigation" | "content.dialog" | "content.search");
        return is_safe.then_some(rule);
    }
    if holds_content {
        return None;
    }
    by_name(page, measures, node, (tag, total, kind))
        .or_else(|| link_list(tag, facts, total).filter(|_| kind != Guess::Listing))
}

/// A link that does something on the page instead of leading somewhere, and stands by itself.
fn is_bare_control(page: &Page<'_>, measures: &Measures, node: NodeId, tag: &str) -> bool {
    let tree = page.tree;
    if tag != "a" || measures.of(node).text > 30 {
        return false;
    }
    let href = tree.attribute(node, "href").unwrap_or_default().trim();
    let is_action = href == "#"
        || href.starts_with("javascript:")
        || tree.attribute(node, "role") == Some("button") && href.starts_with('#');
    let around = tree.parent(node).map(|parent| measures.of(parent)).unwrap_or_default();
    is_action && around.plain() < 10
}

/// Where a person is named beside what they wrote: the list of their posts, ranks and badges.
fn is_statistic(page: &Page<'_>, node: NodeId, tag: &str) -> bool {
    let is_person = |node: NodeId| page.naming(node).has(Hint::Person);
    match tag {
        "dl" | "ul" | "ol" => page.tree.ancestors(node).take(3).any(is_person),
        "dd" => page.tree.parent(node).is_some_and(is_person),
        _ => page.naming(node).has(Hint::Signature),
    }
}

fn is_in_article(page: &Page<'_>, node: NodeId) -> bool {
    let inside = |above: NodeId| {
        matches!(page.tree.tag(above), "article" | "section" | "blockquote" | "figure" | "main")
    };
    page.tree.ancestors(node).any(inside)
}

fn landmark(page: &Page<'_>, node: NodeId, tag: &str, role: Option<&str>) -> Option<&'static str> {
    match role {
        Some("navigation" | "menubar" | "menu" | "toolbar") => return Some("content.navigation"),
        Some("search") => return Some("content.search"),
        Some("banner") => return Some("content.site_header"),
        Some("contentinfo") => return Some("content.site_footer"),
        Some("dialog" | "alertdialog") => return Some("content.dialog"),
        Some("complementary") => return Some("content.aside"),
        _ => {}
    }
    match tag {
        "nav" => Some("content.navigation"),
        "search" => Some("content.search"),
        "dialog" => Some("content.dialog"),
        "header" if !is_in_article(page, node) => Some("content.site_header"),
        "footer" => Some("content.site_footer"),
        "aside" if !is_in_article(page, node) => Some("content.aside"),
        _ => None,
    }
}

fn by_name(
    page: &Page<'_>,
    measures: &Measures,
    node: NodeId,
    (tag, total, page_type): (&str, u32, Guess),
) -> Option<&'static str> {
    if !matches!(
        tag,
        "div"
            | "ul"
            | "ol"
            | "section"
            | "aside"
            | "table"
            | "p"
            | "form"
            | "span"
            | "footer"
            | "header"
            | "dl"
            | "li"
            | "iframe"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "a"
    ) {
        return None;
    }
    let naming = page.naming(node);
    let facts = measures.of(node);
    let is_small = |share: u32| facts.text * share <= total;
    let kind = naming
        .whole
        .or_else(|| naming.part.filter(|kind| is_small(5) || *kind == Kind::Consent))?;
    let is_out = match kind {
        Kind::Header => {
            naming.whole.is_some()
                && facts.sentences < 3
                && is_small(10)
                && facts.link_density() > 0.5
        }
        Kind::About => is_small(10) && facts.text < 200 && facts.link_density() > 0.5,
        Kind::Control | Kind::Unseen | Kind::Comments => is_small(5),
        Kind::Aside | Kind::Navigation => is_small(3),
        Kind::Consent => true,
        Kind::Ratings => page_type == Guess::Product && is_small(2),
        Kind::Gallery => false,
        _ => is_small(4),
    };
    is_out.then(|| kind.rule())
}

/// A list or block of short links with next to nothing between them. One that is a good part of
/// the page is what the page is for.
fn link_list(tag: &str, facts: Facts, total: u32) -> Option<&'static str> {
    let is_block = matches!(tag, "ul" | "ol" | "div" | "section" | "table" | "p");
    let is_links = facts.links >= 4 && facts.linked * 10 >= facts.text * 9 && facts.tables == 0;
    let is_short = facts.linked < facts.links * 22;
    let is_part = facts.text.saturating_mul(3) < total;
    (is_block && is_links && is_short && is_part).then_some("content.link_list")
}
