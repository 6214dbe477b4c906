//! Which of several equal pages is the original, and what becomes of the others.

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::commit::Commit;
use super::{StoreError, spool};
use crate::model::{
    ContentHash, DuplicateBy, ErrorCode, Exclusion, PageError, PageOutcome, PageRecord, Validators,
};

/// Longest chain of redirects that is followed when a loop is looked for.
const MAX_CHAIN: usize = 32;

/// What the store knows of a page that matters for the next.
pub(super) struct Known {
    id: i64,
    url: String,
    document_id: Option<String>,
    content_hash: Option<String>,
    pub(super) version: u32,
    is_alias: bool,
    pub(super) is_live: bool,
    pub(super) first_seen_at: Option<i64>,
    pub(super) changed_at: Option<i64>,
    pub(super) interval_secs: Option<u64>,
    pub(super) missing_since: Option<i64>,
    reason: Option<String>,
    duplicate_of: Option<String>,
    pub(super) converter: Option<String>,
    pub(super) validators: Validators,
}

impl Known {
    fn of(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            url: row.try_get("url")?,
            document_id: row.try_get("document_id")?,
            content_hash: row.try_get("content_hash")?,
            version: row.try_get::<u32, _>("version")?,
            is_alias: row.try_get("is_alias")?,
            is_live: row.try_get("is_live")?,
            first_seen_at: row.try_get("first_seen_at")?,
            changed_at: row.try_get("changed_at")?,
            interval_secs: row.try_get("interval_secs")?,
            missing_since: row.try_get("missing_since")?,
            reason: row.try_get("reason")?,
            duplicate_of: row.try_get("duplicate_of")?,
            converter: row.try_get("converter")?,
            validators: Validators {
                etag: row.try_get("etag")?,
                last_modified: row.try_get("last_modified")?,
            },
        })
    }

    /// What the page was when it was visited last, if it was the duplicate of another.
    fn duplicate(&self) -> Option<PageOutcome> {
        let by = [DuplicateBy::Body, DuplicateBy::Markdown, DuplicateBy::Likeness]
            .into_iter()
            .find(|by| Some(by.code()) == self.reason.as_deref())?;
        Some(PageOutcome::Duplicate { of: self.duplicate_of.clone()?, by })
    }

    /// The place in the order of originals: the least wins.
    fn rank(&self) -> (bool, usize, &str) {
        (self.is_alias, self.url.len(), &self.url)
    }
}

/// What takes the place of a content in the corpus.
#[derive(Clone, Copy)]
pub(super) struct Successor<'a> {
    pub(super) url: &'a str,
    pub(super) version: u32,
}

impl<'a> Successor<'a> {
    fn of(record: &'a PageRecord) -> Self {
        Self { url: &record.url, version: record.version }
    }
}

const KNOWN: &str = "
    SELECT id, url, document_id, content_hash, version, is_alias, is_live, first_seen_at, changed_at,
        interval_secs, missing_since, reason, duplicate_of, converter, etag, last_modified FROM page";

