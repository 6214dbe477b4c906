//! Killed at every named point of a crawl, a re-crawl and a compaction, the corpus is as it would
//! have been.

use std::collections::BTreeSet;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::corpus_files::content;
use crate::crash::{PAGES, page};
use crate::site::{Job, Page, Site, program, said};

/// Small parts, every page due at once, and few pages that are held against each other: a mark that
/// changes has its part made again.
const CONFIG: &str = "[output]\npart_bytes = 65536\n\n[recrawl]\nstart_hours = 0\nmin_hours = 0\n\
                      confirm_gone_hours = 0\nmax_delete_ratio = 1.0\n\n[dedup]\nnear_min_words = 125\n";

/// The site of the crash tests, in revisions: each edits some pages, and takes some away that the
/// one before had.
fn revised(revision: usize) -> impl Fn(&str) -> Page + Clone + Send + Sync + 'static {
    move |path| {
        let n: usize = path.trim_start_matches('/').parse().unwrap_or(0);
        let is_away = n > PAGES / 2 && n % 40 == revision % 40;
        if is_away {
            return Page::status(410);
        }
        let mut page = page(path);
        if page.status == 200 && n % 20 == revision % 20 {
            let edited = format!("<p>Revision {revision} of page {n}.</p></main>");
            let html = String::from_utf8(page.body).unwrap().replace("</main>", &edited);
            page.body = html.into_bytes();
        }
        let tag = blake3::hash(&page.body).to_hex();
        page.with("etag", &format!("\"{tag}\""))
    }
}

fn run(job: &Job, command: &str, environment: &[(&str, &str)]) -> Output {
    let mut program: Command = program();
    program.args([command, "-q"]).arg(job.config());
    program.envs(environment.iter().copied()).output().unwrap()
}

fn succeeds(job: &Job, command: &str) {
    let output = run(job, command, &[]);
    assert!(output.status.success(), "{command}: {}", said(&output, job.folder.path()));
}

/// The points that a command comes by, as it does for a job that is not disturbed.
fn trace(job: &Job, command: &str) -> BTreeSet<String> {
    let file = job.folder.path().join("trace");
    let output = run(job, command, &[("KILL_TRACE", file.to_str().unwrap())]);
    assert!(output.status.success(), "{}", said(&output, job.folder.path()));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(file).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_kill_at_any_point_changes_nothing() {
    let revision = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&revision);
    let site = Site::start(move |path| revised(now.load(Ordering::Acquire))(path));
    let (undisturbed, job) = (Job::new(&site.url("/"), CONFIG), Job::new(&site.url("/"), CONFIG));
    let mut points: BTreeSet<(&str, String)> = BTreeSet::new();
    points.extend(trace(&undisturbed, "crawl").into_iter().map(|point| ("crawl", point)));
    succeeds(&job, "crawl");
    revision.fetch_add(1, Ordering::AcqRel);
    points.extend(trace(&undisturbed, "crawl").into_iter().map(|point| ("crawl", point)));
    succeeds(&job, "crawl");
    points.extend(trace(&undisturbed, "compact").into_iter().map(|point| ("compact", point)));
    let names: BTreeSet<&String> = points.iter().map(|(_, point)| point).collect();
    assert!(names.len() >= 20, "{names:?}");

    for (command, point) in &points {
        revision.fetch_add(1, Ordering::AcqRel);
        let killed = run(&job, command, &[("KILL_AT", &format!("{point}:1"))]);
        assert!(!killed.status.success(), "{command} does not come by {point}");
        job.verify();
        succeeds(&job, "crawl");
        job.verify();
        succeeds(&undisturbed, "crawl");
        let (got, want) = (content(&job.corpus()), content(&undisturbed.corpus()));
        let differ: Vec<_> = got.symmetric_difference(&want).collect();
        assert!(differ.is_empty(), "{command} killed at {point}: {differ:?}");
        if *command == "compact" {
            succeeds(&job, "compact");
            job.verify();
            assert_eq!(content(&job.corpus()), want, "{point}");
        }
    }
}

#[test]
fn a_page_that_ends_the_program_is_given_up() {
    let site = Site::start(page);
    let job = Job::new(&site.url("/"), "");
    // It ends the program once; from then on it is converted apart from the rest.
    let output = run(&job, "crawl", &[("KILL_PAGE", "/77")]);
    assert_eq!(output.status.code(), None);
    job.verify();
    let output = run(&job, "crawl", &[("KILL_PAGE", "/77")]);
    assert!(output.status.success(), "{}", said(&output, job.folder.path()));
    job.verify();
    let rows = crate::corpus_files::rows(&job.corpus(), "pages", &["url", "reason"]);
    let given_up: Vec<_> = rows.iter().filter(|row| row[1] == "internal.poison").collect();
    assert_eq!(given_up.len(), 1, "{given_up:?}");
    assert!(given_up[0][0].ends_with("/77"));
    // Its links are lost with it, and nothing else.
    assert!(content(&job.corpus()).len() > PAGES / 2);
}

#[test]
fn a_page_that_was_only_there_when_the_program_ended_is_collected() {
    let site = Site::start(page);
    let job = Job::new(&site.url("/"), "");
    let output = run(&job, "crawl", &[("KILL_PAGE", "/77")]);
    assert_eq!(output.status.code(), None);
    succeeds(&job, "crawl");
    job.verify();
    assert!(content(&job.corpus()).iter().any(|row| row[0].ends_with("/77")));
}
