//! HTML to a [`Tree`]: our tokens, html5ever's tree builder, and a guard between the two.
//!
//! The tree builder is quadratic in nesting depth and in the list of open formatting elements
//! (80 KB of `<div>` take seconds), so a limit after the parse would come too late. [`Guard`] lets
//! no more than [`ParseLimits`] through; what it holds back are tags, never text.

use std::collections::HashMap;

use html5ever::LocalName;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink as _, TokenSinkResult};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};

use super::sink::Sink;
use super::tokens::{Content, Tokens, normalized};
use super::tree::{NodeId, Tree};
use crate::model::PageFlag;

/// How much of a page is parsed.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParseLimits {
    /// Deepest element; start tags below are dropped, their text stays.
    pub(super) max_depth: u32,
    /// Most nodes; the rest of the page is not read.
    pub(super) max_nodes: usize,
}

/// Most formatting elements (`b`, `font` and their like) that may be open at once. The tree
/// builder opens each of them again in every following block.
const MAX_FORMATTING: u32 = 64;

/// Most frames in frames that are read.
const MAX_FRAME_LEVELS: usize = 3;

/// Parses `html`, with the documents that its frames state (`srcdoc`) where they stand, and says
/// which limits cut it.
pub(super) fn parse(html: &str, limits: ParseLimits) -> (Tree, Vec<PageFlag>) {
    let (mut tree, mut flags) = parse_document(html, limits);
    let mut from = 0;
    for _ in 0..MAX_FRAME_LEVELS {
        let frames = tree.frames_from(from);
        from = tree.len();
        for (frame, document) in frames {
            let left = limits.max_nodes.saturating_sub(tree.len());
            let (inner, cut) = parse_document(&document, ParseLimits { max_nodes: left, ..limits });
            tree.graft(frame, inner);
            flags.extend(cut);
        }
    }
    flags.sort_unstable();
    flags.dedup();
    (tree, flags)
}

fn parse_document(html: &str, limits: ParseLimits) -> (Tree, Vec<PageFlag>) {
    let sink = Sink::new(expected_nodes(html).min(limits.max_nodes));
    let mut guard = Guard::new(sink, limits);
    let source = normalized(html);
    let mut tokens = Tokens::of(&source);
    let mut flags = Vec::new();
    while let Some(token) = tokens.next(|| guard.is_foreign()) {
        match guard.pass(token) {
            TokenSinkResult::RawData(kind) => tokens.read_as(Content::Raw(kind)),
            TokenSinkResult::Plaintext => tokens.read_as(Content::Plain),
            _ => {}
        }
        if guard.builder.sink.node_count() > limits.max_nodes {
            flags.push(PageFlag::NodesCut);
            break;
        }
    }
    flags.extend(guard.is_deep.then_some(PageFlag::DepthCut));
    (guard.into_tree(), flags)
}

/// About how many nodes a page has: half of its tags begin one, and text stands between most.
/// To guess right saves copying the tree while it grows.
fn expected_nodes(html: &str) -> usize {
    memchr::memchr_iter(b'<', html.as_bytes()).count() + 64
}

/// Stands between tokens and tree builder.
struct Guard {
    builder: TreeBuilder<NodeId, Sink>,
    limits: ParseLimits,
    /// The depth at which the next element will stand, or more: an end tag lowers it by one,
    /// although it may close several elements, until the next element shows the true depth.
    depth: u32,
    /// Formatting start tags let through, less end tags.
    formatting: u32,
    /// Start tags held back whose end tags are still to come, by name.
    dropped: HashMap<LocalName, u32>,
    is_deep: bool,
}

impl Guard {
    fn new(sink: Sink, limits: ParseLimits) -> Self {
        let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
        Self {
            builder: TreeBuilder::new(sink, options),
            limits,
            depth: 0,
            formatting: 0,
            dropped: HashMap::new(),
            is_deep: false,
        }
    }

    /// Hands `token` to the tree builder, unless it is one tag too many. The answer says how the
    /// source goes on.
    fn pass(&mut self, token: Token) -> TokenSinkResult<NodeId> {
        let is_start = match &token {
            Token::TagToken(tag) if !self.lets_through(tag) => return TokenSinkResult::Continue,
            Token::TagToken(tag) => tag.kind == TagKind::StartTag,
            _ => false,
        };
        let result = self.builder.process_token(token, 1);
        if is_start {
            self.depth = self.builder.sink.last_depth();
        }
        result
    }

    /// The tree of all that passed.
    fn into_tree(self) -> Tree {
        // The end asks for nothing more.
        drop(self.builder.process_token(Token::EOFToken, 1));
        self.builder.end();
        self.builder.sink.into_tree()
    }

    /// Whether the place is in SVG or MathML.
    fn is_foreign(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }

    fn lets_through(&mut self, tag: &Tag) -> bool {
        match tag.kind {
            TagKind::StartTag => self.lets_start_through(tag),
            TagKind::EndTag => self.lets_end_through(tag),
        }
    }

