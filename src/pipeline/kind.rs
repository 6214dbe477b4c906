//! What kind of document a body is, by its media type and its first characters.

use crate::extract::SourceFormat;

/// Share of control and replacement characters from which on a text is no text: one in so many.
const BINARY_ONE_IN: usize = 10;

/// Whether a document of this type may be a feed or a sitemap.
pub(super) fn is_list(media_type: &str) -> bool {
    let lists = [
        "application/rss+xml",
        "application/atom+xml",
        "application/feed+json",
        "application/xml",
        "text/xml",
    ];
    lists.contains(&media_type)
}

/// How a document of this type is read, where it is text.
pub(super) fn format(media_type: &str) -> Option<SourceFormat> {
    match media_type {
        "text/html" | "application/xhtml+xml" => Some(SourceFormat::Html),
        "text/plain" => Some(SourceFormat::Plain),
        "text/markdown" | "text/x-markdown" => Some(SourceFormat::Markdown),
        _ => None,
    }
}

/// Whether a text begins with too many characters that no text has.
pub(super) fn is_binary(text: &str) -> bool {
    let (mut bad, mut all) = (0, 0);
    for c in text.chars().take(4_096) {
        all += 1;
        bad += usize::from(c == '\u{fffd}' || c.is_control() && !c.is_whitespace());
    }
    bad * BINARY_ONE_IN > all
}
