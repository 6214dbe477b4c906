//! Holds state, parts and manifest against each other.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::RunError;
use super::publish::{blocking, file_info, manifest};
use crate::config::Config;
use crate::model::with_causes;
use crate::output::{
    ChangeKey, FileKind, OutputError, check_file, list_files, read_change_keys, read_chunk_keys,
    read_manifest,
};
use crate::store::{Store, StoredFile, StoredPart, SupersededBy};

/// What does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The invariant, as ARCHITECTURE.md numbers them.
    pub invariant: &'static str,
    /// What was found.
    pub what: String,
}

/// What a verification saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Parts looked at.
    pub parts: usize,
    /// Live documents.
    pub documents: usize,
    /// Their chunks.
    pub chunks: u64,
    /// Records that wait in the spool.
    pub spooled: usize,
    /// Whether a crash came before the manifest was written: the next run writes it.
    pub is_manifest_behind: bool,
    /// What does not hold; empty when all does.
    pub findings: Vec<Finding>,
}

/// Checks that what `config` describes is whole: nothing is lost, nothing is there twice, every
/// visible file is complete.
///
/// # Errors
///
/// Fails where the state cannot be read at all.
pub async fn verify(config: &Config) -> Result<VerifyReport, RunError> {
    // Opening checks the database's own integrity and takes the lock.
    let store = Store::open(&config.state_path()).await?;
    let mut report = VerifyReport::default();
    let parts = store.published_parts().await?;
    let sealed = store.sealed_parts().await?;
    report.parts = parts.len();
    let sealed: Vec<i64> = sealed.iter().map(|part| part.id).collect();
    let retired = store.retired_files().await?;
    check_files(config, &parts, (&sealed, &retired), &mut report).await?;
    check_manifest(config, &store, &mut report).await?;
    check_chunks(config, &store, &parts, &mut report).await?;
    check_feed(config, &store, &parts, &mut report).await?;
    let lost = store.lost_links().await?;
    if lost > 0 {
        report.find(
            "V4",
            format!(
                "{lost} links of collected pages lead to pages that the frontier does not know"
            ),
        );
    }
    store.close().await;
    Ok(report)
}

impl VerifyReport {
    fn find(&mut self, invariant: &'static str, what: String) {
        self.findings.push(Finding { invariant, what });
    }
}

/// Every published file is there, whole, and no other stands under a part's name.
async fn check_files(
    config: &Config,
    parts: &[StoredPart],
    (sealed, retired): (&[i64], &[String]),
    report: &mut VerifyReport,
) -> Result<(), RunError> {
    let infos: Vec<_> =
        parts.iter().flat_map(|part| part.files.iter().filter_map(file_info)).collect();
    let root = config.output.path.clone();
    let (listing, failures, infos) = blocking(move || {
        let failures: Vec<String> = infos
            .iter()
            .filter_map(|info| check_file(&root, info).err())
            .map(|error| with_causes(&error))
            .collect();
        list_files(&root).map(|listing| (listing, failures, infos))
    })
    .await?;
    for failure in failures {
        report.find("V2", failure);
    }
    for found in &listing.parts {
        let path = found.kind.path(found.part);
        let is_sealed = sealed.iter().any(|id| id.unsigned_abs() == found.part);
        // A file that compaction has not deleted yet harms nobody who reads by the manifest.
        if !is_sealed && !retired.contains(&path) && !infos.iter().any(|info| info.path == path) {
            report.find("V2", format!("a part that the state does not know: `{path}`"));
        }
    }
    for unknown in listing.unknown {
        report.find("V2", format!("a file that is no part: `{}`", unknown.display()));
    }
    Ok(())
}

/// The manifest says what the state says, or said before a crash came between the two.
async fn check_manifest(
    config: &Config,
    store: &Store,
    report: &mut VerifyReport,
) -> Result<(), RunError> {
    let expected = manifest(store).await?;
    let root = config.output.path.clone();
    let written = tokio::task::spawn_blocking(move || read_manifest(&root))
        .await
        .map_err(|_| RunError::Defect)?;
    let written = match written {
        Ok(written) => written.unwrap_or_default(),
        Err(error) => {
            report.find("M", with_causes(&error));
            return Ok(());
        }
    };
    let retired = store.retired_files().await?;
    let is_known = written.parts.iter().all(|part| {
        let is_retired = part.files.iter().all(|file| retired.contains(&file.path));
        is_retired || expected.parts.contains(part)
    });
    if !is_known || !written.runs.iter().all(|run| expected.runs.contains(run)) {
        report.find("M", "the manifest says what the state does not".to_owned());
    }
    report.is_manifest_behind = written != expected;
    Ok(())
}