impl Commit<'_> {
    pub(super) async fn known(&mut self, url: &str) -> Result<Option<Known>, StoreError> {
        let statement = sqlx::AssertSqlSafe(format!("{KNOWN} WHERE url = ?1"));
        let row = sqlx::query(statement).bind(url).fetch_optional(self.connection()).await;
        row.and_then(|row| row.as_ref().map(Known::of).transpose())
            .map_err(|source| self.failed(source))
    }

    /// Decides whether collected content is new, as before, that of another page, or what the host
    /// answers for pages that are `missing`.
    pub(super) async fn settle_content(
        &mut self,
        record: &mut PageRecord,
        known: Option<&Known>,
        missing: Option<ContentHash>,
    ) -> Result<(), StoreError> {
        let content_hash = record.content_hash.map(|hash| hash.to_string());
        if let Some(known) = known.filter(|known| known.is_live) {
            // Equal Markdown may be cut in another way: by other options, or under another title.
            if known.content_hash == content_hash && self.has_chunks(known.id, record).await? {
                record.outcome = PageOutcome::Unchanged;
                record.drop_content();
                return Ok(());
            }
            if record.content_hash.is_some() && record.content_hash == missing {
                record.outcome = PageOutcome::Excluded(Exclusion::SoftNotFound);
                record.drop_content();
                // What the store knows stays that of the content in the corpus.
                (record.content_hash, record.body_hash) = (None, None);
                return Ok(());
            }
            record.version = known.version + 1;
            self.supersede(known, None, Successor::of(record)).await?;
        }
        if !self.rules.dedup.exact {
            return Ok(());
        }
        let Some((other, by)) = self.equal(record).await? else { return Ok(()) };
        let own_rank = (record.is_alias(), record.url.len(), record.url.as_str());
        if other.rank() < own_rank {
            record.outcome = PageOutcome::Duplicate { of: other.url, by };
            record.drop_content();
        } else {
            let of = PageOutcome::Duplicate { of: record.url.clone(), by };
            self.supersede(&other, Some(of), Successor::of(record)).await?;
        }
        Ok(())
    }

    /// A page that the server calls unchanged is what it was before. Says whether that is enough:
    /// the content of a duplicate may be lost with its original while the answer was on its way.
    pub(super) async fn settle_unchanged(
        &mut self,
        record: &mut PageRecord,
        known: Option<&Known>,
    ) -> Result<bool, StoreError> {
        let Some(known) = known.filter(|known| !known.is_live) else { return Ok(true) };
        if let (Some(_), Some(duplicate)) = (&known.converter, known.duplicate()) {
            record.outcome = duplicate;
            return Ok(true);
        }
        let rows = sqlx::query(
            "UPDATE page SET state = 'queued', tries = 0 WHERE id = ?1 RETURNING authority, state",
        )
        .bind(known.id)
        .fetch_all(self.connection())
        .await
        .map_err(|source| self.failed(source))?;
        self.news(&rows);
        Ok(false)
    }

    /// The live page with the same body or the same Markdown, other than `record`'s own.
    async fn equal(
        &mut self,
        record: &PageRecord,
    ) -> Result<Option<(Known, DuplicateBy)>, StoreError> {
        let hashes = [
            (record.body_hash, "body_hash", DuplicateBy::Body),
            (record.content_hash, "content_hash", DuplicateBy::Markdown),
        ];
        for (hash, column, by) in hashes {
            let Some(hash) = hash else { continue };
            let sql = format!(
                "{KNOWN} WHERE {column} = ?1 AND is_live = 1 AND condemned IS NULL AND url <> ?2 LIMIT 1"
            );
            let row = sqlx::query(sqlx::AssertSqlSafe(sql))
                .bind(hash.to_string())
                .bind(&record.url)
                .fetch_optional(self.connection())
                .await
                .map_err(|source| self.failed(source))?;
            if let Some(row) = row {
                return Known::of(&row)
                    .map(|known| Some((known, by)))
                    .map_err(|source| self.failed(source));
            }
        }
        Ok(None)
    }

    /// Takes a live page's chunks out of the corpus. Where its record still waits in the spool it
    /// is rewritten there; one that a part holds is listed as superseded by `by`.
    pub(super) async fn supersede(
        &mut self,
        page: &Known,
        outcome: Option<PageOutcome>,
        by: Successor<'_>,
    ) -> Result<(), StoreError> {
        sqlx::query("UPDATE page SET is_live = 0, chunk_count = 0, token_count = 0, version = version + 1 WHERE id = ?1")
            .bind(page.id)
            .execute(self.connection())
            .await
            .map_err(|source| self.failed(source))?;
        self.forget_chunks(page.id).await?;
        if outcome.is_none() {
            self.release_duplicates(&page.url).await?;
        }
        if let Some(outcome) = &outcome {
            sqlx::query(
                "UPDATE page SET outcome = ?2, reason = ?3, duplicate_of = ?4 WHERE id = ?1",
            )
            .bind(page.id)
            .bind(outcome.name())
            .bind(outcome.reason())
            .bind(outcome.duplicate_of())
            .execute(self.connection())
            .await
            .map_err(|source| self.failed(source))?;
        }
        if self.rewrite_spooled(page, outcome.as_ref()).await? {
            return Ok(());
        }
        sqlx::query(
            "INSERT OR IGNORE INTO superseded (document_id, url, version, by_url, by_version)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )
        .bind(&page.document_id)
        .bind(&page.url)
        .bind(i64::from(page.version))
        .bind(by.url)
        .bind(i64::from(by.version))
        .execute(self.connection())
        .await
        .map(|_| ())
        .map_err(|source| self.failed(source))
    }

    /// Has the pages visited again whose content stood in the corpus as that of `original`, which
    /// has another now or none. What they hold was not kept, so it is asked for unconditionally; an
    /// answer that is on its way is good only if it brings the content.
    pub(super) async fn release_duplicates(&mut self, original: &str) -> Result<(), StoreError> {
        let rows = sqlx::query(
            "UPDATE page SET tries = 0, converter = NULL,
                 state = CASE WHEN state = 'done' THEN 'queued' ELSE state END
             WHERE duplicate_of = ?1 AND is_live = 0
                 AND reason IN ('duplicate.body', 'duplicate.markdown', 'duplicate.near')
             RETURNING authority, state",
        )
        .bind(original)
        .fetch_all(self.connection())
        .await
        .map_err(|source| self.failed(source))?;
        self.news(&rows);
        Ok(())
    }

    /// Rewrites the record of `page` that waits in the spool, and says whether there is one.
    async fn rewrite_spooled(
        &mut self,
        page: &Known,
        outcome: Option<&PageOutcome>,
    ) -> Result<bool, StoreError> {
        let row = sqlx::query("SELECT seq, body FROM pending WHERE page_id = ?1 AND version = ?2 ORDER BY seq DESC LIMIT 1")
            .bind(page.id)
            .bind(i64::from(page.version))
            .fetch_optional(self.connection())
            .await
            .map_err(|source| self.failed(source))?;
        let Some(row) = row else { return Ok(false) };
        let seq: i64 = row.try_get("seq").map_err(|source| self.failed(source))?;
        let body: Vec<u8> = row.try_get("body").map_err(|source| self.failed(source))?;
        let mut record = spool::decode(&body, &self.store.path)?;
        if record.outcome != PageOutcome::Collected {
            return Ok(false);
        }
        let Some(outcome) = outcome else {
            // The page itself has new content: its old record goes, it never left the spool.
            sqlx::query("DELETE FROM pending WHERE seq = ?1")
                .bind(seq)
                .execute(self.connection())
                .await
                .map_err(|source| self.failed(source))?;
            return Ok(true);
        };
        record.outcome = outcome.clone();
        record.drop_content();
        let (body, bytes) = self.encode(&record)?;
        sqlx::query("UPDATE pending SET body = ?2, bytes = ?3, holds_content = 0 WHERE seq = ?1")
            .bind(seq)
            .bind(body)
            .bind(bytes)
            .execute(self.connection())
            .await
            .map_err(|source| self.failed(source))?;
        Ok(true)
    }

    /// A redirect that leads back to where it began leads nowhere.
    pub(super) async fn settle_redirect(
        &mut self,
        record: &mut PageRecord,
    ) -> Result<(), StoreError> {
        let PageOutcome::Duplicate { of, by: DuplicateBy::Redirect } = &record.outcome else {
            return Ok(());
        };
        let mut at = of.clone();
        for _ in 0..MAX_CHAIN {
            if at == record.url {
                let error = PageError::new(ErrorCode::FetchBadRedirect, "it redirects in a circle");
                record.outcome = PageOutcome::Failed(error);
                return Ok(());
            }
            let next: Option<Option<String>> = sqlx::query_scalar(
                "SELECT duplicate_of FROM page WHERE url = ?1 AND reason = 'duplicate.redirect'",
            )
            .bind(&at)
            .fetch_optional(self.connection())
            .await
            .map_err(|source| self.failed(source))?;
            match next.flatten() {
                Some(next) => at = next,
                None => return Ok(()),
            }
        }
        Ok(())
    }
}
