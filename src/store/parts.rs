//! Parts: what each holds, and what became of it.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::commit::break_transaction;
use super::{Mark, Store, StoreError, spool};
use crate::model::{PageRecord, kill_point, mistake};

/// What a part is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartHolds {
    /// Records of the spool.
    Records,
    /// What the change feed tells of the parts before it.
    Changes,
    /// What is live in parts that it replaces.
    Compacted,
    /// What is live in a part that it replaces, with what is now said of it.
    Marked,
}

impl PartHolds {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Records => "records",
            Self::Changes => "changes",
            Self::Compacted => "compacted",
            Self::Marked => "marked",
        }
    }

    fn of(name: &str) -> Self {
        [Self::Changes, Self::Compacted, Self::Marked]
            .into_iter()
            .find(|holds| holds.name() == name)
            .unwrap_or(Self::Records)
    }
}

/// A part whose content is fixed and whose files are still to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedPart {
    /// Its number, the only source of its files' names.
    pub id: i64,
    /// What it is made from.
    pub holds: PartHolds,
    /// The first record of the spool, or the first part, that it is made from.
    pub lo: i64,
    /// The last.
    pub hi: i64,
    /// The run that sealed it.
    pub run: i64,
    /// Hash of that run's config.
    pub config_hash: String,
}

/// A file of a published part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// `pages`, `chunks` or `changes`.
    pub kind: String,
    /// Below the corpus folder.
    pub path: String,
    /// How many rows it has.
    pub rows: u64,
    /// Its length.
    pub bytes: u64,
    /// Its blake3 checksum in hexadecimal.
    pub checksum: String,
}

/// A published part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPart {
    /// Its number.
    pub id: i64,
    /// What it was made from.
    pub holds: PartHolds,
    /// Its files.
    pub files: Vec<StoredFile>,
}

/// A content of a page that stands in a published part and no longer counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SupersededVersion {
    /// The page's document.
    pub document_id: String,
    /// Its address.
    pub url: String,
    /// Which of its contents.
    pub version: u32,
}

/// By what a content is superseded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SupersededBy {
    /// By whatever is committed.
    Committed,
    /// By what a part holds: one whose successor still waits in the spool is left out, so that
    /// readers always see one of the two.
    Published,
}

/// A page that was deleted from the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTombstone {
    /// The page's document.
    pub document_id: String,
    /// Its address.
    pub url: String,
    /// Why, as a dotted code.
    pub reason: String,
    /// The run that deleted it.
    pub run: i64,
}

