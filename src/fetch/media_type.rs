//! What kind of thing a body is (MIME Sniffing Standard).
//!
//! In: the `Content-Type` field and the body's first bytes. Out: [`MediaType`]. A declared type
//! holds, with two exceptions: text that is plainly binary is none, whatever servers call their
//! PDF files and pictures, and nothing declared means that the bytes are looked at. `text/plain` never becomes HTML.
//!
//! It looks at the first 1,445 bytes and reads no text.

use std::fmt;

/// What is looked at, in bytes (MIME Sniffing Standard §5.2).
pub const SNIFF_BYTES: usize = 1_445;

const BINARY: &str = "application/octet-stream";
const HTML: &str = "text/html";
const PLAIN: &str = "text/plain";

/// A media type.
///
/// # Invariants
///
/// - `essence` is `type/subtype` in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaType {
    essence: String,
    charset: Option<String>,
}

impl MediaType {
    /// Reads the value of a `Content-Type` field; `None` where it is no media type.
    pub fn parse(value: &str) -> Option<Self> {
        let (essence, parameters) = value.split_once(';').unwrap_or((value, ""));
        let essence = essence.trim_matches(is_http_space).to_ascii_lowercase();
        let (kind, subtype) = essence.split_once('/')?;
        let is_valid = is_token(kind) && is_token(subtype);
        is_valid.then(|| Self { charset: charset(parameters), essence: essence.clone() })
    }

    fn sniffed(essence: &str) -> Self {
        Self { essence: essence.to_owned(), charset: None }
    }

    /// `type/subtype`, in lower case.
    pub fn essence(&self) -> &str {
        &self.essence
    }

    /// The `charset` parameter, as declared.
    pub fn charset(&self) -> Option<&str> {
        self.charset.as_deref()
    }

    /// Whether it is HTML, in either syntax.
    pub fn is_html(&self) -> bool {
        matches!(self.essence(), HTML | "application/xhtml+xml")
    }

    /// Whether it is text that needs no conversion: plain or Markdown.
    pub fn is_plain(&self) -> bool {
        matches!(self.essence(), PLAIN | "text/markdown" | "text/x-markdown")
    }

    /// Whether it is XML and not XHTML: feeds and sitemaps are.
    pub fn is_xml(&self) -> bool {
        let is_xml = matches!(self.essence(), "text/xml" | "application/xml");
        (is_xml || self.essence.ends_with("+xml")) && !self.is_html()
    }

    /// Whether a person could read it as it is.
    pub fn is_text(&self) -> bool {
        let is_json = self.essence.ends_with("+json") || self.essence == "application/json";
        self.essence.starts_with("text/") || self.is_html() || self.is_xml() || is_json
    }
}

impl fmt::Display for MediaType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.essence)
    }
}

/// The type of a body that begins with `body_start` and is declared to be `declared`.
pub fn effective_type(declared: Option<&str>, body_start: &[u8]) -> MediaType {
    let start = body_start.get(..SNIFF_BYTES).unwrap_or(body_start);
    let declared = declared.and_then(MediaType::parse).filter(|declared| !is_unknown(declared));
    match declared {
        None => MediaType::sniffed(sniff(start)),
        Some(declared) if declared.is_text() && signature(start).is_some_and(is_unmistakable) => {
            MediaType::sniffed(signature(start).map_or(BINARY, |(_, essence)| essence))
        }
        Some(declared) if declared.essence == PLAIN && is_binary(start) => {
            MediaType::sniffed(BINARY)
        }
        Some(declared) => declared,
    }
}

/// Types that servers declare when they do not know.
fn is_unknown(declared: &MediaType) -> bool {
    matches!(declared.essence(), "unknown/unknown" | "application/unknown" | "*/*")
}

fn is_http_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_token(text: &str) -> bool {
    let is_inside = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(is_inside)
}

