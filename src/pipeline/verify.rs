//! Holds state, parts and manifest against each other.

use std::collections::HashMap;

use serde::Serialize;

use super::RunError;
use super::writer::{blocking, file_info, manifest};
use crate::config::Config;
use crate::output::{FileKind, check_file, list_files, read_chunk_keys, read_manifest};
use crate::store::{Store, StoredPart};

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
    check_files(config, &parts, sealed.iter().map(|part| part.id).collect(), &mut report).await?;
    check_manifest(config, &store, &mut report).await?;
    check_chunks(config, &store, &parts, &mut report).await?;
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
    sealed: Vec<i64>,
    report: &mut VerifyReport,
) -> Result<(), RunError> {
    let infos: Vec<_> =
        parts.iter().flat_map(|part| part.files.iter().filter_map(file_info)).collect();
    let root = config.output.path.clone();
    let (listing, failures, infos) = blocking(move || {
        let failures: Vec<String> = infos
            .iter()
            .filter_map(|info| check_file(&root, info).err())
            .map(|error| said(&error))
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
        if !is_sealed && !infos.iter().any(|info| info.path == path) {
            report.find("V2", format!("a part that the state does not know: `{path}`"));
        }
    }
    for unknown in listing.unknown {
        report.find("V2", format!("a file that is no part: `{}`", unknown.display()));
    }
    Ok(())
}

/// An error with its causes, in one line.
fn said(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
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
            report.find("M", said(&error));
            return Ok(());
        }
    };
    let is_known = written.parts.iter().all(|part| expected.parts.contains(part))
        && written.superseded.iter().all(|old| expected.superseded.contains(old))
        && written.runs.iter().all(|run| expected.runs.contains(run));
    if !is_known {
        report.find("M", "the manifest says what the state does not".to_owned());
    }
    report.is_manifest_behind = written.parts.len() < expected.parts.len()
        || written.superseded.len() < expected.superseded.len()
        || written.runs.len() < expected.runs.len();
    Ok(())
}

/// Every live document's chunks stand exactly once, whole, in a part or in the spool.
async fn check_chunks(
    config: &Config,
    store: &Store,
    parts: &[StoredPart],
    report: &mut VerifyReport,
) -> Result<(), RunError> {
    let superseded = store.superseded().await?;
    let is_superseded: std::collections::HashSet<(String, u32)> =
        superseded.into_iter().map(|old| (old.document_id, old.version)).collect();
    let mut seen: HashMap<(String, u32), Seen> = HashMap::new();
    for part in parts {
        let path = FileKind::Chunks.path(part.id.unsigned_abs());
        let file = config.output.path.join(&path);
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
    for key in read_chunk_keys(path).map_err(|error| said(&error))? {
        let key = key.map_err(|error| said(&error))?;
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
