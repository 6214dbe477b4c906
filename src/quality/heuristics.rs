//! The published heuristics, with the thresholds that were published.

use unicode_segmentation::UnicodeSegmentation as _;

use super::prose::Prose;
use super::repetition::{Repeated, duplicate_n_grams, paragraphs, top_n_gram};
use super::words::Words;
use crate::model::{Heuristic, Ratio};

/// The heuristics that a text does not meet, in the order of their names. An empty text meets none
/// that wants something, and all that forbid something.
pub(super) fn failed(prose: &Prose, lines: Repeated, words: &Words) -> Vec<Heuristic> {
    let all = of_words(words)
        .chain(of_lines(prose, lines, words))
        .chain(of_repetition(prose, lines, words));
    let mut failed: Vec<Heuristic> = all.chain(of_c4(prose)).collect();
    failed.sort_unstable_by_key(|heuristic| heuristic.code());
    failed
}

fn of_words(words: &Words) -> impl Iterator<Item = Heuristic> + use<> {
    let count = words.list.len();
    let letters = words.list.iter().filter(|word| word.has_letter).count();
    let is_long = words.chars > 10 * count;
    let is_short = words.chars < 3 * count;
    unmet([
        (Heuristic::WordCount, (50..=100_000).contains(&count)),
        (Heuristic::MeanWordLength, !words.are_spaced || !is_long && !is_short),
        (Heuristic::AlphabeticWords, letters * 10 >= count * 8),
        (Heuristic::StopWords, words.common_english.is_none_or(|found| found >= 2)),
    ])
}

fn of_lines(
    prose: &Prose,
    lines: Repeated,
    words: &Words,
) -> impl Iterator<Item = Heuristic> + use<> {
    let count = lines.all;
    let cut = prose.lines().filter(|line| line.ends_with('…') || line.ends_with("...")).count();
    unmet([
        (Heuristic::BulletLines, prose.bullets * 10 <= count * 9),
        (Heuristic::EllipsisLines, cut * 10 <= count * 3),
        (Heuristic::SymbolShare, prose.symbols * 10 <= words.list.len()),
    ])
}

fn of_repetition(
    prose: &Prose,
    lines: Repeated,
    words: &Words,
) -> impl Iterator<Item = Heuristic> + use<> {
    let percent = |most: u16| Ratio::from_thousandths(most * 10);
    let paragraphs = paragraphs(prose);
    let top = |n, most| top_n_gram(words, n) <= percent(most);
    let duplicate = |n, most| duplicate_n_grams(words, n) <= percent(most);
    unmet([
        (Heuristic::DuplicateLines, lines.count <= percent(30)),
        (Heuristic::DuplicateLineChars, lines.chars <= percent(20)),
        (Heuristic::DuplicateParagraphs, paragraphs.count <= percent(30)),
        (Heuristic::DuplicateParagraphChars, paragraphs.chars <= percent(20)),
        (Heuristic::Top2Gram, top(2, 20)),
        (Heuristic::Top3Gram, top(3, 18)),
        (Heuristic::Top4Gram, top(4, 16)),
        (Heuristic::Duplicate5Grams, duplicate(5, 15)),
        (Heuristic::Duplicate6Grams, duplicate(6, 14)),
        (Heuristic::Duplicate7Grams, duplicate(7, 13)),
        (Heuristic::Duplicate8Grams, duplicate(8, 12)),
        (Heuristic::Duplicate9Grams, duplicate(9, 11)),
        (Heuristic::Duplicate10Grams, duplicate(10, 10)),
    ])
}

fn of_c4(prose: &Prose) -> impl Iterator<Item = Heuristic> + use<> {
    let says_lorem = prose.text.to_lowercase().contains("lorem ipsum");
    unmet([
        (Heuristic::FewSentences, prose.text.unicode_sentences().nth(2).is_some()),
        (Heuristic::CurlyBracket, !prose.text.contains('{')),
        (Heuristic::LoremIpsum, !says_lorem),
    ])
}

/// Those of `verdicts` that are not met.
fn unmet<const N: usize>(
    verdicts: [(Heuristic, bool); N],
) -> impl Iterator<Item = Heuristic> + use<N> {
    verdicts.into_iter().filter(|(_, is_met)| !is_met).map(|(heuristic, _)| heuristic)
}
