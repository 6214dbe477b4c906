//! HTML to the Markdown of what its reader came for.
//!
//! In: a page's text and its address. Out: a [`Document`]: main content as Markdown, metadata,
//! outlinks in page order, and the ledger of all that was left out.
//!
//! The way: `parse` builds a tree behind guards, `content` marks what is boilerplate,
//! `walk` turns what remains into a flat sequence of blocks, and `write` writes that as
//! Markdown. Promises, for every input:
//!
//! - Time and memory are linear in the source, and nothing recurses.
//! - No text vanishes but by a rule that stands in the ledger with what it removed.
//! - The same source and options give the same document: there is no clock and no chance.
//!
//! What it does not do: it fetches nothing, neither scripts nor style sheets, and runs nothing.

mod addresses;
mod blocks;
mod breadcrumbs;
mod button;
mod code;
mod content;
mod delimiter;
mod doctype;
mod escape;
mod hidden;
mod index;
mod inlines;
mod linked_data;
mod links;
mod math;
mod media;
mod meta;
mod metadata;
mod noscript;
mod parse;
mod piece;
mod plain;
mod raw_text;
mod reference;
mod render;
mod run;
mod select;
mod sheet;
mod sink;
mod syntax;
mod table;
mod tokens;
mod tree;
mod unseen;
mod unveil;
mod walk;
mod write;

use serde::{Deserialize, Serialize};

use self::addresses::Addresses;
use self::index::Index;
use self::parse::ParseLimits;
use self::tree::NodeId;
use self::walk::PageView;
use self::write::Writer;
use crate::model::{Document, FactSource, Ledger, Markdown, Metadata, PageFlag, WebUrl};

/// What is kept of a page, and the limits within which it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExtractOptions {
    /// `auto` looks for the main content, `off` keeps the whole page; anything else is a CSS
    /// selector for the elements to keep.
    pub main_content: String,
    /// CSS selectors of elements that stay, with all in them, whatever `main_content` says. One
    /// that the page hides is shown.
    pub keep: Vec<String>,
    /// CSS selectors of elements that always go, also from what `keep` holds.
    pub drop: Vec<String>,
    /// Whether links keep their addresses.
    pub links: bool,
    /// What is kept of images.
    pub images: ImageMode,
    /// What becomes of text that the page hides from its readers.
    pub hidden: HiddenMode,
    /// Deepest nesting of elements. Text below is kept flat and the page is flagged `depth_cut`.
    pub max_depth: u32,
    /// Most elements and texts of a page; the rest is not read and flagged `nodes_cut`.
    pub max_nodes: usize,
    /// Most characters of a source; the rest is not read and flagged `source_cut`.
    pub max_source_chars: usize,
    /// Most characters of Markdown; the rest is not kept and flagged `markdown_cut`.
    pub max_markdown_chars: usize,
    /// Most links followed from a page; the rest is flagged `links_cut`.
    pub max_links: usize,
}

impl Default for ExtractOptions {
    fn default() -> Self {
        Self {
            main_content: "auto".to_owned(),
            keep: Vec::new(),
            drop: Vec::new(),
            links: true,
            images: ImageMode::Url,
            hidden: HiddenMode::Remove,
            max_depth: 512,
            max_nodes: 2_000_000,
            max_source_chars: 10_000_000,
            max_markdown_chars: 2_000_000,
            max_links: 10_000,
        }
    }
}

impl ExtractOptions {
    /// Checks what a type cannot: that every selector is one.
    ///
    /// # Errors
    ///
    /// Fails with what is wrong with the selector.
    pub fn check(&self) -> Result<(), ExtractError> {
        let own = Some(&self.main_content).filter(|own| !matches!(own.as_str(), "auto" | "off"));
        own.into_iter().chain(&self.keep).chain(&self.drop).try_for_each(|s| select::check(s))
    }
}

/// What is kept of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageMode {
    /// Alternative text and address.
    Url,
    /// Alternative text.
    Alt,
    /// Nothing.
    None,
}

/// What becomes of text that an attribute or an inline style hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HiddenMode {
    /// It is left out, and counted.
    Remove,
    /// It is kept as if it were shown.
    Keep,
}

/// Why nothing could be extracted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// The configured selector is not one.
    #[error("`{0}` is not a CSS selector")]
    Selector(String),
}

/// A page to be extracted.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The page's text.
    pub text: &'a str,
    /// Its address, against which links are read; without one they stay as they are written.
    pub url: Option<&'a WebUrl>,
    /// What kind of text it is.
    pub format: SourceFormat,
}

/// A kind of text that can be extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceFormat {
    /// HTML or XHTML.
    Html,
    /// Plain text.
    Plain,
    /// Markdown.
    Markdown,
}

