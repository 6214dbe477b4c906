//! Re-crawls touch what changed and nothing else, and the change feed tells it exactly.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::corpus_files::{content, rows};
use crate::site::{Job, Page, Site, said};

/// Every page is due at once, and a page that is missing twice is gone.
const DUE: &str = "[recrawl]\nstart_hours = 0\nmin_hours = 0\nconfirm_gone_hours = 0\n";

/// A site whose pages a test can change.
#[derive(Clone, Default)]
struct Pages(Arc<Mutex<BTreeMap<String, (u16, String)>>>);

impl Pages {
    /// A start page that links to `paths`, and an article at each.
    fn linked(paths: &[&str]) -> Self {
        let pages = Self::default();
        pages.set("/", &index(paths));
        for path in paths {
            pages.set(path, &article(path, &paragraphs(path, 2), ""));
        }
        pages
    }

    fn set(&self, path: &str, html: &str) {
        self.0.lock().unwrap().insert(path.to_owned(), (200, html.to_owned()));
    }

    fn answer(&self, path: &str, status: u16, location: &str) {
        self.0.lock().unwrap().insert(path.to_owned(), (status, location.to_owned()));
    }

    /// Serves the pages; those whose path begins with `/v` have validators.
    fn serve(&self) -> Site {
        let pages = self.clone();
        Site::start(move |path| {
            let pages = pages.0.lock().unwrap();
            let otherwise = pages.get("*").filter(|_| path != "/robots.txt");
            let Some((status, text)) = pages.get(path).or(otherwise) else {
                return Page::status(404);
            };
            match status {
                200 if path.starts_with("/v") => {
                    let tag = blake3::hash(text.as_bytes()).to_hex();
                    Page::html(text.clone()).with("etag", &format!("\"{tag}\""))
                }
                200 => Page::html(text.clone()),
                301 => Page::status(301).with("location", text),
                other => Page::status(*other),
            }
        })
    }
}

/// An article of `paragraphs` under two headings, in a page with navigation and a footer.
fn article(title: &str, paragraphs: &[String], around: &str) -> String {
    let second = (paragraphs.len() / 2).min(8);
    let (first, second) = paragraphs.split_at(paragraphs.len() - second);
    let html = |all: &[String]| all.iter().fold(String::new(), |html, text| html + "<p>" + text);
    format!(
        "<title>{title}</title><nav><a href=/>Start</a> {around}</nav>\
         <main><h1>{title}</h1>{}<h2>More of {title}</h2>{}</main><footer>{around}</footer>",
        html(first),
        html(second)
    )
}

/// Paragraphs of which each is about half of a chunk, on `topic`.
fn paragraphs(topic: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|n| {
            let sentence = format!("Remark {n} on {topic} goes on for a while and then it ends. ");
            sentence.repeat(8)
        })
        .collect()
}

fn index(paths: &[&str]) -> String {
    let links = paths
        .iter()
        .fold(String::new(), |html, path| html + &format!("<li><a href={path}>about {path}</a>"));
    format!("<main><h1>Start</h1><p>All that this site has.</p><ul>{links}</ul></main>")
}

/// A row of the feed by its columns.
type Told = BTreeMap<String, String>;

const CHUNK: [&str; 10] = [
    "document_id",
    "url",
    "title",
    "chunk_index",
    "total_chunks",
    "text",
    "embed_text",
    "byte_start",
    "changed_at",
    "version",
];

/// What a store holds that has applied the whole feed: each chunk with its columns.
fn applied(job: &Job) -> BTreeMap<String, Told> {
    let columns: Vec<&str> = ["run_id", "seq", "op", "chunk_id"].into_iter().chain(CHUNK).collect();
    let mut held = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (n, row) in rows(&job.corpus(), "changes", &columns).into_iter().enumerate() {
        let [run, seq, op, id] = [&row[0], &row[1], &row[2], &row[3]];
        assert_eq!(*seq, n.to_string(), "the feed has a gap");
        assert!(seen.insert((run.clone(), id.clone())), "chunk {id} is told twice in {run}");
        let chunk: Told =
            CHUNK.iter().map(|name| (*name).to_owned()).zip(row[4..].iter().cloned()).collect();
        match op.as_str() {
            "upsert" => assert!(held.insert(id.clone(), chunk).is_none()),
            "meta" => assert!(held.insert(id.clone(), chunk).is_some()),
            _ => assert!(held.remove(id).is_some()),
        }
    }
    held
}

