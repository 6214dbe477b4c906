//! What is said to the user?
//!
//! The one place that prints, reads the environment and decides the exit code. Data goes to the
//! standard output, everything else to the standard error. Progress is shown on a terminal only.

mod args;
mod changes;
mod chunk;
mod convert;
mod crawl;
mod fresh;
mod inspect;
mod page;
mod say;
mod schedule;

use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

pub use self::args::Args;
use self::args::Command;
use self::say::Say;
use crate::config::{Config, ConfigError, DEFAULT_TOML};
use crate::pipeline::{RunError, THREAD_NAME, convert_suspect};

/// The exit codes, as the help states them.
pub mod exit {
    /// Done.
    pub const DONE: u8 = 0;
    /// The run stopped.
    pub const STOPPED: u8 = 1;
    /// Wrong usage or config.
    pub const USAGE: u8 = 2;
    /// Done, but more pages failed than `run.max_failure_ratio`.
    pub const FAILURES: u8 = 3;
    /// Out of space, or an I/O error.
    pub const STORAGE: u8 = 4;
    /// Interrupted by Ctrl-C, drained and resumable.
    pub const INTERRUPTED: u8 = 130;
    /// Ended by SIGTERM, drained and resumable.
    pub const TERMINATED: u8 = 143;
}

/// What ends a command early.
#[derive(Debug)]
enum Failure {
    Config(ConfigError),
    Run(RunError),
    /// A message, a hint and an exit code.
    Other(String, Option<String>, u8),
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl Failure {
    fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Other(message.into(), Some(hint.into()), exit::USAGE)
    }

    fn stopped(message: impl Into<String>) -> Self {
        Self::Other(message.into(), None, exit::STOPPED)
    }
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    let args = Args::parse();
    let say = Say::new(&args);
    quiet_panics();
    match dispatch(args.command, say) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => ExitCode::from(say.failure(&failure)),
    }
}

/// A panic while a page is converted is that page's failure and stands in its row: it is not
/// printed as well.
fn quiet_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let is_page =
            std::thread::current().name().is_some_and(|name| name.starts_with(THREAD_NAME));
        if !is_page {
            default(info);
        }
    }));
}

fn dispatch(command: Command, say: Say) -> Result<u8, Failure> {
    match command {
        Command::Crawl(crawl) => crawl::run(&crawl, say),
        Command::Convert(convert) => convert::run(&convert, say),
        Command::Chunk(chunk) => chunk::run(&chunk),
        Command::Page(page) => page::run(&page, say),
        Command::Check(check) => inspect::check(&check, say),
        Command::Status(status) => inspect::status(&status, say),
        Command::Verify(verify) => inspect::verify(&verify, say),
        Command::Changes(changes) => changes::changes(&changes),
        Command::Compact(compact) => changes::compact(&compact, say),
        Command::ConvertSuspect => {
            let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
            let converted = convert_suspect(&mut input, &mut output);
            converted.map_err(|error| Failure::stopped(format!("no page to convert: {error}")))?;
            Ok(exit::DONE)
        }
        Command::Init(init) => initial_config(init.url.as_deref()),
        Command::Completions(completions) => {
            clap_complete::generate(
                completions.shell,
                &mut Args::command(),
                "corpus",
                &mut std::io::stdout(),
            );
            Ok(exit::DONE)
        }
    }
}

fn initial_config(url: Option<&str>) -> Result<u8, Failure> {
    let text = match url {
        None => DEFAULT_TOML.to_owned(),
        Some(url) => {
            let url = crate::model::WebUrl::parse(url).map_err(|error| {
                Failure::usage(
                    format!("`{url}` cannot be crawled: {error}"),
                    "give an address such as `https://example.org/`",
                )
            })?;
            DEFAULT_TOML.replace("seeds = []", &format!("seeds = [\"{url}\"]"))
        }
    };
    say::data(&text)?;
    Ok(exit::DONE)
}

/// Reads a config with the variables of the environment.
fn load(path: &Path) -> Result<Config, Failure> {
    Ok(Config::load(path, &variable)?)
}

/// Reads a config where one is given, else the defaults.
fn load_or_default(path: Option<&Path>) -> Result<Config, Failure> {
    path.map_or_else(|| Ok(Config::default()), load)
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// A runtime for the network and the state; pages are converted on threads of their own.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("corpus-net")
        .enable_all()
        .build()
        .map_err(|error| Failure::stopped(format!("cannot start: {error}")))
}
