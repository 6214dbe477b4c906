//! The robots.txt of an authority, fetched before anything else of it (RFC 9309 §2.3).

use std::time::Duration;

use super::client::Extent;
use super::coding::DecodeLimits;
use super::robots::{ROBOTS_MAX_BYTES, RobotsRules};
use super::{Answer, Fetcher, Get, PolitenessOptions};
use crate::model::{ErrorCode, FetchedPage, PageError, Timestamp, Validators, WebUrl};

/// Most redirects of a robots.txt that are followed (RFC 9309 §2.3.1.2: at least five).
const MAX_REDIRECTS: usize = 5;

/// Tries for a robots.txt, the first included.
const MAX_TRIES: u32 = 3;

/// How long a robots.txt holds where its answer does not say less (RFC 9309 §2.4).
const MAX_AGE: Duration = Duration::from_hours(24);

/// How long it holds at least: a site that forbids caching is still not asked before every page.
const MIN_AGE: Duration = Duration::from_mins(10);

/// How long an old one stands in for one that cannot be read (RFC 9309 §2.3.1.4: a reasonably long
/// period, for example 30 days).
const MAX_STALE: Duration = Duration::from_hours(30 * 24);

/// What an authority's robots.txt says.
#[derive(Clone, Debug)]
pub struct RobotsFile {
    /// The rules for this crawler.
    pub rules: RobotsRules,
    /// How it was answered.
    pub answer: RobotsAnswer,
    /// How long the server wants to be left alone, where it does.
    pub retry_after: Option<Duration>,
    validators: Validators,
    max_age: Duration,
    /// When it was read, or last found unchanged.
    read_at: Timestamp,
    /// When it is to be asked for again.
    stale_at: Timestamp,
}

/// How a request for a robots.txt was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsAnswer {
    /// With a file.
    Found,
    /// With a refusal (4xx): there are no rules.
    Absent(u16),
    /// Not, or with an error of the server: nothing of the authority may be fetched.
    Unreachable(PageError),
    /// It was not asked for: the config says to ignore it.
    Ignored,
}

impl RobotsFile {
    /// Stands for a robots.txt that is not asked for.
    pub fn ignored() -> Self {
        let file = Self::new(RobotsRules::allow_all(), RobotsAnswer::Ignored, Timestamp::default());
        Self { stale_at: Timestamp(i64::MAX), ..file }
    }

    fn new(rules: RobotsRules, answer: RobotsAnswer, now: Timestamp) -> Self {
        Self {
            rules,
            answer,
            retry_after: None,
            validators: Validators::default(),
            max_age: MAX_AGE,
            read_at: now,
            stale_at: after(now, MAX_AGE),
        }
    }

    fn absent(status: u16, now: Timestamp) -> Self {
        Self::new(RobotsRules::allow_all(), RobotsAnswer::Absent(status), now)
    }

    fn unreachable(error: PageError, now: Timestamp) -> Self {
        Self::new(RobotsRules::disallow_all(), RobotsAnswer::Unreachable(error), now)
    }

    fn found(page: &FetchedPage, product_token: &str) -> Self {
        let rules = RobotsRules::parse(&page.body, product_token, ROBOTS_MAX_BYTES);
        let max_age = page.cache_control.as_deref().map_or(MAX_AGE, max_age);
        Self {
            validators: page.validators.clone(),
            max_age,
            stale_at: after(page.fetched_at, max_age),
            ..Self::new(rules, RobotsAnswer::Found, page.fetched_at)
        }
    }

    /// Whether it is to be asked for again.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        now >= self.stale_at
    }

    fn is_unreachable(&self) -> bool {
        matches!(self.answer, RobotsAnswer::Unreachable(_))
    }

    /// What holds after `newer` was read: itself, or this one where the server failed and this one
    /// is not too old.
    fn succeeded_by(self, newer: Self, now: Timestamp) -> Self {
        let is_usable = !self.is_unreachable() && now < after(self.read_at, MAX_STALE);
        if newer.is_unreachable() && is_usable {
            return Self { stale_at: after(now, MIN_AGE), ..self };
        }
        newer
    }

    fn unchanged(self, now: Timestamp) -> Self {
        Self { read_at: now, stale_at: after(now, self.max_age), ..self }
    }
}

fn after(moment: Timestamp, time: Duration) -> Timestamp {
    Timestamp(moment.0.saturating_add(i64::try_from(time.as_micros()).unwrap_or(i64::MAX)))
}

