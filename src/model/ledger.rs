//! The loss ledger: what was removed, by which rule, and how much.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::collapse;

/// What one rule removed from one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    /// The rule's name, `stage.rule`.
    pub rule: String,
    /// How many Unicode scalar values it removed, white space collapsed.
    pub chars: u64,
    /// The start of the first text that it removed, at most [`Ledger::SAMPLE_CHARS`] long.
    pub sample: String,
}

/// Counts, for every rule, the text that it removed from a page.
///
/// # Invariants
///
/// - Every rule stands once, in the order of its name.
/// - A removed text is never dropped without an entry here: stages remove through
///   [`Ledger::remove`] alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    removals: BTreeMap<&'static str, Entry>,
    texts: Option<Vec<(&'static str, String)>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    chars: u64,
    sample: String,
}

impl Ledger {
    /// Longest sample, in Unicode scalar values: enough to recognize the text in the page.
    pub const SAMPLE_CHARS: usize = 80;

    /// A ledger that also keeps every removed text, so that [`Ledger::find`] can name the rule
    /// that removed one.
    pub fn keeping_texts() -> Self {
        Self { removals: BTreeMap::new(), texts: Some(Vec::new()) }
    }

    /// Records that `rule` removed `text`. White space is collapsed before counting; text that is
    /// white space alone is not a loss.
    pub fn remove(&mut self, rule: &'static str, text: &str) {
        let mut words = text.split_whitespace();
        let Some(first) = words.next() else { return };
        let mut chars = first.chars().count();
        for word in words {
            chars += 1 + word.chars().count();
        }
        let entry = self.removals.entry(rule).or_default();
        if entry.chars == 0 {
            entry.sample = sample(text);
        }
        entry.chars += chars as u64;
        if let Some(texts) = &mut self.texts {
            texts.push((rule, collapse(text)));
        }
    }

    /// The rule that removed `text` (white space collapsed), where the ledger keeps texts.
    pub fn find(&self, text: &str) -> Option<&'static str> {
        let wanted = collapse(text);
        let texts = self.texts.as_ref()?;
        texts.iter().find(|(_, removed)| removed.contains(&wanted)).map(|(rule, _)| *rule)
    }

    /// Every removed text with its rule, white space collapsed; none where no texts are kept.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.texts.iter().flatten().map(|(rule, text)| (*rule, text.as_str()))
    }

    /// What was removed, by rule, in the order of the rules' names.
    pub fn removals(&self) -> Vec<Removal> {
        self.removals
            .iter()
            .map(|(rule, entry)| Removal {
                rule: (*rule).to_owned(),
                chars: entry.chars,
                sample: entry.sample.clone(),
            })
            .collect()
    }

    /// How many characters all rules removed together.
    pub fn chars(&self) -> u64 {
        self.removals.values().map(|entry| entry.chars).sum()
    }
}

fn sample(text: &str) -> String {
    let mut sample = String::new();
    for word in text.split_whitespace() {
        if !sample.is_empty() {
            sample.push(' ');
        }
        sample.extend(word.chars().take(Ledger::SAMPLE_CHARS));
        if sample.chars().count() >= Ledger::SAMPLE_CHARS {
            break;
        }
    }
    sample.chars().take(Ledger::SAMPLE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_counts_what_it_removed() {
        let mut ledger = Ledger::keeping_texts();
        ledger.remove("extract.navigation", "  Home \n About ");
        ledger.remove("extract.navigation", "Imprint");
        ledger.remove("extract.navigation", " \n ");
        let removals = ledger.removals();
        assert_eq!(removals.len(), 1);
        assert_eq!(removals[0].chars, 17);
        assert_eq!(removals[0].sample, "Home About");
        assert_eq!(ledger.find("Home  About"), Some("extract.navigation"));
        assert_eq!(ledger.find("absent"), None);
    }
}
