//! From TOML text to a valid config, in steps that each know where they are in the text.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::{Config, ConfigError, DEFAULT_TOML, beside};
use crate::chunk::{Tokenizer, TokenizerName, WANTED};
use crate::extract::{ExtractError, ExtractOptions};
use crate::fetch::{FetchError, Fetcher};
use crate::frontier::{Scope, ScopeError};

/// The keys of a text, dotted from the top, with their places.
type Keys = BTreeMap<String, Range<usize>>;

/// Keys that may be set and are not in the file of defaults, since they have no value there.
const OPTIONAL: &[&str] = &[
    "demo",
    "demo.folder",
    "demo.address",
    "site",
    "site.host",
    "site.main_content",
    "site.keep",
    "site.drop",
    "site.hidden",
];

pub(super) fn read(
    text: &str,
    path: &Path,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Config, ConfigError> {
    let invalid = |source: toml::de::Error| ConfigError::Invalid {
        path: path.to_owned(),
        source: Box::new(source),
    };
    let keys = keys(text).map_err(invalid)?;
    check_known(&keys, text, path)?;
    let secret = with_secrets(text, path, env)?;
    let mut config: Config = toml::from_str(&secret).map_err(|_| invalid(without_secrets(text)))?;
    let text = secret;
    read_seed_files(&mut config, path)?;
    config.crawl.seeds.retain(|seed| !seed.trim().is_empty());
    if let TokenizerName::File(file) = &mut config.chunk.tokenizer {
        *file = beside(path.parent().unwrap_or(Path::new("")), file);
    }
    let checker = Checker { config: &config, keys: &keys, text: &text, path };
    checker.check()?;
    config.tokenizer = checker.tokenizer()?;
    Ok(config)
}

/// What is wrong with `text`, said without what variables hold.
fn without_secrets(text: &str) -> toml::de::Error {
    let error = toml::from_str::<Config>(text).err().map(|mut error| {
        error.set_input(Some(text));
        error
    });
    let of_a_variable = "what a variable of the environment holds does not fit in its place";
    error.unwrap_or_else(|| serde::de::Error::custom(of_a_variable))
}

/// Adds the lines of the seed files to the seeds. Their paths are relative to the config's.
fn read_seed_files(config: &mut Config, path: &Path) -> Result<(), ConfigError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    for file in std::mem::take(&mut config.crawl.seed_files) {
        let file = folder.join(file);
        let text = std::fs::read_to_string(&file).map_err(|error| ConfigError::Range {
            path: path.to_owned(),
            line: None,
            key: "crawl.seed_files",
            value: format!("`{}` ({error})", file.display()),
            want: "a list of files with one address a line".to_owned(),
        })?;
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
        let seeds = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        config.crawl.seeds.extend(seeds.map(str::to_owned));
    }
    Ok(())
}

/// Every key of `text` with its place, the first where an array of tables has it several times.
fn keys(text: &str) -> Result<Keys, toml::de::Error> {
    let document = DeTable::parse(text)?;
    let mut keys = Keys::new();
    let mut waiting = vec![(String::new(), document.get_ref())];
    while let Some((above, table)) = waiting.pop() {
        for (name, value) in table {
            let key = if above.is_empty() {
                name.get_ref().to_string()
            } else {
                format!("{above}.{}", name.get_ref())
            };
            keys.entry(key.clone()).or_insert_with(|| name.span());
            match value.get_ref() {
                DeValue::Table(inner) => waiting.push((key, inner)),
                DeValue::Array(values) => {
                    let tables = values.iter().filter_map(|value| value.get_ref().as_table());
                    waiting.extend(tables.map(|inner| (key.clone(), inner)));
                }
                _ => {}
            }
        }
    }
    Ok(keys)
}

fn line(text: &str, at: usize) -> usize {
    text.get(..at).map_or(1, |before| before.matches('\n').count() + 1)
}

