//! Images, formulas, and the marks beside headings.

use super::tree::{NodeId, Step, Tree};
use crate::model::collapse;

/// Class words of links that lead to the heading they stand in.
const PERMALINK: &[&str] = &[
    "headerlink",
    "anchorjs-link",
    "header-anchor",
    "heading-anchor",
    "permalink",
    "anchor-link",
    "hash-link",
    "headinglink",
    "heading-link",
    "anchor-heading",
    "self-link",
    "anchor",
    "doc-anchor",
    "permalink-anchor",
    "permalink-widget",
    "icon-link",
    "section-anchor",
    "mw-editsection",
];

/// What such links show.
const PERMALINK_SIGNS: &[&str] = &["¶", "#", "§", "🔗", "", "⚓", "[¶]"];

/// What links show that are such by their own class; in prose the words would mean something.
const PERMALINK_WORDS: &[&str] = &["link", "permalink", "[edit]", "[link]"];

/// Attributes that hold an image's true address when a script loads it late.
const LAZY_SOURCES: &[&str] =
    &["data-src", "data-original", "data-lazy-src", "data-srcset", "data-lazy-srcset", "data-url"];

/// Whether the link at `id` only leads to the place where it stands.
pub(super) fn is_permalink(tree: &Tree, id: NodeId) -> bool {
    let Some(element) = tree.element(id) else { return false };
    let href = element.attribute("href").unwrap_or_default();
    let is_by_class = has_word(element.attribute("class"), PERMALINK);
    let is_marked = is_by_class
        || element.attribute("title").is_some_and(is_permalink_title)
        || tree
            .parent(id)
            .is_some_and(|parent| has_word(tree.attribute(parent, "class"), PERMALINK));
    if !is_marked && !href.contains('#') {
        return false;
    }
    // A link with an image shows something.
    let mut inner = tree.descendants(id).take(9);
    if inner.any(|node| tree.tag(node) == "img") {
        return false;
    }
    let text = tree.text_content(id).trim().to_lowercase();
    match text.as_str() {
        "¶" | "#" | "🔗" => true,
        text if is_by_class && PERMALINK_WORDS.contains(&text) => true,
        text => is_marked && PERMALINK_SIGNS.contains(&text),
    }
}

fn has_word(classes: Option<&str>, words: &[&str]) -> bool {
    classes.unwrap_or_default().split_ascii_whitespace().any(|word| words.contains(&word))
}

fn is_permalink_title(title: &str) -> bool {
    let title = title.trim().to_lowercase();
    ["permalink", "permanent link", "direct link", "link to this"]
        .iter()
        .any(|start| title.starts_with(start))
}

/// The fragment that leads to the heading at `id`: its own `id`, that of an element in it, or
/// that of the section it begins.
pub(super) fn heading_anchor(tree: &Tree, id: NodeId) -> Option<String> {
    let named = |node: NodeId| {
        let own = tree.attribute(node, "id");
        own.or_else(|| tree.attribute(node, "name").filter(|_| tree.tag(node) == "a"))
    };
    let section = tree.parent(id).filter(|parent| {
        matches!(tree.tag(*parent), "section" | "div" | "article")
            && tree.children(*parent).find(|child| tree.element(*child).is_some()) == Some(id)
    });
    let before = tree.previous(id).filter(|node| tree.tag(*node) == "a");
    named(id)
        .or_else(|| tree.descendants(id).take(16).find_map(named))
        .or_else(|| section.and_then(named))
        .or_else(|| before.and_then(named))
        .filter(|anchor| !anchor.is_empty())
        .map(str::to_owned)
}

/// An image's alternative text, and its title where that says something else.
pub(super) fn texts(tree: &Tree, id: NodeId) -> (String, String) {
    let text = |name| collapse(tree.attribute(id, name).unwrap_or_default());
    let (alt, title) = (text("alt"), text("title"));
    if alt == title { (alt, String::new()) } else { (alt, title) }
}