/// The chunks that the corpus holds, by the manifest.
fn live(job: &Job) -> BTreeMap<String, Told> {
    let ids: BTreeSet<(String, String)> =
        content(&job.corpus()).into_iter().map(|row| (row[3].clone(), row[0].clone())).collect();
    let columns: Vec<&str> = ["chunk_id"].into_iter().chain(CHUNK).collect();
    let mut newest: BTreeMap<String, Told> = BTreeMap::new();
    for row in rows(&job.corpus(), "chunks", &columns) {
        if !ids.contains(&(row[0].clone(), row[2].clone())) {
            continue;
        }
        let chunk: Told =
            CHUNK.iter().map(|name| (*name).to_owned()).zip(row[1..].iter().cloned()).collect();
        let version = |chunk: &Told| chunk["version"].parse::<u32>().unwrap();
        if newest.get(&row[0]).is_none_or(|old| version(old) < version(&chunk)) {
            newest.insert(row[0].clone(), chunk);
        }
    }
    newest
}

/// What the last run told, as counts of `op reason`.
fn told(job: &Job) -> BTreeMap<String, usize> {
    let all = rows(&job.corpus(), "changes", &["run_id", "op", "reason"]);
    let runs = std::fs::read_dir(job.corpus().join("runs")).unwrap().count();
    let last = format!("run-{runs:06}");
    let mut counts = BTreeMap::new();
    for row in all.iter().filter(|row| row[0] == last) {
        *counts.entry(format!("{} {}", row[1], row[2])).or_insert(0) += 1;
    }
    counts
}

fn counts<const N: usize>(pairs: [(&str, usize); N]) -> BTreeMap<String, usize> {
    pairs.into_iter().map(|(what, n)| (what.to_owned(), n)).collect()
}

/// Crawls, and holds feed, corpus and state against each other.
fn crawl(job: &Job) -> String {
    let said = job.crawl();
    job.verify();
    assert_eq!(applied(job), live(job));
    said
}

/// The outcome of a page in the last run.
fn outcome(job: &Job, path: &str) -> String {
    let rows = rows(&job.corpus(), "pages", &["url", "outcome", "reason", "flags"]);
    let row = rows.iter().rev().find(|row| row[0].ends_with(path)).unwrap();
    row[1..].join(" ").trim().to_owned()
}

#[test]
fn an_unchanged_site_is_asked_conditionally_and_writes_nothing() {
    let pages = Pages::default();
    pages.set("/", &index(&["/va", "/vb", "/plain"]));
    for (path, topic) in [("/va", "apples"), ("/vb", "birches"), ("/plain", "clouds")] {
        pages.set(path, &article(topic, &paragraphs(topic, 4), "1"));
    }
    let site = pages.serve();
    let job = Job::new(&site.url("/"), DUE);
    crawl(&job);
    let chunks = rows(&job.corpus(), "chunks", &["chunk_id"]).len();
    site.take_logs();
    // What stands around the main content is not content.
    pages.set("/plain", &article("clouds", &paragraphs("clouds", 4), "2 of today"));
    crawl(&job);
    let (asked, unmodified) = site.take_logs();
    // The fifth is for what the site answers for a page that does not exist.
    assert_eq!(asked.iter().filter(|path| *path != "/robots.txt").count(), 5);
    assert_eq!(unmodified.len(), 2);
    assert_eq!(rows(&job.corpus(), "chunks", &["chunk_id"]).len(), chunks);
    assert_eq!(told(&job), counts([]));
    assert_eq!(outcome(&job, "/va"), "unchanged");
    assert_eq!(outcome(&job, "/plain"), "unchanged");
}