/// How long a `Cache-Control` field lets an answer hold (RFC 9111 §5.2.2).
fn max_age(cache_control: &str) -> Duration {
    let directives = || cache_control.split(',').map(|text| text.trim().to_ascii_lowercase());
    if directives().any(|directive| matches!(directive.as_str(), "no-store" | "no-cache")) {
        return MIN_AGE;
    }
    let secs = directives().find_map(|directive| directive.strip_prefix("max-age=")?.parse().ok());
    secs.map_or(MAX_AGE, Duration::from_secs).clamp(MIN_AGE, MAX_AGE)
}

impl Fetcher {
    /// Reads the robots.txt of `url`'s authority. Servers that fail are asked again, in turn.
    pub async fn robots(&self, url: &WebUrl, now: Timestamp) -> RobotsFile {
        let file = self.robots_tried(url, &Validators::default(), now).await;
        file.unwrap_or_else(|| {
            let message = "the server answered 304 to an unconditional request";
            RobotsFile::unreachable(PageError::new(ErrorCode::FetchStatus, message), now)
        })
    }

    /// As [`Fetcher::robots`], where `old` was read before. It goes on to hold where the server
    /// says that it is unchanged, and for a while where the server fails.
    pub async fn renewed_robots(
        &self,
        url: &WebUrl,
        old: RobotsFile,
        now: Timestamp,
    ) -> RobotsFile {
        match self.robots_tried(url, &old.validators, now).await {
            Some(newer) => old.succeeded_by(newer, now),
            None => old.unchanged(now),
        }
    }

    /// The robots.txt; `None` where it is as the validators say.
    async fn robots_tried(
        &self,
        url: &WebUrl,
        validators: &Validators,
        now: Timestamp,
    ) -> Option<RobotsFile> {
        let mut tries = 1;
        loop {
            let file = self.robots_once(url, validators, now).await?;
            let is_transient =
                matches!(&file.answer, RobotsAnswer::Unreachable(error) if error.is_transient());
            let rest = file.retry_after.unwrap_or_else(|| self.politeness.retry_delay(tries));
            // A server that wants to be left alone for longer is not asked again in this run.
            let is_final = !is_transient || rest > self.politeness.retry_after_max();
            if is_final || tries >= MAX_TRIES {
                return Some(file);
            }
            self.hold(url, rest).await;
            tries += 1;
        }
    }

    async fn robots_once(
        &self,
        url: &WebUrl,
        validators: &Validators,
        now: Timestamp,
    ) -> Option<RobotsFile> {
        let mut target = match url.join("/robots.txt") {
            Ok(target) => target,
            Err(error) => {
                let error = PageError::new(ErrorCode::FetchProtocol, error.to_string());
                return Some(RobotsFile::unreachable(error, now));
            }
        };
        for _ in 0..=MAX_REDIRECTS {
            let get = Get { url: &target, validators, now };
            // One byte more than is read, so that a line that the limit cuts is seen to be cut.
            let extent = Extent::Start(ROBOTS_MAX_BYTES + 1);
            match self.read_in(self.turn(&target).await, &get, extent).await {
                Ok((Answer::Page(page), _)) => {
                    return Some(RobotsFile::found(&page, self.politeness.product_token()));
                }
                Ok((Answer::Redirect { location, .. }, _)) => target = location,
                Ok((Answer::Status { status, retry_after }, _)) => {
                    return Some(refused(status, retry_after, now));
                }
                Ok((Answer::NotModified, _)) => return None,
                Err(error) => return Some(RobotsFile::unreachable(error, now)),
            }
        }
        // Too many redirects: as if there were none (RFC 9309 §2.3.1.2).
        Some(RobotsFile::absent(TOO_MANY_REDIRECTS, now))
    }
}

/// Stands for a status where redirects do not end.
const TOO_MANY_REDIRECTS: u16 = 310;

/// A status without a file: 4xx means that there are no rules, but for 429, which asks to wait.
fn refused(status: u16, retry_after: Option<Duration>, now: Timestamp) -> RobotsFile {
    if (400..500).contains(&status) && status != 429 {
        return RobotsFile::absent(status, now);
    }
    let message = format!("the server answered {status}");
    let error = PageError::new(ErrorCode::FetchServer, message);
    RobotsFile { retry_after, ..RobotsFile::unreachable(error, now) }
}

impl PolitenessOptions {
    /// The longest wait that a server may ask for.
    pub fn retry_after_max(&self) -> Duration {
        Duration::from_secs(self.retry_after_max_secs)
    }
}

/// Limits for bodies, from the options.
pub(super) fn decode_limits(options: &super::FetchOptions) -> DecodeLimits {
    DecodeLimits {
        max_bytes: options.max_body_bytes,
        max_ratio: options.max_decode_ratio,
        ratio_after_bytes: 1024 * 1024,
    }
}
