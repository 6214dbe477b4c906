//! The promises of the module's header, on random records and on damaged files.

use std::{fs, mem, path::Path};

use arrow::{
    array::{Array as _, AsArray as _, RecordBatch},
    compute::concat_batches,
    datatypes::{Int64Type, TimestampMicrosecondType},
};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use proptest::prelude::*;

use super::*;
use crate::model::{
    BlockKind, Chunk, ChunkFlag, ContentCounts, ContentHash, ErrorCode, Heuristic, Markdown,
    Metadata, PageError, PageFlag, PageOutcome, PageRecord, PageType, Quality, Ratio, Removal,
    Timestamp, Validators, chunk_id, document_id,
};

fn chunk(document: uuid::Uuid, before: &str, text: &str) -> Chunk {
    let prefix = "Tea > Green\n\n";
    let embed_hash = ContentHash::of([prefix, text].concat().as_bytes());
    let char_start = before.chars().count();
    Chunk {
        id: chunk_id(document, embed_hash, before.matches(text).count()),
        text: text.to_owned(),
        bytes: before.len()..before.len() + text.len(),
        chars: char_start..char_start + text.chars().count(),
        prefix: prefix.to_owned(),
        suffix: String::new(),
        overlap: before.lines().last().unwrap_or_default().to_owned(),
        embeds_overlap: false,
        token_count: 3,
        heading_path: vec!["Tea".to_owned(), "Green".to_owned()],
        anchor: Some("green".to_owned()),
        kinds: vec![BlockKind::Paragraph],
        flags: vec![ChunkFlag::Continued],
        content_hash: ContentHash::of(text.as_bytes()),
        embed_hash,
    }
}

/// A collected page whose chunks are `texts`.
fn page(url: &str, texts: &[&str]) -> PageRecord {
    let document_id = document_id(url);
    let markdown = Markdown::new(texts.concat());
    let mut before = String::new();
    let mut chunks = Vec::new();
    for text in texts {
        chunks.push(chunk(document_id, &before, text));
        before.push_str(text);
    }
    PageRecord {
        url: url.to_owned(),
        host: "tea.example".to_owned(),
        final_url: url.to_owned(),
        document_id,
        outcome: PageOutcome::Collected,
        status: Some(200),
        content_type: Some("text/html".to_owned()),
        charset: Some("utf-8".to_owned()),
        depth: 1,
        referrer: None,
        fetched_at: Timestamp(1_700_000_000_000_001),
        first_seen_at: Timestamp(1_600_000_000_000_000),
        changed_at: Timestamp(1_650_000_000_000_000),
        elapsed_ms: 12,
        body_bytes: 345,
        sketch: None,
        near_duplicate_of: None,
        quality: Some(Quality {
            words: 12,
            link_density: Ratio::from_thousandths(250),
            stop_word_share: Some(Ratio::from_thousandths(500)),
            failed: vec![Heuristic::WordCount],
            ..Quality::default()
        }),
        metadata: Metadata {
            title: Some("Green tea".to_owned()),
            published_at: Some("2024-05-01".to_owned()),
            modified_at: Some("last spring".to_owned()),
            lang: Some("en".to_owned()),
            page_type: Some(PageType::Article),
            ..Metadata::default()
        },
        content_hash: Some(ContentHash::of(markdown.as_str().as_bytes())),
        markdown,
        counts: ContentCounts { original_html_chars: 900, ..ContentCounts::default() },
        removed: vec![Removal {
            rule: "extract.navigation".to_owned(),
            chars: 17,
            sample: "Home About".to_owned(),
        }],
        flags: vec![PageFlag::CharsetGuessed],
        chunks,
        body_hash: None,
        validators: Validators { etag: Some("\"a\"".to_owned()), last_modified: None },
        version: 2,
        run_id: "r1".to_owned(),
        outlinks: vec!["http://tea.example/black".to_owned()],
    }
}

/// A page without content, because of `outcome`.
fn failed(url: &str) -> PageRecord {
    let error = PageError::new(ErrorCode::FetchTimeout, "no answer within 20 s");
    PageRecord { status: None, outcome: PageOutcome::Failed(error), ..page(url, &[]) }
}

