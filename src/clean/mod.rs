//! Removes what is residue in Markdown: data that a script left where text should be.
//!
//! In: a document. Out: the same with fewer lines. Each removal stands in the ledger under its
//! rule's name. Nothing inside code is ever touched, and no line that a reader could read.
//!
//! | rule | removes |
//! |---|---|
//! | `clean.json` | a line of more than [`CleanOptions::min_json_chars`] characters that really parses as a JSON object or array |
//! | `clean.base64` | a word of more than [`CleanOptions::max_word_chars`] characters that is base64 or hexadecimal alone |

use serde::{Deserialize, Serialize};

use crate::model::{Document, Markdown};

/// From which size on residue is taken for residue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CleanOptions {
    /// Shortest line of JSON that goes, in characters: shorter ones may be an example in prose.
    pub min_json_chars: usize,
    /// Longest word of encoded data that stays, in characters.
    pub max_word_chars: usize,
}

impl Default for CleanOptions {
    fn default() -> Self {
        Self { min_json_chars: 100, max_word_chars: 1_000 }
    }
}

/// Removes residue from `document`.
pub fn clean(document: &mut Document, options: CleanOptions) {
    let mut kept = String::with_capacity(document.markdown.as_str().len());
    let mut fence: Option<String> = None;
    let mut removed = Vec::new();
    for line in document.markdown.as_str().split_inclusive('\n') {
        let is_code = follow_fence(&mut fence, line);
        match residue(line, options).filter(|_| !is_code) {
            Some(rule) => removed.push((rule, line.to_owned())),
            None => kept.push_str(line),
        }
    }
    if removed.is_empty() {
        return;
    }
    for (rule, line) in removed {
        document.ledger.remove(rule, &line);
    }
    document.markdown = Markdown::new(join_blank_lines(&kept));
}

/// Whether `line` belongs to a code block, fences included; `fence` is the one that is open.
fn follow_fence(fence: &mut Option<String>, line: &str) -> bool {
    let content = line.trim_start_matches([' ', '>', '-', '*', '+']).trim_end();
    let mark: String = content.chars().take_while(|c| matches!(c, '`' | '~')).collect();
    match fence {
        Some(open) => {
            if mark.starts_with(open.as_str()) && mark == content {
                *fence = None;
            }
            true
        }
        None if mark.len() >= 3 => {
            *fence = Some(mark);
            true
        }
        None => false,
    }
}

fn residue(line: &str, options: CleanOptions) -> Option<&'static str> {
    let content = line.trim();
    if content.len() <= options.min_json_chars.min(options.max_word_chars) {
        return None;
    }
    let is_json = content.starts_with(['{', '[', '\\'])
        && content.chars().count() > options.min_json_chars
        && parses_as_json(content);
    if is_json {
        return Some("clean.json");
    }
    let is_word = content.len() > options.max_word_chars
        && content
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_'));
    is_word.then_some("clean.base64")
}

/// Whether `text` is a JSON object or array once the escapes of Markdown are taken back.
fn parses_as_json(text: &str) -> bool {
    let is_json = |text: &str| {
        serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() && text.starts_with(['{', '['])
    };
    is_json(text) || is_json(&unescape(text))
}

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_escape =
            c == '\\' && chars.peek().is_some_and(|next| "\\`*_{}[]<>()#+-.!|&~".contains(*next));
        if !is_escape {
            plain.push(c);
        } else if let Some(next) = chars.next() {
            plain.push(next);
        }
    }
    plain
}

/// One blank line between blocks, as before; code keeps its own.
fn join_blank_lines(markdown: &str) -> String {
    let mut joined = String::with_capacity(markdown.len());
    let mut fence = None;
    let mut was_blank = false;
    for line in markdown.split_inclusive('\n') {
        let is_code = follow_fence(&mut fence, line);
        let is_blank = !is_code && line.trim().is_empty();
        if !(is_blank && was_blank) {
            joined.push_str(line);
        }
        was_blank = is_blank;
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Ledger;

    #[track_caller]
    fn check(markdown: &str, want: &str, rules: &[&str]) {
        let mut document = Document { markdown: Markdown::new(markdown), ..Document::default() };
        document.ledger = Ledger::keeping_texts();
        clean(&mut document, CleanOptions::default());
        assert_eq!(document.markdown.as_str(), want);
        let removals = document.ledger.removals();
        assert_eq!(removals.iter().map(|r| r.rule.as_str()).collect::<Vec<_>>(), rules);
    }

    fn state() -> String {
        format!("{{\"$type\": \"state\", \"items\": [{}]}}", ["{\"id\": 1}"; 20].join(", "))
    }

    #[test]
    fn json_goes_where_it_parses() {
        check(&format!("a\n\n{}\n\nb\n", state()), "a\n\nb\n", &["clean.json"]);
        check(
            "a\n\n{not json, but a remark that is long enough to be taken for a state blob if nobody looked at it closely}\n",
            "a\n\n{not json, but a remark that is long enough to be taken for a state blob if nobody looked at it closely}\n",
            &[],
        );
    }

    #[test]
    fn code_is_never_touched() {
        let code = format!("```json\n{}\n\n\n```\n", state());
        check(&code, &code, &[]);
        let item = format!("- see\n\n  ~~~\n  {}\n  ~~~\n", state());
        check(&item, &item, &[]);
    }

    #[test]
    fn short_examples_stay() {
        check("{\"a\": 1}\n", "{\"a\": 1}\n", &[]);
    }
}
