//! What a host's robots.txt asks of this crawler (RFC 9309).
//!
//! In: the bytes of the file and the crawler's product token. Out: [`RobotsRules`], which answer
//! whether an address may be fetched and by which line, how long to wait between requests, where
//! the sitemaps are, and what the text may be used for.
//!
//! Promises:
//!
//! - Any bytes give an answer; a line that cannot be read is skipped and ends no group.
//! - A line that the size limit cuts never applies: half of `Allow: /private` is `Allow: /`.
//! - A verdict takes time linear in the address for each rule, whatever the patterns are.
//!
//! It does not fetch: what a missing or failing robots.txt means is for the caller, who has
//! [`RobotsRules::allow_all`] and [`RobotsRules::disallow_all`] for it. It does not clamp the
//! delay either.

mod matcher;
mod parse;
mod usage;

use std::time::Duration;

use url::Url;

use matcher::{Pattern, normalized_path};
use usage::UsageLine;
pub use usage::{Preference, UsagePreferences};

/// What a crawler must at least read of a robots.txt, in bytes (RFC 9309 §2.5).
pub const ROBOTS_MAX_BYTES: usize = 500 * 1024;

/// The rules that one robots.txt sets for this crawler, its groups merged.
#[derive(Clone, Debug)]
pub struct RobotsRules {
    /// The strongest first, so that the first match decides.
    rules: Vec<Rule>,
    unmatched: Access,
    crawl_delay: Option<Duration>,
    usage: Vec<UsageLine>,
    sitemaps: Vec<String>,
}

/// May an address be fetched, and what says so?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it may be fetched.
    pub allowed: bool,
    /// The deciding line as the file has it, without comment; `None` where no line matches.
    pub rule: Option<String>,
    /// The number of that line, from 1.
    pub line: Option<usize>,
}

/// Whether a rule opens or closes what it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    Allow,
    Disallow,
}

/// One `Allow` or `Disallow` line.
#[derive(Clone, Debug)]
struct Rule {
    access: Access,
    pattern: Pattern,
    text: String,
    line: usize,
}

/// What the groups of one kind, merged, say.
#[derive(Clone, Debug, Default)]
struct Section {
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
    usage: Vec<UsageLine>,
}

impl RobotsRules {
    /// Reads the first `max_bytes` of `body` as they bind `product_token`, which is compared
    /// without regard to case and ends at the first character that is no letter, `-` or `_`.
    ///
    /// The groups that name the token hold, merged; where there are none, those for `*`; where
    /// there are none of those either, everything is allowed. To have a cut seen, hand in more
    /// than `max_bytes` where the file is longer.
    pub fn parse(body: &[u8], product_token: &str, max_bytes: usize) -> Self {
        let (mut section, sitemaps) = parse::read(body, product_token, max_bytes);
        section.rules.sort_by(|a, b| {
            b.pattern.octets().cmp(&a.pattern.octets()).then(a.access.cmp(&b.access))
        });
        Self {
            rules: section.rules,
            unmatched: Access::Allow,
            crawl_delay: section.crawl_delay,
            usage: section.usage,
            sitemaps,
        }
    }

    /// No rules: for a host that has no robots.txt (RFC 9309 §2.3.1.3).
    pub fn allow_all() -> Self {
        Self::without_file(Access::Allow)
    }

    /// Nothing may be fetched: for a host whose robots.txt cannot be read (RFC 9309 §2.3.1.4).
    pub fn disallow_all() -> Self {
        Self::without_file(Access::Disallow)
    }

    fn without_file(unmatched: Access) -> Self {
        let Section { rules, crawl_delay, usage } = Section::default();
        Self { rules, unmatched, crawl_delay, usage, sitemaps: Vec::new() }
    }

    /// Decides about `url`: the longest matching pattern wins, and of equals the one that allows
    /// (RFC 9309 §2.2.2). `/robots.txt` itself is always allowed.
    pub fn verdict(&self, url: &Url) -> Verdict {
        if url.path() == "/robots.txt" {
            return Verdict { allowed: true, rule: None, line: None };
        }
        let path = normalized_path(url);
        let rule = self.rules.iter().find(|rule| rule.pattern.matches(&path));
        let access = rule.map_or(self.unmatched, |rule| rule.access);
        Verdict {
            allowed: access == Access::Allow,
            rule: rule.map(|rule| rule.text.clone()),
            line: rule.map(|rule| rule.line),
        }
    }

    /// About how much memory the rules take, in bytes.
    pub fn memory_bytes(&self) -> usize {
        // A rule is kept as it was written and as it is compared.
        let rules = self.rules.iter().map(|rule| size_of::<Rule>() + 2 * rule.text.len());
        let sitemaps = self.sitemaps.iter().map(|text| size_of::<String>() + text.len());
        let usage = self.usage.len() * size_of::<UsageLine>();
        size_of::<Self>() + rules.sum::<usize>() + sitemaps.sum::<usize>() + usage
    }

    /// The longest `Crawl-delay` of the groups that hold, as the site wrote it.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// What the `Sitemap` lines of the whole file name, each once and as written: absolute, or
    /// relative to the file.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// What the text at `url` may be used for, as far as the file says.
    pub fn usage(&self, url: &Url) -> UsagePreferences {
        usage::preferences_for(&self.usage, &normalized_path(url))
    }
}

#[cfg(test)]
mod tests;
