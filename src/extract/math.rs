//! Formulas: TeX where the page states it, else what MathML shows in a line.

use super::tree::{NodeId, Step, Tree};
use crate::model::collapse;

/// A formula.
#[derive(Debug)]
pub(super) struct Formula {
    /// It, in TeX.
    pub(super) tex: String,
    /// Whether it is a block of its own.
    pub(super) is_block: bool,
}

/// The MathML formula at `id`, in the page's TeX or else in a line.
pub(super) fn tex(tree: &Tree, id: NodeId) -> Option<Formula> {
    let element = tree.element(id)?;
    let annotation = tree.descendants(id).find(|node| {
        let is_tex = |kind: &str| kind.contains("tex") || kind.contains("TeX");
        tree.attribute(*node, "encoding").is_some_and(is_tex)
    });
    let tex = annotation
        .map(|node| tree.text_content(node))
        .or_else(|| element.attribute("alttext").map(str::to_owned))
        .unwrap_or_else(|| linear_math(tree, id));
    let tex = collapse(&tex);
    let tex = strip_style(&tex).to_owned();
    let is_block = element.attribute("display") == Some("block") || is_displayed(tree, id);
    (!tex.is_empty()).then_some(Formula { tex, is_block })
}

/// `tex` with a space behind every `<` that a renderer without formulas would read as the begin of
/// markup. TeX skips it, so the formula is the same.
pub(super) fn without_markup(tex: &str) -> String {
    let mut safe = String::with_capacity(tex.len());
    let mut pieces = tex.split('<');
    safe.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        safe.push('<');
        if piece.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')) {
            safe.push(' ');
        }
        safe.push_str(piece);
    }
    safe
}

/// Wikipedia wraps each formula in `{\\displaystyle …}`, which says nothing about it.
fn strip_style(tex: &str) -> &str {
    let inner = tex.strip_prefix("{\\displaystyle ").and_then(|tex| tex.strip_suffix('}'));
    inner.map_or(tex, str::trim)
}

/// Whether an element around sets the formula at `id` apart as a block.
fn is_displayed(tree: &Tree, id: NodeId) -> bool {
    tree.ancestors(id).take(5).any(|above| {
        tree.attribute(above, "display") == Some("true")
            || has_class(tree, above, &["katex-display"])
    })
}

fn has_class(tree: &Tree, id: NodeId, names: &[&str]) -> bool {
    let classes = tree.attribute(id, "class").unwrap_or_default();
    classes.split_ascii_whitespace().any(|class| names.contains(&class))
}

/// The formula that the `script` at `id` states, where it does.
pub(super) fn script_tex(tree: &Tree, id: NodeId) -> Option<Formula> {
    let kind = tree.attribute(id, "type").filter(|kind| kind.starts_with("math/tex"))?;
    let tex = tree.text_content(id).trim().to_owned();
    (!tex.is_empty()).then(|| Formula { tex, is_block: kind.contains("mode=display") })
}

/// Class words of elements whose text is TeX between the marks that a script looks for.
const DELIMITED: &[&str] = &["math", "arithmatex"];

/// The formula that the `span` or `div` at `id` states between TeX marks, with the text before it:
/// its number, where it has one.
pub(super) fn delimited(tree: &Tree, id: NodeId) -> Option<(String, Formula)> {
    has_class(tree, id, DELIMITED).then_some(())?;
    let text = tree.text_content(id);
    let marks = [("\\(", "\\)", false), ("\\[", "\\]", true), ("$$", "$$", true)];
    let (before, tex, is_block) = marks.iter().find_map(|(open, close, is_block)| {
        let (before, rest) = text.split_once(open)?;
        Some((before, rest.trim_end().strip_suffix(close)?, *is_block))
    })?;
    let is_number = !before.contains(char::is_alphabetic);
    let tex = collapse(tex);
    (is_number && !tex.is_empty()).then(|| (before.to_owned(), Formula { tex, is_block }))
}

/// Elements that hold a formula's MathML out of sight, beside its picture.
const SOURCES: &[&str] = &[
    "katex-mathml",
    "mwe-math-mathml-a11y",
    "mwe-math-mathml-inline",
    "mwe-math-mathml-display",
    "MJX_Assistive_MathML",
];

/// Elements that show a formula as MathJax 2 renders it, beside its `script`.
const PICTURES: &[&str] =
    &["MathJax", "MathJax_Preview", "MathJax_Display", "MathJax_SVG", "MathJax_CHTML"];

/// Whether the element at `id`, although hidden, is a formula's only copy: its MathML, or its
/// glyphs where there is neither MathML nor TeX beside them.
pub(super) fn is_only_copy(tree: &Tree, id: NodeId) -> bool {
    if has_class(tree, id, SOURCES) {
        return true;
    }
    let is_picture = has_class(tree, id, &["katex-html"])
        || tree.element(id).is_some_and(|element| matches!(element.tag(), "mjx-math" | "nobr"));
    let around = tree.parent(id).filter(|_| is_picture);
    around.is_some_and(|around| {
        let mut inside = tree.descendants(around).take(512);
        !inside.any(|node| tree.element(node).is_some_and(|element| element.tag() == "math"))
    })
}

/// Whether the element at `id` shows what a formula's `script` behind it states.
pub(super) fn is_twin(tree: &Tree, id: NodeId) -> bool {
    has_class(tree, id, PICTURES) && {
        let after = std::iter::successors(tree.next(id), |node| tree.next(*node));
        let after = after.filter(|node| tree.element(*node).is_some());
        after.take(3).any(|node| tree.tag(node) == "script" && script_tex(tree, node).is_some())
    }
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
    tex.replace(" ^", "^").replace(" _", "_").replace(" }", "}")
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

/// Whether a name is longer than a letter, so that it must stand apart.
fn is_word(tree: &Tree, node: NodeId) -> bool {
    tree.text_content(node).trim().chars().nth(1).is_some()
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
        (false, "mtd") => " ",
        (false, "mtr") => "\\\\ ",
        (false, "mi" | "mtext") if is_word(tree, node) => " ",
        _ => "",
    }
}
