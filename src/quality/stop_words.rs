//! Lists of stop words.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The stop words of a language.
pub(super) type StopWords = HashSet<&'static str>;

/// Every list of the Stopwords ISO collection, by two-letter code (ISO 639-1).
static LISTS: LazyLock<HashMap<String, StopWords>> = LazyLock::new(|| {
    let letters = 'a'..='z';
    let codes = letters.clone().flat_map(|a| letters.clone().map(move |b| format!("{a}{b}")));
    let list = |code: String| {
        let words = stop_words::lookup(&code)?;
        Some((code, words.iter().copied().collect()))
    };
    codes.filter_map(list).collect()
});

/// The stop words of the language with code `lang`, where there is a list.
pub(super) fn stop_words(lang: &str) -> Option<&'static StopWords> {
    LISTS.get(lang)
}
