//! The commit point: a page's state, its links, its hashes and its chunks, in one transaction.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, Sqlite, SqliteConnection, Transaction};

use super::dedup::Known;
use super::frontier::{ENQUEUE, authorities};
use super::visits::Place;
use super::{CommitRules, FoundUrl, Store, StoreError, spool};
use crate::model::{
    ContentHash, PageFlag, PageOutcome, PageRecord, Timestamp, kill_point, mistake,
};

/// A page that is done, as it comes from conversion.
#[derive(Debug)]
pub struct Committed {
    /// Its row, where it was leased; a page from elsewhere has none yet.
    pub id: Option<i64>,
    /// What is kept of it. Whether it is a duplicate is decided by the commit.
    pub record: PageRecord,
    /// Addresses in scope that it leads to.
    pub found: Found,
    /// Hash of the content that its host answers for pages that do not exist, where it has one.
    pub missing: Option<ContentHash>,
}

impl Committed {
    /// A page of whose host nothing is known that would make it missing.
    pub fn new(id: Option<i64>, record: PageRecord, found: Found) -> Self {
        Self { id, record, found, missing: None }
    }
}

/// Addresses that a page leads to.
#[derive(Debug, Default)]
pub struct Found {
    /// The addresses.
    pub urls: Vec<FoundUrl>,
    /// How many redirects led there; 0 for links, which lead a level deeper.
    pub redirects: u32,
}

/// What a commit changed.
#[derive(Debug, Default)]
pub struct Settled {
    /// Authorities that have new addresses waiting.
    pub authorities: Vec<String>,
    /// Bytes that the spool grew by, uncompressed.
    pub spooled_bytes: u64,
    /// Addresses that became new to the frontier.
    pub found: u64,
}

impl Store {
    /// Commits a group of pages: after this, and not before, they are collected.
    ///
    /// Of pages with equal bodies or equal Markdown one is the original, by a total order that
    /// does not depend on arrival: a page that names itself canonical before one that does not,
    /// then the shorter address, then the smaller. A page that loses to a later one becomes its
    /// duplicate here.
    ///
    /// # Errors
    ///
    /// Fails where the database does; then none of the pages is committed.
    pub async fn commit(
        &self,
        group: Vec<Committed>,
        rules: CommitRules,
    ) -> Result<Settled, StoreError> {
        let mut commit = Commit::begin(self, rules).await?;
        kill_point("commit.begun");
        for page in group {
            commit.page(page).await?;
        }
        kill_point("commit.before");
        let settled = commit.end().await?;
        kill_point("commit.after");
        Ok(settled)
    }
}

/// A commit in the making.
pub(super) struct Commit<'a> {
    pub(super) store: &'a Store,
    transaction: Transaction<'a, Sqlite>,
    pub(super) rules: CommitRules,
    settled: Settled,
}

impl<'a> Commit<'a> {
    pub(super) async fn begin(store: &'a Store, rules: CommitRules) -> Result<Self, StoreError> {
        let transaction = store.pool.begin_with("BEGIN IMMEDIATE").await;
        let transaction = transaction.map_err(|source| store.failed("commit pages", source))?;
        Ok(Self { store, transaction, rules, settled: Settled::default() })
    }

    pub(super) async fn end(self) -> Result<Settled, StoreError> {
        let Self { store, transaction, mut settled, .. } = self;
        transaction.commit().await.map_err(|source| store.failed("commit pages", source))?;
        settled.authorities.sort();
        settled.authorities.dedup();
        Ok(settled)
    }
}

