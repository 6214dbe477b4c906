//! Reads a corpus as its users do: Parquet files by name.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use arrow::array::{Array as _, AsArray as _, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// A row as strings, in the order of the columns asked for; nulls are empty, lists
/// of words are joined by spaces.
pub(crate) type Row = Vec<String>;

/// The rows of every part of `kind` (`pages` or `chunks`), in order.
pub(crate) fn rows(corpus: &Path, kind: &str, columns: &[&str]) -> Vec<Row> {
    let mut files: Vec<_> =
        std::fs::read_dir(corpus.join(kind)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut rows = Vec::new();
    for file in files {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap())
            .unwrap()
            .build()
            .unwrap();
        for batch in reader {
            read(&batch.unwrap(), columns, &mut rows);
        }
    }
    rows
}

fn read(batch: &RecordBatch, columns: &[&str], rows: &mut Vec<Row>) {
    for index in 0..batch.num_rows() {
        rows.push(columns.iter().map(|name| cell(batch, name, index)).collect());
    }
}

fn cell(batch: &RecordBatch, name: &str, index: usize) -> String {
    let column = batch.column_by_name(name).unwrap_or_else(|| panic!("no column `{name}`"));
    if column.is_null(index) {
        return String::new();
    }
    if let Some(lists) = column.as_list_opt::<i32>() {
        let words = lists.value(index);
        let words = words.as_string::<i32>();
        return words.iter().flatten().collect::<Vec<_>>().join(" ");
    }
    match column.as_primitive_opt::<arrow::datatypes::TimestampMicrosecondType>() {
        Some(moments) => moments.value(index).to_string(),
        None => arrow::util::display::array_value_to_string(column, index).unwrap(),
    }
}

/// What a corpus holds, whatever the order of its pages: for each chunk its page, place, text and flags.
/// Contents that the manifest lists as superseded do not count; a chunk that stands twice fails
/// the test.
pub(crate) fn content(corpus: &Path) -> BTreeSet<Row> {
    let manifest = std::fs::read(corpus.join("_manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let superseded: BTreeSet<(String, String)> = manifest["superseded"]
        .as_array()
        .unwrap()
        .iter()
        .map(|old| (old["document_id"].as_str().unwrap().to_owned(), old["version"].to_string()))
        .collect();
    let columns = ["document_id", "version", "url", "chunk_index", "text", "chunk_id", "flags"];
    let mut rows = rows(corpus, "chunks", &columns);
    rows.retain(|row| !superseded.contains(&(row[0].clone(), row[1].clone())));
    let count = rows.len();
    let content: BTreeSet<Row> = rows.into_iter().map(|row| row[2..].to_vec()).collect();
    assert_eq!(content.len(), count, "a chunk stands twice");
    content
}
