//! Addresses that wait, and those that are being fetched.

use serde::Serialize;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{Store, StoreError};
use crate::model::{CanonicalUrl, ContentHash, Request, Timestamp, Validators, WebUrl, kill_point};

/// An address that was found, in the form in which the database takes lists of them.
#[derive(Clone, Debug, Serialize)]
pub struct FoundUrl {
    pub(super) key: String,
    pub(super) url: String,
    pub(super) authority: String,
}

impl FoundUrl {
    /// The page's key.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl From<&WebUrl> for FoundUrl {
    fn from(url: &WebUrl) -> Self {
        Self { key: url.key().to_string(), url: url.to_string(), authority: url.authority() }
    }
}

/// Puts addresses into the frontier. One that is known keeps its state; its depth falls to the
/// smaller one, and where it waited beyond the depth limit it comes within.
pub(super) const ENQUEUE: &str = "
    INSERT INTO page (url, fetch_url, authority, state, depth, referrer, redirects)
    SELECT value->>'key', value->>'url', value->>'authority',
           CASE WHEN ?2 > ?4 THEN 'deep' ELSE 'queued' END, ?2, ?3, ?5
    FROM json_each(?1) WHERE true
    ON CONFLICT (url) DO UPDATE SET
        depth = excluded.depth,
        state = CASE WHEN state = 'deep' THEN excluded.state ELSE state END
    WHERE excluded.depth < depth
    RETURNING id, authority, state";

