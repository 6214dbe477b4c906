//! Rows of published parts, some at a time: which page or chunk each holds, and what is said of it.
//!
//! In: a file. Out: [`RowBatches`], whose rows are kept, left out or marked, and copied into other
//! parts column for column. It does not decide which.

use std::{path::Path, sync::Arc};

use arrow::{
    array::{
        ArrayRef, AsArray as _, BooleanArray, ListArray, ListBuilder, RecordBatch, StringArray,
        StringBuilder, new_empty_array, new_null_array,
    },
    buffer::OffsetBuffer,
    compute::filter_record_batch,
    datatypes::{DataType, FieldRef},
    error::ArrowError,
};
use parquet::errors::ParquetError;
use uuid::Uuid;

use super::{
    FileKind, OutputError,
    inspect::columns,
    part::PartWriter,
    read::{Batches, count, numbers, read_batches, strings},
    schema::{arrow_schema, element},
};
use crate::model::ChunkFlag;

/// Rows that are copied at a time: with chunks of about 1 KB, some megabytes.
const BATCH_ROWS: usize = 1_024;

/// Which chunk a row holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkRowKey {
    /// The page.
    pub url: String,
    /// The page's document.
    pub document_id: String,
    /// The page's content.
    pub version: u32,
    /// The chunk.
    pub chunk_id: Uuid,
    /// Its place in the page, from 0.
    pub chunk_index: u32,
}

/// Which page a row holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRowKey {
    /// The page.
    pub url: String,
    /// The word of its outcome.
    pub outcome: String,
    /// Its content.
    pub version: u32,
    /// The run.
    pub run_id: String,
}

/// Some rows of a part.
#[derive(Debug)]
pub struct RowBatch(pub(super) RecordBatch);

/// The rows of a part, in order, some at a time. After an error there are no more.
pub struct RowBatches(Batches);

/// Opens a published file for whole rows.
///
/// # Errors
///
/// Fails where the file cannot be opened, or its footer is damaged.
pub fn read_rows(path: &Path) -> Result<RowBatches, OutputError> {
    read_batches(path, BATCH_ROWS).map(RowBatches)
}

impl Iterator for RowBatches {
    type Item = Result<RowBatch, OutputError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|batch| batch.map(RowBatch))
    }
}

impl RowBatches {
    /// The error of a row whose values are impossible.
    pub fn impossible(&self) -> OutputError {
        OutputError::mismatch(&self.0.path, "impossible values")
    }
}

impl RowBatch {
    /// Which chunks the rows of `chunks` hold; `None` where a value is impossible.
    pub fn chunk_keys(&self) -> Option<Vec<ChunkRowKey>> {
        let url = strings(&self.0, "url")?;
        let document_id = strings(&self.0, "document_id")?;
        let version = numbers(&self.0, "version")?;
        let chunk_id = strings(&self.0, "chunk_id")?;
        let chunk_index = numbers(&self.0, "chunk_index")?;
        (0..self.0.num_rows())
            .map(|n| {
                Some(ChunkRowKey {
                    url: url.value(n).to_owned(),
                    document_id: document_id.value(n).to_owned(),
                    version: count(version, n)?,
                    chunk_id: Uuid::parse_str(chunk_id.value(n)).ok()?,
                    chunk_index: count(chunk_index, n)?,
                })
            })
            .collect()
    }

    /// Which pages the rows of `pages` hold; `None` where a value is impossible.
    pub fn page_keys(&self) -> Option<Vec<PageRowKey>> {
        let url = strings(&self.0, "url")?;
        let outcome = strings(&self.0, "outcome")?;
        let version = numbers(&self.0, "version")?;
        let run_id = strings(&self.0, "run_id")?;
        (0..self.0.num_rows())
            .map(|n| {
                Some(PageRowKey {
                    url: url.value(n).to_owned(),
                    outcome: outcome.value(n).to_owned(),
                    version: count(version, n)?,
                    run_id: run_id.value(n).to_owned(),
                })
            })
            .collect()
    }

    pub(super) fn keep(
        &self,
        keeps: impl Iterator<Item = bool>,
    ) -> Result<RecordBatch, ArrowError> {
        filter_record_batch(&self.0, &keeps.map(Some).collect::<BooleanArray>())
    }
}

/// What is said of the page, or of the chunk, in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowMark {
    /// The page that its page is nearly equal to.
    pub near_duplicate_of: Option<String>,
    /// Whether the chunk's text stands in another page.
    pub is_repeated: bool,
}

impl RowMark {
    fn flags(&self) -> impl Iterator<Item = &'static str> {
        let near = self.near_duplicate_of.as_ref().map(|_| ChunkFlag::NearDuplicate);
        let repeated = self.is_repeated.then_some(ChunkFlag::Repeated);
        near.into_iter().chain(repeated).map(ChunkFlag::name)
    }
}

