//! Compaction: parts that hold only what is live take the place of older ones.

use sqlx::Row as _;

use super::parts::{MARKS_ARE_WRITTEN, SealedPart, follow, record};
use super::{Mark, PartHolds, Store, StoreError, StoredFile};
use crate::model::kill_point;

/// Which rows of a page still count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastVisit {
    /// The page's key.
    pub url: String,
    /// The run that visited it last.
    pub run: i64,
    /// Which of its contents is in the corpus; `None` where none is.
    pub version: Option<u32>,
    /// What is said of that content.
    pub mark: Mark,
}

impl Store {
    /// Fixes a part that is to take the place of parts `lo` to `hi`: a compacted or a marked one.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn seal_compacted(
        &self,
        run: i64,
        config_hash: &str,
        (lo, hi): (i64, i64),
        holds: PartHolds,
    ) -> Result<SealedPart, StoreError> {
        let failed = |source| self.failed("seal a compacted part", source);
        let statement = sqlx::query(
            "INSERT INTO part (lo, hi, state, run_id, config_hash, holds)
             VALUES (?1, ?2, 'sealed', ?3, ?4, ?5)
             RETURNING id, lo, hi, run_id, config_hash, holds",
        )
        .bind(lo)
        .bind(hi)
        .bind(run)
        .bind(config_hash)
        .bind(holds.name());
        let row = self.written(statement).await.map_err(failed)?;
        kill_point("compact.sealed");
        let row = row.ok_or(sqlx::Error::RowNotFound);
        row.and_then(|row| SealedPart::of(&row)).map_err(failed)
    }

    /// Records that a compacted part is in place, and those that it replaces are retired.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn publish_compacted(
        &self,
        part: &SealedPart,
        files: &[StoredFile],
    ) -> Result<(), StoreError> {
        let failed = |source| self.failed("publish a compacted part", source);
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        record(&mut transaction, part, files).await.map_err(failed)?;
        let steps = [
            "UPDATE part SET state = 'retired'
             WHERE id BETWEEN ?2 AND ?3 AND state = 'published' AND holds <> 'changes'",
            "UPDATE page SET part_id = ?1 WHERE part_id BETWEEN ?2 AND ?3",
            MARKS_ARE_WRITTEN,
            "DELETE FROM mark WHERE is_written = 1 AND near_duplicate_of IS NULL AND repeated = x''",
        ];
        follow(&mut transaction, part, &steps).await.map_err(failed)?;
        kill_point("compact.before");
        transaction.commit().await.map_err(failed)?;
        kill_point("compact.after");
        Ok(())
    }

    /// Forgets superseded contents: no live part holds any more.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn forget_superseded(&self) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM superseded")
            .execute(&self.pool)
            .await
            .map(|_| ())
            .map_err(|source| self.failed("forget superseded contents", source))
    }

    /// The files of retired parts, which no manifest lists.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn retired_files(&self) -> Result<Vec<String>, StoreError> {
        sqlx::query_scalar(
            "SELECT path FROM part_file JOIN part ON part.id = part_id WHERE state = 'retired'",
        )
        .fetch_all(&self.pool)
        .await
        .map_err(|source| self.failed("list retired parts", source))
    }

    /// Records that the files of retired parts are deleted.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn forget_retired(&self) -> Result<(), StoreError> {
        sqlx::query(
            "DELETE FROM part_file WHERE part_id IN (SELECT id FROM part WHERE state = 'retired')",
        )
        .execute(&self.pool)
        .await
        .map(|_| ())
        .map_err(|source| self.failed("forget retired parts", source))
    }

    /// The last visits of the pages with keys `urls`.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn last_visits(&self, urls: &[String]) -> Result<Vec<LastVisit>, StoreError> {
        let failed = |source| self.failed("look pages up", source);
        let rows = sqlx::query(
            "SELECT url, coalesce(run_id, 0) AS run_id, version, is_live, near_duplicate_of, repeated
             FROM page LEFT JOIN mark ON mark.page_id = page.id
             WHERE url IN (SELECT value FROM json_each(?1))",
        )
        .bind(serde_json::to_string(urls).unwrap_or_default())
        .fetch_all(&self.pool)
        .await
        .map_err(failed)?;
        let visit = |row: &sqlx::sqlite::SqliteRow| -> Result<LastVisit, sqlx::Error> {
            let (is_live, version): (bool, u32) =
                (row.try_get("is_live")?, row.try_get("version")?);
            Ok(LastVisit {
                url: row.try_get("url")?,
                run: row.try_get("run_id")?,
                version: is_live.then_some(version),
                mark: Mark::of(row)?,
            })
        };
        rows.iter().map(visit).collect::<Result<_, _>>().map_err(failed)
    }
}
