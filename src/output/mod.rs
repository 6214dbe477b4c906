//! Writes pages and their chunks as Parquet parts, and the manifest that says which of them count.
//!
//! In: [`PageRecord`](crate::model::PageRecord)s, in the order in which they were collected. Out,
//! below one folder: `pages/part-NNNNNN.parquet`, `chunks/part-NNNNNN.parquet`,
//! `changes/part-NNNNNN.parquet`, `_manifest.json` and `runs/RUN.json`.
//!
//! Four promises hold whenever the process or the machine stops; `tests` check them.
//!
//! - A file under a final name is complete and readable: it was written under a temporary name,
//!   flushed to the device, opened again and counted before it was renamed.
//! - The same records, stamp and options give the same bytes, so a part that was cut short is
//!   written again under its name and nobody can tell.
//! - A page's chunks stand in one part, contiguous and in order.
//! - Memory is bounded by one row group and one page, whatever the length of a part.
//!
//! It does not decide where a part begins or ends, does not know which pages are live, and reads
//! no clock. A damaged file is an error of that file: reading one never panics.

mod batch;
mod changes;
mod disk;
mod inspect;
mod manifest;
mod part;
mod read;
mod rows;
mod schema;

use std::{
    io,
    path::{Path, PathBuf},
};

use parquet::errors::ParquetError;
use serde::{Deserialize, Serialize};

pub use batch::{ChunkRowKey, PageRowKey, RowBatch, RowBatches, RowMark, read_rows};
pub use changes::{Change, ChangesWriter, DeletedChunk, write_changes_json};
pub use disk::{remove_file, remove_temporaries, write_json};
pub use inspect::{FoundPart, Listing, check_file, list_files};
pub use manifest::{
    FileInfo, FileKind, MANIFEST, Manifest, PartEntry, Superseded, Tombstone, read_manifest,
    write_manifest, write_run,
};
pub use part::{PartFiles, PartStamp, PartWriter};
pub use read::{
    ChangeKey, ChunkKey, PageKey, Rows, read_change_keys, read_chunk_keys, read_page_keys,
};
pub use schema::{CHANGES, CHUNKS, Column, ColumnType, PAGES, Presence, SCHEMA_VERSION};

/// Where the corpus is written, and how large its files grow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutputOptions {
    /// The folder of the corpus. It is created where it is missing.
    pub path: PathBuf,
    /// Uncompressed bytes of collected pages after which a part is closed. At least 64 KiB.
    ///
    /// A part compresses to about a third of it. What a crash leaves to write again is at most
    /// one part.
    pub part_bytes: u64,
    /// Uncompressed bytes after which a row group is closed: what the writer holds in memory for
    /// each of its two files, and what a reader loads at once. At least 1 MiB.
    pub row_group_bytes: u64,
}

impl Default for OutputOptions {
    fn default() -> Self {
        Self {
            path: PathBuf::from("corpus"),
            part_bytes: 128 * 1024 * 1024,
            row_group_bytes: 64 * 1024 * 1024,
        }
    }
}

/// Why the corpus could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The operating system refused.
    #[error("cannot {doing} `{}`", path.display())]
    Io {
        /// What was being done, as words that follow "cannot".
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Rows do not fit the schema: a defect of this program.
    #[error("cannot encode rows for `{}`", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// What the encoder said.
        source: ParquetError,
    },
    /// A file is not Parquet, or not complete.
    #[error("cannot read a damaged part, `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the reader said.
        source: ParquetError,
    },
    /// A file is not what its record says.
    #[error("{what} in `{}`", path.display())]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// A value cannot be written as JSON, or a file is not the JSON that it should be.
    #[error("cannot {doing} `{}` as JSON", path.display())]
    Json {
        /// What was being done, as words that follow "cannot".
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the parser said.
        source: serde_json::Error,
    },
    /// The corpus was written by a newer version of this program.
    #[error("schema version {found} is newer than {SCHEMA_VERSION} in `{}`", path.display())]
    TooNew {
        /// The manifest.
        path: PathBuf,
        /// The version that it states.
        found: u32,
    },
}

impl OutputError {
    /// Whether the disk is the cause: it is full, or an operation on it failed.
    pub fn is_storage(&self) -> bool {
        matches!(self, Self::Io { .. })
    }

    /// Whether whoever reads what is written has stopped reading.
    pub fn is_closed_pipe(&self) -> bool {
        match self {
            Self::Io { source, .. } => source.kind() == io::ErrorKind::BrokenPipe,
            _ => false,
        }
    }

    /// Whether the disk is full, or the user's share of it is used up.
    pub fn is_out_of_space(&self) -> bool {
        match self {
            Self::Io { source, .. } => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            _ => false,
        }
    }

    /// Makes a `map_err` argument for what the operating system refuses.
    pub fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }

    /// Makes a `map_err` argument for what fails while rows are written.
    fn encode(path: &Path) -> impl FnOnce(ParquetError) -> Self {
        let path = path.to_owned();
        move |error| match as_io(error) {
            Ok(source) => Self::Io { doing: "write", path, source },
            Err(source) => Self::Encode { path, source },
        }
    }

    /// Makes a `map_err` argument for what fails while rows are read.
    fn read(path: &Path) -> impl FnOnce(ParquetError) -> Self {
        let path = path.to_owned();
        move |error| match as_io(error) {
            Ok(source) => Self::Io { doing: "read", path, source },
            Err(source) => Self::Unreadable { path, source },
        }
    }

    fn mismatch(path: &Path, what: impl Into<String>) -> Self {
        Self::Mismatch { path: path.to_owned(), what: what.into() }
    }
}

/// The operating system's error inside `error`, or `error` where there is none.
///
/// An end of file in the middle of a part is damage, not a failing disk.
fn as_io(error: ParquetError) -> Result<io::Error, ParquetError> {
    let ParquetError::External(inner) = error else {
        return Err(error);
    };
    match inner.downcast::<io::Error>() {
        Ok(io) if io.raw_os_error().is_some() => Ok(*io),
        Ok(io) => Err(ParquetError::External(io)),
        Err(other) => Err(ParquetError::External(other)),
    }
}

#[cfg(test)]
mod tests;
