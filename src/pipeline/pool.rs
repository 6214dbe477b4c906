//! The threads that convert pages.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use super::apart::Apart;
use super::at_work::AtWork;
use super::{Converted, Converter, PageInput, RunError};
use crate::config::{Config, RunOptions};
use crate::fetch::{Budget, Permit};
use crate::model::{ErrorCode, Ledger, PageError, PageOutcome, kill_page};

/// The stack of a thread: no stage recurses on a page, so this is ample.
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// Memory that conversion takes for each byte of a page, roughly: its text, its tree, its
/// Markdown and its chunks. Pages of a few hundred kilobytes took from 3 to 58 bytes.
pub(super) const EXPANSION: usize = 8;

/// Beginning of the names of the threads that convert pages.
pub const THREAD_NAME: &str = "corpus-convert-";

/// A private pool of threads that convert pages.
#[derive(Debug)]
pub(super) struct Pool {
    threads: rayon::ThreadPool,
    converter: Arc<Converter>,
    room: Budget,
    guard: Option<Arc<Guard>>,
}

/// What keeps a page from ending the program again and again.
#[derive(Debug)]
struct Guard {
    at_work: AtWork,
    apart: Option<Apart>,
}

impl Guard {
    fn convert(
        &self,
        page: &PageInput,
        run_id: &str,
        convert: impl FnOnce() -> Converted,
    ) -> Converted {
        let apart = self.apart.as_ref().filter(|_| page.crashes > 0);
        apart
            .and_then(|apart| apart.convert(page, run_id))
            .unwrap_or_else(|| self.at_work.noting(&page.url, convert))
    }
}

impl Pool {
    pub(super) fn new(run: &RunOptions, converter: Converter) -> Result<Self, RunError> {
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(run.threads)
            .stack_size(STACK_BYTES)
            .thread_name(|n| format!("{THREAD_NAME}{n}"))
            .build()?;
        let room = Budget::new(run.conversion_bytes());
        Ok(Self { threads, converter: Arc::new(converter), room, guard: None })
    }

    /// Notes beside the state which pages are being converted, and converts those that ended the
    /// program before by `program`, in processes of their own.
    pub(super) fn guarded(
        mut self,
        config: &Config,
        program: Option<PathBuf>,
    ) -> Result<Self, RunError> {
        let threads = self.threads.current_num_threads();
        let at_work = AtWork::open(&config.state_path(), threads)?;
        let apart = program.map(|program| Apart { program, config: config.clone() });
        self.guard = Some(Arc::new(Guard { at_work, apart }));
        Ok(self)
    }

    /// Waits for the room that the conversion of `input` takes, so that large pages are converted
    /// one after the other and small ones side by side. It is to be dropped with the result.
    pub(super) async fn room(&self, input: &PageInput) -> Permit {
        let mut room = self.room.reserve().await;
        room.grow_to(input.body.len().saturating_mul(EXPANSION)).await;
        room
    }

    /// Converts `input` on a thread of the pool and hands the result to `done`, which must not
    /// wait for anything.
    pub(super) fn convert(
        &self,
        input: PageInput,
        run_id: Arc<str>,
        done: impl FnOnce(Converted) + Send + 'static,
    ) {
        let converter = Arc::clone(&self.converter);
        let guard = self.guard.clone();
        self.threads.spawn(move || {
            let convert = || {
                kill_page(&input.url);
                convert_caught(&converter, &input, &run_id)
            };
            let page = match &guard {
                Some(guard) => guard.convert(&input, &run_id, convert),
                None => convert(),
            };
            drop(input);
            done(page);
        });
    }
}

/// Converts a page; a panic on the way is the page's failure.
pub(super) fn convert_caught(converter: &Converter, input: &PageInput, run_id: &str) -> Converted {
    caught(input, run_id, || converter.convert(input, run_id))
}

fn caught(input: &PageInput, run_id: &str, work: impl FnOnce() -> Converted) -> Converted {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        let error = PageError::new(ErrorCode::InternalPanic, said);
        Converted {
            redirect: None,
            record: input.record(PageOutcome::Failed(error), run_id),
            outlinks: Vec::new(),
            ledger: Ledger::default(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_the_failure_of_its_page_alone() {
        let input = PageInput::new("http://h/a".to_owned(), None, "text/html", Vec::new());
        let converted = caught(&input, "run-000001", || panic!("a defect"));
        assert_eq!(converted.record.url, "http://h/a");
        let want = PageError::new(ErrorCode::InternalPanic, "a defect");
        assert_eq!(converted.record.outcome, PageOutcome::Failed(want));
    }
}
