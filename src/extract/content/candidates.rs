//! The candidates for main content: each says of every node whether it stays.

use std::collections::HashMap;

use super::measure::{Measures, Next, Page, Removed, is_removed, remove};
use super::names::{Hint, Kind};
use super::page_type::Guess;
use super::scoring::Trust;
use super::{Selection, prune, scoring, sections, tidy};
use crate::extract::tree::NodeId;

/// What stands outside of the main content, by the ledger's name.
pub(super) const OUTSIDE: &str = "content.outside_main";

/// Shortest article that is taken without another attempt, in characters.
const MIN_ARTICLE_CHARS: u32 = 500;

/// The part of the page that its author marks as main, or all of it, without boilerplate; and
/// the element so marked.
pub(super) fn marked(page: &Page<'_>, kind: Guess) -> (Removed, Option<NodeId>) {
    let mut removed = vec![None; page.tree.len()];
    sections::prune(page, kind, &mut removed);
    prune::prune(page, page.body, kind, &mut removed);
    let measures = page.measure(&removed);
    let root = main_root(page, &measures, &removed);
    if let Some(root) = root {
        keep_only(page, &[root], &mut removed);
    }
    (removed, root)
}

/// The `article` that holds most of the text, else the `main` that holds a fifth of it.
fn main_root(page: &Page<'_>, measures: &Measures, removed: &Removed) -> Option<NodeId> {
    let tree = page.tree;
    let kept = page.kept(page.body, removed);
    let total = measures.of(page.body).text;
    let largest = |is_wanted: &dyn Fn(NodeId) -> bool, share: u32| {
        let wanted = kept.iter().copied().filter(|node| is_wanted(*node));
        // Of equals the first, which is the outermost.
        let largest = wanted.rev().max_by_key(|node| measures.of(*node).text)?;
        (measures.of(largest).text.saturating_mul(share) > total).then_some(largest)
    };
    let is_article = |node: NodeId| {
        tree.tag(node) == "article" || tree.attribute(node, "itemprop") == Some("articleBody")
    };
    let is_main =
        |node: NodeId| tree.tag(node) == "main" || tree.attribute(node, "role") == Some("main");
    largest(&is_article, 2).or_else(|| largest(&is_main, 5))
}

/// The page's article, found by its paragraphs. Where little is found, names are trusted less and
/// the longest find is taken.
pub(super) fn article(page: &Page<'_>, kind: Guess) -> Removed {
    let mut teasers = vec![None; page.tree.len()];
    sections::prune(page, kind, &mut teasers);
    let mut best: Option<(u32, Removed)> = None;
    for trusts in [Trust::Names, Trust::Weights, Trust::Text] {
        let mut removed = teasers.clone();
        if trusts == Trust::Names {
            remove_unlikely(page, kind, &mut removed);
        }
        let measures = page.measure(&removed);
        let kept = scoring::article(page, &measures, &removed, trusts);
        keep_only(page, &kept, &mut removed);
        for root in &kept {
            tidy::tidy(page, *root, &mut removed, trusts);
        }
        let text = page.measure(&removed).of(page.body).text;
        if best.as_ref().is_none_or(|(most, _)| text > most.saturating_mul(2)) {
            best = Some((text, removed));
        }
        if text >= MIN_ARTICLE_CHARS {
            break;
        }
    }
    best.map(|(_, removed)| removed).unwrap_or_default()
}

/// Removes what is unlikely to be content by role or name.
fn remove_unlikely(page: &Page<'_>, kind: Guess, removed: &mut Removed) {
    page.visit(page.body, removed, |node, removed| {
        let Some(rule) = unlikely(page, node, kind) else { return Next::Into };
        remove(removed, node, rule);
        Next::Behind
    });
}