/// The first `charset` among `parameters`.
fn charset(parameters: &str) -> Option<String> {
    let mut rest = parameters;
    while !rest.is_empty() {
        let (name, tail) = rest.split_at(rest.find([';', '=']).unwrap_or(rest.len()));
        let Some(tail) = tail.strip_prefix('=') else {
            rest = tail.trim_start_matches(';');
            continue;
        };
        let value;
        (value, rest) = parameter_value(tail);
        let is_charset = name.trim_matches(is_http_space).eq_ignore_ascii_case("charset");
        if is_charset && !value.is_empty() {
            return Some(value);
        }
    }
    None
}

/// The value at the start of `text`, and what follows its semicolon.
fn parameter_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_once(';').unwrap_or((text, ""));
        return (value.trim_matches(is_http_space).to_owned(), rest);
    };
    let mut value = String::new();
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => value.extend(chars.next()),
            _ => value.push(c),
        }
    }
    let rest = chars.as_str();
    (value, rest.split_once(';').map_or("", |(_, rest)| rest))
}

/// Beginnings that tell a type by themselves (MIME Sniffing Standard §6 and §7.1).
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"%PDF-", "application/pdf"),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"\xFE\xFF", PLAIN),
    (b"\xFF\xFE", PLAIN),
    (b"\xEF\xBB\xBF", PLAIN),
    (b"\0\0\x01\0", "image/x-icon"),
    (b"\0\0\x02\0", "image/x-icon"),
    (b"BM", "image/bmp"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\x89PNG\r\n\x1A\n", "image/png"),
    (b"\xFF\xD8\xFF", "image/jpeg"),
    (b"ID3", "audio/mpeg"),
    (b"OggS\0", "application/ogg"),
    (b"MThd\0\0\0\x06", "audio/midi"),
    (b"\x1A\x45\xDF\xA3", "video/webm"),
    (b"\x1F\x8B\x08", "application/gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"Rar \x1A\x07\0", "application/x-rar-compressed"),
    (b"7z\xBC\xAF\x27\x1C", "application/x-7z-compressed"),
];

/// Tags that begin an HTML page (MIME Sniffing Standard §7.1).
const HTML_TAGS: &[&str] = &[
    "<!doctype html",
    "<html",
    "<head",
    "<script",
    "<iframe",
    "<h1",
    "<div",
    "<font",
    "<table",
    "<a",
    "<style",
    "<title",
    "<b",
    "<body",
    "<br",
    "<p",
    "<!--",
];

/// The signature that `start` begins with.
fn signature(start: &[u8]) -> Option<&'static (&'static [u8], &'static str)> {
    SIGNATURES.iter().find(|(signature, _)| start.starts_with(signature))
}

/// Whether no text begins so: text may well begin with `BM`, and with a byte order mark.
fn is_unmistakable((signature, essence): &(&[u8], &str)) -> bool {
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    *essence == "application/pdf" || *essence != PLAIN && !signature.iter().all(is_text)
}

fn sniff(start: &[u8]) -> &'static str {
    // Pages with a byte order mark are pages, although the standard has them as plain text.
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start();
    if HTML_TAGS.iter().any(|tag| begins_with_tag(text, tag)) {
        return HTML;
    }
    if text.starts_with(b"<?xml") {
        return if has_html_root(text) { "application/xhtml+xml" } else { "text/xml" };
    }
    match (signature(start), start) {
        (Some((_, essence)), _) => essence,
        (_, [b'R', b'I', b'F', b'F', _, _, _, _, kind @ ..]) if kind.starts_with(b"WEBPVP") => {
            "image/webp"
        }
        (_, [_, _, _, _, b'f', b't', b'y', b'p', ..]) => "video/mp4",
        _ if is_binary(start) => BINARY,
        _ => PLAIN,
    }
}

/// Whether `text` begins with `tag` and the tag's name ends there.
fn begins_with_tag(text: &[u8], tag: &str) -> bool {
    let Some((head, rest)) = text.split_at_checked(tag.len()) else {
        return false;
    };
    let is_end = tag == "<!--" || matches!(rest.first(), Some(b' ' | b'>' | b'\t' | b'\n' | b'\r'));
    head.eq_ignore_ascii_case(tag.as_bytes()) && is_end
}

