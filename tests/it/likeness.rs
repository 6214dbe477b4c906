//! Pages and chunks that others resemble are marked with their original, or dropped, whatever the
//! order in which they arrive.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::corpus_files::rows;
use crate::site::{Job, Page, Site};

/// Every page is due at once, and a page that is missing twice is gone.
const DUE: &str = "[recrawl]\nstart_hours = 0\nmin_hours = 0\nconfirm_gone_hours = 0\n";

/// Some 150 words that no other `topic` has.
fn text(topic: &str) -> String {
    let sentence = |n| format!("The {topic}{n} is told of in {topic} number {n}. ");
    (0..30).map(sentence).collect::<Vec<_>>().concat()
}

const LICENCE: &str = "This text may be used under the terms of a licence that is the same on \
    every page of this site, and that nobody needs to find more than once among the answers. ";

/// `text` in an article, with a section on the licence.
fn page(text: &str) -> String {
    format!("<main><h1>A page</h1><p>{text}<h2>Licence</h2><p>{}</main>", LICENCE.repeat(6))
}

/// A site whose pages a test can change; the start page links to all.
#[derive(Clone, Default)]
struct Pages(Arc<Mutex<BTreeMap<String, String>>>);

impl Pages {
    fn of(pages: &[(&str, String)]) -> Self {
        let all = Self::default();
        for (path, html) in pages {
            all.set(path, html);
        }
        all
    }

    fn set(&self, path: &str, html: &str) {
        self.0.lock().unwrap().insert(path.to_owned(), html.to_owned());
    }

    fn remove(&self, path: &str) {
        self.0.lock().unwrap().remove(path);
    }

    /// Serves the pages, the links to them in order or the other way round.
    fn serve(&self, order: Order) -> Site {
        let pages = self.clone();
        Site::start(move |path| {
            let pages = pages.0.lock().unwrap();
            if path != "/" {
                return pages
                    .get(path)
                    .map_or_else(|| Page::status(404), |p| Page::html(p.clone()));
            }
            let mut paths: Vec<&String> = pages.keys().collect();
            if order == Order::Reversed {
                paths.reverse();
            }
            let links =
                paths.iter().fold(String::new(), |html, p| html + &format!("<a href={p}>{p}</a> "));
            Page::html(format!("<main><p>Start here: {links}</main>"))
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Listed,
    Reversed,
}

/// Of each page with an outcome, by path, the outcome and the path that it is nearly equal to.
fn originals(job: &Job) -> BTreeMap<String, (String, String)> {
    let path = |url: &String| url.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
    let columns = ["url", "outcome", "duplicate_of", "near_duplicate_of"];
    let pages = rows(&job.corpus(), "pages", &columns).into_iter();
    pages.map(|row| (path(&row[0]), (row[1].clone(), path(&row[2]) + &path(&row[3])))).collect()
}

/// The pages of chunks with `flag`, by path.
fn flagged(job: &Job, flag: &str) -> Vec<String> {
    let rows = rows(&job.corpus(), "chunks", &["url", "flags"]).into_iter();
    let rows = rows.filter(|row| row[1].split(' ').any(|own| own == flag));
    rows.map(|row| row[0].rsplit('/').next().unwrap().to_owned()).collect()
}

/// Two versions of a text that differ in a few words, and one of another.
fn site() -> Pages {
    let bee = text("bee");
    Pages::of(&[
        ("/bee", page(&bee)),
        ("/bee-print", page(&bee.replace("bee7 ", "wasp7 "))),
        ("/oak", page(&text("oak"))),
    ])
}

#[test]
fn near_duplicates_and_repeated_chunks_are_marked_with_the_first_of_them() {
    for order in [Order::Listed, Order::Reversed] {
        let site = site().serve(order);
        let job = Job::new(&site.url("/"), "");
        let said = job.crawl();
        assert!(said.contains("marked 1 near-duplicate page and 3 repeated chunks"), "{said}");
        let originals = originals(&job);
        assert_eq!(originals["bee-print"], ("collected".to_owned(), "bee".to_owned()));
        assert_eq!(originals["bee"], ("collected".to_owned(), String::new()));
        assert_eq!(originals["oak"], ("collected".to_owned(), String::new()));
        let near: BTreeSet<_> = flagged(&job, "near_duplicate").into_iter().collect();
        assert_eq!(near, BTreeSet::from(["bee-print".to_owned()]));
        // The order of originals: shorter addresses first, then the smaller.
        let mut repeated = flagged(&job, "repeated");
        repeated.sort();
        assert_eq!(repeated, ["bee-print", "bee-print", "oak"]);
        job.verify();
    }
}

#[test]
fn what_is_dropped_is_a_duplicate_and_comes_back_when_its_original_goes() {
    let pages = site();
    let site = pages.serve(Order::Reversed);
    let job = Job::new(&site.url("/"), &format!("[dedup]\nnear = \"drop\"\n{DUE}"));
    job.crawl();
    job.verify();
    let live = |job: &Job| -> BTreeSet<String> {
        crate::corpus_files::content(&job.corpus())
            .iter()
            .map(|row| row[0].rsplit('/').next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(live(&job), ["", "bee", "oak"].map(str::to_owned).into());
    pages.set("/bee", &page(&text("ant")));
    job.crawl();
    job.crawl();
    job.verify();
    assert_eq!(live(&job), ["", "bee", "bee-print", "oak"].map(str::to_owned).into());
}

#[test]
fn marks_follow_the_site_and_the_feed_tells_of_them() {
    let pages = site();
    let site = pages.serve(Order::Listed);
    let job = Job::new(&site.url("/"), &format!("{DUE}max_delete_ratio = 1.0\n"));
    job.crawl();
    // An unchanged site writes nothing.
    job.crawl();
    let told = || rows(&job.corpus(), "changes", &["run_id", "op", "reason", "url", "flags"]);
    assert!(told().iter().all(|row| row[0] == "run-000001"));
    // The original goes: its near-duplicate is marked no more, and the next of equal chunks is the first.
    pages.remove("/bee");
    job.crawl();
    job.crawl();
    job.verify();
    assert_eq!(originals(&job)["bee-print"].1, "");
    assert_eq!(flagged(&job, "repeated"), ["bee-print"]);
    let marked: Vec<_> = told().into_iter().filter(|row| row[2] == "marked").collect();
    assert!(!marked.is_empty());
    assert!(marked.iter().all(|row| row[1] == "meta" && !row[4].contains("near_duplicate")));
}

#[test]
fn nothing_is_looked_for_where_it_is_off() {
    let site = site().serve(Order::Listed);
    let job = Job::new(&site.url("/"), "[dedup]\nnear = \"off\"\n");
    job.crawl();
    assert_eq!(originals(&job)["bee-print"].1, "");
    assert_eq!((flagged(&job, "near_duplicate"), flagged(&job, "repeated")), (vec![], vec![]));
}
