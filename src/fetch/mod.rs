//! Fetching, in pieces.

pub mod address;
pub mod coding;
pub mod robots;
