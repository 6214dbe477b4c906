//! What would happen to an address, and why: without a request, or with robots.txt asked.

use serde::Serialize;

use super::{Clock, RunError};
use crate::config::Config;
use crate::fetch::{Budget, Fetcher, RobotsAnswer, RobotsMode};
use crate::frontier::Scope;
use crate::model::WebUrl;
use crate::store::{PageFact, Store};

/// What would happen to an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UrlVerdict {
    /// The address as it was given.
    pub url: String,
    /// The key that the page is known by.
    pub canonical_url: Option<String>,
    /// `in`, or the code of the rule that keeps it out.
    pub scope: String,
    /// What robots.txt says: `allowed`, `disallowed` with the line, or why it could not be read.
    /// Nothing where it was not asked.
    pub robots: Option<String>,
    /// What the store knows of it.
    pub known: Option<PageFact>,
}

/// Says what would happen to `address`. The store is asked where there is one.
///
/// # Errors
///
/// Fails where the state cannot be read.
pub async fn explain(config: &Config, address: &str) -> Result<UrlVerdict, RunError> {
    let mut verdict = UrlVerdict {
        url: address.to_owned(),
        canonical_url: None,
        scope: String::new(),
        robots: None,
        known: None,
    };
    let url = match WebUrl::parse(address) {
        Ok(url) => url,
        Err(error) => {
            verdict.scope = format!("no page: {error}");
            return Ok(verdict);
        }
    };
    let key = url.key();
    verdict.scope = match Scope::new(&config.crawl)?.check(&url) {
        Ok(()) => "in".to_owned(),
        Err(refusal) => refusal.code().to_owned(),
    };
    if config.state_path().exists() {
        let store = Store::peek(&config.state_path()).await?;
        verdict.known = store.fact(key.as_str()).await?;
        store.close().await;
    }
    verdict.canonical_url = Some(key.to_string());
    Ok(verdict)
}

/// As [`explain`], and asks the robots.txt of each address's host.
///
/// # Errors
///
/// Fails where the state cannot be read.
pub async fn plan(
    config: &Config,
    addresses: &[String],
    clock: Clock,
) -> Result<Vec<UrlVerdict>, RunError> {
    let fetcher =
        Fetcher::new(&config.fetch, &config.politeness, Budget::new(config.run.body_bytes()))?;
    let mut verdicts = Vec::new();
    for address in addresses {
        let mut verdict = explain(config, address).await?;
        if let Ok(url) = WebUrl::parse(address) {
            verdict.robots = Some(robots(&fetcher, config, &url, clock).await);
        }
        verdicts.push(verdict);
    }
    Ok(verdicts)
}

async fn robots(fetcher: &Fetcher, config: &Config, url: &WebUrl, clock: Clock) -> String {
    if config.politeness.robots == RobotsMode::Ignore {
        return "ignored by the config".to_owned();
    }
    let file = fetcher.robots(url, clock.now()).await;
    if let RobotsAnswer::Unreachable(error) = &file.answer {
        return format!("could not be read: {error}");
    }
    let verdict = file.rules.verdict(url.as_url());
    let word = if verdict.allowed { "allowed" } else { "disallowed" };
    match (verdict.rule, verdict.line) {
        (Some(rule), Some(line)) => format!("{word} by line {line}: `{rule}`"),
        (Some(rule), None) => format!("{word} by `{rule}`"),
        (None, _) => word.to_owned(),
    }
}
