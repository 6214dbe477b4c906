//! How pages are asked for, and how politely.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::{AddressPolicy, FetchError};

/// How pages are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FetchOptions {
    /// Longest wait for a connection, in seconds.
    pub connect_timeout_secs: u64,
    /// Longest wait for the first byte of an answer, in seconds.
    pub first_byte_timeout_secs: u64,
    /// Longest wait for a whole answer, in seconds.
    pub timeout_secs: u64,
    /// Slowest body that is read on, in bytes a second over 20 seconds.
    pub min_bytes_per_sec: u64,
    /// Longest body, on the wire and decoded, in bytes.
    pub max_body_bytes: usize,
    /// Most decoded bytes for each byte on the wire, above the first mebibyte.
    pub max_decode_ratio: usize,
    /// Longest list of response headers, in bytes.
    pub max_header_bytes: u32,
    /// Longest chain of redirects.
    pub max_redirects: u32,
    /// Tries for a page, the first included.
    pub max_tries: u32,
    /// Headers sent with every request to an authority of a seed, as `Name: value`.
    pub headers: Vec<String>,
    /// Proxy for every request, as an address. Empty for none; the environment is never asked.
    pub proxy: String,
    /// Private networks that may be contacted all the same, as `address/bits`.
    pub allow_private: Vec<String>,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            connect_timeout_secs: 10,
            first_byte_timeout_secs: 20,
            timeout_secs: 60,
            min_bytes_per_sec: 1_024,
            max_body_bytes: 10 * 1024 * 1024,
            max_decode_ratio: 200,
            max_header_bytes: 64 * 1024,
            max_redirects: 10,
            max_tries: 3,
            headers: Vec::new(),
            proxy: String::new(),
            allow_private: Vec::new(),
        }
    }
}

impl FetchOptions {
    /// Which addresses may be contacted.
    ///
    /// # Errors
    ///
    /// Fails where an entry of `allow_private` is not a network.
    pub fn address_policy(&self) -> Result<AddressPolicy, FetchError> {
        let network = |text: &String| -> Result<IpNet, FetchError> {
            text.parse().map_err(|_| FetchError::Network(text.clone()))
        };
        let allowed = self.allow_private.iter().map(network).collect::<Result<_, _>>()?;
        Ok(AddressPolicy::new(allowed))
    }
}

/// How politely pages are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolitenessOptions {
    /// What the crawler calls itself, before its version and contact. robots.txt knows it by the
    /// letters, `-` and `_` that the name begins with.
    pub user_agent: String,
    /// Where its operator is reached: an address or e-mail, part of the user agent.
    pub contact: String,
    /// What is asked in turn, and has one delay, one pause and `per_host` requests in flight.
    pub unit: PolitenessUnit,
    /// Shortest time between the end of an answer and the next request to its host, in
    /// milliseconds. 0, for sites of one's own, also drops the factor for slow answers.
    pub delay_ms: u64,
    /// Most requests in flight to one host.
    pub per_host: usize,
    /// Most requests in flight.
    pub max_concurrent: usize,
    /// Most requests a second, all hosts together. 0 is no limit.
    pub max_requests_per_sec: u32,
    /// Most requests a second to one host. 0 is no limit beside the delay.
    pub max_host_requests_per_sec: u32,
    /// Whether robots.txt and the robots directives of pages are obeyed.
    pub robots: RobotsMode,
    /// What follows from a site's word on what its text may be used for.
    pub usage_policy: UsagePolicy,
    /// Longest `Crawl-delay` that is obeyed as it stands, in seconds.
    pub crawl_delay_max_secs: u64,
    /// First wait before a failed request is tried again, in milliseconds; it doubles each time.
    pub retry_base_ms: u64,
    /// Longest wait that a server may ask for in a run, in seconds. Beyond, the host's pages wait
    /// for the next run.
    pub retry_after_max_secs: u64,
    /// Failures in a row after which a host's pages wait for the next run.
    pub max_host_failures: u32,
}

/// What is asked in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolitenessUnit {
    /// Each host, with its port.
    Host,
    /// All hosts of one registrable domain, such as the blogs of one provider.
    Domain,
    /// All hosts that one address serves. With a proxy, which looks names up itself, as `Host`.
    Address,
}

/// Whether robots.txt is obeyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RobotsMode {
    /// It is.
    Obey,
    /// It is not: for sites of one's own.
    Ignore,
}

/// What follows from a site's word on what its text may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsagePolicy {
    /// A page that refuses to be the input of a model is no part of the corpus; its links count.
    Respect,
    /// The word is in the page's flags, and nothing follows.
    Record,
    /// It is not looked at.
    Ignore,
}

impl Default for PolitenessOptions {
    fn default() -> Self {
        Self {
            user_agent: "corpusbot".to_owned(),
            contact: String::new(),
            unit: PolitenessUnit::Host,
            delay_ms: 1_000,
            per_host: 1,
            max_concurrent: 64,
            max_requests_per_sec: 0,
            max_host_requests_per_sec: 0,
            robots: RobotsMode::Obey,
            usage_policy: UsagePolicy::Respect,
            crawl_delay_max_secs: 60,
            retry_base_ms: 1_000,
            retry_after_max_secs: 600,
            max_host_failures: 5,
        }
    }
}

impl PolitenessOptions {
    /// The `User-Agent` field.
    pub fn user_agent(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        match self.contact.as_str() {
            "" => format!("{}/{version}", self.user_agent),
            contact => format!("{}/{version} (+{contact})", self.user_agent),
        }
    }

    /// The name that robots.txt and robots directives know this crawler by (RFC 9309 §2.2.1):
    /// letters, `-` and `_`.
    pub fn product_token(&self) -> &str {
        let is_inside = |c: char| c.is_ascii_alphabetic() || matches!(c, '-' | '_');
        let end = self.user_agent.find(|c| !is_inside(c)).unwrap_or(self.user_agent.len());
        self.user_agent.get(..end).unwrap_or_default()
    }

    /// The delay as a duration.
    pub fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms)
    }

    /// The longest `Crawl-delay` as a duration.
    pub fn crawl_delay_max(&self) -> Duration {
        Duration::from_secs(self.crawl_delay_max_secs)
    }

    /// How long to wait before try number `tries + 1`: between half and all of a time that doubles
    /// each time, so that hosts that failed together are not asked together again.
    pub fn retry_delay(&self, tries: u32) -> Duration {
        let doublings = tries.saturating_sub(1).min(10);
        let longest = self.retry_base_ms.saturating_mul(1 << doublings);
        let chance = RandomState::new().build_hasher().finish();
        Duration::from_millis(longest - chance % (longest / 2 + 1))
    }
}