/// Checks that every key exists.
fn check_known(keys: &Keys, text: &str, path: &Path) -> Result<(), ConfigError> {
    let known = self::keys(DEFAULT_TOML).unwrap_or_default();
    let is_known = |key: &str| known.contains_key(key) || OPTIONAL.contains(&key);
    let mut unknown: Vec<_> = keys.iter().filter(|(key, _)| !is_known(key)).collect();
    unknown.sort_by_key(|(_, span)| span.start);
    let Some((key, span)) = unknown.first() else { return Ok(()) };
    let all = known.keys().map(String::as_str).chain(OPTIONAL.iter().copied());
    let nearest = all
        .map(|known| (strsim::jaro_winkler(known, key), known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known.to_owned());
    Err(ConfigError::UnknownKey {
        path: path.to_owned(),
        line: line(text, span.start),
        key: (*key).clone(),
        nearest,
    })
}

/// Replaces `${NAME}`, outside comments, by the variable's value.
fn with_secrets(
    text: &str,
    path: &Path,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<String, ConfigError> {
    let mut replaced = String::with_capacity(text.len());
    for (number, content) in text.split_inclusive('\n').enumerate() {
        let mut rest = content;
        let is_comment = content.trim_start().starts_with('#');
        while let Some((before, name, after)) = variable(rest).filter(|_| !is_comment) {
            let value = env(name).ok_or_else(|| ConfigError::Secret {
                path: path.to_owned(),
                line: number + 1,
                name: name.to_owned(),
            })?;
            replaced.push_str(before);
            replaced.push_str(&value.replace('\\', "\\\\").replace('"', "\\\""));
            rest = after;
        }
        replaced.push_str(rest);
    }
    Ok(replaced)
}

/// The text before the first `${NAME}`, the name, and the text behind.
fn variable(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("${")?;
    let (name, after) = rest.split_once('}')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then_some((before, name, after))
}

struct Checker<'a> {
    config: &'a Config,
    keys: &'a Keys,
    text: &'a str,
    path: &'a Path,
}

impl Checker<'_> {
    fn refuse(
        &self,
        key: &'static str,
        value: impl std::fmt::Display,
        want: impl Into<String>,
    ) -> ConfigError {
        ConfigError::Range {
            path: self.path.to_owned(),
            line: self.keys.get(key).map(|span| line(self.text, span.start)),
            key,
            value: value.to_string(),
            want: want.into(),
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.numbers()?;
        self.fetching()?;
        self.selectors(
            &self.config.extract,
            ["extract.main_content", "extract.keep", "extract.drop"],
        )?;
        for site in &self.config.site {
            let own = site.over(&self.config.extract);
            self.selectors(&own, ["site.main_content", "site.keep", "site.drop"])?;
        }
        self.places()
    }

    /// Checks the selectors of `options`, whose keys are those of `main_content`, `keep` and `drop`.
    fn selectors(
        &self,
        options: &ExtractOptions,
        keys: [&'static str; 3],
    ) -> Result<(), ConfigError> {
        let Err(ExtractError::Selector(selector)) = options.check() else { return Ok(()) };
        let [main_content, keep, drop] = keys;
        let (key, want) = if options.main_content == selector {
            (main_content, "`auto`, `off` or a CSS selector")
        } else if options.keep.contains(&selector) {
            (keep, "a list of CSS selectors")
        } else {
            (drop, "a list of CSS selectors")
        };
        Err(self.refuse(key, format!("`{selector}`"), want))
    }

    fn numbers(&self) -> Result<(), ConfigError> {
        let c = self.config;
        let at_least: [(&'static str, u64, u64); 18] = [
            ("crawl.traps.max_repeated_pages", c.crawl.traps.max_repeated_pages.into(), 1),
            ("crawl.traps.max_barren_dates", c.crawl.traps.max_barren_dates.into(), 1),
            ("politeness.per_host", c.politeness.per_host as u64, 1),
            ("politeness.max_concurrent", c.politeness.max_concurrent as u64, 1),
            ("politeness.max_host_failures", c.politeness.max_host_failures.into(), 1),
            ("fetch.connect_timeout_secs", c.fetch.connect_timeout_secs, 1),
            ("fetch.first_byte_timeout_secs", c.fetch.first_byte_timeout_secs, 1),
            ("fetch.timeout_secs", c.fetch.timeout_secs, 1),
            ("fetch.max_body_bytes", c.fetch.max_body_bytes as u64, 1_024),
            ("fetch.max_decode_ratio", c.fetch.max_decode_ratio as u64, 1),
            ("fetch.max_tries", c.fetch.max_tries.into(), 1),
            ("extract.max_depth", c.extract.max_depth.into(), 16),
            ("extract.max_nodes", c.extract.max_nodes as u64, 1_000),
            ("extract.max_source_chars", c.extract.max_source_chars as u64, 1_000),
            ("chunk.max_tokens", c.chunk.max_tokens as u64, 32),
            ("output.part_bytes", c.output.part_bytes, 64 * 1024),
            ("output.row_group_bytes", c.output.row_group_bytes, 1024 * 1024),
            ("run.memory_bytes", c.run.memory_bytes as u64, 16 * 1024 * 1024),
        ];
        match at_least.into_iter().find(|(_, value, least)| value < least) {
            Some((key, value, least)) => Err(self.refuse(key, value, format!("at least {least}"))),
            None => Ok(()),
        }
    }

    /// The tokenizer, ready to count.
    fn tokenizer(&self) -> Result<Tokenizer, ConfigError> {
        let name = &self.config.chunk.tokenizer;
        Tokenizer::load(name)
            .map_err(|error| self.refuse("chunk.tokenizer", format!("`{name}` ({error})"), WANTED))
    }

    fn fetching(&self) -> Result<(), ConfigError> {
        let c = self.config;
        if c.politeness.user_agent.trim().is_empty() {
            return Err(self.refuse("politeness.user_agent", "empty", "a name"));
        }
        if c.politeness.product_token().is_empty() {
            let value = format!("`{}`", c.politeness.user_agent);
            return Err(self.refuse(
                "politeness.user_agent",
                value,
                "a name that begins with a letter",
            ));
        }
        match Fetcher::check(&c.fetch, &c.politeness) {
            Err(FetchError::Header(n)) => {
                let value = format!("malformed in entry {n}");
                Err(self.refuse("fetch.headers", value, "a list of `Name: value`"))
            }
            Err(FetchError::Network(net)) => Err(self.refuse(
                "fetch.allow_private",
                format!("`{net}`"),
                "a list of networks such as `127.0.0.0/8`",
            )),
            Err(FetchError::Proxy) => {
                let value = "malformed".to_owned();
                Err(self.refuse("fetch.proxy", value, "the address of a proxy"))
            }
            Err(FetchError::Client(_)) | Ok(()) => Ok(()),
        }
    }

    /// Seeds, patterns, and where the state is kept. Seeds may be missing: only a crawl needs them.
    fn places(&self) -> Result<(), ConfigError> {
        if self.config.store.path().is_none_or(|path| path.as_os_str().is_empty()) {
            let value = format!("`{}`", self.config.store.url);
            return Err(self.refuse("store.url", value, "`sqlite:` and the path of a file"));
        }
        for sitemap in &self.config.crawl.sitemaps {
            if let Err(error) = crate::model::WebUrl::parse(sitemap) {
                let value = format!("`{sitemap}`: {error}");
                return Err(self.refuse("crawl.sitemaps", value, "a list of http(s) addresses"));
            }
        }
        match Scope::new(&self.config.crawl) {
            Ok(_) | Err(ScopeError::NoSeeds) => Ok(()),
            Err(ScopeError::Seed { seed, source }) => {
                let value = format!("`{seed}`: {source}");
                Err(self.refuse("crawl.seeds", value, "a list of absolute http(s) addresses"))
            }
            Err(ScopeError::Pattern { pattern, .. }) => {
                let is_include = self.config.crawl.include.contains(&pattern);
                let key = if is_include { "crawl.include" } else { "crawl.exclude" };
                Err(self.refuse(
                    key,
                    format!("`{pattern}`"),
                    "a list of patterns such as `*/docs/*`",
                ))
            }
        }
    }
}

impl Config {
    /// Checks that a crawl has somewhere to begin.
    ///
    /// # Errors
    ///
    /// Fails where there is no seed.
    pub fn check_seeds(&self, path: &Path) -> Result<(), ConfigError> {
        if self.crawl.seeds.is_empty() {
            return Err(ConfigError::Range {
                path: path.to_owned(),
                line: None,
                key: "crawl.seeds",
                value: "empty".to_owned(),
                want: "a list of absolute http(s) addresses".to_owned(),
            });
        }
        Ok(())
    }
}

/// The defaults as a table, for the test that holds the file against them.
#[cfg(test)]
pub(super) fn defaults() -> toml::Table {
    toml::Table::try_from(Config::default()).unwrap()
}

/// The file of defaults as a table.
#[cfg(test)]
pub(super) fn shipped() -> toml::Table {
    DEFAULT_TOML.parse().unwrap()
}