impl Store {
    /// Uncompressed bytes of records that no part holds yet.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn spooled_bytes(&self) -> Result<u64, StoreError> {
        let bytes: i64 = sqlx::query_scalar("SELECT coalesce(sum(bytes), 0) FROM pending")
            .fetch_one(&self.pool)
            .await
            .map_err(|source| self.failed("measure the spool", source))?;
        Ok(bytes.unsigned_abs())
    }

    /// Fixes the next part: all that is spooled and not yet in one. `None` where there is nothing.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn seal(
        &self,
        run: i64,
        config_hash: &str,
    ) -> Result<Option<SealedPart>, StoreError> {
        let failed = |source| self.failed("seal a part", source);
        let statement = sqlx::query(
            "INSERT INTO part (lo, hi, state, run_id, config_hash)
             SELECT min(seq), max(seq), ?3, ?1, ?2 FROM pending
             WHERE seq > (SELECT coalesce(max(hi), 0) FROM part WHERE holds = 'records')
             HAVING count(*) > 0
             RETURNING id, lo, hi, run_id, config_hash, holds",
        )
        .bind(run)
        .bind(config_hash)
        .bind(if mistake("no-intent") { "unsaid" } else { "sealed" });
        let row = self.written(statement).await.map_err(failed)?;
        kill_point("seal.after");
        row.as_ref().map(SealedPart::of).transpose().map_err(failed)
    }

    /// Parts that were sealed and not published: a crash came between.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn sealed_parts(&self) -> Result<Vec<SealedPart>, StoreError> {
        let failed = |source| self.failed("list sealed parts", source);
        let rows = sqlx::query(
            "SELECT id, lo, hi, run_id, config_hash, holds FROM part WHERE state = 'sealed' ORDER BY id",
        )
        .fetch_all(&self.pool)
        .await
        .map_err(failed)?;
        rows.iter().map(SealedPart::of).collect::<Result<_, _>>().map_err(failed)
    }

    /// Up to `most` records of a sealed part behind record `after`, each with its number and with
    /// what is said of its page.
    ///
    /// # Errors
    ///
    /// Fails where the database does, and where a record is damaged.
    pub async fn spooled(
        &self,
        part: &SealedPart,
        after: i64,
        most: u32,
    ) -> Result<Vec<(i64, PageRecord)>, StoreError> {
        let failed = |source| self.failed("read the spool", source);
        let rows = sqlx::query(
            "SELECT seq, body, near_duplicate_of, repeated FROM pending
             LEFT JOIN mark ON mark.page_id = pending.page_id AND holds_content = 1
             WHERE seq > ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq LIMIT ?4",
        )
        .bind(after)
        .bind(part.lo)
        .bind(part.hi)
        .bind(i64::from(most))
        .fetch_all(&self.pool)
        .await
        .map_err(failed)?;
        let mut records = Vec::with_capacity(rows.len());
        for row in &rows {
            let body: &[u8] = row.try_get("body").map_err(failed)?;
            let mut record = spool::decode(body, &self.path)?;
            Mark::of(row).map_err(failed)?.apply(&mut record);
            records.push((row.try_get("seq").map_err(failed)?, record));
        }
        Ok(records)
    }

    /// Records that a sealed part's files are in place, and empties its stretch of the spool.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn publish(&self, part: &SealedPart, files: &[StoredFile]) -> Result<(), StoreError> {
        let failed = |source| self.failed("publish a part", source);
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        record(&mut transaction, part, files).await.map_err(failed)?;
        break_transaction(&mut transaction, "publish-apart").await.map_err(failed)?;
        kill_point("publish.recorded");
        let steps = [
            "UPDATE page SET part_id = ?1 FROM pending
             WHERE seq BETWEEN ?2 AND ?3 AND holds_content = 1
                 AND page.id = pending.page_id AND page.version = pending.version",
            MARKS_ARE_WRITTEN,
            "DELETE FROM pending WHERE seq BETWEEN ?2 AND ?3",
        ];
        follow(&mut transaction, part, &steps).await.map_err(failed)?;
        kill_point("publish.before");
        transaction.commit().await.map_err(failed)?;
        kill_point("publish.after");
        Ok(())
    }

    /// Every published part, in order.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn published_parts(&self) -> Result<Vec<StoredPart>, StoreError> {
        let failed = |source| self.failed("list parts", source);
        let rows = sqlx::query(
            "SELECT part_id, holds, kind, path, row_count, part_file.bytes AS bytes, checksum
             FROM part_file JOIN part ON part.id = part_id
             WHERE state = 'published' ORDER BY part_id, kind DESC",
        )
        .fetch_all(&self.pool)
        .await
        .map_err(failed)?;
        let mut parts: Vec<StoredPart> = Vec::new();
        for row in &rows {
            let id = row.try_get("part_id").map_err(failed)?;
            if parts.last().is_none_or(|part| part.id != id) {
                let holds = PartHolds::of(row.try_get("holds").map_err(failed)?);
                parts.push(StoredPart { id, holds, files: Vec::new() });
            }
            if let Some(part) = parts.last_mut() {
                part.files.push(file(row).map_err(failed)?);
            }
        }
        Ok(parts)
    }

    /// Contents that stand in published parts and no longer count.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn superseded(&self, by: SupersededBy) -> Result<Vec<SupersededVersion>, StoreError> {
        let failed = |source| self.failed("list superseded contents", source);
        let rows = sqlx::query(
            "SELECT document_id, url, version FROM superseded
             WHERE NOT ?1 OR NOT EXISTS (
                 SELECT 1 FROM page JOIN pending ON pending.page_id = page.id
                 WHERE page.url = by_url AND pending.version = by_version)
             ORDER BY document_id, version",
        )
        .bind(by == SupersededBy::Published)
        .fetch_all(&self.pool)
        .await
        .map_err(failed)?;
        let version = |row: &SqliteRow| -> Result<SupersededVersion, sqlx::Error> {
            Ok(SupersededVersion {
                document_id: row.try_get("document_id")?,
                url: row.try_get("url")?,
                version: row.try_get("version")?,
            })
        };
        rows.iter().map(version).collect::<Result<_, _>>().map_err(failed)
    }

    /// Pages that are gone.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn tombstones(&self) -> Result<Vec<StoredTombstone>, StoreError> {
        let failed = |source| self.failed("list tombstones", source);
        let rows = sqlx::query(
            "SELECT document_id, url, reason, run_id FROM tombstone ORDER BY document_id",
        )
        .fetch_all(&self.pool)
        .await
        .map_err(failed)?;
        let tombstone = |row: &SqliteRow| -> Result<StoredTombstone, sqlx::Error> {
            Ok(StoredTombstone {
                document_id: row.try_get("document_id")?,
                url: row.try_get("url")?,
                reason: row.try_get("reason")?,
                run: row.try_get("run_id")?,
            })
        };
        rows.iter().map(tombstone).collect::<Result<_, _>>().map_err(failed)
    }
}

