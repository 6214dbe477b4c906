//! Labels: paragraphs of nothing but strong text, which stand for what follows.
//!
//! Many pages name the entries of a reference so, where a heading would be too loud. A label
//! begins a section of its own below all headings, and is carried as a list item's first line is.

/// Most bytes of a label; longer strong text says something itself.
const MAX_BYTES: usize = 160;

/// Whether `paragraph` is a label.
pub(super) fn is_label(paragraph: &str) -> bool {
    let text = paragraph.trim().trim_end_matches(':');
    let inner = text.strip_prefix("**").and_then(|text| text.strip_suffix("**"));
    text.len() <= MAX_BYTES
        && inner.is_some_and(|inner| {
            !inner.is_empty() && !inner.contains("**") && !inner.contains('\n')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_strong_text_is_a_label() {
        assert!(is_label("**`os.sep`**\n"));
        assert!(is_label("**Note**:"));
        assert!(!is_label("**Strong** and more"));
        assert!(!is_label("**One** and **two**"));
        assert!(!is_label("****"));
    }
}