fn unlikely(page: &Page<'_>, node: NodeId, page_type: Guess) -> Option<&'static str> {
    let tag = page.tree.tag(node);
    match page.tree.attribute(node, "role") {
        Some("menu" | "menubar" | "navigation") => return Some("content.navigation"),
        Some("complementary") => return Some("content.aside"),
        Some("alert" | "alertdialog" | "dialog") => return Some("content.dialog"),
        _ => {}
    }
    let naming = page.naming(node);
    let is_open =
        !matches!(tag, "body" | "a" | "") && !naming.has(Hint::Content) && !page.is_shielded(node);
    let kind = naming.part.filter(|kind| {
        is_open
            && !matches!(
                kind,
                Kind::About | Kind::Control | Kind::Newsletter | Kind::Unseen | Kind::Gallery
            )
            && (*kind != Kind::Ratings || page_type == Guess::Product)
    })?;
    (!page.is_in_table(node)).then(|| kind.rule())
}

/// Removes all that is neither in nor above one of `roots`; nothing where there are none.
fn keep_only(page: &Page<'_>, roots: &[NodeId], removed: &mut Removed) {
    if roots.is_empty() {
        return;
    }
    let kept = Selection::keeping(page.tree, roots, OUTSIDE);
    for (slot, outside) in removed.iter_mut().zip(kept.removed) {
        *slot = slot.or(outside);
    }
}

/// `article` with what it lost of `main`'s prose: from the main heading to its own end.
pub(super) fn complete(page: &Page<'_>, article: Removed, main: &Removed) -> Removed {
    let tree = page.tree;
    let mut is_kept = vec![false; tree.len()];
    let mut ends: Option<(usize, usize)> = None;
    for node in page.kept(page.body, &article) {
        set(&mut is_kept, node);
        if tree.text(node).is_some_and(|text| !text.trim().is_empty()) {
            let at = page.start(node);
            ends = Some((ends.map_or(at, |(first, _)| first), at));
        }
    }
    let Some(range) = ends else { return article };
    let roots = lost_prose(page, main, range, &is_kept);
    if roots.is_empty() {
        return article;
    }
    for node in roots.iter().flat_map(|root| tree.ancestors(*root)) {
        set(&mut is_kept, node);
    }
    let mut merged = article;
    let mut starts = roots.into_iter().peekable();
    let mut root_end = 0;
    for node in &page.order {
        if starts.next_if_eq(node).is_some() {
            root_end = page.end(*node);
        }
        let is_in_root = page.start(*node) < root_end;
        let Some(slot) = merged.get_mut(node.index()) else { continue };
        if is_kept.get(node.index()) == Some(&true) {
            *slot = None;
        } else if is_in_root {
            *slot = main.get(node.index()).copied().flatten();
        } else {
            slot.get_or_insert(OUTSIDE);
        }
    }
    merged
}

fn set(marks: &mut [bool], node: NodeId) {
    if let Some(slot) = marks.get_mut(node.index()) {
        *slot = true;
    }
}

/// Least characters of a block that is prose by itself.
const MIN_PROSE_CHARS: u32 = 60;

/// Blocks of prose, code and data in `main` between its heading and the end of the article that
/// are not kept yet, in document order.
fn lost_prose(
    page: &Page<'_>,
    main: &Removed,
    (first, last): (usize, usize),
    is_kept: &[bool],
) -> Vec<NodeId> {
    let tree = page.tree;
    let measures = page.measure(main);
    let candidates = page.kept(page.body, main);
    let heading =
        candidates.iter().rfind(|node| tree.tag(**node) == "h1" && page.start(**node) < first);
    let from = heading.map_or(first, |heading| page.start(*heading));
    let mut found: Vec<NodeId> = Vec::new();
    for node in candidates {
        let at = page.start(node);
        let is_inside = found.last().is_some_and(|root| page.is_within(node, *root));
        if at < from || at > last || is_inside || is_kept.get(node.index()) == Some(&true) {
            continue;
        }
        if is_prose(page, &measures, node) {
            found.push(node);
        }
    }
    found
}

fn is_prose(page: &Page<'_>, measures: &Measures, node: NodeId) -> bool {
    let tree = page.tree;
    let facts = measures.of(node);
    let tag = tree.tag(node);
    if matches!(tag, "pre" | "table") {
        return page.is_shielded(node) && facts.text > 0;
    }
    let is_block = matches!(
        tag,
        "p" | "li" | "div" | "blockquote" | "h2" | "h3" | "h4" | "dd" | "td" | "section" | "span"
    );
    is_block
        && facts.text >= MIN_PROSE_CHARS
        && facts.sentences > 0
        && facts.link_density() < 0.3
        && !tree
            .children(node)
            .any(|child| scoring::is_block(tree.tag(child)) && tree.tag(child) != "img")
        && !tree.ancestors(node).any(|above| tree.tag(above) == "figure")
}

/// Fewest `article` elements beside each other that are teasers, not the page's article.
const MIN_CARDS: usize = 5;

/// Characters in `article` elements that stand beside others like them: the teasers of a page
/// that lists others.
pub(super) fn card_text(page: &Page<'_>, removed: &Removed) -> u32 {
    let tree = page.tree;
    let measures = page.measure(removed);
    let mut by_parent: HashMap<NodeId, (usize, u32)> = HashMap::new();
    for node in page.kept(page.body, removed) {
        if tree.tag(node) != "article" {
            continue;
        }
        // Each may stand in an item of a list or grid of its own.
        let parent = tree.parent(node).map(|parent| {
            let is_alone =
                tree.children(parent).filter(|child| tree.tag(*child) == "article").take(2).count()
                    == 1;
            tree.parent(parent).filter(|_| is_alone).unwrap_or(parent)
        });
        let Some(parent) = parent else { continue };
        let (count, text) = by_parent.entry(parent).or_default();
        *count += 1;
        *text += measures.of(node).text;
    }
    by_parent.values().filter(|(count, _)| *count >= MIN_CARDS).map(|(_, text)| text).sum()
}

/// Whether nothing that shows text is left.
pub(super) fn is_empty(page: &Page<'_>, removed: &Removed) -> bool {
    is_removed(removed, page.body) || page.measure(removed).of(page.body).text == 0
}