impl Commit<'_> {
    pub(super) fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.transaction
    }

    pub(super) fn failed(&self, source: sqlx::Error) -> StoreError {
        self.store.failed("commit pages", source)
    }

    async fn page(&mut self, page: Committed) -> Result<(), StoreError> {
        let Committed { id, mut record, found, missing } = page;
        let sketch = record.sketch.take();
        let known = self.known(&record.url).await?;
        record.version = known.as_ref().map_or(1, |known| known.version.max(1));
        let now = record.fetched_at;
        let earlier = |moment: Option<i64>| moment.map_or(now, Timestamp);
        record.first_seen_at = earlier(known.as_ref().and_then(|known| known.first_seen_at));
        record.changed_at = now;
        match record.outcome {
            PageOutcome::Collected => {
                self.settle_content(&mut record, known.as_ref(), missing).await?;
            }
            PageOutcome::Unchanged => {
                if !self.settle_unchanged(&mut record, known.as_ref()).await? {
                    return Ok(());
                }
            }
            _ => self.settle_redirect(&mut record).await?,
        }
        let mut place = Place::after(&record.outcome, known.as_ref(), now, &self.rules.recrawl);
        if place.is_live && record.is_content_duplicate() {
            // Its content is in the corpus as that of its original: nothing is lost.
            place = Place { is_live: false, condemned: None, ..place };
        }
        if place.is_stale(&record.outcome) {
            record.flags.push(PageFlag::Stale);
        }
        if record.outcome != PageOutcome::Collected {
            record.changed_at = earlier(known.as_ref().and_then(|known| known.changed_at));
        }
        if !record.has_body() {
            record.validators = known.as_ref().map(|k| k.validators.clone()).unwrap_or_default();
        }
        let converter = self.converter(&record, known.as_ref());
        let id = self.write_page(id, &record, &place, converter).await?;
        if record.outcome == PageOutcome::Collected {
            self.note_chunks(id, &record).await?;
            self.note_likeness(id, &record, sketch.as_ref()).await?;
        }
        if place.condemned.is_some() {
            self.release_duplicates(&record.url).await?;
        }
        self.break_transaction("acknowledge-first").await?;
        kill_point("commit.page_written");
        self.spool(id, &record).await?;
        self.break_transaction("links-apart").await?;
        kill_point("commit.spooled");
        self.links(id, &record, found).await
    }

    async fn break_transaction(&mut self, name: &'static str) -> Result<(), StoreError> {
        break_transaction(self.connection(), name).await.map_err(|source| self.failed(source))
    }

    /// What made the content that the store now knows of the page.
    fn converter(&self, record: &PageRecord, known: Option<&Known>) -> Option<String> {
        match &record.outcome {
            PageOutcome::Collected | PageOutcome::Unchanged => {
                Some(self.rules.converter.to_string())
            }
            PageOutcome::Failed(_) => known.and_then(|known| known.converter.clone()),
            _ if record.is_content_duplicate() => Some(self.rules.converter.to_string()),
            _ => None,
        }
    }

    /// Adds the authorities of rows that wait now.
    pub(super) fn news(&mut self, rows: &[SqliteRow]) {
        self.settled.authorities.extend(authorities(rows));
    }

    pub(super) fn encode(&self, record: &PageRecord) -> Result<(Vec<u8>, i64), StoreError> {
        spool::encode(record).ok_or_else(|| StoreError::Damaged {
            path: self.store.path.clone(),
            what: format!("the record of `{}` cannot be written", record.url),
        })
    }

    async fn write_page(
        &mut self,
        id: Option<i64>,
        record: &PageRecord,
        place: &Place,
        converter: Option<String>,
    ) -> Result<i64, StoreError> {
        let is_failed = matches!(record.outcome, PageOutcome::Failed(_));
        let counts = (record.outcome == PageOutcome::Collected)
            .then(|| (record.chunks.len() as u64, record.token_count()));
        let id = match id {
            Some(id) => id,
            None => self.page_row(record).await?,
        };
        let run = self.rules.run;
        sqlx::query(
            "UPDATE page SET state = ?2, crashes = 0, outcome = ?3, reason = ?4, duplicate_of = ?5, etag = ?6,
                 last_modified = ?7, body_hash = coalesce(?8, body_hash),
                 content_hash = coalesce(?9, content_hash), is_alias = coalesce(?10, is_alias), is_live = ?11,
                 document_id = ?12, version = ?13, chunk_count = coalesce(?14, chunk_count),
                 token_count = coalesce(?15, token_count), first_seen_at = ?16, changed_at = ?17,
                 checked_at = ?18, run_id = ?19, converter = ?20, interval_secs = ?21, due_at = ?22,
                 missing_since = ?23, condemned = ?24
             WHERE id = ?1",
        )
        .bind(id)
        .bind(if is_failed { "failed" } else { "done" })
        .bind(record.outcome.name())
        .bind(record.outcome.reason())
        .bind(record.outcome.duplicate_of())
        .bind(&record.validators.etag)
        .bind(&record.validators.last_modified)
        .bind(record.body_hash.map(|hash| hash.to_string()))
        .bind(record.content_hash.map(|hash| hash.to_string()))
        .bind(record.has_body().then(|| record.is_alias()))
        .bind(place.is_live)
        .bind(record.document_id.to_string())
        .bind(i64::from(record.version))
        .bind(counts.map(|(chunks, _)| chunks.cast_signed()))
        .bind(counts.map(|(_, tokens)| tokens.cast_signed()))
        .bind(record.first_seen_at.0)
        .bind(record.changed_at.0)
        .bind(record.fetched_at.0)
        .bind(run)
        .bind(converter)
        .bind(place.interval_secs)
        .bind(place.due_at)
        .bind(place.missing_since)
        .bind(&place.condemned)
        .execute(self.connection())
        .await
        .map_err(|source| self.failed(source))?;
        Ok(id)
    }

    /// The row of a page that was not leased, and that no host will be asked for.
    async fn page_row(&mut self, record: &PageRecord) -> Result<i64, StoreError> {
        sqlx::query_scalar(
            "INSERT INTO page (url, fetch_url, authority, state, depth) VALUES (?1, ?2, '', 'done', ?3)
             ON CONFLICT (url) DO UPDATE SET state = 'done' RETURNING id",
        )
        .bind(&record.url)
        .bind(&record.final_url)
        .bind(i64::from(record.depth))
        .fetch_one(self.connection())
        .await
        .map_err(|source| self.failed(source))
    }

    async fn spool(&mut self, id: i64, record: &PageRecord) -> Result<(), StoreError> {
        let (body, bytes) = self.encode(record)?;
        sqlx::query(
            "INSERT INTO pending (page_id, version, bytes, body, holds_content)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )
        .bind(id)
        .bind(i64::from(record.version))
        .bind(bytes)
        .bind(body)
        .bind(record.outcome == PageOutcome::Collected)
        .execute(self.connection())
        .await
        .map_err(|source| self.failed(source))?;
        self.settled.spooled_bytes += bytes.unsigned_abs();
        Ok(())
    }

    /// Puts what a page leads to into the frontier.
    async fn links(
        &mut self,
        id: i64,
        record: &PageRecord,
        found: Found,
    ) -> Result<(), StoreError> {
        if found.urls.is_empty() {
            return Ok(());
        }
        let list = serde_json::to_string(&found.urls).unwrap_or_default();
        let max_depth = i64::from(self.rules.max_depth);
        // The depth may have fallen while the page was on its way.
        let own: i64 = sqlx::query_scalar("SELECT depth FROM page WHERE id = ?1")
            .bind(id)
            .fetch_one(self.connection())
            .await
            .map_err(|source| self.failed(source))?;
        let depth = own + i64::from(found.redirects == 0);
        let rows = sqlx::query(ENQUEUE)
            .bind(&list)
            .bind(depth)
            .bind(&record.url)
            .bind(max_depth)
            .bind(i64::from(found.redirects))
            .fetch_all(self.connection())
            .await
            .map_err(|source| self.failed(source))?;
        self.news(&rows);
        self.settled.found += rows.len() as u64;
        sqlx::query(
            "INSERT OR IGNORE INTO link (from_id, to_id)
             SELECT ?2, page.id FROM json_each(?1) JOIN page ON page.url = value->>'key'",
        )
        .bind(&list)
        .bind(id)
        .execute(self.connection())
        .await
        .map_err(|source| self.failed(source))?;
        let ids: Vec<i64> = rows.iter().filter_map(|row| row.try_get("id").ok()).collect();
        self.lower_depths(ids).await
    }

    /// Carries smaller depths on to the pages behind, so that depths do not depend on the order
    /// of arrival.
    async fn lower_depths(&mut self, mut from: Vec<i64>) -> Result<(), StoreError> {
        while !from.is_empty() {
            let rows = sqlx::query(
                "UPDATE page SET depth = shorter.depth,
                     state = CASE WHEN state = 'deep' AND shorter.depth <= ?2 THEN 'queued' ELSE state END
                 FROM (SELECT link.to_id AS id, min(page.depth) + 1 AS depth
                       FROM json_each(?1) JOIN link ON link.from_id = value JOIN page ON page.id = value
                       GROUP BY link.to_id) AS shorter
                 WHERE page.id = shorter.id AND page.depth > shorter.depth
                 RETURNING page.id AS id, authority, state",
            )
            .bind(serde_json::to_string(&from).unwrap_or_default())
            .bind(i64::from(self.rules.max_depth))
            .fetch_all(self.connection())
            .await
            .map_err(|source| self.failed(source))?;
            self.news(&rows);
            from = rows.iter().filter_map(|row| row.try_get("id").ok()).collect();
        }
        Ok(())
    }
}

/// Makes two transactions of one, where a test wants this mistake.
pub(super) async fn break_transaction(
    connection: &mut SqliteConnection,
    name: &'static str,
) -> Result<(), sqlx::Error> {
    if mistake(name) {
        sqlx::query("COMMIT").execute(&mut *connection).await?;
        sqlx::query("BEGIN IMMEDIATE").execute(connection).await?;
    }
    Ok(())
}
