//! How much of a text stands in it more than once.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use super::prose::Prose;
use super::words::{Word, Words};
use crate::model::Ratio;

/// The lines or the paragraphs of a text, and what is repeated among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Repeated {
    /// How many there are, and how many characters they have.
    pub(super) all: usize,
    pub(super) all_chars: usize,
    /// The share of those that stood before in the text.
    pub(super) count: Ratio,
    /// The share of characters in them.
    pub(super) chars: Ratio,
}

/// Repetition among lines.
pub(super) fn lines(prose: &Prose) -> Repeated {
    repeated(prose.lines())
}

/// Repetition among paragraphs.
pub(super) fn paragraphs(prose: &Prose) -> Repeated {
    repeated(prose.paragraphs())
}

fn repeated<'a>(parts: impl Iterator<Item = &'a str>) -> Repeated {
    let mut seen = HashSet::new();
    let (mut count, mut chars, mut again, mut again_chars) = (0, 0, 0, 0);
    for part in parts {
        let own = part.chars().count();
        count += 1;
        chars += own;
        if !seen.insert(part) {
            again += 1;
            again_chars += own;
        }
    }
    Repeated {
        all: count,
        all_chars: chars,
        count: Ratio::share(again, count),
        chars: Ratio::share(again_chars, chars),
    }
}

/// The share of characters in the most frequent run of `n` words, where it occurs more than once.
pub(super) fn top_n_gram(words: &Words, n: usize) -> Ratio {
    let mut counts: HashMap<u64, usize, Hashed> =
        HashMap::with_capacity_and_hasher(words.list.len(), Hashed::default());
    let mut most = 0;
    for gram in words.list.windows(n) {
        let count = counts.entry(hash(gram)).or_default();
        *count += 1;
        if *count > 1 {
            most = most.max(*count * chars(gram));
        }
    }
    Ratio::share(most, words.chars)
}

/// The share of characters in runs of `n` words that stood before; runs do not overlap.
pub(super) fn duplicate_n_grams(words: &Words, n: usize) -> Ratio {
    let mut seen: HashSet<u64, Hashed> =
        HashSet::with_capacity_and_hasher(words.list.len(), Hashed::default());
    let (mut at, mut repeated) = (0, 0);
    while let Some(gram) = words.list.get(at..at + n) {
        if seen.insert(hash(gram)) {
            at += 1;
        } else {
            repeated += chars(gram);
            at += n;
        }
    }
    Ratio::share(repeated, words.chars)
}

fn chars(words: &[Word]) -> usize {
    words.iter().map(|word| word.chars as usize).sum()
}

/// One hash of a run of words, in order.
pub(super) fn hash(words: &[Word]) -> u64 {
    let step = |hash: u64, word: &Word| {
        (hash.rotate_left(5) ^ word.hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    words.iter().fold(0, step)
}

/// Takes what is a hash already as it is.
type Hashed = BuildHasherDefault<AsIs>;

#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
