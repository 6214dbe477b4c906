//! Puts files under their final names, whole or not at all.
//!
//! In: bytes and a place. Out: files that outlive a power cut. Promises: a temporary name is never
//! a final one, and a rename happens only after the content is on the device; the rename itself is
//! on the device when [`Temporary::publish`] returns. It knows neither Parquet nor the manifest's
//! content.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::OutputError;
use crate::model::kill_point;

/// The folder of unfinished files. It stands inside the corpus, so that a rename never crosses a
/// file system; readers skip names that begin with a dot.
pub(super) const TEMPORARIES: &str = ".tmp";

/// An unfinished file. It is deleted when dropped, so that a failed part gives back its space.
#[derive(Debug)]
pub(super) struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// Creates the file `name` in the folder of temporaries, empty whatever was there before.
    pub(super) fn create(root: &Path, name: &str) -> Result<(Self, File), OutputError> {
        let folder = root.join(TEMPORARIES);
        create_folder(&folder)?;
        let path = folder.join(format!("{name}.tmp"));
        let file = File::create(&path).map_err(OutputError::io("create", &path))?;
        kill_point("file.created");
        Ok((Self { path }, file))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the file to `path`, in place of what may be there. Its content must be synced.
    pub(super) fn publish(self, path: &Path) -> Result<(), OutputError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        create_folder(folder)?;
        kill_point("file.complete");
        fs::rename(&self.path, path).map_err(OutputError::io("rename a file to", path))?;
        kill_point("file.renamed");
        sync_folder(folder)?;
        kill_point("file.published");
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename there is nothing here. Where deleting fails, the next start does it.
        drop(fs::remove_file(&self.path));
    }
}

/// Deletes every unfinished file below `root` and returns how many there were.
///
/// Only for whoever holds the lock of the corpus: a writer at work would lose its part.
///
/// # Errors
///
/// Fails where the folder cannot be listed or a file cannot be deleted.
pub fn remove_temporaries(root: &Path) -> Result<usize, OutputError> {
    let temporaries = files_in(&root.join(TEMPORARIES))?;
    for path in &temporaries {
        fs::remove_file(path).map_err(OutputError::io("delete", path))?;
    }
    Ok(temporaries.len())
}

/// Deletes the file `relative` below `root`; it may be gone already. It does not come back after a
/// loss of power, when the state has forgotten it.
///
/// # Errors
///
/// Fails where the file cannot be deleted.
pub fn remove_file(root: &Path, relative: &str) -> Result<(), OutputError> {
    let path = root.join(relative);
    kill_point("file.removing");
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(OutputError::io("delete", &path)(error))
        }
        _ => path.parent().filter(|folder| folder.is_dir()).map_or(Ok(()), sync_folder),
    }
}

/// Writes `value` as JSON to `relative` below `root`, whole or not at all, and on the device when
/// this returns.
///
/// # Errors
///
/// Fails where `value` has no JSON form, or the file cannot be written.
pub fn write_json(root: &Path, relative: &str, value: &impl Serialize) -> Result<(), OutputError> {
    let path = root.join(relative);
    let json = |source| OutputError::Json { doing: "write", path: path.clone(), source };
    let mut text = serde_json::to_string_pretty(value).map_err(json)?;
    text.push('\n');
    write_text(root, relative, &text)
}

/// Writes `text` to `relative` below `root`, whole or not at all.
pub(super) fn write_text(root: &Path, relative: &str, text: &str) -> Result<(), OutputError> {
    let (temporary, mut file) = Temporary::create(root, &relative.replace(['/', '\\'], "-"))?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(OutputError::io("write", temporary.path()))?;
    temporary.publish(&root.join(relative))
}

/// The files in `folder`, in the order of their names; none where there is no folder.
pub(super) fn files_in(folder: &Path) -> Result<Vec<PathBuf>, OutputError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(OutputError::io("list", folder)(error)),
    };
    let mut files = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(OutputError::io("list", folder))?;
    files.sort();
    Ok(files)
}

/// Creates `folder` and what is missing above it, each entry on the device.
pub(super) fn create_folder(folder: &Path) -> Result<(), OutputError> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let parent = folder.parent().unwrap_or(Path::new("."));
    create_folder(parent)?;
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(OutputError::io("create", folder)(error))
        }
        _ => sync_folder(parent),
    }
}

fn sync_folder(folder: &Path) -> Result<(), OutputError> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder).and_then(|file| file.sync_all()).map_err(OutputError::io("sync", folder))
}

/// The length of a file, and its blake3 hash as 64 hexadecimal digits.
pub(super) fn measure(path: &Path) -> Result<(u64, String), OutputError> {
    let mut hasher = blake3::Hasher::new();
    let bytes = File::open(path)
        .and_then(|mut file| io::copy(&mut file, &mut hasher))
        .map_err(OutputError::io("read", path))?;
    Ok((bytes, hasher.finalize().to_hex().to_string()))
}
