//! When a page is visited again, and when a page that is missing is deleted.

use serde::{Deserialize, Serialize};

use super::FoundUrl;
use super::dedup::Known;
use super::{Store, StoreError};
use crate::model::{ContentHash, Exclusion, Factor, PageOutcome, Ratio, Timestamp, kill_point};

/// Microseconds of a second.
const SECOND: i64 = 1_000_000;

/// When pages are visited again, and what it takes to delete one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecrawlOptions {
    /// Hours between the first visit of a page and the second.
    pub start_hours: u32,
    /// Fewest hours between two visits.
    pub min_hours: u32,
    /// Most hours between two visits.
    pub max_hours: u32,
    /// What the time between visits is multiplied by when a page had not changed.
    pub unchanged_factor: Factor,
    /// What it is multiplied by when a page had changed.
    pub changed_factor: Factor,
    /// Hours after which a page that was missing and still is counts as gone.
    pub confirm_gone_hours: u32,
    /// Whether a host is asked, once a run, what it answers for a page that does not exist, so that
    /// a page of the corpus that comes to be that answer counts as missing.
    pub probe_missing: bool,
    /// Largest share of the pages in the corpus that a run deletes without being told to.
    pub max_delete_ratio: Ratio,
}

impl Default for RecrawlOptions {
    fn default() -> Self {
        Self {
            start_hours: 7 * 24,
            min_hours: 1,
            max_hours: 90 * 24,
            unchanged_factor: Factor::from_thousandths(1_500),
            changed_factor: Factor::from_thousandths(500),
            confirm_gone_hours: 24,
            probe_missing: true,
            max_delete_ratio: Ratio::from_thousandths(200),
        }
    }
}

impl RecrawlOptions {
    /// Seconds until the next visit of a page that was waited for as `before` says: `factor` times
    /// as many.
    fn interval(&self, before: Option<u64>, factor: Factor) -> u64 {
        let hour = 3_600;
        let Some(before) = before else { return u64::from(self.start_hours) * hour };
        let (least, most) = (u64::from(self.min_hours) * hour, u64::from(self.max_hours) * hour);
        factor.times(before).max(least).min(most)
    }

    fn confirm_gone(&self) -> i64 {
        i64::from(self.confirm_gone_hours) * 3_600 * SECOND
    }
}

/// What a visit means for a page's place in the corpus, and for the next visit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) is_live: bool,
    /// Since when it is missing.
    pub(super) missing_since: Option<i64>,
    /// Why it is to be deleted.
    pub(super) condemned: Option<String>,
    pub(super) interval_secs: i64,
    pub(super) due_at: i64,
}

/// How sure an outcome is that a page does not belong in the corpus any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Absence {
    /// It is there, or nothing is known.
    None,
    /// It may come back: a server that is being moved answers 404 and empty pages for a while.
    Perhaps,
    Certain,
}

fn absence(outcome: &PageOutcome) -> Absence {
    match outcome {
        // What a run makes of a series of pages says nothing of one of them.
        PageOutcome::Collected
        | PageOutcome::Unchanged
        | PageOutcome::Failed(_)
        | PageOutcome::Excluded(Exclusion::TrapRepeating | Exclusion::TrapCalendar) => {
            Absence::None
        }
        PageOutcome::Gone { status: 404 }
        | PageOutcome::Excluded(
            Exclusion::Empty | Exclusion::SoftNotFound | Exclusion::MediaType,
        ) => Absence::Perhaps,
        PageOutcome::Gone { .. } | PageOutcome::Excluded(_) | PageOutcome::Duplicate { .. } => {
            Absence::Certain
        }
    }
}

impl Place {
    /// The place of a page with `outcome` at `now`, of which `known` was known before.
    pub(super) fn after(
        outcome: &PageOutcome,
        known: Option<&Known>,
        now: Timestamp,
        options: &RecrawlOptions,
    ) -> Self {
        let was_live = known.is_some_and(|known| known.is_live);
        let has_changed = *outcome == PageOutcome::Collected;
        let factor = if has_changed { options.changed_factor } else { options.unchanged_factor };
        let interval = options.interval(known.and_then(|known| known.interval_secs), factor);
        let interval_secs = i64::try_from(interval).unwrap_or(i64::MAX / SECOND);
        let mut place = Self {
            is_live: was_live,
            interval_secs,
            due_at: now.0.saturating_add(interval_secs.saturating_mul(SECOND)),
            ..Self::default()
        };
        match absence(outcome) {
            Absence::None => {
                place.is_live |= has_changed;
                let is_known = !matches!(outcome, PageOutcome::Failed(_));
                let before = known.and_then(|known| known.missing_since);
                place.missing_since = before.filter(|_| !is_known);
            }
            Absence::Perhaps if was_live => {
                let since = known.and_then(|known| known.missing_since).unwrap_or(now.0);
                place.missing_since = Some(since);
                let is_confirmed = now.0 > since && now.0 - since >= options.confirm_gone();
                place.condemned = is_confirmed.then(|| outcome.reason());
            }
            Absence::Certain if was_live => place.condemned = Some(outcome.reason()),
            Absence::Perhaps | Absence::Certain => {}
        }
        place
    }

