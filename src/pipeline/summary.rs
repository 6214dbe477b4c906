//! The end of a run, as it is written to `runs/RUN.json` and said to the user.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::{Ratio, Timestamp};
use crate::store::{Deletions, MarkCounts, StateReport};

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunSummary {
    /// The run's name.
    pub run_id: String,
    /// When it began, in microseconds since 1970 UTC.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// Why it ended: `finished`, `interrupted` or `limit`.
    pub reason: String,
    /// Pages of this run by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Pages of this run by reason, where they have one.
    pub reasons: BTreeMap<String, u64>,
    /// Links that a rule kept out of the frontier, by rule.
    pub links_refused: BTreeMap<String, u64>,
    /// Hosts whose pages wait for the next run, each with why and how many.
    pub deferred: BTreeMap<String, Deferred>,
    /// Requests made, robots.txt and sitemaps included.
    pub requests: u64,
    /// Bytes of bodies.
    pub bytes: u64,
    /// Chunks that this run wrote and that are in the corpus.
    pub chunks: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Pages that wait.
    pub queued: u64,
    /// What was told to the change feed.
    pub changes: ChangeCounts,
    /// How much of the corpus resembles another part of it, and is marked so.
    pub marks: MarkCounts,
    /// Pages that were deleted because they are gone, or would have been.
    pub deletions: Deletions,
    /// When the next known page is due, in microseconds since 1970 UTC.
    pub next_due: Option<Timestamp>,
}

/// How many chunks the change feed was told of, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChangeCounts {
    /// Chunks to embed and to store.
    pub upsert: u64,
    /// Chunks whose place or time is another.
    pub meta: u64,
    /// Chunks that went.
    pub delete: u64,
}

/// Why a host's pages wait for the next run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Deferred {
    /// What happened.
    pub why: String,
    /// Whether that is a limit of the config and no trouble of the host.
    pub by_limit: bool,
    /// How many pages wait.
    pub pages: u64,
}

/// Whether `part` of `whole` is more than `most` of it.
pub fn exceeds(part: u64, whole: u64, most: Ratio) -> bool {
    let thousandths = (part * 1_000).checked_div(whole).unwrap_or(0);
    thousandths > most.of(1_000) as u64
}

impl RunSummary {
    /// Takes the counts of `report`.
    pub(super) fn count(&mut self, report: &StateReport) {
        for (outcome, reason, n) in &report.outcomes {
            *self.outcomes.entry(outcome.clone()).or_insert(0) += n;
            if !reason.is_empty() {
                *self.reasons.entry(reason.clone()).or_insert(0) += n;
            }
        }
        self.chunks = report.chunks;
        self.tokens = report.tokens;
        self.queued =
            report.waiting.iter().filter(|(state, _)| state == "queued").map(|(_, n)| n).sum();
    }

    /// Whether more pages are gone than a run deletes without being told to.
    pub fn refuses_to_delete(&self) -> bool {
        self.reason == "finished" && self.deletions.condemned > 0 && !self.deletions.are_applied
    }

    /// How many pages of this run have `outcome`.
    pub fn outcome(&self, outcome: &str) -> u64 {
        self.outcomes.get(outcome).copied().unwrap_or(0)
    }

    /// How many pages have an outcome.
    pub fn pages(&self) -> u64 {
        self.outcomes.values().sum()
    }

    /// Whether more than `most` of the pages failed, or wait because their host does.
    pub fn fails(&self, most: Ratio) -> bool {
        let troubled = self.deferred.values().filter(|deferred| !deferred.by_limit);
        let deferred: u64 = troubled.map(|deferred| deferred.pages).sum();
        exceeds(self.outcome("failed") + deferred, self.pages() + deferred, most)
    }
}
