//! Writes and reads the change feed.
//!
//! In: rows of published `chunks`, and what became of each. Out: `changes/part-NNNNNN.parquet`,
//! and the same as JSON lines. Promise: the rows are those of the chunks, column for column. It
//! does not decide what changed.

use std::{collections::HashMap, io, path::Path, sync::Arc};

use arrow::{
    array::{
        Array as _, ArrayRef, AsArray as _, Int64Array, RecordBatch, StringArray, new_null_array,
    },
    datatypes::TimestampMicrosecondType,
    error::ArrowError,
    json::LineDelimitedWriter,
};
use parquet::errors::ParquetError;
use uuid::Uuid;

use super::{
    FileInfo, FileKind, OutputError, OutputOptions, PartStamp, RowBatch,
    batch::read_rows,
    part::TableWriter,
    read::strings,
    schema::{CHANGES, arrow_schema},
};

/// What became of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// `upsert`, `meta` or `delete`.
    pub op: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// A chunk that went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedChunk {
    /// The chunk.
    pub chunk_id: Uuid,
    /// Its page's document.
    pub document_id: String,
    /// Its page.
    pub url: String,
    /// Why it went.
    pub reason: &'static str,
}

/// Writes one part of the change feed.
pub struct ChangesWriter {
    root: std::path::PathBuf,
    run_id: String,
    seq: u64,
    table: TableWriter,
}

impl ChangesWriter {
    /// Begins the part that `stamp` names; its first row has the number `seq`.
    ///
    /// # Errors
    ///
    /// Fails where a folder or a temporary file cannot be created.
    pub fn create(
        options: &OutputOptions,
        stamp: &PartStamp,
        seq: u64,
    ) -> Result<Self, OutputError> {
        super::disk::create_folder(&options.path)?;
        let table = TableWriter::create(options, stamp, FileKind::Changes)?;
        Ok(Self { root: options.path.clone(), run_id: stamp.run_id.clone(), seq, table })
    }

    /// Appends the rows of `chunks` that changed. After an error the writer is only good to be
    /// dropped.
    ///
    /// # Errors
    ///
    /// Fails where the temporary file cannot be written.
    pub fn push(
        &mut self,
        chunks: &RowBatch,
        changes: &[Option<Change>],
    ) -> Result<(), OutputError> {
        let ops: Vec<Change> = changes.iter().flatten().copied().collect();
        let rows = chunks
            .keep(changes.iter().map(Option::is_some))
            .and_then(|kept| self.rows(&ops, |name| kept.column_by_name(name).map(Arc::clone)));
        self.write(ops.len(), rows)
    }

    /// Appends chunks that went.
    ///
    /// # Errors
    ///
    /// Fails where the temporary file cannot be written.
    pub fn delete(&mut self, chunks: &[DeletedChunk]) -> Result<(), OutputError> {
        let ops: Vec<Change> =
            chunks.iter().map(|chunk| Change { op: "delete", reason: chunk.reason }).collect();
        let texts = |of: &dyn Fn(&DeletedChunk) -> String| -> ArrayRef {
            Arc::new(chunks.iter().map(|chunk| Some(of(chunk))).collect::<StringArray>())
        };
        let mut known: HashMap<&str, ArrayRef> = HashMap::new();
        known.insert("chunk_id", texts(&|chunk| chunk.chunk_id.to_string()));
        known.insert("document_id", texts(&|chunk| chunk.document_id.clone()));
        known.insert("url", texts(&|chunk| chunk.url.clone()));
        let rows = self.rows(&ops, |name| known.get(name).map(Arc::clone));
        self.write(ops.len(), rows)
    }

    /// Rows with `ops`, the chunk's columns as `column` gives them and null where it does not.
    fn rows(
        &self,
        ops: &[Change],
        column: impl Fn(&str) -> Option<ArrayRef>,
    ) -> Result<RecordBatch, ArrowError> {
        let schema = arrow_schema(&CHANGES);
        let first = i64::try_from(self.seq).unwrap_or(i64::MAX);
        let texts = |of: &dyn Fn(&Change) -> &'static str| -> ArrayRef {
            Arc::new(ops.iter().map(|change| Some(of(change))).collect::<StringArray>())
        };
        let run_ids = ops.iter().map(|_| Some(&self.run_id)).collect::<StringArray>();
        let numbers = (first..).take(ops.len()).map(Some).collect::<Int64Array>();
        let columns = schema.fields().iter().map(|field| match field.name().as_str() {
            "run_id" => Arc::new(run_ids.clone()) as ArrayRef,
            "seq" => Arc::new(numbers.clone()),
            "op" => texts(&|change| change.op),
            "reason" => texts(&|change| change.reason),
            name => column(name).unwrap_or_else(|| new_null_array(field.data_type(), ops.len())),
        });
        RecordBatch::try_new(Arc::clone(&schema), columns.collect())
    }

    fn write(
        &mut self,
        count: usize,
        rows: Result<RecordBatch, ArrowError>,
    ) -> Result<(), OutputError> {
        if count == 0 {
            return Ok(());
        }
        self.seq += count as u64;
        let bytes = rows.as_ref().map_or(0, RecordBatch::get_array_memory_size);
        self.table.write(rows.map_err(ParquetError::from), bytes)
    }

    /// Publishes the part under its final name, in place of what may be there.
    ///
    /// # Errors
    ///
    /// As [`super::PartWriter::finish`].
    pub fn finish(self) -> Result<FileInfo, OutputError> {
        self.table.seal()?.publish(&self.root)
    }
}

/// The rows with times that name their offset: the JSON writer knows no zones.
fn with_offsets(rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = rows.columns().iter().map(|column| {
        match column.as_primitive_opt::<TimestampMicrosecondType>() {
            Some(moments) => Arc::new(moments.clone().with_timezone_utc()) as ArrayRef,
            None => Arc::clone(column),
        }
    });
    RecordBatch::try_from_iter(
        rows.schema().fields().iter().map(|field| field.name().as_str()).zip(columns),
    )
}

/// Writes the changes of a published part as JSON lines, those after `since` alone; columns without
/// a value are left out.
///
/// # Errors
///
/// Fails where the file cannot be read, and where `out` cannot be written to.
pub fn write_changes_json(
    path: &Path,
    since: Option<&str>,
    out: &mut dyn io::Write,
) -> Result<(), OutputError> {
    for batch in read_rows(path)? {
        let batch = batch?;
        let Some(runs) = strings(&batch.0, "run_id") else { continue };
        let is_later = |n| since.is_none_or(|since| runs.value(n) > since);
        let kept = batch.keep((0..runs.len()).map(is_later));
        let mut writer = LineDelimitedWriter::new(&mut *out);
        kept.and_then(|rows| with_offsets(&rows))
            .and_then(|rows| writer.write(&rows).and_then(|()| writer.finish()))
            .map_err(ParquetError::from)
            .map_err(OutputError::encode(path))?;
    }
    Ok(())
}
