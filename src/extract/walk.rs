//! One walk over the tree: elements to blocks and inline content.
//!
//! The walk keeps a stack of frames (what the end of an element has to do) and a stack of
//! contexts (where content goes: the flow of the page, a heading, a table cell, a caption).

use super::code;
use super::hidden::hidden_by;
use super::media;
use super::piece::{Container, Inline, Mark, Piece, TaskState};
use super::run::Run;
use super::table::{Cell, Section, TableBuilder, is_layout};
use super::tree::{NodeId, Step, Tree};
use super::{Addresses, ImageMode};
use crate::model::Ledger;

/// Converts the subtree at `root`, leaving out what `removed` or [`hidden_by`] name.
pub(super) fn walk(page: &PageView<'_>, root: NodeId, ledger: &mut Ledger) -> Vec<Piece> {
    let mut walker = Walker {
        page,
        ledger,
        pieces: Vec::new(),
        containers: Vec::new(),
        frames: Vec::new(),
        context: Context { kind: ContextKind::Flow, run: Run::default() },
        outer: Vec::new(),
        tables: Vec::new(),
    };
    let mut step = Some(Step::Enter(root));
    while let Some(now) = step {
        step = match now {
            Step::Enter(node) if walker.is_removed(node) => page.tree.after(Step::Leave(node), root),
            Step::Enter(node) => match walker.enter(node) {
                Descend::Into => page.tree.after(now, root),
                Descend::Past => page.tree.after(Step::Leave(node), root),
            },
            Step::Leave(node) => {
                walker.leave(node);
                page.tree.after(now, root)
            }
        };
    }
    walker.flush();
    walker.pieces
}

/// A page as the walk sees it.
pub(super) struct PageView<'a> {
    /// The tree.
    pub(super) tree: &'a Tree,
    /// By node: the rule that keeps it out, if any.
    pub(super) removed: &'a [Option<&'static str>],
    /// How addresses are written.
    pub(super) addresses: &'a Addresses,
    /// What is kept of images.
    pub(super) images: ImageMode,
}

enum Descend {
    Into,
    Past,
}

/// What the end of an element does.
enum Ending {
    /// A mark ends.
    Mark,
    /// A block ends.
    Block,
    /// A strong block (`dt`, `summary`) ends.
    StrongBlock,
    /// A container ends.
    Container,
    /// A quotation mark is set.
    Quote,
    Heading(u8, Option<String>),
    Table,
    Cell,
    Caption,
    /// Ruby text ends.
    Ruby,
}

struct Context {
    kind: ContextKind,
    run: Run,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ContextKind {
    Flow,
    Heading,
    Cell,
    Caption,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ContainerKind {
    Quote,
    List,
    Item,
}

struct Walker<'a> {
    page: &'a PageView<'a>,
    ledger: &'a mut Ledger,
    pieces: Vec<Piece>,
    /// The containers open in `pieces`.
    containers: Vec<ContainerKind>,
    frames: Vec<(NodeId, Ending)>,
    /// Where content goes, and the contexts around.
    context: Context,
    outer: Vec<Context>,
    tables: Vec<TableBuilder>,
}

impl Walker<'_> {
    /// Whether a rule keeps `node` out; what is lost goes to the ledger.
    fn is_removed(&mut self, node: NodeId) -> bool {
        let tree = self.page.tree;
        let by_content = self.page.removed.get(node.index()).copied().flatten();
        let rule = by_content.or_else(|| hidden_by(tree, node)).or_else(|| self.is_decoration(node));
        let Some(rule) = rule else { return false };
        self.ledger.remove(rule, &tree.text_content(node));
        true
    }

