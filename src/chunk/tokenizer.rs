//! What counts tokens: a built-in vocabulary, characters, or a file of Hugging Face.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::ContentHash;

/// What counts tokens, as a config names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum TokenizerName {
    /// The vocabulary of 200,000 tokens of newer models of `OpenAI`.
    #[default]
    O200kBase,
    /// The vocabulary of 100,000 tokens of older ones.
    Cl100kBase,
    /// Every Unicode scalar value is a token.
    Chars,
    /// A `tokenizer.json` of Hugging Face, as most open models have one.
    File(PathBuf),
}

/// A name that no tokenizer has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a tokenizer: it must be {WANTED}")]
pub struct UnknownTokenizer(String);

/// What names a tokenizer, as words that follow "must be".
pub const WANTED: &str =
    "`o200k_base`, `cl100k_base`, `chars` or the path of a `tokenizer.json` of Hugging Face";

impl fmt::Display for TokenizerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::O200kBase => f.write_str("o200k_base"),
            Self::Cl100kBase => f.write_str("cl100k_base"),
            Self::Chars => f.write_str("chars"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

impl From<TokenizerName> for String {
    fn from(name: TokenizerName) -> Self {
        name.to_string()
    }
}

impl TryFrom<String> for TokenizerName {
    type Error = UnknownTokenizer;

    /// Whatever ends in `.json` is a path, so that a misspelt name is not taken for one.
    fn try_from(name: String) -> Result<Self, UnknownTokenizer> {
        let built_in = [Self::O200kBase, Self::Cl100kBase, Self::Chars];
        if let Some(built_in) = built_in.into_iter().find(|known| known.to_string() == name) {
            return Ok(built_in);
        }
        let path = PathBuf::from(&name);
        let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        if is_json { Ok(Self::File(path)) } else { Err(UnknownTokenizer(name)) }
    }
}

/// What is wrong with the file of a tokenizer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerError {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] std::io::Error),
    /// It is no `tokenizer.json`.
    #[error("it is not a `tokenizer.json`: {0}")]
    Malformed(tokenizers::Error),
    /// Some texts cannot be counted with it.
    #[error("it cannot encode every text: {0}")]
    Partial(tokenizers::Error),
}

/// A tokenizer that is ready. It is cheap to clone, and threads share it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Tokenizer {
    /// See [`TokenizerName::O200kBase`].
    #[default]
    O200kBase,
    /// See [`TokenizerName::Cl100kBase`].
    Cl100kBase,
    /// See [`TokenizerName::Chars`].
    Chars,
    /// See [`TokenizerName::File`].
    File(Arc<TokenizerFile>),
}

impl Tokenizer {
    /// The tokenizer called `name`: its file is read here and never again.
    ///
    /// # Errors
    ///
    /// Fails where the file cannot be read, is no `tokenizer.json`, or cannot encode every text.
    pub fn load(name: &TokenizerName) -> Result<Self, TokenizerError> {
        Ok(match name {
            TokenizerName::O200kBase => Self::O200kBase,
            TokenizerName::Cl100kBase => Self::Cl100kBase,
            TokenizerName::Chars => Self::Chars,
            TokenizerName::File(path) => Self::File(Arc::new(TokenizerFile::load(path)?)),
        })
    }

    /// Tokens of `text`, exactly: those that it is encoded to by itself, without special tokens
    /// put around it.
    pub fn count(&self, text: &str) -> usize {
        match self {
            Self::Chars => text.chars().count(),
            Self::File(file) => file.count(text),
            Self::O200kBase | Self::Cl100kBase => self.words().map_or(0, |tokenizer| {
                tokenizer.split(text).map(|word| tokenizer.bpe.count(word.as_bytes())).sum()
            }),
        }
    }

    /// Hash of the file, where there is one.
    pub fn file_hash(&self) -> Option<ContentHash> {
        if let Self::File(file) = self { Some(file.hash) } else { None }
    }

    /// The built-in vocabulary, which encodes each word by itself. It is unpacked when it is first
    /// asked for.
    pub(super) fn words(&self) -> Option<&'static bpe_openai::Tokenizer> {
        match self {
            Self::O200kBase => Some(bpe_openai::o200k_base()),
            Self::Cl100kBase => Some(bpe_openai::cl100k_base()),
            Self::Chars | Self::File(_) => None,
        }
    }
}

/// A `tokenizer.json` that was read.
pub struct TokenizerFile {
    tokenizer: tokenizers::Tokenizer,
    hash: ContentHash,
}

/// A text of characters that vocabularies leave out: a model with no token for the unknown fails.
const RARE: &str = "qx\u{1}zj \u{10fffd}\u{2603} \u{f8ff}";

impl TokenizerFile {
    fn load(path: &Path) -> Result<Self, TokenizerError> {
        let bytes = std::fs::read(path)?;
        let mut tokenizer =
            tokenizers::Tokenizer::from_bytes(&bytes).map_err(TokenizerError::Malformed)?;
        // Files say how their model's input is cut and filled up, which is none of a count.
        tokenizer.with_truncation(None).map_err(TokenizerError::Malformed)?;
        tokenizer.with_padding(None);
        tokenizer.encode_fast(RARE, false).map_err(TokenizerError::Partial)?;
        Ok(Self { tokenizer, hash: ContentHash::of(&bytes) })
    }

    /// Tokens of `text`. Where the model fails on a text, its bytes: no model makes more of it.
    fn count(&self, text: &str) -> usize {
        self.tokenizer.encode_fast(text, false).map_or(text.len(), |encoding| encoding.len())
    }

