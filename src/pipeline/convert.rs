//! One page through extraction, cleaning and chunking. Pure: no clock, no disk, no runtime.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::kind::{format, is_binary, is_list};
use crate::chunk::{ChunkInput, ChunkOptions, Tokenizer, chunk};
use crate::clean::{CleanOptions, clean};
use crate::config::{Config, HostPattern};
use crate::extract::{ExtractOptions, Source, extract};
use crate::fetch::charset::{decode_as, decode_text};
use crate::fetch::robots::{Preference, UsagePreferences};
use crate::fetch::{RobotsMode, UsagePolicy};
use crate::frontier::{SitemapLimits, parse_sitemap};
use crate::model::{
    BodyText, CharsetSource, Chunk, ChunkFlag, ContentCounts, ContentHash, DirectiveReader,
    Document, ErrorCode, Exclusion, Ledger, Metadata, PageError, PageFlag, PageOutcome, PageRecord,
    RobotsDirectives, Timestamp, Validators, WebUrl, document_id,
};
use crate::quality::{QualityOptions, assess};

/// A page as it came, from wherever.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PageInput {
    /// The page's key.
    pub url: String,
    /// The address that links are read against.
    pub base: Option<WebUrl>,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// The media type, lower case, without parameters.
    pub media_type: String,
    /// The charset that HTTP declares.
    pub charset: Option<String>,
    /// The body.
    #[serde(skip)]
    pub body: Vec<u8>,
    /// `X-Robots-Tag` fields.
    pub robots_tags: Vec<String>,
    /// What HTTP says is the page's own address.
    pub canonical: Option<WebUrl>,
    /// Pages that HTTP says the page leads to.
    pub links: Vec<WebUrl>,
    /// What the site says that the text may be used for.
    pub usage: UsagePreferences,
    /// Links between a seed and the page.
    pub depth: u32,
    /// The page that the address was found on.
    pub referrer: Option<String>,
    /// What to recognize the page by next time.
    pub validators: Validators,
    /// When it arrived.
    pub fetched_at: Timestamp,
    /// How long that took.
    pub elapsed_ms: u64,
    /// Times that it ended the program.
    pub crashes: u32,
}

impl PageInput {
    /// A page that is `body` alone.
    pub fn new(url: String, base: Option<WebUrl>, media_type: &str, body: Vec<u8>) -> Self {
        Self {
            url,
            base,
            status: None,
            media_type: media_type.to_owned(),
            charset: None,
            body,
            robots_tags: Vec::new(),
            canonical: None,
            links: Vec::new(),
            usage: UsagePreferences::default(),
            depth: 0,
            referrer: None,
            validators: Validators::default(),
            fetched_at: Timestamp::default(),
            elapsed_ms: 0,
            crashes: 0,
        }
    }

    /// The record of this page with `outcome`, and nothing of its content.
    pub fn record(&self, outcome: PageOutcome, run_id: &str) -> PageRecord {
        PageRecord {
            url: self.url.clone(),
            host: self.base.as_ref().map_or(String::new(), |base| base.host().to_owned()),
            final_url: self.base.as_ref().map_or_else(|| self.url.clone(), ToString::to_string),
            document_id: document_id(&self.url),
            outcome,
            status: self.status,
            content_type: (!self.media_type.is_empty()).then(|| self.media_type.clone()),
            charset: None,
            depth: self.depth,
            referrer: self.referrer.clone(),
            fetched_at: self.fetched_at,
            first_seen_at: self.fetched_at,
            changed_at: self.fetched_at,
            elapsed_ms: self.elapsed_ms,
            body_bytes: self.body.len() as u64,
            metadata: Metadata::default(),
            quality: None,
            sketch: None,
            near_duplicate_of: None,
            markdown: crate::model::Markdown::default(),
            counts: ContentCounts::default(),
            removed: Vec::new(),
            flags: Vec::new(),
            chunks: Vec::new(),
            content_hash: None,
            body_hash: None,
            validators: self.validators.clone(),
            version: 1,
            run_id: run_id.to_owned(),
            outlinks: Vec::new(),
        }
    }
}

/// A page after conversion.
#[derive(Debug)]
pub struct Converted {
    /// What is kept of it.
    pub record: PageRecord,
    /// The addresses that it leads to and lets robots follow.
    pub outlinks: Vec<WebUrl>,
    /// Where it sends its reader at once: a redirect in all but name.
    pub redirect: Option<WebUrl>,
    /// What was left out.
    pub ledger: Ledger,
}

