//! Compaction: what is live moves into fresh parts, and the old ones go.

use std::sync::Arc;

use super::RunError;
use super::publish::{Publisher, blocking, run_id};
use crate::config::Config;
use crate::model::{kill_point, mistake};
use crate::output::{
    ChunkRowKey, FileInfo, FileKind, PageRowKey, PartWriter, RowBatch, RowMark, read_rows,
};
use crate::store::{LastVisit, PartHolds, SealedPart, Store, StoredPart};

/// What a compaction did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct CompactReport {
    /// Parts before.
    pub parts_before: usize,
    /// Parts after.
    pub parts_after: usize,
    /// Bytes of their files before.
    pub bytes_before: u64,
    /// Bytes after.
    pub bytes_after: u64,
}

/// Rewrites the live rows of the corpus that `config` describes into fresh parts, and deletes the
/// old ones. The change feed stays as it is: what it has told is still true.
///
/// # Errors
///
/// Fails where the state or the corpus cannot be read or written; then the next run or
/// compaction takes it up where it was.
pub async fn compact(config: &Config) -> Result<CompactReport, RunError> {
    let store = Arc::new(Store::open(&config.state_path()).await?);
    let config_hash = config.content_hash();
    let run = store.last_run().await?;
    let publisher =
        Publisher { store: Arc::clone(&store), output: config.output.clone(), run, config_hash };
    let report = compact_parts(&publisher).await;
    drop(publisher);
    if let Some(store) = Arc::into_inner(store) {
        store.close().await;
    }
    report
}

async fn compact_parts(publisher: &Publisher) -> Result<CompactReport, RunError> {
    let store = &publisher.store;
    publisher.recover().await?;
    publisher.close_part().await?;
    publisher.close_changes().await?;
    let before = row_parts(store).await?;
    for range in groups(&before, publisher.output.part_bytes) {
        let hash = publisher.config_hash.to_string();
        let part = store.seal_compacted(publisher.run, &hash, range, PartHolds::Compacted).await?;
        publisher.materialize(&part).await?;
    }
    kill_point("compact.parts");
    store.forget_superseded().await?;
    if mistake("retire-first") {
        publisher.remove_retired().await?;
    }
    kill_point("compact.forgotten");
    publisher.write_manifest().await?;
    publisher.remove_retired().await?;
    let after = row_parts(store).await?;
    Ok(CompactReport {
        parts_before: before.len(),
        parts_after: after.len(),
        bytes_before: before.iter().map(bytes).sum(),
        bytes_after: after.iter().map(bytes).sum(),
    })
}

/// The parts that hold pages and chunks.
async fn row_parts(store: &Store) -> Result<Vec<StoredPart>, RunError> {
    let mut parts = store.published_parts().await?;
    parts.retain(|part| part.holds != PartHolds::Changes);
    Ok(parts)
}

fn bytes(part: &StoredPart) -> u64 {
    part.files.iter().map(|file| file.bytes).sum()
}

/// Neighbouring parts that become one: as many as stay below `most` bytes together.
fn groups(parts: &[StoredPart], most: u64) -> Vec<(i64, i64)> {
    let mut groups: Vec<(i64, i64)> = Vec::new();
    let mut size = 0;
    for part in parts {
        match groups.last_mut() {
            Some(last) if size + bytes(part) <= most => {
                last.1 = part.id;
                size += bytes(part);
            }
            _ => {
                groups.push((part.id, part.id));
                size = bytes(part);
            }
        }
    }
    groups
}

/// Writes the live rows of the parts that `part` is to replace.
pub(super) async fn write_live_rows(
    publisher: &Publisher,
    part: &SealedPart,
) -> Result<Vec<FileInfo>, RunError> {
    let (options, stamp) = (publisher.output.clone(), publisher.stamp(part));
    let mut writer = blocking(move || PartWriter::create(&options, &stamp)).await?;
    for old in row_parts(&publisher.store).await? {
        if !(part.lo..=part.hi).contains(&old.id) {
            continue;
        }
        for kind in [FileKind::Pages, FileKind::Chunks] {
            let files = old.files.iter().filter(|file| file.kind == kind.folder());
            for file in files {
                writer = copy(publisher, kind, &file.path, writer).await?;
            }
        }
    }
    let files = blocking(move || writer.finish()).await?;
    Ok(vec![files.pages, files.chunks])
}

async fn copy(
    publisher: &Publisher,
    kind: FileKind,
    path: &str,
    mut writer: PartWriter,
) -> Result<PartWriter, RunError> {
    let path = publisher.output.path.join(path);
    let mut rows = blocking(move || read_rows(&path)).await?;
    loop {
        let (next, rest) =
            blocking(move || rows.next().transpose().map(|next| (next, rows))).await?;
        rows = rest;
        let Some(batch) = next else { return Ok(writer) };
        let live = match kind {
            FileKind::Pages => live_pages(&publisher.store, &batch).await?,
            _ => live_chunks(&publisher.store, &batch).await?,
        };
        let (live, marks) = live.ok_or_else(|| rows.impossible())?;
        writer = blocking(move || {
            let marked = batch.marked(kind, &marks)?;
            writer.copy_rows(kind, &marked, &live).map(|()| writer)
        })
        .await?;
    }
}

/// Whether each row counts, and what is said of it.
type Live = (Vec<bool>, Vec<RowMark>);

/// A page keeps the row of its last visit, and the one that holds the content of its chunks.
async fn live_pages(store: &Store, batch: &RowBatch) -> Result<Option<Live>, RunError> {
    let Some(keys) = batch.page_keys() else { return Ok(None) };
    let visits = visits(store, keys.iter().map(|key| &key.url)).await?;
    let row = |key: &PageRowKey| {
        let Some(visit) = visits.get(&key.url) else { return (true, RowMark::default()) };
        let is_content = key.outcome == "collected" && visit.version == Some(key.version);
        let of = visit.mark.near_duplicate_of.clone().filter(|_| is_content);
        let mark = RowMark { near_duplicate_of: of, is_repeated: false };
        (is_content || key.run_id == run_id(visit.run), mark)
    };
    Ok(Some(keys.iter().map(row).unzip()))
}

async fn live_chunks(store: &Store, batch: &RowBatch) -> Result<Option<Live>, RunError> {
    let Some(keys) = batch.chunk_keys() else { return Ok(None) };
    let visits = visits(store, keys.iter().map(|key| &key.url)).await?;
    let row = |key: &ChunkRowKey| {
        let Some(visit) = visits.get(&key.url) else { return (false, RowMark::default()) };
        let is_repeated = visit.mark.repeated.contains(&key.chunk_index);
        let near_duplicate_of = visit.mark.near_duplicate_of.clone();
        (visit.version == Some(key.version), RowMark { near_duplicate_of, is_repeated })
    };
    Ok(Some(keys.iter().map(row).unzip()))
}

async fn visits<'a>(
    store: &Store,
    urls: impl Iterator<Item = &'a String>,
) -> Result<std::collections::HashMap<String, LastVisit>, RunError> {
    let mut urls: Vec<String> = urls.cloned().collect();
    urls.dedup();
    let visits = store.last_visits(&urls).await?;
    Ok(visits.into_iter().map(|visit| (visit.url.clone(), visit)).collect())
}
