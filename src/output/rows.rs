//! Turns records into rows.
//!
//! In: [`PageRecord`]s. Out: Arrow batches whose columns are those of [`PAGES`] and [`CHUNKS`].
//! Promises: one row a page, one row a chunk, in the order given; numbers beyond their column's
//! range stand at its end. It writes nothing.

use std::sync::Arc;

use arrow::{
    array::{
        ArrayRef, BooleanArray, Float32Array, Int32Array, Int64Array, ListArray, ListBuilder,
        RecordBatch, StringArray, StringBuilder, StructArray, TimestampMicrosecondArray,
    },
    buffer::OffsetBuffer,
    datatypes::DataType,
    error::ArrowError,
};

use super::schema::{CHUNKS, PAGES, arrow_schema, element, removal_fields};
use crate::model::{Chunk, Heuristic, PageRecord, PageType, Ratio, Removal, Timestamp};

/// Joins the headings above a chunk in the `heading` column.
const HEADING_SEPARATOR: &str = " > ";

/// Length of a row's numbers, dates, identifiers and hashes, in bytes, for [`page_bytes`] and
/// [`chunk_bytes`].
const FIXED_BYTES: usize = 300;

/// A chunk and where it belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkRow<'a> {
    pub(super) page: &'a PageRecord,
    pub(super) index: usize,
    pub(super) chunk: &'a Chunk,
}

/// About how long the page's row is before compression, in bytes.
pub(super) fn page_bytes(page: &PageRecord) -> usize {
    let outlinks: usize = page.outlinks.iter().map(String::len).sum();
    let removed: usize = page.removed.iter().map(|r| r.rule.len() + r.sample.len()).sum();
    FIXED_BYTES + page.url.len() * 2 + page.markdown.as_str().len() + outlinks + removed
}

/// About how long the chunk's row is before compression, in bytes.
pub(super) fn chunk_bytes(row: &ChunkRow<'_>) -> usize {
    let chunk = row.chunk;
    let headings: usize = chunk.heading_path.iter().map(String::len).sum();
    let embedded = chunk.prefix.len() + chunk.text.len() + chunk.suffix.len();
    FIXED_BYTES + row.page.url.len() + 2 * (headings + embedded + chunk.overlap.len())
}

/// One row for each of `pages`.
pub(super) fn pages_batch(pages: &[&PageRecord]) -> Result<RecordBatch, ArrowError> {
    let mut columns = page_answers(pages);
    columns.extend(page_contents(pages)?);
    columns.extend(page_qualities(pages));
    columns.extend(page_histories(pages));
    RecordBatch::try_new(arrow_schema(PAGES), columns)
}

/// `url` to `body_bytes`.
fn page_answers(pages: &[&PageRecord]) -> Vec<ArrayRef> {
    vec![
        texts(pages, |page| Some(&page.url)),
        texts(pages, |page| Some(&page.final_url)),
        texts(pages, |page| page.metadata.canonical_url.as_ref()),
        texts(pages, |page| Some(page.document_id.to_string())),
        texts(pages, |page| Some(page.outcome.name())),
        texts(pages, |page| Some(page.outcome.reason())),
        numbers(pages, |page| page.status.map(i32::from)),
        texts(pages, |page| page.content_type.as_ref()),
        texts(pages, |page| page.charset.as_ref()),
        numbers(pages, |page| Some(int32(page.depth))),
        texts(pages, |page| page.referrer.as_ref()),
        moments(pages, |page| Some(page.fetched_at)),
        long_numbers(pages, |page| int64(page.elapsed_ms)),
        long_numbers(pages, |page| int64(page.body_bytes)),
    ]
}

