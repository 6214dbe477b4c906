//! HTML to tokens (HTML §13.2.5), for html5ever's tree builder.
//!
//! In: the source. Out: the tokens that html5ever's own tokenizer would give, on which a property
//! test insists. What is ours is the cost: text and attribute values are slices of the one source,
//! found by looking for the byte that ends them, and a tag costs linear time whatever its
//! attributes. Left out is what nobody reads: errors, the text of comments, the attributes of end
//! tags and those beyond [`MAX_ATTRIBUTES`].

use std::ops::Range;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TagKind, Token};
use html5ever::{Attribute, LocalName, QualName, ns};
use memchr::{memchr, memchr2, memmem};

use super::doctype::doctype;
use super::raw_text::{raw_end, script_end};
use super::reference::{Within, decoded, reference};

/// Most attributes that a tag keeps: no tag of a real page comes near, and each is compared with
/// those before it.
const MAX_ATTRIBUTES: usize = 256;

/// The tokens of a source.
pub(super) struct Tokens<'a> {
    /// The source, and its bytes.
    source: &'a StrTendril,
    bytes: &'a [u8],
    at: usize,
    content: Content,
    /// Where the name of the last start tag stands: the end tag of the same name ends raw text.
    last_start: Range<usize>,
}

/// How what follows is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// As markup.
    Markup,
    /// As text up to the element's end tag.
    Raw(RawKind),
    /// As text to the end.
    Plain,
}

impl<'a> Tokens<'a> {
    /// The tokens of `source`, which is [`normalized`].
    pub(super) fn of(source: &'a StrTendril) -> Self {
        Self { source, bytes: source.as_bytes(), at: 0, content: Content::Markup, last_start: 0..0 }
    }

    /// Says how what follows is read: the tree builder knows.
    pub(super) fn read_as(&mut self, content: Content) {
        self.content = content;
    }

