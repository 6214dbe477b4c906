//! A host's worker: what one host is asked, in order.
//!
//! robots.txt and the sitemaps it names come first, then pages as the store leases them. A host
//! that fails again and again, or wants to be left alone for long, is parked: its pages wait in
//! the store for the next run.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;

use super::shared::Shared;
use super::writer::Finished;
use super::{PageInput, RunError};
use crate::fetch::robots::UsagePreferences;
use crate::fetch::{Answer, Get, Permit, RobotsAnswer, RobotsFile, RobotsMode};
use crate::model::{
    ContentHash, ErrorCode, Exclusion, FetchedPage, PageError, PageOutcome, Request, WebUrl,
};
use crate::store::{Committed, Found, FoundUrl};

/// Addresses leased at once: one transaction for all.
const LEASE: u32 = 32;

/// Why a worker ended.
#[derive(Debug)]
pub(super) enum HostEnd {
    /// No address of the host waits.
    Exhausted,
    /// The crawl ends.
    Stopped,
    /// The host's pages wait for the next run.
    Parked(String),
    /// As many pages of the host were fetched as a run may; the others wait.
    Limited,
}

/// What became of a request.
enum Done {
    Settled,
    /// Its page waits for another try.
    Retried,
    Parked(String),
}

/// Asks the host of `authority` for all that waits.
pub(super) async fn work(shared: &Arc<Shared>, authority: &str) -> Result<HostEnd, RunError> {
    let Ok(root) = WebUrl::parse(&format!("{authority}/")) else { return Ok(HostEnd::Exhausted) };
    if let Some(why) = shared.wants_rest(&root).await? {
        return Ok(HostEnd::Parked(why));
    }
    loop {
        // Before each batch, since a site may change its mind while a crawl goes on.
        let Some(robots) = shared.robots(&root).await? else { return Ok(HostEnd::Stopped) };
        if let RobotsAnswer::Unreachable(error) = &robots.answer {
            if let Some(rest) = robots.retry_after {
                shared.remember_rest(authority, rest).await?;
            }
            return Ok(HostEnd::Parked(format!("robots.txt could not be read: {error}")));
        }
        shared.named_sitemaps(&root, &robots).await?;
        if shared.is_ending() {
            return Ok(HostEnd::Stopped);
        }
        let worker = Worker { shared, robots: &robots, parked: Mutex::new(None) };
        let most = u32::try_from(shared.pages_left(authority)).map_or(LEASE, |n| n.min(LEASE));
        if most == 0 && shared.store.waiting(authority).await? > 0 {
            return Ok(HostEnd::Limited);
        }
        let batch = shared.store.lease(authority, most, shared.converter).await?;
        if batch.is_empty() {
            return Ok(HostEnd::Exhausted);
        }
        worker.batch(batch).await?;
        if let Some(why) = worker.parked() {
            return Ok(HostEnd::Parked(why));
        }
    }
}

struct Worker<'a> {
    shared: &'a Arc<Shared>,
    robots: &'a RobotsFile,
    parked: Mutex<Option<String>>,
}

