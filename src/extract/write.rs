//! Blocks to Markdown: ATX headings, `-` bullets, back-tick fences, one blank line between blocks.

use super::escape::Place;
use super::piece::{Alignment, Container, HeadingBlock, Inline, Piece, Table, TaskState};
use super::render::render;
use crate::model::Heading;

/// Deepest container that indents: deeper ones go on at its level, so that output stays linear in
/// its source.
const MAX_INDENT: usize = 16;

/// By piece: loose where it opens a list with an item of several blocks. A list after a paragraph
/// does not count as a second block.
fn list_spacings(pieces: &[Piece]) -> Vec<Spacing> {
    if let [_] = pieces {
        return Vec::new();
    }
    let mut spacings = vec![Spacing::Tight; pieces.len()];
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let counts =
            !matches!(piece, Piece::Close | Piece::Open(Container::List(_) | Container::Item(_)));
        if let Some((_, blocks)) = open.last_mut().filter(|_| counts) {
            *blocks += 1;
        }
        match piece {
            Piece::Open(_) => open.push((index, 0)),
            Piece::Close => {
                let Some((item, blocks)) = open.pop() else { continue };
                let is_item = matches!(pieces.get(item), Some(Piece::Open(Container::Item(_))));
                let list = open.last().filter(|_| is_item && blocks > 1);
                if let Some(spacing) = list.and_then(|(list, _)| spacings.get_mut(*list)) {
                    *spacing = Spacing::Loose;
                }
            }
            _ => {}
        }
    }
    spacings
}

/// What stands between the items of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Spacing {
    /// Nothing.
    #[default]
    Tight,
    /// A blank line.
    Loose,
}

/// Writes pieces as Markdown.
#[derive(Default)]
pub(super) struct Writer {
    markdown: String,
    headings: Vec<Heading>,
    levels: Vec<Level>,
    gap: Gap,
    /// The list that just ended at this level: its neighbour must not join it.
    last_list: Option<Marker>,
    /// Whether the block before is a paragraph, which an item could continue.
    after_paragraph: bool,
}

/// What separates the next block from the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Gap {
    #[default]
    None,
    Line,
    Blank,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marker {
    Bullet(char),
    Ordinal(char),
}

enum Level {
    List {
        marker: Marker,
        next: u32,
        spacing: Spacing,
        is_begun: bool,
    },
    /// Prefix of the first line, until it is written, and of the lines after.
    Block {
        first: Option<String>,
        rest: String,
    },
}

impl Writer {
    /// Writes `pieces`, in which every container that opens also ends.
    pub(super) fn write(&mut self, pieces: &[Piece]) {
        let spacings = list_spacings(pieces);
        for (index, piece) in pieces.iter().enumerate() {
            self.piece(piece, spacings.get(index).copied().unwrap_or_default());
        }
    }

    /// The Markdown, and the headings in it.
    pub(super) fn finish(self) -> (String, Vec<Heading>) {
        (self.markdown, self.headings)
    }

    fn piece(&mut self, piece: &Piece, spacing: Spacing) {
        match piece {
            Piece::Open(Container::Quote) => self.open_quote(),
            Piece::Open(Container::List(start)) => self.open_list(*start, spacing),
            Piece::Open(Container::Item(task)) => self.open_item(*task),
            Piece::Close => self.close(),
            Piece::Heading(heading) => self.heading(heading),
            Piece::Paragraph(text) => {
                self.block(&render(text, Place::Paragraph));
                self.after_paragraph = true;
            }
            Piece::Code(code) => self.block(&fenced(&code.language, &code.text)),
            Piece::Table(table) => self.block(&table_text(table)),
            Piece::Math(tex) => self.block(&format!("$$\n{tex}\n$$")),
            // Behind a bullet, `---` and `***` would make the whole line a break.
            Piece::Rule if self.levels.is_empty() => self.block("---"),
            Piece::Rule => self.block("___"),
        }
    }

    fn heading(&mut self, heading: &HeadingBlock) {
        let text = render(&heading.text, Place::Heading);
        let marks = "#".repeat(usize::from(heading.level));
        self.block(format!("{marks} {text}").trim_end());
        let anchor = heading.anchor.clone();
        self.headings.push(Heading { level: heading.level, anchor });
    }

    fn open_quote(&mut self) {
        if self.gap == Gap::Line {
            self.gap = Gap::Blank;
        }
        let prefix = if self.levels.len() < MAX_INDENT { "> " } else { "" };
        self.levels.push(Level::Block { first: Some(prefix.to_owned()), rest: prefix.to_owned() });
        self.last_list = None;
    }