#[test]
fn a_page_that_becomes_the_answer_for_missing_pages_is_missing() {
    let pages = Pages::linked(&["/here", "/lost"]);
    let site = pages.serve();
    let job = Job::new(&site.url("/"), &format!("{DUE}max_delete_ratio = 1.0\n"));
    crawl(&job);
    let before = live(&job);
    let missing = article("nothing", &["There is no such page.".to_owned()], "");
    pages.set("*", &missing);
    pages.set("/lost", &missing);
    crawl(&job);
    assert_eq!(outcome(&job, "/lost"), "excluded content.soft_404 stale");
    assert_eq!(live(&job), before);
    // What it was counts as ever: once it is back, nothing has changed.
    pages.set("/lost", &article("/lost", &paragraphs("/lost", 2), ""));
    crawl(&job);
    assert_eq!(outcome(&job, "/lost"), "unchanged");
    pages.set("/lost", &missing);
    crawl(&job);
    crawl(&job);
    assert_eq!(told(&job), counts([("delete filtered", 2)]));
    // A page that was that answer from the beginning is a page.
    let pages = Pages::linked(&["/page"]);
    pages.set("*", &article("/page", &paragraphs("/page", 2), ""));
    let site = pages.serve();
    let job = Job::new(&site.url("/"), DUE);
    crawl(&job);
    crawl(&job);
    assert_eq!(outcome(&job, "/page"), "unchanged");
}

#[test]
fn an_edit_tells_the_chunks_that_it_touched() {
    let pages = Pages::default();
    pages.set("/", &index(&["/page"]));
    let mut text = paragraphs("dunes", 16);
    pages.set("/page", &article("dunes", &text, ""));
    let site = pages.serve();
    let job = Job::new(&site.url("/"), DUE);
    crawl(&job);
    let before = live(&job).len();
    text[5] = text[5].replacen("goes on", "went on", 1);
    pages.set("/page", &article("dunes", &text, ""));
    crawl(&job);
    assert_eq!(live(&job).len(), before);
    // The page's other chunks are told as moved: they stand in a new version of it.
    let told = told(&job);
    assert_eq!(told["upsert edited"], 1);
    assert_eq!(told["delete edited"], 1);
    assert_eq!(told.len(), 3);

    // A paragraph on top moves what follows.
    text.insert(0, "A word before all others, which is new. ".repeat(20));
    pages.set("/page", &article("dunes", &text, ""));
    crawl(&job);
    let told = self::told(&job);
    assert!(told["meta moved"] >= before / 2, "{told:?}");
}

#[test]
fn only_what_is_known_to_be_gone_is_deleted() {
    let paths =
        ["/gone", "/missing", "/hushed", "/moved", "/broken", "/refused", "/stays", "/later"];
    let pages = Pages::linked(&paths);
    let site = pages.serve();
    let job = Job::new(
        &site.url("/"),
        &format!("{DUE}max_delete_ratio = 1.0\n[run]\nmax_failure_ratio = 1.0\n"),
    );
    crawl(&job);
    pages.answer("/gone", 410, "");
    pages.answer("/missing", 404, "");
    pages.answer("/moved", 301, "/stays");
    pages.answer("/broken", 503, "");
    pages.answer("/refused", 403, "");
    let hushed = article("/hushed", &paragraphs("/hushed", 2), "");
    pages.set("/hushed", &format!("<meta name=robots content=noindex>{hushed}"));
    crawl(&job);
    let is_live = |path: &str| live(&job).values().any(|chunk| chunk["url"].ends_with(path));
    for path in ["/gone", "/hushed", "/moved"] {
        assert!(!is_live(path), "{path}");
    }
    for path in ["/missing", "/broken", "/refused", "/stays", "/later"] {
        assert!(is_live(path), "{path}");
    }
    assert_eq!(outcome(&job, "/missing"), "gone gone.404 stale");
    assert_eq!(outcome(&job, "/broken"), "failed fetch.server_error stale");
    assert_eq!(outcome(&job, "/gone"), "gone gone.410");
    let told = told(&job);
    assert!(told.contains_key("delete page_gone") && told.contains_key("delete filtered"));
    assert!(told.contains_key("delete duplicate"));
    let manifest = std::fs::read_to_string(job.corpus().join("_manifest.json")).unwrap();
    assert!(manifest.contains("\"reason\": \"robots.noindex\""), "{manifest}");

    crawl(&job);
    assert!(!is_live("/missing"));
    assert!(is_live("/broken") && is_live("/refused"));

    // A page that comes back is new again.
    pages.set("/gone", &article("/gone", &paragraphs("/gone", 2), ""));
    crawl(&job);
    assert!(is_live("/gone"));
}

