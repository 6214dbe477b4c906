//! What every part of a page holds, counted in one pass and added up from the leaves.

use super::grid::Tables;
use super::names::Naming;
use crate::extract::button::is_word;
use crate::extract::hidden::hidden_by;
use crate::extract::tree::{NodeId, Step, Tree};

/// By node: the rule that removes it, with all in it.
pub(in crate::extract) type Removed = Vec<Option<&'static str>>;

/// What an element with all in it holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    /// Visible characters, a run of white space counted as one. A character of a script that
    /// writes without spaces counts twice: it says as much as two letters.
    pub(super) text: u32,
    /// Those in links.
    pub(super) linked: u32,
    pub(super) links: u32,
    /// Commas of any script.
    pub(super) commas: u32,
    /// Ends of sentences of any script.
    pub(super) sentences: u32,
    pub(super) paragraphs: u32,
    pub(super) items: u32,
    pub(super) images: u32,
    pub(super) inputs: u32,
    pub(super) headings: u32,
    /// Characters in headings.
    pub(super) heading_text: u32,
    /// Characters in lists.
    pub(super) list_text: u32,
    /// `pre` elements.
    pub(super) codes: u32,
    /// Tables with header cells.
    pub(super) tables: u32,
    pub(super) main_headings: u32,
}

impl Facts {
    /// Adds what another element holds.
    pub(super) fn add(&mut self, inner: &Self) {
        self.text += inner.text;
        self.linked += inner.linked;
        self.links += inner.links;
        self.commas += inner.commas;
        self.sentences += inner.sentences;
        self.paragraphs += inner.paragraphs;
        self.items += inner.items;
        self.images += inner.images;
        self.inputs += inner.inputs;
        self.headings += inner.headings;
        self.heading_text += inner.heading_text;
        self.list_text += inner.list_text;
        self.codes += inner.codes;
        self.tables += inner.tables;
        self.main_headings += inner.main_headings;
    }

    /// The share of text that is in links.
    pub(super) fn link_density(&self) -> f64 {
        if self.text == 0 { 0.0 } else { f64::from(self.linked) / f64::from(self.text) }
    }

    /// Text outside of links.
    pub(super) fn plain(&self) -> u32 {
        self.text - self.linked.min(self.text)
    }
}

/// Where a visit goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Into,
    Behind,
}

/// Whether a rule takes `node` itself out.
pub(super) fn is_removed(removed: &Removed, node: NodeId) -> bool {
    removed.get(node.index()).copied().flatten().is_some()
}

/// Takes `node` out by `rule`.
pub(super) fn remove(removed: &mut Removed, node: NodeId, rule: &'static str) {
    if let Some(slot) = removed.get_mut(node.index()) {
        slot.get_or_insert(rule);
    }
}

/// A page made ready for counting.
pub(super) struct Page<'a> {
    pub(super) tree: &'a Tree,
    pub(super) body: NodeId,
    /// The nodes that a reader may see, in document order.
    pub(super) order: Vec<NodeId>,
    own: Vec<Facts>,
    names: Vec<Naming>,
    /// By node: its place in `order`, and the place behind all in it.
    spans: Vec<(u32, u32)>,
    tables: Tables,
}

impl<'a> Page<'a> {
    /// Reads the page, or `None` where it has no body.
    pub(super) fn read(tree: &'a Tree) -> Option<Self> {
        let body = tree.descendants(NodeId::DOCUMENT).find(|node| tree.tag(*node) == "body")?;
        let mut page = Self {
            tree,
            body,
            order: Vec::with_capacity(tree.len()),
            own: vec![Facts::default(); tree.len()],
            names: vec![Naming::default(); tree.len()],
            spans: vec![(0, 0); tree.len()],
            tables: Tables::default(),
        };
        let mut step = Some(Step::Enter(body));
        while let Some(now) = step {
            step = tree.after(now, body);
            let node = match now {
                Step::Enter(node) => node,
                Step::Leave(node) => {
                    let end = page.place();
                    page.set_span(node, |span| span.1 = end);
                    continue;
                }
            };
            if is_unseen(tree, node) && node != body {
                step = tree.after(Step::Leave(node), body);
                continue;
            }
            let start = page.place();
            page.set_span(node, |span| *span = (start, start + 1));
            page.order.push(node);
            page.read_node(node);
        }
        page.tables = Tables::find(tree, &page.order);
        Some(page)
    }

    fn read_node(&mut self, node: NodeId) {
        let tree = self.tree;
        let Some(own) = self.own.get_mut(node.index()) else { return };
        if let Some(text) = tree.text(node) {
            count_text(own, text);
            return;
        }
        let Some(element) = tree.element(node).filter(|element| element.is_html()) else { return };
        count_tag(own, element.tag());
        if let Some(naming) = self.names.get_mut(node.index()) {
            *naming = Naming::read(element.attribute("class"), element.attribute("id"));
        }
    }

    fn place(&self) -> u32 {
        u32::try_from(self.order.len()).unwrap_or(u32::MAX)
    }

    fn set_span(&mut self, node: NodeId, change: impl FnOnce(&mut (u32, u32))) {
        if let Some(span) = self.spans.get_mut(node.index()) {
            change(span);
        }
    }

    fn span(&self, node: NodeId) -> (usize, usize) {
        let (start, end) = self.spans.get(node.index()).copied().unwrap_or_default();
        (start as usize, end as usize)
    }

