//! The order in which sitemaps are read: each once, as they are named, to a limit.
//!
//! A redirect counts as a sitemap that names one other, so that it takes its own host's turn and
//! robots.txt like any.

use std::collections::{HashSet, VecDeque};

use crate::frontier::{CrawlOptions, SitemapEntry, SitemapLimits, parse_sitemap};
use crate::model::{CanonicalUrl, WebUrl};

/// Deepest nesting of sitemap indexes and redirects.
const MAX_DEPTH: usize = 5;

/// A sitemap to be read.
#[derive(Clone, Debug)]
pub(super) struct NamedSitemap {
    /// Its address.
    pub(super) url: WebUrl,
    depth: usize,
}

/// Sitemaps that wait to be read, and those that were.
#[derive(Debug)]
pub(super) struct SitemapWalk {
    waiting: VecDeque<NamedSitemap>,
    seen: HashSet<CanonicalUrl>,
    most: usize,
    limits: SitemapLimits,
    /// Longest body that is read, in bytes: a longer one was cut.
    longest: usize,
    is_cut: bool,
}

impl SitemapWalk {
    /// Begins with `named`.
    pub(super) fn new(
        options: &CrawlOptions,
        longest: usize,
        named: impl IntoIterator<Item = WebUrl>,
    ) -> Self {
        let limits =
            SitemapLimits { max_entries: options.max_sitemap_entries, ..SitemapLimits::default() };
        let mut walk = Self {
            waiting: VecDeque::new(),
            seen: HashSet::new(),
            most: options.max_sitemaps,
            limits,
            longest,
            is_cut: false,
        };
        named.into_iter().for_each(|url| walk.push(url, 0));
        walk
    }

    fn push(&mut self, url: WebUrl, depth: usize) {
        let key = url.key();
        if depth > MAX_DEPTH || self.seen.contains(&key) {
            return;
        }
        if self.seen.len() >= self.most {
            self.is_cut = true;
            return;
        }
        self.seen.insert(key);
        self.waiting.push_back(NamedSitemap { url, depth });
    }

    /// The next one to read.
    pub(super) fn next(&mut self) -> Option<NamedSitemap> {
        self.waiting.pop_front()
    }

    /// Notes that `sitemap` lies elsewhere.
    pub(super) fn redirect(&mut self, sitemap: &NamedSitemap, location: WebUrl) {
        self.push(location, sitemap.depth + 1);
    }

    /// Reads the body of `sitemap`: those that it names wait, its pages are given back. Says, too,
    /// whether entries are missing, since it is cut or broken.
    pub(super) fn read(
        &mut self,
        sitemap: &NamedSitemap,
        body: &[u8],
    ) -> (Vec<SitemapEntry>, bool) {
        let is_longer = body.len() > self.longest;
        let max_bytes = if is_longer { self.longest } else { self.limits.max_bytes };
        let limits = SitemapLimits { max_bytes, ..self.limits };
        let read = parse_sitemap(body, &sitemap.url, &limits);
        read.sitemaps.into_iter().for_each(|url| self.push(url, sitemap.depth + 1));
        (read.pages, read.is_cut)
    }

    /// Whether there are more sitemaps than `crawl.max_sitemaps`.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> WebUrl {
        WebUrl::parse(&format!("http://h.example{path}")).unwrap()
    }

    fn index(paths: &[&str]) -> String {
        let entry = |path: &&str| format!("<sitemap><loc>{path}</loc></sitemap>");
        format!("<sitemapindex>{}</sitemapindex>", paths.iter().map(entry).collect::<String>())
    }

    /// Paths in the order in which they are read; every one is `body`.
    fn order(options: &CrawlOptions, named: &[&str], body: &str) -> (Vec<String>, bool) {
        let mut walk = SitemapWalk::new(options, 1 << 20, named.iter().map(|path| url(path)));
        let mut order = Vec::new();
        while let Some(sitemap) = walk.next() {
            walk.read(&sitemap, body.as_bytes());
            order.push(sitemap.url.as_url().path().to_owned());
        }
        (order, walk.is_cut())
    }

    #[test]
    fn each_is_read_once_in_the_order_of_naming() {
        let (order, is_cut) =
            order(&CrawlOptions::default(), &["/a", "/b", "/a"], &index(&["/c", "/a", "/b"]));
        assert_eq!(order, ["/a", "/b", "/c"]);
        assert!(!is_cut);
    }

    #[test]
    fn an_index_without_end_ends() {
        let (deep, _) = order(&CrawlOptions::default(), &["/a/"], &index(&["x/"]));
        assert_eq!(deep.len(), MAX_DEPTH + 1);
        let options = CrawlOptions { max_sitemaps: 3, ..CrawlOptions::default() };
        let (wide, is_cut) = order(&options, &["/a"], &index(&["/b", "/c", "/d"]));
        assert_eq!((wide.len(), is_cut), (3, true));
    }

    #[test]
    fn a_list_that_is_cut_says_so() {
        let mut walk = SitemapWalk::new(&CrawlOptions::default(), 30, [url("/a")]);
        let first = walk.next().unwrap();
        let body = b"http://h.example/1\nhttp://h.example/23\n";
        let (pages, is_cut) = walk.read(&first, &body[..31]);
        assert_eq!((pages.len(), is_cut), (1, true));
        let (pages, is_cut) = walk.read(&first, &body[..19]);
        assert_eq!((pages.len(), is_cut), (1, false));
    }

    #[test]
    fn redirects_go_round_once() {
        let mut walk = SitemapWalk::new(&CrawlOptions::default(), 1 << 20, [url("/a")]);
        let first = walk.next().unwrap();
        walk.redirect(&first, url("/b"));
        let second = walk.next().unwrap();
        walk.redirect(&second, url("/a"));
        assert!(walk.next().is_none());
    }
}
