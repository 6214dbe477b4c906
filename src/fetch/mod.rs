//! Fetching, in pieces.

pub mod address;
pub mod charset;
pub mod coding;
pub mod media_type;
pub mod retry_after;
pub mod robots;
