//! What the store promises.

use super::*;
use crate::model::{
    ContentHash, DuplicateBy, Markdown, PageOutcome, PageRecord, Ratio, Timestamp, WebUrl,
    document_id,
};

const MAX_DEPTH: u32 = 3;

async fn open(folder: &tempfile::TempDir) -> Store {
    Store::open(&folder.path().join("state.db")).await.unwrap()
}

fn found(paths: &[&str]) -> Vec<FoundUrl> {
    paths.iter().map(|path| FoundUrl::from(&WebUrl::parse(&url(path)).unwrap())).collect()
}

fn url(path: &str) -> String {
    format!("http://h{path}")
}

fn rules(run: i64) -> CommitRules {
    CommitRules {
        run,
        max_depth: MAX_DEPTH,
        dedup: DedupOptions::default(),
        recrawl: RecrawlOptions::default(),
        converter: converter(),
    }
}

fn converter() -> ContentHash {
    ContentHash::of(b"converter")
}

/// A collected page with the text `text`.
fn record(path: &str, text: &str) -> PageRecord {
    PageRecord {
        url: url(path),
        host: "h".to_owned(),
        final_url: url(path),
        document_id: document_id(&url(path)),
        outcome: PageOutcome::Collected,
        status: Some(200),
        content_type: None,
        charset: None,
        depth: 0,
        referrer: None,
        fetched_at: Timestamp(1),
        first_seen_at: Timestamp(1),
        changed_at: Timestamp(1),
        elapsed_ms: 0,
        body_bytes: 0,
        metadata: crate::model::Metadata::default(),
        quality: None,
        sketch: None,
        near_duplicate_of: None,
        markdown: Markdown::new(text),
        counts: crate::model::ContentCounts::default(),
        removed: Vec::new(),
        flags: Vec::new(),
        chunks: Vec::new(),
        content_hash: Some(ContentHash::of(text.as_bytes())),
        body_hash: None,
        validators: crate::model::Validators::default(),
        version: 0,
        run_id: String::new(),
        outlinks: Vec::new(),
    }
}

fn page(id: Option<i64>, record: PageRecord, links: &[&str]) -> Committed {
    Committed::new(id, record, Found { urls: found(links), redirects: 0 })
}

async fn outcome(store: &Store, path: &str) -> String {
    let fact = store.fact(&url(path)).await.unwrap().unwrap();
    format!("{} {}", fact.state, fact.outcome.unwrap_or_default())
}

#[tokio::test]
async fn an_address_is_leased_once_and_comes_back_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    store.enqueue(&found(&["/a", "/b", "/a?"]), 0, MAX_DEPTH, None).await.unwrap();
    let leased = store.lease("http://h", 10, converter()).await.unwrap();
    assert_eq!(leased.len(), 2);
    assert!(store.lease("http://h", 10, converter()).await.unwrap().is_empty());
    store.close().await;

    let store = open(&folder).await;
    assert_eq!(store.recover_leases().await.unwrap(), 2);
    let again = store.lease("http://h", 10, converter()).await.unwrap();
    assert_eq!(again.iter().map(|request| request.crashes).collect::<Vec<_>>(), [0, 0]);
    store.recover_leases().await.unwrap();
    store.count_crashes(&[url("/b")]).await.unwrap();
    let again = store.lease("http://h", 10, converter()).await.unwrap();
    assert_eq!(again.iter().map(|request| request.crashes).collect::<Vec<_>>(), [0, 1]);
}

#[tokio::test]
async fn a_run_that_was_killed_was_active_until_now() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    let (began, ended, now) = (Timestamp(1), Timestamp(2), Timestamp(3));
    assert_eq!(store.last_active(now).await.unwrap(), None);
    let run = store.begin_run("hash", began).await.unwrap();
    assert_eq!(store.last_active(now).await.unwrap(), Some(now));
    store.end_run(run, "finished", ended).await.unwrap();
    assert_eq!(store.last_active(now).await.unwrap(), Some(ended));
}

