//! Tests of the whole program, in one binary: its heavy dependencies are linked once.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

mod check;
mod chunking;
mod conformance;
mod converting;
mod corpus_files;
mod crash;
mod crawl;
mod disk_full;
mod docs;
#[cfg(feature = "kill-points")]
mod kill_points;
mod ledger;
mod likeness;
mod markdown;
mod messages;
mod recrawl;
mod robots_fetch;
mod rot;
mod site;
mod transport;