/// Extracts the document that `source` is. `ledger` takes what is left out.
///
/// # Errors
///
/// Fails where `options.main_content` is a selector that cannot be parsed.
pub fn extract(
    source: Source<'_>,
    options: &ExtractOptions,
    mut ledger: Ledger,
) -> Result<Document, ExtractError> {
    let original_html_chars = source.text.chars().count() as u64;
    let (text, is_cut) = cut_chars(source.text, options.max_source_chars);
    let mut document = match source.format {
        SourceFormat::Html => extract_html(text, source.url, options, ledger)?,
        SourceFormat::Plain => {
            let shown = unseen::shown(text, &mut ledger);
            plain::document(&plain::markdown(shown.as_deref().unwrap_or(text)), ledger)
        }
        SourceFormat::Markdown => {
            let shown = unseen::shown(text, &mut ledger);
            plain::document(shown.as_deref().unwrap_or(text), ledger)
        }
    };
    document.original_html_chars = original_html_chars;
    if is_cut {
        document.flags.push(PageFlag::SourceCut);
    }
    cut_markdown(&mut document, options.max_markdown_chars);
    document.initial_markdown_chars = document.markdown.as_str().chars().count() as u64;
    document.flags.sort();
    Ok(document)
}

fn extract_html(
    html: &str,
    url: Option<&WebUrl>,
    options: &ExtractOptions,
    mut ledger: Ledger,
) -> Result<Document, ExtractError> {
    let limits = ParseLimits { max_depth: options.max_depth, max_nodes: options.max_nodes };
    let (mut tree, mut flags) = parse::parse(html, limits);
    let index = Index::of(&tree);
    match options.hidden {
        HiddenMode::Remove => {
            sheet::apply(&mut tree, &index);
            unveil::unfold(&mut tree, &index);
            unveil::unveil(&mut tree);
        }
        HiddenMode::Keep => unveil::unveil_all(&mut tree),
    }
    let addresses = Addresses::new(&tree, &index, url, options);
    let (outlinks, links_cut) = links::outlinks(&tree, &index, &addresses, options.max_links);
    flags.extend(links_cut.then_some(PageFlag::LinksCut));
    let data = linked_data::LinkedData::read(&tree, &index);
    let mut metadata = metadata::read(&tree, &index, &addresses, &data);
    let picks = select::Picks::find(&tree, options)?;
    picks.keep.iter().for_each(|node| unveil::show(&mut tree, *node));
    let mut selection = match options.main_content.as_str() {
        "auto" => {
            let stated = metadata.canonical_url.as_deref().and_then(|url| WebUrl::parse(url).ok());
            content::select(&tree, url.or(stated.as_ref()), &data, metadata.title.as_deref())
        }
        "off" => content::Selection::default(),
        selector => select::select(&tree, selector)?,
    };
    picks.apply(&tree, &mut selection.removed);
    flags.extend(selection.is_whole.then_some(PageFlag::WholePage));
    let view = PageView {
        tree: &tree,
        removed: &selection.removed,
        captioned: &selection.captioned,
        addresses: &addresses,
        images: options.images,
    };
    let mut writer = Writer::default();
    walk::walk(&view, NodeId::DOCUMENT, &mut ledger, &mut writer);
    let (markdown, headings) = writer.finish();
    metadata.page_type = selection.page_type;
    complete(&mut metadata, &markdown, &mut ledger);
    Ok(Document {
        metadata,
        markdown: Markdown::new(markdown),
        headings,
        redirect: links::redirect(&tree, &index, &addresses),
        outlinks,
        feeds: links::feeds(&tree, &index, &addresses),
        robots: metadata::robots(&tree, &index),
        ledger,
        flags,
        ..Document::default()
    })
}

/// Makes readable what `metadata` says, and names a page without a title by its first heading.
fn complete(metadata: &mut Metadata, markdown: &str, ledger: &mut Ledger) {
    for text in [&mut metadata.title, &mut metadata.description].into_iter().flatten() {
        if let Some(shown) = unseen::shown(text, ledger) {
            *text = shown;
        }
    }
    if metadata.title.is_none() {
        metadata.title = first_heading(markdown);
        if metadata.title.is_some() {
            metadata.sources.insert("title".to_owned(), FactSource::Element);
        }
    }
}

fn first_heading(markdown: &str) -> Option<String> {
    let line = markdown.lines().find_map(|line| line.strip_prefix("# "))?;
    Some(line.replace('\\', ""))
}

/// The first `max` characters of `text`, and whether that cuts it.
fn cut_chars(text: &str, max: usize) -> (&str, bool) {
    if text.len() <= max {
        return (text, false);
    }
    match text.char_indices().nth(max) {
        Some((at, _)) => (text.get(..at).unwrap_or(text), true),
        None => (text, false),
    }
}

/// Cuts Markdown before the block that goes beyond `max` characters. A line that is longer than
/// that by itself is left out alone: it is data, not the end of the page.
fn cut_markdown(document: &mut Document, max: usize) {
    let markdown = document.markdown.as_str();
    if !cut_chars(markdown, max).1 {
        return;
    }
    let mut kept = String::new();
    let (mut chars, mut at) = (0, 0);
    for block in markdown.split_inclusive("\n\n") {
        let length = block.trim_end().chars().count();
        if length > max && is_line(block) {
            document.ledger.remove("extract.markdown_cut", block);
        } else if chars + length > max {
            break;
        } else {
            kept.push_str(block);
            chars += block.chars().count();
        }
        at += block.len();
    }
    document.ledger.remove("extract.markdown_cut", markdown.get(at..).unwrap_or_default());
    document.markdown = Markdown::new(&kept);
    document.flags.push(PageFlag::MarkdownCut);
}

/// Whether a block is one line of text.
fn is_line(block: &str) -> bool {
    !block.trim_end().contains('\n') && !block.starts_with(['`', '~'])
}

#[cfg(test)]
mod tests;
