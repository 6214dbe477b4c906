//! The one writer: commits groups of pages, and turns the spool into parts.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, timeout_at};

use super::{Progress, RunError, RunSummary};
use crate::fetch::Permit;
use crate::model::ContentHash;
use crate::output::{
    FileInfo, Manifest, OutputError, OutputOptions, PartEntry, PartStamp, PartWriter,
    SCHEMA_VERSION, Superseded, list_files, remove_temporaries, write_manifest, write_run,
};
use crate::store::{CommitRules, Committed, SealedPart, Store, StoredFile};

/// Most pages of a commit. What a crash takes back is at most one group and what is in flight.
const GROUP_PAGES: usize = 64;

/// Longest wait for a group to fill.
const GROUP_WAIT: Duration = Duration::from_millis(250);

/// Records read from the spool at once.
const SPOOL_BATCH: u32 = 64;

/// A page that is ready to be committed, with the room that it takes.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) page: Committed,
    pub(super) permit: Option<Permit>,
}

/// What the writer works with.
pub(super) struct Writer {
    pub(super) store: Arc<Store>,
    pub(super) output: OutputOptions,
    pub(super) rules: CommitRules,
    pub(super) config_hash: ContentHash,
    pub(super) progress: Arc<Progress>,
    /// Pages that are fetched and not committed.
    pub(super) unsettled: Arc<AtomicUsize>,
    /// Where authorities go that have new addresses waiting.
    pub(super) ready: Option<UnboundedSender<Vec<String>>>,
}

impl Writer {
    /// Puts right what a crash may have left: parts that were sealed are written, temporary files
    /// go, and a file that nobody knows is an error.
    pub(super) async fn recover(&self) -> Result<(), RunError> {
        let sealed = self.store.sealed_parts().await?;
        for part in &sealed {
            self.materialize(part).await?;
        }
        remove_temporaries(&self.output.path)?;
        let known: Vec<String> = self
            .store
            .published_parts()
            .await?
            .into_iter()
            .flat_map(|part| part.files.into_iter().map(|file| file.path))
            .collect();
        let listing = list_files(&self.output.path)?;
        let strangers = listing.parts.iter().map(|found| found.kind.path(found.part));
        if let Some(stranger) = strangers.into_iter().find(|path| !known.contains(path)) {
            return Err(RunError::UnknownFile(self.output.path.join(stranger)));
        }
        if let Some(unknown) = listing.unknown.into_iter().next() {
            return Err(RunError::UnknownFile(unknown));
        }
        self.write_manifest().await
    }

    /// Commits what comes until nothing more can, then closes the last part.
    pub(super) async fn run(
        self,
        mut finished: UnboundedReceiver<Finished>,
    ) -> Result<(), RunError> {
        let mut spooled = self.store.spooled_bytes().await?;
        while let Some(first) = finished.recv().await {
            let group = self.gather(first, &mut finished).await;
            spooled += self.commit(group).await?;
            if spooled >= self.output.part_bytes {
                self.close_part().await?;
                spooled = 0;
            }
        }
        self.close_part().await
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
        let settled = self.store.commit(pages, self.rules).await?;
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

    /// Seals what is spooled and writes it out.
    async fn close_part(&self) -> Result<(), RunError> {
        let part = self.store.seal(self.rules.run, &self.config_hash.to_string()).await?;
        if let Some(part) = part {
            self.materialize(&part).await?;
        }
        self.write_manifest().await
    }

    /// Writes a sealed part's files from the spool, then records that they are in place.
    async fn materialize(&self, part: &SealedPart) -> Result<(), RunError> {
        let stamp = PartStamp {
            part: part.id.unsigned_abs(),
            run_id: run_id(part.run),
            config_hash: ContentHash::from_hex(&part.config_hash).unwrap_or(self.config_hash),
        };
        let options = self.output.clone();
        let mut writer = blocking(move || PartWriter::create(&options, &stamp)).await?;
        let mut after = part.lo - 1;
        loop {
            let batch = self.store.spooled(part, after, SPOOL_BATCH).await?;
            let Some((last, _)) = batch.last() else { break };
            after = *last;
            writer = blocking(move || {
                for (_, record) in &batch {
                    writer.push(record)?;
                }
                Ok::<_, OutputError>(writer)
            })
            .await?;
        }
        let files = blocking(move || writer.finish()).await?;
        let stored: Vec<StoredFile> = [files.pages, files.chunks].iter().map(stored_file).collect();
        self.store.publish(part, &stored).await?;
        Ok(())
    }

    async fn write_manifest(&self) -> Result<(), RunError> {
        publish_manifest(&self.store, &self.output.path).await
    }
}

/// Writes the manifest anew.
pub(super) async fn publish_manifest(store: &Store, root: &Path) -> Result<(), RunError> {
    let manifest = manifest(store).await?;
    let root = root.to_owned();
    blocking(move || write_manifest(&root, &manifest)).await
}

/// The manifest that the store's knowledge makes.
pub(super) async fn manifest(store: &Store) -> Result<Manifest, RunError> {
    let mut manifest = Manifest { schema_version: SCHEMA_VERSION, ..Manifest::default() };
    env!("CARGO_PKG_VERSION").clone_into(&mut manifest.program_version);
    for part in store.published_parts().await? {
        let files = part.files.iter().filter_map(file_info).collect();
        manifest.parts.push(PartEntry { id: part.id.unsigned_abs(), files });
    }
    for old in store.superseded().await? {
        if let Ok(document_id) = old.document_id.parse() {
            manifest.superseded.push(Superseded {
                document_id,
                url: old.url,
                version: old.version,
            });
        }
    }
    manifest.runs = store.runs().await?.into_iter().map(run_id).collect();
    Ok(manifest)
}

/// The name of a run.
pub(super) fn run_id(run: i64) -> String {
    format!("run-{run:06}")
}

fn stored_file(file: &FileInfo) -> StoredFile {
    StoredFile {
        kind: file.kind.folder().to_owned(),
        path: file.path.clone(),
        rows: file.rows,
        bytes: file.bytes,
        checksum: file.checksum.clone(),
    }
}

/// A stored file as the manifest states it.
pub(super) fn file_info(file: &StoredFile) -> Option<FileInfo> {
    let kind = crate::output::FileKind::ALL.iter().find(|kind| kind.folder() == file.kind)?;
    Some(FileInfo {
        kind: *kind,
        path: file.path.clone(),
        rows: file.rows,
        bytes: file.bytes,
        checksum: file.checksum.clone(),
    })
}

/// Writes the end of a run: its summary, the state's note of it, and the manifest that lists it.
pub(super) async fn conclude(
    store: &Store,
    run: i64,
    root: &Path,
    summary: &RunSummary,
) -> Result<(), RunError> {
    let (folder, written) = (root.to_owned(), summary.clone());
    blocking(move || write_run(&folder, &written.run_id, &written)).await?;
    store.end_run(run, &summary.reason, summary.ended_at).await?;
    publish_manifest(store, root).await
}

/// Runs work that waits for the disk away from the threads that serve the network.
pub(super) async fn blocking<T: Send + 'static, E: Into<RunError> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, RunError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| RunError::Defect)?.map_err(Into::into)
}
