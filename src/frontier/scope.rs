//! The scope: which addresses may enter the frontier, and why the others may not.

use std::collections::{BTreeSet, HashMap, HashSet};

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::trap::{TrapLimits, TrapReason, trap};
use super::{CrawlOptions, ScopeKind};
use crate::model::{UrlError, WebUrl};

/// Ends of paths that are never pages.
const FILE_TYPES: &[&str] = &[
    "css", "js", "mjs", "map", "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "bmp",
    "tif", "tiff", "woff", "woff2", "ttf", "otf", "eot", "mp3", "mp4", "m4a", "m4v", "ogg", "ogv",
    "wav", "webm", "avi", "mov", "flac", "zip", "gz", "tgz", "bz2", "xz", "zst", "7z", "rar",
    "tar", "jar", "war", "deb", "rpm", "apk", "exe", "msi", "dmg", "iso", "bin", "whl", "so",
    "dll", "class", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "epub",
    "psd", "ai", "eps", "ps",
];

/// Why seeds or patterns make no scope.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// There is nothing to begin with.
    #[error("there is no seed")]
    NoSeeds,
    /// A seed is not an address to fetch.
    #[error("seed `{seed}` cannot be fetched")]
    Seed {
        /// The seed as it was given.
        seed: String,
        /// Why not.
        source: UrlError,
    },
    /// A pattern is not one.
    #[error("`{pattern}` is not a pattern")]
    Pattern {
        /// The pattern as it was given.
        pattern: String,
        /// Why not.
        source: globset::Error,
    },
}

/// Why an address is out of scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScopeRefusal {
    /// It lies on another host.
    OtherHost,
    /// It lies outside the folder of every seed.
    OtherFolder,
    /// No include pattern matches.
    NotIncluded,
    /// An exclude pattern matches.
    Excluded,
    /// Its ending names a kind of file that is no page.
    FileType,
    /// It looks like a trap.
    Trap(TrapReason),
}

impl ScopeRefusal {
    /// The stable, dotted code.
    pub fn code(self) -> &'static str {
        match self {
            Self::OtherHost => "scope.other_host",
            Self::OtherFolder => "scope.other_folder",
            Self::NotIncluded => "scope.not_included",
            Self::Excluded => "scope.excluded",
            Self::FileType => "scope.file_type",
            Self::Trap(reason) => reason.code(),
        }
    }
}

/// Which addresses may enter the frontier.
#[derive(Debug)]
pub struct Scope {
    kind: ScopeKind,
    seeds: Vec<WebUrl>,
    /// The seeds again, to be looked up: a list may be long.
    is_seed: HashSet<WebUrl>,
    /// The folders of the seeds, by host and port.
    folders: HashMap<(String, Option<u16>), BTreeSet<String>>,
    /// The hosts of the seeds.
    domains: HashSet<String>,
    include: GlobSet,
    exclude: GlobSet,
    traps: TrapLimits,
}

impl Scope {
    /// The scope that `options` describe.
    ///
    /// # Errors
    ///
    /// Fails where there is no seed, a seed is not an http(s) address, or a pattern is malformed.
    pub fn new(options: &CrawlOptions) -> Result<Self, ScopeError> {
        let seed = |seed: &String| {
            WebUrl::parse(seed.trim())
                .map_err(|source| ScopeError::Seed { seed: seed.clone(), source })
        };
        let seeds: Vec<WebUrl> = options.seeds.iter().map(seed).collect::<Result<_, _>>()?;
        if seeds.is_empty() {
            return Err(ScopeError::NoSeeds);
        }
        let mut folders: HashMap<_, BTreeSet<String>> = HashMap::new();
        for seed in &seeds {
            let folder = folder(seed.as_url().path()).to_owned();
            folders.entry(place(seed)).or_default().insert(folder);
        }
        Ok(Self {
            kind: options.scope,
            is_seed: seeds.iter().cloned().collect(),
            domains: seeds.iter().map(|seed| bare(seed.host()).to_owned()).collect(),
            folders,
            seeds,
            include: patterns(&options.include)?,
            exclude: patterns(&options.exclude)?,
            traps: options.traps,
        })
    }

    /// Where the crawl begins.
    pub fn seeds(&self) -> &[WebUrl] {
        &self.seeds
    }

    /// Whether the crawl begins at `url`.
    pub fn is_seed(&self, url: &WebUrl) -> bool {
        self.is_seed.contains(url)
    }

    /// Whether a page is to be fetched: one that the config names always is.
    pub fn admits(&self, url: &WebUrl) -> bool {
        self.is_seed(url) || self.check(url).is_ok()
    }

