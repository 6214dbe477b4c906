//! Fetching, in pieces.

pub mod robots;