impl SealedPart {
    pub(super) fn of(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            holds: PartHolds::of(row.try_get("holds")?),
            lo: row.try_get("lo")?,
            hi: row.try_get("hi")?,
            run: row.try_get("run_id")?,
            config_hash: row.try_get("config_hash")?,
        })
    }
}

/// What is said of pages stands in the part numbered `?1`.
pub(super) const MARKS_ARE_WRITTEN: &str =
    "UPDATE mark SET is_written = 1 WHERE page_id IN (SELECT id FROM page WHERE part_id = ?1)";

/// Takes `steps` for a part, whose number they know as `?1`, and its stretch as `?2` to `?3`.
pub(super) async fn follow(
    connection: &mut SqliteConnection,
    part: &SealedPart,
    steps: &[&'static str],
) -> Result<(), sqlx::Error> {
    for step in steps {
        sqlx::query(*step)
            .bind(part.id)
            .bind(part.lo)
            .bind(part.hi)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// Records the files of a part, and that they are in place.
pub(super) async fn record(
    connection: &mut SqliteConnection,
    part: &SealedPart,
    files: &[StoredFile],
) -> Result<(), sqlx::Error> {
    for file in files {
        sqlx::query("INSERT OR REPLACE INTO part_file VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
            .bind(part.id)
            .bind(&file.kind)
            .bind(&file.path)
            .bind(file.rows.cast_signed())
            .bind(file.bytes.cast_signed())
            .bind(&file.checksum)
            .execute(&mut *connection)
            .await?;
    }
    sqlx::query("UPDATE part SET state = 'published' WHERE id = ?1")
        .bind(part.id)
        .execute(&mut *connection)
        .await
        .map(|_| ())
}

fn file(row: &SqliteRow) -> Result<StoredFile, sqlx::Error> {
    Ok(StoredFile {
        kind: row.try_get("kind")?,
        path: row.try_get("path")?,
        rows: row.try_get::<i64, _>("row_count")?.unsigned_abs(),
        bytes: row.try_get::<i64, _>("bytes")?.unsigned_abs(),
        checksum: row.try_get("checksum")?,
    })
}
