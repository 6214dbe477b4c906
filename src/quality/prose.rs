//! Markdown as its reader sees it: lines and paragraphs of text.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The text of a page without Markdown's marks.
#[derive(Debug, Default)]
pub(super) struct Prose {
    /// Lines end with a line feed, paragraphs with an empty line.
    pub(super) text: String,
    /// Characters of `text` that are links.
    pub(super) link_chars: usize,
    /// Lines that begin an item of a list.
    pub(super) bullets: usize,
    /// Number signs and ellipses.
    pub(super) symbols: usize,
    /// Where `text` is code, as ranges of bytes in order.
    code: Vec<std::ops::Range<usize>>,
}

impl Prose {
    /// Reads `markdown`.
    pub(super) fn of(markdown: &str) -> Self {
        let mut prose = Self { text: String::with_capacity(markdown.len()), ..Self::default() };
        let mut links = 0_usize;
        let mut code_from = 0;
        for event in
            Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH)
        {
            match event {
                Event::Text(text) | Event::Code(text) => {
                    prose.text.push_str(&text);
                    prose.link_chars += if links > 0 { text.chars().count() } else { 0 };
                }
                Event::Start(Tag::Link { .. }) => links += 1,
                Event::End(TagEnd::Link) => links = links.saturating_sub(1),
                Event::Start(Tag::Item) => {
                    prose.end_line();
                    prose.bullets += 1;
                }
                Event::Start(Tag::CodeBlock(_)) => code_from = prose.text.len(),
                Event::End(TagEnd::CodeBlock) => {
                    prose.code.push(code_from..prose.text.len());
                    prose.end_paragraph();
                }
                Event::End(TagEnd::TableCell) => prose.text.push(' '),
                Event::SoftBreak
                | Event::HardBreak
                | Event::End(TagEnd::TableHead | TagEnd::TableRow | TagEnd::Item) => {
                    prose.end_line();
                }
                Event::End(
                    TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Table | TagEnd::List(_),
                ) => {
                    prose.end_paragraph();
                }
                _ => {}
            }
        }
        prose.symbols = symbols(&prose.text);
        prose
    }

    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn end_paragraph(&mut self) {
        self.end_line();
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Lines with text.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines().map(str::trim).filter(|line| !line.is_empty())
    }

    /// Paragraphs with text.
    pub(super) fn paragraphs(&self) -> impl Iterator<Item = &str> {
        self.text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty())
    }

    /// The first `most` bytes of the text that is not code; all of it where everything is.
    pub(super) fn sample(&self, most: usize) -> String {
        let mut sample = String::new();
        let mut from = 0;
        let all = self.text.len();
        for code in self.code.iter().cloned().chain(std::iter::once(all..all)) {
            sample.push_str(self.text.get(from..code.start).unwrap_or_default());
            from = code.end;
            if sample.len() >= most {
                break;
            }
        }
        if sample.trim().is_empty() {
            sample.push_str(&self.text);
        }
        sample.truncate(sample.floor_char_boundary(most));
        sample
    }
}

fn symbols(text: &str) -> usize {
    let dots = text.matches("...").count();
    dots + text.chars().filter(|c| matches!(c, '#' | '…')).count()
}
