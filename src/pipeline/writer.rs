//! The one writer: commits groups of pages, and closes a part when the spool is full.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, timeout_at};

use super::publish::Publisher;
use super::{Progress, RunError};
use crate::fetch::Permit;
use crate::store::{CommitRules, Committed};

/// Most pages of a commit. What a crash takes back is at most one group and what is in flight.
const GROUP_PAGES: usize = 64;

/// Longest wait for a group to fill.
const GROUP_WAIT: Duration = Duration::from_millis(250);

/// A page that is ready to be committed, with the room that it takes.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) page: Committed,
    pub(super) permit: Option<Permit>,
}

/// What the writer works with.
pub(super) struct Writer {
    pub(super) publisher: Publisher,
    pub(super) rules: CommitRules,
    pub(super) progress: Arc<Progress>,
    /// Pages that are fetched and not committed.
    pub(super) unsettled: Arc<AtomicUsize>,
    /// Where authorities go that have new addresses waiting.
    pub(super) ready: Option<UnboundedSender<Vec<String>>>,
}

impl Writer {
    /// Commits what comes until nothing more can. What is spooled then waits for the run's end.
    pub(super) async fn run(
        self,
        mut finished: UnboundedReceiver<Finished>,
    ) -> Result<(), RunError> {
        let mut spooled = self.publisher.store.spooled_bytes().await?;
        while let Some(first) = finished.recv().await {
            let group = self.gather(first, &mut finished).await;
            spooled += self.commit(group).await?;
            if spooled >= self.publisher.output.part_bytes {
                self.publisher.close_part().await?;
                spooled = 0;
            }
        }
        Ok(())
    }

    /// Collects a group: until it is full, its time is up, or nothing else is on its way.
    async fn gather(
        &self,
        first: Finished,
        finished: &mut UnboundedReceiver<Finished>,
    ) -> Vec<Finished> {
        let until = Instant::now() + GROUP_WAIT;
        let mut group = vec![first];
        while group.len() < GROUP_PAGES {
            match finished.try_recv() {
                Ok(next) => group.push(next),
                Err(_) if group.len() >= self.unsettled.load(Ordering::Acquire) => break,
                Err(_) => match timeout_at(until, finished.recv()).await {
                    Ok(Some(next)) => group.push(next),
                    Ok(None) | Err(_) => break,
                },
            }
        }
        group
    }

    async fn commit(&self, group: Vec<Finished>) -> Result<u64, RunError> {
        let count = group.len();
        let mut pages = Vec::with_capacity(count);
        let mut permits = Vec::with_capacity(count);
        for Finished { page, permit } in group {
            self.progress.page(&page.record);
            pages.push(page);
            permits.push(permit);
        }
        let settled = self.publisher.store.commit(pages, self.rules).await?;
        drop(permits);
        self.progress.queue(settled.found, count as u64);
        // First the news, then the count, then a word to look again: who sees that nothing is on
        // its way has all the news, and is there to see it.
        self.tell(settled.authorities);
        self.unsettled.fetch_sub(count, Ordering::AcqRel);
        self.tell(Vec::new());
        Ok(settled.spooled_bytes)
    }

    fn tell(&self, authorities: Vec<String>) {
        if let Some(ready) = &self.ready {
            // Nobody listens any more once a run is draining.
            drop(ready.send(authorities));
        }
    }
}
