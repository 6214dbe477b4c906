//! A run of inline content to Markdown.

use std::borrow::Cow;

use super::escape::{BlockText, Place};
use super::piece::{Image, Inline, Mark};
use super::syntax::is_entity;

/// Writes `inlines` as Markdown for `place`. Lines of a paragraph are separated by LF.
pub(super) fn render(inlines: &[Inline], place: Place) -> String {
    if let [Inline::Text(text)] = inlines {
        let mut block = BlockText::default();
        block.push_text(text);
        return block.escaped(place);
    }
    let mut renderer = Renderer { text: BlockText::default(), place, open: Vec::new() };
    for inline in inlines {
        renderer.push(inline);
    }
    renderer.text.escaped(place)
}

struct Renderer {
    text: BlockText,
    place: Place,
    /// Marks in force: where each began, and what was written for it.
    open: Vec<(usize, &'static str)>,
}

impl Renderer {
    fn push(&mut self, inline: &Inline) {
        match inline {
            Inline::Text(text) => self.text.push_text(text),
            Inline::Code(code) => self.code(code),
            Inline::Math(tex) => {
                for part in ["$", tex, "$"] {
                    self.text.push_markup(part);
                }
            }
            Inline::Open(mark) => self.open(mark),
            Inline::Close(mark) => self.close(mark),
            Inline::Image(image) => self.image(image),
            Inline::Break => self.line_break(),
        }
    }

    /// In a cell a break stands apart from emphasis: some renderers read it before they look
    /// for delimiters, and then see no punctuation there.
    fn line_break(&mut self) {
        match self.place {
            Place::Paragraph => self.text.push_markup("\\\n"),
            Place::Heading => self.text.push_markup(" "),
            Place::Cell if self.text.ends_with("*") => self.text.push_markup(" <br>"),
            Place::Cell => self.text.push_markup("<br>"),
        }
    }

    /// Delimiters longer than any run inside, with a space where the code begins or ends with a
    /// back-tick (CommonMark 0.31 §6.1).
    fn code(&mut self, code: &str) {
        let fence = "`".repeat(free_length(code));
        let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
        for part in [fence.as_str(), pad, code, pad, fence.as_str()] {
            self.text.push_markup(part);
        }
    }

    fn open(&mut self, mark: &Mark) {
        // `***` of a strong opening inside emphasis is one run, and right so; behind emphasis
        // that just ended it would not be.
        let opens_run = self.open.last().is_some_and(|(at, outer)| {
            matches!(*outer, "**" | "*") && at + outer.len() == self.text.len()
        });
        let is_adjacent = self.text.ends_with("*") && !opens_run;
        let written = match mark {
            Mark::Strong if is_adjacent => "__",
            Mark::Strong => "**",
            Mark::Emphasis if is_adjacent => "_",
            Mark::Emphasis => "*",
            Mark::Strike => "~~",
            Mark::Superscript => "<sup>",
            Mark::Subscript => "<sub>",
            Mark::Link(_) => "[",
        };
        if matches!(mark, Mark::Strong | Mark::Emphasis) && self.text.ends_with("<br>") {
            self.text.push_markup(" ");
        }
        self.open.push((self.text.len(), written));
        self.text.push_markup(written);
    }

    fn close(&mut self, mark: &Mark) {
        let Some((start, written)) = self.open.pop() else { return };
        match mark {
            Mark::Link(link) => {
                self.text.mark_link(start + 1);
                self.end_link(&link.address, &link.title);
            }
            Mark::Superscript => self.text.push_markup("</sup>"),
            Mark::Subscript => self.text.push_markup("</sub>"),
            Mark::Strong | Mark::Emphasis | Mark::Strike => {
                let end = self.text.len();
                self.text.pair(start..start + written.len(), end..end + written.len());
                self.text.push_markup(written);
            }
        }
    }

    fn image(&mut self, image: &Image) {
        self.text.push_markup("![");
        let start = self.text.len();
        self.text.push_text(&image.alt);
        self.text.mark_link(start);
        self.end_link(&image.address, &image.title);
    }

    fn end_link(&mut self, address: &str, title: &str) {
        for part in ["](", &target(address), &quoted(title), ")"] {
            self.text.push_markup(part);
        }
    }
}

/// The least number of back-ticks that no run in `code` has.
fn free_length(code: &str) -> usize {
    if !code.contains('`') {
        return 1;
    }
    let mut lengths: Vec<usize> = code.split(|c| c != '`').map(str::len).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let mut free = 1;
    for length in lengths.into_iter().filter(|length| *length > 0) {
        if length == free {
            free += 1;
        }
    }
    free
}

/// A link's target, in angle brackets where it would end early (CommonMark 0.31 §6.3).
fn target(address: &str) -> Cow<'_, str> {
    let mut depth = 0_i32;
    let is_balanced = address.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    }) && depth == 0;
    let is_plain = !address.is_empty()
        && is_balanced
        && !address.starts_with('<')
        && !address.contains(|c: char| c.is_whitespace() || c.is_control());
    let has_escape = address.contains('\\') || address.contains('&');
    if is_plain && !has_escape {
        return escape_bar(address);
    }
    if is_plain {
        return literal(address).replace('|', "%7C").into();
    }
    let clean: String = address.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
    let clean = literal(&clean);
    format!("<{}>", clean.replace('<', "%3C").replace('>', "%3E").replace('|', "%7C")).into()
}

/// `|` would end a table cell.
fn escape_bar(address: &str) -> Cow<'_, str> {
    if address.contains('|') { address.replace('|', "%7C").into() } else { address.into() }
}

fn quoted(title: &str) -> String {
    if title.is_empty() {
        return String::new();
    }
    format!(" \"{}\"", literal(title).replace('"', "\\\""))
}

/// `text` with a backslash before what would be read as an escape or an entity.
fn literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        let next = rest.as_bytes().get(1);
        let is_escape = c == '\\' && next.is_none_or(u8::is_ascii_punctuation);
        if is_escape || c == '&' && is_entity(rest) {
            literal.push('\\');
        }
        literal.push(c);
    }
    literal
}
