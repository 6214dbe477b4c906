//! Fetching, in pieces.

pub mod address;
pub mod charset;
pub mod coding;
pub mod robots;
