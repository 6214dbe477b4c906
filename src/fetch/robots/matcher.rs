//! Path patterns: `*` for any octets, a final `$` for the end, all else literal.
//!
//! In: the value of a rule, and addresses. Out: whether they match (RFC 9309 §2.2.2, §2.2.3).
//!
//! Both sides are first brought into one form: escapes of unreserved characters are decoded,
//! every other escape is in upper case, and what an address cannot hold literally is escaped.
//! Matching never goes back: the text between two `*` is taken where it first occurs, which
//! loses no match and keeps the time linear in the path.

use memchr::memmem;
use url::Url;

/// The pattern of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The literals before, between and after the wildcards: at least one.
    literals: Vec<Vec<u8>>,
    end: End,
    octets: usize,
}

/// Where a match must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Anywhere,
    AtEndOfPath,
}

impl Pattern {
    /// Reads the value of a rule; `None` where it is empty, since such a rule says nothing.
    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        if value.is_empty() {
            return None;
        }
        let (value, end) = match value.strip_suffix(b"$") {
            Some(rest) => (rest, End::AtEndOfPath),
            None => (value, End::Anywhere),
        };
        let mut literals: Vec<Vec<u8>> = Vec::new();
        for (n, piece) in value.split(|byte| *byte == b'*').enumerate() {
            // Two wildcards in a row are one.
            if piece.is_empty() && n > 1 && literals.last().is_some_and(Vec::is_empty) {
                continue;
            }
            literals.push(normalized(piece));
        }
        let wildcards = literals.len().saturating_sub(1);
        let octets = literals.iter().map(Vec::len).sum::<usize>()
            + wildcards
            + usize::from(end == End::AtEndOfPath);
        Some(Self { literals, end, octets })
    }

    /// How specific the pattern is: its length in octets, in normal form.
    pub(super) fn octets(&self) -> usize {
        self.octets
    }

    /// Whether the pattern matches `path`, which is in the form of [`normalized_path`].
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        let Some((first, others)) = self.literals.split_first() else {
            return false;
        };
        let Some(mut rest) = path.strip_prefix(first.as_slice()) else {
            return false;
        };
        let Some((last, middle)) = others.split_last() else {
            return self.end == End::Anywhere || rest.is_empty();
        };
        for literal in middle {
            match after(rest, literal) {
                Some(tail) => rest = tail,
                None => return false,
            }
        }
        match self.end {
            End::Anywhere => after(rest, last).is_some(),
            End::AtEndOfPath => rest.ends_with(last),
        }
    }
}

/// What follows the first `literal` in `text`.
fn after<'a>(text: &'a [u8], literal: &[u8]) -> Option<&'a [u8]> {
    let at = memmem::find(text, literal)?;
    text.get(at + literal.len()..)
}

/// The path and query of `url`, in normal form.
pub(super) fn normalized_path(url: &Url) -> Vec<u8> {
    let mut path = normalized(url.path().as_bytes());
    if let Some(query) = url.query() {
        path.push(b'?');
        path.extend(normalized(query.as_bytes()));
    }
    path
}

/// Brings `text` into the form in which patterns and paths are compared.
fn normalized(text: &[u8]) -> Vec<u8> {
    let mut normal = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'%' {
            push_literal(&mut normal, byte);
        } else if let Some((octet, tail)) = escaped(tail) {
            rest = tail;
            push_octet(&mut normal, octet);
        } else {
            normal.push(b'%');
        }
    }
    normal
}

/// The octet that two hexadecimal digits at the start of `text` stand for, and what follows.
fn escaped(text: &[u8]) -> Option<(u8, &[u8])> {
    let (&[high, low], rest) = text.split_first_chunk::<2>()?;
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
    Some((digit(high)? << 4 | digit(low)?, rest))
}

/// Appends a character that stood in the text as itself.
///
/// Reserved characters stay, save three: `*` and `$`, so that the literal and its escape are the
/// same and neither is a wildcard; and `'`, which the URL Standard's parser escapes in queries.
fn push_literal(normal: &mut Vec<u8>, byte: u8) {
    if matches!(
        byte,
        b':' | b'/'
            | b'?'
            | b'#'
            | b'['
            | b']'
            | b'@'
            | b'!'
            | b'&'
            | b'('
            | b')'
            | b'+'
            | b','
            | b';'
            | b'='
    ) {
        normal.push(byte);
    } else {
        push_octet(normal, byte);
    }
}