    fn lets_start_through(&mut self, tag: &Tag) -> bool {
        if tag.self_closing || is_leaf(&tag.name) {
            return true;
        }
        let is_formatting = is_formatting(&tag.name);
        let is_too_deep = self.depth >= self.limits.max_depth && !self.leaves_foreign(tag);
        if is_too_deep || (is_formatting && self.formatting >= MAX_FORMATTING) {
            self.is_deep = true;
            *self.dropped.entry(tag.name.clone()).or_insert(0) += 1;
            return false;
        }
        self.formatting += u32::from(is_formatting);
        true
    }

    /// Whether the tag ends SVG or MathML, which makes the tree less deep.
    fn leaves_foreign(&self, tag: &Tag) -> bool {
        is_breakout(&tag.name) && self.is_foreign()
    }

    fn lets_end_through(&mut self, tag: &Tag) -> bool {
        if !self.dropped.is_empty()
            && let Some(open) = self.dropped.get_mut(&tag.name).filter(|open| **open > 0)
        {
            *open -= 1;
            return false;
        }
        if is_formatting(&tag.name) {
            self.formatting = self.formatting.saturating_sub(1);
        }
        self.depth = self.depth.saturating_sub(1);
        true
    }
}

/// Elements that hold no elements: they never add to the depth, and those with raw text must
/// reach the tree builder so that their text is not read as markup.
fn is_leaf(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "source"
            | "track"
            | "wbr"
            | "script"
            | "style"
            | "textarea"
            | "title"
            | "xmp"
            | "iframe"
            | "noembed"
            | "noframes"
            | "plaintext"
    )
}

/// Elements that the tree builder opens again in every block (HTML, "list of active formatting
/// elements").
fn is_formatting(name: &str) -> bool {
    matches!(
        name,
        "a" | "b"
            | "big"
            | "code"
            | "em"
            | "font"
            | "i"
            | "nobr"
            | "s"
            | "small"
            | "strike"
            | "strong"
            | "tt"
            | "u"
    )
}

/// Elements that end SVG and MathML around them (HTML §13.2.6.5).
fn is_breakout(name: &str) -> bool {
    is_formatting(name) && !matches!(name, "a" | "font")
        || matches!(
            name,
            "blockquote"
                | "body"
                | "br"
                | "center"
                | "dd"
                | "div"
                | "dl"
                | "dt"
                | "embed"
                | "h1"
                | "h2"
                | "h3"
                | "h4"
                | "h5"
                | "h6"
                | "head"
                | "hr"
                | "img"
                | "li"
                | "listing"
                | "menu"
                | "meta"
                | "ol"
                | "p"
                | "pre"
                | "ruby"
                | "span"
                | "sub"
                | "sup"
                | "table"
                | "ul"
                | "var"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ParseLimits = ParseLimits { max_depth: 512, max_nodes: 200_000 };

    fn deepest(tree: &Tree) -> u32 {
        tree.descendants(NodeId::DOCUMENT).map(|id| tree.depth(id)).max().unwrap_or(0)
    }

    #[track_caller]
    fn check_bounded(html: &str) {
        let (tree, flags) = parse(html, LIMITS);
        // Elements that the builder implies or opens again come on top of those let through.
        assert!(deepest(&tree) <= 2 * LIMITS.max_depth, "{}", deepest(&tree));
        assert!(tree.len() <= LIMITS.max_nodes + 200, "{}", tree.len());
        assert!(!flags.is_empty());
    }

    #[test]
    fn hostile_shapes_stay_within_the_limits() {
        check_bounded(&"<div>".repeat(50_000));
        check_bounded(&"<div></x>".repeat(50_000));
        check_bounded(&"<ul><li>".repeat(50_000));
        check_bounded(&"<b>".repeat(50_000));
        check_bounded(&"<table><tr><td>".repeat(20_000));
        let fonts = (0..5_000).fold(String::new(), |fonts, n| fonts + &format!("<font a{n}=1>"));
        check_bounded(&format!("{fonts}{}", "<p>x".repeat(50_000)));
        check_bounded(&"<svg><g>".repeat(50_000));
    }

    #[test]
    fn text_below_the_depth_limit_is_kept() {
        let (tree, flags) = parse(&format!("{}deep", "<div>".repeat(2_000)), LIMITS);
        assert_eq!(tree.text_content(NodeId::DOCUMENT), "deep");
        assert_eq!(flags, [PageFlag::DepthCut]);
    }

    #[test]
    fn a_page_within_the_limits_is_not_flagged() {
        let (tree, flags) = parse("<p>a<b>b</b><template><i>c</i></template>", LIMITS);
        assert_eq!(tree.text_content(NodeId::DOCUMENT), "abc");
        assert!(flags.is_empty());
    }

    #[test]
    fn siblings_without_end_tags_are_not_deep() {
        let (tree, flags) = parse(&"<p>a<li>b<option>c<td>d".repeat(5_000), LIMITS);
        assert!(flags.is_empty(), "{flags:?} {}", deepest(&tree));
    }
}