#[test]
fn a_site_that_vanishes_is_not_deleted_without_a_word() {
    let paths = ["/a", "/b", "/c", "/d"];
    let pages = Pages::linked(&paths);
    let site = pages.serve();
    let job = Job::new(&site.url("/"), DUE);
    crawl(&job);
    let before = live(&job);
    for path in paths {
        pages.answer(path, 410, "");
    }
    let output = job.run("crawl");
    assert_eq!(output.status.code(), Some(1));
    let said = said(&output, job.folder.path());
    assert!(
        said.contains("error: 4 pages are gone of 5, more than `recrawl.max_delete_ratio`; nothing was deleted\n"),
        "{said}"
    );
    assert!(said.contains("`--allow-deletes`"), "{said}");
    job.verify();
    assert_eq!(live(&job), before);
    assert!(job.crawl_with(&["--allow-deletes"]).status.success());
    job.verify();
    assert_eq!(applied(&job), live(&job));
    assert_eq!(live(&job).values().filter(|chunk| !chunk["url"].ends_with('/')).count(), 0);
}

#[test]
fn a_duplicate_takes_the_place_of_an_original_that_goes() {
    let pages = Pages::default();
    pages.set("/", &index(&["/a", "/longer"]));
    for path in ["/a", "/longer"] {
        pages.set(path, &article("twins", &paragraphs("twins", 2), ""));
    }
    let site = pages.serve();
    let job = Job::new(&site.url("/"), &format!("{DUE}max_delete_ratio = 1.0\n"));
    crawl(&job);
    assert_eq!(outcome(&job, "/longer"), "duplicate duplicate.body");
    pages.answer("/a", 410, "");
    crawl(&job);
    let urls: BTreeSet<String> = live(&job).values().map(|chunk| chunk["url"].clone()).collect();
    assert!(urls.contains(&site.url("/longer")) && !urls.contains(&site.url("/a")), "{urls:?}");
}

#[test]
fn a_changed_rule_deletes_and_changed_options_cut_anew() {
    let pages = Pages::default();
    pages.set("/", &index(&["/va", "/vb", "/vc", "/vd", "/ve"]));
    for path in ["/va", "/vb", "/vc", "/vd", "/ve"] {
        pages.set(path, &article(path, &paragraphs(path, 6), ""));
    }
    let site = pages.serve();
    let job = Job::new(&site.url("/"), "");
    crawl(&job);
    site.take_logs();
    // Nothing is due, and no page is asked for.
    let said = crawl(&job);
    assert!(said.contains("nothing to do: no known page is due"), "{said}");
    assert_eq!(site.take_logs().0, ["/robots.txt"]);

    let config = std::fs::read_to_string(job.config()).unwrap();
    let exclude = config.replace("[crawl]\n", "[crawl]\nexclude = [\"*/vb\"]\n");
    std::fs::write(job.config(), &exclude).unwrap();
    crawl(&job);
    assert_eq!(told(&job).keys().collect::<Vec<_>>(), ["delete filtered"]);
    assert!(live(&job).values().all(|chunk| !chunk["url"].ends_with("/vb")));

    site.take_logs();
    std::fs::write(job.config(), exclude + "\n[chunk]\nmax_tokens = 100\n").unwrap();
    crawl(&job);
    let (asked, unmodified) = site.take_logs();
    assert!(asked.len() >= 5 && unmodified.is_empty(), "{asked:?} {unmodified:?}");
    assert!(told(&job).keys().all(|what| what.ends_with("rechunked") || what == "meta moved"));
}

