//! One page through every stage, without state.

use super::{Clock, PageInput, RunError};
use crate::config::Config;
use crate::fetch::{Answer, Budget, Fetcher, Get, RobotsAnswer, RobotsMode};
use crate::model::{ErrorCode, PageError, Validators, WebUrl};

/// A page that was fetched by itself.
#[derive(Debug)]
pub struct SinglePage {
    /// The page.
    pub input: PageInput,
    /// The address that was asked for.
    pub url: String,
    /// The address that answered.
    pub final_url: String,
}

/// Fetches `url` as a crawl would: robots.txt first, redirects followed, each hop checked.
///
/// # Errors
///
/// The outer error is one of the options; the inner one is the page's.
pub async fn fetch_single(
    config: &Config,
    url: &WebUrl,
    clock: Clock,
) -> Result<Result<SinglePage, PageError>, RunError> {
    let budget = Budget::new(config.run.body_bytes());
    let fetcher = Fetcher::new(&config.fetch, &config.politeness, budget)?.at_home_with([url]);
    Ok(fetch(&fetcher, config, url, clock).await)
}

async fn fetch(
    fetcher: &Fetcher,
    config: &Config,
    url: &WebUrl,
    clock: Clock,
) -> Result<SinglePage, PageError> {
    let mut at = url.clone();
    let mut asked = None;
    for _ in 0..=config.fetch.max_redirects {
        if config.politeness.robots == RobotsMode::Obey && asked.as_ref() != Some(&at.authority()) {
            check_robots(fetcher, &at, clock).await?;
            asked = Some(at.authority());
        }
        let validators = Validators::default();
        let get = Get { url: &at, validators: &validators, now: clock.now() };
        match fetcher.ask(&get).await?.0 {
            Answer::Page(page) => {
                let final_url = page.url.to_string();
                let mut input = PageInput::new(
                    page.url.key().to_string(),
                    Some(page.url),
                    &page.media_type,
                    page.body,
                );
                input.status = Some(page.status);
                input.charset = page.charset;
                input.robots_tags = page.robots_tags;
                input.fetched_at = page.fetched_at;
                input.elapsed_ms = page.elapsed_ms;
                return Ok(SinglePage { input, url: url.to_string(), final_url });
            }
            Answer::Redirect { location, .. } => at = location,
            Answer::NotModified => {
                return Err(PageError::new(ErrorCode::FetchStatus, "the server answered 304"));
            }
            Answer::Status { status, .. } => {
                let code =
                    if status >= 500 { ErrorCode::FetchServer } else { ErrorCode::FetchRefused };
                return Err(PageError::new(code, format!("the server answered {status}")));
            }
        }
    }
    let message = format!("more than {} redirects", config.fetch.max_redirects);
    Err(PageError::new(ErrorCode::FetchBadRedirect, message))
}

async fn check_robots(fetcher: &Fetcher, url: &WebUrl, clock: Clock) -> Result<(), PageError> {
    let file = fetcher.robots(url, clock.now()).await;
    if let RobotsAnswer::Unreachable(error) = file.answer {
        let message = format!("robots.txt could not be read: {error}");
        return Err(PageError::new(ErrorCode::RobotsUnreachable, message));
    }
    let verdict = file.rules.verdict(url.as_url());
    if verdict.allowed {
        return Ok(());
    }
    let rule = verdict.rule.unwrap_or_default();
    Err(PageError::new(ErrorCode::FetchRefused, format!("robots.txt forbids it (`{rule}`)")))
}
