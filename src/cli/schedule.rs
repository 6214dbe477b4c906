//! Runs that come again: `corpus crawl --every` and `--scheduled`.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::config::CronPattern;
use crate::model::Timestamp;
use crate::pipeline::Clock;

/// When the next run begins. A moment that passes while a run is still busy is skipped.
#[derive(Clone, Debug)]
pub(super) enum Schedule {
    /// At the start, and then at every multiple of this from there.
    Every(Duration),
    /// At the moments that a pattern names.
    Cron(CronPattern),
}

impl Schedule {
    /// How long to wait at `now` for the next run of a schedule that began at `began`.
    pub(super) fn wait(&self, began: Timestamp, now: Timestamp) -> Option<Duration> {
        match self {
            Self::Every(every) => {
                let every = i64::try_from(every.as_micros()).unwrap_or(i64::MAX).max(1);
                let since = now.0.saturating_sub(began.0).max(0);
                Some(Duration::from_micros((every - since % every).unsigned_abs()))
            }
            Self::Cron(pattern) => {
                let next = pattern.next_after(now)?;
                Some(Duration::from_micros((next.0 - now.0).max(0).unsigned_abs()))
            }
        }
    }

    /// Whether the first run begins at once.
    pub(super) fn begins_at_once(&self) -> bool {
        matches!(self, Self::Every(_))
    }

    /// Waits for the next run; false where `stop` comes first or there is none.
    pub(super) async fn next(&self, began: Timestamp, stop: &CancellationToken) -> bool {
        let Some(wait) = self.wait(began, Clock::System.now()) else { return false };
        tokio::select! {
            () = tokio::time::sleep(wait) => true,
            () = stop.cancelled() => false,
        }
    }
}

/// Reads `90s`, `30m`, `6h` or `1d`.
pub(super) fn parse_every(text: &str) -> Result<Duration, String> {
    let what = "a whole number and one of s, m, h, d, such as `6h`";
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or(what)?;
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(what.to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| what.to_owned())?;
    if number == 0 {
        return Err("at least `1s`".to_owned());
    }
    Ok(Duration::from_secs(number.saturating_mul(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;

    #[test]
    fn a_tick_that_a_run_overran_is_skipped() {
        let schedule = Schedule::Every(Duration::from_secs(10));
        let wait = |now| schedule.wait(Timestamp(5 * SECOND), Timestamp(now * SECOND));
        assert_eq!(wait(7), Some(Duration::from_secs(8)));
        assert_eq!(wait(15), Some(Duration::from_secs(10)));
        assert_eq!(wait(38), Some(Duration::from_secs(7)));
        // A clock that was set back never makes it wait longer than once around.
        assert_eq!(wait(0), Some(Duration::from_secs(10)));
    }

    #[test]
    fn times_are_read_with_their_unit() {
        assert_eq!(parse_every("90m"), Ok(Duration::from_mins(90)));
        assert_eq!(parse_every("1d"), Ok(Duration::from_hours(24)));
        for bad in ["", "h", "6", "0h", "-1h", "6 h", "1w", "é"] {
            assert!(parse_every(bad).is_err(), "{bad}");
        }
    }
}
