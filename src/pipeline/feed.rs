//! The change feed: what a vector store must do to hold what the corpus holds.
//!
//! A part of it compares what the feed has told with what is live. Chunks that appeared are read
//! back from the parts that were published since; those of a page that has new content keep their
//! id where their text is the same, and are told as `meta`.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use super::RunError;
use super::publish::{Publisher, blocking};
use super::summary::ChangeCounts;
use crate::config::Config;
use crate::output::{
    Change, ChangesWriter, ChunkRowKey, DeletedChunk, FileInfo, FileKind, OutputError, RowBatch,
    read_manifest, read_rows, write_changes_json,
};
use crate::store::{PartHolds, SealedPart, Untold};

/// Pages looked at at once for chunks that went.
const PAGES: u32 = 512;

/// Writes the part of the change feed that `part` fixes.
pub(super) async fn tell_changes(
    publisher: &Publisher,
    part: &SealedPart,
) -> Result<(FileInfo, ChangeCounts), RunError> {
    let store = &publisher.store;
    let (options, stamp) = (publisher.output.clone(), publisher.stamp(part));
    let seq = store.told_changes().await?;
    let writer = blocking(move || ChangesWriter::create(&options, &stamp, seq)).await?;
    let mut feed = Feed { publisher, writer, told: ChangeCounts::default() };
    for published in store.published_parts().await? {
        let is_new = (part.lo..=part.hi).contains(&published.id);
        let holds_news = matches!(published.holds, PartHolds::Records | PartHolds::Marked);
        if !is_new || !holds_news {
            continue;
        }
        let files = published.files.iter().filter(|file| file.kind == FileKind::Chunks.folder());
        for file in files {
            feed = feed.chunks(&file.path).await?;
        }
    }
    let mut after = 0;
    loop {
        let pages = store.untold_before(after, PAGES).await?;
        let Some(last) = pages.last() else { break };
        after = last.page;
        feed = feed.deletions(pages.iter().flat_map(deletions).collect()).await?;
    }
    let Feed { writer, told, .. } = feed;
    Ok((blocking(move || writer.finish()).await?, told))
}

/// A part of the change feed in the making.
struct Feed<'a> {
    publisher: &'a Publisher,
    writer: ChangesWriter,
    told: ChangeCounts,
}

impl Feed<'_> {
    /// Tells the chunks of a published file that are live and not told as they are.
    async fn chunks(mut self, path: &str) -> Result<Self, RunError> {
        let path = self.publisher.output.path.join(path);
        let mut rows = blocking(move || read_rows(&path)).await?;
        loop {
            let (next, rest) = blocking(move || {
                let batch = rows.next().transpose()?;
                let keyed = batch.map(|batch| {
                    batch.chunk_keys().map(|keys| (batch, keys)).ok_or_else(|| rows.impossible())
                });
                keyed.transpose().map(|next| (next, rows))
            })
            .await?;
            rows = rest;
            let Some((batch, keys)) = next else { return Ok(self) };
            let changes = changes(self.publisher, &keys).await?;
            self = self.push(batch, changes).await?;
        }
    }

    async fn push(
        mut self,
        batch: RowBatch,
        changes: Vec<Option<Change>>,
    ) -> Result<Self, RunError> {
        let told = changes.iter().flatten().count() as u64;
        if told == 0 {
            return Ok(self);
        }
        let meta = changes.iter().flatten().filter(|change| change.op == "meta").count() as u64;
        self.told.meta += meta;
        self.told.upsert += told - meta;
        let mut writer = self.writer;
        let writer = blocking(move || writer.push(&batch, &changes).map(|()| writer)).await?;
        Ok(Self { writer, ..self })
    }

    async fn deletions(mut self, gone: Vec<DeletedChunk>) -> Result<Self, RunError> {
        self.told.delete += gone.len() as u64;
        let mut writer = self.writer;
        let writer = blocking(move || writer.delete(&gone).map(|()| writer)).await?;
        Ok(Self { writer, ..self })
    }
}

/// Writes the changes that the feed of `config`'s corpus tells to `out` as JSON lines, those of the
/// runs after `since` alone.
///
/// # Errors
///
/// Fails where there is no such run, the corpus cannot be read, or `out` cannot be written to.
pub fn write_changes(
    config: &Config,
    since: Option<&str>,
    out: &mut dyn io::Write,
) -> Result<(), RunError> {
    let root = &config.output.path;
    let manifest = read_manifest(root)?.unwrap_or_default();
    if let Some(since) = since
        && !manifest.runs.iter().any(|run| run == since)
    {
        return Err(RunError::UnknownRun {
            run: since.to_owned(),
            last: manifest.runs.last().cloned(),
        });
    }
    let files = manifest.parts.iter().flat_map(|part| &part.files);
    for file in files.filter(|file| file.kind == FileKind::Changes) {
        write_changes_json(&root.join(&file.path), since, out)?;
    }
    Ok(out.flush().map_err(OutputError::io("write to", Path::new("standard output")))?)
}

/// What is to be told of each chunk.
async fn changes(
    publisher: &Publisher,
    keys: &[ChunkRowKey],
) -> Result<Vec<Option<Change>>, RunError> {
    let mut urls: Vec<String> = keys.iter().map(|key| key.url.clone()).collect();
    urls.dedup();
    let untold = publisher.store.untold(&urls).await?;
    Ok(keys.iter().map(|key| change(key, &untold)).collect())
}

fn change(key: &ChunkRowKey, untold: &HashMap<String, Untold>) -> Option<Change> {
    let page = untold.get(&key.document_id)?;
    if page.version != Some(key.version) {
        return None;
    }
    Some(if page.told.contains(&key.chunk_id) {
        let reason =
            if page.has_told_content && page.told == page.live { "marked" } else { "moved" };
        Change { op: "meta", reason }
    } else {
        Change { op: "upsert", reason: arrival(page) }
    })
}

/// Why a chunk of `page` appeared.
fn arrival(page: &Untold) -> &'static str {
    match (page.told.is_empty(), page.has_told_content) {
        (true, _) => "new_page",
        (false, true) => "rechunked",
        (false, false) => "edited",
    }
}

/// The chunks of `page` that went.
fn deletions(page: &Untold) -> Vec<DeletedChunk> {
    let reason = match page.outcome.as_str() {
        _ if page.version.is_some() => arrival(page),
        "duplicate" => "duplicate",
        "excluded" => "filtered",
        _ => "page_gone",
    };
    let gone = page.told.iter().filter(|id| page.version.is_none() || !page.live.contains(id));
    gone.map(|id| DeletedChunk {
        chunk_id: *id,
        document_id: page.document_id.clone(),
        url: page.url.clone(),
        reason,
    })
    .collect()
}
