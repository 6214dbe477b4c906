//! The parsed page: an arena of nodes, linked by number.
//!
//! Walks are iterative, dropping is a plain `Vec` drop, and a side table is a `Vec` indexed by
//! [`NodeId::index`]: nothing here recurses, however deep a page nests.

use std::num::NonZeroU32;

use html5ever::tendril::StrTendril;
use html5ever::{Attribute, QualName, local_name, ns};

/// The number of a node in its [`Tree`]. Numbers rise in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(NonZeroU32);

impl NodeId {
    /// The document node, root of every tree.
    pub(super) const DOCUMENT: Self = Self(NonZeroU32::MIN);

    /// The node at `index`.
    fn at(index: usize) -> Self {
        let number = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
        Self(NonZeroU32::new(number).unwrap_or(NonZeroU32::MAX))
    }

    /// The node's place in a side table.
    pub(super) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

#[derive(Debug)]
struct Node {
    parent: Option<NodeId>,
    previous: Option<NodeId>,
    next: Option<NodeId>,
    first: Option<NodeId>,
    last: Option<NodeId>,
    depth: u32,
    data: NodeData,
}

/// What a node is.
#[derive(Debug)]
pub(super) enum NodeData {
    /// The root of the page, of a fragment or of a template's contents.
    Root,
    /// An element.
    Element(Element),
    /// Text.
    Text(StrTendril),
    /// A comment or processing instruction: its text is nobody's to read.
    Comment,
}

/// An element's name and attributes.
#[derive(Debug)]
pub(super) struct Element {
    /// The name, with its namespace.
    pub(super) name: QualName,
    /// The attributes, as written.
    pub(super) attributes: Vec<Attribute>,
}

impl Element {
    /// The local name.
    pub(super) fn tag(&self) -> &str {
        &self.name.local
    }

    /// The value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|attribute| &*attribute.name.local == name)
            .map(|attribute| &*attribute.value)
    }

    /// Whether it is an HTML element, as opposed to SVG or MathML.
    pub(super) fn is_html(&self) -> bool {
        self.name.ns == ns!(html)
    }
}

/// A parsed page.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

/// One step of [`Tree::walk`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The node begins.
    Enter(NodeId),
    /// The node, which is no leaf, ends.
    Leave(NodeId),
}

impl Tree {
    /// A tree of the document node alone, with room for `nodes` more.
    pub(super) fn new(nodes: usize) -> Self {
        let mut tree = Self { nodes: Vec::with_capacity(nodes + 1) };
        tree.create(NodeData::Root);
        tree
    }

    /// Makes a node that has no place yet.
    pub(super) fn create(&mut self, data: NodeData) -> NodeId {
        if self.nodes.len() == self.nodes.capacity() {
            // Growing by a quarter wastes less than doubling, and copies little more.
            self.nodes.reserve_exact(self.nodes.len() / 4 + 64);
        }
        let id = NodeId::at(self.nodes.len());
        self.nodes.push(Node {
            parent: None,
            previous: None,
            next: None,
            first: None,
            last: None,
            depth: 0,
            data,
        });
        id
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    fn get(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index())
    }

    fn update(&mut self, id: Option<NodeId>, change: impl FnOnce(&mut Node)) {
        if let Some(node) = id.and_then(|id| self.nodes.get_mut(id.index())) {
            change(node);
        }
    }

    /// The element at `id`, where it is one.
    pub(super) fn element(&self, id: NodeId) -> Option<&Element> {
        match self.get(id).map(|node| &node.data) {
            Some(NodeData::Element(element)) => Some(element),
            _ => None,
        }
    }

    /// The element at `id`, to be changed.
    pub(super) fn element_mut(&mut self, id: NodeId) -> Option<&mut Element> {
        match self.nodes.get_mut(id.index()).map(|node| &mut node.data) {
            Some(NodeData::Element(element)) => Some(element),
            _ => None,
        }
    }

    /// The text at `id`, where it is text.
    pub(super) fn text(&self, id: NodeId) -> Option<&str> {
        match self.get(id).map(|node| &node.data) {
            Some(NodeData::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The text at `id`, to be added to.
    pub(super) fn text_mut(&mut self, id: NodeId) -> Option<&mut StrTendril> {
        match self.nodes.get_mut(id.index()).map(|node| &mut node.data) {
            Some(NodeData::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The local name of the HTML element at `id`; empty for anything else.
    pub(super) fn tag(&self, id: NodeId) -> &str {
        self.element(id).filter(|element| element.is_html()).map_or("", Element::tag)
    }

    /// The value of an attribute of the element at `id`.
    pub(super) fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        self.element(id).and_then(|element| element.attribute(name))
    }

    /// Gives the element at `id` an inline style, in the place of its own.
    pub(super) fn set_style(&mut self, id: NodeId, style: &str) {
        let Some(element) = self.element_mut(id) else { return };
        let name = QualName::new(None, ns!(), local_name!("style"));
        element.attributes.retain(|attribute| attribute.name.local != name.local);
        element.attributes.push(Attribute { name, value: style.into() });
    }

    /// The node above.
    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.get(id).and_then(|node| node.parent)
    }

    /// The sibling before.
    pub(super) fn previous(&self, id: NodeId) -> Option<NodeId> {
        self.get(id).and_then(|node| node.previous)
    }

    /// The sibling after.
    pub(super) fn next(&self, id: NodeId) -> Option<NodeId> {
        self.get(id).and_then(|node| node.next)
    }

    /// The first child.
    pub(super) fn first_child(&self, id: NodeId) -> Option<NodeId> {
        self.get(id).and_then(|node| node.first)
    }

    /// The last child.
    pub(super) fn last_child(&self, id: NodeId) -> Option<NodeId> {
        self.get(id).and_then(|node| node.last)
    }

    /// Elements above the node when it was placed.
    pub(super) fn depth(&self, id: NodeId) -> u32 {
        self.get(id).map_or(0, |node| node.depth)
    }

    /// The children, in order.
    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.first_child(id), |child| self.next(*child))
    }

    /// The nodes above, innermost first.
    pub(super) fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.parent(id), |above| self.parent(*above))
    }