#[tokio::test]
async fn a_database_that_changed_while_it_was_closed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    open(&folder).await.close().await;
    let whole = std::fs::read(&path).unwrap();
    let mut rotten = whole.clone();
    let last = rotten.len() - 1;
    rotten[last] ^= 1;
    std::fs::write(&path, rotten).unwrap();
    assert!(matches!(Store::open(&path).await, Err(StoreError::Damaged { .. })));
    std::fs::write(&path, whole).unwrap();
    // While it is open, and where it was not closed, there is no digest.
    drop(open(&folder).await);
    assert!(!folder.path().join("state.db.digest").exists());
    open(&folder).await.close().await;
    assert!(folder.path().join("state.db.digest").exists());
}

#[tokio::test]
async fn one_process_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let _first = open(&folder).await;
    let second = Store::open(&folder.path().join("state.db")).await;
    assert!(matches!(second, Err(StoreError::Locked { .. })));
}

#[tokio::test]
async fn a_shorter_way_lowers_the_depths_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    let run = store.begin_run("", Timestamp(0)).await.unwrap();
    // A chain of which the last page lies beyond the limit.
    for (depth, (from, to)) in
        [("/a", "/b"), ("/b", "/c"), ("/c", "/d"), ("/d", "/e")].into_iter().enumerate()
    {
        let mut record = record(from, from);
        record.depth = u32::try_from(depth).unwrap();
        store.commit(vec![page(None, record, &[to])], rules(run)).await.unwrap();
    }
    assert_eq!(outcome(&store, "/e").await, "deep ");
    // A page that leads to the middle of the chain.
    let settled =
        store.commit(vec![page(None, record("/x", "x"), &["/d"])], rules(run)).await.unwrap();
    assert_eq!(outcome(&store, "/e").await, "queued ");
    assert_eq!(settled.authorities, ["http://h"]);
}

#[tokio::test]
async fn of_equal_pages_the_shorter_address_is_the_original_whatever_comes_first() {
    for order in [["/x", "/longer"], ["/longer", "/x"]] {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder).await;
        let run = store.begin_run("", Timestamp(0)).await.unwrap();
        for path in order {
            store.commit(vec![page(None, record(path, "same"), &[])], rules(run)).await.unwrap();
        }
        assert_eq!(outcome(&store, "/x").await, "done collected");
        assert_eq!(outcome(&store, "/longer").await, "done duplicate");
        let live = store.live_documents().await.unwrap();
        assert_eq!(live.iter().map(|live| live.url.clone()).collect::<Vec<_>>(), [url("/x")]);
    }
}

#[tokio::test]
async fn an_alias_loses_against_its_canonical_page() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    let run = store.begin_run("", Timestamp(0)).await.unwrap();
    let mut alias = record("/x", "same");
    alias.metadata.canonical_url = Some(url("/canonical"));
    let pages = vec![page(None, alias, &[]), page(None, record("/canonical", "same"), &[])];
    store.commit(pages, rules(run)).await.unwrap();
    assert_eq!(outcome(&store, "/canonical").await, "done collected");
}

#[tokio::test]
async fn a_loser_that_a_part_holds_is_superseded() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    let run = store.begin_run("", Timestamp(0)).await.unwrap();
    store.commit(vec![page(None, record("/longer", "same"), &[])], rules(run)).await.unwrap();
    let part = store.seal(run, "").await.unwrap().unwrap();
    store.publish(&part, &[]).await.unwrap();
    store.commit(vec![page(None, record("/x", "same"), &[])], rules(run)).await.unwrap();
    let superseded = store.superseded(SupersededBy::Committed).await.unwrap();
    assert_eq!(superseded.len(), 1);
    assert_eq!((superseded[0].url.as_str(), superseded[0].version), (url("/longer").as_str(), 1));
    assert_eq!(outcome(&store, "/longer").await, "done duplicate");
    // A content of its own, later, is not taken for the superseded one.
    store.commit(vec![page(None, record("/longer", "other"), &[])], rules(run)).await.unwrap();
    let live = store.live_documents().await.unwrap();
    assert_eq!(live.iter().find(|live| live.url == url("/longer")).unwrap().version, 2);
}