fn options(root: &Path) -> OutputOptions {
    OutputOptions { path: root.to_owned(), ..OutputOptions::default() }
}

fn stamp(part: u64) -> PartStamp {
    let config_hash = ContentHash::of(b"config");
    PartStamp { part, run_id: "r1".to_owned(), config_hash, chunker_version: "c1" }
}

fn write(options: &OutputOptions, pages: &[PageRecord]) -> PartFiles {
    let mut writer = PartWriter::create(options, &stamp(1)).unwrap();
    for page in pages {
        writer.push(page).unwrap();
    }
    writer.finish().unwrap()
}

/// All rows of a file.
fn read(path: &Path) -> RecordBatch {
    let file = fs::File::open(path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let schema = std::sync::Arc::clone(reader.schema());
    let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
    concat_batches(&schema, &batches).unwrap()
}

fn texts<'a>(batch: &'a RecordBatch, column: &str) -> Vec<&'a str> {
    let column = batch.column_by_name(column).unwrap().as_string::<i32>();
    column.iter().map(Option::unwrap_or_default).collect()
}

fn longs(batch: &RecordBatch, column: &str) -> Vec<i64> {
    batch.column_by_name(column).unwrap().as_primitive::<Int64Type>().values().to_vec()
}

fn moments(batch: &RecordBatch, column: &str) -> Vec<Option<i64>> {
    let column = batch.column_by_name(column).unwrap();
    column.as_primitive::<TimestampMicrosecondType>().iter().collect()
}

