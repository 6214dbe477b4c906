//! Runs: each is noted when it begins and when it ends in order.

use sqlx::Row as _;

use super::{Store, StoreError};
use crate::model::{Timestamp, kill_point};

impl Store {
    /// When the last run may have asked a host last: when it ended, or `now` where it was killed.
    /// `None` where there was none.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn last_active(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let at: Option<i64> =
            sqlx::query_scalar("SELECT coalesce(ended_at, ?1) FROM run ORDER BY id DESC LIMIT 1")
                .bind(now.0)
                .fetch_optional(&self.pool)
                .await
                .map_err(|source| self.failed("look for the last run", source))?;
        Ok(at.map(Timestamp))
    }

    /// Begins a run and gives its number.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn begin_run(&self, config_hash: &str, now: Timestamp) -> Result<i64, StoreError> {
        let failed = |source| self.failed("begin a run", source);
        let statement =
            sqlx::query("INSERT INTO run (config_hash, started_at) VALUES (?1, ?2) RETURNING id")
                .bind(config_hash)
                .bind(now.0);
        let row = self.written(statement).await.map_err(failed)?;
        row.ok_or(sqlx::Error::RowNotFound).and_then(|row| row.try_get("id")).map_err(failed)
    }

    /// Says why a run ended, and folds the write-ahead log into the database.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn end_run(&self, run: i64, reason: &str, now: Timestamp) -> Result<(), StoreError> {
        sqlx::query("UPDATE run SET ended_at = ?2, reason = ?3 WHERE id = ?1")
            .bind(run)
            .bind(now.0)
            .bind(reason)
            .execute(&self.pool)
            .await
            .map_err(|source| self.failed("end a run", source))?;
        kill_point("run.ended");
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
            .execute(&self.pool)
            .await
            .map(|_| ())
            .map_err(|source| self.failed("fold the log", source))
    }

    /// The number of the last run; 0 where there was none.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn last_run(&self) -> Result<i64, StoreError> {
        sqlx::query_scalar("SELECT coalesce(max(id), 0) FROM run")
            .fetch_one(&self.pool)
            .await
            .map_err(|source| self.failed("look for the last run", source))
    }

    /// The numbers of all runs that ended in order.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn runs(&self) -> Result<Vec<i64>, StoreError> {
        sqlx::query_scalar("SELECT id FROM run WHERE ended_at IS NOT NULL ORDER BY id")
            .fetch_all(&self.pool)
            .await
            .map_err(|source| self.failed("list runs", source))
    }
}
