//! Counting tokens: once per document, then by look-up.
//!
//! Counting costs more than all other work of this stage together, so a document is encoded once.
//! The built-in vocabularies split a text into words first and encode each word by itself; the
//! number of tokens up to the end of each word is kept, and a stretch of text costs a binary
//! search. Of a tokenizer from a file nothing is known but the places of its tokens: look-up only
//! estimates, and what is told of a chunk is counted by itself.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use super::tokenizer::{Tokenizer, TokenizerFile};

/// The number of tokens up to every place of a document.
pub(super) struct TokenMap<'a> {
    tokenizer: &'a Tokenizer,
    /// Counts of texts that are not part of the document: few, and asked for again and again.
    others: RefCell<HashMap<String, usize>>,
    places: Places<'a>,
}

/// What is known about places of a document.
enum Places<'a> {
    /// Ends of words, in order.
    Words(Vec<Place>),
    /// The same for tokens that need not be words, and for the white space before them.
    Tokens(Vec<Place>),
    /// The text, and what stands before every [`STRIDE`]-th byte.
    Chars(&'a [u8], Vec<Place>),
}

/// A place of a document. Each number rises from place to place.
#[derive(Clone, Copy, Default)]
struct Place {
    /// Where it is, in bytes.
    byte: usize,
    /// Tokens up to it.
    tokens: usize,
    /// Those without white space: each word as it stands behind a single blank.
    weight: usize,
    /// Lines that begin up to it, blank ones aside.
    lines: usize,
}

/// How long a stretch of a document is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Measure {
    /// Its tokens.
    pub(super) tokens: usize,
    /// Its tokens as if all white space were single blanks that count for nothing.
    pub(super) weight: usize,
    /// As many tokens as it has with white space as documents have it, at most: each line end
    /// counts.
    pub(super) bound: usize,
}

impl std::ops::Sub for Measure {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(before.tokens),
            weight: self.weight.saturating_sub(before.weight),
            bound: self.bound.saturating_sub(before.bound),
        }
    }
}

/// Bytes between places whose characters are known: few enough to count the rest each time.
const STRIDE: usize = 64;

impl<'a> TokenMap<'a> {
    /// Encodes `text`.
    pub(super) fn new(text: &'a str, tokenizer: &'a Tokenizer) -> Self {
        let places = match (tokenizer, tokenizer.words()) {
            (_, Some(words)) => Places::Words(word_ends(text, words)),
            (Tokenizer::File(file), _) => Places::Tokens(token_ends(text, file)),
            _ => Places::Chars(text.as_bytes(), strides(text.as_bytes())),
        };
        Self { tokenizer, others: RefCell::default(), places }
    }

    /// Tokens of a stretch of the document. Where the stretch begins or ends inside a word, or
    /// splits white space from its word, the true number may differ by a few.
    pub(super) fn count(&self, range: Range<usize>) -> usize {
        self.up_to(range.end).tokens.saturating_sub(self.up_to(range.start).tokens)
    }

    /// The document up to `byte`.
    pub(super) fn measure(&self, byte: usize) -> Measure {
        let place = self.up_to(byte);
        let (tokens, weight) = (place.tokens, place.weight);
        // A character of white space for every five others is what running text has.
        let spaces = if matches!(self.places, Places::Chars(..)) { weight / 5 } else { 0 };
        let weight = weight + spaces;
        Measure { tokens, weight, bound: weight + 2 * place.lines }
    }

    /// Tokens of a text that is not part of the document.
    pub(super) fn count_other(&self, text: &str) -> usize {
        if text.is_empty() {
            return 0;
        }
        if let Some(count) = self.others.borrow().get(text) {
            return *count;
        }
        let count = self.tokenizer.count(text);
        self.others.borrow_mut().insert(text.to_owned(), count);
        count
    }

    /// Tokens of a text by itself, exactly.
    pub(super) fn count_alone(&self, text: &str) -> usize {
        self.tokenizer.count(text)
    }

    /// Tokens of `before + text + after`, exactly, where `text` stands at `range` of the document.
    ///
    /// Whole lines have the words that they have in the document, as long as nothing beside them
    /// would join a word over their edges: white space does, and a slash, which the vocabularies
    /// join to punctuation and a line end before it.
    pub(super) fn count_around(
        &self,
        before: &str,
        (text, range): (&str, Range<usize>),
        after: &str,
    ) -> usize {
        let is_edge = |left: &str, right: &str| {
            let joins = right.starts_with(|c: char| c.is_whitespace() || c == '/');
            left.is_empty() || right.is_empty() || left.ends_with('\n') && !joins
        };
        let are_lines = text.ends_with('\n') && self.is_end(range.start) && self.is_end(range.end);
        if are_lines && is_edge(before, text) && is_edge(text, after) {
            return self.count_other(before) + self.count(range) + self.count_other(after);
        }
        self.tokenizer.count(&[before, text, after].concat())
    }

    /// Whether a word ends at `byte`.
    fn is_end(&self, byte: usize) -> bool {
        match &self.places {
            Places::Words(ends) => {
                byte == 0 || ends.binary_search_by_key(&byte, |end| end.byte).is_ok()
            }
            Places::Tokens(_) => false,
            Places::Chars(..) => true,
        }
    }

