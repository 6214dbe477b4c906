//! Addresses: as they are asked for, and as they are known.
//!
//! A page has two: the [`WebUrl`] that a server is asked for, as it was found, and the
//! [`CanonicalUrl`] that it is known by. The key drops what does not name a page (fragment,
//! tracking parameters, session ids, default port) and keeps what may: scheme, `www.`, letter
//! case of the path, trailing slash. Those are merged by evidence alone: a redirect, or equal
//! content.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// Longest address, in bytes. Longer ones are nearly always traps; the bound is the one that
/// large sites can rely on everywhere (2,083, Internet Explorer's).
const MAX_URL_BYTES: usize = 2_083;

/// Query parameters that only track where a visitor came from, in lower case.
const TRACKING: &[&str] = &[
    "gclid",
    "gclsrc",
    "dclid",
    "wbraid",
    "gbraid",
    "gad_source",
    "fbclid",
    "fb_source",
    "fb_ref",
    "msclkid",
    "yclid",
    "ysclid",
    "_openstat",
    "twclid",
    "ttclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "_hsenc",
    "_hsmi",
    "__hstc",
    "__hssc",
    "__hsfp",
    "hsctatracking",
    "oly_anon_id",
    "oly_enc_id",
    "vero_id",
    "vero_conv",
    "wickedid",
    "s_cid",
    "srsltid",
    "_ga",
    "_gl",
    "spm",
];

/// Beginnings of such parameters.
const TRACKING_PREFIXES: &[&str] = &["utm_", "mtm_", "ga_", "fb_action_"];

/// Query parameters that hold a session id when their value looks like one, in lower case.
const SESSION: &[&str] = &["jsessionid", "phpsessid", "sid", "cfid", "cftoken"];

/// Fewest characters of a session id: shorter values name things.
const MIN_SESSION_ID: usize = 20;

/// Why an address cannot be a page's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Not an address at all.
    #[error("not a valid address ({0})")]
    Syntax(#[from] url::ParseError),
    /// A scheme other than `http` and `https`.
    #[error("scheme `{0}` is not http or https")]
    Scheme(String),
    /// A user name or password.
    #[error("it holds a user name or password")]
    Credentials,
    /// Longer than 2,083 bytes.
    #[error("it is {0} bytes long, more than 2083")]
    TooLong(usize),
}

/// Reads `reference` as a link on the page at `base`, by the URL Standard's parser.
///
/// The `url` crate refuses surplus slashes before a host, which the standard skips in an `http`
/// address and browsers follow; they are taken off here.
///
/// # Errors
///
/// Fails where the outcome is no address.
pub fn resolve(base: &Url, reference: &str) -> Result<Url, url::ParseError> {
    let host = reference.trim_start_matches(|c: char| c <= ' ' || matches!(c, '/' | '\\'));
    let before = reference.strip_suffix(host).unwrap_or_default();
    let slashes = before.matches(['/', '\\']).count();
    if slashes > 2 && matches!(base.scheme(), "http" | "https") {
        return base.join(&format!("//{host}"));
    }
    base.join(reference)
}

/// An absolute `http` or `https` address that may be asked for.
///
/// # Invariants
///
/// - No fragment, no user name, no password; at most 2,083 bytes.
/// - Otherwise as it was found, by the URL Standard's parser.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WebUrl(Url);

impl WebUrl {
    /// Reads an absolute address.
    ///
    /// # Errors
    ///
    /// Fails where `address` is relative, has no host, names a user, is too long, or is neither
    /// `http` nor `https`.
    pub fn parse(address: &str) -> Result<Self, UrlError> {
        Self::checked(Url::parse(address)?)
    }

    /// Reads `reference` as a link on the page `self`.
    ///
    /// # Errors
    ///
    /// As [`WebUrl::parse`].
    pub fn join(&self, reference: &str) -> Result<Self, UrlError> {
        Self::checked(resolve(&self.0, reference)?)
    }

