//! Takes out of an article what stands beside its text: slide shows with their captions, and the
//! lines with author, date and tags, which are metadata.

use super::measure::{Facts, Next, Page, Removed, remove};
use super::names::{Kind, Naming};
use super::page_type::Guess;

/// Longest line about the article, in characters.
const MAX_LINE_CHARS: u32 = 150;

/// Removes from what is kept the elements that are named so, unless they are much of it. Slide
/// shows go from a page that states itself to be an article: on others they are the content.
pub(super) fn prune(page: &Page<'_>, stated: Option<Guess>, removed: &mut Removed) {
    let measures = page.measure(removed);
    let total = measures.of(page.body).text;
    page.visit(page.body, removed, |node, removed| {
        let facts = measures.of(node);
        let is_block = matches!(
            page.tree.tag(node),
            "div" | "p" | "span" | "ul" | "ol" | "section" | "header" | "time" | "aside" | "figure"
        );
        let beside = beside(page.naming(node), facts, stated).filter(|_| is_block);
        let fits = facts.text.saturating_mul(3) < total && facts.main_headings == 0;
        let Some(beside) = beside.filter(|_| fits && !page.is_shielded(node)) else {
            return Next::Into;
        };
        remove(removed, node, beside.rule());
        Next::Behind
    });
}

fn beside(naming: Naming, facts: Facts, stated: Option<Guess>) -> Option<Kind> {
    let is_line = facts.text < MAX_LINE_CHARS && facts.headings == 0;
    let is_shown = facts.text > 0 && stated == Some(Guess::Article);
    let line = naming.whole.filter(|kind| *kind == Kind::About && is_line);
    line.or_else(|| naming.part.filter(|kind| *kind == Kind::Gallery && is_shown))
}
