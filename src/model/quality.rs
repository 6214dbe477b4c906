//! What the text of a page is like.

use serde::{Deserialize, Serialize};

use super::Ratio;

/// Signals of what a text is like. They decide nothing by themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quality {
    /// Words (Unicode Standard Annex 29); in Chinese and Japanese, characters.
    pub words: u32,
    /// Share of characters that are links.
    pub link_density: Ratio,
    /// Share of words that are stop words of the text's language; `None` where there is no list of
    /// them, or words are not set apart by spaces.
    pub stop_word_share: Option<Ratio>,
    /// Number signs and ellipses for each word, at most 1.
    pub symbol_share: Ratio,
    /// Share of characters in lines that stood before in the text.
    pub repetition: Ratio,
    /// Published heuristics that the text does not meet, in the order of their names.
    pub failed: Vec<Heuristic>,
}

codes! {
    /// A published rule of thumb for texts to train language models on: Table A1 and section A.1.1
    /// of Rae et al. 2021 (Gopher, arXiv:2112.11446), section 2.2 of Raffel et al. 2020 (C4).
    Heuristic {
        /// A page has at least 3 sentences.
        FewSentences = "c4.few_sentences",
        /// A page has no curly bracket.
        CurlyBracket = "c4.curly_bracket",
        /// A page does not say "lorem ipsum".
        LoremIpsum = "c4.lorem_ipsum",
        /// 80 % of words have a letter.
        AlphabeticWords = "gopher.alphabetic_words",
        /// At most 90 % of lines are items of a list.
        BulletLines = "gopher.bullet_lines",
        /// At most 15 % of characters are in repeated runs of 5 words.
        Duplicate5Grams = "gopher.duplicate_5grams",
        /// At most 14 % of characters are in repeated runs of 6 words.
        Duplicate6Grams = "gopher.duplicate_6grams",
        /// At most 13 % of characters are in repeated runs of 7 words.
        Duplicate7Grams = "gopher.duplicate_7grams",
        /// At most 12 % of characters are in repeated runs of 8 words.
        Duplicate8Grams = "gopher.duplicate_8grams",
        /// At most 11 % of characters are in repeated runs of 9 words.
        Duplicate9Grams = "gopher.duplicate_9grams",
        /// At most 10 % of characters are in repeated runs of 10 words.
        Duplicate10Grams = "gopher.duplicate_10grams",
        /// At most 20 % of characters are in repeated lines.
        DuplicateLineChars = "gopher.duplicate_line_chars",
        /// At most 30 % of lines are repeated.
        DuplicateLines = "gopher.duplicate_lines",
        /// At most 20 % of characters are in repeated paragraphs.
        DuplicateParagraphChars = "gopher.duplicate_paragraph_chars",
        /// At most 30 % of paragraphs are repeated.
        DuplicateParagraphs = "gopher.duplicate_paragraphs",
        /// At most 30 % of lines end with an ellipsis.
        EllipsisLines = "gopher.ellipsis_lines",
        /// Words are 3 to 10 characters long on average.
        MeanWordLength = "gopher.mean_word_length",
        /// At least two of "the", "be", "to", "of", "and", "that", "have" and "with" occur. For
        /// English alone.
        StopWords = "gopher.stop_words",
        /// At most one number sign or ellipsis for ten words.
        SymbolShare = "gopher.symbol_share",
        /// The most frequent pair of words takes at most 20 % of characters.
        Top2Gram = "gopher.top_2gram",
        /// The most frequent run of 3 words takes at most 18 % of characters.
        Top3Gram = "gopher.top_3gram",
        /// The most frequent run of 4 words takes at most 16 % of characters.
        Top4Gram = "gopher.top_4gram",
        /// There are 50 to 100,000 words.
        WordCount = "gopher.word_count",
    }
}