/// Whether the image at `id` is a dot that only counts readers.
pub(super) fn is_dot(tree: &Tree, id: NodeId) -> bool {
    let is_point = |name| matches!(tree.attribute(id, name).map(str::trim), Some("0" | "1"));
    is_point("width") && is_point("height")
}

/// Whether the image at `id`, which has no address, stands before a `noscript` that has one.
pub(super) fn has_noscript_twin(tree: &Tree, id: NodeId) -> bool {
    let after = std::iter::successors(tree.next(id), |node| tree.next(*node));
    let twin = after.take(3).find(|node| tree.element(*node).is_some());
    twin.is_some_and(|node| {
        tree.tag(node) == "noscript"
            && tree.descendants(node).take(8).any(|inner| tree.tag(inner) == "img")
    })
}

/// Whether the link at `id` has a heading in it, which then is what links.
pub(super) fn holds_heading(tree: &Tree, id: NodeId) -> bool {
    tree.descendants(id)
        .take(32)
        .any(|node| matches!(tree.tag(node), "h1" | "h2" | "h3" | "h4" | "h5" | "h6"))
}

/// The text of the SVG image at `id` that a reader sees, and the rest.
pub(super) fn svg_text(tree: &Tree, id: NodeId) -> (String, String) {
    let (mut drawn, mut rest, mut title) = (String::new(), String::new(), String::new());
    let (mut text_depth, mut title_depth) = (0_usize, 0_usize);
    for step in tree.walk(id) {
        let (Step::Enter(node) | Step::Leave(node)) = step;
        let tag = tree.element(node).map_or("", |element| element.tag());
        let depth = match tag {
            "text" | "foreignObject" => &mut text_depth,
            "title" => &mut title_depth,
            _ => match (step, tree.text(node)) {
                (Step::Enter(_), Some(text)) if title_depth > 0 => {
                    title.push_str(text);
                    continue;
                }
                (Step::Enter(_), Some(text)) if text_depth > 0 => {
                    drawn.push_str(text);
                    continue;
                }
                (Step::Enter(_), Some(text)) => {
                    rest.push_str(text);
                    continue;
                }
                _ => continue,
            },
        };
        match step {
            Step::Enter(_) => *depth += 1,
            Step::Leave(_) => *depth = depth.saturating_sub(1),
        }
        drawn.push(' ');
    }
    let is_image = tree.attribute(id, "role") == Some("img");
    if is_image && drawn.trim().is_empty() {
        let label = tree.attribute(id, "aria-label").unwrap_or_default();
        return (if title.is_empty() { label.to_owned() } else { title }, rest);
    }
    rest.push_str(&title);
    (drawn, rest)
}

/// The first address of an image that is one: never a `data:` blob, and what a script would load
/// before the placeholder that it would replace.
pub(super) fn image_address(tree: &Tree, id: NodeId) -> Option<String> {
    let element = tree.element(id)?;
    let lazy = LAZY_SOURCES.iter().filter_map(|name| element.attribute(name));
    let own = ["src", "srcset"].into_iter().filter_map(|name| element.attribute(name));
    let picture = tree.parent(id).filter(|parent| tree.tag(*parent) == "picture");
    let sources = picture
        .into_iter()
        .flat_map(|picture| tree.children(picture))
        .filter_map(|source| tree.attribute(source, "srcset"));
    lazy.chain(own).chain(sources).map(first_candidate).find(|address| is_address(address))
}

/// The first address of a `srcset`, or the address itself where it is one.
fn first_candidate(value: &str) -> String {
    let value = value.trim();
    let is_set = value.contains(", ") || value.ends_with(['x', 'w']) && value.contains(' ');
    let first = if is_set { value.split_whitespace().next().unwrap_or_default() } else { value };
    first.trim_end_matches(',').to_owned()
}

fn is_address(address: &str) -> bool {
    let start: String = address.chars().take(12).collect::<String>().to_ascii_lowercase();
    !address.is_empty()
        && !["data:", "blob:", "javascript:", "about:"]
            .iter()
            .any(|scheme| start.starts_with(scheme))
}
