//! What would happen to an address, and why: without a request.

use serde::Serialize;

use super::RunError;
use crate::config::Config;
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
    /// Why its host may not be contacted, where that is an address. A name is looked up, and each
    /// address that it has is held against the same rules, only when it is asked.
    pub address: Option<String>,
    /// How long, in milliseconds, its host is at least left alone after each answer.
    pub delay_ms: u64,
    /// What the site refuses that its text be used for. Nothing where robots.txt was not asked, or
    /// refuses nothing.
    pub usage: Option<String>,
    /// What robots.txt says: `allowed`, `disallowed` with the line, or why it could not be read.
    /// Nothing where it was not asked.
    pub robots: Option<String>,
    /// The sitemap that lists it. Nothing where none does or none was read.
    pub sitemap: Option<String>,
    /// What a first run would do: `fetch`, or the code of the rule that keeps the page out.
    /// Nothing where robots.txt was not asked.
    pub plan: Option<String>,
    /// What the store knows of it.
    pub known: Option<PageFact>,
}

/// Says what would happen to each of `addresses`, in their order. The store is asked where there
/// is one.
///
/// # Errors
///
/// Fails where the scope is malformed or the state cannot be read.
pub async fn explain(config: &Config, addresses: &[String]) -> Result<Vec<UrlVerdict>, RunError> {
    let scope = Scope::new(&config.crawl)?;
    let policy = config.fetch.address_policy()?;
    let store = match config.state_path() {
        path if path.exists() => Some(Store::peek(&path).await?),
        _ => None,
    };
    let mut verdicts = Vec::with_capacity(addresses.len());
    for address in addresses {
        let mut verdict = verdict(&scope, store.as_ref(), address).await?;
        let ip = WebUrl::parse(address).ok().and_then(|url| url.ip());
        verdict.address = ip.and_then(|ip| policy.check(ip).err()).map(|error| error.to_string());
        verdict.delay_ms = config.politeness.delay_ms;
        verdicts.push(verdict);
    }
    if let Some(store) = store {
        store.close().await;
    }
    Ok(verdicts)
}

async fn verdict(
    scope: &Scope,
    store: Option<&Store>,
    address: &str,
) -> Result<UrlVerdict, RunError> {
    let mut verdict = UrlVerdict {
        url: address.to_owned(),
        canonical_url: None,
        scope: String::new(),
        address: None,
        delay_ms: 0,
        usage: None,
        robots: None,
        sitemap: None,
        plan: None,
        known: None,
    };
    let url = match WebUrl::parse(address) {
        Ok(url) => url,
        Err(error) => {
            verdict.scope = format!("no page: {error}");
            return Ok(verdict);
        }
    };
    verdict.scope = match scope.check(&url) {
        Err(refusal) if !scope.is_seed(&url) => refusal.code().to_owned(),
        _ => "in".to_owned(),
    };
    let key = url.key().to_string();
    if let Some(store) = store {
        verdict.known = store.fact(&key).await?;
    }
    verdict.canonical_url = Some(key);
    Ok(verdict)
}