    /// Whether `url` may enter the frontier.
    ///
    /// # Errors
    ///
    /// Fails with the reason why not.
    pub fn check(&self, url: &WebUrl) -> Result<(), ScopeRefusal> {
        self.check_place(url)?;
        if self.exclude.is_match(url.as_str()) {
            return Err(ScopeRefusal::Excluded);
        }
        let is_seed = self.is_seed(url);
        if !self.include.is_empty() && !is_seed && !self.include.is_match(url.as_str()) {
            return Err(ScopeRefusal::NotIncluded);
        }
        if !is_seed && is_file(url.as_url().path()) {
            return Err(ScopeRefusal::FileType);
        }
        trap(url.as_url(), &self.traps).map_or(Ok(()), |reason| Err(ScopeRefusal::Trap(reason)))
    }

    fn check_place(&self, url: &WebUrl) -> Result<(), ScopeRefusal> {
        let folders = || self.folders.get(&place(url)).ok_or(ScopeRefusal::OtherHost);
        match self.kind {
            ScopeKind::Any => Ok(()),
            ScopeKind::Host => folders().map(|_| ()),
            ScopeKind::Domain => {
                // The host itself, and each that it lies below.
                let host = bare(url.host());
                let above = host.match_indices('.').filter_map(|(at, _)| host.get(at + 1..));
                let mut hosts = std::iter::once(host).chain(above);
                let is_below = hosts.any(|host| self.domains.contains(host));
                if is_below { Ok(()) } else { Err(ScopeRefusal::OtherHost) }
            }
            ScopeKind::Prefix => {
                let path = url.as_url().path();
                let mut above = path.match_indices('/').filter_map(|(at, _)| path.get(..=at));
                let folders = folders()?;
                let is_below = above.any(|folder| folders.contains(folder));
                if is_below { Ok(()) } else { Err(ScopeRefusal::OtherFolder) }
            }
        }
    }
}

/// Where a seed reaches to: its host without `www.`, and its port.
fn place(url: &WebUrl) -> (String, Option<u16>) {
    (bare(url.host()).to_owned(), port(url))
}

fn port(url: &WebUrl) -> Option<u16> {
    // A site on both schemes is one host.
    match url.as_url().port_or_known_default() {
        Some(80 | 443) | None => None,
        other => other,
    }
}

fn bare(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

/// A path up to its last slash.
fn folder(path: &str) -> &str {
    path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or("/")
}

fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    FILE_TYPES.contains(&ending.to_ascii_lowercase().as_str())
}

fn patterns(patterns: &[String]) -> Result<GlobSet, ScopeError> {
    let failed =
        |pattern: &str, source| ScopeError::Pattern { pattern: pattern.to_owned(), source };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob: Glob =
            GlobBuilder::new(pattern).build().map_err(|source| failed(pattern, source))?;
        set.add(glob);
    }
    set.build().map_err(|source| failed("", source))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(kind: ScopeKind, include: &[&str], exclude: &[&str]) -> Scope {
        let strings = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        let options = CrawlOptions {
            seeds: vec!["https://www.example.org/docs/index.html".to_owned()],
            scope: kind,
            include: strings(include),
            exclude: strings(exclude),
            ..CrawlOptions::default()
        };
        Scope::new(&options).unwrap()
    }

    #[track_caller]
    fn check(scope: &Scope, url: &str, want: &str) {
        let got = scope.check(&WebUrl::parse(url).unwrap());
        assert_eq!(got.map_or_else(ScopeRefusal::code, |()| "in"), want, "{url}");
    }

    #[test]
    fn the_kind_of_scope_says_how_far() {
        check(&scope(ScopeKind::Host, &[], &[]), "http://www.example.org/a", "in");
        check(&scope(ScopeKind::Host, &[], &[]), "https://example.org/a", "in");
        check(&scope(ScopeKind::Host, &[], &[]), "https://api.example.org/a", "scope.other_host");
        check(&scope(ScopeKind::Domain, &[], &[]), "https://api.example.org/a", "in");
        check(&scope(ScopeKind::Domain, &[], &[]), "https://notexample.org/a", "scope.other_host");
        check(&scope(ScopeKind::Domain, &[], &[]), "https://org/a", "scope.other_host");
        check(
            &scope(ScopeKind::Prefix, &[], &[]),
            "https://www.example.org/docs",
            "scope.other_folder",
        );
        check(&scope(ScopeKind::Prefix, &[], &[]), "https://www.example.org/docs/a", "in");
        check(
            &scope(ScopeKind::Prefix, &[], &[]),
            "https://www.example.org/blog",
            "scope.other_folder",
        );
        check(&scope(ScopeKind::Any, &[], &[]), "https://other.example/", "in");
    }

    #[test]
    fn patterns_narrow_the_scope_and_seeds_stay() {
        let narrow = scope(ScopeKind::Host, &["*/docs/*"], &["*/docs/old/*"]);
        check(&narrow, "https://www.example.org/docs/a", "in");
        check(&narrow, "https://www.example.org/docs/old/a", "scope.excluded");
        check(&narrow, "https://www.example.org/blog/a", "scope.not_included");
        check(&narrow, "https://www.example.org/docs/a.PNG", "scope.file_type");
    }
}
