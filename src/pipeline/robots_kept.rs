//! The robots.txt files of the authorities at work, within a bound.
//!
//! Those that were not used for longest go first. An authority that comes back after that is asked
//! for its file again, as after a day.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Mutex as Turns;

use crate::fetch::RobotsFile;

/// Memory for files, in bytes: some twenty thousand usual ones.
const MOST_BYTES: usize = 16 << 20;

/// An authority's robots.txt once it is read. Whoever needs it waits for whoever reads it.
pub(super) type KeptRobots = Arc<Turns<Option<Arc<RobotsFile>>>>;

/// What is kept of the robots.txt files of all authorities.
#[derive(Debug, Default)]
pub(super) struct RobotsKept(Mutex<Files>);

#[derive(Debug, Default)]
struct Files {
    by_authority: HashMap<String, Place>,
    bytes: usize,
    /// Counts uses: the larger, the later.
    now: u64,
}

#[derive(Debug, Default)]
struct Place {
    file: KeptRobots,
    bytes: usize,
    used: u64,
}

impl RobotsKept {
    fn with<T>(&self, work: impl FnOnce(&mut Files) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Where the file of `authority` is, or is to be put.
    pub(super) fn place(&self, authority: String) -> KeptRobots {
        self.with(|files| {
            files.now += 1;
            let place = files.by_authority.entry(authority).or_default();
            place.used = files.now;
            Arc::clone(&place.file)
        })
    }

    /// Notes that `file` was put into the place of `authority`.
    pub(super) fn note(&self, authority: &str, file: &RobotsFile) {
        self.with(|files| {
            let bytes = size_of::<Place>() + authority.len() + file.rules.memory_bytes();
            if let Some(place) = files.by_authority.get_mut(authority) {
                files.bytes = files.bytes + bytes - place.bytes;
                place.bytes = bytes;
            }
            if files.bytes > MOST_BYTES {
                files.forget(MOST_BYTES / 2);
            }
        });
    }
}

impl Files {
    /// Forgets files that nobody reads at the moment, until the rest takes at most `most` bytes.
    fn forget(&mut self, most: usize) {
        let mut by_use: Vec<(u64, String)> =
            self.by_authority.iter().map(|(name, place)| (place.used, name.clone())).collect();
        by_use.sort_unstable();
        for (_, authority) in by_use {
            if self.bytes <= most {
                return;
            }
            let is_idle = |place: &Place| Arc::strong_count(&place.file) == 1;
            if self.by_authority.get(&authority).is_some_and(is_idle)
                && let Some(place) = self.by_authority.remove(&authority)
            {
                self.bytes -= place.bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_used_files_go_when_there_are_too_many() {
        let kept = RobotsKept::default();
        let file = RobotsFile::ignored();
        let in_use = kept.place("http://first.example".to_owned());
        kept.note("http://first.example", &file);
        for n in 0..200_000 {
            let authority = format!("http://h{n}.example");
            kept.place(authority.clone());
            kept.note(&authority, &file);
        }
        kept.with(|files| {
            assert!(files.bytes <= MOST_BYTES);
            let sum: usize = files.by_authority.values().map(|place| place.bytes).sum();
            assert_eq!(files.bytes, sum);
            assert!(files.by_authority.contains_key("http://h199999.example"));
            assert!(!files.by_authority.contains_key("http://h0.example"));
        });
        assert!(Arc::ptr_eq(&in_use, &kept.place("http://first.example".to_owned())));
    }
}
