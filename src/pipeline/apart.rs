//! Pages that ended the program before, each converted in a process of its own.
//!
//! A page may have been innocent: whoever kills the program accuses the pages that it was
//! converting. Apart from the rest, a page that does end its process is found out without harm, and
//! given up after `run.max_crashes` deaths; any other is converted like all.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::pool::convert_caught;
use super::{Converted, Converter, PageInput};
use crate::chunk::Tokenizer;
use crate::config::Config;
use crate::model::{ErrorCode, Ledger, PageError, PageOutcome, PageRecord, WebUrl, kill_page};

/// The hidden command that converts one page.
const SUSPECT_COMMAND: &str = "convert-suspect";

/// What the other process is told, in front of the page's body.
#[derive(Serialize, Deserialize)]
struct Order {
    config: Config,
    page: PageInput,
    run_id: String,
}

/// What it says.
#[derive(Serialize, Deserialize)]
struct Answer {
    record: PageRecord,
    outlinks: Vec<WebUrl>,
    redirect: Option<WebUrl>,
}

/// Converts pages in processes of their own.
#[derive(Clone, Debug)]
pub(super) struct Apart {
    /// The program, which knows [`SUSPECT_COMMAND`].
    pub(super) program: PathBuf,
    pub(super) config: Config,
}

impl Apart {
    /// Converts `page`, or gives it up. `None` where no process can be had.
    pub(super) fn convert(&self, page: &PageInput, run_id: &str) -> Option<Converted> {
        for _ in page.crashes..self.config.run.max_crashes {
            match self.once(page, run_id) {
                Ok(Some(answer)) => {
                    let Answer { record, outlinks, redirect } = answer;
                    return Some(Converted {
                        record,
                        outlinks,
                        redirect,
                        ledger: Ledger::default(),
                    });
                }
                Ok(None) => {}
                Err(_) => return None,
            }
        }
        let message = format!("it ended the program {} times", self.config.run.max_crashes);
        let outcome = PageOutcome::Failed(PageError::new(ErrorCode::InternalPoison, message));
        Some(Converted::bare(page.record(outcome, run_id)))
    }

    /// One try: `None` where the process ended before it had an answer.
    fn once(&self, page: &PageInput, run_id: &str) -> io::Result<Option<Answer>> {
        let mut process = Command::new(&self.program)
            .arg(SUSPECT_COMMAND)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let config = self.config.clone();
        let order = Order { config, page: page.clone(), run_id: run_id.to_owned() };
        if let Some(mut stdin) = process.stdin.take() {
            let mut text = serde_json::to_vec(&order)?;
            text.push(b'\n');
            // A process that has ended reads nothing: what it says then tells.
            drop(stdin.write_all(&text).and_then(|()| stdin.write_all(&page.body)));
        }
        let output = process.wait_with_output()?;
        Ok(serde_json::from_slice(&output.stdout).ok().filter(|_| output.status.success()))
    }
}

/// Converts the page that `input` holds, and writes what became of it to `output`.
///
/// # Errors
///
/// Fails where `input` is no order, and where either cannot be read or written.
pub fn convert_suspect(input: &mut dyn Read, output: &mut dyn Write) -> io::Result<()> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (order, body) = bytes.split_at(end);
    let Order { mut config, mut page, run_id } = serde_json::from_slice(order)?;
    config.tokenizer = Tokenizer::load(&config.chunk.tokenizer).map_err(io::Error::other)?;
    page.body = body.get(1..).unwrap_or_default().to_vec();
    kill_page(&page.url);
    let Converted { record, outlinks, redirect, .. } =
        convert_caught(&Converter::new(&config), &page, &run_id);
    serde_json::to_writer(output, &Answer { record, outlinks, redirect })?;
    Ok(())
}
