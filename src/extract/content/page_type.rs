//! A guess at what kind of page it is, from what the page says of itself, its address and its
//! shape. The guess decides which evidence the choice of main content trusts; it never decides
//! alone.

use super::measure::{Facts, Page};
use super::names::Kind;
use crate::extract::linked_data::LinkedData;
use crate::extract::tree::{NodeId, Tree};
use crate::model::{PageType, WebUrl};

/// A kind of page, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::extract) enum Guess {
    /// One text with a beginning and an end.
    Article,
    /// Called an article by its head alone, as content management systems call every page.
    Page,
    /// A manual or reference.
    Documentation,
    /// A discussion, a question with its answers.
    Forum,
    /// One thing for sale.
    Product,
    /// Teasers of other pages, or things for sale.
    Listing,
    /// Anything else: home pages, services, forms.
    Other,
}

impl Guess {
    /// The page's type, as it is published.
    pub(super) fn page_type(self, url: Option<&WebUrl>) -> PageType {
        match self {
            Self::Article => PageType::Article,
            Self::Documentation => PageType::Documentation,
            Self::Forum => PageType::Forum,
            Self::Product => PageType::Product,
            Self::Page | Self::Listing | Self::Other if Address::read(url).is_root() => {
                PageType::Home
            }
            Self::Listing => PageType::Listing,
            Self::Page | Self::Other => PageType::Other,
        }
    }

    /// What the page's data and address state, where they do.
    pub(super) fn stated(page: &Page<'_>, url: Option<&WebUrl>, data: &LinkedData) -> Option<Self> {
        let head = Head::read(page.tree);
        let address = Address::read(url);
        if data.is_any(&["DiscussionForumPosting", "QAPage"])
            || is_software(&head.generator, FORUM_SOFTWARE)
            || address.is_forum()
        {
            return Some(Self::Forum);
        }
        let products = data.count("Product") + data.count("ProductGroup");
        let is_for_sale =
            products > 0 || head.kind.starts_with("product") || head.kind.starts_with("og:product");
        let is_group = data.is_any(&["CollectionPage", "ItemList", "SearchResultsPage"])
            || head.kind == "product.group"
            || products > 3
            || address.is_listing();
        if is_for_sale && !is_group {
            return Some(Self::Product);
        }
        if address.is_documentation()
            || is_software(&head.generator, DOCUMENTATION_SOFTWARE)
            || data.is_any(&["TechArticle", "APIReference"])
        {
            return Some(Self::Documentation);
        }
        let is_stated = data.is_any(&[
            "Article",
            "NewsArticle",
            "BlogPosting",
            "ReportageNewsArticle",
            "OpinionNewsArticle",
            "Report",
            "ScholarlyArticle",
            "LiveBlogPosting",
        ]);
        if is_group && !is_stated {
            return Some(Self::Listing);
        }
        if is_stated || head.is_dated && head.kind == "article" {
            return Some(Self::Article);
        }
        if (head.is_dated || head.kind == "article") && !address.is_root() {
            return Some(Self::Page);
        }
        if address.is_root() {
            return Some(Self::Other);
        }
        None
    }
}

/// Most sentences, and most commas, of a page around its comments where these are what it is for.
const MAX_FRAME_SENTENCES: u32 = 8;

/// Whether the page is a discussion and nothing else: more than half of its text stands in
/// elements named as comments, and next to no prose outside of them.
pub(super) fn is_thread(page: &Page<'_>) -> bool {
    let measures = page.measure(&vec![None; page.tree.len()]);
    let whole = measures.of(page.body);
    let mut comments = Facts::default();
    let mut end = 0;
    for node in &page.order {
        if page.start(*node) >= end && page.naming(*node).whole == Some(Kind::Comments) {
            comments.add(&measures.of(*node));
            end = page.end(*node);
        }
    }
    comments.plain() * 2 > whole.plain()
        && whole.sentences - comments.sentences < MAX_FRAME_SENTENCES
        && whole.commas - comments.commas < MAX_FRAME_SENTENCES
}

/// What the page's shape says: `all` is what it holds, `article` what reads as one text.
pub(super) fn by_shape(all: Facts, article: Facts) -> Guess {
    if all.codes > 4 && all.linked * 2 < all.text {
        Guess::Documentation
    } else if article.text > 600
        && article.sentences > 4
        && article.link_density() < 0.2
        && article.text * 4 > all.plain()
    {
        Guess::Article
    } else if all.links > 40 && all.linked * 2 > all.text {
        Guess::Listing
    } else {
        Guess::Other
    }
}

