//! `corpus crawl`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::args::CrawlArgs;
use super::say::{count, decimal, number};
use super::schedule::Schedule;
use super::{Failure, Say, exit, fresh, load, runtime};
use crate::config::Config;
use crate::demo::{DemoServer, serve};
use crate::pipeline::{Clock, CrawlMode, Progress, RunSummary, crawl};

/// How often progress is shown.
const TICK: Duration = Duration::from_millis(200);

pub(super) fn run(args: &CrawlArgs, say: Say) -> Result<u8, Failure> {
    let config = load(&args.config)?;
    config.check_seeds(&args.config)?;
    let schedule = schedule(args, &config)?;
    fresh::move_aside(&config, args.fresh, say)?;
    let program = std::env::current_exe().ok();
    let mode = CrawlMode { program, all: args.all, allow_deletes: args.allow_deletes };
    runtime()?.block_on(async {
        let demo = demo(&config, say).await?;
        let signals = Signals::listen(say);
        let code = match schedule {
            None => once(&config, &mode, &signals, say).await,
            Some(schedule) => again_and_again(&config, &mode, &schedule, &signals, say).await,
        };
        signals.listening.abort();
        if let Some(demo) = demo {
            demo.shutdown().await;
        }
        code
    })
}

fn schedule(args: &CrawlArgs, config: &Config) -> Result<Option<Schedule>, Failure> {
    if !args.schedule.scheduled {
        return Ok(args.schedule.every.map(Schedule::Every));
    }
    let pattern = config.schedule.cron.clone().ok_or_else(|| {
        Failure::usage("`schedule.cron` is not set", "set it, such as `cron = \"30 2 * * *\"`")
    })?;
    Ok(Some(Schedule::Cron(pattern)))
}

/// Runs, waits and runs again, one run at a time, until a signal comes or a run stops.
async fn again_and_again(
    config: &Config,
    mode: &CrawlMode,
    schedule: &Schedule,
    signals: &Signals,
    say: Say,
) -> Result<u8, Failure> {
    let began = Clock::System.now();
    let mut is_due = schedule.begins_at_once();
    loop {
        if is_due {
            let code = once(config, mode, signals, say).await?;
            if code != exit::DONE && code != exit::FAILURES {
                return Ok(code);
            }
        }
        if !schedule.next(began, &signals.stop).await {
            return Ok(signals.code());
        }
        is_due = true;
    }
}

/// One run, with its progress shown and its result said.
async fn once(
    config: &Config,
    mode: &CrawlMode,
    signals: &Signals,
    say: Say,
) -> Result<u8, Failure> {
    let progress = Arc::new(Progress::default());
    let bar = say.shows_progress().then(|| tokio::spawn(show(Arc::clone(&progress))));
    let summary = crawl(config, mode, progress, signals.stop.clone(), Clock::System).await;
    if let Some(bar) = bar {
        bar.abort();
    }
    let summary = summary?;
    report(config, &summary, say)?;
    Ok(match signals.code() {
        exit::DONE if summary.refuses_to_delete() => exit::STOPPED,
        exit::DONE if summary.fails(config.run.max_failure_ratio) => exit::FAILURES,
        code => code,
    })
}

/// The signals that end a run.
struct Signals {
    stop: CancellationToken,
    code: Arc<AtomicU8>,
    listening: tokio::task::JoinHandle<()>,
}

impl Signals {
    fn listen(say: Say) -> Self {
        let stop = CancellationToken::new();
        let code = Arc::new(AtomicU8::new(exit::DONE));
        let listening = tokio::spawn(listen(stop.clone(), Arc::clone(&code), say));
        Self { stop, code, listening }
    }

    /// The exit code of the signal that came, 0 where none did.
    fn code(&self) -> u8 {
        self.code.load(Ordering::Acquire)
    }
}

async fn demo(config: &Config, say: Say) -> Result<Option<DemoServer>, Failure> {
    let Some(options) = &config.demo else { return Ok(None) };
    let server = serve(options).await.map_err(|error| {
        let hint = "change `demo.address`, and the seeds with it".to_owned();
        Failure::Other(error.to_string(), Some(hint), exit::USAGE)
    })?;
    say.line(&format!("serving `{}` at http://{}/", options.folder.display(), server.address()));
    Ok(Some(server))
}

/// The first signal ends the run in order, a second one at once.
async fn listen(stop: CancellationToken, signalled: Arc<AtomicU8>, say: Say) {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return;
    };
    loop {
        let code = tokio::select! {
            _ = interrupt.recv() => exit::INTERRUPTED,
            _ = terminate.recv() => exit::TERMINATED,
        };
        if stop.is_cancelled() {
            leave(code);
        }
        signalled.store(code, Ordering::Release);
        stop.cancel();
        say.line("finishing what is in flight; once more leaves at once");
    }
}

