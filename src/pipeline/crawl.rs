//! A crawl: from the first lease to the last part.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::at_work::AtWork;
use super::host::{HostEnd, work};
use super::pool::Pool;
use super::robots_kept::RobotsKept;
use super::run::Run;
use super::shared::Shared;
use super::summary::Deferred;
use super::{Clock, Converter, Progress, RunError, RunSummary};
use crate::config::Config;
use crate::fetch::{Budget, Fetcher};
use crate::frontier::{Scope, SeriesWatch};
use crate::model::{Ratio, WebUrl};
use crate::store::{FoundUrl, Revisit, Store};

/// Most hosts at work at once.
const MAX_ACTIVE_HOSTS: usize = 1_000;

/// Live pages held against the scope at once.
const LIVE_BATCH: u32 = 1_000;

/// What a crawl does besides what its config says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrawlMode {
    /// The program, which converts pages that ended it before in processes of their own.
    pub program: Option<PathBuf>,
    /// Visits every known page, due or not.
    pub all: bool,
    /// Deletes pages that are gone, however many they are.
    pub allow_deletes: bool,
}

impl CrawlMode {
    fn most_deleted(&self, config: &Config) -> Ratio {
        if self.allow_deletes { Ratio::ALL } else { config.recrawl.max_delete_ratio }
    }
}

/// Crawls what `config` describes, from where an earlier run left off. `stop` ends it in order:
/// what is in flight is finished and committed.
///
/// # Errors
///
/// Fails where the state or the corpus cannot be read or written; what was committed stays.
pub async fn crawl(
    config: &Config,
    mode: &CrawlMode,
    progress: Arc<Progress>,
    stop: CancellationToken,
    clock: Clock,
) -> Result<RunSummary, RunError> {
    let scope = Scope::new(&config.crawl)?;
    let budget = Budget::new(config.run.body_bytes());
    let fetcher = Fetcher::new(&config.fetch, &config.politeness, budget)?;
    let fetcher = fetcher.at_home_with(scope.seeds());
    let pool = Pool::new(&config.run, Converter::new(config))?;
    let run = Run::begin(config, Arc::clone(&progress), clock).await?;
    run.store.count_crashes(&AtWork::left_over(&config.state_path())?).await?;
    let pool = pool.guarded(config, mode.program.clone())?;
    fill_frontier(config, mode, &scope, &run, clock).await?;
    progress.queue(run.store.queued().await?, 0);
    let unsettled = Arc::new(AtomicUsize::new(0));
    let (ready, to_schedule) = unbounded_channel();
    let (finished, to_write) = unbounded_channel();
    let writer = run.writer(config.crawl.max_depth, Arc::clone(&unsettled), Some(ready));
    let shared = Arc::new(Shared {
        config: config.clone(),
        store: Arc::clone(&run.store),
        converter: config.content_hash(),
        fetcher,
        scope,
        pool,
        clock,
        progress,
        run_id: run.id().into(),
        last_active: run.last_active,
        finished,
        unsettled,
        ending: stop.child_token(),
        stop,
        limit_reached: AtomicBool::new(false),
        fetched: AtomicUsize::new(0),
        fetched_of: std::sync::Mutex::default(),
        robots: RobotsKept::default(),
        missing: std::sync::Mutex::default(),
        series: std::sync::Mutex::new(SeriesWatch::new(config.crawl.traps)),
        sitemaps_read: std::sync::Mutex::default(),
    });
    let writing = tokio::spawn(writer.run(to_write));
    let scheduled = schedule(&shared, to_schedule).await;
    let ending = shared.how_it_ends();
    // The last sender goes, so that the writer ends when it has committed all.
    drop(shared);
    writing.await.map_err(|_| RunError::Defect)??;
    let deferred = scheduled?;
    run.conclude(ending, mode.most_deleted(config), |summary| summary.deferred = deferred).await
}

/// Puts seeds, and known pages that are due, into the frontier.
async fn fill_frontier(
    config: &Config,
    mode: &CrawlMode,
    scope: &Scope,
    run: &Run,
    clock: Clock,
) -> Result<(), RunError> {
    let max_depth = config.crawl.max_depth;
    let which = Revisit { now: clock.now(), all: mode.all, max_depth, recrawl: config.recrawl };
    run.store.revisit(&which, config.content_hash()).await?;
    requeue_out_of_scope(scope, &run.store).await?;
    let seeds: Vec<FoundUrl> = scope.seeds().iter().map(FoundUrl::from).collect();
    run.store.enqueue(&seeds, 0, max_depth, None).await?;
    Ok(())
}

/// Has pages settled again that a rule now keeps out: no request is made for them.
async fn requeue_out_of_scope(scope: &Scope, store: &Store) -> Result<(), RunError> {
    let mut after = 0;
    loop {
        let pages = store.live_urls(after, LIVE_BATCH).await?;
        let Some((last, _)) = pages.last() else { return Ok(()) };
        after = *last;
        let is_out = |url: &str| WebUrl::parse(url).is_ok_and(|url| !scope.admits(&url));
        let out: Vec<i64> =
            pages.iter().filter(|(_, url)| is_out(url)).map(|(id, _)| *id).collect();
        if !out.is_empty() {
            store.requeue(&out).await?;
        }
    }
}