#[tokio::test]
async fn a_page_as_before_is_unchanged_and_a_changed_one_gets_a_version() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    let run = store.begin_run("", Timestamp(0)).await.unwrap();
    for (text, want, version) in
        [("one", "collected", 1), ("one", "unchanged", 1), ("two", "collected", 2)]
    {
        store.commit(vec![page(None, record("/x", text), &[])], rules(run)).await.unwrap();
        assert_eq!(outcome(&store, "/x").await, format!("done {want}"));
        assert_eq!(store.live_documents().await.unwrap()[0].version, version);
    }
}

#[tokio::test]
async fn a_page_that_is_gone_takes_its_chunks_along_and_one_that_fails_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    let run = store.begin_run("", Timestamp(0)).await.unwrap();
    store.commit(vec![page(None, record("/x", "x"), &[])], rules(run)).await.unwrap();
    let part = store.seal(run, "").await.unwrap().unwrap();
    store.publish(&part, &[]).await.unwrap();
    let with = |outcome| {
        let mut record = record("/x", "");
        record.outcome = outcome;
        record.content_hash = None;
        record
    };
    let error = crate::model::PageError::new(crate::model::ErrorCode::FetchTimeout, "late");
    let failed = page(None, with(PageOutcome::Failed(error)), &[]);
    store.commit(vec![failed], rules(run)).await.unwrap();
    assert_eq!(store.live_documents().await.unwrap().len(), 1);
    let gone = page(None, with(PageOutcome::Gone { status: 410 }), &[]);
    store.commit(vec![gone], rules(run)).await.unwrap();
    // Nothing is deleted before the end of the run, and not more than is allowed.
    assert_eq!(store.live_documents().await.unwrap().len(), 1);
    let none = Ratio::from_thousandths(0);
    assert!(!store.delete_condemned(run, none).await.unwrap().are_applied);
    assert_eq!(store.live_documents().await.unwrap().len(), 1);
    let deletions = store.delete_condemned(run, Ratio::ALL).await.unwrap();
    assert_eq!(deletions, Deletions { condemned: 1, live: 1, are_applied: true });
    assert!(store.live_documents().await.unwrap().is_empty());
    assert_eq!(store.superseded(SupersededBy::Committed).await.unwrap().len(), 1);
    assert_eq!(store.tombstones().await.unwrap()[0].reason, "gone.410");
}

#[tokio::test]
async fn a_missing_page_is_condemned_when_it_is_missing_for_long_enough() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    let run = store.begin_run("", Timestamp(0)).await.unwrap();
    let hour = 3_600_000_000;
    let visit = async |outcome: Option<PageOutcome>, hours: i64| {
        let mut record = record("/x", "x");
        record.fetched_at = Timestamp(hours * hour + 1);
        if let Some(outcome) = outcome {
            record.outcome = outcome;
            record.content_hash = None;
            record.body_hash = None;
        }
        store.commit(vec![page(None, record, &[])], rules(run)).await.unwrap();
        store.delete_condemned(run, Ratio::ALL).await.unwrap().condemned
    };
    let missing = || Some(PageOutcome::Gone { status: 404 });
    let error = crate::model::PageError::new(crate::model::ErrorCode::FetchServer, "503");
    assert_eq!(visit(None, 0).await, 0);
    assert_eq!(visit(missing(), 1).await, 0);
    assert_eq!(visit(missing(), 2).await, 0);
    assert_eq!(visit(Some(PageOutcome::Failed(error)), 30).await, 0);
    assert_eq!(visit(missing(), 31).await, 1);
    // A page that came back begins anew.
    assert_eq!(visit(None, 32).await, 0);
    assert_eq!(visit(missing(), 100).await, 0);
    assert_eq!(visit(None, 101).await, 0);
    assert_eq!(visit(missing(), 200).await, 0);
}

/// A state in which `/longer`, which is a page of the frontier, is the duplicate of `/x`; with the
/// run, and the number of the duplicate.
async fn twins(folder: &tempfile::TempDir) -> (Store, i64, i64) {
    let store = open(folder).await;
    let run = store.begin_run("", Timestamp(0)).await.unwrap();
    store.enqueue(&found(&["/longer"]), 0, MAX_DEPTH, None).await.unwrap();
    let id = store.lease("http://h", 1, converter()).await.unwrap()[0].id;
    store.commit(vec![page(None, record("/x", "same"), &[])], rules(run)).await.unwrap();
    store.commit(vec![page(Some(id), record("/longer", "same"), &[])], rules(run)).await.unwrap();
    (store, run, id)
}