impl Worker<'_> {
    fn parked(&self) -> Option<String> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn park(&self, why: String) {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    /// Asks for a batch, as many at once as the host may be asked, and gives back what is left
    /// when the crawl or the host ends.
    async fn batch(&self, batch: Vec<Request>) -> Result<(), RunError> {
        let per_host = self.shared.config.politeness.per_host.max(1);
        let mut results = futures_util::stream::iter(batch)
            .map(|request| async move {
                if self.shared.is_ending() || self.parked().is_some() {
                    return self.shared.store.release(&[request.id]).await.map_err(RunError::from);
                }
                match self.request(&request).await? {
                    Done::Settled | Done::Retried => {}
                    Done::Parked(why) => self.park(why),
                }
                Ok(())
            })
            .buffer_unordered(per_host);
        while let Some(result) = results.next().await {
            result?;
        }
        Ok(())
    }

    async fn request(&self, request: &Request) -> Result<Done, RunError> {
        let shared = self.shared;
        if !shared.scope.admits(&request.url) {
            let outcome = PageOutcome::Excluded(Exclusion::OutOfScope);
            self.settle(request, None, outcome, Found::default());
            return Ok(Done::Settled);
        }
        // A page that was collected before is no step into a trap.
        if !request.is_live
            && let Some(trap) = shared.trap(&request.url)
        {
            self.settle(request, None, PageOutcome::Excluded(trap), Found::default());
            return Ok(Done::Settled);
        }
        let obeys = shared.config.politeness.robots == RobotsMode::Obey;
        if obeys && !self.robots.rules.verdict(request.url.as_url()).allowed {
            self.settle(
                request,
                None,
                PageOutcome::Excluded(Exclusion::RobotsDisallowed),
                Found::default(),
            );
            return Ok(Done::Settled);
        }
        // Before the page is asked for: whoever holds a body waits for no other.
        let missing =
            if request.is_live { shared.missing(&request.url, self.robots).await } else { None };
        let turn = tokio::select! {
            turn = shared.fetcher.turn(&request.url) => Some(turn),
            () = shared.ending.cancelled() => None,
        };
        let Some(turn) = turn.filter(|_| !shared.is_ending() && shared.take_ticket(&request.url))
        else {
            shared.store.release(&[request.id]).await?;
            return Ok(Done::Settled);
        };
        let get =
            Get { url: &request.url, validators: &request.validators, now: shared.clock.now() };
        shared.progress.request();
        match shared.fetcher.ask_in(turn, &get).await {
            Ok((Answer::Page(page), permit)) => {
                self.convert(request, *page, permit, missing).await;
                Ok(Done::Settled)
            }
            Ok((Answer::Redirect { status, location }, _)) => {
                self.redirect(request, status, &location).await
            }
            Ok((Answer::NotModified, _)) => {
                self.settle(request, Some(304), PageOutcome::Unchanged, Found::default());
                Ok(Done::Settled)
            }
            Ok((Answer::Status { status, retry_after }, _)) => {
                self.status(request, status, retry_after).await
            }
            Err(error) => self.failure(request, None, error).await,
        }
    }

    /// Sends a page to be converted. It carries its permit with it.
    async fn convert(
        &self,
        request: &Request,
        page: FetchedPage,
        permit: Permit,
        missing: Option<ContentHash>,
    ) {
        let shared = Arc::clone(self.shared);
        let mut usage = self.robots.rules.usage(request.url.as_url());
        for field in &page.usage {
            usage = usage.strictest(UsagePreferences::parse(field));
        }
        let input = PageInput { usage, ..page_input(request, page) };
        let (id, hops) = (request.id, request.redirects + 1);
        shared.unsettled.fetch_add(1, Ordering::AcqRel);
        let run_id = Arc::clone(&shared.run_id);
        let sender = Arc::clone(self.shared);
        let room = shared.pool.room(&input).await;
        shared.pool.convert(input, run_id, move |converted| {
            drop(room);
            let page = Committed { missing, ..sender.committed(id, hops, converted) };
            // The writer is gone only when the run has failed: then nothing is committed.
            drop(sender.finished.send(Finished { page, permit: Some(permit) }));
        });
    }

    /// A redirect is a page that leads to one other, which is asked for in its own host's turn.
    /// One that leads to another spelling of the same key only changes the address to ask for.
    async fn redirect(
        &self,
        request: &Request,
        status: u16,
        location: &WebUrl,
    ) -> Result<Done, RunError> {
        let shared = self.shared;
        let hops = request.redirects + 1;
        let most = shared.config.fetch.max_redirects;
        let key = location.key();
        let bad = |message: String| {
            let error = PageError::new(ErrorCode::FetchBadRedirect, message);
            (PageOutcome::Failed(error), Found::default())
        };
        let (outcome, found) = if hops > most {
            bad(format!("more than {most} redirects"))
        } else if *location == request.url {
            bad("it redirects to itself".to_owned())
        } else if key == request.key {
            shared.store.readdress(request.id, location).await?;
            return Ok(Done::Retried);
        } else if shared.scope.check(location).is_err() {
            (PageOutcome::Excluded(Exclusion::RedirectOutOfScope), Found::default())
        } else {
            let found = Found { urls: vec![FoundUrl::from(location)], redirects: hops };
            (PageOutcome::redirect(&key), found)
        };
        self.settle(request, Some(status), outcome, found);
        Ok(Done::Settled)
    }

    async fn status(
        &self,
        request: &Request,
        status: u16,
        retry_after: Option<Duration>,
    ) -> Result<Done, RunError> {
        match status {
            404 | 410 => {
                self.settle(request, Some(status), PageOutcome::Gone { status }, Found::default());
                Ok(Done::Settled)
            }
            429 | 500.. => {
                let error =
                    PageError::new(ErrorCode::FetchServer, format!("the server answered {status}"));
                self.rest(request, status, retry_after, error).await
            }
            _ => {
                let error = PageError::new(
                    ErrorCode::FetchRefused,
                    format!("the server answered {status}"),
                );
                self.settle(request, Some(status), PageOutcome::Failed(error), Found::default());
                Ok(Done::Settled)
            }
        }
    }

    /// The server asks for rest, in words or by failing.
    async fn rest(
        &self,
        request: &Request,
        status: u16,
        retry_after: Option<Duration>,
        error: PageError,
    ) -> Result<Done, RunError> {
        let shared = self.shared;
        let Some(rest) = retry_after else {
            return self.failure(request, Some(status), error).await;
        };
        shared.remember_rest(&request.url.authority(), rest).await?;
        if rest > shared.config.politeness.retry_after_max() {
            shared.store.release(&[request.id]).await?;
            let why = format!(
                "the server answered {status} and wants to be left alone for {} s",
                rest.as_secs()
            );
            return Ok(Done::Parked(why));
        }
        shared.fetcher.hold(&request.url, rest).await;
        if request.tries < shared.config.fetch.max_tries {
            shared.store.retry(request.id).await?;
            return Ok(Done::Retried);
        }
        self.failure(request, Some(status), error).await
    }

    async fn failure(
        &self,
        request: &Request,
        status: Option<u16>,
        error: PageError,
    ) -> Result<Done, RunError> {
        let shared = self.shared;
        let politeness = &shared.config.politeness;
        if !error.is_transient() {
            self.settle(request, status, PageOutcome::Failed(error), Found::default());
            return Ok(Done::Settled);
        }
        let is_last_try = request.tries >= shared.config.fetch.max_tries;
        let why = format!("{error}");
        if is_last_try {
            self.settle(request, status, PageOutcome::Failed(error), Found::default());
        } else {
            shared.fetcher.hold(&request.url, politeness.retry_delay(request.tries)).await;
            shared.store.retry(request.id).await?;
        }
        let failures = shared.fetcher.report(&request.url).await.failures;
        if failures >= politeness.max_host_failures {
            return Ok(Done::Parked(format!("{failures} failures in a row, the last: {why}")));
        }
        Ok(if is_last_try { Done::Settled } else { Done::Retried })
    }

    /// Hands an outcome without content to the writer.
    fn settle(&self, request: &Request, status: Option<u16>, outcome: PageOutcome, found: Found) {
        let shared = self.shared;
        let mut input =
            PageInput::new(request.key.to_string(), Some(request.url.clone()), "", Vec::new());
        input.status = status;
        input.depth = request.depth;
        input.referrer.clone_from(&request.referrer);
        input.fetched_at = shared.clock.now();
        let target = outcome.duplicate_of().map(str::to_owned);
        let mut record = input.record(outcome, &shared.run_id);
        record.final_url = target.unwrap_or(record.final_url);
        let page = Committed::new(Some(request.id), record, found);
        shared.unsettled.fetch_add(1, Ordering::AcqRel);
        drop(shared.finished.send(Finished { page, permit: None }));
    }
}

fn page_input(request: &Request, page: FetchedPage) -> PageInput {
    PageInput {
        url: request.key.to_string(),
        base: Some(page.url),
        status: Some(page.status),
        media_type: page.media_type,
        charset: page.charset,
        body: page.body,
        robots_tags: page.robots_tags,
        canonical: page.link_canonical,
        links: page.links,
        usage: UsagePreferences::default(),
        depth: request.depth,
        referrer: request.referrer.clone(),
        validators: page.validators,
        fetched_at: page.fetched_at,
        elapsed_ms: page.elapsed_ms,
        crashes: request.crashes,
    }
}
