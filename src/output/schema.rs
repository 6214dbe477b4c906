//! The columns of the corpus: one table that the writer, the readers and the documentation share.
//!
//! In: nothing. Out: [`PAGES`], [`CHUNKS`] and [`CHANGES`] as data, and what Arrow and Parquet need of them.
//! Promise: a column that stands here is written under this name, with this type, in this order.
//! Names are stable: columns are added, never renamed. It holds no rows.

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use parquet::{
    basic::{Compression, ZstdLevel},
    errors::ParquetError,
    file::{
        metadata::KeyValue,
        properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion},
    },
    schema::types::ColumnPath,
};

/// The version of the columns and of the manifest. It grows when a reader must know.
pub const SCHEMA_VERSION: u32 = 1;

/// Most rows of a row group. With chunks of about 1 KB the byte limit comes first; this one keeps
/// the Bloom filters of tables with short rows small.
pub(super) const ROW_GROUP_ROWS: usize = 32_768;

/// How often a Bloom filter may say "perhaps" of a value that is not there: 1 in 100 costs about
/// 10 bits a value.
const BLOOM_FALSE_POSITIVES: f64 = 0.01;

/// Level of zstd. On 23 MB of chunks it makes files a fifth of the text at 95 MB/s on one core;
/// level 1 writes at 161 MB/s files that are a quarter larger, level 6 saves 7 % at half the speed.
const ZSTD_LEVEL: i32 = 3;

/// A column as the documentation shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name.
    pub name: &'static str,
    /// What a value is.
    pub kind: ColumnType,
    /// Whether there is always one.
    pub presence: Presence,
    /// What it means, as part of a sentence.
    pub meaning: &'static str,
    storage: Storage,
}

/// What a value of a column is. Its text form is the type's name in the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// UTF-8 text.
    String,
    /// A list of texts, never null.
    Strings,
    /// A signed number of 32 bits.
    Int32,
    /// A signed number of 64 bits.
    Int64,
    /// A number of 32 bits with a fraction.
    Float32,
    /// True or false.
    Boolean,
    /// A moment in UTC, to the microsecond.
    Timestamp,
    /// What rules removed: a list of rule, characters and a sample.
    Removals,
}

/// Whether a column has a value in every row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Every row has a value.
    Always,
    /// Null where nothing is known.
    WhereKnown,
}

/// How a column is laid out in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    /// With a dictionary and statistics.
    Common,
    /// With a Bloom filter besides: rows are looked up by it.
    Key,
    /// Without dictionary and statistics: long texts that are nearly all different.
    Body,
}

const fn column(name: &'static str, kind: ColumnType, meaning: &'static str) -> Column {
    Column { name, kind, presence: Presence::Always, meaning, storage: Storage::Common }
}

impl Column {
    const fn where_known(self) -> Self {
        Self { presence: Presence::WhereKnown, ..self }
    }

    const fn key(self) -> Self {
        Self { storage: Storage::Key, ..self }
    }

    const fn body(self) -> Self {
        Self { storage: Storage::Body, ..self }
    }

    fn field(&self) -> Field {
        let nullable = self.presence == Presence::WhereKnown;
        Field::new(self.name, self.kind.data_type(), nullable)
    }
}

use ColumnType::{Boolean, Float32, Int32, Int64, Removals, String as Text, Strings, Timestamp};

