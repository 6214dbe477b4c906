//! Inline content: text, marks, images, code, formulas.

use super::ImageMode;
use super::math::{self, Formula};
use super::media;
use super::piece::{Image, Inline, Link, Mark, Piece};
use super::tree::NodeId;
use super::unseen;
use super::walk::{ContextKind, Descend, Ending, Walker};
use crate::model::collapse;

impl Walker<'_> {
    pub(super) fn line_break(&mut self) {
        match self.kind() {
            ContextKind::Flow if self.run().pending_breaks() > 0 => self.flush(),
            ContextKind::Flow | ContextKind::Cell => self.run().line_break(),
            ContextKind::Heading | ContextKind::Caption => self.run().space(),
        }
    }

    /// Adds text, without the characters that no reader sees.
    pub(super) fn text(&mut self, text: &str) {
        match unseen::shown(text, self.ledger) {
            Some(shown) => self.run().text(&shown),
            None => self.run().text(text),
        }
    }

    pub(super) fn image(&mut self, node: NodeId) {
        let page = self.page;
        let (alt, title) = media::texts(page.tree, node);
        let mut alt = unseen::shown(&alt, self.ledger).unwrap_or(alt);
        let title = unseen::shown(&title, self.ledger).unwrap_or(title);
        if page.captioned.contains(&node) {
            self.ledger.remove("content.repeated_alternative", &std::mem::take(&mut alt));
        }
        let address = media::image_address(page.tree, node).and_then(|a| page.addresses.write(&a));
        match (page.images, address) {
            (ImageMode::Url, Some(address)) => {
                self.run().content(Inline::Image(Box::new(Image { alt, address, title })));
            }
            (ImageMode::Url, None) if media::has_noscript_twin(page.tree, node) => {
                self.ledger.remove("extract.image_placeholder", &alt);
            }
            (ImageMode::Url | ImageMode::Alt, _) => {
                self.run().space();
                self.run().text(if alt.is_empty() { &title } else { &alt });
                self.run().space();
            }
            (ImageMode::None, _) => self.ledger.remove("extract.image", &alt),
        }
    }

    pub(super) fn enter_code(&mut self, node: NodeId) {
        let tree = self.page.tree;
        let mut inner = tree.descendants(node).take(MAX_CODE_NODES);
        let holds_blocks = inner.any(|inner| {
            matches!(tree.tag(inner), "pre" | "p" | "div" | "ul" | "ol" | "table" | "img")
        });
        if !holds_blocks && self.run().begin_code() {
            self.push_frame(node, Ending::Code);
        }
    }

    /// A mark begins. In code only links are marks; a superscript is written with `^`, lest it
    /// change a number.
    pub(super) fn enter_mark(&mut self, node: NodeId, mark: Mark) {
        match (self.run().is_code(), &mark) {
            (_, Mark::Link(_)) if media::holds_heading(self.page.tree, node) => {
                self.heading_link = Some(mark);
                self.push_frame(node, Ending::HeadingLink);
            }
            (true, Mark::Superscript) => self.run().text("^"),
            (true, Mark::Link(_)) | (false, _) => {
                if self.run().open(mark) {
                    self.push_frame(node, Ending::Mark);
                }
            }
            (true, _) => {}
        }
    }

    pub(super) fn enter_quote(&mut self, node: NodeId) {
        self.run().text("\"");
        self.push_frame(node, Ending::Quote);
    }

    pub(super) fn enter_ruby(&mut self, node: NodeId) {
        self.run().text("(");
        self.push_frame(node, Ending::Ruby);
    }

    pub(super) fn ruby_parenthesis(&mut self, node: NodeId) -> Descend {
        self.ledger.remove("extract.ruby_parenthesis", &self.page.tree.text_content(node));
        Descend::Past
    }

    pub(super) fn script(&mut self, node: NodeId) -> Descend {
        if let Some(formula) = math::script_tex(self.page.tree, node) {
            self.formula(formula);
        }
        Descend::Past
    }

    /// A formula between TeX marks, where the element holds one.
    pub(super) fn delimited_formula(&mut self, node: NodeId) -> bool {
        let Some((number, formula)) = math::delimited(self.page.tree, node) else { return false };
        if formula.is_block {
            self.flush();
        }
        self.run().text(&number);
        self.formula(formula);
        true
    }

    fn formula(&mut self, formula: Formula) {
        let Formula { tex, is_block } = formula;
        let tex = math::without_markup(&tex);
        if is_block && self.kind() == ContextKind::Flow {
            self.flush();
            self.block(Piece::Math(tex));
        } else {
            self.run().content(Inline::Math(tex));
        }
    }

    /// MathML is read as TeX; of SVG, the text that it draws or, where it stands for an image, its
    /// title.
    pub(super) fn enter_foreign(&mut self, node: NodeId) -> Descend {
        let tree = self.page.tree;
        match tree.element(node).map_or("", |element| element.tag()) {
            "math" => match math::tex(tree, node) {
                Some(formula) => self.formula(formula),
                None => return Descend::Into,
            },
            "svg" => {
                let (seen, unseen) = media::svg_text(tree, node);
                self.ledger.remove("extract.svg", &unseen);
                self.run().space();
                self.text(&seen);
                self.run().space();
            }
            _ => return Descend::Into,
        }
        Descend::Past
    }

    pub(super) fn mark(&mut self, node: NodeId, tag: &str) -> Option<Mark> {
        let page = self.page;
        Some(match tag {
            "b" | "strong" => Mark::Strong,
            "i" | "em" => Mark::Emphasis,
            "del" | "s" | "strike" => Mark::Strike,
            "sup" => Mark::Superscript,
            "sub" => Mark::Subscript,
            "a" => {
                let href = page.tree.attribute(node, "href")?;
                let title = page.tree.attribute(node, "title").unwrap_or_default();
                let address = page.addresses.link(href)?;
                Mark::Link(Box::new(Link { address, title: collapse(title) }))
            }
            _ => return None,
        })
    }
}

/// Nodes in which code is searched for blocks: code spans are short, and looking further in each
/// of many that nest would take quadratic time.
const MAX_CODE_NODES: usize = 256;
