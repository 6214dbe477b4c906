//! Tables: which are data, which only lay out a page, and the grid of those that are data.

use super::code::is_gutter;
use super::piece::{Alignment, Inline, Table};
use super::tree::{NodeId, Tree};

/// Whether the `table` at `id` only places blocks on the page, so that its cells are read as
/// blocks one after the other.
///
/// It is, where it says so (`role`), where it holds another table, where it has no header cell
/// and either a single row or column or blocks that no cell can hold, and around code with a
/// gutter.
pub(super) fn is_layout(tree: &Tree, id: NodeId) -> bool {
    if matches!(tree.attribute(id, "role"), Some("presentation" | "none")) {
        return true;
    }
    let shape = Shape::of(tree, id);
    shape.has_table
        || shape.has_gutter && shape.has_pre
        || !shape.has_header && (shape.has_blocks || shape.rows < 2 || shape.columns < 2)
}

/// What decides whether a table is data.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "five independent observations of one walk")]
struct Shape {
    has_table: bool,
    has_header: bool,
    has_blocks: bool,
    has_pre: bool,
    has_gutter: bool,
    rows: usize,
    columns: usize,
}

impl Shape {
    /// Looks at everything in the table up to the first table inside.
    fn of(tree: &Tree, id: NodeId) -> Self {
        let mut shape = Self { has_gutter: is_gutter(tree, id), ..Self::default() };
        let mut cells = 0;
        for node in tree.descendants(id) {
            match tree.tag(node) {
                "table" => {
                    shape.has_table = true;
                    return shape;
                }
                "tr" => {
                    shape.rows += 1;
                    cells = 0;
                }
                "th" | "td" => {
                    cells += 1;
                    shape.columns = shape.columns.max(cells);
                    shape.has_header |= tree.tag(node) == "th";
                    shape.has_gutter |= is_gutter(tree, node);
                }
                "pre" => {
                    shape.has_pre = true;
                    shape.has_blocks = true;
                }
                "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "blockquote" | "hr" => {
                    shape.has_blocks = true;
                }
                _ => {}
            }
        }
        shape
    }
}

/// Which part of a table a row belongs to, in the order of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    /// `thead`
    Head,
    /// `tbody`, or none
    Body,
    /// `tfoot`
    Foot,
}

/// Longest span (HTML §4.9.11). Spans only count: none drives how much is written.
const MAX_SPAN: usize = 65_534;

/// A cell as the page has it.
#[derive(Debug)]
pub(super) struct Cell {
    text: Vec<Inline>,
    columns: usize,
    rows: usize,
    is_header: bool,
    is_bold: bool,
    alignment: Alignment,
}

impl Cell {
    /// The cell that the `td` or `th` at `id` is, with its content.
    pub(super) fn new(tree: &Tree, id: NodeId, text: Vec<Inline>) -> Self {
        let span = |name| {
            let value = tree.attribute(id, name).and_then(|value| value.trim().parse().ok());
            value.unwrap_or(1_usize).clamp(1, MAX_SPAN)
        };
        let is_header = tree.tag(id) == "th"
            || tree.attribute(id, "role") == Some("columnheader")
            || tree.attribute(id, "scope") == Some("col");
        Self {
            is_bold: is_bold(&text),
            text,
            columns: span("colspan"),
            rows: span("rowspan"),
            is_header,
            alignment: alignment(tree, id),
        }
    }
}

/// Whether a cell's whole text is strong.
fn is_bold(text: &[Inline]) -> bool {
    use super::piece::Mark::Strong;
    matches!(text, [Inline::Open(Strong), .., Inline::Close(Strong)])
        && text.iter().filter(|inline| matches!(inline, Inline::Open(Strong))).count() == 1
}

fn alignment(tree: &Tree, id: NodeId) -> Alignment {
    let from_style = || {
        let style = tree.attribute(id, "style")?.to_ascii_lowercase();
        let (_, value) = style.split_once("text-align")?;
        let value = value.trim_start().strip_prefix(':')?;
        value.split(';').next().map(|value| value.trim().to_owned())
    };
    let stated = tree.attribute(id, "align").map(str::to_ascii_lowercase).or_else(from_style);
    match stated.as_deref() {
        Some("left") => Alignment::Left,
        Some("center") => Alignment::Center,
        Some("right") => Alignment::Right,
        _ => Alignment::None,
    }
}

/// Collects the rows of a table of data.
#[derive(Debug, Default)]
pub(super) struct TableBuilder {
    rows: Vec<(Section, Vec<Cell>)>,
    /// The table's captions, one behind the other.
    caption: Vec<Inline>,
    /// Tables that stood in cells: they follow the table.
    pub(super) inner: Vec<TableBuilder>,
}

impl TableBuilder {
    /// Adds a caption: a table that has several shows them all.
    pub(super) fn caption(&mut self, caption: Vec<Inline>) {
        if !self.caption.is_empty() && !caption.is_empty() {
            self.caption.push(Inline::Text(" ".to_owned()));
        }
        self.caption.extend(caption);
    }

