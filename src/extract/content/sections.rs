//! Takes out sections that their heading names as something else than the page's content:
//! teasers, comments, newsletters, and on product pages ratings.

use super::measure::{Facts, Measures, Page, Removed, is_removed, remove};
use super::names::Hint;
use super::page_type::Guess;
use super::phrases::{COMMENTS, NEWSLETTER, RATINGS, RELATED, SHARING};
use crate::extract::tree::NodeId;

/// Longest heading that is looked at, in characters: longer ones say something of their own.
const MAX_HEADING_CHARS: u32 = 60;

/// Most siblings that belong to a heading which has no element of its own.
const MAX_SIBLINGS: usize = 200;

/// Largest box that asks to share or subscribe, in characters.
const MAX_BOX_CHARS: u32 = 500;

/// Removes the sections, each with its heading.
pub(super) fn prune(page: &Page<'_>, kind: Guess, removed: &mut Removed) {
    let measures = page.measure(removed);
    let total = measures.of(page.body);
    for node in page.kept(page.body, removed) {
        let facts = measures.of(node);
        if facts.text == 0 || facts.text > MAX_HEADING_CHARS || !is_heading(page, node) {
            continue;
        }
        let text = page.tree.text_content(node);
        let Some(rule) = named(&text, kind) else { continue };
        let parts = section(page, &measures, node, total);
        let size: u32 = parts.iter().map(|part| measures.of(*part).text).sum();
        let is_box = matches!(rule, "content.sharing" | "content.newsletter");
        let linked: u32 = parts.iter().map(|part| measures.of(*part).linked).sum();
        // In a thread a heading like this may stand above what people wrote.
        let is_written = kind == Guess::Forum && linked * 3 < size && size > MAX_BOX_CHARS;
        if is_box && size > MAX_BOX_CHARS || is_written {
            continue;
        }
        for part in parts {
            if !is_removed(removed, part) {
                remove(removed, part, rule);
            }
        }
    }
}

/// Whether an element is a heading by its tag, or by its class alone.
fn is_heading(page: &Page<'_>, node: NodeId) -> bool {
    match page.tree.tag(node) {
        "h2" | "h3" | "h4" | "h5" | "h6" => true,
        "div" | "p" | "span" | "strong" | "b" => page.naming(node).has(Hint::Title),
        _ => false,
    }
}

/// The elements that make up the section of a heading: the highest element that begins with it,
/// or the siblings up to the next heading. Empty where that would be too much of the page.
fn section(page: &Page<'_>, measures: &Measures, heading: NodeId, total: Facts) -> Vec<NodeId> {
    let tree = page.tree;
    let fits = |facts: Facts| {
        facts.text.saturating_mul(5) < total.text.saturating_mul(2) && facts.main_headings == 0
    };
    let mut top = heading;
    for above in tree.ancestors(heading) {
        let begins = first_text(page, measures, above) == first_text(page, measures, heading);
        if !begins
            || above == page.body
            || !fits(measures.of(above))
            || matches!(tree.tag(above), "main" | "article")
        {
            break;
        }
        top = above;
    }
    if measures.of(top).text > measures.of(heading).text {
        return vec![top];
    }
    let level = tree.tag(top);
    let mut parts = vec![top];
    let mut sum = measures.of(top).text;
    let mut next = tree.next(top);
    while let Some(node) = next {
        let tag = tree.tag(node);
        let is_next = matches!(tag, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
            && (tag <= level || level.len() != 2);
        let facts = measures.of(node);
        let is_prose = facts.text > 200 && facts.sentences > 1 && facts.link_density() < 0.2;
        if is_next || is_prose || parts.len() >= MAX_SIBLINGS {
            break;
        }
        sum += measures.of(node).text;
        parts.push(node);
        next = tree.next(node);
    }
    if sum.saturating_mul(5) < total.text.saturating_mul(2) { parts } else { Vec::new() }
}

/// The first node in `root` that shows text.
fn first_text(page: &Page<'_>, measures: &Measures, root: NodeId) -> Option<NodeId> {
    let mut node = root;
    loop {
        if page.tree.text(node).is_some() {
            return Some(node);
        }
        node = page.tree.children(node).find(|child| measures.of(*child).text > 0)?;
    }
}

/// Whether `text` calls to read something else.
pub(super) fn is_related(text: &str) -> bool {
    is_any(text, RELATED)
}

/// Whether `text` is one of `phrases`.
pub(super) fn is_any(text: &str, phrases: &str) -> bool {
    let phrase = phrase(text);
    phrases.split('|').any(|known| is_phrase(&phrase, known))
}

/// The words of `text` in lower case, parted by one space.
fn phrase(text: &str) -> String {
    let lower = text.to_lowercase().replace('’', "'");
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The rule for sections under a heading of this text.
fn named(text: &str, kind: Guess) -> Option<&'static str> {
    let phrase = phrase(text);
    let words: Vec<&str> = phrase.split(' ').collect();
    let is_any = |phrases: &str| phrases.split('|').any(|known| is_phrase(&phrase, known));
    if is_any(RELATED) {
        return Some("content.related");
    }
    if is_any(NEWSLETTER) {
        return Some("content.newsletter");
    }
    if is_any(SHARING) {
        return Some("content.sharing");
    }
    if kind != Guess::Forum && (is_any(COMMENTS) || is_counted_comments(&words)) {
        return Some("content.comments");
    }
    if kind == Guess::Product && is_any(RATINGS) {
        return Some("content.ratings");
    }
    None
}

/// Whether `phrase` is `known`, or begins with it where that ends in `*`.
fn is_phrase(phrase: &str, known: &str) -> bool {
    match known.strip_suffix('*') {
        Some(start) => {
            phrase.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        }
        None => phrase == known,
    }
}

/// `12 comments`, `one thought on …`.
fn is_counted_comments(words: &[&str]) -> bool {
    let is_count =
        |word: &str| word.bytes().all(|byte| byte.is_ascii_digit()) || matches!(word, "one" | "no");
    match words {
        [count, noun] | [count, noun, ..] if is_count(count) => {
            matches!(
                *noun,
                "comment"
                    | "comments"
                    | "response"
                    | "responses"
                    | "thoughts"
                    | "thought"
                    | "kommentare"
                    | "commentaires"
                    | "comentarios"
            )
        }
        _ => false,
    }
}