    fn checked(mut url: Url) -> Result<Self, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::Credentials);
        }
        url.set_fragment(None);
        // Without its dots `.` would be no host, and `1..` the address 0.0.0.1.
        let name = url.host_str().unwrap_or_default();
        if name.strip_suffix('.').unwrap_or(name).split('.').any(str::is_empty) {
            return Err(UrlError::Syntax(url::ParseError::EmptyHost));
        }
        match url.as_str().len() {
            n if n > MAX_URL_BYTES => Err(UrlError::TooLong(n)),
            _ => Ok(Self(url)),
        }
    }

    /// The key of the page at this address.
    pub fn key(&self) -> CanonicalUrl {
        CanonicalUrl::of(self)
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The parsed address.
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// The host without a trailing dot: a name in ASCII, or an address literal.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default().trim_end_matches('.')
    }

    /// The address literal that stands in the place of a name.
    pub fn ip(&self) -> Option<std::net::IpAddr> {
        match self.0.host() {
            Some(Host::Ipv4(ip)) => Some(ip.into()),
            Some(Host::Ipv6(ip)) => Some(ip.into()),
            _ => None,
        }
    }

    /// `scheme://host[:port]`: what one robots.txt and one politeness delay hold for.
    pub fn authority(&self) -> String {
        let port = self.0.port().map_or(String::new(), |port| format!(":{port}"));
        format!("{}://{}{port}", self.0.scheme(), self.host())
    }
}

impl fmt::Display for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for WebUrl {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for WebUrl {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// An absolute `http` or `https` address in canonical form: the key of a page everywhere.
///
/// # Invariants
///
/// - No fragment, no user name, no password, no default port, no trailing dot of the host.
/// - No tracking parameter and no session id; parameters stand in the order of their names.
/// - Escapes of unreserved characters are decoded, others are in upper case (RFC 3986 §6.2.2).
/// - Canonicalizing twice gives the same value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CanonicalUrl(String);

impl CanonicalUrl {
    /// Canonicalizes `address`.
    ///
    /// # Errors
    ///
    /// As [`WebUrl::parse`].
    pub fn parse(address: &str) -> Result<Self, UrlError> {
        WebUrl::parse(address).map(|url| url.key())
    }

