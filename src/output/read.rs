//! Reads parts back: footers, and the columns that say which rows a part holds.
//!
//! In: a file. Out: [`Rows`], one small batch in memory at a time. Promise: a damaged file is an
//! error, never a panic, although the decoder underneath may panic. It does not compare a file
//! with its record: that is `inspect`'s.

use std::{
    fs::File,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    vec,
};

use arrow::{
    array::{Array as _, AsArray as _, Int32Array, RecordBatch, StringArray},
    datatypes::{Int32Type, Int64Type},
};
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder},
    },
    errors::ParquetError,
};
use uuid::Uuid;

use super::OutputError;

/// Rows that are decoded at a time: short columns only, so a few hundred kilobytes.
const BATCH_ROWS: usize = 4_096;

/// Which chunk a row of `chunks` holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkKey {
    /// The page.
    pub document_id: Uuid,
    /// The page's content.
    pub version: u32,
    /// The chunk's place in the page, from 0.
    pub chunk_index: u32,
    /// Chunks of the page.
    pub total_chunks: u32,
}

/// Which page a row of `pages` holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageKey {
    /// The page's key.
    pub url: String,
    /// See [`crate::model::document_id`].
    pub document_id: Uuid,
    /// The word of its outcome.
    pub outcome: String,
    /// The page's content.
    pub version: u32,
    /// Its rows in `chunks`.
    pub chunk_count: u32,
}

/// What a row of `changes` tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeKey {
    /// Its number.
    pub seq: i64,
    /// `upsert`, `meta` or `delete`.
    pub op: String,
    /// The chunk.
    pub chunk_id: Uuid,
}

/// The rows of a part, in order. After an error there are no more.
pub struct Rows<T> {
    batches: Batches,
    decode: fn(&RecordBatch) -> Option<Vec<T>>,
    decoded: vec::IntoIter<T>,
}

/// Opens a file of `chunks` for its keys.
///
/// # Errors
///
/// Fails where the file cannot be opened, or its footer is damaged.
pub fn read_chunk_keys(path: &Path) -> Result<Rows<ChunkKey>, OutputError> {
    const COLUMNS: [&str; 4] = ["document_id", "version", "chunk_index", "total_chunks"];
    open_rows(path, &COLUMNS, |batch| {
        let document_id = strings(batch, "document_id")?;
        let version = numbers(batch, "version")?;
        let chunk_index = numbers(batch, "chunk_index")?;
        let total_chunks = numbers(batch, "total_chunks")?;
        (0..batch.num_rows())
            .map(|n| {
                Some(ChunkKey {
                    document_id: Uuid::parse_str(document_id.value(n)).ok()?,
                    version: count(version, n)?,
                    chunk_index: count(chunk_index, n)?,
                    total_chunks: count(total_chunks, n)?,
                })
            })
            .collect()
    })
}

/// Opens a file of `pages` for its keys.
///
/// # Errors
///
/// Fails where the file cannot be opened, or its footer is damaged.
pub fn read_page_keys(path: &Path) -> Result<Rows<PageKey>, OutputError> {
    const COLUMNS: [&str; 5] = ["url", "document_id", "outcome", "version", "chunk_count"];
    open_rows(path, &COLUMNS, |batch| {
        let url = strings(batch, "url")?;
        let document_id = strings(batch, "document_id")?;
        let outcome = strings(batch, "outcome")?;
        let version = numbers(batch, "version")?;
        let chunk_count = numbers(batch, "chunk_count")?;
        (0..batch.num_rows())
            .map(|n| {
                Some(PageKey {
                    url: url.value(n).to_owned(),
                    document_id: Uuid::parse_str(document_id.value(n)).ok()?,
                    outcome: outcome.value(n).to_owned(),
                    version: count(version, n)?,
                    chunk_count: count(chunk_count, n)?,
                })
            })
            .collect()
    })
}

/// Opens a file of `changes` for its keys.
///
/// # Errors
///
/// Fails where the file cannot be opened, or its footer is damaged.
pub fn read_change_keys(path: &Path) -> Result<Rows<ChangeKey>, OutputError> {
    open_rows(path, &["seq", "op", "chunk_id"], |batch| {
        let seq = batch.column_by_name("seq")?.as_primitive_opt::<Int64Type>()?;
        let op = strings(batch, "op")?;
        let chunk_id = strings(batch, "chunk_id")?;
        (0..batch.num_rows())
            .map(|n| {
                Some(ChangeKey {
                    seq: seq.value(n),
                    op: op.value(n).to_owned(),
                    chunk_id: Uuid::parse_str(chunk_id.value(n)).ok()?,
                })
            })
            .collect()
    })
}