    /// The next token; `None` at the end. `is_foreign` says whether the place is in SVG or MathML.
    pub(super) fn next(&mut self, is_foreign: impl Fn() -> bool) -> Option<Token> {
        while self.at < self.bytes.len() {
            let token = match self.content {
                Content::Markup => match self.text() {
                    Some(text) => Some(Token::CharacterTokens(text)),
                    None => self.markup(&is_foreign),
                },
                Content::Raw(kind) => self.raw_text(kind),
                Content::Plain => Some(self.characters(self.bytes.len())),
            };
            if token.is_some() {
                return token;
            }
        }
        None
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn bytes_from(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// A part of the source, which it shares.
    fn slice(&self, range: Range<usize>) -> StrTendril {
        let (start, len) = (u32::try_from(range.start), u32::try_from(range.len()));
        let slice = start.ok().zip(len.ok());
        slice
            .and_then(|(start, len)| self.source.try_subtendril(start, len).ok())
            .unwrap_or_default()
    }

    /// The source up to `end`, as text.
    fn characters(&mut self, end: usize) -> Token {
        let text = self.slice(self.at..end);
        self.at = end;
        Token::CharacterTokens(text)
    }

    /// Text up to the next markup or reference, or the reference that stands here.
    fn text(&mut self) -> Option<StrTendril> {
        let start = self.at;
        if self.byte(start) == Some(b'&')
            && let Some(reference) = reference(self.rest(), Within::Text)
        {
            self.at += reference.len;
            return Some(reference.chars().collect::<String>().into());
        }
        let mut end = start;
        while let Some(found) = memchr2(b'<', b'&', self.bytes_from(end)) {
            end += found;
            let is_end = match self.byte(end) {
                Some(b'<') => self.is_markup(end),
                _ => end > start && self.byte(end + 1).is_some_and(may_begin_reference),
            };
            if is_end {
                self.at = end;
                return (end > start).then(|| self.slice(start..end));
            }
            end += 1;
        }
        self.at = self.bytes.len();
        Some(self.slice(start..self.at))
    }

    /// Whether the `<` at `at` begins markup.
    fn is_markup(&self, at: usize) -> bool {
        match self.byte(at + 1) {
            Some(b'!' | b'?') => true,
            Some(b'/') => at + 2 < self.bytes.len(),
            Some(byte) => byte.is_ascii_alphabetic(),
            None => false,
        }
    }

    /// The markup that begins here; `None` where it means nothing.
    fn markup(&mut self, is_foreign: impl Fn() -> bool) -> Option<Token> {
        match (self.byte(self.at + 1)?, self.byte(self.at + 2)) {
            (b'!', _) => Some(self.declaration(is_foreign)),
            (b'/', Some(b'>')) => {
                self.at += 3;
                None
            }
            (b'/', Some(byte)) if byte.is_ascii_alphabetic() => {
                self.at += 2;
                self.tag(TagKind::EndTag)
            }
            (b'/' | b'?', _) => Some(self.bogus_comment()),
            _ => {
                self.at += 1;
                self.tag(TagKind::StartTag)
            }
        }
    }

    fn declaration(&mut self, is_foreign: impl Fn() -> bool) -> Token {
        let rest = self.rest();
        if rest.starts_with("<!--") {
            return self.comment();
        }
        if rest.get(2..9).is_some_and(|word| word.eq_ignore_ascii_case("doctype")) {
            let (doctype, len) = doctype(rest.get(9..).unwrap_or_default());
            self.at += 9 + len;
            return Token::DoctypeToken(doctype);
        }
        if rest.starts_with("<![CDATA[") && is_foreign() {
            self.at += 9;
            let end = memmem::find(self.bytes_from(self.at), b"]]>");
            let text = self.characters(end.map_or(self.bytes.len(), |end| self.at + end));
            self.at = (self.at + 3).min(self.bytes.len());
            return text;
        }
        self.bogus_comment()
    }

    /// A comment that ends with the first of `-->` and `--!>`, or at once: `<!-->`.
    fn comment(&mut self) -> Token {
        let rest = self.bytes_from(self.at);
        for abrupt in ["<!-->", "<!--->"] {
            if rest.starts_with(abrupt.as_bytes()) {
                self.at += abrupt.len();
                return Token::CommentToken(StrTendril::new());
            }
        }
        let mut from = 4;
        while let Some(at) = rest.get(from..).and_then(|rest| memmem::find(rest, b"--")) {
            from += at + 1;
            let len = match rest.get(from + 1..) {
                Some([b'>', ..]) => 2,
                Some([b'!', b'>', ..]) => 3,
                _ => continue,
            };
            self.at += from + len;
            return Token::CommentToken(StrTendril::new());
        }
        self.at = self.bytes.len();
        Token::CommentToken(StrTendril::new())
    }

    /// What is no markup declaration goes up to the next `>`.
    fn bogus_comment(&mut self) -> Token {
        let end = memchr(b'>', self.bytes_from(self.at));
        self.at = end.map_or(self.bytes.len(), |end| self.at + end + 1);
        Token::CommentToken(StrTendril::new())
    }

    /// The tag whose name begins here; `None` where the source ends in it.
    fn tag(&mut self, kind: TagKind) -> Option<Token> {
        let name = self.word(|byte| matches!(byte, b'/' | b'>'));
        let mut tag = Tag {
            kind,
            name: self.name(name.clone()),
            self_closing: false,
            attrs: Vec::new(),
            had_duplicate_attributes: false,
        };
        loop {
            let is_behind_slash = self.skip_to_attribute();
            if self.byte(self.at)? == b'>' {
                tag.self_closing = is_behind_slash;
                self.at += 1;
                break;
            }
            self.attribute(&mut tag)?;
        }
        if kind == TagKind::StartTag {
            self.last_start = name;
        }
        Some(Token::TagToken(tag))
    }

    /// Skips white space and slashes, and says whether a slash was last.
    fn skip_to_attribute(&mut self) -> bool {
        let mut last = 0;
        while let Some(byte) = self.byte(self.at).filter(|byte| is_space(*byte) || *byte == b'/') {
            last = byte;
            self.at += 1;
        }
        last == b'/'
    }

    fn skip_space(&mut self) {
        while self.byte(self.at).is_some_and(is_space) {
            self.at += 1;
        }
    }

    /// The place of the word that begins here, up to white space or a byte that `ends` it. Its
    /// first byte never does.
    fn word(&mut self, ends: impl Fn(u8) -> bool) -> Range<usize> {
        let start = self.at;
        self.at += 1;
        while self.byte(self.at).is_some_and(|byte| !is_space(byte) && !ends(byte)) {
            self.at += 1;
        }
        start..self.at.min(self.bytes.len())
    }

    fn name(&self, range: Range<usize>) -> LocalName {
        let name = self.source.get(range).unwrap_or_default();
        if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return LocalName::from(name.to_ascii_lowercase());
        }
        LocalName::from(name)
    }

    /// Adds the attribute that begins here to `tag`; the first of a name counts. `None` where the
    /// source ends in it.
    fn attribute(&mut self, tag: &mut Tag) -> Option<()> {
        let name = self.word(|byte| matches!(byte, b'/' | b'>' | b'='));
        let end = self.at;
        self.skip_space();
        let value = if self.byte(self.at) == Some(b'=') {
            self.at += 1;
            self.value()?
        } else {
            end..end
        };
        if tag.kind == TagKind::EndTag || tag.attrs.len() == MAX_ATTRIBUTES {
            return Some(());
        }
        let name = QualName::new(None, ns!(), self.name(name));
        if tag.attrs.iter().any(|present| present.name.local == name.local) {
            tag.had_duplicate_attributes = true;
            return Some(());
        }
        let value = self.decoded(value, Within::Attribute);
        tag.attrs.push(Attribute { name, value });
        Some(())
    }

    /// The place of the value behind `=`. `None` where the source ends in it.
    fn value(&mut self) -> Option<Range<usize>> {
        self.skip_space();
        let start = self.at;
        match self.byte(start)? {
            quote @ (b'"' | b'\'') => {
                let end = memchr(quote, self.bytes_from(start + 1));
                self.at = end.map_or(self.bytes.len(), |end| start + end + 2);
                end.map(|_| start + 1..self.at - 1)
            }
            b'>' => Some(start..start),
            _ => Some(self.word(|byte| byte == b'>')),
        }
    }

    /// A part of the source with its references decoded.
    fn decoded(&self, range: Range<usize>, within: Within) -> StrTendril {
        let text = self.source.get(range.clone()).unwrap_or_default();
        match memchr(b'&', text.as_bytes()) {
            Some(_) => decoded(text, within).into(),
            None => self.slice(range),
        }
    }

    /// The text of an element that holds no markup; `None` where there is none.
    fn raw_text(&mut self, kind: RawKind) -> Option<Token> {
        let name = self.bytes.get(self.last_start.clone()).unwrap_or_default();
        let end = match kind {
            RawKind::ScriptData | RawKind::ScriptDataEscaped(_) => {
                script_end(self.bytes, self.at, name)
            }
            RawKind::Rcdata | RawKind::Rawtext => raw_end(self.bytes, self.at, name),
        };
        self.content = Content::Markup;
        let text = self.at..end;
        self.at = end;
        if text.is_empty() {
            return None;
        }
        Some(Token::CharacterTokens(match kind {
            RawKind::Rcdata => self.decoded(text, Within::Text),
            _ => self.slice(text),
        }))
    }
}

/// `html` as tokens are made of it: without byte order mark and NUL, which no reader sees, and with
/// LF alone as line end.
pub(super) fn normalized(html: &str) -> StrTendril {
    let html = html.strip_prefix('\u{feff}').unwrap_or(html);
    if memchr2(b'\r', b'\0', html.as_bytes()).is_none() {
        return StrTendril::from_slice(html);
    }
    html.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "").into()
}