    fn of(url: &WebUrl) -> Self {
        let mut text = url.authority();
        text.push_str(&without_session(&normalize_escapes(url.as_url().path())));
        if let Some(query) = url.as_url().query().and_then(canonical_query) {
            text.push('?');
            text.push_str(&query);
        }
        Self(text)
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CanonicalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Sorts the parameters of `query` by name and drops those that do not name a page; `None` where
/// nothing is left. Parameters of one name keep their order.
fn canonical_query(query: &str) -> Option<String> {
    let mut parameters: Vec<(String, String)> = query
        .split('&')
        .filter(|parameter| !parameter.is_empty())
        .map(normalize_escapes)
        .map(|parameter| {
            let name = parameter.split('=').next().unwrap_or_default().to_owned();
            (name, parameter)
        })
        .filter(|(name, parameter)| !is_noise(name, parameter))
        .collect();
    parameters.sort_by(|a, b| a.0.cmp(&b.0));
    let kept: Vec<String> = parameters.into_iter().map(|(_, parameter)| parameter).collect();
    (!kept.is_empty()).then(|| kept.join("&"))
}

fn is_noise(name: &str, parameter: &str) -> bool {
    let name = name.to_ascii_lowercase();
    if TRACKING.contains(&name.as_str())
        || TRACKING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    {
        return true;
    }
    let is_session = SESSION.contains(&name.as_str()) || name.starts_with("aspsessionid");
    let value = parameter.split_once('=').map_or("", |(_, value)| value);
    is_session && looks_like_id(value)
}

fn looks_like_id(value: &str) -> bool {
    value.len() >= MIN_SESSION_ID && value.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Drops `;jsessionid=…` from every segment of `path`.
fn without_session(path: &str) -> String {
    let mut segments = path.split('/').map(|segment| {
        let at = segment.to_ascii_lowercase().find(";jsessionid=");
        at.and_then(|at| segment.get(..at)).unwrap_or(segment)
    });
    let first = segments.next().unwrap_or_default().to_owned();
    segments.fold(first, |mut path, segment| {
        path.push('/');
        path.push_str(segment);
        path
    })
}

/// Decodes escapes of unreserved characters and writes the others in upper case.
fn normalize_escapes(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    let mut pieces = text.split('%');
    normal.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let digits = piece.get(..2).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let (Some(byte), Some(rest)) = (value, piece.get(2..)) {
            if is_open_escape(&normal) {
                push_escape(&mut normal, byte);
            } else {
                push_octet(&mut normal, byte);
            }
            normal.push_str(rest);
        } else {
            normal.push('%');
            normal.push_str(piece);
        }
    }
    normal
}

/// Whether `text` ends within an escape: `%` alone or with one digit. What follows must not become
/// its end: `%%30a` is not `%0a`.
fn is_open_escape(text: &str) -> bool {
    match text.as_bytes() {
        [.., b'%'] => true,
        [.., b'%', digit] => digit.is_ascii_hexdigit(),
        _ => false,
    }
}

fn push_octet(text: &mut String, byte: u8) {
    if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
        text.push(char::from(byte));
    } else {
        push_escape(text, byte);
    }
}

fn push_escape(text: &mut String, byte: u8) {
    const HEX: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    text.push('%');
    text.extend(HEX.get(usize::from(byte >> 4)));
    text.extend(HEX.get(usize::from(byte & 15)));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(address: &str, want: &str) {
        let got = CanonicalUrl::parse(address)
            .map_or_else(|error| format!("error: {error}"), |url| url.to_string());
        assert_eq!(got, want);
    }

    #[test]
    fn drops_what_does_not_name_a_page() {
        check("HTTP://Example.org:80/a#b", "http://example.org/a");
        check("https://example.org.", "https://example.org/");
        check("http://example.org/a?utm_source=x&id=1&fbclid=2", "http://example.org/a?id=1");
        check("http://example.org/a;jsessionid=12/b?", "http://example.org/a/b");
        check("http://h/?PHPSESSID=0a1b2c3d4e5f60718293a4b5c6d7e8f9", "http://h/");
    }

    #[test]
    fn keeps_what_may_name_a_page() {
        check("http://www.example.org//A/?sid=42&ref=x", "http://www.example.org//A/?ref=x&sid=42");
        check("http://h:8080/index.html", "http://h:8080/index.html");
        check("http://h/a%2fb/%7euser", "http://h/a%2Fb/~user");
        check("http://h/?b=2&a=1&b=1", "http://h/?a=1&b=2&b=1");
    }

    #[test]
    fn refuses_what_is_no_page() {
        check("ftp://h/", "error: scheme `ftp` is not http or https");
        check("http://me:pw@h/", "error: it holds a user name or password");
        check("/a", "error: not a valid address (relative URL without a base)");
        check("http://./a", "error: not a valid address (empty host)");
        check("http://1../", "error: not a valid address (empty host)");
        check("http://a..b/", "error: not a valid address (empty host)");
    }

    #[test]
    fn links_are_read_against_their_page() {
        let page = WebUrl::parse("http://h/a/b").unwrap();
        assert_eq!(page.join("../c?x#y").unwrap().as_str(), "http://h/c?x");
        assert_eq!(page.join("///g/../c").unwrap().as_str(), "http://g/c");
        assert!(page.join("//").is_err());
        assert_eq!(page.authority(), "http://h");
    }

    proptest! {
        #[test]
        fn canonicalizing_twice_changes_nothing(
            rest in "[a-zA-Z0-9/%?&=;.é~ -]{0,40}", port in proptest::option::of(1_u16..),
        ) {
            let port = port.map_or(String::new(), |port| format!(":{port}"));
            let Ok(once) = CanonicalUrl::parse(&format!("http://h.example{port}/{rest}")) else {
                return Ok(());
            };
            prop_assert_eq!(&CanonicalUrl::parse(once.as_str()).unwrap(), &once);
        }
    }
}
