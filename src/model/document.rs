//! A page as its reader sees it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use super::{Ledger, PageType, Quality, Ratio, Sketch, WebUrl};

/// Markdown (CommonMark 0.31 with GFM tables, strikethrough and task items).
///
/// # Invariants
///
/// - LF alone ends a line; there is no NUL; the text is in Unicode normalization form C.
/// - It is empty or ends with exactly one LF, and does not begin with one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Markdown(String);

impl Markdown {
    /// Brings `text` into the form that the invariants state.
    pub fn new<'a>(text: impl Into<Cow<'a, str>>) -> Self {
        let mut clean = text.into();
        if clean.contains(['\r', '\0']) {
            clean = clean.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "").into();
        }
        if !is_normalized(&clean) {
            clean = clean.nfc().collect::<String>().into();
        }
        let mut text = clean.into_owned();
        text.truncate(text.trim_end().len());
        let body = text.trim_start_matches('\n').len();
        text.drain(..text.len() - body);
        if !text.is_empty() {
            text.push('\n');
        }
        Self(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Gives the text away.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether `text` is certainly in normalization form C. Nothing composes across a line end, and
/// most lines are ASCII.
fn is_normalized(text: &str) -> bool {
    let is_line_normalized =
        |line: &str| line.is_ascii() || is_nfc_quick(line.chars()) == IsNormalized::Yes;
    text.is_ascii() || text.split('\n').all(is_line_normalized)
}

impl fmt::Display for Markdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a page says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// The title, from the page's main heading or its `title` element.
    pub title: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// The name of the site.
    pub site_name: Option<String>,
    /// What it is about, by its own word.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// The address of the image that stands for it.
    #[serde(default)]
    pub image: Option<String>,
    /// The names of the pages above it, the outermost first.
    #[serde(default)]
    pub breadcrumbs: Vec<String>,
    /// When it was published, as the page writes it.
    pub published_at: Option<String>,
    /// When it was last changed, as the page writes it.
    pub modified_at: Option<String>,
    /// The address that the page calls its own.
    pub canonical_url: Option<String>,
    /// The language of the text: an ISO 639-1 or 639-3 code.
    pub lang: Option<String>,
    /// How sure it is that the text is in it; `None` where only the page says so.
    #[serde(default)]
    pub lang_confidence: Option<Ratio>,
    /// What kind of page it is, where the main content was looked for.
    pub page_type: Option<PageType>,
    /// Where each fact comes from, by the name of its column.
    #[serde(default)]
    pub sources: BTreeMap<String, FactSource>,
}

codes! {
    /// Where a page states a fact about itself.
    FactSource {
        /// In JSON-LD.
        JsonLd = "json-ld",
        /// In Open Graph properties or their like.
        OpenGraph = "open-graph",
        /// In Dublin Core properties.
        DublinCore = "dublin-core",
        /// In another `meta` element.
        Meta = "meta",
        /// In microdata.
        Microdata = "microdata",
        /// In an element of the page itself.
        Element = "element",
        /// In its address.
        Address = "address",
    }
}

/// A heading that stands in a document's Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// The fragment that leads to it.
    pub anchor: Option<String>,
}

/// A limit that cut a page, or a fact about it that a reader should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageFlag {
    /// Nesting beyond `extract.max_depth` was flattened.
    DepthCut,
    /// Elements beyond `extract.max_nodes` were not read.
    NodesCut,
    /// Source beyond `extract.max_source_chars` was not read.
    SourceCut,
    /// Markdown beyond `extract.max_markdown_chars` was not kept.
    MarkdownCut,
    /// Links beyond `extract.max_links` were not followed.
    LinksCut,
    /// The charset is a guess.
    CharsetGuessed,
    /// Main content was not found; the whole page is kept.
    WholePage,
    /// Its chunks are those of an earlier visit: this one could not confirm or replace them.
    Stale,
    /// The site refuses the text's use as the input of a model.
    AiInputRefused,
    /// The site refuses the text's use in a search index.
    SearchRefused,
    /// The site refuses the text's use to train a model.
    AiTrainRefused,
}

impl PageFlag {
    /// The word in the `flags` column.
    pub fn name(self) -> &'static str {
        match self {
            Self::DepthCut => "depth_cut",
            Self::NodesCut => "nodes_cut",
            Self::SourceCut => "source_cut",
            Self::MarkdownCut => "markdown_cut",
            Self::LinksCut => "links_cut",
            Self::CharsetGuessed => "charset_guessed",
            Self::WholePage => "whole_page",
            Self::Stale => "stale",
            Self::AiInputRefused => "ai_input_refused",
            Self::SearchRefused => "search_refused",
            Self::AiTrainRefused => "ai_train_refused",
        }
    }

    /// Whether text of the page may be missing.
    pub fn is_partial(self) -> bool {
        matches!(self, Self::NodesCut | Self::SourceCut | Self::MarkdownCut)
    }
}

/// A page as its reader sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// What the page says about itself.
    pub metadata: Metadata,
    /// The main content.
    pub markdown: Markdown,
    /// What its text is like, once it was measured.
    pub quality: Option<Quality>,
    /// By which texts like it are found, once it was measured.
    pub sketch: Option<Sketch>,
    /// The headings in `markdown`, in order.
    pub headings: Vec<Heading>,
    /// Addresses that the page links to, each once, in page order.
    pub outlinks: Vec<WebUrl>,
    /// Feeds that the page names as its own, in page order.
    pub feeds: Vec<WebUrl>,
    /// Where the page sends its reader at once.
    pub redirect: Option<WebUrl>,
    /// Name and content of `meta` elements that may speak to robots.
    pub robots: Vec<(String, String)>,
    /// What was removed on the way.
    pub ledger: Ledger,
    /// Limits that cut the page, in order of their names.
    pub flags: Vec<PageFlag>,
    /// Characters of the source.
    pub original_html_chars: u64,
    /// Characters of the Markdown before cleaning.
    pub initial_markdown_chars: u64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn markdown_has_one_form(text in "[a\r\n\0 é\u{65}\u{301}]{0,40}") {
            let markdown = Markdown::new(&text);
            prop_assert!(!markdown.as_str().contains(['\r', '\0']));
            prop_assert!(markdown.is_empty() || markdown.as_str().ends_with('\n'));
            prop_assert!(!markdown.as_str().ends_with("\n\n"));
            prop_assert_eq!(&Markdown::new(markdown.as_str()), &markdown);
        }
    }
}
