//! What a page holds that its reader does not see.

use std::collections::BTreeMap;

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
    sight_of(declarations(style))
}

/// Whether an element with these declarations is seen.
pub(super) fn shows(declarations: &BTreeMap<String, String>) -> bool {
    let declarations = declarations.iter().map(|(name, value)| (name.clone(), value.clone()));
    sight_of(declarations) == Sight::Seen
}

fn sight_of(declarations: impl Iterator<Item = (String, String)>) -> Sight {
    let mut sight = Sight::Seen;
    let (mut color, mut background) = (None, None);
    let mut box_sides = 0;
    let (mut is_clipped, mut is_padded) = (false, false);
    let (mut is_faint, mut moves) = (false, false);
    for (name, value) in declarations {
        match name.as_str() {
            "display" if value == "none" => return Sight::Hidden,
            "visibility" if matches!(value.as_str(), "hidden" | "collapse") => {
                return Sight::Hidden;
            }
            "font-size" if is_zero(&value) => sight = Sight::SizeZero,
            "left" | "right" | "top" | "bottom" | "text-indent" | "margin-left" | "margin-top"
                if is_far(&value) =>
            {
                return Sight::Unreadable;
            }
            "clip" if value.starts_with("rect(0") || value.starts_with("rect(1px") => {
                return Sight::Unreadable;
            }
            "clip-path" if clips_all(&value) => return Sight::Unreadable,
            "transform" if value.starts_with("scale(0)") || value.starts_with("scale(0,") => {
                is_faint = true;
            }
            "opacity" => is_faint |= value.parse() == Ok(0.0),
            "width" | "height" | "max-height" if is_zero(&value) => box_sides += 1,
            "overflow" => is_clipped = value == "hidden",
            // The box of a picture or a film: as high as its padding.
            "padding" | "padding-top" | "padding-bottom" => is_padded |= !is_zero(&value),
            "color" => color = Some(color_of(&value)),
            "background" | "background-color" => background = Some(color_of(&value)),
            _ => {}
        }
        moves |= MOTION.contains(&name.as_str()) && !value.starts_with("scale(0");
    }
    // What fades, grows or slides in begins so, and a script brings it about.
    if is_faint && !moves {
        return Sight::Hidden;
    }
    let is_same_color = color.is_some() && color == background;
    let is_shut = is_clipped && box_sides > 0 && !is_padded && !moves;
    if is_same_color || is_shut { Sight::Unreadable } else { sight }
}

/// Properties that say that an element is to be set in motion.
const MOTION: &[&str] = &["transform", "transition", "animation", "will-change"];

/// Whether a property decides whether its element is seen.
pub(super) fn is_sight_property(name: &str) -> bool {
    MOTION.contains(&name)
        || matches!(
            name,
            "display"
                | "visibility"
                | "font-size"
                | "left"
                | "right"
                | "top"
                | "bottom"
                | "text-indent"
                | "margin-left"
                | "margin-top"
                | "clip"
                | "clip-path"
                | "opacity"
                | "width"
                | "height"
                | "max-height"
                | "overflow"
                | "padding"
                | "padding-top"
                | "padding-bottom"
                | "color"
                | "background"
                | "background-color"
        )
}

/// Whether a `clip-path` leaves nothing.
fn clips_all(value: &str) -> bool {
    let inset = value.strip_prefix("inset(").and_then(|inset| inset.split(['%', ')']).next());
    let inset = inset.and_then(|share| share.trim().parse().ok());
    inset.is_some_and(|share: f64| share >= 50.0) || value.starts_with("circle(0")
}

/// One spelling for a color that has several.
fn color_of(value: &str) -> String {
    match value {
        "white" | "#ffffff" | "rgb(255,255,255)" | "rgb(255, 255, 255)" => "#fff".to_owned(),
        "black" | "#000000" | "rgb(0,0,0)" | "rgb(0, 0, 0)" => "#000".to_owned(),
        _ => value.to_owned(),
    }
}

/// The declarations of an inline style, in lower case.
pub(super) fn declarations(style: &str) -> impl Iterator<Item = (String, String)> {
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
    let Some(length) = value.strip_prefix('-') else { return false };
    let end = length.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(length.len());
    let (number, unit) = length.split_at(end);
    let least = match unit {
        "px" | "pt" => 900.0,
        "em" | "rem" | "ch" => 90.0,
        "vw" | "vh" => 100.0,
        _ => return false,
    };
    number.parse().is_ok_and(|n: f64| n >= least)
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
        assert_eq!(sight("opacity: 0.0"), Sight::Hidden);
        assert_eq!(sight("opacity:0.1"), Sight::Seen);
        assert_eq!(sight("transform:scale(0)"), Sight::Hidden);
        assert_eq!(sight("clip-path:inset(50%)"), Sight::Unreadable);
        assert_eq!(sight("clip-path:inset(5%)"), Sight::Seen);
        assert_eq!(sight("color:#FFFFFF;background:white"), Sight::Unreadable);
        assert_eq!(sight("right:-100vw"), Sight::Unreadable);
        // Pages fade and slide text in with a script.
        assert_eq!(sight("opacity:0;transform:translate3d(0,20px,0)"), Sight::Seen);
        assert_eq!(sight("max-height:0;overflow:hidden;transition:max-height 1s"), Sight::Seen);
        // The box of a film keeps its shape by its padding.
        assert_eq!(sight("height:0;overflow:hidden;padding-bottom:56.25%"), Sight::Seen);
    }
}
