//! Which page each thread converts, in files that outlive the process.
//!
//! A page can end the process where nothing can be caught: by running out of memory, or by a
//! defect of a library. The next run finds its address here, and gives it up when it has ended the
//! process `run.max_crashes` times. A kill by other hands accuses at most one page a thread, and a
//! page that is innocent is converted the next time.

use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::RunError;
use crate::output::OutputError;
use crate::store::beside;

/// The files, one a thread.
#[derive(Debug)]
pub(super) struct AtWork(Vec<Mutex<File>>);

impl AtWork {
    /// The folder of the files beside the state at `state`.
    fn folder(state: &Path) -> PathBuf {
        beside(state, "-work")
    }

    /// The addresses that a process which ended was converting. They are forgotten by [`Self::open`].
    pub(super) fn left_over(state: &Path) -> Result<Vec<String>, RunError> {
        let folder = Self::folder(state);
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(OutputError::io("list", &folder))?,
        };
        let mut left = Vec::new();
        for entry in entries {
            let path = entry.map_err(OutputError::io("list", &folder))?.path();
            // What is no text was cut short, and names no page.
            let address = fs::read(&path).map_err(OutputError::io("read", &path))?;
            left.extend(String::from_utf8(address).ok().filter(|address| !address.is_empty()));
        }
        Ok(left)
    }

    /// Empty files for `threads` threads.
    pub(super) fn open(state: &Path, threads: usize) -> Result<Self, RunError> {
        let folder = Self::folder(state);
        fs::create_dir_all(&folder).map_err(OutputError::io("create", &folder))?;
        for entry in fs::read_dir(&folder).map_err(OutputError::io("list", &folder))? {
            let path = entry.map_err(OutputError::io("list", &folder))?.path();
            fs::remove_file(&path).map_err(OutputError::io("delete", &path))?;
        }
        let file = |n: usize| -> Result<_, RunError> {
            let path = folder.join(n.to_string());
            Ok(Mutex::new(File::create(&path).map_err(OutputError::io("create", &path))?))
        };
        (0..threads).map(file).collect::<Result<_, _>>().map(Self)
    }

    /// Does `work` on the page at `url` on this thread of the pool, with a note of it. A disk that
    /// takes no note keeps no page from being converted.
    pub(super) fn noting<T>(&self, url: &str, work: impl FnOnce() -> T) -> T {
        let file = rayon::current_thread_index().and_then(|n| self.0.get(n));
        let mut file = file.map(|file| file.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(file) = &mut file {
            drop(file.rewind().and_then(|()| file.write_all(url.as_bytes())));
        }
        let done = work();
        if let Some(file) = &mut file {
            drop(file.set_len(0));
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_noted_while_it_is_converted_and_no_longer() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state.db");
        assert_eq!(AtWork::left_over(&state).unwrap(), Vec::<String>::new());
        let at_work = AtWork::open(&state, 1).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let seen = pool.install(|| {
            at_work.noting("http://h/long/address", || ());
            at_work.noting("http://h/a", || AtWork::left_over(&state).unwrap())
        });
        assert_eq!(seen, ["http://h/a"]);
        assert_eq!(AtWork::left_over(&state).unwrap(), Vec::<String>::new());
    }
}
