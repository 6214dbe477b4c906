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
    let renderer = Renderer::run(inlines, place);
    let dead = renderer.dead();
    if dead.is_empty() {
        return renderer.text.escaped(place);
    }
    render_without(inlines, &dead, place)
}

/// Most times that marks are taken out because others were: then all emphasis goes.
const MAX_ROUNDS: usize = 8;

/// Writes `inlines` without the emphasis at `dead`: dead marks are never written. What stood
/// beside them may be dead then, too.
fn render_without(inlines: &[Inline], dead: &[usize], place: Place) -> String {
    let mut inlines = without(inlines, dead);
    for _ in 0..MAX_ROUNDS {
        let renderer = Renderer::run(&inlines, place);
        let dead = renderer.dead();
        if dead.is_empty() {
            return renderer.text.escaped(place);
        }
        inlines = without(&inlines, &dead);
    }
    inlines.retain(|inline| match inline {
        Inline::Open(mark) | Inline::Close(mark) => !is_emphasis(mark),
        _ => true,
    });
    Renderer::run(&inlines, place).text.escaped(place)
}

/// `inlines` without those at `dead`, which is in order; marks that then touch join.
fn without(inlines: &[Inline], dead: &[usize]) -> Vec<Inline> {
    let mut kept: Vec<Inline> = Vec::with_capacity(inlines.len());
    for (n, inline) in inlines.iter().enumerate() {
        if dead.binary_search(&n).is_ok() {
            continue;
        }
        match (inline, kept.last()) {
            (Inline::Open(mark), Some(Inline::Close(before))) if mark == before => {
                kept.pop();
            }
            _ => kept.push(inline.clone()),
        }
    }
    kept
}

fn is_emphasis(mark: &Mark) -> bool {
    matches!(mark, Mark::Strong | Mark::Emphasis | Mark::Strike)
}

struct Renderer {
    text: BlockText,
    place: Place,
    /// Marks in force: where each began, and what was written for it.
    open: Vec<(usize, &'static str)>,
    /// Where the marks in force stand among the inlines, and the pairs of those that ended.
    open_inlines: Vec<usize>,
    pairs: Vec<(usize, usize)>,
}

impl Renderer {
    fn run(inlines: &[Inline], place: Place) -> Self {
        let mut renderer = Self {
            text: BlockText::default(),
            place,
            open: Vec::new(),
            open_inlines: Vec::new(),
            pairs: Vec::new(),
        };
        for (n, inline) in inlines.iter().enumerate() {
            match inline {
                Inline::Open(_) => renderer.open_inlines.push(n),
                Inline::Close(mark) => {
                    let open = renderer.open_inlines.pop().filter(|_| is_emphasis(mark));
                    renderer.pairs.extend(open.map(|open| (open, n)));
                }
                _ => {}
            }
            renderer.push(inline);
        }
        renderer
    }

    /// The inlines, in order, that open or close emphasis that would be read as text.
    fn dead(&self) -> Vec<usize> {
        let pairs = self.text.dead_pairs();
        let pairs = pairs.into_iter().filter_map(|n| self.pairs.get(n));
        let mut dead: Vec<usize> = pairs.flat_map(|(open, close)| [*open, *close]).collect();
        dead.sort_unstable();
        dead
    }

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
    let address = encoded(address);
    let is_plain = !address.is_empty() && !address.starts_with('<') && is_balanced(&address);
    if is_plain { address } else { format!("<{address}>").into() }
}

/// `address` with white space and what would end it percent-encoded, control characters dropped,
/// and a backslash before what would be read as an escape or entity.
fn encoded(address: &str) -> Cow<'_, str> {
    let is_special = |byte: u8| {
        byte <= b' ' || byte >= 0x7f || matches!(byte, b'|' | b'<' | b'>' | b'\\' | b'&')
    };
    if !address.bytes().any(is_special) {
        return address.into();
    }
    let mut encoded = String::with_capacity(address.len() + 8);
    for c in literal(address).chars() {
        match c {
            '|' => encoded.push_str("%7C"),
            '<' => encoded.push_str("%3C"),
            '>' => encoded.push_str("%3E"),
            c if c.is_control() => {}
            c if c.is_whitespace() => encoded.push_str("%20"),
            c => encoded.push(c),
        }
    }
    encoded.into()
}

fn is_balanced(address: &str) -> bool {
    let mut depth = 0_i32;
    let never_closes_early = address.bytes().all(|byte| {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        (0..=16).contains(&depth)
    });
    never_closes_early && depth == 0
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
