//! Writes one part: a file of pages and a file of their chunks.
//!
//! In: records in the order in which they are to stand. Out: [`PartFiles`]. Promises: a part
//! appears under its final names only when [`PartWriter::finish`] has proved it readable; a writer
//! that is dropped before leaves nothing; writing a part again replaces it by the same bytes.
//! It does not choose which records belong together.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use arrow::array::RecordBatch;
use parquet::{
    arrow::ArrowWriter,
    errors::ParquetError,
    file::{metadata::KeyValue, properties::WriterProperties},
};

use super::{
    FileInfo, FileKind, OutputError, OutputOptions, SCHEMA_VERSION,
    disk::{Temporary, create_folder},
    inspect::{columns, compare, describe},
    rows::{ChunkRow, chunk_bytes, chunks_batch, page_bytes, pages_batch},
    schema::{arrow_schema, writer_properties},
};
use crate::model::{ContentHash, PageRecord, kill_point};

/// Most rows that are encoded at once: a large page is not held twice.
const BATCH_ROWS: usize = 256;

/// Most bytes that are encoded at once, save a single longer chunk.
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// Says in a part's footer where it comes from. Two parts with equal stamps and records are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartStamp {
    /// The part's number: the only source of its name.
    pub part: u64,
    /// The run that began the part.
    pub run_id: String,
    /// Hash of the config of that run.
    pub config_hash: ContentHash,
    /// Names the rules by which chunks are cut.
    pub chunker_version: &'static str,
}

impl PartStamp {
    /// The footer's keys and values.
    fn metadata(&self) -> Vec<KeyValue> {
        [
            ("corpus.schema_version", SCHEMA_VERSION.to_string()),
            ("corpus.program_version", env!("CARGO_PKG_VERSION").to_owned()),
            ("corpus.config_hash", self.config_hash.to_string()),
            ("corpus.chunker_version", self.chunker_version.to_owned()),
            ("corpus.run_id", self.run_id.clone()),
            ("corpus.part", self.part.to_string()),
        ]
        .map(|(key, value)| KeyValue::new(key.to_owned(), value))
        .to_vec()
    }
}

/// The files of a published part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartFiles {
    /// The file of pages.
    pub pages: FileInfo,
    /// The file of chunks.
    pub chunks: FileInfo,
}

/// Writes one part.
pub struct PartWriter {
    root: PathBuf,
    pages: TableWriter,
    chunks: TableWriter,
}

impl PartWriter {
    /// Begins the part that `stamp` names, whether or not it was begun or published before.
    ///
    /// # Errors
    ///
    /// Fails where a folder or a temporary file cannot be created.
    pub fn create(options: &OutputOptions, stamp: &PartStamp) -> Result<Self, OutputError> {
        create_folder(&options.path)?;
        let pages = TableWriter::create(options, stamp, FileKind::Pages)?;
        let chunks = TableWriter::create(options, stamp, FileKind::Chunks)?;
        Ok(Self { root: options.path.clone(), pages, chunks })
    }

    /// Appends a page and its chunks. After an error the writer is only good to be dropped.
    ///
    /// # Errors
    ///
    /// Fails where a temporary file cannot be written.
    pub fn push(&mut self, page: &PageRecord) -> Result<(), OutputError> {
        self.pages.write(pages_batch(&[page]).map_err(ParquetError::from), page_bytes(page))?;
        let mut batch = Vec::new();
        let mut bytes = 0;
        for (index, chunk) in page.chunks.iter().enumerate() {
            let row = ChunkRow { page, index, chunk };
            batch.push(row);
            bytes += chunk_bytes(&row);
            if batch.len() >= BATCH_ROWS || bytes >= BATCH_BYTES {
                self.chunks.write(chunks_batch(&batch).map_err(ParquetError::from), bytes)?;
                batch.clear();
                bytes = 0;
            }
        }
        if !batch.is_empty() {
            self.chunks.write(chunks_batch(&batch).map_err(ParquetError::from), bytes)?;
        }
        Ok(())
    }

