//! `corpus convert`.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use super::args::{ConvertArgs, ConvertFormat};
use super::chunk::ChunkLine;
use super::{Failure, Say, exit, load_or_default, runtime};
use crate::model::{ContentCounts, PageOutcome, PageRecord, Removal, with_causes};
use crate::pipeline::{
    Clock, Input, InputError, LocalJob, Progress, convert_to_corpus, convert_to_sink, exceeds,
};

pub(super) fn run(args: &ConvertArgs, say: Say) -> Result<u8, Failure> {
    let mut config = load_or_default(args.config.as_deref())?;
    if args.no_main_content {
        config.set_main_content("off");
    }
    let inputs = args.inputs.iter().map(|path| match path.to_str() {
        Some("-") => Input::Stdin,
        _ => Input::Path(path.clone()),
    });
    check_inputs(&args.inputs)?;
    let job = LocalJob {
        inputs: inputs.collect(),
        charset: args.charset.clone(),
        cuts: args.format != ConvertFormat::Markdown,
        config,
        clock: Clock::System,
    };
    match (args.format, &args.out) {
        (ConvertFormat::Jsonl, out) => jsonl(&job, out.as_deref(), say),
        (_, None) => {
            Err(Failure::usage("there is no folder for the result", "name one with `--out DIR`"))
        }
        (ConvertFormat::Markdown, Some(out)) => markdown(&job, out, say),
        (ConvertFormat::Parquet, Some(out)) => parquet(job, out, say),
    }
}

/// Inputs that do not exist are said before anything is made.
fn check_inputs(inputs: &[PathBuf]) -> Result<(), Failure> {
    for path in inputs.iter().filter(|path| path.as_os_str() != "-") {
        path.metadata().map_err(|error| {
            Failure::usage(format!("cannot read `{}`: {error}", path.display()), "check the path")
        })?;
    }
    Ok(())
}

fn parquet(mut job: LocalJob, out: &Path, say: Say) -> Result<u8, Failure> {
    out.clone_into(&mut job.config.output.path);
    job.config.store.url = format!("sqlite:{}", out.join("_state").join("state.db").display());
    let complain = move |error: &InputError| say.warning(&with_causes(error));
    let progress = Arc::new(Progress::default());
    let (summary, read) = runtime()?.block_on(convert_to_corpus(&job, progress, complain))?;
    super::crawl::report(&job.config, &summary, say)?;
    read.map_err(|error| input_failure(&error))?;
    let is_bad = summary.fails(job.config.run.max_failure_ratio);
    Ok(if is_bad { exit::FAILURES } else { exit::DONE })
}

/// A page as one JSON line.
#[derive(Serialize)]
struct PageLine<'a> {
    id: &'a str,
    url: &'a str,
    outcome: &'static str,
    title: Option<&'a str>,
    lang: Option<&'a str>,
    markdown: &'a str,
    stats: Stats<'a>,
    chunks: Vec<ChunkLine<'a>>,
}

/// What was kept of a page, and what each rule removed.
#[derive(Serialize)]
pub(super) struct Stats<'a> {
    #[serde(flatten)]
    counts: ContentCounts,
    is_partial: bool,
    removed: &'a [Removal],
}

impl<'a> Stats<'a> {
    pub(super) fn of(record: &'a PageRecord) -> Self {
        Self { counts: record.counts, is_partial: record.is_partial(), removed: &record.removed }
    }
}

fn line(id: &str, record: &PageRecord) -> String {
    let page = PageLine {
        id,
        url: &record.url,
        outcome: record.outcome.name(),
        title: record.metadata.title.as_deref(),
        lang: record.metadata.lang.as_deref(),
        markdown: record.markdown.as_str(),
        stats: Stats::of(record),
        chunks: ChunkLine::all(&record.chunks),
    };
    let mut line = serde_json::to_string(&page).unwrap_or_default();
    line.push('\n');
    line
}

