//! Which pages, and which chunks, are alike.
//!
//! Of all live pages a sketch and the hashes of the chunks' texts are kept. At the end of a run they
//! are held against each other as a whole, so that what is found does not depend on the order of
//! arrival. Entries with equal hashes are brought together by sorting, in several passes where they
//! would take too much memory at once.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use sqlx::Row as _;

use super::StoreError;
use super::commit::Commit;
use crate::model::{ContentHash, PageRecord, Ratio, Sketch};

/// Most entries that are sorted at once, 16 bytes each.
const MOST_ENTRIES: u64 = 4_000_000;

/// Pages of a group that the others are held against, the first in the order of originals. A group
/// that shares a band is a handful of nearly equal pages, or thousands, of which the first is the
/// original of nearly all.
const HEADS: usize = 32;

/// Rows read at a time.
const BATCH: i64 = 1_024;

/// Bytes of the hash of a chunk's text.
const PASSAGE_BYTES: usize = 8;

/// The live pages in the order of originals: their place in it is their rank.
pub(super) struct Ranks {
    pages: Vec<i64>,
    /// Rank by page, sorted.
    by_page: Vec<(i64, u32)>,
}

impl Ranks {
    fn new(pages: Vec<i64>) -> Self {
        let mut by_page: Vec<(i64, u32)> = pages.iter().copied().zip(0..).collect();
        by_page.sort_unstable();
        Self { pages, by_page }
    }

    /// The page with `rank`.
    pub(super) fn page(&self, rank: u32) -> i64 {
        self.pages.get(rank as usize).copied().unwrap_or_default()
    }

    fn of(&self, page: i64) -> Option<u32> {
        let at = self.by_page.binary_search_by_key(&page, |(page, _)| *page).ok()?;
        self.by_page.get(at).map(|(_, rank)| *rank)
    }
}

/// Something that pages may have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    hash: u64,
    rank: u32,
    place: u32,
}

/// What is held against each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trait {
    Band,
    Passage,
}

impl Trait {
    fn column(self) -> &'static str {
        match self {
            Self::Band => "sketch",
            Self::Passage => "passages",
        }
    }

    /// The hashes that `blob` holds, in order.
    fn hashes(self, blob: &[u8]) -> Vec<u64> {
        match self {
            Self::Band => Sketch::from_bytes(blob).map_or(Vec::new(), |s| s.bands().collect()),
            Self::Passage => {
                let (hashes, _) = blob.as_chunks::<PASSAGE_BYTES>();
                hashes.iter().map(|hash| u64::from_le_bytes(*hash)).collect()
            }
        }
    }
}

/// Entries of several pages that have the same hash, the page with the least rank first.
type Group = Vec<Entry>;

