//! The encoding that a page declares in its own first bytes (HTML §13.2.3.2).
//!
//! In: the body. Out: the encoding of the first `meta` element or, failing that, of the XML
//! declaration that names a known one. The standard's algorithm is followed to the letter within
//! its 1,024 bytes: it knows comments and attributes, but neither scripts nor a tree. After that
//! the search goes on to the end of the head, since browsers, too, obey a `meta` that comes late.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// Bytes in which a declaration counts wherever it stands.
const EVERYWHERE_BYTES: usize = 1_024;

/// Bytes in which a declaration counts while the head lasts: scripts and style sheets before it
/// are seldom longer.
const HEAD_BYTES: usize = 64 * 1_024;

/// The encoding that `body` declares.
pub fn declared_encoding(body: &[u8]) -> Option<&'static Encoding> {
    match body {
        [b'<', 0, b'?', 0, b'x', 0, ..] => return Some(UTF_16LE),
        [0, b'<', 0, b'?', 0, b'x', ..] => return Some(UTF_16BE),
        _ => {}
    }
    let head = body.get(..HEAD_BYTES).unwrap_or(body);
    Scan { all: head, rest: head }.encoding().or_else(|| xml_encoding(body))
}

/// The encoding of a label in the page. A page whose declaration could be read is not in UTF-16.
fn encoding_of(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label_no_replacement(label)?;
    Some(if encoding == UTF_16BE || encoding == UTF_16LE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    })
}

/// The encoding of an XML declaration.
fn xml_encoding(body: &[u8]) -> Option<&'static Encoding> {
    let body = body.get(..EVERYWHERE_BYTES).unwrap_or(body);
    let declaration = body.strip_prefix(b"<?xml")?;
    let declaration = declaration.get(..memchr::memchr(b'>', declaration)?)?;
    let at = memchr::memmem::find(declaration, b"encoding")?;
    let value = declaration.get(at + b"encoding".len()..)?.trim_ascii_start();
    let (&quote, value) = value.strip_prefix(b"=")?.trim_ascii_start().split_first()?;
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    encoding_of(value.get(..memchr::memchr(quote, value)?)?)
}

/// The encoding in the `content` of a `meta` element: `text/html; charset=…`.
fn encoding_in_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        let at = memchr::memmem::find(rest, b"charset")?;
        rest = rest.get(at + b"charset".len()..)?;
        if let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") {
            return match value.trim_ascii_start() {
                [quote @ (b'"' | b'\''), value @ ..] => {
                    encoding_of(value.get(..memchr::memchr(*quote, value)?)?)
                }
                value => {
                    let is_end = |b: &u8| b.is_ascii_whitespace() || *b == b';';
                    encoding_of(value.split(is_end).next()?)
                }
            };
        }
    }
}

/// The bytes end within a construct, or the search is over: what follows cannot be known.
struct Over;

/// An attribute, in lower case.
#[derive(Default)]
struct Attribute {
    name: Vec<u8>,
    value: Vec<u8>,
}

