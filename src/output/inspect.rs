//! Compares what is on disk with what is recorded.
//!
//! In: the folder of a corpus and the records of its files. Out: a [`Listing`], and for each file
//! whether it is what its record says. Promises: every file in a folder of parts is listed, once;
//! nothing is changed. It does not know which parts should exist.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use super::{
    FileInfo, FileKind, OutputError,
    disk::{TEMPORARIES, files_in, measure},
    read::read_footer,
    schema::{CHANGES, CHUNKS, Column, PAGES},
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
/// The whole file is read. Nothing of it is decoded before the checksum has matched.
///
/// # Errors
///
/// Fails where the file is missing or damaged, and names what differs.
pub fn check_file(root: &Path, info: &FileInfo) -> Result<(), OutputError> {
    let path = root.join(&info.path);
    let (bytes, checksum) = measure(&path)?;
    compare(&path, "length", &bytes, &info.bytes)?;
    compare(&path, "checksum", &checksum, &info.checksum)?;
    compare(&path, "number of rows", &count_rows(&path, info.kind)?, &info.rows)
}

/// Reads the whole file at `path`, says what it is, and that it stands at `relative`.
pub(super) fn describe(
    path: &Path,
    kind: FileKind,
    relative: String,
) -> Result<FileInfo, OutputError> {
    let (bytes, checksum) = measure(path)?;
    Ok(FileInfo { kind, path: relative, rows: count_rows(path, kind)?, bytes, checksum })
}

/// Fails where `found` is not `want`, both being the `what` of a file.
pub(super) fn compare<T: PartialEq + fmt::Display>(
    path: &Path,
    what: &str,
    found: &T,
    want: &T,
) -> Result<(), OutputError> {
    if found == want {
        return Ok(());
    }
    Err(OutputError::mismatch(path, format!("{what} {found} instead of {want}")))
}

/// The rows of a file, by its footer, where its columns are of `kind`.
fn count_rows(path: &Path, kind: FileKind) -> Result<u64, OutputError> {
    let footer = read_footer(path)?;
    // An older program wrote fewer columns: they are added, and never renamed or moved.
    let mut known = columns(kind).iter().map(|column| column.name);
    if !footer.columns.iter().all(|column| known.any(|name| name == column)) {
        return Err(OutputError::mismatch(path, "columns of another schema"));
    }
    Ok(footer.rows)
}

/// The columns of a table.
pub(super) fn columns(kind: FileKind) -> &'static [Column] {
    match kind {
        FileKind::Pages => PAGES,
        FileKind::Chunks => CHUNKS,
        FileKind::Changes => &CHANGES,
    }
}
