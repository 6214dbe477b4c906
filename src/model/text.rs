//! Text as its reader counts it.

/// `text` with every run of white space as one space, and none at its ends.
pub fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
