//! What the store says of itself: for `status`, `check`, `verify` and the end of a run.

use serde::Serialize;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{Store, StoreError, spool};

/// Counts over all that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StateReport {
    /// Addresses that wait, by why: `queued`, or `deep` beyond the depth limit.
    pub waiting: Vec<(String, u64)>,
    /// Pages by outcome and reason.
    pub outcomes: Vec<(String, String, u64)>,
    /// Chunks of live pages; of a run, those that it wrote.
    pub chunks: u64,
    /// Their tokens.
    pub tokens: u64,
    /// The last run: its number, start, end and reason.
    pub last_run: Option<(i64, i64, Option<i64>, Option<String>)>,
}

/// What is known of one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageFact {
    /// `queued`, `leased`, `deep`, `done` or `failed`.
    pub state: String,
    /// What became of it last.
    pub outcome: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Links between a seed and the page.
    pub depth: u32,
    /// The page that it was found on.
    pub referrer: Option<String>,
}

/// A page whose chunks are in the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveDocument {
    /// Its document.
    pub document_id: String,
    /// Its address.
    pub url: String,
    /// Which of its contents counts.
    pub version: u32,
    /// How many chunks that has.
    pub chunk_count: u32,
}

impl Store {
    /// Counts over all that is known; of run `run` alone where one is given.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn report(&self, run: Option<i64>) -> Result<StateReport, StoreError> {
        let failed = |source| self.failed("count pages", source);
        let waiting = sqlx::query("SELECT state, count(*) AS n FROM page WHERE state IN ('queued', 'leased', 'deep') GROUP BY state")
            .fetch_all(&self.pool)
            .await
            .map_err(failed)?;
        let outcomes = sqlx::query(
            "SELECT outcome, reason, count(*) AS n FROM page
             WHERE outcome IS NOT NULL AND (?1 IS NULL OR run_id = ?1) GROUP BY outcome, reason ORDER BY outcome, reason",
        )
        .bind(run)
        .fetch_all(&self.pool)
        .await
        .map_err(failed)?;
        let totals = sqlx::query(
            "SELECT coalesce(sum(chunk_count), 0) AS chunks, coalesce(sum(token_count), 0) AS tokens
             FROM page WHERE is_live = 1 AND (?1 IS NULL OR (run_id = ?1 AND outcome = 'collected'))",
        )
        .bind(run)
        .fetch_one(&self.pool)
        .await
        .map_err(failed)?;
        let last = sqlx::query(
            "SELECT id, started_at, ended_at, reason FROM run ORDER BY id DESC LIMIT 1",
        )
        .fetch_optional(&self.pool)
        .await
        .map_err(failed)?;
        let count =
            |row: &SqliteRow, name: &str| row.try_get::<i64, _>(name).map(i64::unsigned_abs);
        Ok(StateReport {
            waiting: waiting
                .iter()
                .map(|row| Ok((row.try_get("state")?, count(row, "n")?)))
                .collect::<Result<_, _>>()
                .map_err(failed)?,
            outcomes: outcomes
                .iter()
                .map(|row| Ok((row.try_get("outcome")?, row.try_get("reason")?, count(row, "n")?)))
                .collect::<Result<_, _>>()
                .map_err(failed)?,
            chunks: count(&totals, "chunks").map_err(failed)?,
            tokens: count(&totals, "tokens").map_err(failed)?,
            last_run: last
                .map(|row| {
                    Ok((
                        row.try_get("id")?,
                        row.try_get("started_at")?,
                        row.try_get("ended_at")?,
                        row.try_get("reason")?,
                    ))
                })
                .transpose()
                .map_err(failed)?,
        })
    }

    /// What is known of the page with key `url`.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn fact(&self, url: &str) -> Result<Option<PageFact>, StoreError> {
        let failed = |source| self.failed("look a page up", source);
        let row =
            sqlx::query("SELECT state, outcome, reason, depth, referrer FROM page WHERE url = ?1")
                .bind(url)
                .fetch_optional(&self.pool)
                .await
                .map_err(failed)?;
        let fact = |row: &SqliteRow| -> Result<PageFact, sqlx::Error> {
            Ok(PageFact {
                state: row.try_get("state")?,
                outcome: row.try_get("outcome")?,
                reason: row.try_get("reason")?,
                depth: row.try_get("depth")?,
                referrer: row.try_get("referrer")?,
            })
        };
        row.as_ref().map(fact).transpose().map_err(failed)
    }

    /// Every page whose chunks are in the corpus.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn live_documents(&self) -> Result<Vec<LiveDocument>, StoreError> {
        let failed = |source| self.failed("list live pages", source);
        let rows = sqlx::query("SELECT document_id, url, version, chunk_count FROM page WHERE is_live = 1 ORDER BY document_id")
            .fetch_all(&self.pool)
            .await
            .map_err(failed)?;
        let live = |row: &SqliteRow| -> Result<LiveDocument, sqlx::Error> {
            Ok(LiveDocument {
                document_id: row.try_get("document_id")?,
                url: row.try_get("url")?,
                version: row.try_get("version")?,
                chunk_count: row.try_get("chunk_count")?,
            })
        };
        rows.iter().map(live).collect::<Result<_, _>>().map_err(failed)
    }

    /// Chunks that wait in the spool: for each record its document, version and number of chunks.
    ///
    /// # Errors
    ///
    /// Fails where the database does, and where a record is damaged.
    pub async fn spooled_chunks(&self) -> Result<Vec<(String, u32, u32)>, StoreError> {
        let failed = |source| self.failed("read the spool", source);
        let mut all = Vec::new();
        let mut after = 0_i64;
        loop {
            let rows =
                sqlx::query("SELECT seq, body FROM pending WHERE seq > ?1 ORDER BY seq LIMIT 64")
                    .bind(after)
                    .fetch_all(&self.pool)
                    .await
                    .map_err(failed)?;
            let Some(last) = rows.last() else { return Ok(all) };
            after = last.try_get("seq").map_err(failed)?;
            for row in &rows {
                let record = spool::decode(row.try_get("body").map_err(failed)?, &self.path)?;
                let chunks = u32::try_from(record.chunks.len()).unwrap_or(u32::MAX);
                if chunks > 0 {
                    all.push((record.document_id.to_string(), record.version, chunks));
                }
            }
        }
    }

    /// Links of collected pages whose target the frontier does not know: always none.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn lost_links(&self) -> Result<u64, StoreError> {
        let lost: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM link WHERE NOT EXISTS (SELECT 1 FROM page WHERE page.id = to_id)",
        )
        .fetch_one(&self.pool)
        .await
        .map_err(|source| self.failed("check links", source))?;
        Ok(lost.unsigned_abs())
    }
}