/// Forum software, as `generator` names it.
const FORUM_SOFTWARE: &[&str] = &[
    "discourse",
    "phpbb",
    "vbulletin",
    "xenforo",
    "mybb",
    "invision",
    "flarum",
    "nodebb",
    "smf",
    "vanilla",
];

/// Software that makes manuals.
const DOCUMENTATION_SOFTWARE: &[&str] = &[
    "sphinx",
    "mkdocs",
    "docusaurus",
    "vitepress",
    "vuepress",
    "gitbook",
    "mdbook",
    "rustdoc",
    "javadoc",
    "doxygen",
    "docfx",
    "antora",
    "jekyll-docs",
    "readme",
    "mediawiki",
    "dokuwiki",
    "starlight",
    "nextra",
    "asciidoctor",
    "docbook",
];

fn is_software(generator: &str, known: &[&str]) -> bool {
    let first = generator.split([' ', '/', '-']).next().unwrap_or_default();
    known.contains(&first)
}

/// What the page's head says.
#[derive(Default)]
struct Head {
    generator: String,
    kind: String,
    is_dated: bool,
}

impl Head {
    fn read(tree: &Tree) -> Self {
        let mut head = Self::default();
        for node in tree.descendants(NodeId::DOCUMENT).filter(|node| tree.tag(*node) == "meta") {
            let name = tree
                .attribute(node, "property")
                .or_else(|| tree.attribute(node, "name"))
                .unwrap_or_default();
            let content = tree.attribute(node, "content").unwrap_or_default();
            match name.to_ascii_lowercase().as_str() {
                "generator" => head.generator = content.trim().to_ascii_lowercase(),
                "og:type" => head.kind = content.trim().to_ascii_lowercase(),
                "article:published_time" => head.is_dated = true,
                _ => {}
            }
        }
        head
    }
}

/// The words of an address.
#[derive(Default)]
struct Address {
    host: Vec<String>,
    path: Vec<String>,
    query: String,
}

impl Address {
    fn read(url: Option<&WebUrl>) -> Self {
        let Some(url) = url.map(WebUrl::as_url) else { return Self::default() };
        let lower = |text: &str| text.to_ascii_lowercase();
        Self {
            host: url.host_str().unwrap_or_default().split('.').map(lower).collect(),
            path: url.path().split('/').filter(|part| !part.is_empty()).map(lower).collect(),
            query: lower(url.query().unwrap_or_default()),
        }
    }

    fn is_root(&self) -> bool {
        !self.host.is_empty() && self.path.is_empty() && self.query.is_empty()
    }

    fn has(&self, words: &[&str]) -> bool {
        self.path.iter().any(|part| words.contains(&part.split('.').next().unwrap_or_default()))
    }

    fn has_host(&self, words: &[&str]) -> bool {
        self.host.iter().any(|part| words.contains(&part.as_str()))
    }

    fn is_forum(&self) -> bool {
        self.has_host(&[
            "forum",
            "forums",
            "discuss",
            "discourse",
            "boards",
            "answers",
            "community",
        ]) && !self.path.is_empty()
            || self.host.iter().any(|part| part.ends_with("forum") || part.ends_with("forums"))
                && !self.path.is_empty()
            || self.has(&[
                "forum",
                "forums",
                "thread",
                "threads",
                "viewtopic",
                "showthread",
                "questions",
                "discussion",
                "discussions",
                "t",
                "talk",
                "board",
            ]) && self.path.len() > 1
            || self.has(&["topic"])
                && self.path.iter().any(|part| part.starts_with(|c: char| c.is_ascii_digit()))
            || self.has(&["viewtopic", "showthread"])
            || self.has(&["item"]) && self.query.starts_with("id=")
            || self.has(&["comments"]) && self.has(&["r"])
    }

    fn is_documentation(&self) -> bool {
        self.has_host(&[
            "docs",
            "doc",
            "readthedocs",
            "developer",
            "developers",
            "wiki",
            "manual",
            "devdocs",
            "api",
            "learn",
        ]) || self.has(&[
            "docs",
            "doc",
            "documentation",
            "reference",
            "manual",
            "wiki",
            "api",
            "handbook",
            "man",
        ]) || self.host.iter().any(|part| part.ends_with("docs"))
    }

    fn is_listing(&self) -> bool {
        self.has(&[
            "category",
            "categories",
            "tag",
            "tags",
            "collections",
            "collection",
            "c",
            "cat",
            "search",
            "archive",
            "browse",
            "topic",
            "topics",
            "shop",
        ]) && !self.has(&["products", "product", "p", "dp"])
    }
}