#[tokio::test]
async fn the_duplicates_of_a_page_that_changes_are_visited_again() {
    let folder = tempfile::tempdir().unwrap();
    let (store, run, _) = twins(&folder).await;
    assert_eq!(outcome(&store, "/longer").await, "done duplicate");
    let edited = vec![page(None, record("/x", "other"), &[])];
    let settled = store.commit(edited, rules(run)).await.unwrap();
    assert_eq!(settled.authorities, ["http://h"]);
    assert_eq!(outcome(&store, "/longer").await, "queued duplicate");
}

#[tokio::test]
async fn an_unchanged_duplicate_is_not_enough_when_its_original_changed_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let (store, run, id) = twins(&folder).await;
    store.requeue(&[id]).await.unwrap();
    store.lease("http://h", 1, converter()).await.unwrap();
    store.commit(vec![page(None, record("/x", "other"), &[])], rules(run)).await.unwrap();
    let mut unmodified = record("/longer", "");
    unmodified.outcome = PageOutcome::Unchanged;
    unmodified.content_hash = None;
    store.commit(vec![page(Some(id), unmodified, &[])], rules(run)).await.unwrap();
    assert_eq!(outcome(&store, "/longer").await, "queued duplicate");
    let again = store.lease("http://h", 1, converter()).await.unwrap();
    assert_eq!(again[0].validators, crate::model::Validators::default());
}

#[tokio::test]
async fn validators_go_out_only_with_the_same_converter() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    let run = store.begin_run("", Timestamp(0)).await.unwrap();
    store.enqueue(&found(&["/x"]), 0, MAX_DEPTH, None).await.unwrap();
    let id = store.lease("http://h", 1, converter()).await.unwrap()[0].id;
    let mut fetched = record("/x", "x");
    fetched.validators.etag = Some("\"a\"".to_owned());
    fetched.body_hash = Some(ContentHash::of(b"x"));
    store.commit(vec![page(Some(id), fetched, &[])], rules(run)).await.unwrap();
    for (converter, want) in [(converter(), Some("\"a\"")), (ContentHash::of(b"newer"), None)] {
        store.requeue(&[id]).await.unwrap();
        let leased = store.lease("http://h", 1, converter).await.unwrap();
        assert_eq!(leased[0].validators.etag.as_deref(), want);
        store.release(&[id]).await.unwrap();
    }
}

#[tokio::test]
async fn a_circle_of_redirects_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    let run = store.begin_run("", Timestamp(0)).await.unwrap();
    for (from, to) in [("/a", "/b"), ("/b", "/c"), ("/c", "/a")] {
        let mut record = record(from, "");
        record.outcome = PageOutcome::Duplicate { of: url(to), by: DuplicateBy::Redirect };
        store.commit(vec![page(None, record, &[to])], rules(run)).await.unwrap();
    }
    assert_eq!(outcome(&store, "/b").await, "done duplicate");
    assert_eq!(outcome(&store, "/c").await, "failed failed");
}

#[tokio::test]
async fn a_sealed_part_is_the_same_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    let run = store.begin_run("", Timestamp(0)).await.unwrap();
    store.commit(vec![page(None, record("/a", "a"), &[])], rules(run)).await.unwrap();
    let part = store.seal(run, "hash").await.unwrap().unwrap();
    // What comes after the seal belongs to the next part.
    store.commit(vec![page(None, record("/b", "b"), &[])], rules(run)).await.unwrap();
    store.close().await;
    let store = open(&folder).await;
    assert_eq!(store.sealed_parts().await.unwrap(), std::slice::from_ref(&part));
    let records = store.spooled(&part, part.lo - 1, 64).await.unwrap();
    assert_eq!(
        records.iter().map(|(_, record)| record.url.clone()).collect::<Vec<_>>(),
        [url("/a")]
    );
    store.publish(&part, &[]).await.unwrap();
    assert_eq!(store.seal(run, "hash").await.unwrap().unwrap().lo, part.hi + 1);
}
