//! What differs from site to site.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Config;
use crate::extract::{ExtractOptions, HiddenMode};

/// What is kept of the pages of some hosts: a `[[site]]` table. What it leaves out is as `[extract]` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteOptions {
    /// Whose pages.
    pub host: HostPattern,
    /// In place of `extract.main_content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_content: Option<String>,
    /// In place of `extract.keep`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<Vec<String>>,
    /// In place of `extract.drop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop: Option<Vec<String>>,
    /// In place of `extract.hidden`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<HiddenMode>,
}

impl SiteOptions {
    /// `common` with what this table sets.
    pub(super) fn over(&self, common: &ExtractOptions) -> ExtractOptions {
        let mut own = common.clone();
        own.main_content = self.main_content.clone().unwrap_or(own.main_content);
        own.keep = self.keep.clone().unwrap_or(own.keep);
        own.drop = self.drop.clone().unwrap_or(own.drop);
        own.hidden = self.hidden.unwrap_or(own.hidden);
        own
    }
}

/// A host, or `*.` and a domain: that domain and every host below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern {
    name: String,
    is_domain: bool,
}

impl HostPattern {
    /// Whether `host` is meant. Hosts are lower case, as addresses state them.
    pub fn matches(&self, host: &str) -> bool {
        let below = host.strip_suffix(self.name.as_str());
        below.is_some_and(|below| below.is_empty() || self.is_domain && below.ends_with('.'))
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_domain { "*." } else { "" }, self.name)
    }
}

impl FromStr for HostPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (name, is_domain) = match text.strip_prefix("*.") {
            Some(domain) => (domain, true),
            None => (text, false),
        };
        if name.is_empty() || name.contains(['/', '*', '@', ' ']) {
            return Err(format!(
                "`{text}` is not a host such as `docs.example.org`, or `*.example.org` for all below"
            ));
        }
        Ok(Self { name: name.to_lowercase(), is_domain })
    }
}

impl Serialize for HostPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HostPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl Config {
    /// What is kept of the pages of each host that has a `[[site]]` table; the first that matches
    /// counts.
    pub fn sites(&self) -> impl Iterator<Item = (HostPattern, ExtractOptions)> {
        self.site.iter().map(|site| (site.host.clone(), site.over(&self.extract)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_a_host_or_a_domain() {
        let pattern = |text: &str| text.parse::<HostPattern>().unwrap();
        assert!(pattern("docs.example.org").matches("docs.example.org"));
        assert!(!pattern("docs.example.org").matches("old.docs.example.org"));
        assert!(pattern("*.Example.org").matches("docs.example.org"));
        assert!(pattern("*.example.org").matches("example.org"));
        assert!(!pattern("*.example.org").matches("counterexample.org"));
        assert_eq!(pattern("*.example.org").to_string(), "*.example.org");
        assert!("https://example.org/".parse::<HostPattern>().is_err());
    }
}