    /// The node's place in document order.
    pub(super) fn start(&self, node: NodeId) -> usize {
        self.span(node).0
    }

    /// The place behind all that stands in `node`.
    pub(super) fn end(&self, node: NodeId) -> usize {
        self.span(node).1
    }

    /// Whether `node` stands in `root`, or is it.
    pub(super) fn is_within(&self, node: NodeId, root: NodeId) -> bool {
        let (at, (start, end)) = (self.span(node).0, self.span(root));
        start <= at && at < end
    }

    /// Whether `node` is a data table or code, or stands in one.
    pub(super) fn is_shielded(&self, node: NodeId) -> bool {
        self.tables.is_shielded(node)
    }

    /// Whether `node` stands in a table of any kind.
    pub(super) fn is_in_table(&self, node: NodeId) -> bool {
        self.tables.is_inner(node)
    }

    /// Visits `root` and all in it that `removed` leaves, in document order. Where `visit` says
    /// so, it goes on behind the node.
    pub(super) fn visit(
        &self,
        root: NodeId,
        removed: &mut Removed,
        mut visit: impl FnMut(NodeId, &mut Removed) -> Next,
    ) {
        let (mut at, end) = self.span(root);
        while at < end {
            let Some(node) = self.order.get(at).copied() else { return };
            let is_out = is_removed(removed, node);
            let next = if is_out { Next::Behind } else { visit(node, removed) };
            at = match next {
                Next::Into => at + 1,
                Next::Behind => self.span(node).1.max(at + 1),
            };
        }
    }

    /// Nodes of `root` that `removed` leaves, in document order.
    pub(super) fn kept(&self, root: NodeId, removed: &Removed) -> Vec<NodeId> {
        let (mut at, end) = self.span(root);
        let mut kept = Vec::new();
        while let Some(node) = self.order.get(at).copied().filter(|_| at < end) {
            if is_removed(removed, node) {
                at = self.span(node).1.max(at + 1);
            } else {
                kept.push(node);
                at += 1;
            }
        }
        kept
    }

    /// What a node holds by itself.
    pub(super) fn own(&self, node: NodeId) -> Facts {
        self.own.get(node.index()).copied().unwrap_or_default()
    }

    /// What an element's names say.
    pub(super) fn naming(&self, node: NodeId) -> Naming {
        self.names.get(node.index()).copied().unwrap_or_default()
    }

    /// Adds up what each element holds, without what `removed` takes out of it.
    pub(super) fn measure(&self, removed: &Removed) -> Measures {
        let mut all = self.own.clone();
        for node in self.order.iter().rev() {
            let tag = self.tree.tag(*node);
            let Some(slot) = all.get_mut(node.index()) else { continue };
            finish(slot, tag);
            let facts = *slot;
            if removed.get(node.index()).copied().flatten().is_some() || *node == self.body {
                continue;
            }
            let parent = self.tree.parent(*node).and_then(|parent| all.get_mut(parent.index()));
            if let Some(above) = parent {
                above.add(&facts);
            }
        }
        Measures(all)
    }
}

/// What every element of a page holds.
pub(super) struct Measures(Vec<Facts>);

impl Measures {
    pub(super) fn of(&self, node: NodeId) -> Facts {
        self.0.get(node.index()).copied().unwrap_or_default()
    }
}

/// Counts that depend on all in an element.
fn finish(facts: &mut Facts, tag: &str) {
    match tag {
        "a" => {
            facts.linked = facts.text;
            facts.links += 1;
        }
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => facts.heading_text = facts.text,
        "ul" | "ol" => facts.list_text = facts.text,
        _ => {}
    }
}

fn count_tag(own: &mut Facts, tag: &str) {
    match tag {
        "p" => own.paragraphs = 1,
        "li" => own.items = 1,
        "img" | "picture" => own.images = u32::from(tag == "img"),
        "input" => own.inputs = 1,
        "pre" => own.codes = 1,
        "th" => own.tables = 1,
        "h1" => {
            own.headings = 1;
            own.main_headings = 1;
        }
        "h2" | "h3" | "h4" | "h5" | "h6" => own.headings = 1,
        _ => {}
    }
}

/// Whether a reader does not see the element: hidden, or a button that is no title.
fn is_unseen(tree: &Tree, node: NodeId) -> bool {
    if hidden_by(tree, node).is_some() {
        return true;
    }
    let Some(element) = tree.element(node) else { return false };
    if element.tag() == "button" {
        return !is_word(tree, node)
            && !tree.ancestors(node).take(3).any(|above| {
                matches!(
                    tree.tag(above),
                    "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "dt" | "summary"
                )
            });
    }
    !element.is_html() && element.tag() == "svg"
}

fn count_text(own: &mut Facts, text: &str) {
    let mut was_space = true;
    let mut chars = 0;
    for c in text.chars() {
        if c.is_whitespace() {
            chars += u32::from(!was_space);
            was_space = true;
            continue;
        }
        was_space = false;
        chars += 1 + u32::from(is_dense(c));
        own.commas += u32::from(is_comma(c));
        own.sentences += u32::from(is_sentence_end(c));
    }
    own.text = chars;
}

/// Whether `c` ends a sentence, in any script.
pub(super) fn is_sentence_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '।' | '؟' | '…')
}

/// Whether `c` belongs to a script that writes without spaces between words.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

fn is_comma(c: char) -> bool {
    matches!(c, ',' | '،' | '、' | '，' | '﹐' | '︐' | '︑' | '⸲' | '⹁')
}
