//! What is the text like, and is it wanted?
//!
//! In: a document. Out: the same with its language, a [`Quality`] (signals by which a user can
//! filter) and a [`Sketch`] (by which texts like it are found). Only
//! what the options ask for keeps a page out, and then under a reason of its own.
//!
//! All signals are of the text that a reader sees: Markdown's marks and the addresses of links do
//! not count. Time and memory are linear in the text. It reads no clock and knows no other page.

mod heuristics;
mod language;
mod prose;
mod repetition;
mod stop_words;
mod words;

use serde::{Deserialize, Serialize};

use self::prose::Prose;
use self::words::Words;
use crate::model::{Document, Exclusion, Heuristic, Quality, Ratio, Sketch};

/// Words of a run by which texts are held against each other (as in FineWeb).
const SHINGLE_WORDS: usize = 5;

/// Which pages are wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QualityOptions {
    /// Languages of pages that are collected, as ISO 639 codes; where empty, all.
    pub languages: Vec<String>,
    /// Fewest words.
    pub min_words: u32,
    /// Largest share of characters that are links.
    pub max_link_density: Ratio,
    /// Least share of words that are stop words of the language.
    pub min_stop_word_share: Ratio,
    /// Most number signs and ellipses a word.
    pub max_symbol_share: Ratio,
    /// Largest share of characters in repeated lines.
    pub max_repetition: Ratio,
    /// Published heuristics that a page must meet.
    pub heuristics: Vec<Heuristic>,
}

impl Default for QualityOptions {
    fn default() -> Self {
        Self {
            languages: Vec::new(),
            min_words: 0,
            max_link_density: Ratio::ALL,
            min_stop_word_share: Ratio::default(),
            max_symbol_share: Ratio::ALL,
            max_repetition: Ratio::ALL,
            heuristics: Vec::new(),
        }
    }
}

impl QualityOptions {
    /// Why a page that was measured is not wanted, if it is not. What is not known of a page is
    /// not held against it.
    pub fn exclusion(&self, document: &Document) -> Option<Exclusion> {
        let Some(quality) = &document.quality else { return Some(Exclusion::Empty) };
        let lang = document.metadata.lang.as_deref();
        let is_foreign =
            |lang| !self.languages.is_empty() && !self.languages.iter().any(|l| l == lang);
        let lacks_stop_words = |share| share < self.min_stop_word_share;
        let verdicts = [
            (Exclusion::Language, lang.is_some_and(is_foreign)),
            (Exclusion::FewWords, quality.words < self.min_words),
            (Exclusion::LinkDensity, quality.link_density > self.max_link_density),
            (Exclusion::FewStopWords, quality.stop_word_share.is_some_and(lacks_stop_words)),
            (Exclusion::Symbols, quality.symbol_share > self.max_symbol_share),
            (Exclusion::Repetition, quality.repetition > self.max_repetition),
            (Exclusion::Heuristic, quality.failed.iter().any(|h| self.heuristics.contains(h))),
        ];
        verdicts.into_iter().find(|(_, applies)| *applies).map(|(exclusion, _)| exclusion)
    }
}

/// How much of a page's Markdown is measured, in bytes: reading it takes a hundred times its room
/// where every character may be markup.
const MEASURED_BYTES: usize = 1_000_000;

/// Finds the language of `document`, where it can be told, and measures its text, where there is
/// any: the first megabyte of it.
pub fn assess(document: &mut Document) {
    if document.markdown.is_empty() {
        return;
    }
    let markdown = document.markdown.as_str();
    let measured = markdown.get(..markdown.floor_char_boundary(MEASURED_BYTES));
    let prose = Prose::of(measured.unwrap_or(markdown));
    language::find(&prose, &mut document.metadata);
    let words = Words::of(&prose.text, document.metadata.lang.as_deref());
    let lines = repetition::lines(&prose);
    document.quality = Some(Quality {
        words: u32::try_from(words.list.len()).unwrap_or(u32::MAX),
        link_density: Ratio::share(prose.link_chars, lines.all_chars),
        stop_word_share: words.stopped.map(|found| Ratio::share(found, words.list.len())),
        symbol_share: Ratio::share(prose.symbols, words.list.len()),
        repetition: lines.chars,
        failed: heuristics::failed(&prose, lines, &words),
    });
    document.sketch = Sketch::of(words.list.windows(SHINGLE_WORDS).map(repetition::hash));
}

#[cfg(test)]
mod tests;