impl<T> Iterator for Rows<T> {
    type Item = Result<T, OutputError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.decoded.next() {
                return Some(Ok(row));
            }
            let rows = self.batches.next()?.and_then(|batch| {
                let impossible = || OutputError::mismatch(&self.batches.path, "impossible values");
                (self.decode)(&batch).ok_or_else(impossible)
            });
            match rows {
                Ok(rows) => self.decoded = rows.into_iter(),
                Err(error) => {
                    self.batches.reader = None;
                    return Some(Err(error));
                }
            }
        }
    }
}

/// What the footer of a part says.
#[derive(Debug)]
pub(super) struct Footer {
    /// Rows of the file.
    pub(super) rows: u64,
    /// The names of its columns, in order.
    pub(super) columns: Vec<String>,
}

/// Reads the footer of a part.
pub(super) fn read_footer(path: &Path) -> Result<Footer, OutputError> {
    let builder = open(path)?;
    let metadata = builder.metadata().file_metadata();
    let rows = u64::try_from(metadata.num_rows())
        .map_err(|_| OutputError::mismatch(path, "a negative number of rows"))?;
    let columns = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
    Ok(Footer { rows, columns })
}

/// Opens a file for whole rows, at most `batch_rows` at a time.
pub(super) fn read_batches(path: &Path, batch_rows: usize) -> Result<Batches, OutputError> {
    let builder = open(path)?;
    let reader = guarded(path, || builder.with_batch_size(batch_rows).build())?
        .map_err(OutputError::read(path))?;
    Ok(Batches { path: path.to_owned(), reader: Some(reader) })
}

/// The rows of a part, in order. After an error there are no more.
pub(super) struct Batches {
    pub(super) path: PathBuf,
    reader: Option<ParquetRecordBatchReader>,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, OutputError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = guarded(&self.path, || self.reader.as_mut()?.next());
        let batch = next.transpose()?.and_then(|batch| {
            batch.map_err(ParquetError::from).map_err(OutputError::read(&self.path))
        });
        if batch.is_err() {
            self.reader = None;
        }
        Some(batch)
    }
}

fn open(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>, OutputError> {
    let file = File::open(path).map_err(OutputError::io("open", path))?;
    guarded(path, || ParquetRecordBatchReaderBuilder::try_new(file))?
        .map_err(OutputError::read(path))
}

fn open_rows<T>(
    path: &Path,
    columns: &[&str],
    decode: fn(&RecordBatch) -> Option<Vec<T>>,
) -> Result<Rows<T>, OutputError> {
    let builder = open(path)?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
    let reader =
        guarded(path, || builder.with_projection(mask).with_batch_size(BATCH_ROWS).build())?
            .map_err(OutputError::read(path))?;
    let decoded = Vec::new().into_iter();
    let batches = Batches { path: path.to_owned(), reader: Some(reader) };
    Ok(Rows { batches, decode, decoded })
}

/// Runs `read`; a panic of the decoder becomes an error about the file.
fn guarded<T>(path: &Path, read: impl FnOnce() -> T) -> Result<T, OutputError> {
    catch_unwind(AssertUnwindSafe(read))
        .map_err(|_| OutputError::mismatch(path, "damage that ends the decoder"))
}

/// A column of texts, or `None` where there is none of the kind.
pub(super) fn strings<'a>(batch: &'a RecordBatch, name: &str) -> Option<&'a StringArray> {
    batch.column_by_name(name)?.as_string_opt::<i32>()
}

/// A column of numbers, or `None` where there is none of the kind.
pub(super) fn numbers<'a>(batch: &'a RecordBatch, name: &str) -> Option<&'a Int32Array> {
    batch.column_by_name(name)?.as_primitive_opt::<Int32Type>()
}

/// The number in row `n`, or `None` where it is null or negative.
pub(super) fn count(numbers: &Int32Array, n: usize) -> Option<u32> {
    numbers.is_valid(n).then(|| numbers.value(n)).and_then(|n| u32::try_from(n).ok())
}