#[test]
fn a_page_is_one_row_with_its_outcome() {
    let root = tempfile::tempdir().unwrap();
    let url = "http://tea.example/green";
    let files = write(&options(root.path()), &[page(url, &["Green.\n"]), failed(url)]);
    assert_eq!((files.pages.rows, files.chunks.rows), (2, 1));
    let pages = read(&root.path().join(&files.pages.path));
    assert_eq!(texts(&pages, "outcome"), ["collected", "failed"]);
    assert_eq!(texts(&pages, "reason"), ["", "fetch.timeout"]);
    assert_eq!(texts(&pages, "markdown"), ["Green.\n", ""]);
    assert_eq!(moments(&pages, "published_at")[0], Some(1_714_521_600_000_000));
    assert_eq!(moments(&pages, "modified_at")[0], None);
    let removed = pages.column_by_name("removed").unwrap().as_list::<i32>().value(0);
    assert_eq!(removed.as_struct().column(1).as_primitive::<Int64Type>().value(0), 17);
    assert!(pages.column_by_name("status").unwrap().is_null(1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_goes_in_comes_out(
        contents in prop::collection::vec(
            prop::collection::vec("[a-zé茶 ]{1,40}\n", 0..6), 0..8,
        ),
    ) {
        let root = tempfile::tempdir().unwrap();
        let pages: Vec<PageRecord> = contents
            .iter()
            .enumerate()
            .map(|(n, texts)| {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                page(&format!("http://tea.example/{n}"), &texts)
            })
            .collect();
        let small = OutputOptions { row_group_bytes: 1_000, ..options(root.path()) };
        let files = write(&small, &pages);
        let chunks = read(&root.path().join(&files.chunks.path));
        let all: Vec<(&PageRecord, &Chunk)> =
            pages.iter().flat_map(|page| page.chunks.iter().map(move |c| (page, c))).collect();
        prop_assert_eq!(
            texts(&chunks, "url"),
            all.iter().map(|(page, _)| page.url.as_str()).collect::<Vec<_>>()
        );
        prop_assert_eq!(
            texts(&chunks, "text"),
            all.iter().map(|(_, chunk)| chunk.text.as_str()).collect::<Vec<_>>()
        );
        prop_assert_eq!(
            longs(&chunks, "char_end"),
            all.iter().map(|(_, chunk)| int64(chunk.chars.end)).collect::<Vec<_>>()
        );
        check_file(root.path(), &files.pages).unwrap();
        check_file(root.path(), &files.chunks).unwrap();
        let keys = read_chunk_keys(&root.path().join(&files.chunks.path)).unwrap();
        let indexes: Vec<u32> = keys.map(|key| key.unwrap().chunk_index).collect();
        let want: Vec<u32> =
            pages.iter().flat_map(|page| 0..u32::try_from(page.chunks.len()).unwrap()).collect();
        prop_assert_eq!(indexes, want);
    }

    #[test]
    fn a_damaged_file_is_an_error_and_never_a_panic(at in 0.0..1.0_f64, bit in 0..8_u32) {
        let root = tempfile::tempdir().unwrap();
        let files = write(&options(root.path()), &[page("http://tea.example/", &["Tea.\n"; 20])]);
        for info in [&files.pages, &files.chunks] {
            let path = root.path().join(&info.path);
            let mut bytes = fs::read(&path).unwrap();
            let at = position(at, bytes.len());
            bytes[at] ^= 1 << bit;
            fs::write(&path, &bytes).unwrap();
            prop_assert!(check_file(root.path(), info).is_err());
            drop(read_chunk_keys(&path).map(Iterator::count));
            drop(read_page_keys(&path).map(Iterator::count));
            fs::write(&path, &bytes[..at]).unwrap();
            prop_assert!(check_file(root.path(), info).is_err());
            drop(read_page_keys(&path).map(Iterator::count));
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "any position in the file will do"
)]
fn position(share: f64, length: usize) -> usize {
    (share * length as f64) as usize
}

fn int64(n: usize) -> i64 {
    i64::try_from(n).unwrap()
}

#[test]
fn equal_records_give_equal_bytes() {
    let pages =
        [page("http://tea.example/", &["One.\n", "Two.\n"]), failed("http://tea.example/x")];
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = write(&options(first.path()), &pages);
    assert_eq!(write(&options(second.path()), &pages), files);
    assert_eq!(write(&options(second.path()), &pages), files);
}

#[test]
fn an_unfinished_part_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = PartWriter::create(&options(root.path()), &stamp(1)).unwrap();
    writer.push(&page("http://tea.example/", &["One.\n"])).unwrap();
    assert_eq!(list_files(root.path()).unwrap().temporaries.len(), 2);
    drop(writer);
    assert_eq!(list_files(root.path()).unwrap(), Listing::default());
}

#[test]
fn what_a_killed_writer_leaves_is_removed_and_written_again() {
    let root = tempfile::tempdir().unwrap();
    let pages = [page("http://tea.example/", &["One.\n"])];
    let mut writer = PartWriter::create(&options(root.path()), &stamp(1)).unwrap();
    writer.push(&pages[0]).unwrap();
    mem::forget(writer);
    let left = list_files(root.path()).unwrap();
    assert_eq!((left.parts.len(), left.temporaries.len()), (0, 2));
    assert_eq!(remove_temporaries(root.path()).unwrap(), 2);
    write(&options(root.path()), &pages);
    let listing = list_files(root.path()).unwrap();
    assert_eq!((listing.parts.len(), listing.temporaries.len()), (2, 0));
}

#[test]
fn a_published_part_stays_until_its_successor_is_whole() {
    let root = tempfile::tempdir().unwrap();
    let files = write(&options(root.path()), &[page("http://tea.example/", &["One.\n"])]);
    let mut writer = PartWriter::create(&options(root.path()), &stamp(1)).unwrap();
    writer.push(&page("http://tea.example/", &["Two.\n"])).unwrap();
    check_file(root.path(), &files.chunks).unwrap();
    drop(writer);
    check_file(root.path(), &files.pages).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_apart() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join(".tmp")).unwrap();
    let name = ".tmp/part-000001.chunks.parquet.tmp";
    std::os::unix::fs::symlink("/dev/full", root.path().join(name)).unwrap();
    let mut writer = PartWriter::create(&options(root.path()), &stamp(1)).unwrap();
    writer.push(&page("http://tea.example/", &["One.\n"])).unwrap();
    let error = writer.finish().unwrap_err();
    assert!(error.is_storage() && error.is_out_of_space(), "{error:?}");
    assert!(error.to_string().starts_with("cannot write `"), "{error}");
    assert_eq!(list_files(root.path()).unwrap(), Listing::default());
}

#[test]
fn a_missing_file_is_named() {
    let root = tempfile::tempdir().unwrap();
    let files = write(&options(root.path()), &[]);
    let path = root.path().join(&files.pages.path);
    fs::remove_file(&path).unwrap();
    let error = check_file(root.path(), &files.pages).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot read `{}`", path.display()));
}

#[test]
fn a_file_of_unknown_origin_is_reported() {
    let root = tempfile::tempdir().unwrap();
    write(&options(root.path()), &[]);
    let unknown = ["part-1.parquet", "part-000001.parquet.bak", "notes.txt"];
    for name in unknown {
        fs::write(root.path().join("chunks").join(name), "").unwrap();
    }
    let listing = list_files(root.path()).unwrap();
    assert_eq!(listing.unknown.len(), unknown.len());
    assert_eq!(listing.parts.len(), 2);
}

#[test]
fn row_groups_close_by_bytes_and_carry_what_readers_need() {
    let root = tempfile::tempdir().unwrap();
    let small = OutputOptions { row_group_bytes: 10_000, ..options(root.path()) };
    let text = "Tea. ".repeat(400) + "\n";
    let files = write(&small, &[page("http://tea.example/", &[text.as_str(); 300])]);
    let file = fs::File::open(root.path().join(&files.chunks.path)).unwrap();
    let reading = ArrowReaderOptions::new()
        .with_page_index_policy(parquet::file::metadata::PageIndexPolicy::Required);
    let metadata = ArrowReaderMetadata::load(&file, reading).unwrap();
    let metadata = metadata.metadata();
    assert_eq!(metadata.num_row_groups(), 2);
    let group = metadata.row_group(0);
    let column = |name: &str| {
        group.columns().iter().find(|column| column.column_path().string() == name).unwrap()
    };
    assert!(column("chunk_id").bloom_filter_offset().is_some());
    assert!(column("host").bloom_filter_offset().is_none());
    assert!(column("host").dictionary_page_offset().is_some());
    assert!(column("text").dictionary_page_offset().is_none());
    assert!(column("text").statistics().is_none());
    let keys = metadata.file_metadata().key_value_metadata().unwrap();
    let value = |key: &str| keys.iter().find(|kv| kv.key == key).unwrap().value.clone().unwrap();
    assert_eq!(value("corpus.schema_version"), "1");
    assert_eq!(value("corpus.part"), "1");
    assert_eq!(value("corpus.config_hash"), ContentHash::of(b"config").to_string());
    assert_eq!(value("corpus.chunker_version"), "c1");
}

#[test]
fn a_column_stands_once() {
    for table in [PAGES, CHUNKS] {
        let mut names: Vec<_> = table.iter().map(|column| column.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), table.len());
    }
}

