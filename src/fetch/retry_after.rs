//! How long a server asks to be left alone (RFC 9110 §10.2.3).
//!
//! In: the value of a `Retry-After` field and the time. Out: a duration, or none where the value
//! means nothing. Whether to wait so long, and for which hosts, is not decided here.

use std::time::{Duration, UNIX_EPOCH};

/// Longest wait that is told apart, in seconds: a century, beyond which sums might overflow.
const MAX_SECONDS: u64 = 100 * 366 * 24 * 60 * 60;

/// Reads the value of a `Retry-After` field at `now`, in seconds since 1970.
///
/// It is a number of seconds or one of the three forms of an HTTP date. A date that has passed
/// gives zero.
pub fn parse_retry_after(value: &str, now: i64) -> Option<Duration> {
    let value = value.trim_matches([' ', '\t']);
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        // Only a number that is too large fails to parse.
        let seconds = value.parse().unwrap_or(u64::MAX);
        return Some(Duration::from_secs(seconds.min(MAX_SECONDS)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let date = date.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let wait = i128::from(date) - i128::from(now);
    let seconds = u64::try_from(wait.max(0)).unwrap_or(u64::MAX);
    Some(Duration::from_secs(seconds.min(MAX_SECONDS)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2027-03-01T09:00:00Z, a Monday.
    const NOW: i64 = 1_803_891_600;

    #[track_caller]
    fn check(value: &str, want: Option<u64>) {
        assert_eq!(parse_retry_after(value, NOW).map(|wait| wait.as_secs()), want);
    }

    #[test]
    fn seconds_are_digits() {
        check(" 120 ", Some(120));
        check("0", Some(0));
        check("99999999999999999999999", Some(MAX_SECONDS));
        check("-1", None);
        check("+1", None);
        check("0.5", None);
        check("", None);
    }

    #[test]
    fn a_date_has_three_forms() {
        check("Mon, 01 Mar 2027 09:00:30 GMT", Some(30));
        check("Monday, 01-Mar-27 09:01:00 GMT", Some(60));
        check("Mon Mar  1 09:00:01 2027", Some(1));
        check("Mon, 01 Mar 2027 08:00:00 GMT", Some(0));
        check("tomorrow", None);
    }

    proptest! {
        #[test]
        fn a_wait_is_never_longer_than_a_century(value in "[0-9A-Za-z:, -]{0,30}", now: i64) {
            let wait = parse_retry_after(&value, now).unwrap_or_default();
            prop_assert!(wait.as_secs() <= MAX_SECONDS);
        }
    }
}
