//! Pages from files: HTML, folders of it, WARC and JSON lines, each plain or gzip-compressed.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use serde::Deserialize;

use super::PageInput;
use super::warc::WarcReader;
use crate::model::{Timestamp, WebUrl};

/// A place to take pages from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file or folder.
    Path(PathBuf),
    /// The standard input: one HTML page.
    Stdin,
}

/// Why an input, or a page of it, cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// A file or folder cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is of no kind that holds pages.
    #[error("`{}` is neither HTML, WARC nor JSON lines", path.display())]
    UnknownKind {
        /// The path.
        path: PathBuf,
    },
    /// A line is not an object with `url` and `html`.
    #[error("line {line} of `{}` is not an object with `url` and `html`", path.display())]
    Line {
        /// The path.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A record of a WARC file is broken.
    #[error("record {record} of `{}` is broken ({what})", path.display())]
    Record {
        /// The path.
        path: PathBuf,
        /// The record, from 1.
        record: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A page is longer than `fetch.max_body_bytes`.
    #[error("`{}` is longer than {most} bytes", path.display())]
    TooLong {
        /// The path.
        path: PathBuf,
        /// The limit.
        most: usize,
    },
}

/// A page of an input, and the name that its output has.
#[derive(Debug)]
pub(super) struct NamedPage {
    /// The file's name without its endings, or the page's address.
    pub(super) id: String,
    /// The page.
    pub(super) page: PageInput,
}

#[derive(Deserialize)]
struct JsonPage {
    url: String,
    html: String,
}

/// Hands every page of `input` to `take`, in the order of names; an error of one page goes there
/// too, and reading goes on. `take` ends it all by returning `false`.
pub(super) fn read_pages(
    input: &Input,
    most_bytes: usize,
    take: &mut dyn FnMut(Result<NamedPage, InputError>) -> bool,
) -> Result<(), InputError> {
    match input {
        Input::Stdin => {
            let path = PathBuf::from("-");
            let page = read_whole(&mut io::stdin().lock(), &path, most_bytes);
            take(page.map(|body| html_page("stdin", Path::new("stdin"), body)));
            Ok(())
        }
        Input::Path(path) => {
            let mut files = Vec::new();
            list(path, &mut files)?;
            for file in &files {
                let below =
                    if path.is_dir() { file.strip_prefix(path).unwrap_or(file) } else { file };
                let relative = path.file_name().map_or(path.as_path(), Path::new);
                let name = if path.is_dir() { relative.join(below) } else { relative.to_owned() };
                if !read_file(file, &name, most_bytes, take) {
                    return Ok(());
                }
            }
            Ok(())
        }
    }
}

/// The files at `path`, in the order of their names; of a folder those that hold pages.
fn list(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), InputError> {
    let failed = |source| InputError::Unreadable { path: path.to_owned(), source };
    if !path.metadata().map_err(failed)?.is_dir() {
        if kind(path).is_none() {
            return Err(InputError::UnknownKind { path: path.to_owned() });
        }
        files.push(path.to_owned());
        return Ok(());
    }
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |source| InputError::Unreadable { path: folder.clone(), source };
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // Links are not followed: they may lead in circles.
            let kind_of_entry = entry.file_type().map_err(failed)?;
            if kind_of_entry.is_dir() {
                folders.push(entry.path());
            } else if kind_of_entry.is_file() && kind(&entry.path()).is_some() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Html,
    Plain,
    Markdown,
    Warc,
    JsonLines,
}

/// What a file holds, by its name.
fn kind(path: &Path) -> Option<FileKind> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    match name.rsplit_once('.')?.1 {
        "html" | "htm" | "xhtml" => Some(FileKind::Html),
        "txt" => Some(FileKind::Plain),
        "md" | "markdown" => Some(FileKind::Markdown),
        "warc" => Some(FileKind::Warc),
        "jsonl" | "ndjson" => Some(FileKind::JsonLines),
        _ => None,
    }
}

/// A file's name without the endings that say its kind.
fn id(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
}

