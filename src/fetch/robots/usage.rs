//! What a site allows its text to be used for.
//!
//! In: `Content-Signal` lines (contentsignals.org) and `Content-Usage` lines and fields
//! (draft-ietf-aipref-attach). Out: [`UsagePreferences`]. Only what is said counts; nothing
//! follows from silence, and what a preference leads to is not decided here.

use serde::{Deserialize, Serialize};

use super::matcher::Pattern;

/// Whether a use is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Preference {
    /// Nothing is said.
    #[default]
    Unstated,
    /// The use is welcome.
    Allowed,
    /// The use is refused.
    Refused,
}

/// What text may be used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsagePreferences {
    /// As input to a model when it answers, as retrieval does.
    pub ai_input: Preference,
    /// In a search index with links and short excerpts.
    pub search: Preference,
    /// To train or fine-tune a model.
    pub ai_train: Preference,
}

impl UsagePreferences {
    /// Reads the value of a `Content-Usage` field or a `Content-Signal` line: `train-ai=n,
    /// search=y`. Names and values are read without regard to case; unknown ones are skipped. Of
    /// two values for one name, the refusal holds.
    pub fn parse(value: &str) -> Self {
        value.split(',').fold(Self::default(), |stated, entry| stated.strictest(Self::entry(entry)))
    }

    fn entry(entry: &str) -> Self {
        let mut stated = Self::default();
        let Some((name, value)) = entry.split_once('=') else {
            return stated;
        };
        let value = value.split(';').next().unwrap_or_default().trim().trim_matches('"');
        let preference = match value.to_ascii_lowercase().as_str() {
            "y" | "yes" => Preference::Allowed,
            "n" | "no" => Preference::Refused,
            _ => Preference::Unstated,
        };
        match name.trim().to_ascii_lowercase().as_str() {
            "ai-input" => stated.ai_input = preference,
            "search" => stated.search = preference,
            "ai-train" | "train-ai" => stated.ai_train = preference,
            _ => {}
        }
        stated
    }

    /// Both taken together: a refusal outweighs a permission, and either outweighs silence.
    #[must_use]
    pub fn strictest(self, other: Self) -> Self {
        Self {
            ai_input: self.ai_input.max(other.ai_input),
            search: self.search.max(other.search),
            ai_train: self.ai_train.max(other.ai_train),
        }
    }

    /// `self`, with its silences filled from `other`.
    fn or(self, other: Self) -> Self {
        let pick = |own, others| {
            if own == Preference::Unstated { others } else { own }
        };
        Self {
            ai_input: pick(self.ai_input, other.ai_input),
            search: pick(self.search, other.search),
            ai_train: pick(self.ai_train, other.ai_train),
        }
    }
}

/// A line that states preferences, and for which paths.
#[derive(Clone, Debug)]
pub(super) struct UsageLine {
    /// `None`: for every path.
    pattern: Option<Pattern>,
    stated: UsagePreferences,
}

impl UsageLine {
    /// Reads the value of a `Content-Signal` line, which holds for every path.
    pub(super) fn signal(value: &[u8]) -> Self {
        Self { pattern: None, stated: UsagePreferences::parse(&String::from_utf8_lossy(value)) }
    }

    /// Reads the value of a `Content-Usage` line, which may begin with a path.
    pub(super) fn usage(value: &[u8]) -> Self {
        if !matches!(value, [b'/' | b'*', ..]) {
            return Self::signal(value);
        }
        let end = value.iter().position(u8::is_ascii_whitespace).unwrap_or(value.len());
        let (path, stated) = value.split_at(end);
        Self { pattern: Pattern::parse(path), ..Self::signal(stated) }
    }

    fn octets(&self) -> usize {
        self.pattern.as_ref().map_or(0, Pattern::octets)
    }

    fn matches(&self, path: &[u8]) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.matches(path))
    }
}

/// What `lines` say about `path`, which is in normal form: for each use, the line with the longest
/// matching path that speaks of it; of equals, the one that refuses.
pub(super) fn preferences_for(lines: &[UsageLine], path: &[u8]) -> UsagePreferences {
    let mut matching: Vec<&UsageLine> = lines.iter().filter(|line| line.matches(path)).collect();
    matching.sort_by_key(|line| std::cmp::Reverse(line.octets()));
    matching
        .chunk_by(|a, b| a.octets() == b.octets())
        .map(|equals| {
            equals.iter().fold(UsagePreferences::default(), |all, line| all.strictest(line.stated))
        })
        .fold(UsagePreferences::default(), UsagePreferences::or)
}