impl Converted {
    /// A page of which nothing but its record is kept.
    pub(super) fn bare(record: PageRecord) -> Self {
        Self { record, outlinks: Vec::new(), redirect: None, ledger: Ledger::default() }
    }
}

/// Converts pages, each by itself.
#[derive(Clone, Debug)]
pub struct Converter {
    extract: ExtractOptions,
    sites: Vec<(HostPattern, ExtractOptions)>,
    clean: CleanOptions,
    quality: QualityOptions,
    /// How pages are cut, where they are.
    chunk: Option<ChunkOptions>,
    tokenizer: Tokenizer,
    robots: RobotsMode,
    product_token: String,
    usage_policy: UsagePolicy,
    discover_feeds: bool,
    charset: Option<String>,
    keeps_texts: bool,
}

impl Converter {
    /// A converter with the options of `config`.
    pub fn new(config: &Config) -> Self {
        Self {
            extract: config.extract.clone(),
            sites: config.sites().collect(),
            clean: config.clean,
            quality: config.quality.clone(),
            chunk: Some(config.chunk.clone()),
            tokenizer: config.tokenizer.clone(),
            robots: config.politeness.robots,
            usage_policy: config.politeness.usage_policy,
            discover_feeds: config.crawl.discover_feeds,
            product_token: config.politeness.product_token().to_owned(),
            charset: None,
            keeps_texts: false,
        }
    }

    /// Reads every page as `charset`, whatever it declares.
    #[must_use]
    pub fn with_charset(mut self, charset: Option<String>) -> Self {
        self.charset = charset;
        self
    }

    /// Takes pages that the user already has: `noindex` and its like address crawlers, and are
    /// only recorded.
    #[must_use]
    pub fn for_given_pages(mut self) -> Self {
        self.robots = RobotsMode::Ignore;
        self.usage_policy = UsagePolicy::Record;
        self
    }

    /// Leaves pages in one piece: for those who want no chunks.
    #[must_use]
    pub fn without_chunks(mut self) -> Self {
        self.chunk = None;
        self
    }

    /// Keeps removed texts in the ledger, so that one can be found.
    #[must_use]
    pub fn keeping_texts(mut self) -> Self {
        self.keeps_texts = true;
        self
    }

    /// Converts a page.
    pub fn convert(&self, input: &PageInput, run_id: &str) -> Converted {
        let Some(format) = format(&input.media_type) else {
            let outcome = PageOutcome::Excluded(Exclusion::MediaType);
            let outlinks = self.feed_links(input);
            return Converted { outlinks, ..Converted::bare(input.record(outcome, run_id)) };
        };
        let text = self.text(input);
        if is_binary(&text.text) {
            let message = format!("it is declared as {}, but is not text", input.media_type);
            let error = PageError::new(ErrorCode::ExtractBinary, message);
            return failed(input, error, run_id);
        }
        let ledger = if self.keeps_texts { Ledger::keeping_texts() } else { Ledger::default() };
        let source = Source { text: &text.text, url: input.base.as_ref(), format };
        let extracted = extract(source, self.extract_of(input), ledger);
        extracted.map_or_else(
            |error| {
                failed(input, PageError::new(ErrorCode::InternalPanic, error.to_string()), run_id)
            },
            |mut document| {
                clean(&mut document, self.clean);
                assess(&mut document);
                self.finish(input, document, &text, run_id)
            },
        )
    }

    /// What is kept of a page, by its host.
    fn extract_of(&self, input: &PageInput) -> &ExtractOptions {
        let host = input.base.as_ref().map_or("", WebUrl::host);
        let own = self.sites.iter().find(|(pattern, _)| pattern.matches(host));
        own.map_or(&self.extract, |(_, options)| options)
    }

    fn text(&self, input: &PageInput) -> BodyText {
        if let Some(charset) = &self.charset {
            return decode_as(&input.body, charset);
        }
        let domain = input.base.as_ref().and_then(|base| base.host().rsplit('.').next());
        decode_text(&input.body, input.charset.as_deref(), domain)
    }

