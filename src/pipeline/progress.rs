//! What a run has done so far, for whoever shows it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::model::{PageOutcome, PageRecord};

/// Counts that grow while a run goes on.
#[derive(Debug, Default)]
pub struct Progress {
    pages: AtomicU64,
    failures: AtomicU64,
    requests: AtomicU64,
    bytes: AtomicU64,
    queued: AtomicU64,
    hosts: Mutex<BTreeSet<String>>,
    refused: Mutex<BTreeMap<&'static str, u64>>,
}

/// The counts at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgressView {
    /// Pages that have an outcome.
    pub pages: u64,
    /// Those that failed.
    pub failures: u64,
    /// Requests made.
    pub requests: u64,
    /// Bytes of bodies.
    pub bytes: u64,
    /// Addresses that wait, as of the last commit.
    pub queued: u64,
    /// Hosts at work.
    pub hosts: Vec<String>,
}

impl Progress {
    /// The counts now.
    pub fn view(&self) -> ProgressView {
        ProgressView {
            pages: self.pages.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            requests: self.requests.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            queued: self.queued.load(Ordering::Relaxed),
            hosts: self
                .hosts
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .iter()
                .cloned()
                .collect(),
        }
    }

    pub(super) fn page(&self, page: &PageRecord) {
        let is_failure = matches!(page.outcome, PageOutcome::Failed(_));
        self.pages.fetch_add(1, Ordering::Relaxed);
        self.failures.fetch_add(u64::from(is_failure), Ordering::Relaxed);
        self.bytes.fetch_add(page.body_bytes, Ordering::Relaxed);
    }

    /// Counts addresses that came to wait, and those that no longer do.
    pub(super) fn queue(&self, came: u64, went: u64) {
        let update = |queued: u64| Some((queued + came).saturating_sub(went));
        self.queued.fetch_update(Ordering::Relaxed, Ordering::Relaxed, update).unwrap_or_default();
    }

    /// Counts a request, and gives how many there were before.
    pub(super) fn request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn host_begins(&self, authority: &str) {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner).insert(authority.to_owned());
    }

    pub(super) fn host_ends(&self, authority: &str) {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner).remove(authority);
    }

    /// Counts links that a rule keeps out of the frontier.
    pub(super) fn refuse(&self, code: &'static str) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner).entry(code).or_insert(0) += 1;
    }

    pub(super) fn refused(&self) -> BTreeMap<String, u64> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.iter().map(|(code, n)| ((*code).to_owned(), *n)).collect()
    }
}
