//! What the corpus says of pages and chunks that others resemble.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::commit::Commit;
use super::dedup::Successor;
use super::likeness::Ranks;
use super::{CommitRules, NearMode, Store, StoreError};
use crate::model::{ChunkFlag, DuplicateBy, PageOutcome, PageRecord, kill_point};

/// Bytes of the place of a chunk.
const PLACE_BYTES: usize = 4;

/// What is said of a page and its chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The page that it is nearly equal to.
    pub near_duplicate_of: Option<String>,
    /// The places of its chunks whose text stands in another page.
    pub repeated: BTreeSet<u32>,
}

/// How much of the corpus is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MarkCounts {
    /// Pages that are nearly equal to another.
    pub near_duplicates: u64,
    /// Chunks whose text stands in another page.
    pub repeated_chunks: u64,
}

impl Mark {
    /// Reads the columns of table `mark`, which are null where there is no row.
    pub(super) fn of(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let places: Option<&[u8]> = row.try_get("repeated")?;
        let (places, _) = places.unwrap_or_default().as_chunks::<PLACE_BYTES>();
        Ok(Self {
            near_duplicate_of: row.try_get("near_duplicate_of")?,
            repeated: places.iter().map(|place| u32::from_le_bytes(*place)).collect(),
        })
    }

    /// Says it in the record that holds the page's content.
    pub(super) fn apply(self, record: &mut PageRecord) {
        let near = self.near_duplicate_of.as_ref().map(|_| ChunkFlag::NearDuplicate);
        for (chunk, place) in record.chunks.iter_mut().zip(0..) {
            let repeated = self.repeated.contains(&place).then_some(ChunkFlag::Repeated);
            chunk.flags.extend(near.into_iter().chain(repeated));
        }
        record.near_duplicate_of = self.near_duplicate_of;
    }

    fn places(&self) -> Vec<u8> {
        self.repeated.iter().flat_map(|place| place.to_le_bytes()).collect()
    }
}

impl Store {
    /// Holds all live pages against each other, and notes what is to be said of which. Where
    /// `rules` drop pages that are nearly equal to another, they become its duplicates here.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn settle_marks(&self, rules: CommitRules) -> Result<(), StoreError> {
        let mut commit = Commit::begin(self, rules).await?;
        let wanted = commit.wanted_marks().await?;
        commit.note_marks(wanted).await?;
        kill_point("marks.before");
        commit.end().await?;
        kill_point("marks.after");
        Ok(())
    }

    /// The parts that do not say of their pages what is to be said. Nothing may wait in the spool.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn unmarked_parts(&self) -> Result<Vec<i64>, StoreError> {
        sqlx::query_scalar(
            "SELECT DISTINCT part_id FROM mark JOIN page ON page.id = page_id
             WHERE is_written = 0 AND is_live = 1 AND part_id IS NOT NULL ORDER BY part_id",
        )
        .fetch_all(&self.pool)
        .await
        .map_err(|source| self.failed("look for parts without marks", source))
    }

    /// How much of the corpus is marked.
    ///
    /// # Errors
    ///
    /// Fails where the database does.
    pub async fn mark_counts(&self) -> Result<MarkCounts, StoreError> {
        let (pages, bytes): (i64, i64) = sqlx::query_as(
            "SELECT count(near_duplicate_of), coalesce(sum(length(repeated)), 0)
             FROM mark JOIN page ON page.id = page_id WHERE is_live = 1",
        )
        .fetch_one(&self.pool)
        .await
        .map_err(|source| self.failed("count marks", source))?;
        Ok(MarkCounts {
            near_duplicates: pages.unsigned_abs(),
            repeated_chunks: bytes.unsigned_abs() / PLACE_BYTES as u64,
        })
    }
}

impl Commit<'_> {
    /// What is to be said, by page.
    async fn wanted_marks(&mut self) -> Result<HashMap<i64, Mark>, StoreError> {
        let mode = self.rules.dedup.near;
        if mode == NearMode::Off {
            return Ok(HashMap::new());
        }
        let mut ranks = self.rank_live_pages().await?;
        let originals = self.near_duplicates(&ranks).await?;
        let mut marks: HashMap<i64, Mark> = HashMap::new();
        if mode == NearMode::Drop {
            self.drop_near_duplicates(&ranks, &originals).await?;
            ranks = self.rank_live_pages().await?;
        } else {
            for (page, original) in originals {
                let of = self.url_of(ranks.page(original)).await?;
                marks.entry(ranks.page(page)).or_default().near_duplicate_of = Some(of);
            }
        }
        for (page, places) in self.repeated_chunks(&ranks).await? {
            marks.entry(ranks.page(page)).or_default().repeated = places;
        }
        Ok(marks)
    }

    async fn url_of(&mut self, page: i64) -> Result<String, StoreError> {
        sqlx::query_scalar("SELECT url FROM page WHERE id = ?1")
            .bind(page)
            .fetch_one(self.connection())
            .await
            .map_err(|source| self.failed(source))
    }

    /// Takes pages out of the corpus that are nearly equal to an original.
    async fn drop_near_duplicates(
        &mut self,
        ranks: &Ranks,
        originals: &BTreeMap<u32, u32>,
    ) -> Result<(), StoreError> {
        for (page, original) in originals {
            let original = self.url_of(ranks.page(*original)).await?;
            let page = self.url_of(ranks.page(*page)).await?;
            let known = (self.known(&page).await?, self.known(&original).await?);
            let (Some(page), Some(original_page)) = known else { continue };
            let outcome =
                PageOutcome::Duplicate { of: original.clone(), by: DuplicateBy::Likeness };
            let by = Successor { url: &original, version: original_page.version };
            self.supersede(&page, Some(outcome), by).await?;
        }
        Ok(())
    }

    /// Notes what differs from what was said, so that parts and feed are told.
    async fn note_marks(&mut self, mut wanted: HashMap<i64, Mark>) -> Result<(), StoreError> {
        let rows = sqlx::query("SELECT page_id, near_duplicate_of, repeated FROM mark")
            .fetch_all(self.connection())
            .await
            .map_err(|source| self.failed(source))?;
        let mut changed: BTreeMap<i64, Mark> = BTreeMap::new();
        for row in &rows {
            let page: i64 = row.try_get("page_id").map_err(|source| self.failed(source))?;
            let said = Mark::of(row).map_err(|source| self.failed(source))?;
            let now = wanted.remove(&page).unwrap_or_default();
            if now != said {
                changed.insert(page, now);
            }
        }
        changed.extend(wanted);
        for (page, mark) in changed {
            sqlx::query("INSERT OR REPLACE INTO mark VALUES (?1, ?2, ?3, 0)")
                .bind(page)
                .bind(&mark.near_duplicate_of)
                .bind(mark.places())
                .execute(self.connection())
                .await
                .map_err(|source| self.failed(source))?;
            sqlx::query("UPDATE feed SET is_told = 0 WHERE page_id = ?1")
                .bind(page)
                .execute(self.connection())
                .await
                .map_err(|source| self.failed(source))?;
        }
        Ok(())
    }
}
