//! What a first run would fetch, as far as robots.txt and sitemaps say: a run without its pages.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::sitemaps::{NamedSitemap, SitemapWalk};
use super::{Clock, RunError, UrlVerdict, explain};
use crate::config::Config;
use crate::fetch::robots::{Preference, UsagePreferences};
use crate::fetch::{
    Answer, Budget, Fetcher, Get, RobotsAnswer, RobotsFile, RobotsMode, UsagePolicy,
};
use crate::frontier::Scope;
use crate::model::{CanonicalUrl, ErrorCode, Exclusion, Validators, WebUrl};

/// The plan of a first run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// What would happen to each address: those asked about, else the seeds and then what
    /// sitemaps list, in order.
    pub addresses: Vec<UrlVerdict>,
    /// Sitemaps that could not be read, and limits that cut the list, each said to a person.
    pub warnings: Vec<String>,
}

/// Asks the robots.txt and the sitemaps of the hosts of `addresses`, or, where there are none, of
/// all that a first run would reach from its seeds and sitemaps. Pages are not asked for, so those
/// that only links lead to are not in the plan.
///
/// # Errors
///
/// Fails where the options are malformed or the state cannot be read.
pub async fn plan(config: &Config, addresses: &[String], clock: Clock) -> Result<Plan, RunError> {
    let mut survey = Survey::new(config, clock)?;
    let sitemaps = &config.crawl.sitemaps;
    survey.sitemaps(sitemaps.iter().filter_map(|text| WebUrl::parse(text).ok())).await;
    let starts = if addresses.is_empty() { config.crawl.seeds.as_slice() } else { addresses };
    for url in starts.iter().filter_map(|text| WebUrl::parse(text).ok()) {
        survey.host(&url).await;
    }
    let mut all = starts.to_vec();
    if addresses.is_empty() {
        survey.hosts_of_list().await;
        all.extend(survey.listed.iter().map(|(url, _)| url.to_string()));
        let mut seen = HashSet::new();
        all.retain(|text| WebUrl::parse(text).is_ok_and(|url| seen.insert(url.key())));
    }
    let mut verdicts = explain(config, &all).await?;
    for verdict in &mut verdicts {
        survey.judge(verdict);
    }
    Ok(Plan { addresses: verdicts, warnings: survey.warnings })
}

/// What hosts say of themselves.
struct Survey<'a> {
    config: &'a Config,
    fetcher: Fetcher,
    scope: Scope,
    clock: Clock,
    /// By authority.
    robots: HashMap<String, RobotsFile>,
    /// Pages of sitemaps, each with the first that lists it.
    listed: Vec<(WebUrl, String)>,
    /// Where a page stands in `listed`.
    places: HashMap<CanonicalUrl, usize>,
    warnings: Vec<String>,
}

impl<'a> Survey<'a> {
    fn new(config: &'a Config, clock: Clock) -> Result<Self, RunError> {
        let budget = Budget::new(config.run.body_bytes());
        let scope = Scope::new(&config.crawl)?;
        let fetcher = Fetcher::new(&config.fetch, &config.politeness, budget)?;
        Ok(Self {
            config,
            fetcher: fetcher.at_home_with(scope.seeds()),
            scope,
            clock,
            robots: HashMap::new(),
            listed: Vec::new(),
            places: HashMap::new(),
            warnings: Vec::new(),
        })
    }

    /// Asks the host of `url` for its robots.txt and the sitemaps that it names, once.
    async fn host(&mut self, url: &WebUrl) {
        let is_seed = self.scope.is_seed(url);
        if self.robots.contains_key(&url.authority()) || !is_seed && self.scope.check(url).is_err()
        {
            return;
        }
        let robots = self.robots(url).await;
        if self.config.crawl.discover_sitemaps {
            let named = robots.rules.sitemaps().iter();
            self.sitemaps(named.filter_map(|text| url.join("/").ok()?.join(text).ok())).await;
        }
    }

    /// As [`Survey::host`], for every page of the list; new ones come to its end meanwhile.
    async fn hosts_of_list(&mut self) {
        let mut at = 0;
        while let Some((url, _)) = self.listed.get(at) {
            let url = url.clone();
            self.host(&url).await;
            at += 1;
        }
    }

    async fn robots(&mut self, url: &WebUrl) -> RobotsFile {
        if let Some(file) = self.robots.get(&url.authority()) {
            return file.clone();
        }
        let file = if self.config.politeness.robots == RobotsMode::Ignore {
            RobotsFile::ignored()
        } else {
            self.fetcher.robots(url, self.clock.now()).await
        };
        if let Some(delay) = file.rules.crawl_delay() {
            self.fetcher.set_crawl_delay(url, delay).await;
        }
        self.robots.insert(url.authority(), file.clone());
        file
    }

    async fn sitemaps(&mut self, named: impl IntoIterator<Item = WebUrl>) {
        let longest = self.config.fetch.max_body_bytes;
        let mut walk = SitemapWalk::new(&self.config.crawl, longest, named);
        while let Some(sitemap) = walk.next() {
            if let Err(why) = self.sitemap(&mut walk, &sitemap).await {
                self.warnings.push(format!("sitemap {}: {why}", sitemap.url));
            }
        }
        if walk.is_cut() {
            let most = self.config.crawl.max_sitemaps;
            self.warnings.push(format!("only the first {most} sitemaps are read"));
        }
    }

