//! What a page holds that its reader does not see.

use super::tree::{NodeId, Tree};

/// The rule by which the element at `id`, with all in it, is not for a reader, if one holds.
pub(super) fn hidden_by(tree: &Tree, id: NodeId) -> Option<&'static str> {
    let element = tree.element(id)?;
    if !element.is_html() {
        return None;
    }
    if let Some(rule) = by_tag(element.tag()) {
        let is_read = match element.tag() {
            "template" => element.attribute("shadowrootmode").is_some(),
            "iframe" => element.attribute("srcdoc").is_some(),
            _ => false,
        };
        return (!is_read).then_some(rule);
    }
    // One look at each attribute: this is asked of every element.
    element.attributes.iter().find_map(|attribute| {
        let value = &*attribute.value;
        match &*attribute.name.local {
            "hidden" if !value.eq_ignore_ascii_case("until-found") => {
                Some("extract.hidden_attribute")
            }
            "aria-hidden" if value.eq_ignore_ascii_case("true") => Some("extract.aria_hidden"),
            "style" => hidden_by_style(tree, id, value),
            _ => None,
        }
    })
}

fn hidden_by_style(tree: &Tree, id: NodeId, style: &str) -> Option<&'static str> {
    match sight(style) {
        Sight::Seen => None,
        Sight::Hidden => Some("extract.hidden_style"),
        Sight::Unreadable => Some("extract.unreadable_style"),
        // Mail templates set the size to nothing to close gaps, and set it again inside.
        Sight::SizeZero => (!sets_size(tree, id)).then_some("extract.unreadable_style"),
    }
}

/// Nodes in which a size is looked for: looking through all, in each of many that nest, would
/// take quadratic time.
const MAX_SIZE_NODES: usize = 256;

fn sets_size(tree: &Tree, id: NodeId) -> bool {
    tree.descendants(id).take(MAX_SIZE_NODES).any(|node| {
        tree.attribute(node, "style").is_some_and(|style| {
            declarations(style).any(|(name, value)| name == "font-size" && !is_zero(&value))
        })
    })
}

fn by_tag(tag: &str) -> Option<&'static str> {
    Some(match tag {
        "script" => "extract.script",
        "style" => "extract.style",
        "template" => "extract.template",
        "iframe" | "object" | "embed" | "frameset" | "noframes" => "extract.frame",
        "audio" | "video" | "canvas" | "map" => "extract.media_fallback",
        "select" | "textarea" | "datalist" | "progress" | "meter" => "extract.control",
        "noscript" => "extract.noscript",
        _ => return None,
    })
}

/// What an inline style does to the text of its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    Seen,
    /// The page hides it, until it may show it.
    Hidden,
    /// Its letters have no size.
    SizeZero,
    /// It is shown where or how nobody can read it.
    Unreadable,
}

fn sight(style: &str) -> Sight {
    let mut sight = Sight::Seen;
    let (mut color, mut background) = (None, None);
    let mut box_sides = 0;
    let mut is_clipped = false;
    for (name, value) in declarations(style) {
        match name.as_str() {
            "display" if value == "none" => return Sight::Hidden,
            "visibility" if matches!(value.as_str(), "hidden" | "collapse") => {
                return Sight::Hidden;
            }
            "font-size" if is_zero(&value) => sight = Sight::SizeZero,
            "left" | "top" | "text-indent" | "margin-left" if is_far(&value) => {
                return Sight::Unreadable;
            }
            "clip" if value.contains("rect(0") => return Sight::Unreadable,
            "width" | "height" | "max-height" if is_zero(&value) => box_sides += 1,
            "overflow" => is_clipped = value == "hidden",
            "color" => color = Some(value),
            "background" | "background-color" => background = Some(value),
            _ => {}
        }
    }
    let is_same_color = color.is_some() && color == background;
    if is_same_color || is_clipped && box_sides > 0 { Sight::Unreadable } else { sight }
}

/// The declarations of an inline style, in lower case.
fn declarations(style: &str) -> impl Iterator<Item = (String, String)> {
    style.split(';').filter_map(|declaration| declaration.split_once(':')).map(|(name, value)| {
        let value = value.trim().to_ascii_lowercase();
        let value = value.trim_end_matches("!important").trim_end();
        (name.trim().to_ascii_lowercase(), value.to_owned())
    })
}

fn is_zero(value: &str) -> bool {
    matches!(value, "0" | "0px" | "0em" | "0rem" | "0%" | "0pt")
}

/// Whether a length moves text out of any window.
fn is_far(value: &str) -> bool {
    let number = value
        .strip_prefix('-')
        .and_then(|value| value.strip_suffix("px").or_else(|| value.strip_suffix("em")));
    number.and_then(|number| number.parse().ok()).is_some_and(|n: f64| n >= 900.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_styles_hide_whatever_their_spelling() {
        assert_eq!(sight("color: red; DISPLAY : none !important"), Sight::Hidden);
        assert_eq!(sight("visibility:hidden"), Sight::Hidden);
        assert_eq!(sight("font-size: 0px"), Sight::SizeZero);
        assert_eq!(sight("display: block; background: url(none)"), Sight::Seen);
    }

    #[test]
    fn text_that_nobody_can_read_is_hidden() {
        assert_eq!(sight("position:absolute; left:-9999px"), Sight::Unreadable);
        assert_eq!(sight("color:#fff;background-color:#FFF"), Sight::Unreadable);
        assert_eq!(sight("height:0;overflow:hidden"), Sight::Unreadable);
        assert_eq!(sight("margin-left:-1em; color:#fff; background:#000"), Sight::Seen);
        // Pages fade text in with a script.
        assert_eq!(sight("opacity:0"), Sight::Seen);
    }
}
