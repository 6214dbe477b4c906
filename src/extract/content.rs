//! Main content: which elements are what the reader came for, and which are boilerplate.
//!
//! The rules, in order; each removal stands in the ledger under its rule's name:
//!
//! 1. The root is the `main` element, else the `article` that holds most of the page's text, else
//!    the body. What stands outside is `content.outside_main`.
//! 2. Inside it landmarks go: navigation, search, the site's header and footer, dialogs, and
//!    asides that stand beside the content.
//! 3. Elements go whose class or id says, as a whole word, that they are boilerplate.
//! 4. Lists that are links and nothing else go.
//!
//! No rule of 2 to 4 removes an element that holds more than half of the root's text or its main
//! heading, and where all of them together would leave less than a tenth, the page stays whole.

use super::hidden::hidden_by;
use super::tree::{NodeId, Step, Tree};

/// What is kept of a page.
pub(super) struct Selection {
    /// By node: the rule that removes it, with all in it.
    pub(super) removed: Vec<Option<&'static str>>,
    /// Whether no main content was found although it was looked for.
    pub(super) is_whole: bool,
}

impl Selection {
    /// Keeps `kept` with all in and above them, and removes the rest by `rule`. Where `kept` is
    /// empty, everything is kept.
    pub(super) fn keeping(tree: &Tree, kept: &[NodeId], rule: &'static str) -> Self {
        let mut selection = whole_page(tree);
        selection.is_whole = kept.is_empty();
        if kept.is_empty() {
            return selection;
        }
        let mut is_kept = vec![false; tree.len()];
        let mut is_above = vec![false; tree.len()];
        for node in kept {
            mark(&mut is_kept, *node);
            for above in tree.ancestors(*node) {
                if is_above.get(above.index()) == Some(&true) {
                    break;
                }
                mark(&mut is_above, above);
            }
        }
        let mut step = Some(Step::Enter(NodeId::DOCUMENT));
        while let Some(now) = step {
            step = tree.after(now, NodeId::DOCUMENT);
            let Step::Enter(node) = now else { continue };
            if is_kept.get(node.index()) == Some(&true) {
                step = tree.after(Step::Leave(node), NodeId::DOCUMENT);
            } else if is_above.get(node.index()) != Some(&true) {
                selection.remove(node, rule);
                step = tree.after(Step::Leave(node), NodeId::DOCUMENT);
            }
        }
        selection
    }

    fn remove(&mut self, node: NodeId, rule: &'static str) {
        if let Some(slot) = self.removed.get_mut(node.index()) {
            slot.get_or_insert(rule);
        }
    }
}

fn mark(marks: &mut [bool], node: NodeId) {
    if let Some(slot) = marks.get_mut(node.index()) {
        *slot = true;
    }
}

/// Keeps everything.
pub(super) fn whole_page(tree: &Tree) -> Selection {
    Selection { removed: vec![None; tree.len()], is_whole: false }
}

/// Looks for the main content.
pub(super) fn select(tree: &Tree) -> Selection {
    let sizes = Sizes::measure(tree);
    let Some(body) = tree.descendants(NodeId::DOCUMENT).find(|n| tree.tag(*n) == "body") else {
        return whole_page(tree);
    };
    let root = main_root(tree, &sizes, body);
    let mut selection = Selection::keeping(tree, &[root], "content.outside_main");
    let total = sizes.of(root).text;
    let mut left = total;
    let mut step = Some(Step::Enter(root));
    while let Some(now) = step {
        step = tree.after(now, root);
        let Step::Enter(node) = now else { continue };
        if node == root {
            continue;
        }
        let Some(rule) = boilerplate(tree, &sizes, node) else { continue };
        let size = sizes.of(node);
        if size.text * 2 > total || size.has_main_heading {
            continue;
        }
        left -= size.text.min(left);
        selection.remove(node, rule);
        step = tree.after(Step::Leave(node), root);
    }
    if left * 10 < total {
        let mut whole = whole_page(tree);
        whole.is_whole = true;
        return whole;
    }
    selection
}

/// What a subtree holds.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    /// Characters of visible text, without white space.
    text: usize,
    /// Those of them that are in links.
    linked: usize,
    links: usize,
    has_main_heading: bool,
    has_code_or_table: bool,
}

struct Sizes(Vec<Size>);

impl Sizes {
    fn of(&self, node: NodeId) -> Size {
        self.0.get(node.index()).copied().unwrap_or_default()
    }

    /// Measures every subtree in one walk.
    fn measure(tree: &Tree) -> Self {
        let mut sizes = vec![Size::default(); tree.len()];
        let mut link_depth = 0_usize;
        let mut step = Some(Step::Enter(NodeId::DOCUMENT));
        while let Some(now) = step {
            step = tree.after(now, NodeId::DOCUMENT);
            match now {
                Step::Enter(node) if hidden_by(tree, node).is_some() => {
                    step = tree.after(Step::Leave(node), NodeId::DOCUMENT);
                }
                Step::Enter(node) => {
                    link_depth += usize::from(tree.tag(node) == "a");
                    if let (Some(size), Some(text)) = (sizes.get_mut(node.index()), tree.text(node)) {
                        size.text = text.chars().filter(|c| !c.is_whitespace()).count();
                        size.linked = if link_depth > 0 { size.text } else { 0 };
                    }
                }
                Step::Leave(node) => {
                    let tag = tree.tag(node);
                    link_depth -= usize::from(tag == "a" && link_depth > 0);
                    let own = sizes.get(node.index()).copied().unwrap_or_default();
                    let parent = tree.parent(node).and_then(|parent| sizes.get_mut(parent.index()));
                    let Some(above) = parent else { continue };
                    above.text += own.text;
                    above.linked += own.linked;
                    above.links += own.links + usize::from(tag == "a");
                    above.has_main_heading |= own.has_main_heading || tag == "h1";
                    above.has_code_or_table |= own.has_code_or_table || matches!(tag, "pre" | "th");
                }
            }
        }
        Self(sizes)
    }
}