/// The columns of `pages`: one row a page and run.
pub const PAGES: &[Column] = &[
    column("url", Text, "the page's key: its canonical address, or the name of a file").key(),
    column("final_url", Text, "the address that answered"),
    column("canonical_url", Text, "the address that the page calls its own").where_known(),
    column("document_id", Text, "UUIDv5 of `url` in the URL namespace").key(),
    column("outcome", Text, "collected, unchanged, duplicate, excluded, gone or failed"),
    column("reason", Text, "a stable dotted code; empty for pages that are in the corpus"),
    column("status", Int32, "the HTTP status, where there was an answer").where_known(),
    column("content_type", Text, "the media type, declared or found by sniffing").where_known(),
    column("charset", Text, "the encoding that the body was read in").where_known(),
    column("depth", Int32, "links between a seed and the page"),
    column("referrer", Text, "the page that the address was found on").where_known(),
    column("fetched_at", Timestamp, "when the answer had arrived, or the attempt had ended"),
    column("elapsed_ms", Int64, "from the request to the end of the body"),
    column("body_bytes", Int64, "length of the decoded body"),
    column("title", Text, "its main heading or its `title` element").where_known(),
    column("description", Text, "what the page says about itself").where_known(),
    column("author", Text, "who wrote it").where_known(),
    column("site_name", Text, "the site that it belongs to, by its own word").where_known(),
    column("keywords", Strings, "what it is about, by its own word"),
    column("image", Text, "the image that stands for it").where_known(),
    column("breadcrumbs", Strings, "the pages above it, the outermost first"),
    column("published_at", Timestamp, "when it was published, by its own word").where_known(),
    column("modified_at", Timestamp, "when it was changed, by its own word").where_known(),
    column("lang", Text, "an ISO 639-1 or 639-3 code").where_known(),
    column(
        "lang_confidence",
        Float32,
        "how sure that is, 0 to 1; null where the page says so itself",
    )
    .where_known(),
    column("page_type", Text, "article, documentation, forum, product, listing, home or other")
        .where_known(),
    column("metadata_sources", Strings, "where each fact comes from, as `column:source`"),
    column("markdown", Text, "the main content; empty where none was collected").body(),
    column("original_html_chars", Int64, "characters of the source as it was read"),
    column("initial_markdown_chars", Int64, "characters of the Markdown before cleaning"),
    column("filtered_chars_removed", Int64, "characters that cleaning removed"),
    column("final_filtered_chars", Int64, "characters of the Markdown that is kept"),
    column("removed", Removals, "what each rule removed: name, characters, a sample"),
    column("flags", Strings, "limits that cut the page, and facts about it"),
    column("is_partial", Boolean, "whether text of the page may be missing"),
    column("words", Int32, "words of the text; in Chinese and Japanese, characters").where_known(),
    column("link_density", Float32, "share of characters that are links").where_known(),
    column("stop_word_share", Float32, "share of words that are stop words of the language")
        .where_known(),
    column("symbol_share", Float32, "number signs and ellipses for each word, at most 1")
        .where_known(),
    column("repetition", Float32, "share of characters in repeated lines").where_known(),
    column("failed_heuristics", Strings, "published heuristics that the text does not meet"),
    column("chunk_count", Int32, "its rows in `chunks`"),
    column("token_count", Int64, "tokens of all its chunks"),
    column("content_hash", Text, "blake3 of `markdown`, 128 bits in hex").where_known(),
    column("duplicate_of", Text, "the page whose chunks stand for it").where_known(),
    column("near_duplicate_of", Text, "the page that it is nearly equal to").where_known(),
    column("etag", Text, "the `ETag` field").where_known(),
    column("last_modified", Text, "the `Last-Modified` field").where_known(),
    column("version", Int32, "counts the contents that the page has had, from 1"),
    column("run_id", Text, "the run that wrote the row"),
    column("host", Text, "the host of `url`; empty for a file"),
    column("outlinks", Strings, "addresses in scope that the page links to, in page order"),
];

/// The columns of `chunks`: one row a chunk, a page's rows contiguous and in order.
pub const CHUNKS: &[Column] = &[
    column("chunk_id", Text, "UUIDv5 of document, `embed_hash` and ordinal among equals").key(),
    column("document_id", Text, "UUIDv5 of `url` in the URL namespace").key(),
    column("url", Text, "the page's key").key(),
    column("host", Text, "the host of `url`; empty for a file"),
    column("title", Text, "the page's title").where_known(),
    column("lang", Text, "the page's language").where_known(),
    column("chunk_index", Int32, "place in the page, from 0"),
    column("total_chunks", Int32, "chunks of the page"),
    column("heading_path", Strings, "headings above the chunk, outermost first"),
    column("heading", Text, "the same, joined with ` > `"),
    column("anchor", Text, "fragment of the nearest heading: a deep link").where_known(),
    column("text", Text, "exactly `markdown[byte_start..byte_end]` of the page").body(),
    column(
        "prefix",
        Text,
        "what was added before it, as Markdown: headings above, label or parent items, table header, opening fence",
    ),
    column("suffix", Text, "what was added after it: a closing fence"),
    column("overlap", Text, "the last lines of the chunk before").body(),
    column("embed_text", Text, "what to embed: prefix, text, suffix; `overlap` in front if so set")
        .body(),
    column("token_count", Int32, "tokens of `embed_text`"),
    column("byte_start", Int64, "where `text` begins in the page's Markdown, in bytes"),
    column("byte_end", Int64, "where it ends"),
    column("char_start", Int64, "where it begins, in Unicode scalar values"),
    column("char_end", Int64, "where it ends"),
    column("kinds", Strings, "the kinds of block in it, each once, in order"),
    column("content_hash", Text, "blake3 of `text`, 128 bits in hex"),
    column("embed_hash", Text, "of prefix, text and suffix: a cache key for embeddings"),
    column("flags", Strings, "what a reader of the chunk should know"),
    column("fetched_at", Timestamp, "when the page's answer had arrived"),
    column("first_seen_at", Timestamp, "when the page was first collected"),
    column("changed_at", Timestamp, "when its content last changed"),
    column("run_id", Text, "the run that wrote the row"),
    column("version", Int32, "counts the contents that the page has had, from 1"),
];

