//! `corpus` crawls web sites politely and turns them into a corpus for retrieval: clean Markdown,
//! cut into chunks that keep their structure, free of duplicates, in Parquet files.
//!
//! The modules stand in the order in which a page passes them. Each stage knows only [`model`];
//! [`pipeline`] alone joins them, and [`cli`] alone speaks. ARCHITECTURE.md is the map.

pub mod model;
pub mod frontier;
pub mod fetch;
pub mod extract;
pub mod clean;
pub mod quality;
pub mod chunk;
pub mod store;
pub mod output;
pub mod demo;
pub mod config;
pub mod pipeline;
pub mod cli;