    /// Marks that a page puts beside its text for the use of a mouse.
    fn is_decoration(&self, node: NodeId) -> Option<&'static str> {
        let tree = self.page.tree;
        match tree.tag(node) {
            "a" if media::is_permalink(tree, node) => Some("extract.permalink"),
            "button" if !self.is_in_title() => Some("extract.button"),
            _ => None,
        }
    }

    /// Whether a button here is a title to unfold, not a control.
    fn is_in_title(&self) -> bool {
        self.kind() == ContextKind::Heading
            || self.frames.iter().any(|(_, ending)| matches!(ending, Ending::StrongBlock))
    }

    fn kind(&self) -> ContextKind {
        self.context.kind
    }

    fn run(&mut self) -> &mut Run {
        &mut self.context.run
    }

    fn push_frame(&mut self, node: NodeId, ending: Ending) {
        self.frames.push((node, ending));
    }

    fn enter(&mut self, node: NodeId) -> Descend {
        let page = self.page;
        if let Some(text) = page.tree.text(node) {
            self.run().text(&visible(text));
            return Descend::Into;
        }
        let Some(element) = page.tree.element(node) else { return Descend::Into };
        if !element.is_html() {
            return self.enter_foreign(node);
        }
        match element.tag() {
            // Its title is metadata, the rest is for machines.
            "head" | "title" => return Descend::Past,
            "br" => self.line_break(),
            "wbr" => {}
            "hr" => self.rule(),
            "img" => self.image(node),
            "input" => self.check_box(node),
            "pre" | "listing" | "xmp" => return self.code_block(node),
            "code" | "kbd" | "samp" | "tt" => return self.code_span(node),
            "table" => self.enter_table(node),
            "caption" => self.enter_context(node, ContextKind::Caption, Ending::Caption),
            "tr" => self.enter_row(node),
            "td" | "th" => self.enter_cell(node),
            "ul" | "ol" | "menu" | "dir" => self.enter_list(node),
            "li" => self.enter_item(node),
            "blockquote" => self.enter_container(node, Container::Quote),
            "dt" | "summary" => self.enter_strong_block(node),
            "q" => self.enter_quote(node),
            "rp" => return Descend::Past,
            "rt" => self.enter_ruby(node),
            tag => self.enter_other(node, tag),
        }
        Descend::Into
    }

    fn enter_other(&mut self, node: NodeId, tag: &str) {
        if let Some(level) = heading_level(tag) {
            if self.kind() == ContextKind::Flow {
                let anchor = media::heading_anchor(self.page.tree, node);
                self.enter_context(node, ContextKind::Heading, Ending::Heading(level, anchor));
            } else {
                self.enter_block(node);
            }
        } else if let Some(mark) = self.mark(node, tag) {
            if self.run().open(&mark) {
                self.push_frame(node, Ending::Mark);
            }
        } else if is_block(tag) {
            self.enter_block(node);
        }
    }

    fn leave(&mut self, node: NodeId) {
        while self.frames.last().is_some_and(|(at, _)| *at == node) {
            if let Some((_, ending)) = self.frames.pop() {
                self.end(node, ending);
            }
        }
    }

    fn end(&mut self, node: NodeId, ending: Ending) {
        match ending {
            Ending::Mark => self.run().close(),
            Ending::Block => self.flush(),
            Ending::StrongBlock => {
                self.flush();
                self.run().close();
            }
            Ending::Container => self.close_container(),
            Ending::Quote => self.run().text("\""),
            Ending::Heading(level, anchor) => {
                let text = self.leave_context();
                if !text.is_empty() {
                    self.pieces.push(Piece::Heading { level, text, anchor });
                }
            }
            Ending::Table => self.leave_table(),
            Ending::Cell => {
                let cell = Cell::new(self.page.tree, node, self.leave_context());
                if let Some(table) = self.tables.last_mut() {
                    table.cell(cell);
                }
            }
            Ending::Caption => {
                let caption = self.leave_context();
                match self.tables.last_mut() {
                    Some(table) => table.caption = caption,
                    None => self.paragraph(caption),
                }
            }
            Ending::Ruby => self.run().text(")"),
        }
    }

    /// Ends the block in the making. Inside a heading or caption a block boundary is white space,
    /// inside a cell it is a line break.
    fn flush(&mut self) {
        match self.kind() {
            ContextKind::Flow => {
                let text = self.run().take();
                self.paragraph(text);
            }
            ContextKind::Heading | ContextKind::Caption => self.run().space(),
            ContextKind::Cell => self.run().ensure_break(),
        }
    }

    fn paragraph(&mut self, text: Vec<Inline>) {
        if !text.is_empty() {
            self.pieces.push(Piece::Paragraph(text));
        }
    }

    fn enter_block(&mut self, node: NodeId) {
        self.flush();
        self.push_frame(node, Ending::Block);
    }

    fn enter_strong_block(&mut self, node: NodeId) {
        self.flush();
        if self.run().open(&Mark::Strong) {
            self.push_frame(node, Ending::StrongBlock);
        } else {
            self.push_frame(node, Ending::Block);
        }
    }

    fn enter_context(&mut self, node: NodeId, kind: ContextKind, ending: Ending) {
        let mut run = Run::default();
        if kind == ContextKind::Heading {
            self.flush();
            // A heading inside a link is a link.
            for link in self.run().marks().iter().filter(|mark| matches!(mark, Mark::Link { .. })) {
                run.open(link);
            }
        }
        self.push_frame(node, ending);
        let outer = std::mem::replace(&mut self.context, Context { kind, run });
        self.outer.push(outer);
    }

    fn leave_context(&mut self) -> Vec<Inline> {
        let Some(outer) = self.outer.pop() else { return Vec::new() };
        std::mem::replace(&mut self.context, outer).run.take()
    }

    fn enter_container(&mut self, node: NodeId, container: Container) {
        self.flush();
        if self.kind() == ContextKind::Flow {
            self.open_container(container);
            self.push_frame(node, Ending::Container);
        } else {
            self.push_frame(node, Ending::Block);
        }
    }

    fn open_container(&mut self, container: Container) {
        self.containers.push(match container {
            Container::Quote => ContainerKind::Quote,
            Container::List(_) => ContainerKind::List,
            Container::Item(_) => ContainerKind::Item,
        });
        self.pieces.push(Piece::Open(container));
    }

    /// Ends a container; one that stayed empty vanishes.
    fn close_container(&mut self) {
        self.flush();
        self.containers.pop();
        if matches!(self.pieces.last(), Some(Piece::Open(_))) {
            self.pieces.pop();
        } else {
            self.pieces.push(Piece::Close);
        }
    }

    fn is_in_list(&self) -> bool {
        self.containers.last() == Some(&ContainerKind::List)
    }

    fn enter_list(&mut self, node: NodeId) {
        let tree = self.page.tree;
        let start = tree.attribute(node, "start").and_then(|start| start.trim().parse().ok());
        let kind = (tree.tag(node) == "ol").then(|| start.unwrap_or(1_u32).min(999_999_999));
        self.flush();
        if self.kind() != ContextKind::Flow || !self.is_in_list() {
            return self.enter_container(node, Container::List(kind));
        }
        // A list directly in a list belongs to the item before it.
        if self.pieces.last() == Some(&Piece::Close) {
            self.pieces.pop();
            self.containers.push(ContainerKind::Item);
        } else {
            self.open_container(Container::Item(None));
        }
        self.push_frame(node, Ending::Container);
        self.enter_container(node, Container::List(kind));
    }

    fn enter_item(&mut self, node: NodeId) {
        self.flush();
        if self.kind() == ContextKind::Flow {
            if !self.is_in_list() {
                self.enter_container(node, Container::List(None));
            }
            self.enter_container(node, Container::Item(None));
        } else {
            self.push_frame(node, Ending::Block);
            self.run().text("-");
            self.run().space();
        }
    }

    fn check_box(&mut self, node: NodeId) {
        let tree = self.page.tree;
        let is_box = tree.attribute(node, "type").is_some_and(|t| t.eq_ignore_ascii_case("checkbox"));
        if !is_box || !self.run().is_empty() {
            return;
        }
        let is_done = tree.attribute(node, "checked").is_some();
        if let Some(Piece::Open(Container::Item(task))) = self.pieces.last_mut() {
            *task = Some(if is_done { TaskState::Done } else { TaskState::Open });
        }
    }

    fn line_break(&mut self) {
        match self.kind() {
            ContextKind::Flow if self.run().pending_breaks() > 0 => self.flush(),
            ContextKind::Flow | ContextKind::Cell => self.run().line_break(),
            ContextKind::Heading | ContextKind::Caption => self.run().space(),
        }
    }

    fn rule(&mut self) {
        self.flush();
        if self.kind() == ContextKind::Flow {
            self.pieces.push(Piece::Rule);
        }
    }

    fn image(&mut self, node: NodeId) {
        let page = self.page;
        let alt = media::alternative_text(page.tree, node);
        let address = media::image_address(page.tree, node).and_then(|a| page.addresses.write(&a));
        match (page.images, address) {
            (ImageMode::Url, Some(address)) => self.run().content(Inline::Image { alt, address }),
            (ImageMode::Url | ImageMode::Alt, _) => self.run().text(&alt),
            (ImageMode::None, _) => self.ledger.remove("extract.image", &alt),
        }
    }

    fn code_block(&mut self, node: NodeId) -> Descend {
        let text = code::code_text(self.page.tree, node);
        self.flush();
        match self.kind() {
            ContextKind::Flow if !text.trim().is_empty() => {
                let language = code::language(self.page.tree, node);
                self.pieces.push(Piece::Code { language, text });
            }
            ContextKind::Flow => {}
            _ => {
                for line in text.lines() {
                    self.run().ensure_break();
                    if !line.trim().is_empty() {
                        self.run().content(Inline::Code(line.to_owned()));
                    }
                }
                self.flush();
            }
        }
        Descend::Past
    }

    fn code_span(&mut self, node: NodeId) -> Descend {
        let tree = self.page.tree;
        let has_block = tree.descendants(node).any(|inner| {
            matches!(tree.tag(inner), "pre" | "p" | "div" | "ul" | "ol" | "table" | "img")
        });
        if has_block {
            return Descend::Into;
        }
        let text = visible(&tree.text_content(node)).into_owned();
        if text.starts_with(super::run::is_space) {
            self.run().space();
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        if !words.is_empty() {
            self.run().content(Inline::Code(words.join(" ")));
        }
        if text.ends_with(super::run::is_space) {
            self.run().space();
        }
        Descend::Past
    }

    fn enter_table(&mut self, node: NodeId) {
        self.flush();
        if is_layout(self.page.tree, node) {
            self.push_frame(node, Ending::Block);
        } else {
            self.push_frame(node, Ending::Table);
            self.tables.push(TableBuilder::default());
        }
    }

    fn is_in_data_table(&self) -> bool {
        self.frames.iter().rev().find_map(|(node, ending)| match ending {
            Ending::Table => Some(true),
            Ending::Block if self.page.tree.tag(*node) == "table" => Some(false),
            _ => None,
        }) == Some(true)
    }

    fn enter_row(&mut self, node: NodeId) {
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

    fn enter_cell(&mut self, node: NodeId) {
        if self.is_in_data_table() {
            self.enter_context(node, ContextKind::Cell, Ending::Cell);
        } else {
            self.enter_block(node);
        }
    }

    fn leave_table(&mut self) {
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

    fn push_tables(&mut self, table: TableBuilder) {
        let mut waiting = vec![table];
        while let Some(table) = waiting.pop() {
            let (caption, table, inner) = table.build();
            self.paragraph(caption);
            if !table.rows.is_empty() || table.header.iter().any(|cell| !cell.is_empty()) {
                self.pieces.push(Piece::Table(table));
            }
            waiting.extend(inner.into_iter().rev());
        }
    }

    fn enter_quote(&mut self, node: NodeId) {
        self.run().text("\"");
        self.push_frame(node, Ending::Quote);
    }

    fn enter_ruby(&mut self, node: NodeId) {
        self.run().text("(");
        self.push_frame(node, Ending::Ruby);
    }

    /// SVG shows no text that belongs to the page's; MathML is read by [`media::math_text`].
    fn enter_foreign(&mut self, node: NodeId) -> Descend {
        let tree = self.page.tree;
        match tree.element(node).map_or("", |element| element.tag()) {
            "math" => match media::math_tex(tree, node) {
                Some((tex, true)) if self.kind() == ContextKind::Flow => {
                    self.flush();
                    self.pieces.push(Piece::Math(tex));
                }
                Some((tex, _)) => self.run().content(Inline::Math(tex)),
                None => return Descend::Into,
            },
            "svg" => self.ledger.remove("extract.svg", &tree.text_content(node)),
            _ => return Descend::Into,
        }
        Descend::Past
    }

    fn mark(&mut self, node: NodeId, tag: &str) -> Option<Mark> {
        let page = self.page;
        Some(match tag {
            "b" | "strong" => Mark::Strong,
            "i" | "em" | "cite" | "dfn" | "var" => Mark::Emphasis,
            "del" | "s" | "strike" => Mark::Strike,
            "sup" => Mark::Superscript,
            "sub" => Mark::Subscript,
            "a" => {
                let href = page.tree.attribute(node, "href")?;
                let title = page.tree.attribute(node, "title").unwrap_or_default();
                Mark::Link { address: page.addresses.link(href)?, title: collapse(title) }
            }
            _ => return None,
        })
    }
}

fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn heading_level(tag: &str) -> Option<u8> {
    match tag.as_bytes() {
        [b'h', digit @ b'1'..=b'6'] => Some(digit - b'0'),
        _ => None,
    }
}

fn is_block(tag: &str) -> bool {
    matches!(
        tag,
        "address" | "article" | "aside" | "body" | "center" | "dd" | "details" | "dialog" | "div"
            | "dl" | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "header"
            | "hgroup" | "html" | "legend" | "main" | "nav" | "optgroup" | "option" | "p"
            | "search" | "section" | "tbody" | "tfoot" | "thead" | "plaintext"
    )
}

/// `text` without characters that no reader sees.
fn visible(text: &str) -> std::borrow::Cow<'_, str> {
    if text.is_ascii() || !text.contains(is_invisible) {
        return text.into();
    }
    text.chars().filter(|c| !is_invisible(*c)).collect()
}

fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}'
    )
}