    async fn sitemap(
        &mut self,
        walk: &mut SitemapWalk,
        sitemap: &NamedSitemap,
    ) -> Result<(), String> {
        let url = &sitemap.url;
        let robots = self.robots(url).await;
        if let RobotsAnswer::Unreachable(error) = &robots.answer {
            return Err(format!("robots.txt could not be read: {error}"));
        }
        if !robots.rules.verdict(url.as_url()).allowed {
            return Err("robots.txt forbids it".to_owned());
        }
        let validators = Validators::default();
        let get = Get { url, validators: &validators, now: self.clock.now() };
        match self.fetcher.list_in(self.fetcher.turn(url).await, &get).await {
            Ok((Answer::Page(page), _)) => {
                let (pages, is_cut) = walk.read(sitemap, &page.body);
                if is_cut {
                    self.warnings.push(format!("sitemap {url}: it is cut, or broken"));
                }
                self.list(url, pages.into_iter().map(|entry| entry.url))
            }
            Ok((Answer::Redirect { location, .. }, _)) => {
                walk.redirect(sitemap, location);
                Ok(())
            }
            Ok((Answer::Status { status, .. }, _)) => Err(format!("the server answered {status}")),
            Ok((Answer::NotModified, _)) => Err("the server answered 304".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Adds the pages of the sitemap at `url`, as many as one sitemap may have in all.
    fn list(&mut self, url: &WebUrl, pages: impl Iterator<Item = WebUrl>) -> Result<(), String> {
        let most = self.config.crawl.max_sitemap_entries;
        for page in pages {
            let place = self.listed.len();
            if place >= most {
                return Err(format!("the list ends at {most} pages"));
            }
            if let Entry::Vacant(free) = self.places.entry(page.key()) {
                free.insert(place);
                self.listed.push((page, url.to_string()));
            }
        }
        Ok(())
    }

    /// Completes a verdict by what robots.txt and the sitemaps say.
    fn judge(&self, verdict: &mut UrlVerdict) {
        let Ok(url) = WebUrl::parse(&verdict.url) else { return };
        let place = self.places.get(&url.key());
        verdict.sitemap =
            place.and_then(|at| self.listed.get(*at)).map(|(_, sitemap)| sitemap.clone());
        if verdict.scope != "in" {
            verdict.plan = Some(verdict.scope.clone());
            return;
        }
        if verdict.address.is_some() {
            verdict.plan = Some(ErrorCode::FetchAddressRefused.code().to_owned());
            return;
        }
        let Some(file) = self.robots.get(&url.authority()) else { return };
        let (said, refusal) = judged(file, &url);
        verdict.robots = Some(said);
        let politeness = &self.config.politeness;
        let asked = file.rules.crawl_delay().unwrap_or_default().min(politeness.crawl_delay_max());
        let asked = u64::try_from(asked.as_millis()).unwrap_or(u64::MAX);
        verdict.delay_ms = verdict.delay_ms.max(asked);
        let usage = file.rules.usage(url.as_url());
        verdict.usage = refused(usage).filter(|_| politeness.usage_policy != UsagePolicy::Ignore);
        let is_refused = usage.ai_input == Preference::Refused
            && politeness.usage_policy == UsagePolicy::Respect;
        let is_listed_only = place.is_some() && !self.scope.is_seed(&url);
        let too_deep = is_listed_only && self.config.crawl.max_depth == 0;
        let plan = refusal
            .or(too_deep.then_some("crawl.max_depth"))
            .or(is_refused.then_some(Exclusion::UsageRefused.code()));
        verdict.plan = Some(plan.unwrap_or("fetch").to_owned());
    }
}

/// The uses that are refused, as a site writes them.
fn refused(usage: UsagePreferences) -> Option<String> {
    let uses =
        [("ai-input", usage.ai_input), ("search", usage.search), ("ai-train", usage.ai_train)];
    let refused = uses.into_iter().filter(|(_, word)| *word == Preference::Refused);
    let names: Vec<String> = refused.map(|(name, _)| format!("{name}=no")).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// What a robots.txt says of `url`, and the code of its refusal.
fn judged(file: &RobotsFile, url: &WebUrl) -> (String, Option<&'static str>) {
    match &file.answer {
        RobotsAnswer::Unreachable(error) => {
            return (format!("could not be read: {error}"), Some("fetch.robots_unreachable"));
        }
        RobotsAnswer::Ignored => return ("ignored by the config".to_owned(), None),
        RobotsAnswer::Found | RobotsAnswer::Absent(_) => {}
    }
    let verdict = file.rules.verdict(url.as_url());
    let (word, refusal) =
        if verdict.allowed { ("allowed", None) } else { ("disallowed", Some("robots.disallowed")) };
    let said = match (verdict.rule, verdict.line) {
        (Some(rule), Some(line)) => format!("{word} by line {line}: `{rule}`"),
        (Some(rule), None) => format!("{word} by `{rule}`"),
        (None, _) => word.to_owned(),
    };
    (said, refusal)
}
