//! Turns what the store has committed into the files of the corpus, and puts right what a crash
//! left half done.

use std::path::Path;
use std::sync::Arc;

use super::feed::tell_changes;
use super::summary::ChangeCounts;
use super::{RunError, compact};
use crate::chunk::CHUNKER_VERSION;
use crate::model::{ContentHash, kill_point};
use crate::output::{
    FileInfo, FileKind, Manifest, OutputError, OutputOptions, PartEntry, PartStamp, PartWriter,
    SCHEMA_VERSION, Superseded, Tombstone, list_files, remove_file, remove_temporaries,
    write_manifest,
};
use crate::store::{
    CommitRules, MarkCounts, PartHolds, SealedPart, Store, StoredFile, SupersededBy,
};

/// Records read from the spool at once.
const SPOOL_BATCH: u32 = 64;

/// Writes the parts of one run.
#[derive(Clone)]
pub(super) struct Publisher {
    pub(super) store: Arc<Store>,
    pub(super) output: OutputOptions,
    pub(super) run: i64,
    pub(super) config_hash: ContentHash,
}

impl Publisher {
    /// Puts right what a crash may have left: parts that were sealed are written, retired and
    /// temporary files go, and a file that nobody knows is an error.
    pub(super) async fn recover(&self) -> Result<(), RunError> {
        for part in &self.store.sealed_parts().await? {
            self.materialize(part).await?;
        }
        kill_point("recover.rebuilt");
        remove_temporaries(&self.output.path)?;
        let mut known = self.store.retired_files().await?;
        for part in self.store.published_parts().await? {
            known.extend(part.files.into_iter().map(|file| file.path));
        }
        let listing = list_files(&self.output.path)?;
        let strangers = listing.parts.iter().map(|found| found.kind.path(found.part));
        if let Some(stranger) = strangers.into_iter().find(|path| !known.contains(path)) {
            return Err(RunError::UnknownFile(self.output.path.join(stranger)));
        }
        if let Some(unknown) = listing.unknown.into_iter().next() {
            return Err(RunError::UnknownFile(unknown));
        }
        self.write_manifest().await?;
        kill_point("recover.manifest");
        self.remove_retired().await
    }

    /// Seals what is spooled and writes it out.
    pub(super) async fn close_part(&self) -> Result<(), RunError> {
        let part = self.store.seal(self.run, &self.config_hash.to_string()).await?;
        if let Some(part) = part {
            self.materialize(&part).await?;
        }
        self.write_manifest().await
    }

    /// Tells the change feed what became of the corpus. Nothing may wait in the spool; the
    /// manifest is to be written behind it.
    pub(super) async fn close_changes(&self) -> Result<ChangeCounts, RunError> {
        let part = self.store.seal_changes(self.run, &self.config_hash.to_string()).await?;
        match part {
            Some(part) => self.materialize_changes(&part).await,
            None => Ok(ChangeCounts::default()),
        }
    }

    /// Finds which pages and chunks others resemble, writes the last part, and says it in those
    /// that were written before. The manifest is to be written behind it.
    pub(super) async fn close_marks(&self, rules: CommitRules) -> Result<MarkCounts, RunError> {
        self.store.settle_marks(rules).await?;
        self.close_part().await?;
        let hash = self.config_hash.to_string();
        for part in self.store.unmarked_parts().await? {
            let holds = PartHolds::Marked;
            let marked = self.store.seal_compacted(self.run, &hash, (part, part), holds).await?;
            self.materialize(&marked).await?;
        }
        Ok(self.store.mark_counts().await?)
    }

    /// Writes a sealed part's files, then records that they are in place.
    pub(super) async fn materialize(&self, part: &SealedPart) -> Result<(), RunError> {
        match part.holds {
            PartHolds::Records => self.materialize_records(part).await,
            PartHolds::Changes => self.materialize_changes(part).await.map(|_| ()),
            PartHolds::Compacted | PartHolds::Marked => {
                let files = compact::write_live_rows(self, part).await?;
                let stored: Vec<StoredFile> = files.iter().map(stored_file).collect();
                Ok(self.store.publish_compacted(part, &stored).await?)
            }
        }
    }

    async fn materialize_changes(&self, part: &SealedPart) -> Result<ChangeCounts, RunError> {
        let (file, told) = tell_changes(self, part).await?;
        self.store.publish_changes(part, &stored_file(&file)).await?;
        Ok(told)
    }

    async fn materialize_records(&self, part: &SealedPart) -> Result<(), RunError> {
        let (options, stamp) = (self.output.clone(), self.stamp(part));
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
        Ok(self.store.publish(part, &stored).await?)
    }

    /// What a part says in its footer.
    pub(super) fn stamp(&self, part: &SealedPart) -> PartStamp {
        PartStamp {
            part: part.id.unsigned_abs(),
            run_id: run_id(part.run),
            config_hash: ContentHash::from_hex(&part.config_hash).unwrap_or(self.config_hash),
            chunker_version: CHUNKER_VERSION,
        }
    }

    /// Writes the manifest anew.
    pub(super) async fn write_manifest(&self) -> Result<(), RunError> {
        publish_manifest(&self.store, &self.output.path).await
    }

    /// Deletes the files that a manifest no longer lists.
    pub(super) async fn remove_retired(&self) -> Result<(), RunError> {
        let retired = self.store.retired_files().await?;
        if retired.is_empty() {
            return Ok(());
        }
        let root = self.output.path.clone();
        blocking(move || retired.iter().try_for_each(|path| remove_file(&root, path))).await?;
        kill_point("retired.removed");
        Ok(self.store.forget_retired().await?)
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
    for old in store.superseded(SupersededBy::Published).await? {
        if let Ok(document_id) = old.document_id.parse() {
            manifest.superseded.push(Superseded {
                document_id,
                url: old.url,
                version: old.version,
            });
        }
    }
    for gone in store.tombstones().await? {
        if let Ok(document_id) = gone.document_id.parse() {
            manifest.tombstones.push(Tombstone {
                document_id,
                url: gone.url,
                reason: gone.reason,
                run_id: run_id(gone.run),
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
    let kind = FileKind::ALL.iter().find(|kind| kind.folder() == file.kind)?;
    Some(FileInfo {
        kind: *kind,
        path: file.path.clone(),
        rows: file.rows,
        bytes: file.bytes,
        checksum: file.checksum.clone(),
    })
}

/// Runs work that waits for the disk away from the threads that serve the network.
pub(super) async fn blocking<T: Send + 'static, E: Into<RunError> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, RunError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| RunError::Defect)?.map_err(Into::into)
}
