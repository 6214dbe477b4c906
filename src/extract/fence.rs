//! Cuts tags with a hostile number of attributes before the tokenizer sees them.
//!
//! The tokenizer compares every attribute of a tag with all before it, so 200,000 attributes in
//! one megabyte would take it hours. Tags of ordinary length pass untouched and uncopied.

use std::borrow::Cow;

use memchr::memchr;

/// Most attributes that a tag keeps: no tag of a real page comes near.
const MAX_ATTRIBUTES: usize = 256;

/// Drops every attribute beyond the first [`MAX_ATTRIBUTES`] of a tag.
pub(super) fn fence_attributes(html: &str) -> Cow<'_, str> {
    let bytes = html.as_bytes();
    let mut kept = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(open) = bytes.get(at..).and_then(|rest| memchr(b'<', rest)).map(|n| at + n) {
        at = open + 1;
        if !bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let tag = scan_tag(bytes, at);
        if let Some(surplus) = tag.surplus {
            kept.push_str(html.get(copied..surplus).unwrap_or_default());
            copied = tag.end;
        }
        at = tag.end;
    }
    if copied == 0 {
        return Cow::Borrowed(html);
    }
    kept.push_str(html.get(copied..).unwrap_or_default());
    Cow::Owned(kept)
}

/// A start tag in the source.
struct TagSpan {
    /// Where its `>` stands, or the end of the source.
    end: usize,
    /// Where the first attribute begins that is one too many.
    surplus: Option<usize>,
}

/// Reads one tag from its name on, as the tokenizer does (HTML §13.2.5.32 to 37): a quote opens
/// a value only behind `=`.
fn scan_tag(bytes: &[u8], name: usize) -> TagSpan {
    let mut attributes = 0;
    let mut surplus = None;
    let mut is_in_name = true;
    let mut is_after_equals = false;
    let mut at = name;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'>' => break,
            b'"' | b'\'' if is_after_equals => {
                let rest = bytes.get(at + 1..).unwrap_or_default();
                at += 1 + memchr(*byte, rest).unwrap_or(rest.len());
                is_after_equals = false;
                is_in_name = false;
            }
            b'=' if is_in_name && at > name => is_after_equals = true,
            b' ' | b'\t' | b'\n' | b'\r' | 0x0c => is_in_name = false,
            b'/' if !is_after_equals => is_in_name = false,
            _ => {
                if !is_in_name && !is_after_equals {
                    attributes += 1;
                    if attributes == MAX_ATTRIBUTES + 1 {
                        surplus = Some(at);
                    }
                }
                is_in_name = true;
                is_after_equals = false;
            }
        }
        at += 1;
    }
    TagSpan { end: at.min(bytes.len()), surplus }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_pages_are_not_copied() {
        let page = r#"<p a=1 b="x > y" c>text</p><a href="long">"#;
        assert!(matches!(fence_attributes(page), Cow::Borrowed(_)));
        let long = format!("<img alt=\"{}\">", "x ".repeat(5_000));
        assert_eq!(fence_attributes(&long), long);
        let quote = format!("<p it's>{}</p>", "it's text ".repeat(5_000));
        assert_eq!(fence_attributes(&quote), quote);
    }

    #[test]
    fn surplus_attributes_are_dropped_and_the_text_is_kept() {
        let attributes = " a='>'".repeat(100_000);
        let page = format!("<b>before</b><p{attributes}>inside</p>after");
        let fenced = fence_attributes(&page);
        assert!(fenced.len() < 10_000);
        assert!(fenced.starts_with("<b>before</b><p a="));
        assert!(fenced.ends_with(">inside</p>after"));
    }
}
