//! Compares what is on disk with what is recorded.
//!
//! In: the folder of a corpus and the records of its files. Out: a [`Listing`], and for each file
//! whether it is what its record says. Promises: every file in a folder of parts is listed, once;
//! nothing is changed. It does not know which parts should exist.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    FileInfo, FileKind, OutputError,
    disk::{TEMPORARIES, files_in, measure},
    read::read_footer,
    schema::{CHUNKS, Column, PAGES},
};

/// A file under the name of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPart {
    /// Which table it belongs to.
    pub kind: FileKind,
    /// The part's number.
    pub part: u64,
    /// Its length.
    pub bytes: u64,
}

/// What lies in the folder of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Files under the names of parts, in the order of table and number.
    pub parts: Vec<FoundPart>,
    /// Unfinished files.
    pub temporaries: Vec<PathBuf>,
    /// Anything else in a folder of parts: never this program's, so never deleted by it.
    pub unknown: Vec<PathBuf>,
}

/// Lists the files of parts below `root`. Folders that are missing hold nothing.
///
/// # Errors
///
/// Fails where a folder cannot be listed.
pub fn list_files(root: &Path) -> Result<Listing, OutputError> {
    let mut listing =
        Listing { temporaries: files_in(&root.join(TEMPORARIES))?, ..Listing::default() };
    for kind in FileKind::ALL {
        for path in files_in(&root.join(kind.folder()))? {
            let file = fs::metadata(&path).map_err(OutputError::io("look at", &path))?;
            match part_of(root, kind, &path) {
                Some(part) if file.is_file() => {
                    listing.parts.push(FoundPart { kind, part, bytes: file.len() });
                }
                _ => listing.unknown.push(path),
            }
        }
    }
    listing.parts.sort_by_key(|found| (found.kind, found.part));
    Ok(listing)
}

/// The number in the name of a part, or `None` where the name is any other.
fn part_of(root: &Path, kind: FileKind, path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let digits = name.strip_prefix("part-")?.strip_suffix(".parquet")?;
    let part = digits.parse().ok()?;
    (root.join(kind.path(part)) == path).then_some(part)
}

/// Checks that the file below `root` is what `info` says: length, checksum, rows and columns.
///
/// # Errors
///
/// Fails where the file is missing or damaged, and names what differs.
pub fn check_file(root: &Path, info: &FileInfo) -> Result<(), OutputError> {
    let path = root.join(&info.path);
    let found = inspect(&path, info.kind, info.path.clone())?;
    let differs = |what: &str, found: &dyn ToString, recorded: &dyn ToString| {
        let (found, recorded) = (found.to_string(), recorded.to_string());
        if found == recorded {
            return Ok(());
        }
        Err(OutputError::mismatch(&path, format!("{what} {found} instead of {recorded}")))
    };
    differs("length", &found.bytes, &info.bytes)?;
    differs("checksum", &found.checksum, &info.checksum)?;
    differs("number of rows", &found.rows, &info.rows)
}

/// Reads a whole file of `kind` and says what it is, under the name `relative`.
pub(super) fn inspect(
    path: &Path,
    kind: FileKind,
    relative: String,
) -> Result<FileInfo, OutputError> {
    let (bytes, checksum) = measure(path)?;
    let footer = read_footer(path)?;
    let known = columns(kind);
    if !footer.columns.iter().eq(known.iter().map(|column| column.name)) {
        return Err(OutputError::mismatch(path, "columns of another schema"));
    }
    Ok(FileInfo { kind, path: relative, rows: footer.rows, bytes, checksum })
}

/// The columns of a table.
pub(super) fn columns(kind: FileKind) -> &'static [Column] {
    match kind {
        FileKind::Pages => PAGES,
        FileKind::Chunks => CHUNKS,
    }
}