    fn finish(
        &self,
        input: &PageInput,
        mut document: Document,
        text: &BodyText,
        run_id: &str,
    ) -> Converted {
        let asked = self.directives(input, &document);
        let refusals = self.refusals(input.usage);
        let is_refused = self.usage_policy == UsagePolicy::Respect
            && refusals.contains(&PageFlag::AiInputRefused);
        let exclusion = if asked.noindex {
            Some(Exclusion::Noindex)
        } else if is_refused {
            Some(Exclusion::UsageRefused)
        } else {
            self.quality.exclusion(&document)
        };
        let outcome = exclusion.map_or(PageOutcome::Collected, PageOutcome::Excluded);
        let is_collected = outcome == PageOutcome::Collected;
        let mut record = input.record(outcome, run_id);
        record.charset = Some(text.charset.to_owned());
        record.flags.clone_from(&document.flags);
        if text.source == CharsetSource::Detected && text.charset != "utf-8" {
            record.flags.push(PageFlag::CharsetGuessed);
        }
        record.flags.extend(refusals);
        record.removed = document.ledger.removals();
        record.counts = counts(&document);
        record.quality = document.quality.take();
        record.sketch = document.sketch.take().filter(|_| is_collected);
        record.body_hash = Some(ContentHash::of(&input.body));
        if is_collected {
            record.content_hash = Some(ContentHash::of(document.markdown.as_str().as_bytes()));
            record.chunks = self.chunks(&document, record.document_id);
            if record.is_partial() {
                record.chunks.iter_mut().for_each(|chunk| chunk.flags.push(ChunkFlag::PartialPage));
            }
            record.markdown = document.markdown;
        }
        record.metadata = document.metadata;
        if record.metadata.canonical_url.is_none() {
            let canonical = input.canonical.as_ref();
            record.metadata.canonical_url = canonical.map(|url| url.key().to_string());
        }
        let mut outlinks = document.outlinks;
        outlinks.extend_from_slice(&input.links);
        // The feeds that a start names are the site's; those of other pages tell of comments.
        if self.discover_feeds && input.depth == 0 {
            outlinks.extend(document.feeds);
        }
        if asked.nofollow {
            outlinks.clear();
        }
        let redirect = document.redirect.filter(|target| Some(target) != input.base.as_ref());
        Converted { record, outlinks, redirect, ledger: document.ledger }
    }

    fn chunks(&self, document: &Document, document_id: Uuid) -> Vec<Chunk> {
        let Some(options) = &self.chunk else { return Vec::new() };
        let input = ChunkInput {
            markdown: document.markdown.as_str(),
            title: document.metadata.title.as_deref(),
            headings: &document.headings,
            document_id,
        };
        chunk(input, options, &self.tokenizer)
    }

    /// The pages that a feed or a sitemap lists: neither is a page itself.
    fn feed_links(&self, input: &PageInput) -> Vec<WebUrl> {
        let Some(base) = input.base.as_ref().filter(|_| is_list(&input.media_type)) else {
            return Vec::new();
        };
        if self.directives(input, &Document::default()).nofollow {
            return Vec::new();
        }
        let limits =
            SitemapLimits { max_entries: self.extract.max_links, ..SitemapLimits::default() };
        let list = parse_sitemap(&input.body, base, &limits);
        list.pages.into_iter().map(|entry| entry.url).collect()
    }

    /// The uses that the site refuses, as far as they are looked at.
    fn refusals(&self, usage: UsagePreferences) -> Vec<PageFlag> {
        let stated = [
            (usage.ai_input, PageFlag::AiInputRefused),
            (usage.search, PageFlag::SearchRefused),
            (usage.ai_train, PageFlag::AiTrainRefused),
        ];
        let looks = self.usage_policy != UsagePolicy::Ignore;
        let refused = stated.into_iter().filter(|(word, _)| looks && *word == Preference::Refused);
        refused.map(|(_, flag)| flag).collect()
    }

    fn directives(&self, input: &PageInput, document: &Document) -> RobotsDirectives {
        if self.robots == RobotsMode::Ignore {
            return RobotsDirectives::default();
        }
        let reader = DirectiveReader { product_token: &self.product_token, now: input.fetched_at };
        let from_page = document.robots.iter().map(|(name, content)| reader.meta(name, content));
        let from_headers = input.robots_tags.iter().map(|value| reader.header(value));
        from_page.chain(from_headers).fold(RobotsDirectives::default(), RobotsDirectives::strictest)
    }
}

fn failed(input: &PageInput, error: PageError, run_id: &str) -> Converted {
    Converted::bare(input.record(PageOutcome::Failed(error), run_id))
}

fn counts(document: &Document) -> ContentCounts {
    let kept = document.markdown.as_str().chars().count() as u64;
    ContentCounts {
        original_html_chars: document.original_html_chars,
        initial_markdown_chars: document.initial_markdown_chars,
        filtered_chars_removed: document.initial_markdown_chars.saturating_sub(kept),
        final_filtered_chars: kept,
    }
}
