//! What a crawl knows, and the one transaction in which it learns more.
//!
//! In: addresses and outcomes. Out: requests to make, and parts to write. The store holds the
//! frontier and `already_collected` in one table, and the spool of collected pages beside it, so
//! that a page's state, its links, its hashes and its chunks are committed together or not at
//! all. That transaction, [`Store::commit`], is the only place where a page is acknowledged.
//!
//! Promises:
//!
//! - What a function has returned survives a kill and a loss of power (`synchronous = FULL`).
//! - One process at a time: the store is locked for as long as it is open.
//! - A database of a newer program is not touched.
//! - A database that was closed in order and differs when it is opened again is refused.
//!
//! It does not decide what is in scope, writes no corpus file, and reads no clock.

mod commit;
mod compact;
mod dedup;
mod digest;
mod error;
mod feed;
mod frontier;
mod likeness;
mod lock;
mod marks;
mod parts;
mod report;
mod run;
mod spool;
mod visits;

use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use serde::{Deserialize, Serialize};
use sqlx::Sqlite;
use sqlx::query::Query;
use sqlx::sqlite::{
    SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteRow, SqliteSynchronous,
};

pub use self::commit::{Committed, Found, Settled};
pub use self::compact::LastVisit;
pub use self::error::StoreError;
pub use self::feed::Untold;
pub use self::frontier::FoundUrl;
use self::lock::Lock;
pub use self::marks::{Mark, MarkCounts};
pub use self::parts::{
    PartHolds, SealedPart, StoredFile, StoredPart, StoredTombstone, SupersededBy, SupersededVersion,
};
pub use self::report::{LiveDocument, PageFact, StateReport};
pub use self::visits::{Deletions, RecrawlOptions, Revisit};
use crate::model::{ContentHash, Ratio};

/// Where the state of a crawl is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StoreOptions {
    /// `sqlite:PATH`.
    pub url: String,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { url: "sqlite:corpus-state/state.db".to_owned() }
    }
}

/// What is a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DedupOptions {
    /// Whether a page whose body or Markdown equals another's becomes its duplicate.
    pub exact: bool,
    /// What becomes of a page that is nearly equal to another.
    pub near: NearMode,
    /// From which share of common runs of 5 words on two pages are nearly equal.
    pub near_similarity: Ratio,
    /// Fewest words of a page for that.
    pub near_min_words: u32,
}

/// What becomes of pages that are nearly equal to another, and of chunks that other pages hold too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NearMode {
    /// They are not looked for.
    Off,
    /// They are marked.
    Mark,
    /// Such pages leave the corpus as duplicates; such chunks are marked.
    Drop,
}

impl Default for DedupOptions {
    fn default() -> Self {
        Self {
            exact: true,
            near: NearMode::Mark,
            near_similarity: Ratio::from_thousandths(800),
            near_min_words: 50,
        }
    }
}

/// What the commits of a run have in common.
#[derive(Clone, Copy, Debug)]
pub struct CommitRules {
    /// The run.
    pub run: i64,
    /// Most links between a seed and a page.
    pub max_depth: u32,
    /// What is a duplicate.
    pub dedup: DedupOptions,
    /// When pages are visited again.
    pub recrawl: RecrawlOptions,
    /// What content is made by: a visit may be conditional only where that is still the same.
    pub converter: ContentHash,
}

impl StoreOptions {
    /// The file that `url` names.
    pub fn path(&self) -> Option<&Path> {
        self.url.strip_prefix("sqlite:").map(|path| Path::new(path.trim_start_matches("//")))
    }
}

/// The state of a crawl, open and locked.
#[derive(Debug)]
pub struct Store {
    pool: SqlitePool,
    path: PathBuf,
    /// None where the state is only looked at.
    lock: Option<Lock>,
}

impl Store {
    /// Opens the state at `path`, made new where it is missing, and locks it.
    ///
    /// # Errors
    ///
    /// Fails where another process has it open, where a newer program wrote it, where it is
    /// damaged, and where the file system refuses.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|source| StoreError::io("create", folder, source))?;
        }
        let lock = Lock::take(path)?;
        digest::take(path)?;
        let failed = |source| StoreError::database("open", path, source);
        let options = SqliteConnectOptions::from_str("sqlite:")
            .map_err(failed)?
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .statement_cache_capacity(64);
        // One connection: there is one writer, and its transactions never wait for each other.
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options)
            .await
            .map_err(failed)?;
        let store = Self { pool, path: path.to_owned(), lock: Some(lock) };
        store.check().await?;
        store.migrate().await?;
        Ok(store)
    }

    /// Opens the state at `path` to look at it, while another process may be at work on it.
    ///
    /// # Errors
    ///
    /// Fails where there is no state, or the file system refuses.
    pub async fn peek(path: &Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::database("open", path, source);
        let options = SqliteConnectOptions::new().filename(path).read_only(true);
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options)
            .await
            .map_err(failed)?;
        Ok(Self { pool, path: path.to_owned(), lock: None })
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    async fn check(&self) -> Result<(), StoreError> {
        let verdict: String = sqlx::query_scalar("PRAGMA quick_check(1)")
            .fetch_one(&self.pool)
            .await
            .map_err(|source| self.failed("check", source))?;
        if verdict == "ok" {
            return Ok(());
        }
        Err(StoreError::Damaged { path: self.path.clone(), what: verdict })
    }

    async fn migrate(&self) -> Result<(), StoreError> {
        use sqlx::migrate::MigrateError;
        match sqlx::migrate!().run(&self.pool).await {
            Ok(()) => Ok(()),
            Err(MigrateError::VersionMissing(version)) => {
                Err(StoreError::Newer { path: self.path.clone(), version })
            }
            Err(MigrateError::Execute(source)) => Err(self.failed("migrate", source)),
            Err(other) => {
                Err(StoreError::Damaged { path: self.path.clone(), what: other.to_string() })
            }
        }
    }

    /// Closes the database in order, and leaves its digest.
    pub async fn close(self) {
        let is_writer = self.lock.is_some();
        if is_writer {
            // The pool may let go of its last connection a little later than it says. With the
            // log emptied now, the file changes no more; else the log tells by its length.
            drop(sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_all(&self.pool).await);
        }
        self.pool.close().await;
        if is_writer {
            // Where no digest can be left, the next start does without.
            drop(digest::leave(&self.path));
        }
    }

    /// The row that a statement returns which writes, where it returns one.
    ///
    /// It is read to its end. SQLite commits only there, and a reader that stops at the first row
    /// would not hear that this failed.
    async fn written(
        &self,
        statement: Query<'_, Sqlite, SqliteArguments>,
    ) -> Result<Option<SqliteRow>, sqlx::Error> {
        Ok(statement.fetch_all(&self.pool).await?.pop())
    }

    fn failed(&self, doing: &'static str, source: sqlx::Error) -> StoreError {
        StoreError::database(doing, &self.path, source)
    }
}

/// A file or folder beside the database at `path`.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests;
