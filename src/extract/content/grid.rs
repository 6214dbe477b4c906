//! Tells tables that hold data from those that lay a page out.

use crate::extract::tree::{NodeId, Tree};

/// Where the tables of a page are.
#[derive(Default)]
pub(super) struct Tables {
    /// By node: whether it is a data table or code, or stands in one.
    shielded: Vec<bool>,
    /// By node: whether it stands in a table.
    inner: Vec<bool>,
}

impl Tables {
    /// Finds data tables and code among `order`, the nodes of a page in document order. A table
    /// is data where it says so (caption, header cells, summary), or holds no other table and more
    /// cells than a layout needs.
    pub(super) fn find(tree: &Tree, order: &[NodeId]) -> Self {
        let mut found = Self { shielded: vec![false; tree.len()], inner: vec![false; tree.len()] };
        let (grids, grid_of) = found.read_grids(tree, order);
        let data: Vec<bool> = grids.iter().map(Grid::is_data).collect();
        for node in order {
            let parent = tree.parent(*node);
            let is_in = parent.is_some_and(|parent| found.is_shielded(parent));
            let grid = grid_of.get(node.index()).copied().flatten();
            let is_data =
                tree.tag(*node) == "table" && grid.and_then(|at| data.get(at)) == Some(&true);
            let is_code = matches!(tree.tag(*node), "pre" | "code");
            set(&mut found.shielded, *node, is_in || is_data || is_code);
        }
        found
    }

    /// The shape of every table, and by node the innermost table that it belongs to.
    fn read_grids(&mut self, tree: &Tree, order: &[NodeId]) -> (Vec<Grid>, Vec<Option<usize>>) {
        let mut grids: Vec<Grid> = Vec::new();
        let mut grid_of: Vec<Option<usize>> = vec![None; tree.len()];
        for node in order {
            let outer = tree
                .parent(*node)
                .and_then(|parent| grid_of.get(parent.index()).copied().flatten());
            let tag = tree.tag(*node);
            if let Some(grid) = outer.and_then(|outer| grids.get_mut(outer)) {
                grid.read(tag);
            }
            let own = if tag == "table" { Some(grids.len()) } else { outer };
            if tag == "table" {
                grids.push(Grid::new(tree, *node));
            }
            set(&mut grid_of, *node, own);
            set(&mut self.inner, *node, outer.is_some());
        }
        (grids, grid_of)
    }

    /// Whether `node` is a data table or code, or stands in one.
    pub(super) fn is_shielded(&self, node: NodeId) -> bool {
        self.shielded.get(node.index()) == Some(&true)
    }

    /// Whether `node` stands in a table of any kind.
    pub(super) fn is_inner(&self, node: NodeId) -> bool {
        self.inner.get(node.index()) == Some(&true)
    }
}

fn set<T>(values: &mut [T], node: NodeId, value: T) {
    if let Some(slot) = values.get_mut(node.index()) {
        *slot = value;
    }
}

/// The shape of a table.
#[derive(Default)]
struct Grid {
    has_table: bool,
    /// What the table says of itself, where it does.
    stated: Option<bool>,
    rows: usize,
    columns: usize,
    cells: usize,
}

impl Grid {
    fn new(tree: &Tree, table: NodeId) -> Self {
        let is_layout = matches!(tree.attribute(table, "role"), Some("presentation" | "none"))
            || tree.attribute(table, "datatable") == Some("0");
        let has_summary =
            tree.attribute(table, "summary").is_some_and(|summary| !summary.trim().is_empty());
        let stated = is_layout.then_some(false).or(has_summary.then_some(true));
        Self { stated, ..Self::default() }
    }

    fn read(&mut self, tag: &str) {
        match tag {
            "table" => self.has_table = true,
            "tr" => {
                self.rows += 1;
                self.cells = 0;
            }
            "td" => {
                self.cells += 1;
                self.columns = self.columns.max(self.cells);
            }
            "caption" | "thead" | "tfoot" | "th" | "colgroup" => {
                self.stated = self.stated.or(Some(true));
            }
            _ => {}
        }
    }

    fn is_data(&self) -> bool {
        self.stated.unwrap_or(
            !self.has_table
                && self.rows > 1
                && self.columns > 1
                && (self.rows >= 10 || self.columns > 4 || self.rows * self.columns > 10),
        )
    }
}