/// A position in a page's first bytes.
struct Scan<'a> {
    all: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Scan<'a> {
    /// The encoding of the first `meta` element that names a known one.
    fn encoding(mut self) -> Option<&'static Encoding> {
        loop {
            match self.step() {
                Ok(None) => {}
                Ok(found) => return found,
                Err(Over) => return None,
            }
        }
    }

    /// Passes one construct.
    fn step(&mut self) -> Result<Option<&'static Encoding>, Over> {
        self.rest =
            memchr::memchr(b'<', self.rest).and_then(|at| self.rest.get(at..)).ok_or(Over)?;
        match self.rest {
            // The dashes that open a comment may also close it: `<!-->`.
            [b'<', b'!', b'-', b'-', ..] => self.skip(2).and_then(|()| self.pass(b"-->"))?,
            [b'<', b'/', letter, ..] | [b'<', letter, ..] if letter.is_ascii_alphabetic() => {
                return self.tag();
            }
            [b'<', b'!' | b'/' | b'?', ..] => self.pass(b">")?,
            _ => self.skip(1)?,
        }
        Ok(None)
    }

    fn tag(&mut self) -> Result<Option<&'static Encoding>, Over> {
        self.skip(1)?;
        let is_end = |b: &u8| b.is_ascii_whitespace() || *b == b'>';
        let end = self.rest.iter().position(is_end).ok_or(Over)?;
        let name = self.rest.get(..end).unwrap_or_default().to_ascii_lowercase();
        if self.all.len() - self.rest.len() > EVERYWHERE_BYTES
            && matches!(name.as_slice(), b"/head" | b"body")
        {
            return Err(Over);
        }
        // `<meta/charset=…>` is a `meta` element, too.
        if name == b"meta" || name.starts_with(b"meta/") {
            self.skip(b"meta".len())?;
            return self.meta();
        }
        self.skip(end)?;
        while self.attribute()?.is_some() {}
        Ok(None)
    }

    fn meta(&mut self) -> Result<Option<&'static Encoding>, Over> {
        let (mut charset, mut content, mut pragma) = (None, None, None);
        while let Some(Attribute { name, value }) = self.attribute()? {
            // Of attributes with one name, the first counts.
            match name.as_slice() {
                b"charset" => charset = charset.or(Some(encoding_of(&value))),
                b"content" => content = content.or(Some(encoding_in_content(&value))),
                b"http-equiv" => pragma = pragma.or(Some(value == b"content-type")),
                _ => {}
            }
        }
        let content = content.flatten().filter(|_| pragma == Some(true));
        Ok(charset.unwrap_or(content))
    }

    /// Reads the next attribute of a tag; `None` at the tag's end, which is passed.
    fn attribute(&mut self) -> Result<Option<Attribute>, Over> {
        while matches!(self.peek()?, b'/') || self.peek()?.is_ascii_whitespace() {
            self.skip(1)?;
        }
        if self.peek()? == b'>' {
            self.skip(1)?;
            return Ok(None);
        }
        let mut attribute = Attribute::default();
        loop {
            match self.peek()? {
                b'=' if !attribute.name.is_empty() => break,
                b'/' | b'>' => return Ok(Some(attribute)),
                byte if byte.is_ascii_whitespace() => {
                    self.skip_whitespace()?;
                    if self.peek()? != b'=' {
                        return Ok(Some(attribute));
                    }
                    break;
                }
                byte => attribute.name.push(byte.to_ascii_lowercase()),
            }
            self.skip(1)?;
        }
        self.skip(1)?;
        attribute.value = self.value()?;
        Ok(Some(attribute))
    }

    fn value(&mut self) -> Result<Vec<u8>, Over> {
        self.skip_whitespace()?;
        let quote = self.peek()?;
        let value = if matches!(quote, b'"' | b'\'') {
            self.skip(1)?;
            let value = self.take_until(|byte| byte == quote)?;
            self.skip(1)?;
            value
        } else {
            self.take_until(|byte| byte == b'>' || byte.is_ascii_whitespace())?
        };
        Ok(value.to_ascii_lowercase())
    }

    fn take_until(&mut self, is_end: impl Fn(u8) -> bool) -> Result<&'a [u8], Over> {
        let end = self.rest.iter().position(|byte| is_end(*byte)).ok_or(Over)?;
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(taken)
    }

    fn peek(&self) -> Result<u8, Over> {
        self.rest.first().copied().ok_or(Over)
    }

    fn skip(&mut self, n: usize) -> Result<(), Over> {
        self.rest = self.rest.get(n..).ok_or(Over)?;
        Ok(())
    }

    fn skip_whitespace(&mut self) -> Result<(), Over> {
        while self.peek()?.is_ascii_whitespace() {
            self.skip(1)?;
        }
        Ok(())
    }

    /// Goes on behind the next `end`.
    fn pass(&mut self, end: &[u8]) -> Result<(), Over> {
        let at = memchr::memmem::find(self.rest, end).ok_or(Over)?;
        self.skip(at + end.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(page: &str, want: &str) {
        let got = declared_encoding(page.as_bytes());
        assert_eq!(got.map_or("none", Encoding::name), want);
    }

    #[test]
    fn a_meta_element_declares() {
        check("<META/Charset = 'koi8-r'>", "KOI8-R");
        check("<meta content='text/html; charset=koi8-r' http-equiv=Content-Type>", "KOI8-R");
        check("<meta http-equiv=content-type content='charset;charset = \"koi8-r\"'>", "KOI8-R");
        check("<p a=1 b><meta charset=koi8-r>", "KOI8-R");
        check("<meta charset=bogus><meta charset=koi8-r>", "KOI8-R");
    }

    #[test]
    fn other_markup_does_not() {
        check("<!-- <meta charset=koi8-r> --><!--><meta charset=koi8-u>", "KOI8-U");
        check("<p title='<meta charset=koi8-r>'>", "none");
        check("<metas charset=koi8-r><meta charset=", "none");
        check("<meta content='text/html; charset=koi8-r'>", "none");
        check("<meta charset=bogus http-equiv=content-type content='charset=koi8-r'>", "none");
        check("a < b <?php <meta charset=koi8-r> ?>", "none");
    }

    #[test]
    fn impossible_declarations_mean_the_likely_ones() {
        check("<meta charset=utf-16>", "UTF-8");
        check("<meta charset=x-user-defined>", "windows-1252");
    }

    #[test]
    fn an_xml_declaration_is_second() {
        check("<?xml version='1.0' encoding = \"koi8-r\"?><p>", "KOI8-R");
        check("<?xml version='1.0' encoding='koi8-r'?><meta charset=koi8-u>", "KOI8-U");
        check(" <?xml version='1.0' encoding='koi8-r'?>", "none");
        check("<\0?\0x\0m\0l\0", "UTF-16LE");
    }

    #[test]
    fn a_late_declaration_counts_in_the_head_only() {
        let script = "x".repeat(2_000);
        check(&format!("<script>{script}</script><meta charset=koi8-r>"), "KOI8-R");
        check(&format!("<script>{script}</script></head><meta charset=koi8-r>"), "none");
        check(&format!("<body><p>{script}<body><meta charset=koi8-r>"), "none");
        check(&format!("<!--{}--><meta charset=koi8-r>", "x".repeat(HEAD_BYTES)), "none");
    }

    proptest! {
        #[test]
        fn any_bytes_end(page in "(<|meta|charset|=|>|'|!--|-->|\\?xml|encoding|koi8-r| ){0,30}") {
            declared_encoding(page.as_bytes());
        }
    }
}
