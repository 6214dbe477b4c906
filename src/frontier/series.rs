//! Series of pages: addresses that differ only in their numbers, and how endless ones show.
//!
//! In: pages with their text and links, in any order. Out: whether a series still leads anywhere.
//! The shape of an address does not tell a calendar from an archive; what its pages hold does:
//!
//! - A series *repeats* when page after page has the text of an earlier one: "not found" under
//!   status 200. Pages that differ in a number do not repeat: a table may be all that they are.
//! - A series of dates is a *calendar* when page after page leads only to its own kind and to
//!   what the series has led to before. An archive leads to articles, and goes on.
//!
//! Memory is bounded: so many series, so many fingerprints each.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use url::Url;

use super::trap::{TrapLimits, TrapReason};
use crate::model::WebUrl;

/// Most series that are watched, and most fingerprints of each: what bounds the memory.
const MAX_SERIES: usize = 10_000;
const MAX_PRINTS: usize = 2_000;

/// Watches the series of a crawl.
#[derive(Debug, Default)]
pub struct SeriesWatch {
    limits: TrapLimits,
    series: HashMap<String, Series>,
}

/// What is known of a series.
#[derive(Debug, Default)]
struct Series {
    texts: Novelty,
    targets: Novelty,
}

/// Fingerprints, and for how long there was no new one.
#[derive(Debug, Default)]
struct Novelty {
    known: HashSet<u64>,
    pages_without: u32,
}

impl Novelty {
    /// Notes the fingerprints of a page.
    fn note(&mut self, prints: impl IntoIterator<Item = u64>) {
        let mut is_new = false;
        for print in prints {
            if self.known.len() >= MAX_PRINTS {
                self.known.clear();
            }
            is_new |= self.known.insert(print);
        }
        self.pages_without = if is_new { 0 } else { self.pages_without.saturating_add(1) };
    }
}

impl SeriesWatch {
    /// A watch that has seen nothing yet.
    pub fn new(limits: TrapLimits) -> Self {
        Self { limits, series: HashMap::new() }
    }

    /// Notes a page with its Markdown and the pages that it leads to.
    pub fn note(&mut self, url: &Url, markdown: &str, outlinks: &[WebUrl]) {
        let Some(pattern) = pattern(url) else { return };
        if self.series.len() >= MAX_SERIES && !self.series.contains_key(&pattern) {
            return;
        }
        if has_date(url) {
            let is_other = |link: &&WebUrl| self::pattern(link.as_url()).as_ref() != Some(&pattern);
            let others = outlinks.iter().filter(is_other);
            let others: Vec<u64> = others.map(|link| hash(link.key().as_str())).collect();
            self.series.entry(pattern.clone()).or_default().targets.note(others);
        }
        self.series.entry(pattern).or_default().texts.note([text_print(markdown)]);
    }

    /// Why the page at `url` need not be asked for, if its series leads nowhere.
    pub fn verdict(&self, url: &Url) -> Option<TrapReason> {
        let series = self.series.get(&pattern(url)?)?;
        if series.texts.pages_without >= self.limits.max_repeated_pages {
            return Some(TrapReason::Repeating);
        }
        let is_barren = series.targets.pages_without >= self.limits.max_barren_dates;
        (is_barren && has_date(url)).then_some(TrapReason::Calendar)
    }
}

/// The address with each number as NUL, which no address has; nothing where it has no number, and so no series.
fn pattern(url: &Url) -> Option<String> {
    let place = &url[url::Position::BeforePath..];
    let mut pattern = format!("{}://{}", url.scheme(), url.authority());
    let mut has_number = false;
    for c in place.chars() {
        if c.is_ascii_digit() {
            if !pattern.ends_with('\u{0}') {
                pattern.push('\u{0}');
            }
            has_number = true;
        } else {
            pattern.push(c);
        }
    }
    has_number.then_some(pattern)
}

/// Whether the address names a month: `2026/11`, `2026-11-05`, `year=2026`.
fn has_date(url: &Url) -> bool {
    let place = &url[url::Position::BeforePath..];
    let numbers: Vec<&str> =
        place.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).collect();
    let is_year =
        |text: &str| text.len() == 4 && (text.starts_with("19") || text.starts_with("20"));
    let is_month = |text: &str| matches!(text.parse::<u8>(), Ok(1..=12));
    let is_whole = |text: &str| {
        let (year, month) = text.split_at_checked(4).unwrap_or_default();
        is_year(year) && matches!(text.len(), 6 | 8) && month.get(..2).is_some_and(is_month)
    };
    numbers.windows(2).any(|two| matches!(two, [year, month] if is_year(year) && is_month(month)))
        || numbers.iter().any(|number| is_whole(number))
        || place.contains("year=")
        || place.contains("date=")
}

/// A fingerprint of what a reader reads: letters and digits, without the addresses of links.
fn text_print(markdown: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut rest = markdown;
    while let Some(at) = rest.find("](") {
        let (text, link) = rest.split_at(at);
        read(text, &mut hasher);
        rest = link.find([')', '\n']).and_then(|end| link.get(end..)).unwrap_or_default();
    }
    read(rest, &mut hasher);
    hasher.finish()
}

fn read(text: &str, hasher: &mut DefaultHasher) {
    text.chars().filter(|c| c.is_alphanumeric()).for_each(|c| c.hash(hasher));
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> WebUrl {
        WebUrl::parse(&format!("http://h.example{path}")).unwrap()
    }

    /// How many pages of a series are asked for when each leads to the next; at most 200.
    fn length(path: impl Fn(u32) -> String, page: impl Fn(u32) -> (String, Vec<WebUrl>)) -> usize {
        let mut watch = SeriesWatch::default();
        (0..200)
            .take_while(|n| {
                let at = url(&path(*n));
                let is_asked = watch.verdict(at.as_url()).is_none();
                let (text, mut links) = page(*n);
                links.push(url(&path(n + 1)));
                watch.note(at.as_url(), &text, &links);
                is_asked
            })
            .count()
    }

    fn words(n: u32) -> String {
        format!("{n:b}").replace('0', "a").replace('1', "b")
    }

    fn month(n: u32) -> String {
        format!("/cal/{}/{}", 2026 + n / 12, n % 12 + 1)
    }

    #[test]
    fn a_calendar_ends_and_an_archive_does_not() {
        assert_eq!(length(month, |n| (words(n), vec![url("/about")])), 7);
        assert_eq!(length(month, |n| (words(n), vec![url(&format!("/post-{}", words(n)))])), 200);
        assert_eq!(length(|n| format!("/page/{n}"), |n| (words(n), Vec::new())), 200);
    }

    #[test]
    fn a_series_that_repeats_its_text_ends() {
        let same = |n: u32| (format!("Not found. [Try another](/x/{n})"), Vec::new());
        assert_eq!(length(|n| format!("/x/{}", n * 7_919), same), 51);
        assert_eq!(length(|n| format!("/x/{}", words(n)), same), 200, "no number, no series");
        let counts = |n: u32| (format!("Sold: {n}"), Vec::new());
        assert_eq!(length(|n| format!("/x/{n}"), counts), 200, "a number is a text");
    }

    #[test]
    fn dates_are_seen_wherever_they_stand() {
        for path in ["/2026/11/", "/a/2026-1-05", "/?m=202611", "/20261105.html", "/?year=26"] {
            assert!(has_date(url(path).as_url()), "{path}");
        }
        for path in ["/page/2", "/a/1234/5", "/?id=20269", "/2026/13"] {
            assert!(!has_date(url(path).as_url()), "{path}");
        }
    }
}
