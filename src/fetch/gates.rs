//! Which gate a request passes, and which gates are kept.
//!
//! A gate is forgotten when nobody has come for long, so that the memory for them follows the hosts
//! that are asked, not all that a crawl ever saw.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::gate::Gate;
use super::{FetchOptions, PolitenessOptions, PolitenessUnit};
use crate::model::WebUrl;

/// Fewest gates before any is forgotten, and most addresses of names that are kept.
const FEW: usize = 1_024;

/// The gates of all that is asked in turn.
#[derive(Debug)]
pub(super) struct Gates {
    options: PolitenessOptions,
    has_proxy: bool,
    kept: Mutex<Kept>,
    /// The address that each name had when it was first looked up.
    addresses: Mutex<HashMap<String, IpAddr>>,
}

#[derive(Debug, Default)]
struct Kept {
    gates: HashMap<String, Arc<Gate>>,
    /// How many there are when it is worth to look for those that are forgotten.
    review_at: usize,
}

impl Gates {
    pub(super) fn new(options: &PolitenessOptions, fetch: &FetchOptions) -> Self {
        let has_proxy = !fetch.proxy.is_empty();
        let kept = Mutex::new(Kept { gates: HashMap::new(), review_at: FEW });
        Self { options: options.clone(), has_proxy, kept, addresses: Mutex::default() }
    }

    /// The gate that requests to `url` pass.
    pub(super) async fn of(&self, url: &WebUrl) -> Arc<Gate> {
        let key = match self.options.unit {
            PolitenessUnit::Host => None,
            PolitenessUnit::Domain => registrable_domain(url),
            PolitenessUnit::Address => self.address(url).await.map(|ip| ip.to_string()),
        };
        self.get(key.unwrap_or_else(|| host(url)))
    }

    fn get(&self, key: String) -> Arc<Gate> {
        let mut kept = locked(&self.kept);
        if kept.gates.len() >= kept.review_at {
            kept.gates.retain(|_, gate| Arc::strong_count(gate) > 1 || !gate.is_forgotten());
            kept.review_at = (kept.gates.len() * 2).max(FEW);
        }
        let new = || Arc::new(Gate::new(&self.options));
        let gate = Arc::clone(kept.gates.entry(key).or_insert_with(new));
        gate.turn_to();
        gate
    }

    /// The address that serves `url`, the smallest of several; `None` where that is not for this
    /// machine to know. A request looks its name up by itself, and is told there what is wrong.
    async fn address(&self, url: &WebUrl) -> Option<IpAddr> {
        if self.has_proxy {
            return None;
        }
        if let Some(ip) = url.ip().or_else(|| locked(&self.addresses).get(url.host()).copied()) {
            return Some(ip);
        }
        let found = tokio::net::lookup_host((url.host(), 0)).await.ok()?;
        let ip = found.map(|address| address.ip()).min()?;
        let mut addresses = locked(&self.addresses);
        if addresses.len() >= FEW {
            addresses.clear();
        }
        addresses.insert(url.host().to_owned(), ip);
        Some(ip)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn host(url: &WebUrl) -> String {
    format!("{}:{}", url.host(), url.as_url().port_or_known_default().unwrap_or(0))
}

/// The domain that was registered for `url`'s host: one label below a suffix of a registry. A
/// provider's own suffix, such as `blogspot.com`, is taken for the domain that it is.
fn registrable_domain(url: &WebUrl) -> Option<String> {
    if url.ip().is_some() {
        return None;
    }
    let host = url.host().trim_end_matches('.');
    let mut below = host;
    let suffix = loop {
        let suffix = psl::suffix(below.as_bytes())?;
        let text = std::str::from_utf8(suffix.as_bytes()).ok()?;
        if suffix.typ() != Some(psl::Type::Private) {
            break text.to_owned();
        }
        below = text.split_once('.')?.1;
    };
    let above = host.strip_suffix(&suffix)?.strip_suffix('.')?;
    let label = above.rsplit('.').next()?;
    Some(format!("{label}.{suffix}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn gates(unit: PolitenessUnit) -> Gates {
        let options = PolitenessOptions { unit, ..PolitenessOptions::default() };
        Gates::new(&options, &FetchOptions::default())
    }

    fn url(address: &str) -> WebUrl {
        WebUrl::parse(address).unwrap()
    }

    async fn are_one(gates: &Gates, a: &str, b: &str) -> bool {
        Arc::ptr_eq(&gates.of(&url(a)).await, &gates.of(&url(b)).await)
    }

    #[tokio::test]
    async fn a_host_is_a_unit_with_its_port() {
        let gates = gates(PolitenessUnit::Host);
        assert!(are_one(&gates, "http://a.example.org/x", "http://a.example.org:80/y").await);
        assert!(!are_one(&gates, "http://a.example.org/", "https://a.example.org/").await);
        assert!(!are_one(&gates, "http://a.example.org/", "http://b.example.org/").await);
    }

    #[tokio::test]
    async fn hosts_of_a_domain_take_turns() {
        let gates = gates(PolitenessUnit::Domain);
        assert!(are_one(&gates, "http://a.example.org/", "https://b.c.example.org:8000/").await);
        assert!(are_one(&gates, "http://a.blogspot.com/", "http://b.blogspot.com/").await);
        assert!(are_one(&gates, "http://a.example.co.uk/", "http://example.co.uk/").await);
        assert!(!are_one(&gates, "http://a.co.uk/", "http://b.co.uk/").await);
        assert!(!are_one(&gates, "http://192.0.2.1/", "http://192.0.2.2/").await);
        assert!(!are_one(&gates, "http://localhost:1/", "http://localhost:2/").await);
    }

    #[tokio::test]
    async fn hosts_at_an_address_take_turns() {
        let gates = gates(PolitenessUnit::Address);
        locked(&gates.addresses).extend([
            ("a.example".to_owned(), IpAddr::from([192, 0, 2, 1])),
            ("b.example".to_owned(), IpAddr::from([192, 0, 2, 1])),
            ("c.example".to_owned(), IpAddr::from([192, 0, 2, 2])),
        ]);
        assert!(are_one(&gates, "http://a.example/", "https://b.example:1/").await);
        assert!(are_one(&gates, "http://a.example/", "http://192.0.2.1/").await);
        assert!(!are_one(&gates, "http://a.example/", "http://c.example/").await);
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_host_asks_for_outlives_the_crowd() {
        let gates = gates(PolitenessUnit::Host);
        let slow = url("http://slow.example/");
        gates.of(&slow).await.hold(Duration::from_hours(2));
        let busy = gates.of(&url("http://busy.example/")).await;
        for round in 0..5 {
            for n in 0..FEW {
                gates.of(&url(&format!("http://h{n}.r{round}.example/"))).await;
            }
            tokio::time::advance(Duration::from_mins(11)).await;
        }
        assert!(locked(&gates.kept).gates.len() <= 2 * FEW + 2);
        assert!(gates.of(&slow).await.report().rest > Duration::from_hours(1));
        assert!(Arc::ptr_eq(&busy, &gates.of(&url("http://busy.example/")).await));
    }
}
