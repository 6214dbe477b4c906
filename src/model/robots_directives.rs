//! What a page asks of robots: `meta` elements and `X-Robots-Tag` fields.
//!
//! In: the elements' `name` and `content`, the fields' values. Out: [`RobotsDirectives`]. Every
//! directive that binds this crawler counts, wherever it stands, and the strictest wins: nothing
//! that is said elsewhere takes a `noindex` back.
//!
//! It finds no elements, and what a directive leads to is decided by who asks.

use chrono::{DateTime, NaiveDate, NaiveDateTime};

use super::Timestamp;

/// Directives that have a value after a colon, and so look like a crawler's name before one.
const VALUED: &[&str] = &["max-snippet", "max-image-preview", "max-video-preview"];

/// What a page asks of robots, by `meta` elements and `X-Robots-Tag`, the strictest taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RobotsDirectives {
    /// Not to be stored.
    pub noindex: bool,
    /// Its links are not to be followed.
    pub nofollow: bool,
    /// What it says about use by models.
    pub ai_use: AiUse,
}

/// Whether a page wants its text kept from models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AiUse {
    /// It says nothing.
    #[default]
    Unstated,
    /// It says `noai`, which no standard has.
    Refused,
}

impl RobotsDirectives {
    /// Both taken together.
    #[must_use]
    pub fn strictest(self, other: Self) -> Self {
        Self {
            noindex: self.noindex || other.noindex,
            nofollow: self.nofollow || other.nofollow,
            ai_use: self.ai_use.max(other.ai_use),
        }
    }
}

/// Who reads directives, and when.
#[derive(Clone, Copy, Debug)]
pub struct DirectiveReader<'t> {
    /// The crawler's name in directives, compared without regard to case.
    pub product_token: &'t str,
    /// The time that `unavailable_after` is held against.
    pub now: Timestamp,
}

/// Where directives stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Meta,
    Header,
}

impl DirectiveReader<'_> {
    /// Reads a `meta` element; one that is neither for all robots nor for this one says nothing.
    pub fn meta(&self, name: &str, content: &str) -> RobotsDirectives {
        if self.binds(name.trim()) {
            self.read(content, Place::Meta)
        } else {
            RobotsDirectives::default()
        }
    }

    /// Reads the value of an `X-Robots-Tag` field.
    ///
    /// A crawler's name and a colon before a directive bind that one and all that follow it to
    /// that crawler.
    pub fn header(&self, value: &str) -> RobotsDirectives {
        self.read(value, Place::Header)
    }

    fn binds(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(self.product_token)
    }

    fn read(&self, list: &str, place: Place) -> RobotsDirectives {
        let mut directives = RobotsDirectives::default();
        let mut is_bound = true;
        let mut entries = list.split(',').peekable();
        while let Some(entry) = entries.next() {
            let mut entry = entry.trim();
            if let (Place::Header, Some((name, rest))) = (place, agent(entry)) {
                is_bound = self.binds(name);
                entry = rest.trim();
            }
            if !is_bound {
                continue;
            }
            let directive = match unavailable_after(entry) {
                // The comma may be the one after the day of the week.
                Some(date) => self.expiry(date, entries.peek().copied().unwrap_or_default()),
                None => plain(entry),
            };
            directives = directives.strictest(directive);
        }
        directives
    }

    /// What `unavailable_after` says at this time, its date being `date` or the end of `rest`.
    fn expiry(&self, date: &str, rest: &str) -> RobotsDirectives {
        let seconds = unix_seconds(date).or_else(|| unix_seconds(rest));
        let noindex = seconds.is_some_and(|seconds| seconds < self.now.0.div_euclid(1_000_000));
        RobotsDirectives { noindex, ..RobotsDirectives::default() }
    }
}

/// Splits a crawler's name off `entry`.
fn agent(entry: &str) -> Option<(&str, &str)> {
    let (name, rest) = entry.split_once(':')?;
    let name = name.trim_end();
    let is_directive = VALUED.iter().any(|valued| name.eq_ignore_ascii_case(valued))
        || name.eq_ignore_ascii_case("unavailable_after");
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace) && !is_directive;
    is_name.then_some((name, rest))
}

/// The date of an `unavailable_after` directive.
fn unavailable_after(entry: &str) -> Option<&str> {
    let (name, date) = entry.split_once(':')?;
    name.trim_end().eq_ignore_ascii_case("unavailable_after").then_some(date)
}

