//! `corpus changes` and `corpus compact`.

use std::io;

use super::args::{ChangesArgs, ConfigArgs};
use super::say::{decimal, number};
use super::{Failure, Say, exit, load, runtime};
use crate::pipeline;

/// Prints the change feed of the runs after `--since`.
pub(super) fn changes(args: &ChangesArgs) -> Result<u8, Failure> {
    let config = load(&args.config)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    match pipeline::write_changes(&config, args.since.as_deref(), &mut out) {
        // Whoever reads has seen enough.
        Err(error) if error.is_closed_pipe() => Ok(exit::DONE),
        written => Ok(written.map(|()| exit::DONE)?),
    }
}

/// Rewrites the live rows into fresh parts.
pub(super) fn compact(args: &ConfigArgs, say: Say) -> Result<u8, Failure> {
    let config = load(&args.config)?;
    let report = runtime()?.block_on(pipeline::compact(&config))?;
    say.line(&format!(
        "{} parts became {}, {} MB became {}",
        number(report.parts_before as u64),
        number(report.parts_after as u64),
        decimal(report.bytes_before / 100_000),
        decimal(report.bytes_after / 100_000),
    ));
    say.result(&report, String::new)?;
    Ok(exit::DONE)
}
