//! The store at rest: a digest of its file, beside it.
//!
//! SQLite keeps no checksums, so a bit that flips in a row would be believed. Whoever closes the
//! database in order leaves its digest; whoever opens it next compares, and deletes the digest
//! before the first write. A process that ended otherwise leaves none: then SQLite's own check and
//! the spool's checksums are all there is.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use super::{StoreError, beside};
use crate::model::kill_point;

/// Compares the database at `path` with its digest, if it has one, and deletes that.
pub(super) fn take(path: &Path) -> Result<(), StoreError> {
    let kept = beside(path, ".digest");
    let wanted = match fs::read(&kept) {
        Ok(wanted) => wanted,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(StoreError::io("read", &kept, error)),
    };
    // Without a database there is nothing to compare: it was moved away, to begin anew.
    if path.exists() {
        let found = of(path).map_err(|source| StoreError::io("read", path, source))?;
        if wanted != found.as_bytes() {
            let what = format!(
                "it differs from what was left; if that was meant, delete `{}`",
                kept.display()
            );
            return Err(StoreError::Damaged { path: path.to_owned(), what });
        }
    }
    fs::remove_file(&kept)
        .and_then(|()| sync_folder(path))
        .map_err(|source| StoreError::io("delete", &kept, source))?;
    kill_point("digest.deleted");
    Ok(())
}

/// Leaves the digest of the database at `path`, which is closed.
pub(super) fn leave(path: &Path) -> io::Result<()> {
    // Where another process reads the database, its log may keep what was committed.
    if fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0) {
        return Ok(());
    }
    let digest = of(path)?;
    kill_point("digest.made");
    let (temporary, kept) = (beside(path, ".digest.tmp"), beside(path, ".digest"));
    let mut file = File::create(&temporary)?;
    file.write_all(digest.as_bytes())?;
    file.sync_all()?;
    fs::rename(temporary, kept)?;
    sync_folder(path)?;
    kill_point("digest.left");
    Ok(())
}

fn of(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(format!("{}\n", hasher.finalize().to_hex()))
}

fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}
