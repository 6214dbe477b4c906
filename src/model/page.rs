//! A page on its way from the frontier to extraction.

use serde::{Deserialize, Serialize};

use super::{CanonicalUrl, WebUrl};

/// A moment: microseconds since 1970-01-01T00:00:00 UTC.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

/// What a server gave to recognize an unchanged page by, byte for byte (RFC 9110 §8.8).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// The `ETag` field.
    pub etag: Option<String>,
    /// The `Last-Modified` field.
    pub last_modified: Option<String>,
}

/// A page to be fetched.
///
/// # Invariants
///
/// - The address is in scope, and `depth` within the limit.
/// - Validators come from the store alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The store's number of the page.
    pub id: i64,
    /// The address as it was found: what is asked for.
    pub url: WebUrl,
    /// The page's key.
    pub key: CanonicalUrl,
    /// Links between a seed and the page: 0 for a seed.
    pub depth: u32,
    /// The page that the address was found on.
    pub referrer: Option<String>,
    /// Redirects that led here, one after the other.
    pub redirects: u32,
    /// Tries before this one in this run.
    pub tries: u32,
    /// Times the program ended while it converted the page.
    pub crashes: u32,
    /// What to recognize an unchanged page by.
    pub validators: Validators,
    /// Whether its chunks are in the corpus.
    pub is_live: bool,
}

/// An answer whose body is whole.
///
/// # Invariants
///
/// - `body` is decoded from its content coding, complete, and no longer than `max_body_bytes`.
/// - A body that was cut or broken never becomes a `FetchedPage`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedPage {
    /// The address that was asked for.
    pub url: WebUrl,
    /// The HTTP status.
    pub status: u16,
    /// The media type in lower case without parameters, declared or found by sniffing.
    pub media_type: String,
    /// The charset parameter of `Content-Type`, as declared.
    pub charset: Option<String>,
    /// The decoded body.
    pub body: Vec<u8>,
    /// Directives of `X-Robots-Tag` fields, one string a field.
    pub robots_tags: Vec<String>,
    /// Target of the first `Link` field with `rel=canonical`.
    pub link_canonical: Option<WebUrl>,
    /// Targets of `Link` fields that lead on: `next`, `prev`, and other languages.
    pub links: Vec<WebUrl>,
    /// The `Cache-Control` field.
    pub cache_control: Option<String>,
    /// Values of `Content-Usage` and `Content-Signal` fields.
    pub usage: Vec<String>,
    /// What to recognize the page by next time.
    pub validators: Validators,
    /// When the answer had arrived.
    pub fetched_at: Timestamp,
    /// From the request to the end of the body, in milliseconds.
    pub elapsed_ms: u64,
}

/// Which evidence decided a page's charset, in the order of the Encoding Standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharsetSource {
    /// A byte order mark.
    Bom,
    /// The `charset` parameter of `Content-Type`.
    Http,
    /// A `meta` element or XML declaration in the first 1,024 bytes.
    Meta,
    /// A detector's guess.
    Detected,
    /// The caller said so.
    Given,
}

/// A body as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyText {
    /// The text; malformed sequences are U+FFFD.
    pub text: String,
    /// The encoding's name in the Encoding Standard, lower case.
    pub charset: &'static str,
    /// What decided the encoding.
    pub source: CharsetSource,
}