/// Appends an octet that stood in the text as an escape, or should have.
fn push_octet(normal: &mut Vec<u8>, octet: u8) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    if octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~') {
        normal.push(octet);
        return;
    }
    normal.push(b'%');
    normal.extend(HEX.get(usize::from(octet >> 4)));
    normal.extend(HEX.get(usize::from(octet & 15)));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(pattern: &str, matching: &[&str], others: &[&str]) {
        let pattern = Pattern::parse(pattern.as_bytes()).unwrap();
        let base = Url::parse("http://h.example").unwrap();
        let matches = |path: &&&str| pattern.matches(&normalized_path(&base.join(path).unwrap()));
        assert!(matching.iter().all(|path| matches(&path)), "{pattern:?} of {matching:?}");
        assert!(!others.iter().any(|path| matches(&path)), "{pattern:?} of {others:?}");
    }

    #[test]
    fn a_pattern_matches_from_the_start_of_the_path() {
        check("/a", &["/a", "/a/b?c"], &["/b/a", "/A"]);
        check("a", &[], &["/a"]);
        check("/a?b", &["/a?b=1"], &["/a", "/a?c&b"]);
    }

    #[test]
    fn a_star_stands_for_any_octets() {
        check("/*.php", &["/x/index.php?y", "/.php"], &["/php"]);
        check("*b", &["/a/b", "/b"], &["/a"]);
        check("/a***b", &["/a-b", "/ab"], &["/a"]);
        check("/a**", &["/a", "/ab"], &["/"]);
        check("/a*b*c", &["/a-b-c"], &["/a-c-b"]);
    }

    #[test]
    fn a_final_dollar_stands_for_the_end() {
        check("/a$", &["/a"], &["/ab", "/a?"]);
        check("/*.php$", &["/x.php.php"], &["/x.php?y"]);
        check("/a*$", &["/a/b"], &["/b"]);
        check("/aba*ba$", &["/ababa"], &["/aba"]);
        check("/a$b", &["/a$bc"], &["/a"]);
    }

    #[test]
    fn escapes_and_literals_are_the_same() {
        check("/%7euser", &["/~user", "/%7Euser"], &[]);
        check("/caf\u{e9}", &["/caf%c3%A9", "/caf\u{e9}"], &["/cafe"]);
        check("/a%2fb", &["/a%2Fb"], &["/a/b"]);
        check("/%2A", &["/*", "/%2a"], &["/x"]);
        check("/p%24", &["/p$"], &["/p"]);
        check("/a<b", &["/a%3Cb", "/a<b"], &[]);
        check("/?q='x'", &["/?q='x'"], &[]);
        check("/100%", &["/100%"], &["/100"]);
    }

    /// The textbook definition, exponential but plainly right.
    fn matches_by_definition(pattern: &[u8], path: &[u8]) -> bool {
        match (pattern, path) {
            ([], _) | (b"$", []) => true,
            ([b'*', rest @ ..], _) => {
                (0..=path.len()).any(|at| matches_by_definition(rest, &path[at..]))
            }
            ([p, pattern @ ..], [q, path @ ..]) => p == q && matches_by_definition(pattern, path),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn matching_is_what_the_definition_says(
            pattern in "/?[ab*]{0,8}\\$?", path in "/[ab]{0,10}",
        ) {
            prop_assume!(!pattern.is_empty());
            let parsed = Pattern::parse(pattern.as_bytes()).unwrap();
            let want = matches_by_definition(pattern.as_bytes(), path.as_bytes());
            prop_assert_eq!(parsed.matches(path.as_bytes()), want);
        }

        #[test]
        fn normalizing_twice_changes_nothing(text in proptest::collection::vec(any::<u8>(), 0..40)) {
            let once = normalized(&text);
            prop_assert_eq!(normalized(&once), once);
        }
    }
}
