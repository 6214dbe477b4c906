//! When runs begin.

use std::str::FromStr as _;

use chrono::DateTime;
use croner::Cron;
use serde::{Deserialize, Serialize};

use crate::model::Timestamp;

/// When runs begin, for `corpus crawl --scheduled`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScheduleOptions {
    /// A cron pattern in UTC; `None` where it is empty.
    pub cron: Option<CronPattern>,
}

/// A cron pattern of five fields, or six with seconds in front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronPattern(Box<Cron>);

impl CronPattern {
    /// The first moment after `now` that it names; `None` where there is none.
    pub fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        let now = DateTime::from_timestamp_micros(now.0)?;
        let next = self.0.find_next_occurrence(&now, false).ok()?;
        Some(Timestamp(next.timestamp_micros()))
    }
}

impl Serialize for CronPattern {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.pattern.to_string())
    }
}

impl<'de> Deserialize<'de> for CronPattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let pattern = Cron::from_str(&text).map_err(|error| {
            serde::de::Error::custom(format!("`{text}` is not a cron pattern: {error}"))
        })?;
        Ok(Self(Box::new(pattern)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_its_next_moment_in_utc() {
        let pattern: CronPattern = serde_json::from_str("\"30 6 * * *\"").unwrap();
        let midnight = Timestamp(1_700_006_400_000_000);
        let half_past_six = Timestamp(midnight.0 + (6 * 60 + 30) * 60_000_000);
        assert_eq!(pattern.next_after(midnight), Some(half_past_six));
        assert_eq!(
            pattern.next_after(half_past_six),
            Some(Timestamp(half_past_six.0 + 86_400_000_000))
        );
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        assert!(serde_json::from_str::<CronPattern>("\"every day\"").is_err());
    }
}
