//! The spool: collected records on their way to a part.

use super::StoreError;
use crate::model::PageRecord;

/// Compression of spooled records: they live for minutes, so speed counts more than size.
const LEVEL: i32 = 1;

/// A record as the spool keeps it, and its length before compression.
pub(super) fn encode(record: &PageRecord) -> Option<(Vec<u8>, i64)> {
    let json = serde_json::to_vec(record).ok()?;
    let length = i64::try_from(json.len()).ok()?;
    zstd::encode_all(json.as_slice(), LEVEL).ok().map(|body| (body, length))
}

/// The record that the spool keeps as `body`.
pub(super) fn decode(body: &[u8], path: &std::path::Path) -> Result<PageRecord, StoreError> {
    let damaged = |what: String| StoreError::Damaged { path: path.to_owned(), what };
    let json =
        zstd::decode_all(body).map_err(|error| damaged(format!("spooled record: {error}")))?;
    serde_json::from_slice(&json).map_err(|error| damaged(format!("spooled record: {error}")))
}