impl Commit<'_> {
    /// Notes what the text of a page is like.
    pub(super) async fn note_likeness(
        &mut self,
        page: i64,
        record: &PageRecord,
        sketch: Option<&Sketch>,
    ) -> Result<(), StoreError> {
        let words = record.quality.as_ref().map_or(0, |quality| quality.words);
        let sketch = sketch.filter(|_| words >= self.rules.dedup.near_min_words);
        let passage = |text: &str| ContentHash::of(text.trim().as_bytes()).first_u64();
        let passages = record.chunks.iter().flat_map(|chunk| passage(&chunk.text).to_le_bytes());
        sqlx::query(
            "INSERT OR REPLACE INTO likeness (page_id, sketch, passages) VALUES (?1, ?2, ?3)",
        )
        .bind(page)
        .bind(sketch.map_or(&[] as &[u8], Sketch::as_bytes))
        .bind(passages.collect::<Vec<u8>>())
        .execute(self.connection())
        .await
        .map_err(|source| self.failed(source))?;
        // The new content is in no part yet, so none says anything of it.
        sqlx::query("DELETE FROM mark WHERE page_id = ?1")
            .bind(page)
            .execute(self.connection())
            .await
            .map(|_| ())
            .map_err(|source| self.failed(source))
    }

    /// Forgets pages that are not live any more, and ranks the others.
    pub(super) async fn rank_live_pages(&mut self) -> Result<Ranks, StoreError> {
        for table in ["likeness", "mark"] {
            let sql = format!(
                "DELETE FROM {table} WHERE page_id NOT IN (SELECT id FROM page WHERE is_live = 1)"
            );
            sqlx::query(sqlx::AssertSqlSafe(sql))
                .execute(self.connection())
                .await
                .map_err(|source| self.failed(source))?;
        }
        let pages: Vec<i64> = sqlx::query_scalar(
            "SELECT page_id FROM likeness JOIN page ON page.id = page_id
             ORDER BY is_alias, octet_length(url), url",
        )
        .fetch_all(self.connection())
        .await
        .map_err(|source| self.failed(source))?;
        Ok(Ranks::new(pages))
    }

    /// For each page that is nearly equal to others, by rank, the first of them that is no such page
    /// itself.
    pub(super) async fn near_duplicates(
        &mut self,
        ranks: &Ranks,
    ) -> Result<BTreeMap<u32, u32>, StoreError> {
        let mut alike: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        // Pages that are nearly equal share many bands, and with them the same group.
        let mut seen = HashSet::new();
        let passes = self.passes(Trait::Band).await?;
        for pass in 0..passes {
            for group in self.groups(Trait::Band, ranks, (pass, passes)).await? {
                let mut members: Vec<u32> = group.iter().map(|entry| entry.rank).collect();
                members.dedup();
                let bytes: Vec<u8> = members.iter().flat_map(|rank| rank.to_le_bytes()).collect();
                if seen.insert(ContentHash::of(&bytes)) {
                    self.compare(&members, ranks, &mut alike).await?;
                }
            }
        }
        let mut originals = BTreeMap::new();
        for (page, before) in alike {
            if let Some(first) = before.into_iter().find(|rank| !originals.contains_key(rank)) {
                originals.insert(page, first);
            }
        }
        Ok(originals)
    }

    /// The places of chunks, by their page's rank, whose text stands in a page of lower rank.
    pub(super) async fn repeated_chunks(
        &mut self,
        ranks: &Ranks,
    ) -> Result<BTreeMap<u32, BTreeSet<u32>>, StoreError> {
        let mut repeated: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let passes = self.passes(Trait::Passage).await?;
        for pass in 0..passes {
            for group in self.groups(Trait::Passage, ranks, (pass, passes)).await? {
                let first = group.first().map(|entry| entry.rank);
                for entry in group.iter().filter(|entry| Some(entry.rank) != first) {
                    repeated.entry(entry.rank).or_default().insert(entry.place);
                }
            }
        }
        Ok(repeated)
    }

    /// In how many passes the entries are sorted.
    async fn passes(&mut self, which: Trait) -> Result<u64, StoreError> {
        let sql = format!("SELECT coalesce(sum(length({})), 0) FROM likeness", which.column());
        let bytes: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(sql))
            .fetch_one(self.connection())
            .await
            .map_err(|source| self.failed(source))?;
        let entries = match which {
            Trait::Band => bytes.unsigned_abs() / Sketch::BYTES_A_BAND as u64,
            Trait::Passage => bytes.unsigned_abs() / PASSAGE_BYTES as u64,
        };
        Ok(entries / MOST_ENTRIES + 1)
    }

    /// The groups of one pass of several.
    async fn groups(
        &mut self,
        which: Trait,
        ranks: &Ranks,
        (pass, passes): (u64, u64),
    ) -> Result<Vec<Group>, StoreError> {
        let column = which.column();
        let sql = format!(
            "SELECT page_id, {column} AS hashes FROM likeness
             WHERE page_id > ?1 AND {column} <> x'' ORDER BY page_id LIMIT ?2"
        );
        let mut entries: Vec<Entry> = Vec::new();
        let mut after = 0_i64;
        loop {
            let rows = sqlx::query(sqlx::AssertSqlSafe(sql.as_str()))
                .bind(after)
                .bind(BATCH)
                .fetch_all(self.connection())
                .await
                .map_err(|source| self.failed(source))?;
            for row in &rows {
                after = row.try_get("page_id").map_err(|source| self.failed(source))?;
                let blob: &[u8] = row.try_get("hashes").map_err(|source| self.failed(source))?;
                let Some(rank) = ranks.of(after) else { continue };
                let own = which.hashes(blob).into_iter().zip(0..);
                let own = own.map(|(hash, place)| Entry { hash, rank, place });
                entries.extend(own.filter(|entry| entry.hash % passes == pass));
            }
            if rows.is_empty() {
                break;
            }
        }
        entries.sort_unstable();
        let groups = entries.chunk_by(|a, b| a.hash == b.hash);
        let is_shared = |group: &&[Entry]| {
            group.first().map(|entry| entry.rank) != group.last().map(|entry| entry.rank)
        };
        Ok(groups.filter(is_shared).map(<[Entry]>::to_vec).collect())
    }

    /// Holds the pages of a group, by rank, against its first ones.
    async fn compare(
        &mut self,
        members: &[u32],
        ranks: &Ranks,
        alike: &mut BTreeMap<u32, BTreeSet<u32>>,
    ) -> Result<(), StoreError> {
        let least: Ratio = self.rules.dedup.near_similarity;
        let mut heads: Vec<(u32, Sketch)> = Vec::new();
        for some in members.chunks(256) {
            let pages: Vec<i64> = some.iter().map(|rank| ranks.page(*rank)).collect();
            let mut sketches = self.sketches(&pages).await?;
            for (rank, page) in some.iter().zip(&pages) {
                let Some(sketch) = sketches.remove(page) else { continue };
                let near = heads.iter().filter(|(_, head)| head.similarity(&sketch) >= least);
                let near: Vec<u32> = near.map(|(head, _)| *head).collect();
                if !near.is_empty() {
                    alike.entry(*rank).or_default().extend(near);
                }
                if heads.len() < HEADS {
                    heads.push((*rank, sketch));
                }
            }
        }
        Ok(())
    }

    async fn sketches(&mut self, pages: &[i64]) -> Result<HashMap<i64, Sketch>, StoreError> {
        let rows: Vec<(i64, Vec<u8>)> = sqlx::query_as(
            "SELECT page_id, sketch FROM likeness
             WHERE page_id IN (SELECT value FROM json_each(?1))",
        )
        .bind(serde_json::to_string(pages).unwrap_or_default())
        .fetch_all(self.connection())
        .await
        .map_err(|source| self.failed(source))?;
        let sketch = |(page, bytes): (i64, Vec<u8>)| Some((page, Sketch::from_bytes(&bytes)?));
        Ok(rows.into_iter().filter_map(sketch).collect())
    }
}
