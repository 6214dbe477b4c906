//! A crawl: from the first lease to the last part.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::host::{HostEnd, work};
use super::pool::Pool;
use super::shared::Shared;
use super::summary::Deferred;
use super::writer::{Writer, conclude, run_id};
use super::{Clock, Converter, Progress, RunError, RunSummary};
use crate::config::Config;
use crate::fetch::{Budget, Fetcher};
use crate::frontier::Scope;
use crate::model::WebUrl;
use crate::store::{CommitRules, FoundUrl, Store};

/// Most hosts at work at once.
const MAX_ACTIVE_HOSTS: usize = 1_000;

/// Crawls what `config` describes, from where an earlier run left off. `stop` ends it in order:
/// what is in flight is finished and committed.
///
/// # Errors
///
/// Fails where the state or the corpus cannot be read or written; what was committed stays.
pub async fn crawl(
    config: &Config,
    progress: Arc<Progress>,
    stop: CancellationToken,
    clock: Clock,
) -> Result<RunSummary, RunError> {
    let scope = Scope::new(&config.crawl)?;
    let budget = Budget::new(config.run.body_bytes());
    let fetcher = Fetcher::new(&config.fetch, &config.politeness, budget)?;
    let pool = Pool::new(&config.run, Converter::new(config))?;
    let store = Arc::new(Store::open(&config.state_path()).await?);
    let parts = Parts { scope, fetcher, pool, store: Arc::clone(&store), progress };
    let result = run(config, parts, stop, clock).await;
    if let Some(store) = Arc::into_inner(store) {
        store.close().await;
    }
    result
}

struct Parts {
    scope: Scope,
    fetcher: Fetcher,
    pool: Pool,
    store: Arc<Store>,
    progress: Arc<Progress>,
}

async fn run(
    config: &Config,
    parts: Parts,
    stop: CancellationToken,
    clock: Clock,
) -> Result<RunSummary, RunError> {
    let Parts { scope, fetcher, pool, store, progress } = parts;
    let started_at = clock.now();
    let config_hash = config.content_hash();
    store.recover_leases().await?;
    let number = store.begin_run(&config_hash.to_string(), started_at).await?;
    let unsettled = Arc::new(AtomicUsize::new(0));
    let (ready, to_schedule) = unbounded_channel();
    let writer = Writer {
        store: Arc::clone(&store),
        output: config.output.clone(),
        rules: CommitRules { run: number, max_depth: config.crawl.max_depth, dedup: config.dedup },
        config_hash,
        progress: Arc::clone(&progress),
        unsettled: Arc::clone(&unsettled),
        ready: Some(ready),
    };
    writer.recover().await?;
    progress.queue(fill_frontier(config, &scope, &store).await?, 0);
    let (finished, to_write) = unbounded_channel();
    let shared = Arc::new(Shared {
        config: config.clone(),
        store: Arc::clone(&store),
        fetcher,
        scope,
        pool,
        clock,
        progress: Arc::clone(&progress),
        run_id: run_id(number).into(),
        finished,
        unsettled,
        ending: stop.child_token(),
        stop,
        limit_reached: AtomicBool::new(false),
        fetched: AtomicUsize::new(0),
        robots: std::sync::Mutex::default(),
        series: std::sync::Mutex::default(),
        sitemaps_read: std::sync::Mutex::default(),
    });
    let writing = tokio::spawn(writer.run(to_write));
    let scheduled = schedule(&shared, to_schedule).await;
    let is_interrupted = shared.stop.is_cancelled();
    let is_limited = shared.limit_reached.load(Ordering::Acquire);
    // The last sender goes, so that the writer ends when it has committed all.
    drop(shared);
    writing.await.map_err(|_| RunError::Defect)??;
    let mut summary = RunSummary { run_id: run_id(number), started_at, ..RunSummary::default() };
    summary.deferred = scheduled?;
    let reason = match (is_limited, is_interrupted) {
        (true, _) => "limit",
        (_, true) => "interrupted",
        _ => "finished",
    };
    reason.clone_into(&mut summary.reason);
    summary.ended_at = clock.now();
    count(&store, number, &progress, &mut summary).await?;
    conclude(&store, number, &config.output.path, &summary).await?;
    Ok(summary)
}

/// Counts what a run did.
async fn count(
    store: &Store,
    run: i64,
    progress: &Progress,
    summary: &mut RunSummary,
) -> Result<(), RunError> {
    for (authority, deferred) in &mut summary.deferred {
        deferred.pages = store.waiting(authority).await?;
    }
    summary.count(&store.report(Some(run)).await?);
    summary.links_refused = progress.refused();
    let view = progress.view();
    summary.requests = view.requests;
    summary.bytes = view.bytes;
    Ok(())
}

/// Puts seeds and pages that failed before into the frontier, and counts what waits there.
async fn fill_frontier(config: &Config, scope: &Scope, store: &Store) -> Result<u64, RunError> {
    store.requeue_failed(config.crawl.max_depth).await?;
    let seeds: Vec<FoundUrl> = scope.seeds().iter().map(FoundUrl::from).collect();
    store.enqueue(&seeds, 0, config.crawl.max_depth, None).await?;
    let waiting = store.report(None).await?.waiting;
    Ok(waiting.iter().filter(|(state, _)| state == "queued").map(|(_, n)| n).sum())
}

/// Gives every host with waiting pages a worker, until no page waits and none is on its way.
/// Returns the hosts that were parked.
async fn schedule(
    shared: &Arc<Shared>,
    mut ready: UnboundedReceiver<Vec<String>>,
) -> Result<BTreeMap<String, Deferred>, RunError> {
    let mut scheduler = Scheduler {
        shared,
        workers: JoinSet::new(),
        active: BTreeSet::new(),
        waiting: shared.store.waiting_authorities().await?.into_iter().collect(),
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
            if scheduler.is_done() {
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
                self.parked.insert(authority, Deferred { why, pages: 0 });
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