/// What a row of `changes` says besides the chunk's columns.
const CHANGE: [Column; 4] = [
    column("run_id", Text, "the run that told it"),
    column("seq", Int64, "counts the changes of the corpus, from 0"),
    column("op", Text, "upsert, meta (same content, other place or time) or delete"),
    column(
        "reason",
        Text,
        "new_page, edited, rechunked, moved, marked, page_gone, duplicate or filtered",
    ),
];

/// Columns of a chunk that a deletion has as well.
const DELETED: [&str; 3] = ["chunk_id", "document_id", "url"];

/// The columns of `changes`: one row a chunk that appeared, moved or went; each chunk at most once
/// a run. Those of the chunk are null where it went.
pub static CHANGES: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let chunk = CHUNKS
        .iter()
        .filter(|column| column.name != "run_id")
        .map(|column| if DELETED.contains(&column.name) { *column } else { column.where_known() });
    CHANGE.into_iter().chain(chunk).collect()
});

impl ColumnType {
    fn data_type(self) -> DataType {
        match self {
            Self::String => DataType::Utf8,
            Self::Strings => DataType::List(Arc::new(element(DataType::Utf8))),
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Float32 => DataType::Float32,
            Self::Boolean => DataType::Boolean,
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Self::Removals => DataType::List(Arc::new(element(DataType::Struct(removal_fields())))),
        }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::String => "string",
            Self::Strings => "list<string>",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Float32 => "float32",
            Self::Boolean => "bool",
            Self::Timestamp => "timestamp(us, UTC)",
            Self::Removals => "list<struct<rule: string, chars: int64, sample: string>>",
        })
    }
}

/// The field of a list's elements, under the name that the Parquet format gives it.
pub(super) fn element(kind: DataType) -> Field {
    Field::new("element", kind, false)
}

/// The fields of an element of `removed`.
pub(super) fn removal_fields() -> Fields {
    Fields::from(vec![
        Field::new("rule", DataType::Utf8, false),
        Field::new("chars", DataType::Int64, false),
        Field::new("sample", DataType::Utf8, false),
    ])
}

/// The Arrow schema of a table.
pub(super) fn arrow_schema(columns: &[Column]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(Column::field).collect::<Vec<_>>()))
}

/// How a table is written: zstd, page index, Bloom filters on keys, and `metadata` in the footer.
///
/// Format version 1.0 of data pages: it is what every reader knows, and version 2.0 reserves
/// 2 MiB for every text column.
///
/// # Errors
///
/// Fails where this build's zstd does not know the level.
pub(super) fn writer_properties(
    columns: &[Column],
    metadata: Vec<KeyValue>,
) -> Result<WriterProperties, ParquetError> {
    let builder = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_key_value_metadata(Some(metadata));
    Ok(columns.iter().fold(builder, lay_out).build())
}

fn lay_out(builder: WriterPropertiesBuilder, column: &Column) -> WriterPropertiesBuilder {
    let path = ColumnPath::from(column.name);
    match column.storage {
        Storage::Common => builder,
        Storage::Key => builder
            .set_column_bloom_filter_fpp(path.clone(), BLOOM_FALSE_POSITIVES)
            .set_column_bloom_filter_max_ndv(path, ROW_GROUP_ROWS as u64),
        Storage::Body => builder
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_statistics_enabled(path, EnabledStatistics::None),
    }
}