impl Store {
    /// Gives back what a process that ended held: its leases, and politeness of old.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn recover_leases(&self) -> Result<u64, StoreError> {
        sqlx::query(
            "UPDATE page SET state = 'queued', tries = max(tries - 1, 0) WHERE state = 'leased'",
        )
        .execute(&self.pool)
        .await
        .map(|done| done.rows_affected())
        .map_err(|source| self.failed("give back leases", source))
    }

    /// Counts that the process ended while it converted the pages with keys `urls`.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn count_crashes(&self, urls: &[String]) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE page SET crashes = crashes + 1
             WHERE state <> 'done' AND url IN (SELECT value FROM json_each(?1))",
        )
        .bind(serde_json::to_string(urls).unwrap_or_default())
        .execute(&self.pool)
        .await
        .map(|_| ())
        .map_err(|source| self.failed("count crashes", source))
    }

    /// Puts addresses into the frontier that no page led to: seeds and entries of sitemaps.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn enqueue(
        &self,
        urls: &[FoundUrl],
        depth: u32,
        max_depth: u32,
        referrer: Option<&str>,
    ) -> Result<Vec<String>, StoreError> {
        let list = serde_json::to_string(urls).unwrap_or_default();
        let rows = sqlx::query(ENQUEUE)
            .bind(list)
            .bind(i64::from(depth))
            .bind(referrer)
            .bind(i64::from(max_depth))
            .bind(0_i64)
            .fetch_all(&self.pool)
            .await
            .map_err(|source| self.failed("enqueue addresses", source))?;
        Ok(authorities(&rows))
    }

    /// Every authority with an address that waits.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn waiting_authorities(&self) -> Result<Vec<String>, StoreError> {
        sqlx::query_scalar("SELECT DISTINCT authority FROM page WHERE state = 'queued'")
            .fetch_all(&self.pool)
            .await
            .map_err(|source| self.failed("list hosts", source))
    }

    /// How many addresses wait.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn queued(&self) -> Result<u64, StoreError> {
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM page WHERE state = 'queued'")
            .fetch_one(&self.pool)
            .await
            .map_err(|source| self.failed("count waiting addresses", source))?;
        Ok(count.unsigned_abs())
    }

    /// How many addresses of `authority` wait.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn waiting(&self, authority: &str) -> Result<u64, StoreError> {
        let count: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM page WHERE state = 'queued' AND authority = ?1",
        )
        .bind(authority)
        .fetch_one(&self.pool)
        .await
        .map_err(|source| self.failed("count waiting addresses", source))?;
        Ok(count.unsigned_abs())
    }

    /// Leases up to `most` addresses of `authority`, shallowest first. A request has validators
    /// where what is stored of the page was made by `converter`.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn lease(
        &self,
        authority: &str,
        most: u32,
        converter: ContentHash,
    ) -> Result<Vec<Request>, StoreError> {
        let rows = sqlx::query(
            "UPDATE page SET state = 'leased', tries = tries + 1 WHERE id IN (
                 SELECT id FROM page WHERE state = 'queued' AND authority = ?1
                 ORDER BY tries, depth, id LIMIT ?2)
             RETURNING id, url, fetch_url, depth, referrer, redirects, tries, crashes, is_live,
                 CASE WHEN converter = ?3 THEN etag END AS etag,
                 CASE WHEN converter = ?3 THEN last_modified END AS last_modified",
        )
        .bind(authority)
        .bind(i64::from(most))
        .bind(converter.to_string())
        .fetch_all(&self.pool)
        .await
        .map_err(|source| self.failed("lease addresses", source))?;
        kill_point("lease.after");
        let mut requests: Vec<Request> = rows.iter().filter_map(request).collect();
        requests.sort_by_key(|request| (request.tries, request.depth, request.id));
        Ok(requests)
    }

    /// Gives leases back unused, as if they had not been taken.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn release(&self, ids: &[i64]) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE page SET state = 'queued', tries = max(tries - 1, 0)
             WHERE state = 'leased' AND id IN (SELECT value FROM json_each(?1))",
        )
        .bind(serde_json::to_string(ids).unwrap_or_default())
        .execute(&self.pool)
        .await
        .map(|_| ())
        .map_err(|source| self.failed("give back leases", source))
    }

    /// Gives a lease back to be tried again.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn retry(&self, id: i64) -> Result<(), StoreError> {
        sqlx::query("UPDATE page SET state = 'queued' WHERE id = ?1 AND state = 'leased'")
            .bind(id)
            .execute(&self.pool)
            .await
            .map(|_| ())
            .map_err(|source| self.failed("requeue an address", source))
    }

    /// Gives a lease back to be asked for at another address of the same key.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn readdress(&self, id: i64, url: &WebUrl) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE page SET state = 'queued', fetch_url = ?2, redirects = redirects + 1,
                 tries = max(tries - 1, 0) WHERE id = ?1 AND state = 'leased'",
        )
        .bind(id)
        .bind(url.as_str())
        .execute(&self.pool)
        .await
        .map(|_| ())
        .map_err(|source| self.failed("readdress a page", source))
    }

    /// When `authority` may be asked next.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn next_at(&self, authority: &str) -> Result<Option<Timestamp>, StoreError> {
        let at: Option<i64> = sqlx::query_scalar("SELECT next_at FROM host WHERE authority = ?1")
            .bind(authority)
            .fetch_optional(&self.pool)
            .await
            .map_err(|source| self.failed("read a host's delay", source))?;
        Ok(at.map(Timestamp))
    }

    /// Remembers when `authority` may be asked next, over a restart.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn set_next_at(&self, authority: &str, at: Timestamp) -> Result<(), StoreError> {
        sqlx::query("INSERT INTO host (authority, next_at) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET next_at = ?2")
            .bind(authority)
            .bind(at.0)
            .execute(&self.pool)
            .await
            .map(|_| ())
            .map_err(|source| self.failed("remember a host's delay", source))
    }
}

/// The authorities of rows that wait, each once.
pub(super) fn authorities(rows: &[SqliteRow]) -> Vec<String> {
    let mut all: Vec<String> = rows
        .iter()
        .filter(|row| row.try_get::<&str, _>("state").is_ok_and(|state| state == "queued"))
        .filter_map(|row| row.try_get("authority").ok())
        .collect();
    all.sort();
    all.dedup();
    all
}

fn request(row: &SqliteRow) -> Option<Request> {
    let number = |name: &str| row.try_get::<i64, _>(name).ok();
    let small = |name: &str| number(name).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
    Some(Request {
        id: number("id")?,
        url: WebUrl::parse(row.try_get("fetch_url").ok()?).ok()?,
        key: CanonicalUrl::parse(row.try_get("url").ok()?).ok()?,
        depth: small("depth"),
        referrer: row.try_get("referrer").ok().flatten(),
        redirects: small("redirects"),
        tries: small("tries"),
        crashes: small("crashes"),
        is_live: row.try_get("is_live").unwrap_or(false),
        validators: Validators {
            etag: row.try_get("etag").ok().flatten(),
            last_modified: row.try_get("last_modified").ok().flatten(),
        },
    })
}
