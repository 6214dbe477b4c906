//! Who waits for whom?
//!
//! The stages know nothing of each other; here they are joined. A page's way in a crawl:
//!
//! 1. [`crawl()`] gives each host with waiting pages a worker (`host`), which leases, asks
//!    robots.txt, and fetches in the host's turn.
//! 2. A fetched page goes to a private rayon pool (`pool`), which converts it (`convert`). It
//!    carries its memory permit until its rows are spooled.
//! 3. One writer (`writer`) commits groups of pages, and has full spools published as parts.
//! 4. At the end of a run (`run`) pages that are gone are deleted, and the change feed (`feed`) is
//!    told what a vector store must do.
//!
//! Back-pressure is by bytes: a body waits for room before it is read. Pool threads never wait,
//! since what they send to is bounded by those permits and not by a channel. A panic while a page
//! is converted is that page's failure.

mod apart;
mod at_work;
mod check;
mod clock;
mod compact;
mod convert;
mod crawl;
mod error;
mod feed;
mod host;
mod inputs;
mod kind;
mod local;
mod missing;
mod plan;
mod pool;
mod progress;
mod publish;
mod robots_kept;
mod run;
mod shared;
mod single;
mod sitemaps;
mod summary;
mod verify;
mod warc;
mod writer;

pub use self::apart::convert_suspect;
pub use self::check::{UrlVerdict, explain};
pub use self::clock::Clock;
pub use self::compact::{CompactReport, compact};
pub use self::convert::{Converted, Converter, PageInput};
pub use self::crawl::{CrawlMode, crawl};
pub use self::error::RunError;
pub use self::feed::write_changes;
pub use self::inputs::{Input, InputError};
pub use self::local::{LocalJob, convert_to_corpus, convert_to_sink};
pub use self::plan::{Plan, plan};
pub use self::pool::THREAD_NAME;
pub use self::progress::{Progress, ProgressView};
pub use self::single::{SinglePage, fetch_single};
pub use self::summary::{ChangeCounts, RunSummary, exceeds};
pub use self::verify::{Finding, VerifyReport, verify};