/// `title` to `is_partial`.
fn page_contents(pages: &[&PageRecord]) -> Result<Vec<ArrayRef>, ArrowError> {
    let moment = |text: &Option<String>| text.as_deref().and_then(Timestamp::parse);
    Ok(vec![
        texts(pages, |page| page.metadata.title.as_ref()),
        texts(pages, |page| page.metadata.description.as_ref()),
        texts(pages, |page| page.metadata.author.as_ref()),
        texts(pages, |page| page.metadata.site_name.as_ref()),
        lists(pages, |page| &page.metadata.keywords),
        texts(pages, |page| page.metadata.image.as_ref()),
        lists(pages, |page| &page.metadata.breadcrumbs),
        moments(pages, |page| moment(&page.metadata.published_at)),
        moments(pages, |page| moment(&page.metadata.modified_at)),
        texts(pages, |page| page.metadata.lang.as_ref()),
        shares(pages, |page| page.metadata.lang_confidence),
        texts(pages, |page| page.metadata.page_type.map(PageType::name)),
        lists(pages, |page| {
            page.metadata.sources.iter().map(|(name, source)| format!("{name}:{source}"))
        }),
        texts(pages, |page| Some(page.markdown.as_str())),
        long_numbers(pages, |page| int64(page.counts.original_html_chars)),
        long_numbers(pages, |page| int64(page.counts.initial_markdown_chars)),
        long_numbers(pages, |page| int64(page.counts.filtered_chars_removed)),
        long_numbers(pages, |page| int64(page.counts.final_filtered_chars)),
        removals(pages)?,
        lists(pages, |page| page.flags.iter().map(|flag| flag.name())),
        Arc::new(pages.iter().map(|page| Some(page.is_partial())).collect::<BooleanArray>()),
    ])
}

/// `words` to `failed_heuristics`.
fn page_qualities(pages: &[&PageRecord]) -> Vec<ArrayRef> {
    let failed = |page: &PageRecord| page.quality.as_ref().map_or(Vec::new(), |q| q.failed.clone());
    vec![
        numbers(pages, |page| page.quality.as_ref().map(|q| int32(q.words))),
        shares(pages, |page| page.quality.as_ref().map(|q| q.link_density)),
        shares(pages, |page| page.quality.as_ref().and_then(|q| q.stop_word_share)),
        shares(pages, |page| page.quality.as_ref().map(|q| q.symbol_share)),
        shares(pages, |page| page.quality.as_ref().map(|q| q.repetition)),
        lists(pages, |page| failed(page).into_iter().map(Heuristic::code)),
    ]
}

/// `chunk_count` to `outlinks`.
fn page_histories(pages: &[&PageRecord]) -> Vec<ArrayRef> {
    vec![
        numbers(pages, |page| Some(int32(page.chunks.len()))),
        long_numbers(pages, |page| int64(page.token_count())),
        texts(pages, |page| page.content_hash.map(|hash| hash.to_string())),
        texts(pages, |page| page.outcome.duplicate_of()),
        texts(pages, |page| page.near_duplicate_of.as_ref()),
        texts(pages, |page| page.validators.etag.as_ref()),
        texts(pages, |page| page.validators.last_modified.as_ref()),
        numbers(pages, |page| Some(int32(page.version))),
        texts(pages, |page| Some(&page.run_id)),
        texts(pages, |page| Some(&page.host)),
        lists(pages, |page| &page.outlinks),
    ]
}

