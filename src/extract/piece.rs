//! A page between HTML and Markdown: a flat sequence of blocks, each with a flat run of inlines.
//!
//! Nesting is written as [`Piece::Open`] and [`Piece::Close`], so that every pass over it is a
//! loop and dropping it is a plain `Vec` drop.

/// One step in a page's sequence of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A container begins; it ends at the matching [`Piece::Close`].
    Open(Container),
    /// The innermost open container ends.
    Close,
    /// A heading.
    Heading(Box<HeadingBlock>),
    /// A paragraph.
    Paragraph(Vec<Inline>),
    /// A block of code.
    Code(Box<CodeBlock>),
    /// A table of data.
    Table(Box<Table>),
    /// A block of TeX.
    Math(String),
    /// A thematic break.
    Rule,
}

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeadingBlock {
    /// 1 to 6.
    pub(super) level: u8,
    /// Its text.
    pub(super) text: Vec<Inline>,
    /// The fragment that leads to it.
    pub(super) anchor: Option<String>,
}

/// A block of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodeBlock {
    /// The language, empty where unknown.
    pub(super) language: String,
    /// The code, without the line end of its last line.
    pub(super) text: String,
}

/// Highest number of a list item (CommonMark 0.31 §5.2: nine digits).
pub(super) const MAX_NUMBER: u32 = 999_999_999;

/// What may hold blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Container {
    /// A quotation.
    Quote,
    /// A list of [`Container::Item`]s: `None` for bullets, else the first number.
    List(Option<u32>),
    /// A list item, with the state of its check box where it has one.
    Item(Option<TaskState>),
}

/// The state of a task item's check box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskState {
    /// `[ ]`
    Open,
    /// `[x]`
    Done,
}

/// One step in a run of inline content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Inline {
    /// Text, white space collapsed.
    Text(String),
    /// Code.
    Code(String),
    /// TeX.
    Math(String),
    /// A mark begins.
    Open(Mark),
    /// The innermost mark, which is this one, ends.
    Close(Mark),
    /// An image that has an address.
    Image(Box<Image>),
    /// A hard line break.
    Break,
}

/// What is said of a stretch of inline content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Strong emphasis.
    Strong,
    /// Emphasis.
    Emphasis,
    /// Struck out.
    Strike,
    /// Superscript.
    Superscript,
    /// Subscript.
    Subscript,
    /// A link.
    Link(Box<Link>),
}

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Where it leads.
    pub(super) address: String,
    /// Its title, empty where it has none.
    pub(super) title: String,
}

/// An image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image {
    /// Its alternative text.
    pub(super) alt: String,
    /// Its address.
    pub(super) address: String,
    /// Its title, empty where it has none.
    pub(super) title: String,
}

impl Mark {
    /// Whether a mark of this kind inside another of its kind says nothing.
    pub(super) fn is_same_kind(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// A table of data: every row has as many cells as the widest, at most [`Table::MAX_COLUMNS`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    /// The header row; empty where the table has none.
    pub(super) header: Vec<Vec<Inline>>,
    /// The rows below.
    pub(super) rows: Vec<Vec<Vec<Inline>>>,
    /// How each column is aligned.
    pub(super) alignment: Vec<Alignment>,
}

impl Table {
    /// Most columns. Span attributes of a page never widen a table beyond; cells of its own past
    /// it join the last column.
    pub(super) const MAX_COLUMNS: usize = 64;
}

/// How a column is aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Alignment {
    /// Not said.
    #[default]
    None,
    /// `:---`
    Left,
    /// `:---:`
    Center,
    /// `---:`
    Right,
}
