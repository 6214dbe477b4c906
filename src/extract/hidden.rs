//! What a page holds that its reader does not see.

use super::tree::{NodeId, Tree};

/// The rule by which the element at `id`, with all in it, is not for a reader, if one holds.
pub(super) fn hidden_by(tree: &Tree, id: NodeId) -> Option<&'static str> {
    let element = tree.element(id)?;
    if !element.is_html() {
        return None;
    }
    if let Some(rule) = by_tag(element.tag()) {
        let is_shadow_root = element.tag() == "template" && element.attribute("shadowrootmode").is_some();
        return (!is_shadow_root).then_some(rule);
    }
    if element.attribute("hidden").is_some_and(|value| !value.eq_ignore_ascii_case("until-found")) {
        return Some("extract.hidden_attribute");
    }
    if element.attribute("aria-hidden").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Some("extract.aria_hidden");
    }
    element.attribute("style").filter(|style| hides(style)).map(|_| "extract.hidden_style")
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

/// Whether an inline style takes an element out of sight.
fn hides(style: &str) -> bool {
    style.split(';').filter_map(|declaration| declaration.split_once(':')).any(|(name, value)| {
        let value = value.trim().to_ascii_lowercase();
        let value = value.trim_end_matches("!important").trim_end();
        match name.trim().to_ascii_lowercase().as_str() {
            "display" => value == "none",
            "visibility" => matches!(value, "hidden" | "collapse"),
            "opacity" => value == "0",
            "font-size" => matches!(value, "0" | "0px" | "0em" | "0rem" | "0%"),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_styles_hide_whatever_their_spelling() {
        assert!(hides("color: red; DISPLAY : none !important"));
        assert!(hides("visibility:hidden"));
        assert!(hides("font-size: 0px"));
        assert!(!hides("display: block; background: url(none)"));
        assert!(!hides("opacity: 0.5"));
    }
}