/// Where the main content is.
fn main_root(tree: &Tree, sizes: &Sizes, body: NodeId) -> NodeId {
    let total = sizes.of(body).text;
    let largest = |is_wanted: &dyn Fn(NodeId) -> bool| {
        tree.descendants(body).filter(|n| is_wanted(*n)).max_by_key(|n| (sizes.of(*n).text, std::cmp::Reverse(*n)))
    };
    let main = largest(&|n| tree.tag(n) == "main" || tree.attribute(n, "role") == Some("main"));
    if let Some(main) = main.filter(|n| sizes.of(*n).text * 5 > total) {
        return main;
    }
    let article = largest(&|n| {
        tree.tag(n) == "article" || tree.attribute(n, "itemprop") == Some("articleBody")
    });
    article.filter(|n| sizes.of(*n).text * 2 > total).unwrap_or(body)
}

fn boilerplate(tree: &Tree, sizes: &Sizes, node: NodeId) -> Option<&'static str> {
    let element = tree.element(node).filter(|element| element.is_html())?;
    let tag = element.tag();
    landmark(tree, node, tag, element.attribute("role"))
        .or_else(|| by_name(tag, element.attribute("class"), element.attribute("id")))
        .or_else(|| link_list(tag, sizes.of(node)))
}

fn landmark(tree: &Tree, node: NodeId, tag: &str, role: Option<&str>) -> Option<&'static str> {
    let is_in_article = || {
        tree.ancestors(node).any(|above| matches!(tree.tag(above), "article" | "section" | "blockquote" | "figure"))
    };
    match role {
        Some("navigation" | "menubar" | "menu" | "toolbar") => return Some("content.navigation"),
        Some("search") => return Some("content.search"),
        Some("banner") => return Some("content.site_header"),
        Some("contentinfo") => return Some("content.site_footer"),
        Some("dialog" | "alertdialog") => return Some("content.dialog"),
        Some("complementary") if !is_in_article() => return Some("content.aside"),
        _ => {}
    }
    match tag {
        "nav" => Some("content.navigation"),
        "search" => Some("content.search"),
        "dialog" => Some("content.dialog"),
        "header" if !is_in_article() => Some("content.site_header"),
        "footer" if !is_in_article() => Some("content.site_footer"),
        "aside" if !is_in_article() => Some("content.aside"),
        _ => None,
    }
}

/// Class and id words that name boilerplate, each with its rule. A trailing `*` stands for any
/// end behind a hyphen or underscore, so that `has-sidebar` is no sidebar.
const NAMES: &[(&str, &[&str])] = &[
    ("content.navigation", &[
        "nav", "navbar", "navigation", "menu", "main-menu", "mainmenu", "topnav", "subnav",
        "breadcrumb*", "breadcrumbs*", "pagination*", "pager", "skip-link*", "skiplink", "toc",
        "table-of-contents", "sphinxsidebar", "related-pages", "site-nav", "navheader", "navfooter",
        "mw-jump-link", "page-nav",
    ]),
    ("content.site_header", &["site-header", "masthead", "topbar", "page-header-wrapper"]),
    ("content.site_footer", &["footer", "site-footer", "page-footer", "colophon"]),
    ("content.aside", &["sidebar", "side-bar", "widget*", "rail", "right-rail"]),
    ("content.consent", &["cookie*", "cookies*", "consent*", "gdpr*", "cc-window", "cookiebanner"]),
    ("content.sharing", &["share", "sharing", "share-*", "social*", "sharedaddy", "addtoany*"]),
    ("content.related", &["related", "related-*", "recommended*", "read-more-links", "outbrain*", "taboola*"]),
    ("content.newsletter", &["newsletter*", "subscribe*", "signup*", "mailing-list*"]),
    ("content.advertisement", &["ad", "ads", "advert*", "advertisement*", "sponsored*", "promo*"]),
];

fn by_name(tag: &str, class: Option<&str>, id: Option<&str>) -> Option<&'static str> {
    if !matches!(tag, "div" | "ul" | "ol" | "section" | "aside" | "table" | "p" | "form" | "span" | "footer" | "header") {
        return None;
    }
    let words = class.into_iter().chain(id).flat_map(str::split_ascii_whitespace);
    let words: Vec<String> = words.map(str::to_ascii_lowercase).collect();
    NAMES.iter().find(|(_, names)| words.iter().any(|word| names.iter().any(|name| is_named(word, name)))).map(|(rule, _)| *rule)
}

fn is_named(word: &str, name: &str) -> bool {
    match name.strip_suffix('*') {
        None => word == name,
        Some(start) => word.strip_prefix(start).is_some_and(|rest| {
            rest.is_empty() || start.ends_with('-') || rest.starts_with(['-', '_'])
        }),
    }
}

/// A list or block of short links with next to nothing between them.
fn link_list(tag: &str, size: Size) -> Option<&'static str> {
    let is_block = matches!(tag, "ul" | "ol" | "div" | "section" | "table" | "p");
    let is_links = size.links >= 4 && size.linked * 10 >= size.text * 9 && !size.has_code_or_table;
    let is_short = size.linked < size.links * 18;
    (is_block && is_links && is_short).then_some("content.link_list")
}
