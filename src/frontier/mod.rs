//! The frontier, in pieces.

pub mod sitemap;
pub mod trap;