    /// Whether the page's chunks are those of an earlier visit.
    pub(super) fn is_stale(&self, outcome: &PageOutcome) -> bool {
        let is_confirmed = matches!(outcome, PageOutcome::Collected | PageOutcome::Unchanged);
        self.is_live && self.condemned.is_none() && !is_confirmed
    }
}

/// Which of the known pages are visited in a run.
#[derive(Clone, Copy, Debug)]
pub struct Revisit {
    /// The time of day.
    pub now: Timestamp,
    /// Whether all are, due or not.
    pub all: bool,
    /// Most links between a seed and a page.
    pub max_depth: u32,
    /// When pages are due.
    pub recrawl: RecrawlOptions,
}

/// What the end of a run deleted, or would have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Deletions {
    /// Pages that are to go.
    pub condemned: u64,
    /// Pages in the corpus before.
    pub live: u64,
    /// Whether they went.
    pub are_applied: bool,
}

/// Pages that are to be deleted now. One that redirects stays until its target was visited.
const CONDEMNED: &str = "
    condemned IS NOT NULL AND is_live = 1 AND NOT (condemned = 'duplicate.redirect' AND EXISTS (
        SELECT 1 FROM page AS target
        WHERE target.url = page.duplicate_of AND target.state <> 'done'))";

impl Store {
    /// Puts known pages into the frontier: those that are due, that failed, that are missing, and
    /// whose content was made by another `converter`. Returns how many were due.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn revisit(
        &self,
        which: &Revisit,
        converter: ContentHash,
    ) -> Result<u64, StoreError> {
        let failed = |source| self.failed("requeue pages", source);
        let longest = i64::from(which.recrawl.max_hours.max(which.recrawl.start_hours)) * 3_600;
        sqlx::query(
            "UPDATE page SET state = 'queued', tries = 0
             WHERE state = 'failed' AND reason <> 'internal.poison'",
        )
        .execute(&self.pool)
        .await
        .map_err(failed)?;
        // A time that lies further ahead than any interval was written by a clock that was wrong.
        let due = sqlx::query(
            "UPDATE page SET state = 'queued', tries = 0
             WHERE state = 'done' AND authority <> '' AND (?1 OR due_at IS NULL OR due_at <= ?2 OR due_at > ?3
                 OR missing_since IS NOT NULL OR condemned IS NOT NULL
                 OR (is_live = 1 AND converter IS NOT ?4))",
        )
        .bind(which.all)
        .bind(which.now.0)
        .bind(which.now.0.saturating_add((longest + 1) * SECOND))
        .bind(converter.to_string())
        .execute(&self.pool)
        .await
        .map_err(failed)?;
        sqlx::query("UPDATE page SET state = CASE WHEN depth > ?1 THEN 'deep' ELSE 'queued' END WHERE state IN ('deep', 'queued')")
            .bind(i64::from(which.max_depth))
            .execute(&self.pool)
            .await
            .map_err(failed)?;
        Ok(due.rows_affected())
    }

    /// The keys of up to `most` pages whose chunks are in the corpus, behind page `after`, each
    /// with its number.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn live_urls(&self, after: i64, most: u32) -> Result<Vec<(i64, String)>, StoreError> {
        sqlx::query_as(
            "SELECT id, fetch_url FROM page WHERE is_live = 1 AND id > ?1 ORDER BY id LIMIT ?2",
        )
        .bind(after)
        .bind(i64::from(most))
        .fetch_all(&self.pool)
        .await
        .map_err(|source| self.failed("list live pages", source))
    }

    /// Puts pages into the frontier again, due or not.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn requeue(&self, ids: &[i64]) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE page SET state = 'queued', tries = 0
             WHERE state = 'done' AND id IN (SELECT value FROM json_each(?1))",
        )
        .bind(serde_json::to_string(ids).unwrap_or_default())
        .execute(&self.pool)
        .await
        .map(|_| ())
        .map_err(|source| self.failed("requeue pages", source))
    }

    /// Puts pages into the frontier again that changed, by the word of a sitemap, after they were
    /// visited.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn requeue_modified(
        &self,
        pages: &[(FoundUrl, Timestamp)],
    ) -> Result<(), StoreError> {
        let list: Vec<(&str, i64)> =
            pages.iter().map(|(page, modified)| (page.key(), modified.0)).collect();
        sqlx::query(
            "UPDATE page SET state = 'queued', tries = 0 FROM json_each(?1)
             WHERE page.url = value->>0 AND state = 'done' AND checked_at < value->>1",
        )
        .bind(serde_json::to_string(&list).unwrap_or_default())
        .execute(&self.pool)
        .await
        .map(|_| ())
        .map_err(|source| self.failed("requeue pages", source))
    }

    /// Whether content of a page that is to be deleted waits in the spool: an earlier run left it.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn has_spooled_condemned(&self) -> Result<bool, StoreError> {
        sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM page JOIN pending ON pending.page_id = page.id
             WHERE condemned IS NOT NULL AND holds_content = 1 AND pending.version = page.version)",
        )
        .fetch_one(&self.pool)
        .await
        .map_err(|source| self.failed("look for pages to delete", source))
    }

    /// Deletes the pages that visits have condemned, all in one transaction; or none, where they
    /// are more than `most` of the corpus. Their content may not wait in the spool.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn delete_condemned(&self, run: i64, most: Ratio) -> Result<Deletions, StoreError> {
        let failed = |source| self.failed("delete pages", source);
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        let counts = format!(
            "SELECT (SELECT count(*) FROM page WHERE {CONDEMNED}), (SELECT count(*) FROM page WHERE is_live = 1)"
        );
        let (condemned, live): (i64, i64) = sqlx::query_as(sqlx::AssertSqlSafe(counts))
            .fetch_one(&mut *transaction)
            .await
            .map_err(failed)?;
        let mut deletions = Deletions {
            condemned: condemned.unsigned_abs(),
            live: live.unsigned_abs(),
            are_applied: false,
        };
        let allowed = most.of(usize::try_from(live).unwrap_or(0)) as u64;
        if deletions.condemned == 0 || deletions.condemned > allowed {
            return Ok(deletions);
        }
        let steps = [
            format!(
                "INSERT OR REPLACE INTO tombstone (document_id, url, reason, run_id)
                 SELECT document_id, url, condemned, {run} FROM page WHERE {CONDEMNED}"
            ),
            format!(
                "INSERT OR IGNORE INTO superseded (document_id, url, version)
                 SELECT document_id, url, version FROM page WHERE {CONDEMNED}"
            ),
            format!(
                "UPDATE feed SET live = x'', is_told = (told = x'')
                 WHERE page_id IN (SELECT id FROM page WHERE {CONDEMNED})"
            ),
            format!(
                "UPDATE page SET is_live = 0, chunk_count = 0, token_count = 0, missing_since = NULL,
                     condemned = NULL, version = version + 1 WHERE {CONDEMNED}"
            ),
        ];
        kill_point("delete.begun");
        for step in steps {
            sqlx::query(sqlx::AssertSqlSafe(step))
                .execute(&mut *transaction)
                .await
                .map_err(failed)?;
        }
        kill_point("delete.before");
        transaction.commit().await.map_err(failed)?;
        kill_point("delete.after");
        deletions.are_applied = true;
        Ok(deletions)
    }

    /// When the next page is due that is not waiting already.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        let due: Option<i64> =
            sqlx::query_scalar("SELECT min(due_at) FROM page WHERE state = 'done'")
                .fetch_one(&self.pool)
                .await
                .map_err(|source| self.failed("look for the next visit", source))?;
        Ok(due.map(Timestamp))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_follow_changes_between_their_limits() {
        let options = RecrawlOptions::default();
        let hour = 3_600;
        let (shrinks, grows) = (options.changed_factor, options.unchanged_factor);
        assert_eq!(options.interval(None, shrinks), 168 * hour);
        assert_eq!(options.interval(Some(10 * hour), grows), 15 * hour);
        assert_eq!(options.interval(Some(10 * hour), shrinks), 5 * hour);
        assert_eq!(options.interval(Some(hour), shrinks), hour);
        assert_eq!(options.interval(Some(2_000 * hour), grows), 2_160 * hour);
        assert_eq!(options.interval(Some(u64::MAX), grows), 2_160 * hour);
    }
}
