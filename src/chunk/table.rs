//! Cuts tables that are too long: at rows, and rows at cells, under the header of their table.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

use super::reader::{Reader, Split};
use super::split::{blank_lead, plain_line};
use super::units::{Carried, MARGIN, cost};
use crate::model::BlockKind;

/// Most columns of which each has a start of its own to carry: what is kept for a table stays a
/// small multiple of its header. Cells behind go on below the header alone.
const MOST_COLUMNS: usize = 32;

impl Reader<'_> {
    pub(super) fn open_table(&mut self, range: Range<usize>) {
        self.block(range.clone(), BlockKind::Table);
        let start = self.line_start(range.start);
        let text = self.text(start..range.end);
        let mut lines = text.split_inclusive('\n');
        let (header, delimiter) =
            (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let header_end = start + header.len() + delimiter.len();
        let lead_length = range.start - start;
        let lead = blank_lead(header.get(..lead_length).unwrap_or_default());
        // Padding that lines the columns up says nothing where there is one row of them.
        let names = plain_line(header.get(lead_length..).unwrap_or_default());
        let marks = plain_line(delimiter.trim_start_matches([' ', '\t', '>']));
        let opening = format!("{lead}{names}\n{lead}{marks}\n");
        let (opening, is_truncated) = self.fit_header(opening);
        let parents = self.parents(self.items.len());
        let parent_tokens = self.tokens.count_other(&parents);
        let tokens = self.tokens.count_other(&opening);
        let closing = String::new();
        let carried = Carried { parents, opening, closing, is_truncated, parent_tokens, tokens };
        self.split = Some(Split::Table { body: None, carried, header_end, columns: Vec::new() });
    }

    /// A header that takes more than a third of the budget is cut at a cell; its rows then have
    /// the columns left.
    fn fit_header(&self, header: String) -> (String, bool) {
        let most = self.budget / 3;
        if self.tokens.count_other(&header) <= most {
            return (header, false);
        }
        let mut lines = header.lines();
        let (names, delimiter) =
            (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let ends: Vec<usize> = cell_ends(names);
        let marks: Vec<usize> = cell_ends(delimiter);
        let pairs = ends.iter().zip(&marks);
        let cut = pairs.map(|(name, mark)| {
            let header = format!(
                "{}\n{}\n",
                names.get(..*name).unwrap_or_default(),
                delimiter.get(..*mark).unwrap_or_default()
            );
            (self.tokens.count_other(&header), header)
        });
        // From the front, so that a header of thousands of cells is not counted once for each; an
        // added cell may save a token, never half of them.
        let near = cut.take_while(|(count, _)| *count <= 2 * most);
        let fitting = near.filter(|(count, _)| *count <= most).last();
        (fitting.map(|(_, header)| header).unwrap_or_default(), true)
    }

    pub(super) fn table_row(&mut self, range: Range<usize>) {
        let Some(Split::Table { body, carried, header_end, .. }) = &mut self.split else { return };
        let header_end = *header_end;
        let carried = if let Some(body) = body {
            *body
        } else {
            let number = self.outline.carried.len();
            *body = Some(number);
            self.outline.carried.push(std::mem::take(carried));
            number
        };
        let start = self.line_start(range.start);
        // The first row stays with the header that it stands under.
        let cost = if start <= header_end { cost::FENCE } else { cost::ITEM };
        self.push_inner(start, cost, BlockKind::Table, Some(carried));
        if !self.row_fits(start..range.end, carried) {
            self.cells(range, carried);
        }
        self.skip = 1;
    }

    /// Whether a row fits beside the header.
    fn row_fits(&self, row: Range<usize>, carried: usize) -> bool {
        let room = self.room_beside(Some(carried));
        let count = self.tokens.count(row.clone());
        if count.abs_diff(room) > 2 * MARGIN {
            return count <= room;
        }
        let header = self.outline.carried.get(carried).map_or("", |carried| &carried.opening);
        let row = self.text(row).trim_end_matches('\n');
        self.tokens.count_alone(&format!("{header}{row}\n\n")) <= self.budget
    }

    /// Cuts a row at its cells, and a cell that is too long at its sentences. What goes on in
    /// another chunk stands there below the name of its own column.
    fn cells(&mut self, row: Range<usize>, carried: usize) {
        let start = self.line_start(row.start);
        let lead = blank_lead(self.text(start..row.start));
        let mut start = row.start;
        for (column, end) in cell_ends(self.text(row.clone())).into_iter().enumerate() {
            let cell = start..row.start + end;
            start = cell.end;
            let carried = self.carry_columns(carried, &lead, column);
            if column > 0 {
                self.push_inner(cell.start, cost::SENTENCE, BlockKind::Table, Some(carried));
            }
            if self.tokens.count(cell.clone()) > self.room_beside(Some(carried)) {
                let inlines = inlines(self.text(cell.clone()), cell.start);
                self.sentences(cell, BlockKind::Table, Some(carried), &inlines);
            }
        }
    }

    /// The header, and an empty cell for each column before `column`, in which a cell goes on.
    fn carry_columns(&mut self, header: usize, lead: &str, column: usize) -> usize {
        let Some(Split::Table { columns, .. }) = &self.split else { return header };
        if let Some(known) = columns.get(column) {
            return *known;
        }
        let Some(table) = self.outline.carried.get(header) else { return header };
        if table.opening.is_empty() || column >= MOST_COLUMNS {
            return header;
        }
        let opening = format!("{}{lead}|{}", table.opening, " |".repeat(column));
        let tokens = self.tokens.count_other(&opening);
        let own = self.carry(Carried { opening, tokens, ..table.clone() });
        if let Some(Split::Table { columns, .. }) = &mut self.split {
            columns.push(own);
        }
        own
    }
}

/// Ends of a row's cells, each behind its `|`, the outer left one aside.
fn cell_ends(row: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut is_escaped = false;
    for (at, c) in row.char_indices() {
        if c == '|' && !is_escaped && at > 0 {
            ends.push(at + 1);
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    if ends.last() != Some(&row.len()) {
        match ends
            .last_mut()
            .filter(|end| row.get(**end..).is_some_and(|rest| rest.trim().is_empty()))
        {
            Some(end) => *end = row.len(),
            None => ends.push(row.len()),
        }
    }
    ends
}

/// The links and code spans of a `cell` that stands at `start`.
fn inlines(cell: &str, start: usize) -> Vec<Range<usize>> {
    let is_whole =
        |event: &Event<'_>| matches!(event, Event::Code(_) | Event::Start(Tag::Link { .. }));
    let events = Parser::new(cell).into_offset_iter().filter(|(event, _)| is_whole(event));
    let mut inlines: Vec<Range<usize>> = Vec::new();
    for (_, range) in events {
        let range = start + range.start..start + range.end;
        // A code span inside a link is whole with it.
        if inlines.last().is_none_or(|last| last.end <= range.start) {
            inlines.push(range);
        }
    }
    inlines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::chunk::tests::{chunks, options};

    #[test]
    fn a_continued_table_has_its_own_header() {
        let table = |name: &str, rows: usize| {
            let row = |all: String, n: usize| all + &format!("| {name}{n} | value {n} of it |\n");
            let body = (0..rows).fold(String::new(), row);
            format!("| {name} | what |\n| --- | --- |\n{body}")
        };
        let markdown = format!("{}\n{}", table("A", 20), table("B", 20));
        for chunk in chunks(&markdown, &options(64)) {
            let name = if chunk.text.contains("| A") { "A" } else { "B" };
            let embedded = chunk.embed_text();
            assert!(
                embedded.contains(&format!("| {name} | what |\n| --- | --- |\n| {name}")),
                "{embedded}"
            );
            let other = if name == "A" { "| B | what" } else { "| A | what" };
            assert!(!embedded.contains(other), "{embedded}");
        }
    }

    /// The cells of the rows of `markdown`, each below the name of its column.
    fn named_cells(markdown: &str) -> Vec<(String, String)> {
        use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
        let (mut names, mut cells) = (Vec::new(), Vec::new());
        let (mut text, mut column, mut is_header) = (String::new(), 0, false);
        for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::TableHead) => is_header = true,
                Event::Start(Tag::TableRow) => (is_header, column) = (false, 0),
                Event::Start(Tag::TableCell) => text.clear(),
                Event::Text(part) | Event::Code(part) => text.push_str(&part),
                Event::End(TagEnd::TableCell) if is_header => names.push(text.clone()),
                Event::End(TagEnd::TableCell) => {
                    cells.push((names.get(column).cloned().unwrap_or_default(), text.clone()));
                    column += 1;
                }
                _ => {}
            }
        }
        cells
    }

    proptest! {
        #[test]
        fn cells_stay_below_the_name_of_their_column(
            rows in proptest::collection::vec([1_usize..40, 1..40, 1..40], 1..8),
            quote in prop_oneof![Just(""), Just("> ")],
        ) {
            let names = ["alpha", "beta", "gamma"];
            let cell = |n: usize, words: usize| {
                (0..words).map(|word| format!("{} of {word}.", names[n])).collect::<Vec<_>>().join(" ")
            };
            let row = |words: &[usize; 3]| {
                let [a, b, c] = words;
                format!("{quote}| {} | {} | {} |\n", cell(0, *a), cell(1, *b), cell(2, *c))
            };
            let head = format!("{quote}| alpha | beta | gamma |\n{quote}|---|---|---|\n");
            let markdown = head + &rows.iter().map(row).collect::<String>();
            let mut words = 0;
            for chunk in chunks(&markdown, &options(128)) {
                for (name, cell) in named_cells(&chunk.embed_text()) {
                    words += cell.split_whitespace().filter(|word| *word == "of").count();
                    let others = names.iter().filter(|other| **other != name);
                    let is_other = others.into_iter().any(|other| cell.contains(other));
                    prop_assert!(!is_other, "{}: {}", name, chunk.embed_text());
                }
            }
            prop_assert_eq!(words, rows.iter().flatten().sum::<usize>());
        }
    }

    #[test]
    fn a_caption_stands_once() {
        let rows = "| r | 1 |\n".repeat(60);
        let all = chunks(
            &format!("Table 1: sizes of cups\n\n| a | b |\n|---|---|\n{rows}"),
            &options(64),
        );
        let captions = all.iter().filter(|chunk| chunk.embed_text().contains("Table 1")).count();
        assert!(all.len() > 2);
        assert_eq!(captions, 1);
    }

    #[test]
    fn a_table_of_thousands_of_columns_carries_little() {
        let row = |cell: &dyn Fn(usize) -> String| {
            (0..2_000).map(cell).fold(String::new(), |row, cell| row + "|" + &cell) + "|\n"
        };
        let body = row(&|n| format!("value {n}"));
        let all = row(&|n| format!("name {n}")) + &row(&|_| "-".to_owned()) + &body + &body;
        let chunks = chunks(&all, &options(64));
        let joined: String = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        assert_eq!(joined, all);
        let carried: usize = chunks.iter().map(|chunk| chunk.prefix.len()).sum();
        assert!(carried <= 4 * all.len(), "{carried} bytes are carried for {}", all.len());
    }
}
