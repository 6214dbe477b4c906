//! Messages: `error:`, `warning:`, `hint:` and plain lines, on the standard error.

use std::error::Error;
use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

use super::args::{Args, ColorWhen};
use super::{Failure, variable};

/// Speaks to the user.
#[derive(Clone, Copy, Debug)]
pub(super) struct Say {
    has_color: bool,
    volume: Volume,
    results: Results,
}

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Volume {
    Quiet,
    Normal,
    Verbose,
}

/// Whom results are printed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Results {
    /// People.
    Text,
    /// Machines.
    Json,
}

impl Say {
    pub(super) fn new(args: &Args) -> Self {
        let has_color = match args.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => {
                io::stderr().is_terminal()
                    && variable("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        };
        let results = if args.json { Results::Json } else { Results::Text };
        let volume = match (args.quiet, args.verbose) {
            (true, _) => Volume::Quiet,
            (_, 0) => Volume::Normal,
            _ => Volume::Verbose,
        };
        Self { has_color, volume, results }
    }

    /// Prints a result: `value` for machines, `text` for people.
    pub(super) fn result(
        self,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        match self.results {
            Results::Text => data(&text()),
            Results::Json => {
                let json = serde_json::to_string_pretty(value).unwrap_or_default();
                data(&format!("{json}\n"))
            }
        }
    }

    /// Whether progress may be shown.
    pub(super) fn shows_progress(self) -> bool {
        self.volume > Volume::Quiet && io::stderr().is_terminal()
    }

    fn write(text: &str) {
        // Nobody is left to be told when the standard error is gone.
        drop(writeln!(io::stderr().lock(), "{text}"));
    }

    fn mark(self, word: &str, code: &str) -> String {
        if self.has_color { format!("\u{1b}[{code}m{word}\u{1b}[0m") } else { word.to_owned() }
    }

    /// Says a line.
    pub(super) fn line(self, text: &str) {
        if self.volume > Volume::Quiet {
            Self::write(text);
        }
    }

    /// Says a line that only those who asked for more want to read.
    pub(super) fn detail(self, text: &str) {
        if self.volume == Volume::Verbose {
            Self::write(text);
        }
    }

    /// Says a warning.
    pub(super) fn warning(self, text: &str) {
        if self.volume > Volume::Quiet {
            Self::write(&format!("{} {}", self.mark("warning:", "1;33"), printable(text)));
        }
    }

    /// Says what went wrong in a run that went on.
    pub(super) fn error(self, text: &str) {
        Self::write(&format!("{} {}", self.mark("error:", "1;31"), printable(text)));
    }

    /// Says what to do.
    pub(super) fn hint(self, text: &str) {
        if self.volume > Volume::Quiet {
            Self::write(&format!("{} {}", self.mark("hint:", "1;36"), printable(text)));
        }
    }

    /// Says why a command failed, and gives the exit code.
    pub(super) fn failure(self, failure: &Failure) -> u8 {
        let (text, hint, code) = match failure {
            Failure::Config(error) => (with_causes(error), error.hint(), super::exit::USAGE),
            Failure::Run(error) => (with_causes(error), error.hint(), error.exit_code()),
            Failure::Other(text, hint, code) => (text.clone(), hint.clone(), *code),
        };
        self.error(&text);
        if let Some(hint) = hint {
            Self::write(&format!("{} {}", self.mark("hint:", "1;36"), printable(&hint)));
        }
        code
    }
}

/// Writes data to the standard output. A reader that has gone away is no error.
pub(super) fn data(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Other(format!("cannot write to the standard output: {error}"), None, 4))
        }
        _ => Ok(()),
    }
}

/// An error and its causes, each on a line of its own.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // The text of a config error holds that of its cause, with its place.
        if !text.contains(error.to_string().trim_end()) {
            text.push_str("\n  because: ");
            text.push_str(&error.to_string());
        }
        cause = error.source();
    }
    text
}

/// `text` without control characters, which a page or server could use to fool a terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// A number with its thousands set apart.
pub(super) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of tenths as a decimal.
pub(super) fn decimal(tenths: u64) -> String {
    format!("{}.{}", number(tenths / 10), tenths % 10)
}

/// `n` of something, in words.
pub(super) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(n), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(number(7), "7");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(count(1, "page", "pages"), "1 page");
    }

    #[test]
    fn a_message_cannot_control_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\nc"), "a\u{fffd}[2Jb\nc");
    }
}