/// Every live document's chunks stand exactly once, whole, in a part or in the spool.
async fn check_chunks(
    config: &Config,
    store: &Store,
    parts: &[StoredPart],
    report: &mut VerifyReport,
) -> Result<(), RunError> {
    let superseded = store.superseded(SupersededBy::Committed).await?;
    let is_superseded: HashSet<(String, u32)> =
        superseded.into_iter().map(|old| (old.document_id, old.version)).collect();
    let mut seen: HashMap<(String, u32), Seen> = HashMap::new();
    for StoredFile { path, .. } in files(parts, FileKind::Chunks) {
        let file = config.output.path.join(path);
        let counted = blocking(move || -> Result<_, RunError> { Ok(count_chunks(&file)) }).await?;
        match counted {
            Ok(counts) => {
                for (document, counts) in counts {
                    seen.entry(document).or_default().add(&counts);
                }
            }
            Err(error) => report.find("V2", format!("{error} (`{path}`)")),
        }
    }
    let spooled = store.spooled_chunks().await?;
    report.spooled = spooled.len();
    for (document, version, chunks) in spooled {
        let whole = Seen { rows: chunks, total: chunks, is_ordered: true };
        seen.entry((document, version)).or_default().add(&whole);
    }
    let live = store.live_documents().await?;
    report.documents = live.len();
    for document in &live {
        report.chunks += u64::from(document.chunk_count);
        let key = (document.document_id.clone(), document.version);
        let found = seen.remove(&key).unwrap_or_default();
        if found.rows != document.chunk_count || !found.is_whole() {
            let what =
                format!("{} has {} of {} chunks", document.url, found.rows, document.chunk_count);
            report.find("V1", what);
        }
    }
    for ((document, version), _) in seen {
        if !is_superseded.contains(&(document.clone(), version)) {
            report.find(
                "V1",
                format!("chunks of document {document}, version {version}, that is not live"),
            );
        }
    }
    Ok(())
}

/// The change feed, applied from its beginning, gives the chunks that it has told.
async fn check_feed(
    config: &Config,
    store: &Store,
    parts: &[StoredPart],
    report: &mut VerifyReport,
) -> Result<(), RunError> {
    let mut held: HashSet<uuid::Uuid> = HashSet::new();
    let mut next = 0;
    for file in files(parts, FileKind::Changes) {
        let path = config.output.path.join(&file.path);
        let changes = blocking(move || Ok::<_, RunError>(read_told(&path))).await?;
        let changes = match changes {
            Ok(changes) => changes,
            Err(what) => {
                report.find("V10", what);
                continue;
            }
        };
        for change in changes {
            if change.seq != next {
                report.find("V10", format!("change {} stands where {next} should", change.seq));
            }
            next = change.seq + 1;
            let was_held = held.contains(&change.chunk_id);
            if was_held != (change.op != "upsert") {
                let what = format!("change {next}: `{}` of chunk {}", change.op, change.chunk_id);
                report.find("V10", what);
            }
            if change.op == "delete" {
                held.remove(&change.chunk_id);
            } else {
                held.insert(change.chunk_id);
            }
        }
    }
    let told = store.told_chunks().await?;
    if held != told {
        let (missing, extra) = (told.difference(&held).count(), held.difference(&told).count());
        let what =
            format!("applied, the change feed lacks {missing} chunks and has {extra} too many");
        report.find("V10", what);
    }
    Ok(())
}

/// The files of `kind`, in the order of their parts.
fn files(parts: &[StoredPart], kind: FileKind) -> impl Iterator<Item = &StoredFile> {
    parts.iter().flat_map(|part| &part.files).filter(move |file| file.kind == kind.folder())
}

/// The changes of a part; an error is said in words.
fn read_told(path: &std::path::Path) -> Result<Vec<ChangeKey>, String> {
    let changes = read_change_keys(path).and_then(Iterator::collect);
    changes.map_err(|error: OutputError| with_causes(&error))
}

/// What was seen of one content of a document.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    rows: u32,
    total: u32,
    is_ordered: bool,
}

impl Seen {
    fn add(&mut self, other: &Self) {
        self.is_ordered = other.is_ordered && (self.rows == 0 || self.is_ordered);
        self.rows += other.rows;
        self.total = self.total.max(other.total);
    }

    fn is_whole(&self) -> bool {
        self.rows == self.total && (self.rows == 0 || self.is_ordered)
    }
}

/// Counts a part's chunks by document and version; an error is said in words, since it is a
/// finding and not the end of the verification.
fn count_chunks(path: &std::path::Path) -> Result<HashMap<(String, u32), Seen>, String> {
    let mut counts: HashMap<(String, u32), Seen> = HashMap::new();
    for key in read_chunk_keys(path).map_err(|error| with_causes(&error))? {
        let key = key.map_err(|error| with_causes(&error))?;
        let seen = counts.entry((key.document_id.to_string(), key.version)).or_insert(Seen {
            rows: 0,
            total: key.total_chunks,
            is_ordered: true,
        });
        seen.is_ordered &= key.chunk_index == seen.rows;
        seen.rows += 1;
    }
    Ok(counts)
}
