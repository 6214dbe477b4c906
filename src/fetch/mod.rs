//! May I, when, and what came back?
//!
//! In: an address. Out: an [`Answer`], or the page's error. Every request of the program goes
//! through [`Fetcher::ask`]: robots.txt, sitemaps, pages, redirects and retries alike. So three
//! promises hold for all of them:
//!
//! - Only addresses that [`AddressPolicy`] admits are contacted, checked on the literal, on every
//!   address that a name resolves to, and on the peer.
//! - Two requests to one host (or whatever `politeness.unit` says) are never closer than its delay,
//!   counted from the end of the answer before, and never more at once than `politeness.per_host`.
//! - A body becomes a page only whole: broken, cut and oversized ones are errors.
//!
//! It follows no redirect by itself, stores nothing, and does not decide what is in scope.

pub mod address;
pub mod charset;
pub mod coding;
pub mod media_type;
pub mod retry_after;
pub mod robots;

mod budget;
mod client;
mod errors;
mod gate;
mod gates;
mod link_field;
mod options;
mod own_headers;
mod resolver;
mod robots_file;

use std::time::Duration;

use tokio::sync::Semaphore;

pub use self::address::AddressPolicy;
pub use self::budget::{Budget, Permit};
use self::client::Client;
use self::client::Extent;
pub use self::client::{Answer, Get};
pub use self::errors::FetchError;
pub use self::gate::{GateReport, Turn};
use self::gates::Gates;
pub use self::options::{FetchOptions, PolitenessOptions, PolitenessUnit, RobotsMode, UsagePolicy};
pub use self::robots_file::{RobotsAnswer, RobotsFile};
use crate::model::{PageError, WebUrl};

/// The one way to the network.
#[derive(Debug)]
pub struct Fetcher {
    client: Client,
    politeness: PolitenessOptions,
    budget: Budget,
    concurrent: Semaphore,
    rate: Option<governor::DefaultDirectRateLimiter>,
    gates: Gates,
}

impl Fetcher {
    /// Makes a fetcher whose bodies take their room from `budget`.
    ///
    /// # Errors
    ///
    /// Fails where a header or the proxy of `options` is malformed, or TLS cannot be set up.
    pub fn new(
        options: &FetchOptions,
        politeness: &PolitenessOptions,
        budget: Budget,
    ) -> Result<Self, FetchError> {
        Ok(Self {
            client: Client::new(options, politeness)?,
            politeness: politeness.clone(),
            budget,
            concurrent: Semaphore::new(politeness.max_concurrent.max(1)),
            rate: gate::limiter(politeness.max_requests_per_sec),
            gates: Gates::new(politeness, options),
        })
    }

    /// Sends the user's own headers to the authorities of `seeds`, and to no other.
    #[must_use]
    pub fn at_home_with<'a>(mut self, seeds: impl IntoIterator<Item = &'a WebUrl>) -> Self {
        seeds.into_iter().for_each(|seed| self.client.add_home(seed));
        self
    }

    /// Checks that a fetcher can be made of the options.
    ///
    /// # Errors
    ///
    /// As [`Fetcher::new`].
    pub fn check(options: &FetchOptions, politeness: &PolitenessOptions) -> Result<(), FetchError> {
        Client::new(options, politeness).map(|_| ())
    }

    /// Asks for `get`, in its host's turn. The permit stands for the body's memory.
    ///
    /// # Errors
    ///
    /// Fails with what went wrong with this page; a server's refusal is an [`Answer`].
    pub async fn ask(&self, get: &Get<'_>) -> Result<(Answer, Permit), PageError> {
        let turn = self.turn(get.url).await;
        self.ask_in(turn, get).await
    }

    /// Waits until `url`'s host may be asked.
    pub async fn turn(&self, url: &WebUrl) -> Turn {
        self.gates.of(url).await.turn().await
    }

    /// Asks for `get` in a turn of its host.
    ///
    /// # Errors
    ///
    /// As [`Fetcher::ask`].
    pub async fn ask_in(&self, turn: Turn, get: &Get<'_>) -> Result<(Answer, Permit), PageError> {
        self.read_in(turn, get, Extent::Whole).await
    }

    /// As [`Fetcher::ask_in`], for a list that is of use in part: of a body that is longer than
    /// `max_body_bytes`, so much and one byte more is read, so that the cut shows.
    ///
    /// # Errors
    ///
    /// As [`Fetcher::ask`].
    pub async fn list_in(&self, turn: Turn, get: &Get<'_>) -> Result<(Answer, Permit), PageError> {
        self.read_in(turn, get, Extent::List(self.client.max_body_bytes() + 1)).await
    }

    /// As [`Fetcher::ask_in`], and says how much of the body is read.
    async fn read_in(
        &self,
        mut turn: Turn,
        get: &Get<'_>,
        extent: Extent,
    ) -> Result<(Answer, Permit), PageError> {
        // The slot of the whole program is taken last, so that waiting hosts hold none.
        let slot = self.concurrent.acquire().await;
        if let Some(rate) = &self.rate {
            rate.until_ready().await;
        }
        turn.begin();
        let answered = self.client.get(get, extent, &self.budget).await;
        drop(slot);
        turn.end(&answered);
        answered
    }

    /// Keeps `url`'s host waiting for at least `delay` from this moment.
    pub async fn hold(&self, url: &WebUrl, delay: Duration) {
        self.gates.of(url).await.hold(delay);
    }

    /// Never asks `url`'s host more often than its robots.txt wants. A host that is asked again
    /// after a long rest is to be told of it again.
    pub async fn set_crawl_delay(&self, url: &WebUrl, delay: Duration) {
        let delay = delay.min(self.politeness.crawl_delay_max());
        self.gates.of(url).await.set_crawl_delay(delay);
    }

    /// How `url`'s host fares.
    pub async fn report(&self, url: &WebUrl) -> GateReport {
        self.gates.of(url).await.report()
    }

    /// Where bodies take their room from.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }
}
