//! What the change feed has told of each page's chunks, and what it has still to tell.

use std::collections::{BTreeSet, HashMap, HashSet};

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use super::commit::Commit;
use super::parts::SealedPart;
use super::{Store, StoreError, StoredFile};
use crate::model::{PageRecord, kill_point};

/// A page whose chunks are not those that the feed has told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untold {
    /// The store's number of the page.
    pub page: i64,
    /// Its document.
    pub document_id: String,
    /// Its address.
    pub url: String,
    /// Which of its contents is in the corpus; `None` where none is.
    pub version: Option<u32>,
    /// Chunks that the feed has told.
    pub told: BTreeSet<Uuid>,
    /// Chunks that are in the corpus.
    pub live: BTreeSet<Uuid>,
    /// The word of its outcome.
    pub outcome: String,
    /// Whether its content is the one that the feed has told: it may be cut in another way.
    pub has_told_content: bool,
}

const UNTOLD: &str = "
    SELECT page_id, document_id, url, version, is_live, outcome, told, live,
           content_hash IS NOT NULL AND content_hash = told_content AS has_told_content
    FROM feed JOIN page ON page.id = page_id WHERE is_told = 0";

impl Commit<'_> {
    /// Notes which chunks a page has now.
    pub(super) async fn note_chunks(
        &mut self,
        page: i64,
        record: &PageRecord,
    ) -> Result<(), StoreError> {
        let ids: Vec<u8> = record.chunks.iter().flat_map(|chunk| chunk.id.into_bytes()).collect();
        sqlx::query(
            "INSERT INTO feed (page_id, live) VALUES (?1, ?2)
             ON CONFLICT DO UPDATE SET live = ?2, is_told = 0",
        )
        .bind(page)
        .bind(ids)
        .execute(self.connection())
        .await
        .map_err(|source| self.failed(source))?;
        sqlx::query("DELETE FROM tombstone WHERE document_id = ?1")
            .bind(record.document_id.to_string())
            .execute(self.connection())
            .await
            .map(|_| ())
            .map_err(|source| self.failed(source))
    }

    /// Notes that a page has no chunks any more.
    pub(super) async fn forget_chunks(&mut self, page: i64) -> Result<(), StoreError> {
        sqlx::query("UPDATE feed SET live = x'', is_told = (told = x'') WHERE page_id = ?1")
            .bind(page)
            .execute(self.connection())
            .await
            .map(|_| ())
            .map_err(|source| self.failed(source))
    }

    /// Whether the chunks of `record` are those that page `page` has.
    pub(super) async fn has_chunks(
        &mut self,
        page: i64,
        record: &PageRecord,
    ) -> Result<bool, StoreError> {
        let live: Option<Vec<u8>> = sqlx::query_scalar("SELECT live FROM feed WHERE page_id = ?1")
            .bind(page)
            .fetch_optional(self.connection())
            .await
            .map_err(|source| self.failed(source))?;
        let ids = record.chunks.iter().flat_map(|chunk| chunk.id.into_bytes());
        Ok(live.is_some_and(|live| live.into_iter().eq(ids)))
    }
}

