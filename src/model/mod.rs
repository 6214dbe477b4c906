//! What travels between the stages: plain values whose invariants hold from construction on.
//!
//! In: nothing. Out: the types that every stage may name. Nothing here reads a clock, a disk or
//! the network, and nothing here knows a stage.
//!
//! | type | made by | read by |
//! |---|---|---|
//! | [`WebUrl`], [`CanonicalUrl`] | anyone who meets an address | everyone |
//! | [`Request`] | `store` | `fetch` |
//! | [`FetchedPage`] | `fetch` | `extract` |
//! | [`Document`] | `extract` and `clean` | `quality`, `chunk` |
//! | [`Quality`] | `quality` | `output` |
//! | [`Chunk`] | `chunk` | `output` |
//! | [`PageRecord`] | `pipeline` | `store`, `output` |

#[macro_use]
mod codes;

mod chunk;
mod document;
mod hash;
mod kill_point;
mod ledger;
mod moment;
mod outcome;
mod page;
mod page_type;
mod quality;
mod ratio;
mod record;
mod refresh;
mod robots_directives;
mod sketch;
mod text;
mod url;

pub use chunk::{BlockKind, Chunk, ChunkFlag};
pub use document::{Document, FactSource, Heading, Markdown, Metadata, PageFlag};
pub use hash::{ContentHash, chunk_id, document_id};
pub use kill_point::{kill_page, kill_point, mistake};
pub use ledger::{Ledger, Removal};
pub use outcome::{DuplicateBy, ErrorCode, Exclusion, PageError, PageOutcome};
pub use page::{BodyText, CharsetSource, FetchedPage, Request, Timestamp, Validators};
pub use page_type::PageType;
pub use quality::{Heuristic, Quality};
pub use ratio::{Factor, Ratio};
pub use record::{ContentCounts, PageRecord};
pub use refresh::Refresh;
pub use robots_directives::{AiUse, DirectiveReader, RobotsDirectives};
pub use sketch::Sketch;
pub use text::{collapse, with_causes};
pub use url::{CanonicalUrl, UrlError, WebUrl, resolve};
