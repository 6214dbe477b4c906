//! What can go wrong with the state of a crawl.

use std::io;
use std::path::{Path, PathBuf};

/// Why the store could not do what was asked. What it had committed before stays committed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process has the state open.
    #[error("another `corpus` is at work on this state ({holder}): `{}`", path.display())]
    Locked {
        /// The database.
        path: PathBuf,
        /// What the other process says of itself.
        holder: String,
    },
    /// A newer program wrote the state.
    #[error("the state was written by a newer `corpus` (migration {version}): `{}`", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// The migration that this program does not know.
        version: i64,
    },
    /// The database is not what it should be.
    #[error("the state is damaged ({what}): `{}`", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What the check found.
        what: String,
    },
    /// The file system refuses.
    #[error("cannot {doing} `{}`", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// On which path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The database refuses.
    #[error("cannot {doing} in the state `{}`", path.display())]
    Database {
        /// What was being done.
        doing: &'static str,
        /// The database.
        path: PathBuf,
        /// What the database said.
        source: sqlx::Error,
    },
}

impl StoreError {
    pub(super) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source }
    }

    pub(super) fn database(doing: &'static str, path: &Path, source: sqlx::Error) -> Self {
        Self::Database { doing, path: path.to_owned(), source }
    }

    /// Whether the cause is the storage below: no space left, or an I/O error.
    pub fn is_storage(&self) -> bool {
        match self {
            Self::Io { .. } => true,
            // SQLite's primary result codes: 10 IOERR, 13 FULL, 14 CANTOPEN.
            Self::Database { source, .. } => {
                sqlite_code(source).is_some_and(|code| matches!(code & 0xff, 10 | 13 | 14))
            }
            _ => false,
        }
    }

    /// Whether there is no space left.
    pub fn is_out_of_space(&self) -> bool {
        match self {
            Self::Io { source, .. } => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            Self::Database { source, .. } => {
                sqlite_code(source).is_some_and(|code| code & 0xff == 13)
            }
            _ => false,
        }
    }
}

fn sqlite_code(error: &sqlx::Error) -> Option<u32> {
    error.as_database_error()?.code()?.parse().ok()
}
