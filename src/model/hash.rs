//! Hashes and identifiers that any language can compute again.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The first 128 bits of a blake3 hash, written as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 16]);

impl ContentHash {
    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_parts(&[bytes])
    }

    /// Hashes `parts` with a zero byte between neighbours, so that `["ab", "c"]` and
    /// `["a", "bc"]` differ.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for (n, part) in parts.iter().enumerate() {
            if n > 0 {
                hasher.update(&[0]);
            }
            hasher.update(part);
        }
        let mut first = [0; 16];
        hasher.finalize_xof().fill(&mut first);
        Self(first)
    }

    /// The first 8 bytes as a number.
    pub fn first_u64(self) -> u64 {
        let [first, ..] = self.0.as_chunks().0 else { return 0 };
        u64::from_be_bytes(*first)
    }

    /// Reads 32 hexadecimal digits, or `None` where `digits` is anything else.
    pub fn from_hex(digits: &str) -> Option<Self> {
        u128::from_str_radix(digits, 16)
            .ok()
            .filter(|_| digits.len() == 32)
            .map(|n| Self(n.to_be_bytes()))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for ContentHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = String::deserialize(deserializer)?;
        Self::from_hex(&digits).ok_or_else(|| serde::de::Error::custom("not 32 hexadecimal digits"))
    }
}

/// The identifier of a document: UUID version 5 (RFC 9562 §5.5) of its address in the URL namespace.
pub fn document_id(url: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_URL, url.as_bytes())
}

/// The identifier of a chunk: UUID version 5, in the namespace of its document, of
/// `embed_hash ⏎ ordinal`.
///
/// `ordinal` counts equal chunks of one page from 0. The place in the page is not part of it, so
/// a chunk that only moved keeps its identifier and need not be embedded again.
pub fn chunk_id(document: Uuid, embed_hash: ContentHash, ordinal: usize) -> Uuid {
    Uuid::new_v5(&document, format!("{embed_hash}\n{ordinal}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_kept_apart() {
        assert_ne!(ContentHash::of_parts(&[b"ab", b"c"]), ContentHash::of_parts(&[b"a", b"bc"]));
    }

    #[test]
    fn hex_reads_back() {
        let hash = ContentHash::of(b"tea");
        assert_eq!(ContentHash::from_hex(&hash.to_string()), Some(hash));
        assert_eq!(ContentHash::from_hex("12"), None);
    }

    #[test]
    fn a_document_id_is_what_any_uuid_library_computes() {
        // python3 -c 'import uuid; print(uuid.uuid5(uuid.NAMESPACE_URL, "https://example.org/"))'
        assert_eq!(
            document_id("https://example.org/").to_string(),
            "527dda32-a0de-5105-a042-cb475b5f7d11"
        );
    }
}
