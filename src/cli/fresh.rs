//! `corpus crawl --fresh`: a new corpus, with the old one moved aside.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use super::args::FreshArgs;
use super::{Failure, Say, exit};
use crate::config::Config;

/// Moves the state and the corpus of `config` aside where that is asked for, to the same names with
/// a number, after the user has agreed.
pub(super) fn move_aside(config: &Config, args: FreshArgs, say: Say) -> Result<(), Failure> {
    if !args.fresh {
        return Ok(());
    }
    let state = config.state_path();
    let paths: Vec<PathBuf> =
        [&state, &config.output.path].into_iter().filter(|path| path.exists()).cloned().collect();
    if paths.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    if !args.yes && !agrees(&names.join(" and "), say)? {
        return Err(Failure::stopped("nothing was moved"));
    }
    // Whoever holds the state must not lose it under its feet.
    super::runtime()?.block_on(async {
        crate::store::Store::open(&state)
            .await
            .map_err(crate::pipeline::RunError::from)?
            .close()
            .await;
        Ok::<_, Failure>(())
    })?;
    let number =
        (1..=u32::MAX).find(|n| paths.iter().all(|path| !aside(path, *n).exists())).unwrap_or(1);
    for path in paths {
        let to = aside(&path, number);
        let failed = |error: io::Error| {
            let message = format!("cannot move `{}`: {error}", path.display());
            Failure::Other(message, None, exit::STORAGE)
        };
        fs::rename(&path, &to).map_err(failed)?;
        say.line(&format!("moved `{}` to `{}`", path.display(), to.display()));
    }
    Ok(())
}

/// The name of `path` when it is the `n`th that was moved aside.
fn aside(path: &Path, n: u32) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(format!(".old-{n}"));
    path.with_file_name(name)
}

fn agrees(names: &str, say: Say) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(
            format!("`--fresh` moves {names} aside, and there is nobody to ask"),
            "add `--yes`",
        ));
    }
    say.line(&format!("move {names} aside and begin anew? [y/N]"));
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Failure::stopped(format!("cannot read the answer: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