/// One row for each of `rows`.
pub(super) fn chunks_batch(rows: &[ChunkRow<'_>]) -> Result<RecordBatch, ArrowError> {
    let mut columns = chunk_places(rows);
    columns.extend(chunk_texts(rows));
    columns.extend(chunk_histories(rows));
    RecordBatch::try_new(arrow_schema(CHUNKS), columns)
}

/// `chunk_id` to `anchor`.
fn chunk_places(rows: &[ChunkRow<'_>]) -> Vec<ArrayRef> {
    vec![
        texts(rows, |row| Some(row.chunk.id.to_string())),
        texts(rows, |row| Some(row.page.document_id.to_string())),
        texts(rows, |row| Some(&row.page.url)),
        texts(rows, |row| Some(&row.page.host)),
        texts(rows, |row| row.page.metadata.title.as_ref()),
        texts(rows, |row| row.page.metadata.lang.as_ref()),
        numbers(rows, |row| Some(int32(row.index))),
        numbers(rows, |row| Some(int32(row.page.chunks.len()))),
        lists(rows, |row| &row.chunk.heading_path),
        texts(rows, |row| Some(row.chunk.heading_path.join(HEADING_SEPARATOR))),
        texts(rows, |row| row.chunk.anchor.as_ref()),
    ]
}

/// `text` to `flags`.
fn chunk_texts(rows: &[ChunkRow<'_>]) -> Vec<ArrayRef> {
    vec![
        texts(rows, |row| Some(&row.chunk.text)),
        texts(rows, |row| Some(&row.chunk.prefix)),
        texts(rows, |row| Some(&row.chunk.suffix)),
        texts(rows, |row| Some(&row.chunk.overlap)),
        texts(rows, |row| Some(row.chunk.embed_text())),
        numbers(rows, |row| Some(int32(row.chunk.token_count))),
        long_numbers(rows, |row| int64(row.chunk.bytes.start)),
        long_numbers(rows, |row| int64(row.chunk.bytes.end)),
        long_numbers(rows, |row| int64(row.chunk.chars.start)),
        long_numbers(rows, |row| int64(row.chunk.chars.end)),
        lists(rows, |row| row.chunk.kinds.iter().map(|kind| kind.name())),
        texts(rows, |row| Some(row.chunk.content_hash.to_string())),
        texts(rows, |row| Some(row.chunk.embed_hash.to_string())),
        lists(rows, |row| row.chunk.flags.iter().map(|flag| flag.name())),
    ]
}

/// `fetched_at` to `version`.
fn chunk_histories(rows: &[ChunkRow<'_>]) -> Vec<ArrayRef> {
    vec![
        moments(rows, |row| Some(row.page.fetched_at)),
        moments(rows, |row| Some(row.page.first_seen_at)),
        moments(rows, |row| Some(row.page.changed_at)),
        texts(rows, |row| Some(&row.page.run_id)),
        numbers(rows, |row| Some(int32(row.page.version))),
    ]
}

fn texts<'a, R, T: AsRef<str>>(rows: &'a [R], get: impl Fn(&'a R) -> Option<T>) -> ArrayRef {
    Arc::new(rows.iter().map(get).collect::<StringArray>())
}

fn numbers<'a, R>(rows: &'a [R], get: impl Fn(&'a R) -> Option<i32>) -> ArrayRef {
    Arc::new(rows.iter().map(get).collect::<Int32Array>())
}

fn long_numbers<'a, R>(rows: &'a [R], get: impl Fn(&'a R) -> i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(rows.iter().map(get)))
}

fn shares<'a, R>(rows: &'a [R], get: impl Fn(&'a R) -> Option<Ratio>) -> ArrayRef {
    let shares = rows.iter().map(|row| get(row).map(Ratio::as_f32));
    Arc::new(shares.collect::<Float32Array>())
}

fn moments<'a, R>(rows: &'a [R], get: impl Fn(&'a R) -> Option<Timestamp>) -> ArrayRef {
    let micros = rows.iter().map(|row| get(row).map(|moment| moment.0));
    Arc::new(micros.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
}

fn lists<'a, R, T, I>(rows: &'a [R], get: impl Fn(&'a R) -> I) -> ArrayRef
where
    T: AsRef<str>,
    I: IntoIterator<Item = T>,
{
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(element(DataType::Utf8));
    for row in rows {
        for text in get(row) {
            builder.values().append_value(text);
        }
        builder.append(true);
    }
    Arc::new(builder.finish())
}

fn removals(pages: &[&PageRecord]) -> Result<ArrayRef, ArrowError> {
    let all: Vec<&Removal> = pages.iter().flat_map(|page| &page.removed).collect();
    let values = StructArray::try_new(
        removal_fields(),
        vec![
            texts(&all, |removal| Some(&removal.rule)),
            long_numbers(&all, |removal| int64(removal.chars)),
            texts(&all, |removal| Some(&removal.sample)),
        ],
        None,
    )?;
    let offsets = OffsetBuffer::from_lengths(pages.iter().map(|page| page.removed.len()));
    let field = Arc::new(element(DataType::Struct(removal_fields())));
    Ok(Arc::new(ListArray::try_new(field, offsets, Arc::new(values), None)?))
}

fn int32(n: impl TryInto<i32>) -> i32 {
    n.try_into().unwrap_or(i32::MAX)
}

fn int64(n: impl TryInto<i64>) -> i64 {
    n.try_into().unwrap_or(i64::MAX)
}
