//! One process at a time: a lock of the operating system, held for life.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::Path;

use super::{StoreError, beside};
use crate::model::mistake;

/// The lock beside a database. The system gives it back when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Locks the database at `path`.
    pub(super) fn take(path: &Path) -> Result<Self, StoreError> {
        let lock_path = beside(path, ".lock");
        let failed = |source| StoreError::io("open", &lock_path, source);
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&lock_path)
            .map_err(failed)?;
        match file.try_lock() {
            _ if mistake("no-lock") => {}
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // What the holder says is for the message alone.
                let is_read = file.read_to_string(&mut holder).is_ok() && !holder.trim().is_empty();
                let holder = if is_read { holder.trim().to_owned() } else { "unknown".to_owned() };
                return Err(StoreError::Locked { path: path.to_owned(), holder });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        file.set_len(0).map_err(failed)?;
        let holder =
            format!("process {}, version {}\n", std::process::id(), env!("CARGO_PKG_VERSION"));
        file.write_all(holder.as_bytes()).map_err(failed)?;
        Ok(Self { _file: file })
    }
}
