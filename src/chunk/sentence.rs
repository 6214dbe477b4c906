//! Where a paragraph may be cut: after sentences, else at lines, words, and graphemes.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

/// Abbreviations after which a stop ends no sentence, in lower case.
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "cf", "vs", "etc", "mr", "mrs", "ms", "dr", "prof", "st", "no", "fig", "vol",
    "al", "approx", "resp", "z.b", "d.h", "bzw", "ca", "nr",
];

/// Places in `text` (byte offsets) where a sentence begins, the first excluded.
pub(super) fn sentence_starts(text: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if matches!(c, '。' | '！' | '？') {
            starts.push(at + c.len_utf8());
            continue;
        }
        if !matches!(c, '.' | '!' | '?' | '…') || c == '.' && ends_abbreviation(text, at) {
            continue;
        }
        while chars
            .next_if(|(_, c)| matches!(c, '"' | '\'' | ')' | ']' | '”' | '’' | '*' | '_'))
            .is_some()
        {}
        let mut has_space = false;
        while chars.next_if(|(_, c)| c.is_whitespace()).is_some() {
            has_space = true;
        }
        let next = chars.peek().copied();
        starts.extend(next.filter(|(_, c)| has_space && !c.is_lowercase()).map(|(at, _)| at));
    }
    starts.retain(|start| *start > 0 && *start < text.len());
    starts
}

fn ends_abbreviation(text: &str, stop: usize) -> bool {
    let before = text.get(..stop).unwrap_or_default();
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    is_initial || word.len() <= 6 && ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

/// Places in `text` where a line begins, the first excluded.
pub(super) fn line_starts(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices('\n').map(|(at, _)| at + 1).filter(|at| *at < text.len())
}

/// Places in `text` where a word begins, the first excluded.
pub(super) fn word_starts(text: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut was_space = false;
    for (at, c) in text.char_indices() {
        if was_space && !c.is_whitespace() && at > 0 {
            starts.push(at);
        }
        was_space = c.is_whitespace();
    }
    starts
}

/// Places in `text`, which has no white space to cut at, at grapheme boundaries about every
/// `step` bytes.
pub(super) fn grapheme_starts(text: &str, step: usize) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut last = 0;
    for (at, _) in text.grapheme_indices(true) {
        if at >= last + step.max(1) {
            starts.push(at);
            last = at;
        }
    }
    starts
}

/// Whether `at` lies inside one of `ranges`, which are sorted and do not overlap.
pub(super) fn is_inside(ranges: &[Range<usize>], at: usize) -> bool {
    let after = ranges.partition_point(|range| range.end <= at);
    ranges.get(after).is_some_and(|range| range.start < at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let mut ends = sentence_starts(text);
        ends.push(text.len());
        let mut start = 0;
        let got: Vec<&str> = ends
            .iter()
            .map(|end| text.get(std::mem::replace(&mut start, *end)..*end).unwrap())
            .collect();
        assert_eq!(got, want);
    }

    #[test]
    fn a_sentence_ends_at_its_stop() {
        check("One. Two! \"Three?\" Four", &["One. ", "Two! ", "\"Three?\" ", "Four"]);
        check("这是一句。这是另一句。", &["这是一句。", "这是另一句。"]);
    }

    #[test]
    fn an_abbreviation_or_a_number_ends_none() {
        check("See e.g. the docs of v1.2 by J. Doe.", &["See e.g. the docs of v1.2 by J. Doe."]);
        check("use foo.bar. then stop", &["use foo.bar. then stop"]);
    }
}