/// White space in a tag.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0c)
}

fn may_begin_reference(byte: u8) -> bool {
    byte == b'#' || byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use html5ever::TokenizerResult;
    use html5ever::buffer_queue::BufferQueue;
    use html5ever::tokenizer::{TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
    use proptest::prelude::*;

    use super::*;

    /// Takes tokens as a tree builder would, and keeps what of them means something.
    #[derive(Default)]
    struct Record {
        tokens: RefCell<Vec<Token>>,
        is_foreign: Cell<bool>,
    }

    impl Record {
        fn take(&self, token: Token) -> TokenSinkResult<()> {
            let mut tokens = self.tokens.borrow_mut();
            match (token, tokens.last_mut()) {
                (Token::ParseError(_) | Token::EOFToken, _) => {}
                (Token::CharacterTokens(text), Some(Token::CharacterTokens(before))) => {
                    before.push_tendril(&text);
                }
                (Token::CommentToken(_), _) => tokens.push(Token::CommentToken("".into())),
                (Token::DoctypeToken(mut doctype), _) => {
                    if doctype.force_quirks {
                        (doctype.public_id, doctype.system_id) = (None, None);
                    }
                    tokens.push(Token::DoctypeToken(doctype));
                }
                (Token::TagToken(tag), _) if tag.kind == TagKind::StartTag => {
                    let answer = self.answer(&tag.name);
                    tokens.push(Token::TagToken(tag));
                    return answer;
                }
                (Token::TagToken(tag), _) => {
                    self.is_foreign.set(self.is_foreign.get() && &*tag.name != "svg");
                    let bare = Tag { attrs: Vec::new(), self_closing: false, ..tag };
                    tokens.push(Token::TagToken(Tag { had_duplicate_attributes: false, ..bare }));
                }
                (token, _) => tokens.push(token),
            }
            TokenSinkResult::Continue
        }

        fn answer(&self, name: &str) -> TokenSinkResult<()> {
            self.is_foreign.set(self.is_foreign.get() || name == "svg");
            match name {
                "title" => TokenSinkResult::RawData(RawKind::Rcdata),
                "style" => TokenSinkResult::RawData(RawKind::Rawtext),
                "script" => TokenSinkResult::RawData(RawKind::ScriptData),
                "plaintext" => TokenSinkResult::Plaintext,
                _ => TokenSinkResult::Continue,
            }
        }
    }

    impl TokenSink for Record {
        type Handle = ();

        fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
            self.take(token)
        }

        fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
            self.is_foreign.get()
        }
    }

    fn ours(html: &str) -> Vec<Token> {
        let source = normalized(html);
        let mut tokens = Tokens::of(&source);
        let record = Record::default();
        while let Some(token) = tokens.next(|| record.is_foreign.get()) {
            match record.take(token) {
                TokenSinkResult::RawData(kind) => tokens.read_as(Content::Raw(kind)),
                TokenSinkResult::Plaintext => tokens.read_as(Content::Plain),
                _ => {}
            }
        }
        record.tokens.into_inner()
    }

    fn theirs(html: &str) -> Vec<Token> {
        let tokenizer = Tokenizer::new(Record::default(), TokenizerOpts::default());
        let input = BufferQueue::default();
        input.push_back(StrTendril::from_slice(html));
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        tokenizer.end();
        tokenizer.sink.tokens.into_inner()
    }

    const BITS: &[&str] = &[
        "<",
        ">",
        "/",
        "=",
        "\"",
        "'",
        "!",
        "?",
        "-",
        "--",
        "&",
        ";",
        "#",
        " ",
        "\n",
        "\r",
        "\t",
        "a",
        "A",
        "é",
        "</",
        "<a ",
        "<B",
        "<!--",
        "-->",
        "--!>",
        "<!-->",
        "<![CDATA[",
        "]]>",
        "<svg>",
        "</svg>",
        "<title>",
        "</title>",
        "</TITLE ",
        "<style>",
        "</style>",
        "<script>",
        "<script ",
        "</script>",
        "</script/",
        "<plaintext>",
        "b='c&amp;d'",
        "e=f/>",
        "g=\"&lt\"",
        "/>",
        "<!doctype",
        " html",
        "PUBLIC",
        "system",
        "\"id\"",
        "&amp",
        "&notin;",
        "&noti",
        "&#x",
        "&#65;",
        "&#128",
        "&#0",
        "&#1114112;",
        "&lt=",
        "\u{feff}",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn tokens_are_those_of_html5ever(
            bits in prop::collection::vec(prop::sample::select(BITS), 0..24),
        ) {
            let html = bits.concat();
            prop_assert_eq!(ours(&html), theirs(&html), "{}", html);
        }
    }

    #[test]
    fn text_and_values_are_not_copied() {
        let source = normalized("<p title='a long title'>a long text</p>");
        let mut tokens = Tokens::of(&source);
        let Some(Token::TagToken(tag)) = tokens.next(|| false) else { panic!("a tag") };
        assert!(tag.attrs[0].value.is_shared_with(&source));
        let Some(Token::CharacterTokens(text)) = tokens.next(|| false) else { panic!("text") };
        assert!(text.is_shared_with(&source));
    }

    #[test]
    fn attributes_beyond_the_limit_are_dropped_and_the_text_is_kept() {
        let attributes: String =
            (0..100_000).fold(String::new(), |all, n| all + " a" + &n.to_string() + "='>'");
        let tokens = ours(&format!("<p{attributes}>inside"));
        let [Token::TagToken(tag), Token::CharacterTokens(text)] = tokens.as_slice() else {
            panic!("{} tokens", tokens.len());
        };
        assert_eq!(tag.attrs.len(), MAX_ATTRIBUTES);
        assert_eq!(&**text, "inside");
    }
}
