//! A run: what stands at its beginning and at its end, whatever its pages come from.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tokio::sync::mpsc::UnboundedSender;

use super::publish::{Publisher, blocking, run_id};
use super::writer::Writer;
use super::{Clock, Progress, RunError, RunSummary};
use crate::config::Config;
use crate::model::{Ratio, Timestamp, kill_point};
use crate::output::write_run;
use crate::store::{CommitRules, Store};

/// A run that has begun: what an earlier one left half done is put right.
pub(super) struct Run {
    pub(super) store: Arc<Store>,
    pub(super) number: i64,
    /// When an earlier run may have asked a host last.
    pub(super) last_active: Option<Timestamp>,
    config: Config,
    publisher: Publisher,
    progress: Arc<Progress>,
    clock: Clock,
    started_at: Timestamp,
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Finished,
    Interrupted,
    Limit,
}

impl Run {
    /// Opens the state, gives back what a process that ended held, and begins a run.
    pub(super) async fn begin(
        config: &Config,
        progress: Arc<Progress>,
        clock: Clock,
    ) -> Result<Self, RunError> {
        let store = Arc::new(Store::open(&config.state_path()).await?);
        let config_hash = config.content_hash();
        let started_at = clock.now();
        store.recover_leases().await?;
        let last_active = store.last_active(started_at).await?;
        let number = store.begin_run(&config_hash.to_string(), started_at).await?;
        kill_point("run.begun");
        let output = config.output.clone();
        let publisher = Publisher { store: Arc::clone(&store), output, run: number, config_hash };
        publisher.recover().await?;
        let config = config.clone();
        Ok(Self { store, number, last_active, config, publisher, progress, clock, started_at })
    }

    /// The name of the run.
    pub(super) fn id(&self) -> String {
        run_id(self.number)
    }

    /// The writer of the run's pages.
    pub(super) fn writer(
        &self,
        max_depth: u32,
        unsettled: Arc<AtomicUsize>,
        ready: Option<UnboundedSender<Vec<String>>>,
    ) -> Writer {
        let rules = CommitRules { max_depth, ..self.rules() };
        let progress = Arc::clone(&self.progress);
        Writer { publisher: self.publisher.clone(), rules, progress, unsettled, ready }
    }

    fn rules(&self) -> CommitRules {
        CommitRules {
            run: self.number,
            max_depth: self.config.crawl.max_depth,
            dedup: self.config.dedup,
            recrawl: self.config.recrawl,
            converter: self.publisher.config_hash,
        }
    }

    /// Deletes what is gone, at most the share `most_deleted` of the corpus, marks what is alike,
    /// publishes what is spooled, tells the change feed, writes the summary and closes the state.
    ///
    /// Only a run that has finished deletes: one that was cut may not have met what takes a
    /// page's place.
    pub(super) async fn conclude(
        self,
        ending: Ending,
        most_deleted: Ratio,
        fill: impl FnOnce(&mut RunSummary),
    ) -> Result<RunSummary, RunError> {
        let mut summary = RunSummary {
            run_id: self.id(),
            started_at: self.started_at,
            reason: match ending {
                Ending::Finished => "finished",
                Ending::Interrupted => "interrupted",
                Ending::Limit => "limit",
            }
            .to_owned(),
            ..RunSummary::default()
        };
        fill(&mut summary);
        if ending == Ending::Finished {
            if self.store.has_spooled_condemned().await? {
                self.publisher.close_part().await?;
            }
            summary.deletions = self.store.delete_condemned(self.number, most_deleted).await?;
        }
        summary.marks = self.publisher.close_marks(self.rules()).await?;
        summary.changes = self.publisher.close_changes().await?;
        for (authority, deferred) in &mut summary.deferred {
            deferred.pages = self.store.waiting(authority).await?;
        }
        summary.count(&self.store.report(Some(self.number)).await?);
        let view = self.progress.view();
        summary.requests = view.requests;
        summary.bytes = view.bytes;
        summary.links_refused = self.progress.refused();
        summary.next_due = self.store.next_due().await?;
        summary.ended_at = self.clock.now();
        self.write_end(&summary).await?;
        drop(self.publisher);
        if let Some(store) = Arc::into_inner(self.store) {
            store.close().await;
        }
        Ok(summary)
    }

    /// Writes the summary, the state's note of the end, and the manifest that lists it.
    async fn write_end(&self, summary: &RunSummary) -> Result<(), RunError> {
        let (folder, written) = (self.config.output.path.clone(), summary.clone());
        blocking(move || write_run(&folder, &written.run_id, &written)).await?;
        kill_point("run.summary");
        self.store.end_run(self.number, &summary.reason, summary.ended_at).await?;
        self.publisher.write_manifest().await?;
        self.publisher.remove_retired().await
    }
}
