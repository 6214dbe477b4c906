//! A run of inline content to Markdown.

use super::escape::{BlockText, Place};
use super::piece::{Inline, Mark};

/// Writes `inlines` as Markdown for `place`. Lines of a paragraph are separated by LF.
pub(super) fn render(inlines: &[Inline], place: Place) -> String {
    let mut renderer =
        Renderer { text: BlockText::default(), place, open: Vec::new(), emphasis: Vec::new() };
    for inline in inlines {
        renderer.push(inline);
    }
    let dropped = renderer.dropped();
    renderer.text.escaped(place, &dropped)
}

struct Renderer {
    text: BlockText,
    place: Place,
    /// Marks in force: where each began, and what was written for it.
    open: Vec<(usize, &'static str)>,
    /// Emphasis, as the places of its delimiters and their length.
    emphasis: Vec<(usize, usize, usize)>,
}

impl Renderer {
    fn push(&mut self, inline: &Inline) {
        match inline {
            Inline::Text(text) => self.text.push_text(text),
            Inline::Code(code) => self.code(code),
            Inline::Math(tex) => self.text.push_markup(&format!("${tex}$")),
            Inline::Open(mark) => self.open(mark),
            Inline::Close(mark) => self.close(mark),
            Inline::Image { alt, address } => self.image(alt, address),
            Inline::Break => self.text.push_markup(match self.place {
                Place::Paragraph => "\\\n",
                Place::Heading => " ",
                Place::Cell => "<br>",
            }),
        }
    }

    /// Delimiters longer than any run inside, with a space where the code begins or ends with a
    /// back-tick (CommonMark 0.31 §6.1).
    fn code(&mut self, code: &str) {
        let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        // A run of another length cannot close: the shortest free length will do.
        let length = (1..=longest + 1)
            .find(|n| code.split(|c| c != '`').all(|run| run.len() != *n))
            .unwrap_or(longest + 1);
        let fence = "`".repeat(length);
        let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
        self.text.push_markup(&format!("{fence}{pad}{code}{pad}{fence}"));
    }

    fn open(&mut self, mark: &Mark) {
        let is_adjacent = matches!(self.text.last(), Some('*'));
        let written = match mark {
            Mark::Strong if is_adjacent => "__",
            Mark::Strong => "**",
            Mark::Emphasis if is_adjacent => "_",
            Mark::Emphasis => "*",
            Mark::Strike => "~~",
            Mark::Superscript => "<sup>",
            Mark::Subscript => "<sub>",
            Mark::Link { .. } => "[",
        };
        // `***` of a strong opening inside emphasis is one run, and right so.
        let opens_run = self.open.last().is_some_and(|(at, inner)| {
            *inner == "**" && at + 2 == self.text.len() || *inner == "*" && at + 1 == self.text.len()
        });
        let written = match (opens_run, mark) {
            (true, Mark::Strong) => "**",
            (true, Mark::Emphasis) => "*",
            _ => written,
        };
        self.open.push((self.text.len(), written));
        self.text.push_markup(written);
    }

    fn close(&mut self, mark: &Mark) {
        let Some((start, written)) = self.open.pop() else { return };
        match mark {
            Mark::Link { address, title } => {
                self.text.mark_link(start + 1);
                self.text.push_markup(&format!("]({}{})", target(address), quoted(title)));
            }
            Mark::Superscript => self.text.push_markup("</sup>"),
            Mark::Subscript => self.text.push_markup("</sub>"),
            Mark::Strong | Mark::Emphasis | Mark::Strike => {
                self.emphasis.push((start, self.text.len(), written.len()));
                self.text.push_markup(written);
            }
        }
    }

    fn image(&mut self, alt: &str, address: &str) {
        self.text.push_markup("![");
        let start = self.text.len();
        self.text.push_text(alt);
        self.text.mark_link(start);
        self.text.push_markup(&format!("]({})", target(address)));
    }

    /// Delimiters that would be read as text where they stand: dead marks are never written.
    fn dropped(&self) -> Vec<bool> {
        let mut dropped = Vec::new();
        for (open, close, length) in &self.emphasis {
            let (can_open, _) = self.text.can_delimit(*open);
            let (_, can_close) = self.text.can_delimit(*close);
            if can_open && can_close {
                continue;
            }
            dropped.resize(self.text.len(), false);
            for start in [*open, *close] {
                dropped.iter_mut().skip(start).take(*length).for_each(|drop| *drop = true);
            }
        }
        dropped
    }
}

/// A link's target, in angle brackets where it would end early (CommonMark 0.31 §6.3).
fn target(address: &str) -> String {
    let mut depth = 0_i32;
    let is_balanced = address.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    }) && depth == 0;
    let is_plain = !address.is_empty()
        && is_balanced
        && !address.starts_with('<')
        && !address.contains(|c: char| c.is_whitespace() || c.is_control());
    if is_plain {
        return address.replace('|', "%7C");
    }
    let clean: String = address.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
    format!("<{}>", clean.replace('<', "%3C").replace('>', "%3E").replace('|', "%7C"))
}

fn quoted(title: &str) -> String {
    if title.is_empty() {
        return String::new();
    }
    format!(" \"{}\"", title.replace('\\', "\\\\").replace('"', "\\\""))
}