    /// Begins a row.
    pub(super) fn row(&mut self, section: Section) {
        self.rows.push((section, Vec::new()));
    }

    /// Adds a cell to the last row.
    pub(super) fn cell(&mut self, cell: Cell) {
        if self.rows.is_empty() {
            self.row(Section::Body);
        }
        if let Some((_, row)) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    /// The grid: header first, footer last, a blank cell wherever another one spans.
    pub(super) fn build(mut self) -> (Vec<Inline>, Table, Vec<Self>) {
        self.rows.retain(|(_, row)| !row.is_empty());
        self.rows.sort_by_key(|(section, _)| *section);
        let has_header = has_header(&self.rows);
        let mut table = Table::default();
        let mut grid = Grid { width: width(&self.rows), pending: Vec::new() };
        for (_, row) in self.rows {
            let cells = grid.place(row, &mut table.alignment);
            table.rows.push(cells);
        }
        let columns = table.rows.iter().map(Vec::len).max().unwrap_or(0);
        for row in &mut table.rows {
            row.resize_with(columns, Vec::new);
        }
        table.alignment.resize(columns, Alignment::None);
        if has_header && !table.rows.is_empty() {
            table.header = table.rows.remove(0);
        } else {
            table.header.resize_with(columns, Vec::new);
        }
        (self.caption, table, self.inner)
    }
}

/// Whether the first row heads the others: by its section, by its cells, or because it alone is
/// strong throughout.
fn has_header(rows: &[(Section, Vec<Cell>)]) -> bool {
    let Some(((section, first), below)) = rows.split_first() else { return false };
    let is_strong = |row: &[Cell]| {
        let mut filled = row.iter().filter(|cell| !cell.text.is_empty());
        filled.all(|cell| cell.is_bold || cell.is_header)
    };
    let stands_out = is_strong(first) && below.first().is_some_and(|(_, row)| !is_strong(row));
    *section == Section::Head || first.iter().all(|cell| cell.is_header) || stands_out
}

/// Columns of a table: as many as its widest row has cells, with those that reach into it from
/// above. So a span attribute never makes a table wider than the cells that are there.
fn width(rows: &[(Section, Vec<Cell>)]) -> usize {
    let mut ends = vec![0_usize; rows.len() + 1];
    let (mut reaching, mut width) = (0_usize, 0);
    for (n, (_, row)) in rows.iter().enumerate() {
        reaching -= ends.get(n).copied().unwrap_or(0).min(reaching);
        width = width.max(row.len() + reaching);
        for cell in row.iter().filter(|cell| cell.rows > 1) {
            reaching += 1;
            let end = (n + cell.rows).min(rows.len());
            ends.iter_mut().skip(end).take(1).for_each(|count| *count += 1);
        }
    }
    width.min(Table::MAX_COLUMNS)
}

/// Puts the cells of row after row into columns.
struct Grid {
    width: usize,
    /// For each column, the rows below that a cell above still spans.
    pending: Vec<usize>,
}

impl Grid {
    fn place(&mut self, row: Vec<Cell>, alignments: &mut Vec<Alignment>) -> Vec<Vec<Inline>> {
        self.pending.resize(self.width, 0);
        alignments.resize(self.width, Alignment::None);
        let mut placed: Vec<Vec<Inline>> = Vec::new();
        let mut left = row.len();
        for cell in row {
            left -= 1;
            self.skip_spanned(&mut placed);
            if placed.len() >= self.width {
                join_last(&mut placed, cell.text);
                continue;
            }
            let room = (self.width - placed.len()).saturating_sub(left).max(1);
            let mut text = Some(cell.text);
            for _ in 0..cell.columns.min(room) {
                let at = placed.len();
                self.pending.iter_mut().skip(at).take(1).for_each(|rows| *rows = cell.rows - 1);
                for alignment in alignments.iter_mut().skip(at).take(1) {
                    if *alignment == Alignment::None {
                        *alignment = cell.alignment;
                    }
                }
                placed.push(text.take().unwrap_or_default());
            }
        }
        for rows in self.pending.iter_mut().skip(placed.len()) {
            *rows = rows.saturating_sub(1);
        }
        placed
    }

    /// Leaves blank what cells above span.
    fn skip_spanned(&mut self, placed: &mut Vec<Vec<Inline>>) {
        while let Some(rows) = self.pending.get_mut(placed.len()).filter(|rows| **rows > 0) {
            *rows -= 1;
            placed.push(Vec::new());
        }
    }
}

fn join_last(placed: &mut [Vec<Inline>], text: Vec<Inline>) {
    if let Some(last) = placed.last_mut().filter(|_| !text.is_empty()) {
        if !last.is_empty() {
            last.push(Inline::Break);
        }
        last.extend(text);
    }
}
