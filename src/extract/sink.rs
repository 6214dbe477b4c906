//! Where html5ever's tree builder puts its nodes: a [`Tree`].
//!
//! Errors in a page are not kept, and comments lose their text.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use html5ever::tendril::StrTendril;
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::{Attribute, QualName};

use super::tree::{Element, NodeData, NodeId, Tree};

/// Builds the [`Tree`] as the tree builder asks.
pub(super) struct Sink {
    tree: RefCell<Tree>,
    /// Depth of the last element placed.
    last_depth: Cell<u32>,
}

impl Sink {
    /// A sink for a page of about `nodes` nodes.
    pub(super) fn new(nodes: usize) -> Self {
        Self { tree: RefCell::new(Tree::new(nodes)), last_depth: Cell::new(0) }
    }

    /// Nodes created so far.
    pub(super) fn node_count(&self) -> usize {
        self.tree.borrow().len()
    }

    /// Depth of the last element placed.
    pub(super) fn last_depth(&self) -> u32 {
        self.last_depth.get()
    }

    /// The tree that was built.
    pub(super) fn into_tree(self) -> Tree {
        self.tree.into_inner()
    }

    fn place(&self, id: NodeId) {
        self.last_depth.set(self.tree.borrow().depth(id));
    }

    /// Adds `text` to `neighbour` where that is text.
    fn merge(&self, neighbour: Option<NodeId>, text: &StrTendril) -> bool {
        let mut tree = self.tree.borrow_mut();
        match neighbour.and_then(|id| tree.text_mut(id)) {
            Some(before) => {
                before.push_tendril(text);
                true
            }
            None => false,
        }
    }
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = Self;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        NodeId::DOCUMENT
    }

    #[expect(clippy::expect_used, reason = "html5ever asks for the names of elements alone")]
    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Ref<'a, QualName> {
        Ref::map(self.tree.borrow(), |tree| &tree.element(*target).expect("an element").name)
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        flags: ElementFlags,
    ) -> NodeId {
        let mut tree = self.tree.borrow_mut();
        let id = tree.create(NodeData::Element(Element { name, attributes }));
        if flags.template {
            let contents = tree.create(NodeData::Root);
            tree.append(id, contents);
        }
        id
    }

    fn create_comment(&self, _text: StrTendril) -> NodeId {
        self.tree.borrow_mut().create(NodeData::Comment)
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> NodeId {
        self.tree.borrow_mut().create(NodeData::Comment)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        match child {
            NodeOrText::AppendNode(id) => {
                self.tree.borrow_mut().append(*parent, id);
                self.place(id);
            }
            NodeOrText::AppendText(text) => {
                let last = self.tree.borrow().last_child(*parent);
                if !self.merge(last, &text) {
                    let mut tree = self.tree.borrow_mut();
                    let id = tree.create(NodeData::Text(text));
                    tree.append(*parent, id);
                }
            }
        }
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeId,
        previous: &NodeId,
        child: NodeOrText<NodeId>,
    ) {
        let has_parent = self.tree.borrow().parent(*element).is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        self.tree.borrow().first_child(*target).unwrap_or(*target)
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        match child {
            NodeOrText::AppendNode(id) => {
                let mut tree = self.tree.borrow_mut();
                tree.detach(id);
                tree.insert_before(*sibling, id);
                drop(tree);
                self.place(id);
            }
            NodeOrText::AppendText(text) => {
                let previous = self.tree.borrow().previous(*sibling);
                if !self.merge(previous, &text) {
                    let mut tree = self.tree.borrow_mut();
                    let id = tree.create(NodeData::Text(text));
                    tree.insert_before(*sibling, id);
                }
            }
        }
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attributes: Vec<Attribute>) {
        let mut tree = self.tree.borrow_mut();
        let Some(element) = tree.element_mut(*target) else { return };
        for attribute in attributes {
            if element.attributes.iter().all(|present| present.name != attribute.name) {
                element.attributes.push(attribute);
            }
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.tree.borrow_mut().detach(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        self.tree.borrow_mut().reparent_children(*node, *new_parent);
    }
}
