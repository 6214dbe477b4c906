//! One walk over the tree: elements to blocks and inline content.
//!
//! In: the tree, and by node the rule that keeps it out. Out: [`Piece`]s, to the writer. What an element
//! becomes is said here; how, in `blocks` and `inlines`. Marks appear only where the page has
//! them: a term of a definition list or a summary is a paragraph, not strong.
//!
//! The walk keeps a stack of frames (what the end of an element has to do) and a stack of
//! contexts (where content goes: the flow of the page, a heading, a table cell, a caption).

use std::collections::HashSet;

use super::blocks::{ContainerKind, Numbering, heading_level};
use super::button::is_word;
use super::code;
use super::hidden::hidden_by;
use super::math;
use super::media;
use super::noscript::NoScript;
use super::piece::{Container, HeadingBlock, Inline, Mark, Piece};
use super::run::Run;
use super::table::{Cell, TableBuilder};
use super::tree::{NodeId, Step, Tree};
use super::write::Writer;
use super::{Addresses, ImageMode};
use crate::model::Ledger;

/// Converts the subtree at `root`, leaving out what `removed` or [`hidden_by`] name. `writer` takes
/// each block as soon as no container is open around it.
pub(super) fn walk(page: &PageView<'_>, root: NodeId, ledger: &mut Ledger, writer: &mut Writer) {
    let mut walker = Walker {
        page,
        ledger,
        writer,
        pieces: Vec::new(),
        containers: Vec::new(),
        numbers: Vec::new(),
        frames: Vec::new(),
        context: Context { kind: ContextKind::Flow, run: Run::default() },
        outer: Vec::new(),
        tables: Vec::new(),
        heading_link: None,
        noscript: NoScript::default(),
    };
    let mut step = Some(Step::Enter(root));
    while let Some(now) = step {
        step = match now {
            Step::Enter(node) if walker.is_removed(node) => {
                page.tree.after(Step::Leave(node), root)
            }
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
    walker.hand_over();
}

/// A page as the walk sees it.
pub(super) struct PageView<'a> {
    /// The tree.
    pub(super) tree: &'a Tree,
    /// By node: the rule that keeps it out, if any.
    pub(super) removed: &'a [Option<&'static str>],
    /// Images whose alternative text only repeats what stands beside them.
    pub(super) captioned: &'a HashSet<NodeId>,
    /// How addresses are written.
    pub(super) addresses: &'a Addresses,
    /// What is kept of images.
    pub(super) images: ImageMode,
}

/// How the walk goes on from an element that it has entered.
pub(super) enum Descend {
    /// It goes on with its children.
    Into,
    /// It goes on behind it.
    Past,
}

/// What the end of an element does.
pub(super) enum Ending {
    /// A mark ends.
    Mark,
    /// A block ends.
    Block,
    /// A container ends.
    Container,
    /// A quotation mark is set.
    Quote,
    /// A heading of this level and anchor ends.
    Heading(u8, Option<String>),
    /// A table of data ends.
    Table,
    /// A cell of a table of data ends.
    Cell,
    /// A caption ends.
    Caption,
    /// Code ends.
    Code,
    /// A link that its heading took ends.
    HeadingLink,
    /// Ruby text ends.
    Ruby,
}

struct Context {
    kind: ContextKind,
    run: Run,
}

/// Where content goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ContextKind {
    /// The flow of blocks.
    Flow,
    /// A heading.
    Heading,
    /// A cell of a table of data.
    Cell,
    /// The caption of a table.
    Caption,
}

