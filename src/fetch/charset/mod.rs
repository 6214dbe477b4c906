//! Turns a body into text (Encoding Standard; HTML §13.2.3).
//!
//! In: the decoded body, the charset that HTTP names and the host's top-level domain. Out:
//! [`BodyText`], with the evidence that decided. The first of these that names a known encoding
//! does: a byte order mark, the `charset` parameter, a `meta` element or XML declaration, the fact
//! that the body is UTF-8, and last a detector's guess.
//!
//! Promises:
//!
//! - Any bytes give text; what the encoding cannot read becomes U+FFFD.
//! - No byte order mark is in the text.
//!
//! It does not ask whether the body is HTML, or text at all.

mod prescan;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

use crate::model::{BodyText, CharsetSource};
pub use prescan::declared_encoding;

/// What the detector looks at, in bytes: its guess does not change after that, its cost grows.
const DETECT_BYTES: usize = 256 * 1024;

/// The names of the Encoding Standard, in lower case.
const NAMES: &[&str] = &[
    "utf-8",
    "ibm866",
    "iso-8859-2",
    "iso-8859-3",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-8-i",
    "iso-8859-10",
    "iso-8859-13",
    "iso-8859-14",
    "iso-8859-15",
    "iso-8859-16",
    "koi8-r",
    "koi8-u",
    "macintosh",
    "windows-874",
    "windows-1250",
    "windows-1251",
    "windows-1252",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "windows-1258",
    "x-mac-cyrillic",
    "gbk",
    "gb18030",
    "big5",
    "euc-jp",
    "iso-2022-jp",
    "shift_jis",
    "euc-kr",
    "utf-16be",
    "utf-16le",
    "x-user-defined",
];

/// Reads `body` as text.
///
/// `http_charset` is the `charset` parameter of `Content-Type`, `host_tld` the last label of the
/// host's name, which helps to tell legacy encodings apart.
pub fn decode_text(body: &[u8], http_charset: Option<&str>, host_tld: Option<&str>) -> BodyText {
    if let Some((encoding, mark_bytes)) = Encoding::for_bom(body) {
        let body = body.get(mark_bytes..).unwrap_or_default();
        return text(body, encoding, CharsetSource::Bom);
    }
    let of_label = |label: &str| Encoding::for_label_no_replacement(label.as_bytes());
    if let Some(encoding) = http_charset.and_then(of_label) {
        return text(body, encoding, CharsetSource::Http);
    }
    if let Some(encoding) = declared_encoding(body) {
        return text(body, encoding, CharsetSource::Meta);
    }
    text(body, detected_encoding(body, host_tld), CharsetSource::Detected)
}

/// Reads `body` in the encoding that `label` names, whatever it declares; UTF-8 where it names none.
pub fn decode_as(body: &[u8], label: &str) -> BodyText {
    let encoding = Encoding::for_label_no_replacement(label.as_bytes()).unwrap_or(UTF_8);
    text(body, encoding, CharsetSource::Given)
}

fn text(body: &[u8], encoding: &'static Encoding, source: CharsetSource) -> BodyText {
    let (text, _) = encoding.decode_without_bom_handling(body);
    let is_name = |name: &&&str| name.eq_ignore_ascii_case(encoding.name());
    let charset = NAMES.iter().find(is_name).copied().unwrap_or(encoding.name());
    BodyText { text: text.into_owned(), charset, source }
}

/// UTF-8 where `body` is that, else the detector's guess.
fn detected_encoding(body: &[u8], host_tld: Option<&str>) -> &'static Encoding {
    // Valid UTF-8 with an escape may be ISO-2022-JP, which is ASCII throughout.
    let escape = memchr::memchr(0x1b, body);
    if escape.is_none() && str::from_utf8(body).is_ok() {
        return UTF_8;
    }
    let tld = host_tld.map(str::to_ascii_lowercase).filter(|tld| is_label(tld));
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    let start = body.get(..DETECT_BYTES).unwrap_or(body);
    detector.feed(start, start.len() == body.len());
    detector.guess(tld.as_deref().map(str::as_bytes), Utf8Detection::Allow)
}

/// Whether `tld` is a label of a name as the detector wants it: it panics on others.
fn is_label(tld: &str) -> bool {
    !tld.is_empty() && tld.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(body: &[u8], http_charset: Option<&str>, want: &str) {
        let BodyText { text, charset, source } = decode_text(body, http_charset, Some("example"));
        assert_eq!(format!("{text} ({charset}, {source:?})"), want);
    }

    #[test]
    fn the_first_evidence_decides() {
        check(b"\xef\xbb\xbft\xc3\xa9", Some("latin1"), "t\u{e9} (utf-8, Bom)");
        check(b"\xff\xfet\0\xe9\0", Some("utf-8"), "t\u{e9} (utf-16le, Bom)");
        check(b"t\xe9", Some("ISO-8859-1"), "t\u{e9} (windows-1252, Http)");
        check(b"\xa4\xe2", Some(" gb2312 "), "\u{3082} (gbk, Http)");
        check(
            b"<meta charset=latin2>\xb1",
            None,
            "<meta charset=latin2>\u{105} (iso-8859-2, Meta)",
        );
        check("t\u{e9}".as_bytes(), None, "t\u{e9} (utf-8, Detected)");
    }

    #[test]
    fn an_unknown_label_decides_nothing() {
        check("t\u{e9}".as_bytes(), Some("utf-9"), "t\u{e9} (utf-8, Detected)");
        check("t\u{e9}".as_bytes(), Some("hz-gb-2312"), "t\u{e9} (utf-8, Detected)");
        check("<meta charset=utf-9>".as_bytes(), None, "<meta charset=utf-9> (utf-8, Detected)");
    }

    #[test]
    fn text_without_any_label_is_guessed() {
        let (russian, _, _) = encoding_rs::WINDOWS_1251.encode("Чай растёт в горах и пахнет дымом");
        let guess = decode_text(&russian, None, Some("ru"));
        assert_eq!((guess.charset, guess.source), ("windows-1251", CharsetSource::Detected));
        let (japanese, _, _) = encoding_rs::ISO_2022_JP.encode("お茶は山で育ちます");
        assert_eq!(decode_text(&japanese, None, None).charset, "iso-2022-jp");
    }

    proptest! {
        #[test]
        fn any_bytes_give_text(
            body in proptest::collection::vec(any::<u8>(), 0..300), tld in "\\PC{0,4}",
            label in proptest::option::of("[a-z0-9-]{0,12}"),
        ) {
            let got = decode_text(&body, label.as_deref(), Some(&tld));
            prop_assert!(NAMES.contains(&got.charset));
        }
    }
}
