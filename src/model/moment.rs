//! Reads moments as pages write them.
//!
//! In: a date from a page's metadata. Out: microseconds since 1970 in UTC, or nothing. Promise:
//! no text is an error. It does not guess: a date whose order of day and month is open is nothing.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};

use super::Timestamp;

/// Forms with an offset, besides RFC 3339 and RFC 2822.
const WITH_OFFSET: &[&str] =
    &["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z", "%Y-%m-%d %H:%M:%S%.f %#z"];

/// Forms without an offset: taken as UTC.
const WITHOUT_OFFSET: &[&str] =
    &["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];

/// Forms of a day: taken as its beginning in UTC.
const DAYS: &[&str] = &["%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d %B %Y", "%B %d, %Y"];

impl Timestamp {
    /// Reads `text`, or `None` where it has no known form.
    pub fn parse(text: &str) -> Option<Self> {
        parse_moment(text).map(Self)
    }
}

fn parse_moment(text: &str) -> Option<i64> {
    let text = text.trim();
    DateTime::parse_from_rfc3339(text)
        .or_else(|_| DateTime::parse_from_rfc2822(text))
        .ok()
        .or_else(|| WITH_OFFSET.iter().find_map(|form| DateTime::parse_from_str(text, form).ok()))
        .map(|moment| moment.timestamp_micros())
        .or_else(|| parse_local(text).map(|moment| moment.and_utc().timestamp_micros()))
}

fn parse_local(text: &str) -> Option<NaiveDateTime> {
    let moment =
        WITHOUT_OFFSET.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    moment.or_else(|| {
        let day = DAYS.iter().find_map(|form| NaiveDate::parse_from_str(text, form).ok())?;
        Some(day.and_time(NaiveTime::MIN))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let got = parse_moment(text)
            .and_then(DateTime::from_timestamp_micros)
            .map_or_else(|| "nothing".to_owned(), |moment| moment.format("%FT%T%.f").to_string());
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn an_offset_is_applied() {
        check("2024-05-01T10:00:00+02:00", "2024-05-01T08:00:00");
        check("2024-05-01T10:00:00.250Z", "2024-05-01T10:00:00.250");
        check("2024-05-01T10:00:00+0200", "2024-05-01T08:00:00");
        check("2024-05-01 10:00:00 +0200", "2024-05-01T08:00:00");
        check("2024-05-01T10:00Z", "2024-05-01T10:00:00");
        check("Wed, 01 May 2024 10:00:00 GMT", "2024-05-01T10:00:00");
    }

    #[test]
    fn a_moment_without_offset_is_utc() {
        check(" 2024-05-01 10:00 ", "2024-05-01T10:00:00");
        check("2024-05-01T10:00:00", "2024-05-01T10:00:00");
    }

    #[test]
    fn a_day_is_its_beginning() {
        check("2024-05-01", "2024-05-01T00:00:00");
        check("20240501", "2024-05-01T00:00:00");
        check("1 May 2024", "2024-05-01T00:00:00");
        check("May 1, 2024", "2024-05-01T00:00:00");
    }

    #[test]
    fn what_could_mean_two_days_is_nothing() {
        check("01/05/2024", "nothing");
        check("yesterday", "nothing");
        check("", "nothing");
        check("2024-13-45T99:00:00Z", "nothing");
    }
}