#[test]
fn the_read_back_script_knows_every_column() {
    let script = include_str!("../../tests/readback.py");
    let names = |table: &str| -> Vec<&str> {
        let (_, body) = script.split_once(&format!("\n{table} = {{\n")).unwrap();
        let (body, _) = body.split_once("\n}").unwrap();
        body.lines().map(|line| line.split('"').nth(1).unwrap()).collect()
    };
    for (table, columns) in [("PAGES", PAGES), ("CHUNKS", CHUNKS)] {
        let want: Vec<_> = columns.iter().map(|column| column.name).collect();
        assert_eq!(names(table), want);
    }
}

#[test]
fn a_changed_length_is_named() {
    let root = tempfile::tempdir().unwrap();
    let files = write(&options(root.path()), &[]);
    let path = root.path().join(&files.pages.path);
    fs::write(&path, "PAR1").unwrap();
    let error = check_file(root.path(), &files.pages).unwrap_err();
    let want = format!("length 4 instead of {} in `{}`", files.pages.bytes, path.display());
    assert_eq!(error.to_string(), want);
}

#[test]
fn an_unknown_option_is_refused() {
    assert!(toml::from_str::<OutputOptions>("part_size = 1").is_err());
    assert_eq!(toml::from_str::<OutputOptions>("").unwrap(), OutputOptions::default());
}