/// A directive that is a word.
fn plain(entry: &str) -> RobotsDirectives {
    let is = |word: &str| entry.eq_ignore_ascii_case(word);
    RobotsDirectives {
        noindex: is("noindex") || is("none"),
        nofollow: is("nofollow") || is("none"),
        ai_use: if is("noai") { AiUse::Refused } else { AiUse::Unstated },
    }
}

/// Reads a date as sites write it: ISO 8601, RFC 822 or RFC 850, with or without time and zone.
fn unix_seconds(date: &str) -> Option<i64> {
    let date = date.trim();
    if let Ok(moment) = DateTime::parse_from_rfc3339(date) {
        return Some(moment.timestamp());
    }
    if let Ok(day) = NaiveDate::parse_from_str(date, "%Y-%m-%d") {
        return Some(day.and_hms_opt(0, 0, 0)?.and_utc().timestamp());
    }
    if let Ok(moment) = NaiveDateTime::parse_from_str(date, "%Y-%m-%d %H:%M:%S") {
        return Some(moment.and_utc().timestamp());
    }
    let date = date.split_once(',').map_or(date, |(_, date)| date.trim());
    let (day, time) = date.split_once(char::is_whitespace).unwrap_or((date, ""));
    let date = format!("{} {time}", day.replace('-', " "));
    ["", " GMT", " 00:00:00 GMT"]
        .iter()
        .find_map(|rest| DateTime::parse_from_rfc2822(&format!("{}{rest}", date.trim())).ok())
        .map(|moment| moment.timestamp())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2026-06-15T12:00:00Z.
    const READER: DirectiveReader<'_> =
        DirectiveReader { product_token: "ExampleBot", now: Timestamp(1_781_524_800_000_000) };

    fn show(directives: RobotsDirectives) -> String {
        let RobotsDirectives { noindex, nofollow, ai_use } = directives;
        let words =
            [(noindex, "noindex"), (nofollow, "nofollow"), (ai_use == AiUse::Refused, "noai")];
        words.iter().filter(|(said, _)| *said).map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn check_header(value: &str, want: &str) {
        assert_eq!(show(READER.header(value)), want);
    }

    #[track_caller]
    fn check_meta(name: &str, content: &str, want: &str) {
        assert_eq!(show(READER.meta(name, content)), want);
    }

    #[test]
    fn the_strictest_of_all_directives_counts() {
        check_header("NoIndex , follow,nofollow", "noindex nofollow");
        check_header("none", "noindex nofollow");
        check_header("noindex, index, all", "noindex");
        check_header("noarchive, noai, max-snippet: 0", "noai");
        check_header("noindex; nofollow", "");
    }

    #[test]
    fn a_name_binds_what_follows_it() {
        check_header("otherbot: noindex, nofollow", "");
        check_header("nofollow, otherbot: noindex", "nofollow");
        check_header("otherbot: nofollow, examplebot : noindex", "noindex");
        check_header("robots: noindex", "noindex");
        check_header("max-snippet:20, noindex", "noindex");
        check_header("otherbot: unavailable_after: 2020-01-01", "");
    }

    #[test]
    fn a_meta_element_is_for_all_or_for_one() {
        check_meta("ROBOTS", "noindex", "noindex");
        check_meta("examplebot", "nofollow", "nofollow");
        check_meta("otherbot", "noindex", "");
        check_meta("robots", "otherbot: noindex", "");
    }

    #[test]
    fn a_page_is_not_stored_after_its_date() {
        check_header("unavailable_after: 15 Jun 2026 11:59:59 GMT", "noindex");
        check_header("unavailable_after: 15 Jun 2026 12:00:01 GMT", "");
        check_header("unavailable_after: Monday, 15-Jun-26 07:00:00 EST", "");
        check_header(
            "unavailable_after: Mon, 15 Jun 2026 06:00:00 EST, nofollow",
            "noindex nofollow",
        );
        check_header("unavailable_after: 2026-06-15T13:00:00+02:00", "noindex");
        check_header("unavailable_after: 2026-06-14", "noindex");
        check_header("unavailable_after: 14 Jun 2026", "noindex");
        check_header("unavailable_after: some day", "");
        check_meta("robots", "unavailable_after: 2026-06-14 10:00:00", "noindex");
    }

    proptest! {
        #[test]
        fn any_value_is_read(value in "[a-z0-9:,; -]{0,40}") {
            READER.header(&value);
            READER.meta("robots", &value);
        }

        #[test]
        fn directives_in_any_place_add_up(one in "(noindex|nofollow|all|noai)", two in "(noindex|none|index)") {
            let joined = READER.header(&format!("{one}, {two}"));
            prop_assert_eq!(joined, READER.header(&one).strictest(READER.meta("robots", &two)));
        }
    }
}
