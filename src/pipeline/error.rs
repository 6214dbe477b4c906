//! Why a run stopped.

use crate::extract::ExtractError;
use crate::fetch::FetchError;
use crate::frontier::ScopeError;
use crate::output::OutputError;
use crate::store::StoreError;

/// Why a run stopped. Everything committed before stays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The state.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The corpus.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The options of fetching.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The scope.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// The options of extraction.
    #[error(transparent)]
    Extract(#[from] ExtractError),
    /// A file stands under the name of a part and is none of this corpus's.
    #[error("a file that this corpus does not know stands in its way: `{0}`")]
    UnknownFile(std::path::PathBuf),
    /// No run of the corpus has this name.
    #[error("there is no run `{run}`")]
    UnknownRun {
        /// The name.
        run: String,
        /// The last run.
        last: Option<String>,
    },
    /// No threads could be started.
    #[error("no threads for conversion")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A part of the program ended without a word: a defect.
    #[error("a part of the program ended without a word; please report this")]
    Defect,
}

impl RunError {
    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Store(StoreError::Locked { .. } | StoreError::Newer { .. }) => 5,
            Self::Store(error) if error.is_storage() => 4,
            Self::Output(error) if error.is_storage() => 4,
            Self::Fetch(_) | Self::Scope(_) | Self::Extract(_) | Self::UnknownRun { .. } => 2,
            _ => 1,
        }
    }

    /// Whether whoever reads what is written has stopped reading.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.is_closed_pipe())
    }

    fn is_out_of_space(&self) -> bool {
        match self {
            Self::Store(error) => error.is_out_of_space(),
            Self::Output(error) => error.is_out_of_space(),
            _ => false,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Store(StoreError::Locked { .. }) => {
                "wait until the other one ends, or give this crawl its own `store.url`".to_owned()
            }
            Self::Store(StoreError::Newer { .. }) => "update `corpus`; nothing was touched".to_owned(),
            Self::Store(StoreError::Damaged { .. }) => {
                "restore the file from a backup, or move it away to begin anew; the corpus itself is untouched".to_owned()
            }
            Self::UnknownRun { last: Some(last), .. } => format!("the last run is `{last}`"),
            Self::UnknownRun { last: None, .. } => "no run has ended yet".to_owned(),
            Self::UnknownFile(_) => "move the file away; nothing was deleted".to_owned(),
            _ if self.is_out_of_space() => {
                "free some space, then run the same command: it goes on where it was, and nothing is lost".to_owned()
            }
            Self::Output(_) | Self::Store(_) => {
                "check that the path can be written to, then run the same command: nothing is lost".to_owned()
            }
            _ => return None,
        })
    }
}
