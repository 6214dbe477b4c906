//! What the workers of a crawl share: the stages, the limits of the run, and what hosts say of
//! themselves in robots.txt and sitemaps.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::pool::Pool;
use super::writer::Finished;
use super::{Clock, Converted, Progress, RunError};
use crate::config::Config;
use crate::fetch::{Answer, Fetcher, Get, RobotsAnswer, RobotsFile, RobotsMode};
use crate::frontier::{Scope, SitemapLimits, parse_sitemap};
use crate::model::{Validators, WebUrl};
use crate::store::{Committed, Found, FoundUrl, Store};

/// Deepest nesting of sitemap indexes.
const MAX_SITEMAP_DEPTH: usize = 5;

/// Addresses put into the store at once.
const ENQUEUE_BATCH: usize = 1_000;

/// What the workers of a crawl share.
pub(super) struct Shared {
    pub(super) config: Config,
    pub(super) store: Arc<Store>,
    pub(super) fetcher: Fetcher,
    pub(super) scope: Scope,
    pub(super) pool: Pool,
    pub(super) clock: Clock,
    pub(super) progress: Arc<Progress>,
    pub(super) run_id: Arc<str>,
    pub(super) finished: UnboundedSender<Finished>,
    pub(super) unsettled: Arc<AtomicUsize>,
    /// The user wants the crawl to end.
    pub(super) stop: CancellationToken,
    /// The crawl ends, for whatever reason: nothing new is begun.
    pub(super) ending: CancellationToken,
    /// Set when `max_pages` is reached.
    pub(super) limit_reached: AtomicBool,
    pub(super) fetched: AtomicUsize,
    pub(super) robots: Mutex<BTreeMap<String, Arc<OnceCell<RobotsFile>>>>,
}

impl Shared {
    pub(super) fn is_ending(&self) -> bool {
        self.ending.is_cancelled()
    }

    /// Takes one of the run's `max_pages`.
    pub(super) fn take_ticket(&self) -> bool {
        let most = self.config.crawl.max_pages;
        let before = self.fetched.fetch_add(1, Ordering::AcqRel) as u64;
        let has_ticket = most == 0 || before < most;
        if !has_ticket {
            self.reach_limit();
        }
        has_ticket
    }

    /// Ends the crawl because it has done as much as it may.
    pub(super) fn reach_limit(&self) {
        self.limit_reached.store(true, Ordering::Release);
        self.ending.cancel();
    }

    /// The robots.txt of an authority, read once a run; its delay and sitemaps take effect.
    pub(super) async fn robots(&self, root: &WebUrl) -> Result<RobotsFile, RunError> {
        let cell = {
            let mut all = self.robots.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(root.authority()).or_default())
        };
        let file = cell.get_or_try_init(|| self.read_robots(root)).await?;
        Ok(file.clone())
    }

    async fn read_robots(&self, root: &WebUrl) -> Result<RobotsFile, RunError> {
        let authority = root.authority();
        if let Some(next) = self.store.next_at(&authority).await? {
            // A stored time may be far off when a clock was wrong: no rest is longer than this.
            let rest = Duration::from_micros(
                next.0.saturating_sub(self.clock.now().0).max(0).unsigned_abs(),
            );
            self.fetcher.hold(root, rest.min(self.config.politeness.retry_after_max()));
        }
        if self.config.politeness.robots == RobotsMode::Ignore {
            let rules = crate::fetch::robots::RobotsRules::allow_all();
            return Ok(RobotsFile { rules, answer: RobotsAnswer::Absent(0) });
        }
        self.progress.request();
        let file = self.fetcher.robots(root, self.clock.now()).await;
        if let Some(delay) = file.rules.crawl_delay() {
            self.fetcher.set_crawl_delay(root, delay);
        }
        if self.config.crawl.discover_sitemaps && file.answer == RobotsAnswer::Found {
            let named = file.rules.sitemaps().iter().filter_map(|address| root.join(address).ok());
            self.sitemaps(named.collect(), Some(&file)).await?;
        }
        Ok(file)
    }

    /// Reads sitemaps, and those that they name, into the frontier. One that cannot be read is
    /// left out: it only names pages.
    pub(super) async fn sitemaps(
        &self,
        named: Vec<WebUrl>,
        robots: Option<&RobotsFile>,
    ) -> Result<(), RunError> {
        let mut seen = HashSet::new();
        let mut waiting: Vec<(WebUrl, usize)> = named.into_iter().map(|url| (url, 0)).collect();
        while let Some((url, depth)) = waiting.pop() {
            let is_allowed = robots.is_none_or(|file| file.rules.verdict(url.as_url()).allowed);
            if !seen.insert(url.key()) || !is_allowed || self.is_ending() {
                continue;
            }
            let validators = Validators::default();
            let get = Get { url: &url, validators: &validators, now: self.clock.now() };
            self.progress.request();
            let Ok((Answer::Page(page), _permit)) = self.fetcher.ask(&get).await else {
                self.progress.refuse("sitemap.unreadable");
                continue;
            };
            let limits = SitemapLimits {
                max_entries: self.config.crawl.max_sitemap_entries,
                ..SitemapLimits::default()
            };
            let sitemap = parse_sitemap(&page.body, &url, &limits);
            if depth < MAX_SITEMAP_DEPTH {
                waiting.extend(sitemap.sitemaps.into_iter().map(|url| (url, depth + 1)));
            }
            let pages: Vec<WebUrl> = sitemap.pages.into_iter().map(|entry| entry.url).collect();
            let found = self.in_scope(&pages);
            for batch in found.chunks(ENQUEUE_BATCH) {
                self.store
                    .enqueue(batch, 1, self.config.crawl.max_depth, Some(url.as_str()))
                    .await?;
            }
        }
        Ok(())
    }

    /// The addresses in scope; the others are counted by reason.
    fn in_scope(&self, urls: &[WebUrl]) -> Vec<FoundUrl> {
        let mut found = Vec::new();
        for url in urls {
            match self.scope.check(url) {
                Ok(()) => found.push(FoundUrl::from(url)),
                Err(refusal) => self.progress.refuse(refusal.code()),
            }
        }
        found
    }

    /// A converted page as it is committed.
    pub(super) fn committed(&self, id: i64, converted: Converted) -> Committed {
        let Converted { mut record, outlinks, .. } = converted;
        let urls = self.in_scope(&outlinks);
        record.outlinks = urls.iter().map(|found| found.key().to_owned()).collect();
        let found = Found { urls, depth: record.depth + 1, redirects: 0 };
        Committed { id: Some(id), record, found }
    }
}
