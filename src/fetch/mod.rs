//! Fetching, in pieces.

pub mod address;
pub mod robots;