/// Reads the pages of one file; whether to go on.
fn read_file(
    path: &Path,
    name: &Path,
    most_bytes: usize,
    take: &mut dyn FnMut(Result<NamedPage, InputError>) -> bool,
) -> bool {
    let unreadable = |source| InputError::Unreadable { path: path.to_owned(), source };
    let mut reader = match open(path) {
        Ok(reader) => reader,
        Err(source) => return take(Err(unreadable(source))),
    };
    match kind(path) {
        Some(FileKind::JsonLines) => json_lines(reader, path, take),
        Some(FileKind::Warc) => warc(reader, path, most_bytes, take),
        kind => {
            let page = read_whole(&mut reader, path, most_bytes).map(|body| {
                let mut page = html_page(&id(path), name, body);
                let media_type = match kind {
                    Some(FileKind::Plain) => "text/plain",
                    Some(FileKind::Markdown) => "text/markdown",
                    _ => "text/html",
                };
                media_type.clone_into(&mut page.page.media_type);
                page
            });
            take(page)
        }
    }
}

fn open(path: &Path) -> io::Result<Box<dyn io::BufRead>> {
    let file = BufReader::with_capacity(64 * 1024, File::open(path)?);
    let is_gzip = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    Ok(if is_gzip { Box::new(BufReader::new(MultiGzDecoder::new(file))) } else { Box::new(file) })
}

fn read_whole(reader: &mut dyn Read, path: &Path, most: usize) -> Result<Vec<u8>, InputError> {
    let mut body = Vec::new();
    let read = reader.take(most as u64 + 1).read_to_end(&mut body);
    read.map_err(|source| InputError::Unreadable { path: path.to_owned(), source })?;
    if body.len() > most {
        return Err(InputError::TooLong { path: path.to_owned(), most });
    }
    Ok(body)
}

/// A page from a file: its key is its name, so that it is the same wherever the folder lies.
fn html_page(id: &str, name: &Path, body: Vec<u8>) -> NamedPage {
    let url = format!("file:///{}", name.to_string_lossy().replace('\\', "/"));
    NamedPage { id: id.to_owned(), page: PageInput::new(url, None, "text/html", body) }
}

fn json_lines(
    reader: Box<dyn io::BufRead>,
    path: &Path,
    take: &mut dyn FnMut(Result<NamedPage, InputError>) -> bool,
) -> bool {
    for (number, line) in reader.lines().enumerate() {
        let line = match line {
            Ok(line) if line.trim().is_empty() => continue,
            Ok(line) => line,
            Err(source) => {
                return take(Err(InputError::Unreadable { path: path.to_owned(), source }));
            }
        };
        let page = serde_json::from_str::<JsonPage>(&line)
            .map(|page| web_page(&page.url, "text/html", page.html.into_bytes(), "utf-8"))
            .map_err(|source| InputError::Line { path: path.to_owned(), line: number + 1, source });
        if !take(page) {
            return false;
        }
    }
    true
}

/// A page with an address of its own.
fn web_page(url: &str, media_type: &str, body: Vec<u8>, charset: &str) -> NamedPage {
    let base = WebUrl::parse(url).ok();
    let key = base.as_ref().map_or_else(|| url.to_owned(), |base| base.key().to_string());
    let mut page = PageInput::new(key.clone(), base, media_type, body);
    page.charset = (!charset.is_empty()).then(|| charset.to_owned());
    NamedPage { id: key, page }
}

fn warc(
    reader: Box<dyn io::BufRead>,
    path: &Path,
    most_bytes: usize,
    take: &mut dyn FnMut(Result<NamedPage, InputError>) -> bool,
) -> bool {
    for (number, record) in WarcReader::new(reader, most_bytes).enumerate() {
        let page = match record {
            Ok(Some(response)) => {
                let mut named =
                    web_page(&response.url, &response.media_type, response.body, &response.charset);
                named.page.status = Some(response.status);
                named.page.fetched_at = Timestamp(response.fetched_at);
                Ok(named)
            }
            Ok(None) => continue,
            Err(what) => {
                Err(InputError::Record { path: path.to_owned(), record: number + 1, what })
            }
        };
        let is_broken = page.is_err();
        if !take(page) || is_broken {
            return !is_broken;
        }
    }
    true
}