    fn open_list(&mut self, start: Option<u32>, spacing: Spacing) {
        let plain = if start.is_some() { Marker::Ordinal('.') } else { Marker::Bullet('-') };
        let marker = match (self.last_list.take(), plain) {
            (Some(Marker::Ordinal('.')), Marker::Ordinal(_)) => Marker::Ordinal(')'),
            (Some(Marker::Bullet('-')), Marker::Bullet(_)) => Marker::Bullet('*'),
            _ => plain,
        };
        let can_continue = self.after_paragraph && start.is_none_or(|start| start == 1);
        if self.gap == Gap::Blank && self.is_in_tight_list() && can_continue {
            self.gap = Gap::Line;
        }
        self.levels.push(Level::List {
            marker,
            next: start.unwrap_or(1),
            spacing,
            is_begun: false,
        });
    }

    /// Whether the innermost container is an item of a tight list.
    fn is_in_tight_list(&self) -> bool {
        matches!(
            self.levels.as_slice(),
            [.., Level::List { spacing: Spacing::Tight, .. }, Level::Block { .. }]
        )
    }

    fn open_item(&mut self, task: Option<TaskState>) {
        let depth = self.levels.len();
        let mut mark = String::from("- ");
        if let Some(Level::List { marker, next, spacing, is_begun }) = self.levels.last_mut() {
            mark = match marker {
                Marker::Bullet(bullet) => format!("{bullet} "),
                Marker::Ordinal(point) => format!("{next}{point} "),
            };
            *next = next.saturating_add(1);
            if *is_begun && *spacing == Spacing::Tight {
                self.gap = Gap::Line;
            }
            *is_begun = true;
        }
        let mut rest = " ".repeat(mark.len());
        if depth >= 2 * MAX_INDENT {
            mark.clear();
            rest.clear();
            self.gap = self.gap.max_blank();
        }
        mark.push_str(match task {
            Some(TaskState::Open) => "[ ] ",
            Some(TaskState::Done) => "[x] ",
            None => "",
        });
        self.levels.push(Level::Block { first: Some(mark), rest });
        self.last_list = None;
        self.after_paragraph = false;
    }

    fn close(&mut self) {
        if let [
            ..,
            Level::List { marker: Marker::Ordinal(_), .. },
            Level::Block { first: Some(_), .. },
        ] = self.levels.as_slice()
        {
            // An empty item counts.
            self.block("");
        }
        match self.levels.pop() {
            Some(Level::List { marker, .. }) => self.last_list = Some(marker),
            Some(Level::Block { .. }) => self.last_list = None,
            None => {}
        }
        self.gap = Gap::Blank;
        self.after_paragraph = false;
    }

    /// Writes a block of one or more lines, each behind the prefixes of its containers.
    fn block(&mut self, text: &str) {
        self.write_gap();
        if self.levels.is_empty() {
            self.markdown.push_str(text);
        } else {
            self.lines(text);
        }
        self.gap = Gap::Blank;
        self.last_list = None;
        self.after_paragraph = false;
    }

    fn lines(&mut self, text: &str) {
        for (n, line) in text.split('\n').enumerate() {
            if n > 0 {
                self.markdown.push('\n');
            }
            let start = self.markdown.len();
            for level in &mut self.levels {
                if let Level::Block { first, rest } = level {
                    self.markdown.push_str(first.take().as_deref().unwrap_or(rest));
                }
            }
            if line.is_empty() {
                let blank = self.markdown.trim_end_matches(' ').len().max(start);
                self.markdown.truncate(blank);
            }
            self.markdown.push_str(line);
        }
    }

    fn write_gap(&mut self) {
        if self.markdown.is_empty() {
            return;
        }
        if self.gap != Gap::None {
            self.markdown.push('\n');
        }
        if self.gap == Gap::Blank {
            let start = self.markdown.len();
            for level in &self.levels {
                match level {
                    Level::Block { first: None, rest } => self.markdown.push_str(rest),
                    Level::Block { first: Some(_), .. } => break,
                    Level::List { .. } => {}
                }
            }
            let blank = self.markdown.trim_end_matches(' ').len().max(start);
            self.markdown.truncate(blank);
            self.markdown.push('\n');
        }
        self.gap = Gap::None;
    }
}

impl Gap {
    fn max_blank(self) -> Self {
        if self == Self::None { self } else { Self::Blank }
    }
}

/// Code in a fence longer than any run of back-ticks in it.
pub(super) fn fenced(language: &str, code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{code}\n{fence}")
}

fn table_text(table: &Table) -> String {
    let mut text = row(&table.header);
    text.push_str("\n|");
    for alignment in &table.alignment {
        text.push_str(match alignment {
            Alignment::None => " --- |",
            Alignment::Left => " :--- |",
            Alignment::Center => " :---: |",
            Alignment::Right => " ---: |",
        });
    }
    for cells in &table.rows {
        text.push('\n');
        text.push_str(&row(cells));
    }
    text
}

fn row(cells: &[Vec<Inline>]) -> String {
    let mut text = String::from("|");
    for cell in cells {
        let cell = render(cell, Place::Cell);
        if !cell.is_empty() {
            text.push(' ');
            text.push_str(&cell);
        }
        text.push_str(" |");
    }
    text
}