    fn up_to(&self, byte: usize) -> Place {
        match &self.places {
            Places::Words(ends) | Places::Tokens(ends) => up_to(ends, byte),
            Places::Chars(text, strides) => {
                let known = byte / STRIDE;
                let rest = text.get(known * STRIDE..byte).unwrap_or_default();
                strides.get(known).copied().unwrap_or_default().after_chars(rest)
            }
        }
    }
}

impl Place {
    fn after_chars(self, text: &[u8]) -> Self {
        let begins_char = |byte: &&u8| **byte & 0xC0 != 0x80;
        let is_seen = |byte: &&u8| begins_char(byte) && **byte > b' ';
        Self {
            byte: self.byte + text.len(),
            tokens: self.tokens + text.iter().filter(begins_char).count(),
            weight: self.weight + text.iter().filter(is_seen).count(),
            lines: 0,
        }
    }
}

/// Ends of the words of `text`.
fn word_ends(text: &str, tokenizer: &bpe_openai::Tokenizer) -> Vec<Place> {
    let mut ends = Vec::with_capacity(text.len() / 4);
    let mut place = Place::default();
    let (mut before, mut is_after_line) = ("", false);
    for word in tokenizer.split(text) {
        let tokens = tokenizer.bpe.count(word.as_bytes());
        let plain = plain_word(word, before);
        if !plain.is_empty() && std::mem::take(&mut is_after_line) {
            place.lines += 1;
        }
        place.byte += word.len();
        place.tokens += tokens;
        place.weight += match plain {
            Cow::Borrowed("") => 0,
            Cow::Borrowed(_) => tokens,
            Cow::Owned(plain) => tokenizer.bpe.count(plain.as_bytes()),
        };
        is_after_line |= word.ends_with(char::is_whitespace) && word.contains('\n');
        before = word;
        ends.push(place);
    }
    ends
}

/// A word as it stands behind a single blank where white space is before it, and before none.
/// Digits never take a blank before them. Borrowed where the word is so already, or empty.
fn plain_word<'a>(word: &'a str, before: &str) -> Cow<'a, str> {
    let seen = word.trim();
    if seen.is_empty() {
        return Cow::Borrowed("");
    }
    let is_after_space = before.is_empty() || before.ends_with(char::is_whitespace);
    let is_spaced = is_after_space || word.starts_with(char::is_whitespace);
    let lead = if is_spaced && !seen.starts_with(char::is_numeric) { " " } else { "" };
    let is_plain = word.len() == lead.len() + seen.len() && word.starts_with(lead);
    if is_plain { Cow::Borrowed(word) } else { Cow::Owned([lead, seen].concat()) }
}

/// Bytes that are encoded at once: a long text needs many times its length meanwhile.
const PIECE: usize = 32 * 1024;

/// Ends of the tokens of `text` and of the gaps between them.
fn token_ends(text: &str, file: &TokenizerFile) -> Vec<Place> {
    let mut ends: Vec<Place> = Vec::with_capacity(text.len() / 4);
    let (mut rest, mut place) = (text, Place::default());
    while !rest.is_empty() {
        let offset = text.len() - rest.len();
        let (piece, after) = rest.split_at(piece_end(rest));
        let mut seen = 0;
        for (start, end) in file.places(piece) {
            if offset + start > place.byte {
                place.byte = offset + start;
                ends.push(place);
            }
            place.tokens += 1;
            if piece.get(start..end).is_none_or(|token| !token.trim().is_empty()) {
                place.weight += 1;
                let space = piece.get(seen..start).unwrap_or_default();
                place.lines += usize::from(space.contains('\n'));
                seen = end;
            }
            // Several tokens may share one character.
            place.byte = place.byte.max(offset + end);
            match ends.last_mut().filter(|end| end.byte == place.byte) {
                Some(known) => *known = place,
                None => ends.push(place),
            }
        }
        rest = after;
    }
    ends
}

/// Where a piece of `text` ends: behind a line, or where a line is endless.
fn piece_end(text: &str) -> usize {
    let most = text.floor_char_boundary(2 * PIECE);
    let line = text.as_bytes().get(PIECE..most).and_then(|part| memchr::memchr(b'\n', part));
    line.map_or(most, |at| PIECE + at + 1)
}

fn up_to(ends: &[Place], byte: usize) -> Place {
    let words = ends.partition_point(|end| end.byte <= byte);
    let before = words.checked_sub(1).and_then(|n| ends.get(n)).copied().unwrap_or_default();
    match ends.get(words) {
        // Inside a word: its share of the word's tokens, rounded up.
        Some(end) if byte > before.byte => {
            let share = |of: usize| (of * (byte - before.byte)).div_ceil(end.byte - before.byte);
            Place {
                byte,
                tokens: before.tokens + share(end.tokens - before.tokens),
                weight: before.weight + share(end.weight - before.weight),
                lines: before.lines,
            }
        }
        _ => before,
    }
}

/// What stands before every [`STRIDE`]-th byte of `text`, and before its end.
fn strides(text: &[u8]) -> Vec<Place> {
    let mut place = Place::default();
    let after = text.chunks(STRIDE).map(|part| {
        place = place.after_chars(part);
        place
    });
    std::iter::once(Place::default()).chain(after).collect()
}
