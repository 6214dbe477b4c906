//! What the workers of a crawl share: the stages, the limits of the run, and what hosts say of
//! themselves in robots.txt and sitemaps.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::missing::KeptMissing;
use super::pool::Pool;
use super::robots_kept::RobotsKept;
use super::run::Ending;
use super::sitemaps::SitemapWalk;
use super::writer::Finished;
use super::{Clock, Converted, Progress, RunError};
use crate::config::Config;
use crate::fetch::{Answer, Fetcher, Get, Permit, RobotsFile, RobotsMode, Turn};
use crate::frontier::trap::{TrapReason, link_trap};
use crate::frontier::{Scope, SeriesWatch, SitemapEntry};
use crate::model::{
    ContentHash, ErrorCode, Exclusion, PageError, PageOutcome, PageRecord, Timestamp, Validators,
    WebUrl,
};
use crate::store::{Committed, Found, FoundUrl, Store};

/// Longest rest that a stored time may mean: a longer one is a clock that was wrong.
const LONGEST_REST: Duration = Duration::from_hours(30 * 24);

/// Addresses put into the store at once.
const ENQUEUE_BATCH: usize = 1_000;

/// What the workers of a crawl share.
pub(super) struct Shared {
    pub(super) config: Config,
    pub(super) store: Arc<Store>,
    /// What this run makes content by.
    pub(super) converter: ContentHash,
    pub(super) fetcher: Fetcher,
    pub(super) scope: Scope,
    pub(super) pool: Pool,
    pub(super) clock: Clock,
    pub(super) progress: Arc<Progress>,
    pub(super) run_id: Arc<str>,
    /// When an earlier run may have asked a host last.
    pub(super) last_active: Option<Timestamp>,
    pub(super) finished: UnboundedSender<Finished>,
    pub(super) unsettled: Arc<AtomicUsize>,
    /// The user wants the crawl to end.
    pub(super) stop: CancellationToken,
    /// The crawl ends, for whatever reason: nothing new is begun.
    pub(super) ending: CancellationToken,
    /// Set when `max_pages` is reached.
    pub(super) limit_reached: AtomicBool,
    pub(super) fetched: AtomicUsize,
    /// Pages fetched by authority, where `max_pages_per_host` is set.
    pub(super) fetched_of: Mutex<BTreeMap<String, u64>>,
    pub(super) robots: RobotsKept,
    /// What authorities answer for pages that do not exist.
    pub(super) missing: Mutex<BTreeMap<String, KeptMissing>>,
    pub(super) series: Mutex<SeriesWatch>,
    /// Authorities whose sitemaps were read.
    pub(super) sitemaps_read: Mutex<HashSet<String>>,
}

impl Shared {
    pub(super) fn is_ending(&self) -> bool {
        self.ending.is_cancelled()
    }

    /// How many more pages of `authority` this run may fetch.
    pub(super) fn pages_left(&self, authority: &str) -> u64 {
        match self.config.crawl.max_pages_per_host {
            0 => u64::MAX,
            most => {
                let fetched = self.fetched_of.lock().unwrap_or_else(PoisonError::into_inner);
                most.saturating_sub(fetched.get(authority).copied().unwrap_or(0))
            }
        }
    }