impl RowBatch {
    /// The rows with `marks`, one each, in place of what they said before.
    ///
    /// # Errors
    ///
    /// Fails where the rows are not of a part.
    pub fn marked(&self, kind: FileKind, marks: &[RowMark]) -> Result<Self, OutputError> {
        let marked = self.completed(kind).and_then(|rows| match kind {
            FileKind::Pages => rows.with("near_duplicate_of", |_| {
                let of = marks.iter().map(|mark| mark.near_duplicate_of.as_deref());
                Some(Arc::new(of.collect::<StringArray>()))
            }),
            _ => rows.with("flags", |flags| chunk_flags(flags.as_list_opt()?, marks)),
        });
        marked.map_err(ParquetError::from).map_err(OutputError::encode(Path::new(kind.folder())))
    }

    /// The rows with all columns of `kind`: those that an older program did not write are null, or
    /// empty lists.
    fn completed(&self, kind: FileKind) -> Result<Self, ArrowError> {
        let schema = arrow_schema(columns(kind));
        let own = |field: &FieldRef| {
            let column = self.0.column_by_name(field.name()).map(Arc::clone);
            column.unwrap_or_else(|| absent(field, self.0.num_rows()))
        };
        let columns = schema.fields().iter().map(own).collect();
        RecordBatch::try_new(schema, columns).map(Self)
    }

    fn with(
        &self,
        name: &str,
        make: impl FnOnce(&ArrayRef) -> Option<ArrayRef>,
    ) -> Result<Self, ArrowError> {
        let at = self.0.schema().index_of(name)?;
        let mut columns = self.0.columns().to_vec();
        let column = columns.get(at).and_then(make);
        if let (Some(slot), Some(column)) = (columns.get_mut(at), column) {
            *slot = column;
        }
        RecordBatch::try_new(self.0.schema(), columns).map(Self)
    }
}

/// A column without values.
fn absent(field: &FieldRef, rows: usize) -> ArrayRef {
    match field.data_type() {
        DataType::List(of) if !field.is_nullable() => {
            let offsets = OffsetBuffer::new_zeroed(rows);
            let values = new_empty_array(of.data_type());
            Arc::new(ListArray::new(Arc::clone(of), offsets, values, None))
        }
        kind => new_null_array(kind, rows),
    }
}

/// The flags of chunks with what `marks` say, and without what marks said before.
fn chunk_flags(flags: &ListArray, marks: &[RowMark]) -> Option<ArrayRef> {
    let old = [ChunkFlag::NearDuplicate.name(), ChunkFlag::Repeated.name()];
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(element(DataType::Utf8));
    for (row, mark) in flags.iter().zip(marks) {
        let row = row?;
        let row = row.as_string_opt::<i32>()?;
        for flag in row.iter().flatten().filter(|flag| !old.contains(flag)) {
            builder.values().append_value(flag);
        }
        mark.flags().for_each(|flag| builder.values().append_value(flag));
        builder.append(true);
    }
    Some(Arc::new(builder.finish()))
}

impl PartWriter {
    /// Appends those rows of an older part that `keeps` says.
    ///
    /// # Errors
    ///
    /// Fails where a temporary file cannot be written.
    pub fn copy_rows(
        &mut self,
        kind: FileKind,
        rows: &RowBatch,
        keeps: &[bool],
    ) -> Result<(), OutputError> {
        let kept = rows.keep(keeps.iter().copied()).map_err(ParquetError::from);
        self.copy(kind, kept.map_err(OutputError::encode(Path::new(kind.folder())))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::schema::PAGES;

    #[test]
    fn rows_of_an_older_program_get_the_columns_that_it_did_not_know() {
        let url: ArrayRef = Arc::new(StringArray::from(vec!["http://a.example/"]));
        let older = RowBatch(RecordBatch::try_from_iter([("url", url)]).unwrap());
        // Of the columns that were there from the beginning none may be missing.
        assert!(older.completed(FileKind::Pages).is_err());
        let added = ["site_name", "keywords", "near_duplicate_of"];
        let is_added = |name: &str| added.contains(&name);
        let old: Vec<_> = PAGES.iter().filter(|column| !is_added(column.name)).collect();
        let schema = arrow_schema(PAGES);
        let values = old.iter().map(|column| {
            let field = schema.field_with_name(column.name).unwrap();
            (column.name, new_empty_array(field.data_type()))
        });
        let older = RowBatch(RecordBatch::try_from_iter(values).unwrap());
        let completed = older.completed(FileKind::Pages).unwrap();
        assert_eq!(completed.0.schema(), schema);
        let field = Arc::new(schema.field_with_name("keywords").unwrap().clone());
        assert_eq!(absent(&field, 3).as_list::<i32>().value_offsets(), [0, 0, 0, 0]);
    }
}