fn jsonl(job: &LocalJob, out: Option<&Path>, say: Say) -> Result<u8, Failure> {
    let target: Box<dyn std::io::Write + Send> = match out {
        None => Box::new(std::io::stdout()),
        Some(folder) => Box::new(create(&make_folder(folder)?.join("pages.jsonl"))?),
    };
    let writer = Arc::new(Mutex::new(Output { target: BufWriter::new(target), error: None }));
    let shared = Arc::clone(&writer);
    let failed = to_sink(job, say, move |id, record| {
        let line = line(id, record);
        shared.lock().unwrap_or_else(PoisonError::into_inner).write(line.as_bytes());
    })?;
    writer.lock().unwrap_or_else(PoisonError::into_inner).finish()?;
    Ok(exit_code(job, failed))
}

/// A writer that remembers its first error, since those who write cannot answer for it.
struct Output {
    target: BufWriter<Box<dyn std::io::Write + Send>>,
    error: Option<std::io::Error>,
}

impl Output {
    fn write(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            self.error = self.target.write_all(bytes).err();
        }
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let error = self.error.take().or_else(|| self.target.flush().err());
        match error {
            Some(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(Failure::Other(format!("cannot write the pages: {error}"), None, 4))
            }
            _ => Ok(()),
        }
    }
}

fn markdown(job: &LocalJob, out: &Path, say: Say) -> Result<u8, Failure> {
    let folder = make_folder(out)?;
    let error = Arc::new(Mutex::new(None));
    let first_error = Arc::clone(&error);
    let failed = to_sink(job, say, move |id, record| {
        let path = folder.join(format!("{}.md", file_name(id)));
        if let Err(source) = std::fs::write(&path, record.markdown.as_str()) {
            let mut first = first_error.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert((path, source));
        }
    })?;
    let mut error = error.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((path, source)) = error.take() {
        return Err(Failure::Other(
            format!("cannot write `{}`: {source}", path.display()),
            None,
            4,
        ));
    }
    drop(error);
    Ok(exit_code(job, failed))
}

/// An identifier as the name of a file: never a path, whatever a page is called.
fn file_name(id: &str) -> String {
    let plain: String = id
        .chars()
        .map(|c| if matches!(c, '/' | '\\' | ':') || c.is_control() { '_' } else { c })
        .collect();
    let short: String = plain.chars().take(200).collect();
    if short.starts_with('.') { format!("_{short}") } else { short }
}

/// Converts to `sink`, and counts pages and those that failed.
fn to_sink(
    job: &LocalJob,
    say: Say,
    sink: impl Fn(&str, &PageRecord) + Send + Sync + 'static,
) -> Result<(u64, u64), Failure> {
    let counts = Arc::new(Mutex::new((0, 0)));
    let counted = Arc::clone(&counts);
    let mut unreadable = 0;
    let read = convert_to_sink(
        job,
        move |id, converted| {
            let is_failed = matches!(converted.record.outcome, PageOutcome::Failed(_));
            let mut counts = counted.lock().unwrap_or_else(PoisonError::into_inner);
            counts.0 += 1;
            counts.1 += u64::from(is_failed);
            drop(counts);
            sink(id, &converted.record);
        },
        &mut |error| {
            unreadable += 1;
            say.warning(&with_causes(error));
        },
    )?;
    read.map_err(|error| input_failure(&error))?;
    let (pages, failed) = *counts.lock().unwrap_or_else(PoisonError::into_inner);
    Ok((pages + unreadable, failed + unreadable))
}

fn exit_code(job: &LocalJob, (pages, failed): (u64, u64)) -> u8 {
    let is_bad = exceeds(failed, pages, job.config.run.max_failure_ratio);
    if is_bad { exit::FAILURES } else { exit::DONE }
}

fn make_folder(folder: &Path) -> Result<PathBuf, Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::Other(format!("cannot create `{}`: {error}", folder.display()), None, 4)
    })?;
    Ok(folder.to_owned())
}

fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| {
        Failure::Other(format!("cannot write `{}`: {error}", path.display()), None, 4)
    })
}

fn input_failure(error: &InputError) -> Failure {
    let hint = match error {
        InputError::UnknownKind { .. } => {
            "names end in `.html`, `.txt`, `.md`, `.warc` or `.jsonl`, each also with `.gz`"
        }
        _ => "check the path",
    };
    Failure::usage(with_causes(error), hint)
}