impl Store {
    /// Fixes the next part of the change feed, where there is anything to tell. Nothing may wait
    /// in the spool: the part is made from the parts that were published since the last.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn seal_changes(
        &self,
        run: i64,
        config_hash: &str,
    ) -> Result<Option<SealedPart>, StoreError> {
        let failed = |source| self.failed("seal a part of the change feed", source);
        let statement = sqlx::query(
            "INSERT INTO part (lo, hi, state, run_id, config_hash, holds)
             SELECT (SELECT coalesce(max(hi), 0) + 1 FROM part WHERE holds = 'changes'),
                    (SELECT coalesce(max(id), 0) FROM part), 'sealed', ?1, ?2, 'changes'
             WHERE EXISTS (SELECT 1 FROM feed WHERE is_told = 0)
             RETURNING id, lo, hi, run_id, config_hash, holds",
        )
        .bind(run)
        .bind(config_hash);
        let row = self.written(statement).await.map_err(failed)?;
        kill_point("changes.sealed");
        row.as_ref().map(SealedPart::of).transpose().map_err(failed)
    }

    /// How many rows of the change feed are published: the number of the next.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn told_changes(&self) -> Result<u64, StoreError> {
        let rows: i64 = sqlx::query_scalar(
            "SELECT coalesce(sum(row_count), 0) FROM part_file WHERE kind = 'changes'",
        )
        .fetch_one(&self.pool)
        .await
        .map_err(|source| self.failed("count changes", source))?;
        Ok(rows.unsigned_abs())
    }

    /// What is untold of `documents`, by document.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn untold(&self, urls: &[String]) -> Result<HashMap<String, Untold>, StoreError> {
        let failed = |source| self.failed("look for changes", source);
        let sql = format!("{UNTOLD} AND url IN (SELECT value FROM json_each(?1))");
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(serde_json::to_string(urls).unwrap_or_default())
            .fetch_all(&self.pool)
            .await
            .map_err(failed)?;
        let pairs = rows.iter().map(|row| untold(row).map(|page| (page.document_id.clone(), page)));
        pairs.collect::<Result<_, _>>().map_err(failed)
    }

    /// Up to `most` untold pages behind page `after` of which the feed has told chunks before.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn untold_before(&self, after: i64, most: u32) -> Result<Vec<Untold>, StoreError> {
        let failed = |source| self.failed("look for changes", source);
        let sql = format!("{UNTOLD} AND told <> x'' AND page_id > ?1 ORDER BY page_id LIMIT ?2");
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(after)
            .bind(i64::from(most))
            .fetch_all(&self.pool)
            .await
            .map_err(failed)?;
        rows.iter().map(untold).collect::<Result<_, _>>().map_err(failed)
    }

    /// Records that a part of the change feed is in place, and that all is told.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn publish_changes(
        &self,
        part: &SealedPart,
        file: &StoredFile,
    ) -> Result<(), StoreError> {
        let failed = |source| self.failed("publish a part of the change feed", source);
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        super::parts::record(&mut transaction, part, std::slice::from_ref(file))
            .await
            .map_err(failed)?;
        for step in [
            "DELETE FROM feed WHERE is_told = 0 AND live = x''",
            "UPDATE feed SET told = live, is_told = 1,
                 told_content = (SELECT content_hash FROM page WHERE page.id = page_id)
             WHERE is_told = 0",
        ] {
            sqlx::query(step).execute(&mut *transaction).await.map_err(failed)?;
        }
        kill_point("changes.before");
        transaction.commit().await.map_err(failed)?;
        kill_point("changes.after");
        Ok(())
    }

    /// Every chunk that the feed has told, and not taken back.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn told_chunks(&self) -> Result<HashSet<Uuid>, StoreError> {
        let rows: Vec<Vec<u8>> = sqlx::query_scalar("SELECT told FROM feed")
            .fetch_all(&self.pool)
            .await
            .map_err(|source| self.failed("list told chunks", source))?;
        Ok(rows.iter().flat_map(|told| ids(told)).collect())
    }
}

fn untold(row: &SqliteRow) -> Result<Untold, sqlx::Error> {
    let is_live: bool = row.try_get("is_live")?;
    let version: u32 = row.try_get("version")?;
    Ok(Untold {
        page: row.try_get("page_id")?,
        document_id: row.try_get("document_id")?,
        url: row.try_get("url")?,
        version: is_live.then_some(version),
        told: ids(row.try_get("told")?),
        live: ids(row.try_get("live")?),
        outcome: row.try_get::<Option<String>, _>("outcome")?.unwrap_or_default(),
        has_told_content: row.try_get("has_told_content")?,
    })
}

fn ids(bytes: &[u8]) -> BTreeSet<Uuid> {
    bytes.chunks_exact(16).filter_map(|id| Uuid::from_slice(id).ok()).collect()
}
