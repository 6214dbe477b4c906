//! Blocks with a shape of their own: lists, tables, code, thematic breaks.

use super::code;
use super::piece::{CodeBlock, Container, MAX_NUMBER, Piece, TaskState};
use super::table::{Section, TableBuilder, is_layout};
use super::tree::{NodeId, Tree};
use super::walk::{ContextKind, Descend, Ending, Walker};

/// What holds blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ContainerKind {
    /// A quotation.
    Quote,
    /// A list of bullets.
    List,
    /// A list of numbers.
    OrderedList,
    /// An item of a list.
    Item,
}

/// How far an ordered list has counted.
#[derive(Clone, Copy)]
pub(super) struct Numbering {
    /// The number of the next item.
    pub(super) next: u32,
    /// The number that Markdown would give it.
    pub(super) implied: u32,
    /// Whether it counts down.
    pub(super) is_reversed: bool,
}

impl Walker<'_> {
    /// Adds a block. One that stands directly in a list belongs to the item before it.
    pub(super) fn block(&mut self, block: Piece) {
        if !self.is_in_list() {
            self.pieces.push(block);
            return self.hand_over();
        }
        if self.pieces.last() == Some(&Piece::Close) {
            self.pieces.pop();
        } else {
            self.pieces.push(Piece::Open(Container::Item(None)));
        }
        self.pieces.extend([block, Piece::Close]);
    }

    pub(super) fn enter_container(&mut self, node: NodeId, container: Container) {
        self.flush();
        if self.kind() != ContextKind::Flow {
            return self.push_frame(node, Ending::Block);
        }
        if self.is_in_list() && !matches!(container, Container::Item(_)) {
            self.reopen_item();
            self.push_frame(node, Ending::Container);
        }
        self.open_container(container);
        self.push_frame(node, Ending::Container);
    }

    /// What stands directly in a list belongs to the item before it.
    fn reopen_item(&mut self) {
        if self.pieces.last() == Some(&Piece::Close) {
            self.pieces.pop();
            self.containers.push(ContainerKind::Item);
        } else {
            self.open_container(Container::Item(None));
        }
    }

    pub(super) fn open_container(&mut self, container: Container) {
        if let Container::List(Some(first)) = container {
            self.numbers.push(Numbering { next: first, implied: first, is_reversed: false });
        }
        self.containers.push(match container {
            Container::Quote => ContainerKind::Quote,
            Container::List(None) => ContainerKind::List,
            Container::List(Some(_)) => ContainerKind::OrderedList,
            Container::Item(_) => ContainerKind::Item,
        });
        self.pieces.push(Piece::Open(container));
    }

    /// Ends a container; one that stayed empty vanishes, save an item between others of an
    /// ordered list, since it counts.
    pub(super) fn close_container(&mut self) {
        self.flush();
        let kind = self.containers.pop();
        if kind == Some(ContainerKind::OrderedList) {
            self.numbers.pop();
        }
        let is_counted = kind == Some(ContainerKind::Item)
            && self.containers.last() == Some(&ContainerKind::OrderedList);
        match self.pieces.as_mut_slice() {
            [.., Piece::Close, Piece::Open(_)] if is_counted => self.pieces.push(Piece::Close),
            [.., Piece::Open(Container::List(Some(number))), Piece::Open(_)] if is_counted => {
                *number = number.saturating_add(1).min(MAX_NUMBER);
                self.pieces.pop();
            }
            [.., Piece::Open(_)] => {
                self.pieces.pop();
            }
            _ => {
                if kind == Some(ContainerKind::OrderedList) {
                    self.drop_empty_items();
                }
                self.pieces.push(Piece::Close);
            }
        }
        self.hand_over();
    }

    /// Drops the empty items at the end of a list.
    fn drop_empty_items(&mut self) {
        while let [.., Piece::Open(Container::Item(_)), Piece::Close] = self.pieces.as_slice() {
            self.pieces.truncate(self.pieces.len() - 2);
        }
    }

    pub(super) fn is_in_list(&self) -> bool {
        matches!(self.containers.last(), Some(ContainerKind::List | ContainerKind::OrderedList))
    }

    pub(super) fn enter_list(&mut self, node: NodeId) {
        let tree = self.page.tree;
        let kind = (tree.tag(node) == "ol").then(|| first_number(tree, node));
        let depth = self.numbers.len();
        self.enter_container(node, Container::List(kind));
        if let Some(numbering) = self.numbers.get_mut(depth) {
            numbering.is_reversed = tree.attribute(node, "reversed").is_some();
        }
    }

    pub(super) fn enter_item(&mut self, node: NodeId) {
        self.flush();
        if self.kind() == ContextKind::Flow {
            if !self.is_in_list() {
                self.enter_container(node, Container::List(None));
            }
            self.number_item(node);
            self.enter_container(node, Container::Item(None));
        } else {
            self.push_frame(node, Ending::Block);
            self.run().text("-");
            self.run().space();
        }
    }

    /// Counts the item at `node`. Markdown counts up from the first item of a list, so that an item
    /// with another number begins a list of its own.
    fn number_item(&mut self, node: NodeId) {
        if self.containers.last() != Some(&ContainerKind::OrderedList) {
            return;
        }
        let stated = self.page.tree.attribute(node, "value").and_then(number);
        let Some(numbering) = self.numbers.last_mut() else { return };
        let number = stated.unwrap_or(numbering.next);
        let is_implied = number == numbering.implied;
        numbering.implied = number + 1;
        numbering.next = if numbering.is_reversed { number.saturating_sub(1) } else { number + 1 };
        if !is_implied {
            self.begin_list_anew(number);
        }
    }

    /// Goes on with another list, where this one has items.
    fn begin_list_anew(&mut self, first: u32) {
        self.drop_empty_items();
        if let Some(Piece::Open(Container::List(number))) = self.pieces.last_mut() {
            *number = Some(first);
        } else {
            self.pieces.extend([Piece::Close, Piece::Open(Container::List(Some(first)))]);
        }
    }

    pub(super) fn check_box(&mut self, node: NodeId) {
        let tree = self.page.tree;
        let is_box =
            tree.attribute(node, "type").is_some_and(|t| t.eq_ignore_ascii_case("checkbox"));
        if !is_box || !self.run().is_empty() {
            return;
        }
        let is_done = tree.attribute(node, "checked").is_some();
        if let Some(Piece::Open(Container::Item(task))) = self.pieces.last_mut() {
            *task = Some(if is_done { TaskState::Done } else { TaskState::Open });
        }
    }

    pub(super) fn rule(&mut self) {
        self.flush();
        if self.kind() == ContextKind::Flow {
            self.block(Piece::Rule);
        }
    }

    pub(super) fn code_block(&mut self, node: NodeId) -> Descend {
        let text = code::code_text(self.page.tree, node, self.ledger);
        self.flush();
        match self.kind() {
            ContextKind::Flow if !text.trim().is_empty() => {
                let language = code::language(self.page.tree, node);
                self.block(Piece::Code(Box::new(CodeBlock { language, text })));
            }
            ContextKind::Flow => {}
            _ => {
                for line in text.lines() {
                    self.run().ensure_break();
                    let begins = self.run().begin_code();
                    self.run().text(line);
                    if begins {
                        self.run().end_code();
                    }
                }
                self.flush();
            }
        }
        Descend::Past
    }

    pub(super) fn enter_table(&mut self, node: NodeId) {
        self.flush();
        if is_layout(self.page.tree, node) {
            self.push_frame(node, Ending::Block);
        } else {
            self.push_frame(node, Ending::Table);
            self.tables.push(TableBuilder::default());
        }
    }

    pub(super) fn is_in_data_table(&self) -> bool {
        self.frames.iter().rev().find_map(|(node, ending)| match ending {
            Ending::Table => Some(true),
            Ending::Block if self.page.tree.tag(*node) == "table" => Some(false),
            _ => None,
        }) == Some(true)
    }

    pub(super) fn enter_row(&mut self, node: NodeId) {
        if !self.is_in_data_table() {
            return self.enter_block(node);
        }
        let tree = self.page.tree;
        let section = match tree.parent(node).map(|parent| tree.tag(parent)) {
            Some("thead") => Section::Head,
            Some("tfoot") => Section::Foot,
            _ => Section::Body,
        };
        if let Some(table) = self.tables.last_mut() {
            table.row(section);
        }
    }

    pub(super) fn enter_cell(&mut self, node: NodeId) {
        if self.is_in_data_table() {
            self.enter_context(node, ContextKind::Cell, Ending::Cell);
        } else {
            self.enter_block(node);
        }
    }

    pub(super) fn leave_table(&mut self) {
        let Some(table) = self.tables.pop() else { return };
        if self.kind() == ContextKind::Cell {
            match self.tables.last_mut() {
                Some(outer) => outer.inner.push(table),
                None => self.push_tables(table),
            }
        } else {
            self.flush();
            self.push_tables(table);
        }
    }

    pub(super) fn push_tables(&mut self, table: TableBuilder) {
        let mut waiting = vec![table];
        while let Some(table) = waiting.pop() {
            let (caption, table, inner) = table.build();
            self.paragraph(caption);
            if !table.rows.is_empty() || table.header.iter().any(|cell| !cell.is_empty()) {
                self.block(Piece::Table(Box::new(table)));
            }
            waiting.extend(inner.into_iter().rev());
        }
    }
}

/// The number of the first item of the `ol` at `id`.
fn first_number(tree: &Tree, id: NodeId) -> u32 {
    let items = || tree.children(id).filter(|child| tree.tag(*child) == "li");
    let stated = items()
        .next()
        .and_then(|item| tree.attribute(item, "value"))
        .or_else(|| tree.attribute(id, "start"));
    let count = || u32::try_from(items().count()).ok();
    let implied = tree.attribute(id, "reversed").and_then(|_| count());
    stated.and_then(number).or(implied).unwrap_or(1).min(MAX_NUMBER)
}

/// A number that Markdown can write.
fn number(stated: &str) -> Option<u32> {
    stated.trim().parse().ok().map(|number: u32| number.min(MAX_NUMBER))
}

/// The level of the heading that elements named `tag` are, if they are.
pub(super) fn heading_level(tag: &str) -> Option<u8> {
    match tag.as_bytes() {
        [b'h', digit @ b'1'..=b'6'] => Some(digit - b'0'),
        _ => None,
    }
}
