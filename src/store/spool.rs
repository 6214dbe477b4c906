//! The spool: collected records on their way to a part.

use std::io::Write as _;

use super::StoreError;
use crate::model::PageRecord;

/// Compression of spooled records: they live for minutes, so speed counts more than size.
const LEVEL: i32 = 1;

/// A record as the spool keeps it, and its length before compression.
pub(super) fn encode(record: &PageRecord) -> Option<(Vec<u8>, i64)> {
    let json = serde_json::to_vec(record).ok()?;
    let length = i64::try_from(json.len()).ok()?;
    let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL).ok()?;
    // SQLite would not notice a bit that flips in a record; zstd does.
    encoder.include_checksum(true).ok()?;
    encoder.write_all(&json).ok()?;
    encoder.finish().ok().map(|body| (body, length))
}

/// The record that the spool keeps as `body`.
pub(super) fn decode(body: &[u8], path: &std::path::Path) -> Result<PageRecord, StoreError> {
    let damaged = |what: String| StoreError::Damaged { path: path.to_owned(), what };
    let json =
        zstd::decode_all(body).map_err(|error| damaged(format!("spooled record: {error}")))?;
    serde_json::from_slice(&json).map_err(|error| damaged(format!("spooled record: {error}")))
}
