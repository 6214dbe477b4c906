//! The words of a text.

use twox_hash::XxHash3_64;
use unicode_segmentation::UnicodeSegmentation as _;

use super::stop_words::stop_words;

/// The words of which English prose has at least two (Rae et al. 2021, A.1.1).
const COMMON_ENGLISH: [&str; 8] = ["the", "be", "to", "of", "and", "that", "have", "with"];

/// A word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    /// Of its lower case.
    pub(super) hash: u64,
    /// Its length in characters.
    pub(super) chars: u32,
    pub(super) has_letter: bool,
}

/// The words of a text, in order, and what they say of it.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) list: Vec<Word>,
    /// Characters of all of them.
    pub(super) chars: usize,
    /// How many of them are stop words, where there is a list for the language.
    pub(super) stopped: Option<usize>,
    /// How many of the eight most common words of English occur, where the language is English.
    pub(super) common_english: Option<usize>,
    /// Whether spaces set words apart: not in Chinese, Japanese, Thai, Lao, Khmer and Burmese.
    pub(super) are_spaced: bool,
}

impl Words {
    /// The words of `text` in the language `lang`.
    pub(super) fn of(text: &str, lang: Option<&str>) -> Self {
        let known = lang.and_then(stop_words);
        let (mut list, mut stopped) = (Vec::with_capacity(text.len() / 6), 0);
        let mut unspaced = 0_usize;
        let mut common = [false; COMMON_ENGLISH.len()];
        let mut lower = String::new();
        for word in text.unicode_words() {
            lower.clear();
            lower.extend(word.chars().flat_map(char::to_lowercase));
            stopped += usize::from(known.is_some_and(|known| known.contains(lower.as_str())));
            if let Some(at) = COMMON_ENGLISH.iter().position(|common| *common == lower)
                && let Some(slot) = common.get_mut(at)
            {
                *slot = true;
            }
            unspaced += usize::from(word.chars().all(is_unspaced));
            list.push(Word {
                hash: XxHash3_64::oneshot(lower.as_bytes()),
                chars: u32::try_from(word.chars().count()).unwrap_or(u32::MAX),
                has_letter: word.chars().any(char::is_alphabetic),
            });
        }
        let are_spaced = unspaced * 2 <= list.len();
        let chars = list.iter().map(|word: &Word| word.chars as usize).sum();
        let common = common.iter().filter(|occurs| **occurs).count();
        Self {
            list,
            chars,
            stopped: known.filter(|_| are_spaced).map(|_| stopped),
            common_english: (lang == Some("en")).then_some(common),
            are_spaced,
        }
    }
}

/// Whether `c` belongs to a script that writes words without spaces.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' |
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' |
        '\u{20000}'..='\u{3ffff}')
}