/// The walk's state.
pub(super) struct Walker<'a> {
    pub(super) page: &'a PageView<'a>,
    pub(super) ledger: &'a mut Ledger,
    writer: &'a mut Writer,
    /// What is not yet handed to the writer: the containers that are open, and what is in them.
    pub(super) pieces: Vec<Piece>,
    /// The containers open in `pieces`.
    pub(super) containers: Vec<ContainerKind>,
    /// Where the ordered lists among them stand, innermost last.
    pub(super) numbers: Vec<Numbering>,
    pub(super) frames: Vec<(NodeId, Ending)>,
    /// Where content goes, and the contexts around.
    context: Context,
    outer: Vec<Context>,
    /// The tables of data around, innermost last.
    pub(super) tables: Vec<TableBuilder>,
    /// A link around a heading that is still to come.
    pub(super) heading_link: Option<Mark>,
    noscript: NoScript,
}

impl Walker<'_> {
    /// Whether a rule keeps `node` out; what is lost goes to the ledger.
    fn is_removed(&mut self, node: NodeId) -> bool {
        let tree = self.page.tree;
        let by_content = self.page.removed.get(node.index()).copied().flatten();
        if by_content.is_none() && tree.element(node).is_none() {
            return false;
        }
        let rule = by_content
            .or_else(|| hidden_by(tree, node).and_then(|rule| self.confirm(node, rule)))
            .or_else(|| self.is_decoration(node));
        let Some(rule) = rule else { return false };
        self.ledger.remove(rule, &tree.text_content(node));
        if tree.tag(node) == "img" {
            self.ledger.remove(rule, tree.attribute(node, "alt").unwrap_or_default());
        }
        true
    }

    /// Takes back a rule where it would remove the only copy of something.
    fn confirm(&mut self, node: NodeId, rule: &'static str) -> Option<&'static str> {
        let tree = self.page.tree;
        let is_only_copy = match rule {
            "extract.noscript" => self.noscript.is_only_copy(tree, node),
            "extract.script" => math::script_tex(tree, node).is_some(),
            _ => math::is_only_copy(tree, node),
        };
        (!is_only_copy).then_some(rule)
    }

    /// Marks that a page puts beside its text for the use of a mouse.
    fn is_decoration(&self, node: NodeId) -> Option<&'static str> {
        let tree = self.page.tree;
        match tree.tag(node) {
            "a" if media::is_permalink(tree, node) => Some("extract.permalink"),
            "button" if !self.is_in_title(node) && !is_word(tree, node) => Some("extract.button"),
            "img" if media::is_dot(tree, node) => Some("extract.tracking_image"),
            "div" | "span" if math::is_twin(tree, node) => Some("extract.formula_twin"),
            "td" | "th" | "div" | "pre" if code::is_number_column(tree, node) => {
                Some("extract.gutter")
            }
            _ => None,
        }
    }

    /// Whether the button at `node` is a title to unfold or choose a text, not a control.
    fn is_in_title(&self, node: NodeId) -> bool {
        let tree = self.page.tree;
        self.kind() == ContextKind::Heading
            || tree.attribute(node, "role") == Some("tab")
            || self.frames.iter().any(|(at, _)| tree.tag(*at) == "summary")
    }

    pub(super) fn kind(&self) -> ContextKind {
        self.context.kind
    }

    pub(super) fn run(&mut self) -> &mut Run {
        &mut self.context.run
    }

    pub(super) fn push_frame(&mut self, node: NodeId, ending: Ending) {
        self.frames.push((node, ending));
    }

    fn enter(&mut self, node: NodeId) -> Descend {
        let page = self.page;
        if let Some(text) = page.tree.text(node) {
            self.text(text);
            return Descend::Into;
        }
        let Some(element) = page.tree.element(node) else { return Descend::Into };
        if !element.is_html() {
            return self.enter_foreign(node);
        }
        match element.tag() {
            // It is metadata.
            "title" => return Descend::Past,
            "br" => self.line_break(),
            "wbr" => {}
            "hr" => self.rule(),
            "img" => self.image(node),
            "input" => self.check_box(node),
            "script" => return self.script(node),
            "pre" | "listing" | "xmp" => return self.code_block(node),
            "code" | "kbd" | "samp" | "tt" => self.enter_code(node),
            "table" => self.enter_table(node),
            "caption" => self.enter_context(node, ContextKind::Caption, Ending::Caption),
            "tr" => self.enter_row(node),
            "td" | "th" => self.enter_cell(node),
            "ul" | "ol" | "menu" | "dir" => self.enter_list(node),
            "li" => self.enter_item(node),
            "blockquote" => self.enter_container(node, Container::Quote),
            "q" => self.enter_quote(node),
            "rp" => return self.ruby_parenthesis(node),
            "rt" => self.enter_ruby(node),
            "span" | "div" if self.delimited_formula(node) => return Descend::Past,
            tag => self.enter_other(node, tag),
        }
        Descend::Into
    }

    fn enter_other(&mut self, node: NodeId, tag: &str) {
        if let Some(level) = heading_level(tag) {
            self.enter_heading(node, level);
        } else if is_block(tag) && !is_word(self.page.tree, node) {
            self.enter_block(node);
        } else if let Some(mark) = self.mark(node, tag) {
            self.enter_mark(node, mark);
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
            Ending::Container => self.close_container(),
            Ending::Quote => self.run().text("\""),
            Ending::Code => self.run().end_code(),
            Ending::HeadingLink => self.heading_link = None,
            Ending::Heading(level, anchor) => {
                let text = self.leave_context();
                if !text.is_empty() {
                    self.block(Piece::Heading(Box::new(HeadingBlock { level, text, anchor })));
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
                    Some(table) => table.caption(caption),
                    None => self.paragraph(caption),
                }
            }
            Ending::Ruby => self.run().text(")"),
        }
    }

    /// Ends the block in the making. Inside a heading or caption a block boundary is white space,
    /// inside a cell it is a line break.
    pub(super) fn flush(&mut self) {
        match self.kind() {
            ContextKind::Flow => {
                let text = self.run().take();
                self.paragraph(text);
            }
            ContextKind::Heading | ContextKind::Caption => self.run().space(),
            ContextKind::Cell => self.run().ensure_break(),
        }
    }

    /// Hands the pieces to the writer, where no container is open: it has to see a list whole.
    pub(super) fn hand_over(&mut self) {
        if self.containers.is_empty() {
            self.writer.write(&self.pieces);
            self.pieces.clear();
        }
    }

    pub(super) fn paragraph(&mut self, text: Vec<Inline>) {
        if !text.is_empty() {
            self.block(Piece::Paragraph(text));
        }
    }

    pub(super) fn enter_block(&mut self, node: NodeId) {
        self.flush();
        self.push_frame(node, Ending::Block);
    }

    fn enter_heading(&mut self, node: NodeId, level: u8) {
        if self.kind() != ContextKind::Flow {
            return self.enter_block(node);
        }
        self.flush();
        let anchor = media::heading_anchor(self.page.tree, node);
        self.enter_context(node, ContextKind::Heading, Ending::Heading(level, anchor));
        if let Some(link) = self.heading_link.take() {
            self.run().open(link);
        }
    }

    pub(super) fn enter_context(&mut self, node: NodeId, kind: ContextKind, ending: Ending) {
        self.push_frame(node, ending);
        let context = Context { kind, run: Run::default() };
        self.outer.push(std::mem::replace(&mut self.context, context));
    }

    fn leave_context(&mut self) -> Vec<Inline> {
        let Some(outer) = self.outer.pop() else { return Vec::new() };
        std::mem::replace(&mut self.context, outer).run.take()
    }
}

fn is_block(tag: &str) -> bool {
    matches!(
        tag,
        "address"
            | "article"
            | "aside"
            | "body"
            | "button"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "header"
            | "hgroup"
            | "html"
            | "iframe"
            | "legend"
            | "main"
            | "nav"
            | "optgroup"
            | "option"
            | "p"
            | "plaintext"
            | "search"
            | "section"
            | "summary"
            | "tbody"
            | "tfoot"
            | "thead"
    )
}
