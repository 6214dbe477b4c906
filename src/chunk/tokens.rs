//! Counting tokens: once per document, then by look-up.
//!
//! Counting costs more than all other work of this stage together, so a document is encoded once.
//! The built-in vocabularies split a text into words first and encode each word by itself; the
//! number of tokens up to the end of each word is kept, and a stretch of text costs a binary
//! search. Of a tokenizer from a file nothing is known but the places of its tokens: look-up only
//! estimates, and what is told of a chunk is counted by itself.

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
    /// Ends of words in bytes, each with the tokens up to it; both rise.
    Words(Vec<(usize, usize)>),
    /// The same for tokens that need not be words, and for the white space before them.
    Tokens(Vec<(usize, usize)>),
    /// The text, and the characters up to every [`STRIDE`]-th byte.
    Chars(&'a [u8], Vec<usize>),
}

/// Bytes between places whose characters are known: few enough to count the rest each time.
const STRIDE: usize = 128;

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
        self.up_to(range.end).saturating_sub(self.up_to(range.start))
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
                byte == 0 || ends.binary_search_by_key(&byte, |(end, _)| *end).is_ok()
            }
            Places::Tokens(_) => false,
            Places::Chars(..) => true,
        }
    }

    fn up_to(&self, byte: usize) -> usize {
        match &self.places {
            Places::Words(ends) | Places::Tokens(ends) => up_to(ends, byte),
            Places::Chars(text, strides) => {
                let known = byte / STRIDE;
                let rest = text.get(known * STRIDE..byte).unwrap_or_default();
                strides.get(known).copied().unwrap_or(0) + chars(rest)
            }
        }
    }
}

/// Ends of the words of `text`, each with the tokens up to it.
fn word_ends(text: &str, tokenizer: &bpe_openai::Tokenizer) -> Vec<(usize, usize)> {
    let mut ends = Vec::with_capacity(text.len() / 4);
    let (mut bytes, mut tokens) = (0, 0);
    for word in tokenizer.split(text) {
        bytes += word.len();
        tokens += tokenizer.bpe.count(word.as_bytes());
        ends.push((bytes, tokens));
    }
    ends
}

/// Bytes that are encoded at once: a long text needs many times its length meanwhile.
const PIECE: usize = 32 * 1024;

/// Ends of the tokens of `text` and of the gaps between them, each with the tokens up to it.
fn token_ends(text: &str, file: &TokenizerFile) -> Vec<(usize, usize)> {
    let mut ends = Vec::with_capacity(text.len() / 4);
    let (mut rest, mut last, mut tokens) = (text, 0, 0);
    while !rest.is_empty() {
        let offset = text.len() - rest.len();
        let (piece, after) = rest.split_at(piece_end(rest));
        for (start, end) in file.places(piece) {
            if offset + start > last {
                last = offset + start;
                ends.push((last, tokens));
            }
            tokens += 1;
            // Several tokens may share one character.
            last = last.max(offset + end);
            match ends.last_mut().filter(|(end, _)| *end == last) {
                Some(known) => known.1 = tokens,
                None => ends.push((last, tokens)),
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

fn up_to(ends: &[(usize, usize)], byte: usize) -> usize {
    let words = ends.partition_point(|(end, _)| *end <= byte);
    let before = words.checked_sub(1).and_then(|n| ends.get(n)).copied().unwrap_or((0, 0));
    match ends.get(words) {
        // Inside a word: its share of the word's tokens, rounded up.
        Some((end, tokens)) if byte > before.0 => {
            let share = (tokens - before.1) * (byte - before.0);
            before.1 + share.div_ceil(end - before.0)
        }
        _ => before.1,
    }
}

/// Characters before every [`STRIDE`]-th byte of `text`.
fn strides(text: &[u8]) -> Vec<usize> {
    let mut before = 0;
    let stride = |part: &[u8]| {
        let start = before;
        before += chars(part);
        start
    };
    let mut strides: Vec<usize> = text.chunks(STRIDE).map(stride).collect();
    strides.push(before);
    strides
}

/// Characters of UTF-8: the bytes that begin one.
fn chars(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}
