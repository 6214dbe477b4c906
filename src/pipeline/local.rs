//! The pipeline without the network: pages from files.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::unbounded_channel;

use super::inputs::{Input, InputError, NamedPage, read_pages};
use super::pool::{EXPANSION, Pool};
use super::run::{Ending, Run};
use super::summary::RunSummary;
use super::writer::Finished;
use super::{Clock, Converted, Converter, PageInput, Progress, RunError};
use crate::config::Config;
use crate::fetch::{Budget, Permit};
use crate::model::{ErrorCode, PageError, PageOutcome};
use crate::store::{Committed, Found};

/// What is converted, and how.
#[derive(Debug)]
pub struct LocalJob {
    /// All options.
    pub config: Config,
    /// Where the pages are.
    pub inputs: Vec<Input>,
    /// The charset of every page, whatever it declares.
    pub charset: Option<String>,
    /// Whether pages are cut into chunks.
    pub cuts: bool,
    /// The time of day.
    pub clock: Clock,
}

impl LocalJob {
    fn pool(&self) -> Result<Pool, RunError> {
        let converter =
            Converter::new(&self.config).for_given_pages().with_charset(self.charset.clone());
        let converter = if self.cuts { converter } else { converter.without_chunks() };
        Pool::new(&self.config.run, converter)
    }
}

/// Converts the pages of `job` and hands each to `sink` with its name, from several threads. What
/// cannot be read is handed to `complain`, and the rest goes on.
///
/// # Errors
///
/// Fails where an input does not exist or is of no known kind.
pub fn convert_to_sink(
    job: &LocalJob,
    sink: impl Fn(&str, &Converted) + Send + Sync + 'static,
    complain: &mut dyn FnMut(&InputError),
) -> Result<Result<(), InputError>, RunError> {
    let pool = job.pool()?;
    let sink = Arc::new(sink);
    let gate = Arc::new(Room::new(job.config.run.conversion_bytes()));
    let mut result = Ok(());
    for input in &job.inputs {
        let now = job.clock.now();
        let read = read_pages(input, job.config.fetch.max_body_bytes, &mut |page| {
            match page {
                Ok(NamedPage { id, mut page }) => {
                    stamp(&mut page, now);
                    let room = gate.take(page.body.len().saturating_mul(EXPANSION));
                    let sink = Arc::clone(&sink);
                    pool.convert(page, "".into(), move |converted| {
                        sink(&id, &converted);
                        drop(room);
                    });
                }
                Err(error) => complain(&error),
            }
            true
        });
        if read.is_err() {
            result = read;
            break;
        }
    }
    gate.wait_for_all();
    Ok(result)
}

fn stamp(page: &mut PageInput, now: crate::model::Timestamp) {
    if page.fetched_at.0 == 0 {
        page.fetched_at = now;
    }
}

/// Room for the conversion of pages, for readers that are no async tasks.
struct Room {
    state: Mutex<(usize, usize)>,
    changed: std::sync::Condvar,
    most: usize,
}

/// The room of one page; dropping it gives it back.
struct Taken {
    room: Arc<Room>,
    bytes: usize,
}

impl Room {
    fn new(most: usize) -> Self {
        Self { state: Mutex::new((0, 0)), changed: std::sync::Condvar::new(), most }
    }

    /// Waits until there is room for `bytes`, or nothing else is on its way.
    fn take(self: &Arc<Self>, bytes: usize) -> Taken {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |state: &mut (usize, usize)| state.1 > 0 && state.0 + bytes > self.most;
        let mut state =
            self.changed.wait_while(state, is_full).unwrap_or_else(PoisonError::into_inner);
        state.0 += bytes;
        state.1 += 1;
        Taken { room: Arc::clone(self), bytes }
    }

    fn wait_for_all(&self) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(state, |state| state.1 > 0));
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut state = self.room.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 -= self.bytes;
        state.1 -= 1;
        drop(state);
        self.room.changed.notify_all();
    }
}

