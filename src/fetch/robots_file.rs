//! The robots.txt of an authority, fetched before anything else of it (RFC 9309 §2.3).

use super::client::Extent;
use super::coding::DecodeLimits;
use super::robots::{ROBOTS_MAX_BYTES, RobotsRules};
use super::{Answer, Fetcher, Get, PolitenessOptions};
use crate::model::{PageError, Timestamp, Validators, WebUrl};

/// Most redirects of a robots.txt that are followed (RFC 9309 §2.3.1.2: at least five).
const MAX_REDIRECTS: usize = 5;

/// Tries for a robots.txt, the first included.
const MAX_TRIES: u32 = 3;

/// What an authority's robots.txt says.
#[derive(Clone, Debug)]
pub struct RobotsFile {
    /// The rules for this crawler.
    pub rules: RobotsRules,
    /// How it was answered.
    pub answer: RobotsAnswer,
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
        Self { rules: RobotsRules::allow_all(), answer: RobotsAnswer::Ignored }
    }
}

impl Fetcher {
    /// Reads the robots.txt of `url`'s authority. Servers that fail are asked again, in turn.
    pub async fn robots(&self, url: &WebUrl, now: Timestamp) -> RobotsFile {
        let mut tries = 1;
        loop {
            let file = self.robots_once(url, now).await;
            let is_final =
                !matches!(&file.answer, RobotsAnswer::Unreachable(error) if error.is_transient());
            if is_final || tries >= MAX_TRIES {
                return file;
            }
            self.hold(url, self.politeness.retry_delay(tries));
            tries += 1;
        }
    }

    async fn robots_once(&self, url: &WebUrl, now: Timestamp) -> RobotsFile {
        let mut target = match url.join("/robots.txt") {
            Ok(target) => target,
            Err(error) => {
                return unreachable(PageError::new(
                    crate::model::ErrorCode::FetchProtocol,
                    error.to_string(),
                ));
            }
        };
        for _ in 0..=MAX_REDIRECTS {
            let validators = Validators::default();
            let get = Get { url: &target, validators: &validators, now };
            // One byte more than is read, so that a line that the limit cuts is seen to be cut.
            let extent = Extent::Start(ROBOTS_MAX_BYTES + 1);
            match self.read_in(self.turn(&target).await, &get, extent).await {
                Ok((Answer::Page(page), _)) => {
                    let token = self.politeness.product_token();
                    let rules = RobotsRules::parse(&page.body, token, ROBOTS_MAX_BYTES);
                    return RobotsFile { rules, answer: RobotsAnswer::Found };
                }
                Ok((Answer::Redirect { location, .. }, _)) => target = location,
                Ok((Answer::Status { status, .. }, _))
                    if (400..500).contains(&status) && status != 429 =>
                {
                    return RobotsFile {
                        rules: RobotsRules::allow_all(),
                        answer: RobotsAnswer::Absent(status),
                    };
                }
                Ok((Answer::Status { status, retry_after, .. }, _)) => {
                    if let Some(rest) = retry_after {
                        self.hold(&target, rest.min(self.politeness.retry_after_max()));
                    }
                    let message = format!("the server answered {status}");
                    return unreachable(PageError::new(
                        crate::model::ErrorCode::FetchServer,
                        message,
                    ));
                }
                Ok((Answer::NotModified, _)) => {
                    let message = "the server answered 304 to an unconditional request";
                    return unreachable(PageError::new(
                        crate::model::ErrorCode::FetchStatus,
                        message,
                    ));
                }
                Err(error) => return unreachable(error),
            }
        }
        // Too many redirects: as if there were none (RFC 9309 §2.3.1.2).
        RobotsFile { rules: RobotsRules::allow_all(), answer: RobotsAnswer::Absent(310) }
    }
}

fn unreachable(error: PageError) -> RobotsFile {
    RobotsFile { rules: RobotsRules::disallow_all(), answer: RobotsAnswer::Unreachable(error) }
}

impl PolitenessOptions {
    /// The longest wait that a server may ask for.
    pub fn retry_after_max(&self) -> std::time::Duration {
        std::time::Duration::from_secs(self.retry_after_max_secs)
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
