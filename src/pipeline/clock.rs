//! The time of day: the one place where the program reads it.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::model::Timestamp;

/// Tells the time of day, which goes into columns and never into an id.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// The system's.
    System,
    /// One that stands still.
    Fixed(Timestamp),
}

impl Clock {
    /// The time.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
    pub fn now(self) -> Timestamp {
        match self {
            Self::Fixed(time) => time,
            Self::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
            }
        }
    }
}
