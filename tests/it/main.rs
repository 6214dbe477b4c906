//! Tests of the whole program, in one binary: its heavy dependencies are linked once.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "helpers of tests may fail the test, and say what they skip"
)]

mod conformance;
mod corpus_files;
mod crash;
mod crawl;
mod docs;
mod markdown;
mod messages;
mod site;
