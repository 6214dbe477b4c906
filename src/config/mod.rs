//! What did the user ask for?
//!
//! In: a TOML file. Out: a [`Config`] that is valid as a whole, so that nothing has to be checked
//! after the first request. Every mistake is said with the file, the line and the key.
//!
//! It opens no other file than those that the config names as lists of seeds and as tokenizer, and
//! knows the environment only through the look-up it is given.

mod error;
mod read;
mod schedule;
mod sites;

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use self::error::ConfigError;
pub use self::schedule::{CronPattern, ScheduleOptions};
pub use self::sites::{HostPattern, SiteOptions};
use crate::chunk::{CHUNKER_VERSION, ChunkOptions, Tokenizer, TokenizerName};
use crate::clean::CleanOptions;
use crate::demo::DemoOptions;
use crate::extract::ExtractOptions;
use crate::fetch::{FetchOptions, PolitenessOptions};
use crate::frontier::CrawlOptions;
use crate::model::{ContentHash, Ratio};
use crate::output::OutputOptions;
use crate::quality::QualityOptions;
use crate::store::{DedupOptions, RecrawlOptions, StoreOptions};

/// The config that states every option with its default, unit and reason.
pub const DEFAULT_TOML: &str = include_str!("../../config/default.toml");

/// Grows when the same page and config become other Markdown: what an older program made is then
/// fetched and made anew. So is it where [`CHUNKER_VERSION`] changes.
pub const CONTENT_VERSION: u32 = 3;

/// All that can be set, a table for each stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// What is crawled.
    pub crawl: CrawlOptions,
    /// How politely.
    pub politeness: PolitenessOptions,
    /// How pages are asked for.
    pub fetch: FetchOptions,
    /// What is kept of a page.
    pub extract: ExtractOptions,
    /// What is kept of the pages of some hosts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub site: Vec<SiteOptions>,
    /// What is residue.
    pub clean: CleanOptions,
    /// Which pages are wanted.
    pub quality: QualityOptions,
    /// How chunks are cut.
    pub chunk: ChunkOptions,
    /// What `chunk.tokenizer` names, ready to count.
    #[serde(skip)]
    pub tokenizer: Tokenizer,
    /// What is a duplicate.
    pub dedup: DedupOptions,
    /// Where the state is kept.
    pub store: StoreOptions,
    /// Where the corpus is written.
    pub output: OutputOptions,
    /// When pages are visited again.
    pub recrawl: RecrawlOptions,
    /// How the program runs.
    pub run: RunOptions,
    /// When runs begin, for `corpus crawl --scheduled`.
    pub schedule: ScheduleOptions,
    /// A folder to serve as a site while it is crawled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demo: Option<DemoOptions>,
}

/// How the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunOptions {
    /// Share of pages that may fail before the exit code is 3.
    pub max_failure_ratio: Ratio,
    /// Threads that convert pages. 0 is one for each processor.
    pub threads: usize,
    /// Memory for pages on their way, in bytes.
    pub memory_bytes: usize,
    /// How often a page may end the program before it is given up.
    pub max_crashes: u32,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            max_failure_ratio: Ratio::from_thousandths(100),
            threads: 0,
            memory_bytes: 256 * 1024 * 1024,
            max_crashes: 3,
        }
    }
}

impl RunOptions {
    /// Share of the memory that bodies in flight may take, and that their conversion may take. The
    /// rest is for what came of them, and for what the program takes without any page.
    const BODY_SHARE: usize = 8;

    /// Memory for bodies in flight, in bytes.
    pub fn body_bytes(&self) -> usize {
        self.memory_bytes / Self::BODY_SHARE
    }

    /// Memory for what conversion makes of pages meanwhile, in bytes.
    pub fn conversion_bytes(&self) -> usize {
        self.memory_bytes / Self::BODY_SHARE
    }
}

impl Config {
    /// Reads the config at `path`. `env` looks a variable of the environment up.
    ///
    /// # Errors
    ///
    /// Fails where the file cannot be read, is not TOML, has a key that does not exist or a value
    /// of the wrong type or range, or names a variable that is not set.
    pub fn load(path: &Path, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(&text, path, env)
    }

    /// Reads a config from `text`; `path` is where it stands, for messages and relative paths.
    ///
    /// # Errors
    ///
    /// As [`Config::load`], without the reading.
    pub fn parse(
        text: &str,
        path: &Path,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let mut config = read::read(text, path, env)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        config.output.path = beside(folder, &config.output.path);
        if let Some(state) = config.store.path() {
            config.store.url = format!("sqlite:{}", beside(folder, state).display());
        }
        if let Some(demo) = &mut config.demo {
            demo.folder = beside(folder, &demo.folder);
        }
        Ok(config)
    }

    /// Keeps of every page, whatever its host, what `main_content` says.
    pub fn set_main_content(&mut self, main_content: &str) {
        main_content.clone_into(&mut self.extract.main_content);
        self.site.iter_mut().for_each(|site| site.main_content = None);
    }

    /// The file that the state is kept in.
    pub fn state_path(&self) -> PathBuf {
        self.store.path().unwrap_or(Path::new("state.db")).to_owned()
    }

    /// Hash of everything that decides what a page becomes: equal hashes give equal chunks.
    pub fn content_hash(&self) -> ContentHash {
        let policies = (self.politeness.robots, self.politeness.usage_policy);
        let mut chunk = self.chunk.clone();
        if let Some(hash) = self.tokenizer.file_hash() {
            // What a tokenizer does is decided by what its file holds, not by where it lies.
            chunk.tokenizer = TokenizerName::File(hash.to_string().into());
        }
        let extract = (&self.extract, &self.site);
        let deciding = (
            (CONTENT_VERSION, CHUNKER_VERSION),
            policies,
            extract,
            &self.clean,
            &self.quality,
            &chunk,
            self.dedup.exact,
        );
        ContentHash::of(serde_json::to_string(&deciding).unwrap_or_default().as_bytes())
    }
}

/// `path` relative to `folder`, with `name/..` taken together so that it reads well.
fn beside(folder: &Path, path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in folder.join(path).components() {
        let is_named = matches!(plain.components().next_back(), Some(Component::Normal(_)));
        if part == Component::ParentDir && is_named {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

#[cfg(test)]
mod tests;