/// Gives every host with waiting pages a worker, until no page waits and none is on its way.
/// Returns the hosts that were parked.
async fn schedule(
    shared: &Arc<Shared>,
    mut ready: UnboundedReceiver<Vec<String>>,
) -> Result<BTreeMap<String, Deferred>, RunError> {
    let mut waiting: BTreeSet<String> =
        shared.store.waiting_authorities().await?.into_iter().collect();
    if shared.config.crawl.discover_sitemaps {
        // The sitemaps of a site may name new pages, whether or not a known one is due.
        waiting.extend(shared.scope.seeds().iter().map(WebUrl::authority));
    }
    let mut scheduler = Scheduler {
        shared,
        workers: JoinSet::new(),
        active: BTreeSet::new(),
        waiting,
        parked: BTreeMap::new(),
    };
    let limit = deadline(shared);
    tokio::pin!(limit);
    tokio::select! {
        read = scheduler.configured_sitemaps() => read?,
        () = &mut limit => shared.reach_limit(),
    }
    loop {
        scheduler.start_workers();
        if scheduler.is_idle() {
            // The writer sends its news before it counts down: what is not here does not exist.
            while let Ok(authorities) = ready.try_recv() {
                scheduler.waiting.extend(authorities);
            }
            if scheduler.is_done() && !scheduler.finds_more().await? {
                return Ok(scheduler.parked);
            }
            continue;
        }
        tokio::select! {
            Some(end) = scheduler.workers.join_next() => {
                let (authority, end) = end.map_err(|_| RunError::Defect)?;
                scheduler.ended(authority, end?).await?;
            }
            authorities = ready.recv() => match authorities {
                Some(authorities) => scheduler.waiting.extend(authorities),
                None => return Ok(scheduler.parked),
            },
            () = &mut limit, if !shared.limit_reached.load(Ordering::Acquire) => {
                shared.reach_limit();
            }
        }
    }
}

/// Passes when the run has lasted as long as it may.
async fn deadline(shared: &Shared) {
    match shared.config.crawl.max_duration_secs {
        0 => std::future::pending().await,
        secs => tokio::time::sleep(Duration::from_secs(secs)).await,
    }
}

struct Scheduler<'a> {
    shared: &'a Arc<Shared>,
    workers: JoinSet<(String, Result<HostEnd, RunError>)>,
    active: BTreeSet<String>,
    /// Authorities that may have pages waiting.
    waiting: BTreeSet<String>,
    parked: BTreeMap<String, Deferred>,
}

impl Scheduler<'_> {
    /// Reads the sitemaps of the config; their pages wait like all others.
    async fn configured_sitemaps(&mut self) -> Result<(), RunError> {
        let sitemaps = &self.shared.config.crawl.sitemaps;
        let named: Vec<WebUrl> =
            sitemaps.iter().filter_map(|address| WebUrl::parse(address).ok()).collect();
        if !named.is_empty() {
            self.shared.sitemaps(named).await?;
            self.waiting.extend(self.shared.store.waiting_authorities().await?);
        }
        Ok(())
    }

    fn start_workers(&mut self) {
        if self.shared.is_ending() {
            self.waiting.clear();
            return;
        }
        let startable: Vec<String> = self
            .waiting
            .iter()
            .filter(|authority| !self.active.contains(*authority))
            .take(MAX_ACTIVE_HOSTS.saturating_sub(self.active.len()))
            .cloned()
            .collect();
        for authority in startable {
            self.waiting.remove(&authority);
            if self.parked.contains_key(&authority) {
                continue;
            }
            self.active.insert(authority.clone());
            self.shared.progress.host_begins(&authority);
            let shared = Arc::clone(self.shared);
            self.workers.spawn(async move {
                let end = work(&shared, &authority).await;
                (authority, end)
            });
        }
    }

    async fn ended(&mut self, authority: String, end: HostEnd) -> Result<(), RunError> {
        self.active.remove(&authority);
        self.shared.progress.host_ends(&authority);
        match end {
            HostEnd::Parked(why) => {
                let by_limit = false;
                self.parked.insert(authority, Deferred { why, by_limit, pages: 0 });
            }
            HostEnd::Limited => {
                let why = "`crawl.max_pages_per_host` is reached".to_owned();
                self.parked.insert(authority, Deferred { why, by_limit: true, pages: 0 });
            }
            HostEnd::Exhausted => {
                // Pages may have come in between the worker's last look and its end.
                if self.shared.store.waiting(&authority).await? > 0 {
                    self.waiting.insert(authority);
                }
            }
            HostEnd::Stopped => {}
        }
        Ok(())
    }

    /// Looks for hosts with waiting pages that nobody told of: a sitemap of another host named
    /// them. Says whether there are any.
    async fn finds_more(&mut self) -> Result<bool, RunError> {
        if self.shared.is_ending() {
            return Ok(false);
        }
        let waiting = self.shared.store.waiting_authorities().await?;
        self.waiting.extend(waiting);
        Ok(!self.is_done())
    }

    /// Whether nothing is on its way.
    fn is_idle(&self) -> bool {
        self.active.is_empty() && self.shared.unsettled.load(Ordering::Acquire) == 0
    }

    /// Whether, with nothing on its way, nothing waits that could be asked for.
    fn is_done(&self) -> bool {
        let is_parked = |authority: &String| self.parked.contains_key(authority);
        self.shared.is_ending() || self.waiting.iter().all(is_parked)
    }
}