    /// Takes one of the run's `max_pages`, and one of those of `url`'s host.
    pub(super) fn take_ticket(&self, url: &WebUrl) -> bool {
        if self.config.crawl.max_pages_per_host > 0 {
            let mut fetched = self.fetched_of.lock().unwrap_or_else(PoisonError::into_inner);
            *fetched.entry(url.authority()).or_insert(0) += 1;
        }
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

    /// How the crawl ends, once it does.
    pub(super) fn how_it_ends(&self) -> Ending {
        if self.limit_reached.load(Ordering::Acquire) {
            Ending::Limit
        } else if self.stop.is_cancelled() {
            Ending::Interrupted
        } else {
            Ending::Finished
        }
    }

    /// The robots.txt of an authority, read again when it is stale; its delay takes effect. `None`
    /// where the crawl ends first.
    pub(super) async fn robots(&self, root: &WebUrl) -> Result<Option<Arc<RobotsFile>>, RunError> {
        let authority = root.authority();
        let place = self.robots.place(authority.clone());
        let read = async {
            let mut kept = place.lock().await;
            if let Some(file) = kept.as_ref().filter(|file| !file.is_stale(self.clock.now())) {
                return Arc::clone(file);
            }
            let file = Arc::new(self.read_robots(root, kept.take()).await);
            self.robots.note(&authority, &file);
            Arc::clone(kept.insert(file))
        };
        let file = tokio::select! {
            file = read => file,
            () = self.ending.cancelled() => return Ok(None),
        };
        // Each time, since a host that rests for long is forgotten at the gate.
        if let Some(delay) = file.rules.crawl_delay() {
            self.fetcher.set_crawl_delay(root, delay).await;
        }
        Ok(Some(file))
    }

    async fn read_robots(&self, root: &WebUrl, old: Option<Arc<RobotsFile>>) -> RobotsFile {
        if self.config.politeness.robots == RobotsMode::Ignore {
            return RobotsFile::ignored();
        }
        self.progress.request();
        let now = self.clock.now();
        match old {
            Some(old) => self.fetcher.renewed_robots(root, Arc::unwrap_or_clone(old), now).await,
            None => self.fetcher.robots(root, now).await,
        }
    }

    /// Why an authority is to be left alone in this run: a server asked for a long rest in an
    /// earlier one. A shorter rest, and what is left of the delay since an earlier run, is taken at
    /// the gate.
    pub(super) async fn wants_rest(&self, root: &WebUrl) -> Result<Option<String>, RunError> {
        let politeness = &self.config.politeness;
        let next = self.store.next_at(&root.authority()).await?;
        let rest = next.map_or(Duration::ZERO, |next| self.until(next));
        if rest > politeness.retry_after_max() && rest < LONGEST_REST {
            return Ok(Some(format!("it wants to be left alone for {} s more", rest.as_secs())));
        }
        let delay = politeness.delay();
        let turn = self.last_active.map_or(Duration::ZERO, |last| self.until(later(last, delay)));
        let rest = rest.min(politeness.retry_after_max()).max(turn.min(delay));
        self.fetcher.hold(root, rest).await;
        Ok(None)
    }

    fn until(&self, at: Timestamp) -> Duration {
        let micros = at.0.saturating_sub(self.clock.now().0);
        Duration::from_micros(micros.max(0).unsigned_abs())
    }

    /// Keeps the rest that a server asks for over the end of the run.
    pub(super) async fn remember_rest(
        &self,
        authority: &str,
        rest: Duration,
    ) -> Result<(), RunError> {
        let until = later(self.clock.now(), rest);
        Ok(self.store.set_next_at(authority, until).await?)
    }

    /// Reads the sitemaps that an authority's robots.txt names, once a run.
    pub(super) async fn named_sitemaps(
        &self,
        root: &WebUrl,
        robots: &RobotsFile,
    ) -> Result<(), RunError> {
        let is_first = {
            let mut read = self.sitemaps_read.lock().unwrap_or_else(PoisonError::into_inner);
            read.insert(root.authority())
        };
        if !is_first || !self.config.crawl.discover_sitemaps {
            return Ok(());
        }
        let named = robots.rules.sitemaps().iter().filter_map(|address| root.join(address).ok());
        self.sitemaps(named.collect()).await
    }

    /// Reads sitemaps, and those that they name, into the frontier; each after its own host's
    /// robots.txt. One that cannot be read is left out: it only names pages.
    pub(super) async fn sitemaps(&self, named: Vec<WebUrl>) -> Result<(), RunError> {
        let longest = self.config.fetch.max_body_bytes;
        let mut walk = SitemapWalk::new(&self.config.crawl, longest, named);
        while let Some(sitemap) = walk.next() {
            let url = &sitemap.url;
            let Ok(root) = url.join("/") else { continue };
            let Some(robots) = self.robots(&root).await? else { return Ok(()) };
            if !robots.rules.verdict(url.as_url()).allowed {
                self.progress.refuse("sitemap.disallowed");
                continue;
            }
            let turn = tokio::select! {
                turn = self.fetcher.turn(url) => turn,
                () = self.ending.cancelled() => return Ok(()),
            };
            match self.sitemap(url, turn).await {
                Some((Answer::Page(page), _permit)) => {
                    let (pages, is_cut) = walk.read(&sitemap, &page.body);
                    if is_cut {
                        self.progress.refuse("sitemap.cut");
                    }
                    self.enqueue(url, pages).await?;
                }
                Some((Answer::Redirect { location, .. }, _)) => walk.redirect(&sitemap, location),
                _ => self.progress.refuse("sitemap.unreadable"),
            }
        }
        if walk.is_cut() {
            self.progress.refuse("sitemap.limit");
        }
        Ok(())
    }

    async fn sitemap(&self, url: &WebUrl, turn: Turn) -> Option<(Answer, Permit)> {
        let validators = Validators::default();
        let get = Get { url, validators: &validators, now: self.clock.now() };
        self.progress.request();
        self.fetcher.list_in(turn, &get).await.ok()
    }

    /// Puts the pages of the sitemap at `url` into the frontier.
    async fn enqueue(&self, url: &WebUrl, pages: Vec<SitemapEntry>) -> Result<(), RunError> {
        let now = self.clock.now();
        let modified: Vec<(FoundUrl, Timestamp)> = pages
            .iter()
            .filter_map(|page| {
                let modified = Timestamp::parse(page.lastmod.as_deref()?)?;
                (modified < now).then(|| (FoundUrl::from(&page.url), modified))
            })
            .collect();
        let pages: Vec<WebUrl> = pages.into_iter().map(|entry| entry.url).collect();
        let max_depth = self.config.crawl.max_depth;
        for batch in self.in_scope(&pages).chunks(ENQUEUE_BATCH) {
            self.store.enqueue(batch, 1, max_depth, Some(url.as_str())).await?;
        }
        for batch in modified.chunks(ENQUEUE_BATCH) {
            self.store.requeue_modified(batch).await?;
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

    /// A converted page as it is committed. One that sends its reader on at once is a redirect,
    /// the `hops`th in its chain.
    pub(super) fn committed(&self, id: i64, hops: u32, converted: Converted) -> Committed {
        let Converted { mut record, outlinks, redirect, .. } = converted;
        let target = redirect.filter(|target| {
            target.key().as_str() != record.url && self.scope.check(target).is_ok()
        });
        if let Some(target) = target {
            return self.sent_on(id, hops, record, &target);
        }
        let urls = self.in_scope(&self.without_traps(&record, outlinks));
        record.outlinks = urls.iter().map(|found| found.key().to_owned()).collect();
        let found = Found { urls, redirects: 0 };
        Committed::new(Some(id), record, found)
    }

    /// The outlinks of a page that are not the inside of a trap. The page's series learns of it.
    fn without_traps(&self, record: &PageRecord, mut outlinks: Vec<WebUrl>) -> Vec<WebUrl> {
        let Ok(page) = WebUrl::parse(&record.url) else { return outlinks };
        let traps = &self.config.crawl.traps;
        let mut series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        if record.outcome == PageOutcome::Collected {
            series.note(page.as_url(), record.markdown.as_str(), &outlinks);
        }
        outlinks.retain(|link| {
            let trap = link_trap(page.as_url(), link.as_url(), traps);
            let trap = trap.or_else(|| series.verdict(link.as_url()));
            trap.inspect(|trap| self.progress.refuse(trap.code())).is_none()
        });
        outlinks
    }

    /// Why the page at `url` is not asked for although it waits: its series leads nowhere.
    pub(super) fn trap(&self, url: &WebUrl) -> Option<Exclusion> {
        let series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        match series.verdict(url.as_url())? {
            TrapReason::Calendar => Some(Exclusion::TrapCalendar),
            _ => Some(Exclusion::TrapRepeating),
        }
    }

    fn sent_on(&self, id: i64, hops: u32, record: PageRecord, target: &WebUrl) -> Committed {
        let most = self.config.fetch.max_redirects;
        if hops > most {
            let message = format!("more than {most} redirects");
            let error = PageError::new(ErrorCode::FetchBadRedirect, message);
            let record = record.without_content(PageOutcome::Failed(error));
            return Committed::new(Some(id), record, Found::default());
        }
        let mut record = record.without_content(PageOutcome::redirect(&target.key()));
        record.final_url = target.to_string();
        let found = Found { urls: vec![FoundUrl::from(target)], redirects: hops };
        Committed::new(Some(id), record, found)
    }
}

fn later(at: Timestamp, wait: Duration) -> Timestamp {
    let micros = i64::try_from(wait.as_micros()).unwrap_or(i64::MAX);
    Timestamp(at.0.saturating_add(micros))
}
