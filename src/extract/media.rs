//! Images, formulas, and the marks beside headings.

use super::tree::{NodeId, Step, Tree};

/// Class words of links that lead to the heading they stand in.
const PERMALINK: &[&str] = &[
    "headerlink", "anchorjs-link", "header-anchor", "heading-anchor", "permalink", "anchor-link",
    "hash-link", "headinglink", "heading-link", "anchor-heading", "self-link", "anchor",
    "doc-anchor", "permalink-anchor", "icon-link", "section-anchor", "mw-editsection",
];

/// What such links show.
const PERMALINK_TEXT: &[&str] =
    &["¶", "#", "§", "🔗", "link", "permalink", "", "⚓", "[¶]", "[edit]", "[link]"];

/// Attributes that hold an image's true address when a script loads it late.
const LAZY_SOURCES: &[&str] =
    &["data-src", "data-original", "data-lazy-src", "data-srcset", "data-lazy-srcset", "data-url"];

/// Whether the link at `id` only leads to the place where it stands.
pub(super) fn is_permalink(tree: &Tree, id: NodeId) -> bool {
    let Some(element) = tree.element(id) else { return false };
    let href = element.attribute("href").unwrap_or_default();
    let class = element.attribute("class").unwrap_or_default();
    let is_marked = class.split_ascii_whitespace().any(|word| PERMALINK.contains(&word));
    if !is_marked && !href.contains('#') {
        return false;
    }
    // A link with an image shows something.
    let mut inner = tree.descendants(id).take(9);
    if inner.any(|node| tree.tag(node) == "img") {
        return false;
    }
    let text = tree.text_content(id).trim().to_lowercase();
    if is_marked {
        return PERMALINK_TEXT.contains(&text.as_str());
    }
    matches!(text.as_str(), "¶" | "#" | "🔗")
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

/// An image's alternative text.
pub(super) fn alternative_text(tree: &Tree, id: NodeId) -> String {
    let text = tree.attribute(id, "alt").or_else(|| tree.attribute(id, "title"));
    text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
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
        && !["data:", "blob:", "javascript:", "about:"].iter().any(|scheme| start.starts_with(scheme))
}

/// The TeX of the MathML formula at `id`, and whether it is a block, where the page gives it.
pub(super) fn math_tex(tree: &Tree, id: NodeId) -> Option<(String, bool)> {
    let element = tree.element(id)?;
    let annotation = tree.descendants(id).find(|node| {
        let is_tex = |kind: &str| kind.contains("tex") || kind.contains("TeX");
        tree.attribute(*node, "encoding").is_some_and(is_tex)
    });
    let tex = annotation
        .map(|node| tree.text_content(node))
        .or_else(|| element.attribute("alttext").map(str::to_owned))
        .unwrap_or_else(|| linear_math(tree, id));
    let tex = tex.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_block = element.attribute("display") == Some("block");
    (!tex.is_empty()).then_some((tex, is_block))
}

/// A formula without TeX, written so that no two parts run together: `a/b`, `x^2`, `a_i`.
fn linear_math(tree: &Tree, id: NodeId) -> String {
    let mut tex = String::new();
    for step in tree.walk(id) {
        match step {
            Step::Enter(node) => match tree.text(node) {
                Some(text) => tex.push_str(text.trim()),
                None => tex.push_str(opening(tree, node)),
            },
            Step::Leave(node) => tex.push_str(closing(tree, node)),
        }
    }
    tex
}

fn math_name(tree: &Tree, node: NodeId) -> &str {
    tree.element(node).map_or("", |element| element.tag())
}

/// The place of `node` among the elements of its parent.
fn place(tree: &Tree, node: NodeId) -> usize {
    let before = std::iter::successors(tree.previous(node), |node| tree.previous(*node));
    before.take(3).filter(|node| tree.element(*node).is_some()).count()
}

fn opening(tree: &Tree, node: NodeId) -> &'static str {
    let parent = tree.parent(node).map_or("", |parent| math_name(tree, parent));
    let own = match math_name(tree, node) {
        "mfrac" => "\\frac",
        "msqrt" => "\\sqrt{",
        _ => "",
    };
    let part = match (parent, place(tree, node)) {
        ("mfrac", _) => "{",
        ("msup" | "mover", 1) | ("msubsup" | "munderover", 2) => "^{",
        ("msub" | "munder" | "msubsup" | "munderover", 1) => "_{",
        _ => "",
    };
    match (part, own) {
        ("", own) => own,
        ("{", "\\frac") => "{\\frac",
        ("^{", "\\frac") => "^{\\frac",
        ("_{", "\\frac") => "_{\\frac",
        (part, _) => part,
    }
}

fn closing(tree: &Tree, node: NodeId) -> &'static str {
    let parent = tree.parent(node).map_or("", |parent| math_name(tree, parent));
    let is_part = match parent {
        "mfrac" => tree.element(node).is_some(),
        "msup" | "mover" | "msub" | "munder" | "msubsup" | "munderover" => {
            tree.element(node).is_some() && place(tree, node) > 0
        }
        _ => false,
    };
    match (is_part, math_name(tree, node)) {
        (true, "msqrt") => "}}",
        (true, _) | (false, "msqrt") => "}",
        _ => "",
    }
}