/// Leaves at once: what is committed is safe, and the next run takes up the rest.
#[expect(clippy::exit, reason = "the user asked twice")]
fn leave(code: u8) -> ! {
    std::process::exit(i32::from(code))
}

/// Shows progress until it is aborted.
async fn show(progress: Arc<Progress>) {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
        bar.set_style(style);
    }
    let began = tokio::time::Instant::now();
    loop {
        let view = progress.view();
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let rate = decimal((view.pages * 10_000).checked_div(millis).unwrap_or(0));
        let hosts: Vec<&str> = view.hosts.iter().map(String::as_str).take(3).collect();
        let more = view.hosts.len().saturating_sub(hosts.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        bar.set_message(format!(
            "{} pages · {rate}/s · {} queued · {} MB · {} failed · {}{more}",
            number(view.pages),
            number(view.queued),
            decimal(view.bytes / 100_000),
            number(view.failures),
            hosts.join(", "),
        ));
        bar.tick();
        tokio::time::sleep(TICK).await;
    }
}

/// Says what the run did.
pub(super) fn report(config: &Config, summary: &RunSummary, say: Say) -> Result<(), Failure> {
    let tenths = (summary.ended_at.0 - summary.started_at.0).max(0).unsigned_abs() / 100_000;
    let outcome = |name| summary.outcome(name);
    say.line(&format!(
        "collected {} in {} s; {} unchanged, {} duplicate, {} excluded, {} gone, {} failed",
        count(outcome("collected"), "page", "pages"),
        decimal(tenths),
        number(outcome("unchanged")),
        number(outcome("duplicate")),
        number(outcome("excluded")),
        number(outcome("gone")),
        number(outcome("failed")),
    ));
    say.line(&format!(
        "wrote {} with {} tokens to `{}`",
        count(summary.chunks, "chunk", "chunks"),
        number(summary.tokens),
        config.output.path.display(),
    ));
    let marks = summary.marks;
    if marks.near_duplicates + marks.repeated_chunks > 0 {
        say.line(&format!(
            "marked {} and {}",
            count(marks.near_duplicates, "near-duplicate page", "near-duplicate pages"),
            count(marks.repeated_chunks, "repeated chunk", "repeated chunks"),
        ));
    }
    let changes = summary.changes;
    if changes.meta + changes.delete > 0 {
        say.line(&format!(
            "told the change feed: {} to embed, {} moved, {} to delete",
            number(changes.upsert),
            number(changes.meta),
            number(changes.delete),
        ));
    }
    for (reason, n) in summary.reasons.iter().chain(&summary.links_refused) {
        say.detail(&format!("  {reason:<28} {:>10}", number(*n)));
    }
    warn(summary, say);
    say.result(summary, String::new)
}

/// One warning a kind of trouble, and at most one hint for each.
fn warn(summary: &RunSummary, say: Say) {
    let with_prefix = |prefix: &'static str| {
        summary.reasons.iter().filter(move |(reason, _)| reason.starts_with(prefix))
    };
    let failures: Vec<String> = ["fetch.", "extract.", "input.", "internal."]
        .into_iter()
        .flat_map(with_prefix)
        .map(|(reason, n)| format!("`{reason}` {}", number(*n)))
        .collect();
    if !failures.is_empty() {
        let failed = count(summary.outcome("failed"), "page", "pages");
        say.warning(&format!("{failed} failed: {}", failures.join(", ")));
        say.hint("the column `reason` of `pages` says which; the same command tries them again");
    }
    for (host, deferred) in &summary.deferred {
        let pages = count(deferred.pages, "page waits", "pages wait");
        say.warning(&format!("{host}: {}; {pages} for the next run", deferred.why));
    }
    if !summary.deferred.is_empty() {
        say.hint("nothing is lost: the same command tries again");
    }
    if summary.refuses_to_delete() {
        let gone = count(summary.deletions.condemned, "page is gone", "pages are gone");
        say.error(&format!(
            "{gone} of {}, more than `recrawl.max_delete_ratio`; nothing was deleted",
            number(summary.deletions.live),
        ));
        say.hint("if that is right, run the same command with `--allow-deletes`");
    }
    if summary.reason == "limit" {
        say.hint("the run reached its limit; the same command goes on where it was");
    }
    if summary.pages() == 0 && summary.deferred.is_empty() {
        say.line("nothing to do: no known page is due");
        say.hint("`--all` visits every page again; `[recrawl]` says when pages are due");
    } else if summary.outcome("collected") + summary.outcome("unchanged") == 0
        && summary.deferred.is_empty()
    {
        say.warning("no page was collected");
        say.hint("`corpus check CONFIG URL` says what happens to an address, `corpus page URL --format stats` what becomes of its text");
    }
}