    /// Where the tokens of `text` stand, in bytes, in their order. Where the model fails on a
    /// text, its bytes.
    pub(super) fn places(&self, text: &str) -> Vec<(usize, usize)> {
        self.tokenizer.encode(text, false).map_or_else(
            |_| (0..text.len()).map(|byte| (byte, byte + 1)).collect(),
            |encoding| encoding.get_offsets().to_vec(),
        )
    }
}

impl fmt::Debug for TokenizerFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TokenizerFile").field(&self.hash).finish()
    }
}

impl PartialEq for TokenizerFile {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}

impl Eq for TokenizerFile {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::chunk::{ChunkInput, ChunkOptions, chunk};
    use crate::model::{ChunkFlag, document_id};

    fn load(file: &Value) -> Result<Tokenizer, TokenizerError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokenizer.json");
        std::fs::write(&path, file.to_string()).unwrap();
        Tokenizer::load(&TokenizerName::File(path))
    }

    /// Words and marks, each a token.
    fn words() -> Value {
        json!({
            "version": "1.0",
            "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
            "padding": {"strategy": {"Fixed": 4_000}, "direction": "Right", "pad_to_multiple_of": null,
                        "pad_id": 0, "pad_type_id": 0, "pad_token": "?"},
            "pre_tokenizer": {"type": "Whitespace"},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "?", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
                "special_tokens": {"?": {"id": "?", "ids": [0], "tokens": ["?"]}},
            },
            "model": {"type": "WordLevel", "vocab": {"?": 0, "tea": 1}, "unk_token": "?"},
        })
    }

    /// Pairs of letters and of blanks, whatever stands before and after them; a blank before all.
    fn pairs() -> Value {
        let pairs = ["a a", "e e", "\u{2581} \u{2581}", "\u{2581} a", "a n", "- -"];
        let bytes = (0..=255).map(|byte| format!("<0x{byte:02X}>"));
        let parts = pairs.iter().flat_map(|pair| pair.split(' ').map(str::to_owned));
        let mut tokens: Vec<String> = bytes.chain(parts).collect();
        tokens.extend(pairs.iter().map(|pair| pair.replace(' ', "")));
        tokens.sort();
        tokens.dedup();
        let vocabulary: serde_json::Map<_, _> =
            tokens.into_iter().enumerate().map(|(id, token)| (token, json!(id))).collect();
        json!({
            "version": "1.0",
            "normalizer": {"type": "Sequence", "normalizers": [
                {"type": "Prepend", "prepend": "\u{2581}"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "\u{2581}"},
            ]},
            "model": {"type": "BPE", "vocab": vocabulary, "merges": pairs, "byte_fallback": true},
        })
    }

    #[test]
    fn a_file_counts_what_its_model_reads() {
        let words = load(&words()).unwrap();
        assert_eq!(words.count(""), 0);
        assert_eq!(words.count("Tea, tea and more of it."), 8, "neither cut nor filled up");
        let pairs = load(&pairs()).unwrap();
        assert_eq!(pairs.count("aa"), 2, "a blank before it, and a pair");
        assert_eq!(pairs.count("\u{e9}"), 3, "a blank and two bytes");
    }

    #[test]
    fn files_are_the_same_by_what_they_hold() {
        assert_eq!(load(&words()).unwrap(), load(&words()).unwrap());
        assert_ne!(load(&words()).unwrap(), load(&pairs()).unwrap());
    }

    #[test]
    fn a_file_that_cannot_count_every_text_is_refused() {
        let mut file = words();
        file["model"]["unk_token"] = json!("none");
        assert!(matches!(load(&file), Err(TokenizerError::Partial(_))));
        assert!(matches!(load(&json!({"model": 1})), Err(TokenizerError::Malformed(_))));
    }

    #[test]
    fn a_name_is_built_in_or_a_path() {
        for name in ["o200k_base", "cl100k_base", "chars", "models/bge/tokenizer.json"] {
            let parsed = TokenizerName::try_from(name.to_owned()).unwrap();
            assert_eq!(parsed.to_string(), name);
        }
        assert!(TokenizerName::try_from("o200k".to_owned()).is_err());
    }

    proptest! {
        #[test]
        fn a_budget_holds_whatever_the_file(
            blocks in proptest::collection::vec(
                prop_oneof![
                    "#{1,3} [a-z ]{1,20}",
                    "([a-z\u{e9} ]{1,30}\\. ){1,9}",
                    "(- [a-z ]{1,30}\n){1,12}",
                    "```\n([ ae-]{0,30}\n){1,20}```",
                    "\\| a \\| b \\|\n\\|---\\|---\\|\n(\\| [a-z ]{1,9} \\| aa \\|\n){1,20}",
                    "[ae]{100,200}",
                ],
                0..12,
            ),
            max_tokens in 32_usize..200,
            is_words in any::<bool>(),
            embed_overlap in any::<bool>(),
        ) {
            let tokenizer = load(&if is_words { words() } else { pairs() }).unwrap();
            let options = ChunkOptions { max_tokens, embed_overlap, ..ChunkOptions::default() };
            let (markdown, document_id) = (blocks.join("\n\n"), document_id("http://h/"));
            let input =
                ChunkInput { markdown: &markdown, title: Some("aa"), headings: &[], document_id };
            let chunks = chunk(input, &options, &tokenizer);
            let text: String = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
            prop_assert_eq!(text, markdown);
            for chunk in chunks {
                let counted = tokenizer.count(&chunk.embed_text());
                prop_assert_eq!(counted, chunk.token_count as usize);
                let is_flagged = chunk.flags.contains(&ChunkFlag::HardSplit);
                prop_assert!(counted <= max_tokens || is_flagged, "{counted}: {chunk:?}");
            }
        }
    }
}