#[test]
fn a_sitemap_says_what_changed_before_it_is_due() {
    let pages = Pages::linked(&["/a", "/b"]);
    let sitemap = |modified: &str| {
        format!(
            "<urlset><url><loc>/a</loc><lastmod>{modified}</lastmod></url>\
             <url><loc>/b</loc><lastmod>2020-01-01</lastmod></url></urlset>"
        )
    };
    pages.set("/robots.txt", "Sitemap: /sitemap.xml");
    pages.set("/sitemap.xml", &sitemap("2020-01-01"));
    let site = pages.serve();
    let job = Job::new(&site.url("/"), "[recrawl]\nprobe_missing = false\n");
    crawl(&job);
    site.take_logs();
    crawl(&job);
    assert_eq!(site.take_logs().0, ["/robots.txt", "/sitemap.xml"]);
    // A time after the visit, and before now; one that lies ahead is no news.
    let now = std::fs::metadata(job.corpus().join("_manifest.json")).unwrap().modified().unwrap();
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_micros();
    let moment = |micros: u128| {
        chrono::DateTime::from_timestamp_micros(i64::try_from(micros).unwrap())
            .unwrap()
            .to_rfc3339()
    };
    pages.set("/sitemap.xml", &sitemap(&moment(since + 3_600_000_000)));
    crawl(&job);
    assert_eq!(site.take_logs().0, ["/robots.txt", "/sitemap.xml"]);
    pages.set("/sitemap.xml", &sitemap(&moment(since)));
    crawl(&job);
    assert_eq!(site.take_logs().0, ["/robots.txt", "/sitemap.xml", "/a"]);
}

#[test]
fn a_compacted_corpus_is_the_same_corpus() {
    let pages = Pages::default();
    pages.set("/", &index(&["/a", "/b", "/c"]));
    let site = pages.serve();
    let job = Job::new(&site.url("/"), &format!("{DUE}max_delete_ratio = 1.0\n"));
    for round in ["one", "two", "three"] {
        for path in ["/a", "/b", "/c"] {
            let topic = format!("{path} in round {round}");
            pages.set(path, &article(&topic, &paragraphs(&topic, 3), ""));
        }
        crawl(&job);
    }
    pages.answer("/c", 410, "");
    crawl(&job);
    let before = live(&job);
    let output = job.run("compact");
    assert!(output.status.success(), "{}", said(&output, job.folder.path()));
    job.verify();
    assert_eq!(live(&job), before);
    assert_eq!(applied(&job), before);
    // Every row counts: readers need no manifest.
    assert_eq!(rows(&job.corpus(), "chunks", &["chunk_id"]).len(), before.len());
    assert_eq!(std::fs::read_dir(job.corpus().join("chunks")).unwrap().count(), 1);
    let markdown = rows(&job.corpus(), "pages", &["url", "markdown"]);
    assert_eq!(markdown.iter().filter(|row| !row[1].is_empty()).count(), 3);
    pages.set("/c", &article("c again", &paragraphs("c again", 3), ""));
    crawl(&job);
}

