//! Which pages may be fetched at all: scope, traps, and the lists that sites give of themselves.
//!
//! In: seeds, links, sitemaps. Out: addresses in scope, or the reason why not. The addresses
//! themselves wait in the store; when each is asked for is decided by `fetch`.
//!
//! It makes no request, and keeps no state but what a caller holds in a [`SeriesWatch`].

pub mod sitemap;
pub mod trap;

mod scope;
mod series;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use self::scope::{Scope, ScopeError, ScopeRefusal};
pub use self::series::SeriesWatch;
pub use self::sitemap::{Sitemap, SitemapEntry, SitemapLimits, parse_sitemap};
pub use self::trap::TrapLimits;

/// What is crawled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CrawlOptions {
    /// Where the crawl begins: absolute addresses. At least one.
    pub seeds: Vec<String>,
    /// Files with more seeds, one a line; lines that begin with `#` are comments.
    pub seed_files: Vec<PathBuf>,
    /// Sitemaps to read beside those that robots.txt names.
    pub sitemaps: Vec<String>,
    /// Whether sitemaps that robots.txt names are read.
    pub discover_sitemaps: bool,
    /// Whether feeds that the pages of seeds name are read.
    pub discover_feeds: bool,
    /// How far from the seeds pages may lie.
    pub scope: ScopeKind,
    /// Where not empty: only addresses that match one of these patterns. `*` stands for any
    /// characters, `?` for one, `{a,b}` for either.
    pub include: Vec<String>,
    /// Never addresses that match one of these patterns.
    pub exclude: Vec<String>,
    /// Most links between a seed and a page.
    pub max_depth: u32,
    /// Most pages fetched in a run. 0 is no limit.
    pub max_pages: u64,
    /// Most pages fetched of one host in a run. 0 is no limit.
    pub max_pages_per_host: u64,
    /// Longest run, in seconds. 0 is no limit.
    pub max_duration_secs: u64,
    /// Most entries read from one sitemap.
    pub max_sitemap_entries: usize,
    /// Most sitemaps read of one host.
    pub max_sitemaps: usize,
    /// What counts as a trap.
    pub traps: TrapLimits,
}

impl Default for CrawlOptions {
    fn default() -> Self {
        Self {
            seeds: Vec::new(),
            seed_files: Vec::new(),
            sitemaps: Vec::new(),
            discover_sitemaps: true,
            discover_feeds: true,
            scope: ScopeKind::Host,
            include: Vec::new(),
            exclude: Vec::new(),
            max_depth: 30,
            max_pages: 0,
            max_pages_per_host: 0,
            max_duration_secs: 0,
            max_sitemap_entries: 500_000,
            max_sitemaps: 1_000,
            traps: TrapLimits::default(),
        }
    }
}

/// How far from the seeds pages may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopeKind {
    /// On the host of a seed.
    Host,
    /// On the host of a seed, below its folder.
    Prefix,
    /// On the host of a seed or a host below it, `www.` aside.
    Domain,
    /// Anywhere.
    Any,
}
