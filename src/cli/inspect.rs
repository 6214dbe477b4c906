//! `corpus check`, `corpus status` and `corpus verify`.

use super::args::{CheckArgs, ConfigArgs};
use super::say::{count, number};
use super::{Failure, Say, exit, load, runtime};
use crate::config::Config;
use crate::pipeline::{Clock, Plan, UrlVerdict, explain, plan, verify as verify_corpus};
use crate::store::{StateReport, Store};

pub(super) fn check(args: &CheckArgs, say: Say) -> Result<u8, Failure> {
    let config = load(&args.config)?;
    config.check_seeds(&args.config)?;
    let plan = runtime()?.block_on(async {
        if args.dry_run {
            return plan(&config, &args.urls, Clock::System).await;
        }
        let addresses = explain(&config, &args.urls).await?;
        Ok(Plan { addresses, ..Plan::default() })
    })?;
    say.line(&format!("`{}` is valid", args.config.display()));
    let is_list = args.dry_run && args.urls.is_empty();
    let text = if is_list { plan_line } else { verdict_text };
    say.result(&plan.addresses, || plan.addresses.iter().map(text).collect())?;
    for warning in &plan.warnings {
        say.warning(warning);
    }
    if is_list {
        say.line(&summary(&plan));
    }
    Ok(exit::DONE)
}

/// What a first run would do with an address, in one line.
fn plan_line(verdict: &UrlVerdict) -> String {
    format!("{:<24} {}\n", verdict.plan.as_deref().unwrap_or("no page"), verdict.url)
}

fn summary(plan: &Plan) -> String {
    let is_fetched = |verdict: &&UrlVerdict| verdict.plan.as_deref() == Some("fetch");
    let fetched = plan.addresses.iter().filter(is_fetched).count();
    let others = plan.addresses.len() - fetched;
    format!(
        "a first run begins with {}; {} out; what links lead to shows only then",
        count(fetched as u64, "page", "pages"),
        count(others as u64, "address stays", "addresses stay"),
    )
}

fn verdict_text(verdict: &UrlVerdict) -> String {
    let mut text = format!("{}\n", verdict.url);
    let mut fact =
        |name: &str, value: &str| text.extend(["  ", &format!("{name:<10}"), " ", value, "\n"]);
    if let Some(canonical) = &verdict.canonical_url {
        fact("key", canonical);
    }
    fact("scope", &verdict.scope);
    if let Some(refused) = &verdict.address {
        fact("address", refused);
    }
    if let Some(robots) = &verdict.robots {
        fact("robots", robots);
    }
    if let Some(usage) = &verdict.usage {
        fact("usage", usage);
    }
    if verdict.delay_ms > 0 {
        fact("delay", &format!("{} ms after each answer", number(verdict.delay_ms)));
    }
    if let Some(sitemap) = &verdict.sitemap {
        fact("sitemap", sitemap);
    }
    if let Some(plan) = &verdict.plan {
        fact("plan", plan);
    }
    match &verdict.known {
        None => fact("known", "no"),
        Some(known) => {
            let outcome = known.outcome.as_deref().unwrap_or("no outcome yet");
            let reason = known.reason.as_deref().filter(|reason| !reason.is_empty());
            let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
            fact("known", &format!("{}, {outcome}{reason}, depth {}", known.state, known.depth));
            if let Some(referrer) = &known.referrer {
                fact("found on", referrer);
            }
        }
    }
    text
}

pub(super) fn status(args: &ConfigArgs, say: Say) -> Result<u8, Failure> {
    let config = load(&args.config)?;
    if is_new(&config, say) {
        say.result(&StateReport::default(), String::new)?;
        return Ok(exit::DONE);
    }
    let report = runtime()?.block_on(async {
        let store = Store::peek(&config.state_path()).await?;
        let report = store.report(None).await?;
        store.close().await;
        Ok::<_, crate::pipeline::RunError>(report)
    })?;
    say.result(&report, || status_text(&report))?;
    Ok(exit::DONE)
}

fn is_new(config: &Config, say: Say) -> bool {
    let is_new = !config.state_path().exists();
    if is_new {
        say.line(&format!(
            "nothing was crawled yet: there is no `{}`",
            config.state_path().display()
        ));
    }
    is_new
}

fn status_text(report: &StateReport) -> String {
    let mut text = String::new();
    let mut row = |name: &str, n: u64| text.extend([format!("{name:<34} {:>12}\n", number(n))]);
    for (state, n) in &report.waiting {
        let name = match state.as_str() {
            "deep" => "waiting beyond crawl.max_depth",
            "leased" => "in flight when the last run ended",
            _ => "queued",
        };
        row(name, *n);
    }
    for (outcome, reason, n) in &report.outcomes {
        let name =
            if reason.is_empty() { outcome.clone() } else { format!("{outcome} · {reason}") };
        row(&name, *n);
    }
    row("chunks", report.chunks);
    row("tokens", report.tokens);
    if let Some((run, _, ended, reason)) = &report.last_run {
        let how = match (ended, reason) {
            (Some(_), Some(reason)) => reason.as_str(),
            _ => "did not end in order; the next run goes on",
        };
        text.extend([format!("last run                           run-{run:06}: {how}\n")]);
    }
    text
}

pub(super) fn verify(args: &ConfigArgs, say: Say) -> Result<u8, Failure> {
    let config = load(&args.config)?;
    if is_new(&config, say) {
        return Ok(exit::DONE);
    }
    let report = runtime()?.block_on(verify_corpus(&config))?;
    say.result(&report, String::new)?;
    say.line(&format!(
        "{}, {}, {}, {} in the spool",
        count(report.parts as u64, "part", "parts"),
        count(report.documents as u64, "live document", "live documents"),
        count(report.chunks, "chunk", "chunks"),
        count(report.spooled as u64, "record", "records"),
    ));
    for finding in &report.findings {
        say.warning(&format!("{}: {}", finding.invariant, finding.what));
    }
    if report.is_manifest_behind {
        say.line("the manifest is behind the state; the next run writes it");
    }
    if report.findings.is_empty() {
        say.line("all invariants hold");
        return Ok(exit::DONE);
    }
    let found = count(report.findings.len() as u64, "invariant does", "invariants do");
    Err(Failure::stopped(format!("{found} not hold")))
}
