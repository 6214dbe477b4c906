//! Killed at any moment, a crawl loses nothing and repeats nothing.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use crate::corpus_files::{content, rows};
use crate::site::{Job, Page, Site, program};

pub(crate) const PAGES: usize = 400;
const KILLS: usize = 25;
const SIGNALS: usize = 5;

/// A site of pages that link to three others each; every tenth has the text of its neighbour.
pub(crate) fn page(path: &str) -> Page {
    if path == "/robots.txt" {
        return Page::status(404);
    }
    let Some(n) =
        path.trim_start_matches('/').parse::<usize>().ok().or_else(|| (path == "/").then_some(0))
    else {
        return Page::status(404);
    };
    if n >= PAGES {
        return Page::status(404);
    }
    let links: String =
        (1..=3).fold(String::new(), |all, k| all + &format!("<a href='/{}'>next</a> ", 3 * n + k));
    let topic = if n % 10 == 9 { n - 1 } else { n };
    Page::html(format!(
        "<title>Page</title><main><h1>Page {topic}</h1><p>All that is to be said about the number {topic}. {}</p>\
         <table><tr><th>n</th><th>square</th></tr><tr><td>{topic}</td><td>{}</td></tr></table></main><nav>{links}</nav>",
        "It is a number. ".repeat(topic % 30),
        topic * topic
    ))
}

/// Places in the run at which it is killed: after so many requests. Fixed, so that a failure can
/// be repeated; spread so that they meet every step of a commit over time.
fn moments() -> impl Iterator<Item = usize> {
    let mut state = 0x2545_f491_u32;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        1 + (state as usize) % 30
    })
}

#[test]
fn kills_at_random_moments_change_nothing() {
    let site = Site::start(page);
    let undisturbed = Job::new(&site.url("/"), "");
    undisturbed.crawl();
    let asked_before = site.log().len();

    let job = Job::new(&site.url("/"), "[output]\npart_bytes = 65536\n");
    let asked = site.asked.lock().unwrap();
    while asked.try_recv().is_ok() {}
    for after in moments().take(KILLS) {
        let mut child =
            program().arg("crawl").arg(job.config()).stderr(Stdio::null()).spawn().unwrap();
        for _ in 0..after {
            // A run that is already done asks only for robots.txt.
            if asked.recv_timeout(std::time::Duration::from_secs(5)).is_err() {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        job.verify();
    }
    job.crawl();
    job.verify();
    let (got, want) = (content(&job.corpus()), content(&undisturbed.corpus()));
    let extra: Vec<_> = got.difference(&want).collect();
    assert!(extra.is_empty(), "chunks that the undisturbed corpus has not: {extra:?}");
    let lost: BTreeSet<&String> = want.difference(&got).map(|row| &row[0]).collect();
    let mut fates = rows(&job.corpus(), "pages", &["url", "outcome", "reason", "referrer"]);
    fates.retain(|row| lost.contains(&row[0]));
    assert!(lost.is_empty(), "chunks that are lost: {lost:?}\n{fates:?}");

    // Re-fetches are bounded by what was in flight or in an uncommitted group at each kill.
    let asked = site.log().len() - asked_before;
    assert!(asked <= PAGES * 4 + KILLS * (1 + 64 + 32), "{asked} requests");
}

#[test]
fn a_second_process_is_refused_and_touches_nothing() {
    let site = Site::start(page);
    let job = Job::new(&site.url("/"), "");
    let mut first = program().arg("crawl").arg(job.config()).stderr(Stdio::null()).spawn().unwrap();
    site.asked.lock().unwrap().recv().unwrap();
    let second = job.run("crawl");
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(5), "{said}");
    assert!(said.starts_with("error: another `corpus` is at work on this state"), "{said}");
    assert!(first.wait().unwrap().success());
    job.verify();
}

#[test]
fn signals_drain_the_run_and_the_next_one_repeats_nothing() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let site = Site::start(page);
        let job = Job::new(&site.url("/"), "");
        for after in moments().take(SIGNALS) {
            // Words of requests that the run before made while it drained.
            while site.asked.lock().unwrap().try_recv().is_ok() {}
            let mut child =
                program().arg("crawl").arg(job.config()).stderr(Stdio::null()).spawn().unwrap();
            for _ in 0..=after {
                site.asked.lock().unwrap().recv().unwrap();
            }
            let id = child.id().to_string();
            assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
            assert_eq!(child.wait().unwrap().code(), Some(code));
            job.verify();
        }
        job.crawl();
        job.verify();
        let mut pages: Vec<String> =
            site.log().into_iter().filter(|path| path != "/robots.txt").collect();
        let asked = pages.len();
        pages.sort();
        pages.dedup();
        assert_eq!(pages.len(), asked, "a page was asked for twice");
    }
}
