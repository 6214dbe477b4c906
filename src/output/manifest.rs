//! The manifest: which parts count, and which of their rows no longer do.
//!
//! In: the store's list of parts, superseded versions and gone pages. Out: `_manifest.json`, and
//! the same values read back. Promises: a reader sees the manifest before or after a change, never
//! between; a manifest that differs by a single byte from what was written is an error. It does
//! not look at the parts.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{OutputError, SCHEMA_VERSION, disk, write_json};

/// The manifest's name below the folder of the corpus.
pub const MANIFEST: &str = "_manifest.json";

/// The folder of the runs' summaries.
const RUNS: &str = "runs";

/// Which table a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// One row a page and run.
    Pages,
    /// One row a chunk.
    Chunks,
    /// One row a chunk that appeared, moved or went.
    Changes,
}

impl FileKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Pages, Self::Chunks, Self::Changes];

    /// The folder of its files.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Chunks => "chunks",
            Self::Changes => "changes",
        }
    }

    /// Where the file of `part` stands below the folder of the corpus.
    pub fn path(self, part: u64) -> String {
        format!("{}/part-{part:06}.parquet", self.folder())
    }
}

/// What is recorded of a file when it is published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileInfo {
    /// Which table it belongs to.
    pub kind: FileKind,
    /// Where it stands below the folder of the corpus, with `/` between the names.
    pub path: String,
    /// Its rows.
    pub rows: u64,
    /// Its length.
    pub bytes: u64,
    /// Its blake3 hash, 256 bits in hexadecimal.
    pub checksum: String,
}

/// A part that readers should read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEntry {
    /// The part's number.
    pub id: u64,
    /// Its files.
    pub files: Vec<FileInfo>,
}

/// A content of a page that a later one replaces: its rows are in a part, but no longer count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Superseded {
    /// The page.
    pub document_id: Uuid,
    /// Its address.
    pub url: String,
    /// The version that no longer counts.
    pub version: u32,
}

/// A page that is known to be gone, or no longer wanted: none of its rows count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// The page.
    pub document_id: Uuid,
    /// Its address.
    pub url: String,
    /// Why, as a stable dotted code.
    pub reason: String,
    /// The run that found it so.
    pub run_id: String,
}

/// Which parts count, and which of their rows no longer do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The version of the program that wrote it.
    pub program_version: String,
    /// The live parts, in the order of their numbers.
    pub parts: Vec<PartEntry>,
    /// Contents that later ones replace.
    pub superseded: Vec<Superseded>,
    /// Pages that are gone.
    pub tombstones: Vec<Tombstone>,
    /// The runs whose summaries stand in `runs/`, in order.
    pub runs: Vec<String>,
}

impl Default for Manifest {
    fn default() -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            parts: Vec::new(),
            superseded: Vec::new(),
            tombstones: Vec::new(),
            runs: Vec::new(),
        }
    }
}

/// The manifest as it stands in the file.
#[derive(Serialize, Deserialize)]
struct Sealed<M> {
    #[serde(flatten)]
    manifest: M,
    /// blake3 of the file's text without these digits.
    checksum: String,
}

/// Writes the manifest, in place of the one before.
///
/// # Errors
///
/// Fails where the file cannot be written.
pub fn write_manifest(root: &Path, manifest: &Manifest) -> Result<(), OutputError> {
    let json = |source| OutputError::Json { doing: "write", path: root.join(MANIFEST), source };
    let open = Sealed { manifest, checksum: String::new() };
    let checksum = digits_of(&(serde_json::to_string_pretty(&open).map_err(json)? + "\n"));
    let sealed = Sealed { manifest, checksum };
    disk::write_text(root, MANIFEST, &(serde_json::to_string_pretty(&sealed).map_err(json)? + "\n"))
}

/// Reads the manifest; `None` where there is none yet.
///
/// # Errors
///
/// Fails where the file cannot be read, is not a manifest, differs from what was written, or was
/// written by a newer version.
pub fn read_manifest(root: &Path) -> Result<Option<Manifest>, OutputError> {
    let path = root.join(MANIFEST);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(OutputError::io("read", &path)(error)),
    };
    let json = |source| OutputError::Json { doing: "read", path: path.clone(), source };
    let sealed: Sealed<Manifest> = serde_json::from_slice(&bytes).map_err(json)?;
    let found = sealed.manifest.schema_version;
    if found > SCHEMA_VERSION {
        return Err(OutputError::TooNew { path, found });
    }
    // The digits stand once: whatever else held them would have to hash to itself.
    let text = String::from_utf8_lossy(&bytes).replacen(&sealed.checksum, "", 1);
    if digits_of(&text) != sealed.checksum {
        return Err(OutputError::mismatch(&path, "wrong checksum"));
    }
    Ok(Some(sealed.manifest))
}

/// Writes the summary of a run to `runs/RUN.json`.
///
/// # Errors
///
/// As [`write_json`].
pub fn write_run(root: &Path, run_id: &str, summary: &impl Serialize) -> Result<(), OutputError> {
    write_json(root, &format!("{RUNS}/{run_id}.json"), summary)
}

fn digits_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::document_id;

    fn example() -> Manifest {
        let url = "http://tea.example/green".to_owned();
        let file = |kind: FileKind| FileInfo {
            kind,
            path: kind.path(7),
            rows: 3,
            bytes: 4_096,
            checksum: digits_of(kind.folder()),
        };
        Manifest {
            parts: vec![PartEntry { id: 7, files: FileKind::ALL.map(file).to_vec() }],
            superseded: vec![Superseded {
                document_id: document_id(&url),
                url: url.clone(),
                version: 1,
            }],
            tombstones: vec![Tombstone {
                document_id: document_id(&url),
                url,
                reason: "gone.410".to_owned(),
                run_id: "r2".to_owned(),
            }],
            runs: vec!["r1".to_owned(), "r2".to_owned()],
            ..Manifest::default()
        }
    }

    #[test]
    fn a_manifest_reads_back() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(read_manifest(root.path()).unwrap(), None);
        for manifest in [Manifest::default(), example()] {
            write_manifest(root.path(), &manifest).unwrap();
            assert_eq!(read_manifest(root.path()).unwrap(), Some(manifest));
        }
    }

    #[test]
    fn a_manifest_that_differs_by_one_byte_is_refused() {
        let root = tempfile::tempdir().unwrap();
        write_manifest(root.path(), &example()).unwrap();
        let path = root.path().join(MANIFEST);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, damaged).unwrap();
            assert!(read_manifest(root.path()).is_err(), "byte {at}");
        }
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(read_manifest(root.path()).is_err());
    }

    #[test]
    fn a_manifest_of_a_newer_version_is_refused_by_name() {
        let root = tempfile::tempdir().unwrap();
        let newer = Manifest { schema_version: SCHEMA_VERSION + 1, ..Manifest::default() };
        write_manifest(root.path(), &newer).unwrap();
        let error = read_manifest(root.path()).unwrap_err();
        assert!(error.to_string().starts_with("schema version 2 is newer than 1 in `"), "{error}");
        assert!(!error.is_storage());
    }

    #[test]
    fn a_summary_stands_under_the_name_of_its_run() {
        let root = tempfile::tempdir().unwrap();
        write_run(root.path(), "r1", &serde_json::json!({ "pages": 3 })).unwrap();
        let text = fs::read_to_string(root.path().join("runs/r1.json")).unwrap();
        assert_eq!(text, "{\n  \"pages\": 3\n}\n");
    }
}