    /// Appends rows of an older part.
    pub(super) fn copy(&mut self, kind: FileKind, rows: RecordBatch) -> Result<(), OutputError> {
        if rows.num_rows() == 0 {
            return Ok(());
        }
        let bytes = rows.get_array_memory_size();
        let table = if kind == FileKind::Pages { &mut self.pages } else { &mut self.chunks };
        table.write(Ok(rows), bytes)
    }

    /// Publishes the part under its final names, in place of what may be there.
    ///
    /// # Errors
    ///
    /// Fails where a file cannot be written, synced, read back or renamed. Whatever stands under
    /// a final name then is complete, of this attempt or of the one before.
    pub fn finish(self) -> Result<PartFiles, OutputError> {
        let pages = self.pages.seal()?;
        kill_point("part.one_of_two");
        let chunks = self.chunks.seal()?;
        Ok(PartFiles { chunks: chunks.publish(&self.root)?, pages: pages.publish(&self.root)? })
    }
}

/// Writes one file of a part.
pub(super) struct TableWriter {
    kind: FileKind,
    part: u64,
    temporary: Temporary,
    writer: ArrowWriter<File>,
    rows: u64,
    /// Uncompressed bytes of the row group at work.
    group_bytes: u64,
    row_group_bytes: u64,
}

impl TableWriter {
    pub(super) fn create(
        options: &OutputOptions,
        stamp: &PartStamp,
        kind: FileKind,
    ) -> Result<Self, OutputError> {
        let part = stamp.part;
        let name = format!("part-{part:06}.{}.parquet", kind.folder());
        let (temporary, file) = Temporary::create(&options.path, &name)?;
        let writer = writer_properties(columns(kind), stamp.metadata())
            .and_then(|properties| open_writer(file, kind, properties))
            .map_err(OutputError::encode(temporary.path()))?;
        let row_group_bytes = options.row_group_bytes;
        Ok(Self { kind, part, temporary, writer, rows: 0, group_bytes: 0, row_group_bytes })
    }

    /// Appends rows that are about `bytes` long, and closes the row group when it is full.
    pub(super) fn write(
        &mut self,
        batch: Result<RecordBatch, ParquetError>,
        bytes: usize,
    ) -> Result<(), OutputError> {
        let written = batch.and_then(|batch| {
            self.writer.write(&batch)?;
            self.rows += batch.num_rows() as u64;
            self.group_bytes += bytes as u64;
            if self.group_bytes >= self.row_group_bytes {
                self.writer.flush()?;
            }
            // The writer itself closes a group that has enough rows.
            if self.writer.in_progress_rows() == 0 {
                self.group_bytes = 0;
            }
            Ok(())
        });
        written.map_err(OutputError::encode(self.temporary.path()))
    }

    /// Brings the file to the device and proves that it can be read.
    pub(super) fn seal(mut self) -> Result<SealedFile, OutputError> {
        let path = self.temporary.path();
        // Not `into_inner`: it says of a disk that fails only words.
        self.writer.finish().map_err(OutputError::encode(path))?;
        kill_point("part.written");
        self.writer.inner().sync_all().map_err(OutputError::io("sync", path))?;
        drop(self.writer);
        kill_point("part.synced");
        let info = describe(path, self.kind, self.kind.path(self.part))?;
        compare(path, "number of rows", &info.rows, &self.rows)?;
        Ok(SealedFile { temporary: self.temporary, info })
    }
}

fn open_writer(
    file: File,
    kind: FileKind,
    properties: WriterProperties,
) -> Result<ArrowWriter<File>, ParquetError> {
    ArrowWriter::try_new(file, arrow_schema(columns(kind)), Some(properties))
}

/// A file that is complete, but not under its final name yet.
pub(super) struct SealedFile {
    temporary: Temporary,
    info: FileInfo,
}

impl SealedFile {
    pub(super) fn publish(self, root: &Path) -> Result<FileInfo, OutputError> {
        self.temporary.publish(&root.join(&self.info.path))?;
        Ok(self.info)
    }
}