/// Whether an XML document's first element is `html`.
fn has_html_root(text: &[u8]) -> bool {
    memchr::memchr_iter(b'<', text)
        .filter_map(|at| text.get(at..))
        .find(|tag| matches!(tag, [_, next, ..] if next.is_ascii_alphabetic()))
        .is_some_and(|root| begins_with_tag(root, "<html"))
}

/// Whether `start` holds bytes that no text has (MIME Sniffing Standard §7.2).
fn is_binary(start: &[u8]) -> bool {
    let has_mark = [b"\xFE\xFF".as_slice(), b"\xFF\xFE", b"\xEF\xBB\xBF"]
        .iter()
        .any(|mark| start.starts_with(mark));
    !has_mark && start.iter().any(|b| matches!(b, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_parse(value: &str, want: &str) {
        let got = MediaType::parse(value);
        let charset = got.as_ref().and_then(MediaType::charset).unwrap_or("-");
        assert_eq!(format!("{} {charset}", got.as_ref().map_or("none", MediaType::essence)), want);
    }

    #[test]
    fn a_field_is_read_as_browsers_do() {
        check_parse(" Text/HTML;Charset=UTF-8 ", "text/html UTF-8");
        check_parse(
            "text/html; a=\"x;charset=b\\\"\"; charset=\"utf\\-8\"x; charset=c",
            "text/html utf-8",
        );
        check_parse("text/html;;charset;charset=;charset=utf-8", "text/html utf-8");
        check_parse("text/html;charset=\"utf-8", "text/html utf-8");
        check_parse("image/svg+xml", "image/svg+xml -");
    }

    #[test]
    fn what_is_no_media_type_is_none() {
        check_parse("", "none -");
        check_parse("html", "none -");
        check_parse("text/", "none -");
        check_parse("te xt/html", "none -");
        check_parse("text/html, text/plain", "none -");
    }

    #[track_caller]
    fn check(declared: Option<&str>, start: &[u8], want: &str) {
        assert_eq!(effective_type(declared, start).essence(), want);
    }

    #[test]
    fn a_declared_type_holds() {
        check(Some("text/plain"), b"<html>", "text/plain");
        check(Some("application/json"), b"<html>", "application/json");
        check(Some("application/octet-stream"), b"<html>", "application/octet-stream");
        check(Some("text/html"), b"\0\0", "text/html");
    }

    #[test]
    fn text_that_is_plainly_binary_is_none() {
        check(Some("text/plain"), b"a\0b", "application/octet-stream");
        check(Some("text/plain"), b"\xff\xfea\0", "text/plain");
        check(Some("text/html"), b"\x1f\x8b\x08\0", "application/gzip");
        check(Some("text/html"), b"%PDF-1.7", "application/pdf");
        check(Some("text/html; charset=utf-8"), b"\x89PNG\r\n\x1a\n", "image/png");
        check(Some("text/plain"), b"BMW", "text/plain");
        check(Some("text/html"), b"\xef\xbb\xbf<p>", "text/html");
    }

    #[test]
    fn an_undeclared_body_is_looked_at() {
        for declared in [None, Some("*/*"), Some("nonsense")] {
            check(declared, b"\xef\xbb\xbf\n <!DOCTYPE html>", "text/html");
            check(declared, b"<P>tea", "text/html");
            check(declared, b"<pre>tea", "text/plain");
            check(declared, b"<!-- tea -->", "text/html");
            check(declared, b"<?xml version='1.0'?><rss>", "text/xml");
            check(declared, b"<?xml?><!DOCTYPE html><html lang='en'>", "application/xhtml+xml");
            check(declared, b"%PDF-1.7", "application/pdf");
            check(declared, b"RIFF....WEBPVP8 ", "image/webp");
            check(declared, b"\x1f\x8b\x08", "application/gzip");
            check(declared, b"", "text/plain");
            check(declared, b"tea \x01", "application/octet-stream");
        }
    }

    proptest! {
        #[test]
        fn any_field_and_body_have_a_type(
            declared in "([a-z]{1,4}/)?[a-z;=\" é]{0,20}",
            start in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            prop_assert!(effective_type(Some(&declared), &start).essence().contains('/'));
        }
    }
}