    /// Every node under `root`, in document order, without `root`.
    pub(super) fn descendants(&self, root: NodeId) -> impl Iterator<Item = NodeId> {
        self.walk(root).filter_map(move |step| match step {
            Step::Enter(id) if id != root => Some(id),
            _ => None,
        })
    }

    /// Enters and leaves every node of the subtree at `root`, `root` included.
    pub(super) fn walk(&self, root: NodeId) -> impl Iterator<Item = Step> {
        std::iter::successors(Some(Step::Enter(root)), move |step| self.after(*step, root))
    }

    /// The step after `step` in a walk over the subtree at `root`.
    pub(super) fn after(&self, step: Step, root: NodeId) -> Option<Step> {
        match step {
            Step::Enter(id) => Some(self.first_child(id).map_or(Step::Leave(id), Step::Enter)),
            Step::Leave(id) if id == root => None,
            Step::Leave(id) => match self.next(id) {
                Some(next) => Some(Step::Enter(next)),
                None => self.parent(id).map(Step::Leave),
            },
        }
    }

    /// The text of every text node under `id`, put together.
    pub(super) fn text_content(&self, id: NodeId) -> String {
        let mut all = self.text(id).unwrap_or_default().to_owned();
        for node in self.descendants(id) {
            all.push_str(self.text(node).unwrap_or_default());
        }
        all
    }

    /// Makes `child`, which has no place, the last child of `parent`.
    pub(super) fn append(&mut self, parent: NodeId, child: NodeId) {
        let last = self.last_child(parent);
        let depth = self.depth(parent) + 1;
        self.update(Some(child), |node| {
            node.parent = Some(parent);
            node.previous = last;
            node.depth = depth;
        });
        self.update(last, |node| node.next = Some(child));
        self.update(Some(parent), |node| {
            node.last = Some(child);
            node.first.get_or_insert(child);
        });
    }

    /// Puts `child`, which has no place, before `sibling`.
    pub(super) fn insert_before(&mut self, sibling: NodeId, child: NodeId) {
        let (parent, previous) = (self.parent(sibling), self.previous(sibling));
        let depth = self.depth(sibling);
        self.update(Some(child), |node| {
            node.parent = parent;
            node.previous = previous;
            node.next = Some(sibling);
            node.depth = depth;
        });
        self.update(Some(sibling), |node| node.previous = Some(child));
        match previous {
            Some(_) => self.update(previous, |node| node.next = Some(child)),
            None => self.update(parent, |node| node.first = Some(child)),
        }
    }

    /// Takes `id`, with all under it, from its place.
    pub(super) fn detach(&mut self, id: NodeId) {
        let (parent, previous, next) = (self.parent(id), self.previous(id), self.next(id));
        match previous {
            Some(_) => self.update(previous, |node| node.next = next),
            None => self.update(parent, |node| node.first = next),
        }
        match next {
            Some(_) => self.update(next, |node| node.previous = previous),
            None => self.update(parent, |node| node.last = previous),
        }
        self.update(Some(id), |node| {
            node.parent = None;
            node.previous = None;
            node.next = None;
        });
    }

    /// The frames among the nodes created from number `from` on, with the documents they state.
    pub(super) fn frames_from(&self, from: usize) -> Vec<(NodeId, String)> {
        let created = self.nodes.iter().enumerate().skip(from);
        created
            .filter_map(|(number, node)| match &node.data {
                NodeData::Element(element) if element.tag() == "iframe" => {
                    let document = element.attribute("srcdoc")?.to_owned();
                    Some((NodeId::at(number), document))
                }
                _ => None,
            })
            .collect()
    }

    /// Makes the document `other` the last child of `parent`.
    pub(super) fn graft(&mut self, parent: NodeId, other: Self) {
        let offset = self.nodes.len();
        let depth = self.depth(parent) + 1;
        let shift = |id: Option<NodeId>| id.map(|id| NodeId::at(id.index() + offset));
        self.nodes.extend(other.nodes.into_iter().map(|node| Node {
            parent: shift(node.parent),
            previous: shift(node.previous),
            next: shift(node.next),
            first: shift(node.first),
            last: shift(node.last),
            depth: node.depth.saturating_add(depth),
            data: node.data,
        }));
        self.append(parent, NodeId::at(offset));
    }

    /// Moves every child of `from` behind the children of `to`.
    pub(super) fn reparent_children(&mut self, from: NodeId, to: NodeId) {
        while let Some(child) = self.first_child(from) {
            self.detach(child);
            self.append(to, child);
        }
    }
}
