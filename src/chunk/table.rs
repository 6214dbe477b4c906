//! Cuts tables that are too long: at rows, and rows at cells, under the header of their table.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

use super::reader::{Reader, Split};
use super::split::blank_lead;
use super::units::{Carried, MARGIN, cost};
use crate::model::BlockKind;

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
        let opening = format!("{lead}{}{delimiter}", header.get(lead_length..).unwrap_or_default());
        let (opening, is_truncated) = self.fit_header(opening);
        let parents = self.parents(self.items.len());
        let parent_tokens = self.tokens.count_other(&parents);
        let tokens = self.tokens.count_other(&opening);
        let closing = String::new();
        let carried = Carried { parents, opening, closing, is_truncated, parent_tokens, tokens };
        self.split = Some(Split::Table { body: None, carried, header_end });
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
        let cut = pairs.rev().map(|(name, mark)| {
            format!(
                "{}\n{}\n",
                names.get(..*name).unwrap_or_default(),
                delimiter.get(..*mark).unwrap_or_default()
            )
        });
        let fitting = cut.into_iter().find(|header| self.tokens.count_other(header) <= most);
        (fitting.unwrap_or_default(), true)
    }

    pub(super) fn table_row(&mut self, range: Range<usize>) {
        let Some(Split::Table { body, carried, header_end }) = &mut self.split else { return };
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

    /// The header, and an empty cell for each of the `columns` before the cell that goes on.
    fn carry_columns(&mut self, header: usize, lead: &str, columns: usize) -> usize {
        let Some(table) = self.outline.carried.get(header).cloned() else { return header };
        if table.opening.is_empty() {
            return header;
        }
        let opening = format!("{}{lead}|{}", table.opening, " |".repeat(columns));
        let tokens = self.tokens.count_other(&opening);
        self.carry(Carried { opening, tokens, ..table })
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