/// Converts the pages of `job` into the corpus at `job.config.output.path`.
///
/// # Errors
///
/// Fails where the state or the corpus cannot be read or written; what was committed stays.
pub async fn convert_to_corpus(
    job: &LocalJob,
    progress: Arc<Progress>,
    complain: impl FnMut(&InputError) + Send + 'static,
) -> Result<(RunSummary, Result<(), InputError>), RunError> {
    let pool = Arc::new(job.pool()?);
    let run = Run::begin(&job.config, Arc::clone(&progress), job.clock).await?;
    let unsettled = Arc::new(AtomicUsize::new(0));
    let (finished, queue) = unbounded_channel();
    let writing = tokio::spawn(run.writer(u32::MAX, Arc::clone(&unsettled), None).run(queue));
    let feed = Feed {
        pool,
        budget: Budget::new(job.config.run.body_bytes()),
        finished,
        unsettled,
        run_id: run.id().into(),
        now: job.clock.now(),
        most_bytes: job.config.fetch.max_body_bytes,
        handle: tokio::runtime::Handle::current(),
    };
    let inputs = job.inputs.clone();
    let read = tokio::task::spawn_blocking(move || feed.run(&inputs, complain)).await;
    let read = read.map_err(|_| RunError::Defect)?;
    writing.await.map_err(|_| RunError::Defect)??;
    let summary =
        run.conclude(Ending::Finished, job.config.recrawl.max_delete_ratio, |_| ()).await?;
    Ok((summary, read))
}

/// Reads pages and sends them through the pool to the writer.
struct Feed {
    pool: Arc<Pool>,
    budget: Budget,
    finished: tokio::sync::mpsc::UnboundedSender<Finished>,
    unsettled: Arc<AtomicUsize>,
    run_id: Arc<str>,
    now: crate::model::Timestamp,
    most_bytes: usize,
    handle: tokio::runtime::Handle,
}

impl Feed {
    fn run(
        self,
        inputs: &[Input],
        mut complain: impl FnMut(&InputError),
    ) -> Result<(), InputError> {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for input in inputs {
            read_pages(input, self.most_bytes, &mut |page| match page {
                Ok(NamedPage { mut page, .. }) => {
                    // Two inputs may hold files of one name: later ones get a number.
                    let count = seen.entry(page.url.clone()).or_insert(0);
                    *count += 1;
                    if *count > 1 {
                        page.url = format!("{}#{count}", page.url);
                    }
                    stamp(&mut page, self.now);
                    self.send(page)
                }
                Err(error) => {
                    complain(&error);
                    self.fail(&error)
                }
            })?;
        }
        Ok(())
    }

    fn send(&self, page: PageInput) -> bool {
        let mut permit: Permit = self.handle.block_on(self.budget.reserve());
        self.handle.block_on(permit.grow_to(page.body.len()));
        permit.shrink_to(page.body.len());
        self.unsettled.fetch_add(1, Ordering::AcqRel);
        let finished = self.finished.clone();
        let room = self.handle.block_on(self.pool.room(&page));
        self.pool.convert(page, Arc::clone(&self.run_id), move |converted| {
            drop(room);
            let page = Committed::new(None, converted.record, Found::default());
            drop(finished.send(Finished { page, permit: Some(permit) }));
        });
        !self.finished.is_closed()
    }

    /// A page that cannot be read is a page row that says so.
    fn fail(&self, error: &InputError) -> bool {
        let url = match error {
            InputError::Line { path, line, .. } => {
                format!("file:///{}#line-{line}", path.display())
            }
            InputError::Record { path, record, .. } => {
                format!("file:///{}#record-{record}", path.display())
            }
            InputError::Unreadable { path, .. }
            | InputError::UnknownKind { path }
            | InputError::TooLong { path, .. } => format!("file:///{}", path.display()),
        };
        let mut input = PageInput::new(url, None, "", Vec::new());
        stamp(&mut input, self.now);
        let error = PageError::new(ErrorCode::InputUnreadable, error.to_string());
        let record = input.record(PageOutcome::Failed(error), &self.run_id);
        let page = Committed::new(None, record, Found::default());
        self.unsettled.fetch_add(1, Ordering::AcqRel);
        self.finished.send(Finished { page, permit: None }).is_ok()
    }
}
