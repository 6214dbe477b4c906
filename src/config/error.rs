//! What is wrong with a config, said to the person who wrote it.

use std::io;
use std::path::PathBuf;

/// What is wrong with a config file, said to the person who wrote it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the config `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not TOML, or a value has the wrong type.
    #[error("`{}` is not a valid config\n{}", path.display(), source.to_string().trim_end())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        source: Box<toml::de::Error>,
    },
    /// A key does not exist.
    #[error("there is no key `{key}` (`{}`, line {line})", path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The line of the key.
        line: usize,
        /// The key, dotted from the top.
        key: String,
        /// The key that was probably meant.
        nearest: Option<String>,
    },
    /// A value is outside its range, or not what its key needs.
    #[error("`{key}` is {value}, but must be {want} (`{}`{})", path.display(), at_line(*line))]
    Range {
        /// The file.
        path: PathBuf,
        /// The line of the key, where it is in the file.
        line: Option<usize>,
        /// The key, dotted from the top.
        key: &'static str,
        /// The value as it was set.
        value: String,
        /// The range, as words that follow "must be".
        want: String,
    },
    /// A value names a variable that is not set.
    #[error("the variable `{name}` is not set (`{}`, line {line})", path.display())]
    Secret {
        /// The file.
        path: PathBuf,
        /// The line that names it.
        line: usize,
        /// The variable.
        name: String,
    },
}

fn at_line(line: Option<usize>) -> String {
    line.map_or(String::new(), |line| format!(", line {line}"))
}

impl ConfigError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreadable { .. } => {
                Some("`corpus init` writes a config to start from".to_owned())
            }
            Self::UnknownKey { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`?"))
            }
            Self::UnknownKey { .. } | Self::Invalid { .. } => {
                Some("`corpus init` prints every key with its default".to_owned())
            }
            Self::Range { key: "crawl.seeds", .. } => {
                Some("set `seeds = [\"https://…/\"]` in the table `[crawl]`".to_owned())
            }
            Self::Range { .. } => None,
            Self::Secret { name, .. } => Some(format!("run `export {name}=…` first")),
        }
    }
}