#[test]
fn changes_since_a_run_are_json_lines() {
    let pages = Pages::default();
    pages.set("/", &index(&["/a"]));
    pages.set("/a", &article("apples", &paragraphs("apples", 1), ""));
    let site = pages.serve();
    let job = Job::new(&site.url("/"), DUE);
    crawl(&job);
    pages.set("/a", &article("pears", &paragraphs("pears", 1), ""));
    crawl(&job);
    let lines = |more: &[&str]| -> Vec<serde_json::Value> {
        let output =
            crate::site::program().arg("changes").arg(job.config()).args(more).output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    assert_eq!(lines(&[]).len(), rows(&job.corpus(), "changes", &["seq"]).len());
    let since = lines(&["--since", "run-000001"]);
    assert!(since.iter().all(|change| change["run_id"] == "run-000002"));
    let upserts: Vec<_> = since.iter().filter(|change| change["op"] == "upsert").collect();
    assert!(!upserts.is_empty());
    assert!(upserts.iter().all(|change| change["text"].as_str().unwrap().contains("pears")));
    assert_eq!(lines(&["--since", "run-000002"]).len(), 0);
}

#[test]
fn a_fresh_corpus_leaves_the_old_one_aside() {
    let pages = Pages::default();
    pages.set("/", &index(&[]));
    let site = pages.serve();
    let job = Job::new(&site.url("/"), "");
    crawl(&job);
    let refused = job.crawl_with(&["--fresh"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused, job.folder.path()).contains("add `--yes`"));
    let output = job.crawl_with(&["--fresh", "--yes"]);
    assert!(output.status.success(), "{}", said(&output, job.folder.path()));
    job.verify();
    assert_eq!(live(&job).len(), 1);
    assert!(job.folder.path().join("corpus.old-1/_manifest.json").exists());
    assert_eq!(rows(&job.corpus(), "pages", &["run_id"]), [["run-000001"]]);
}

#[test]
fn validators_are_sent_as_they_came() {
    let answer = |path: &str| match path {
        "/" => Page::html(index(&["/tag", "/weak", "/date", "/both", "/none"])),
        "/tag" => Page::html(article("tag", &paragraphs("tag", 1), "")).with("etag", "\"a b\""),
        "/weak" => Page::html(article("weak", &paragraphs("weak", 1), "")).with("etag", "W/\"1\""),
        // A date that no reformatting would give back.
        "/date" => Page::html(article("date", &paragraphs("date", 1), ""))
            .with("last-modified", "Thursday, 01-Jan-26 00:00:00 GMT"),
        "/both" => Page::html(article("both", &paragraphs("both", 1), ""))
            .with("etag", "\"b\"")
            .with("last-modified", "Thu, 01 Jan 2026 00:00:00 GMT"),
        "/none" => Page::html(article("none", &paragraphs("none", 1), "")),
        _ => Page::status(404),
    };
    let site = Site::start(answer);
    let job = Job::new(&site.url("/"), DUE);
    crawl(&job);
    for _ in 0..2 {
        site.take_logs();
        crawl(&job);
        let (_, mut unmodified) = site.take_logs();
        unmodified.sort();
        assert_eq!(unmodified, ["/both", "/date", "/tag", "/weak"]);
    }
}

#[test]
fn pages_that_nothing_links_to_are_still_visited() {
    let pages = Pages::linked(&["/a", "/b", "/c", "/d", "/e", "/f"]);
    let site = pages.serve();
    let job = Job::new(&site.url("/"), DUE);
    crawl(&job);
    pages.set("/", &index(&["/b"]));
    crawl(&job);
    assert_eq!(outcome(&job, "/a"), "unchanged");
    pages.answer("/a", 410, "");
    crawl(&job);
    assert_eq!(outcome(&job, "/a"), "gone gone.410");
}

#[test]
fn a_robots_file_that_forbids_a_page_takes_it_out_and_one_that_fails_does_not() {
    let paths = ["/a", "/b", "/c", "/d", "/e", "/f"];
    let pages = Pages::linked(&paths);
    let site = pages.serve();
    let job = Job::new(&site.url("/"), DUE);
    crawl(&job);
    let before = live(&job);
    pages.answer("/robots.txt", 503, "");
    let output = job.run("crawl");
    assert_eq!(output.status.code(), Some(3), "{}", said(&output, job.folder.path()));
    job.verify();
    assert_eq!(live(&job), before);
    pages.set("/robots.txt", "User-agent: *\nDisallow: /a\n");
    site.take_logs();
    crawl(&job);
    assert!(!site.take_logs().0.contains(&"/a".to_owned()));
    assert_eq!(told(&job).keys().collect::<Vec<_>>(), ["delete filtered"]);
}

#[test]
fn pages_that_all_lead_to_the_start_are_gone() {
    let paths = ["/a", "/b", "/c"];
    let pages = Pages::linked(&paths);
    let site = pages.serve();
    let job = Job::new(&site.url("/"), &format!("{DUE}max_delete_ratio = 1.0\n"));
    crawl(&job);
    for path in paths {
        pages.answer(path, 301, "/");
    }
    crawl(&job);
    assert!(live(&job).values().all(|chunk| chunk["url"] == site.url("/")));
}
