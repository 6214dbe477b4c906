//! Addresses that look like the inside of a trap: endless paths and endless parameters.
//!
//! In: an address, or a link from one to another. Out: what is suspicious about its shape, if
//! anything. Only the shape is looked at; traps of other kinds show in what their pages hold, and
//! are found by [`SeriesWatch`](super::SeriesWatch).

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use url::Url;

/// From where on addresses, and series of pages, count as traps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrapLimits {
    /// Longest address, in bytes.
    pub max_url_bytes: usize,
    /// Segments of the path.
    pub max_segments: usize,
    /// How often one segment may occur in the path, wherever it does. Relative links without a
    /// first slash repeat segments without end, and not always one right after the other.
    pub max_segment_repeats: usize,
    /// Segments of the path that have occurred in it before, all together: links that go down by
    /// several names take turns.
    pub max_repeated_segments: usize,
    /// Query parameters.
    pub max_parameters: usize,
    /// Query parameters of one name.
    pub max_parameter_repeats: usize,
    /// Query parameters from which on a page of choices leads to no further choice.
    pub max_choices: usize,
    /// Pages in a row without a text of their own after which a series is left.
    pub max_repeated_pages: u32,
    /// Pages in a row that lead nowhere new after which a series of dates is left.
    pub max_barren_dates: u32,
}

impl Default for TrapLimits {
    /// For the shape of addresses, the values that other large crawlers have used for years.
    fn default() -> Self {
        Self {
            max_url_bytes: 2_083,
            max_segments: 20,
            max_segment_repeats: 2,
            max_repeated_segments: 1,
            max_parameters: 12,
            max_parameter_repeats: 3,
            max_choices: 2,
            max_repeated_pages: 50,
            max_barren_dates: 6,
        }
    }
}

/// What is suspicious about an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TrapReason {
    /// It is too long.
    Length,
    /// Its path has too many segments.
    Depth,
    /// A segment of its path occurs too often.
    RepeatedSegment,
    /// It has too many parameters.
    Parameters,
    /// It has too many parameters of one name.
    RepeatedParameter,
    /// It adds one more choice to a page of choices.
    Facet,
    /// Its series has had no new text for long.
    Repeating,
    /// Its series of dates leads nowhere else.
    Calendar,
}

impl TrapReason {
    /// The stable code.
    pub fn code(self) -> &'static str {
        match self {
            Self::Length => "trap.length",
            Self::Depth => "trap.depth",
            Self::RepeatedSegment => "trap.repeated_segment",
            Self::Parameters => "trap.parameters",
            Self::RepeatedParameter => "trap.repeated_parameter",
            Self::Facet => "trap.facet",
            Self::Repeating => "trap.repeating",
            Self::Calendar => "trap.calendar",
        }
    }
}

/// Says what is suspicious about `url`: the first of the reasons, in their order.
pub fn trap(url: &Url, limits: &TrapLimits) -> Option<TrapReason> {
    if url.as_str().len() > limits.max_url_bytes {
        return Some(TrapReason::Length);
    }
    let segments = || url.path().split('/').filter(|segment| !segment.is_empty());
    let (length, repeats) = count(segments());
    if length > limits.max_segments {
        return Some(TrapReason::Depth);
    }
    // Numbers name things, and one number may name several.
    let names = || segments().filter(|name| !name.bytes().all(|b| b.is_ascii_digit()));
    let repeated = names().count() - names().collect::<HashSet<_>>().len();
    if repeats > limits.max_segment_repeats || repeated > limits.max_repeated_segments {
        return Some(TrapReason::RepeatedSegment);
    }
    let parameters = url.query().unwrap_or_default().split('&');
    let names = parameters.map(|parameter| parameter.split('=').next().unwrap_or_default());
    let (parameters, repeats) = count(names);
    if parameters > limits.max_parameters {
        return Some(TrapReason::Parameters);
    }
    (repeats > limits.max_parameter_repeats).then_some(TrapReason::RepeatedParameter)
}

/// Parameters that page through a list: they choose nothing.
const PAGERS: &[&str] =
    &["page", "p", "pg", "paged", "pageno", "start", "offset", "from", "skip", "after", "cursor"];

/// Says what is suspicious about a link from the page `from` to `to`: a page of choices, such as
/// a shop's filters, leads to itself with one choice more, and so to every set of choices. A few
/// are followed, and the pages of a list always.
pub fn link_trap(from: &Url, to: &Url, limits: &TrapLimits) -> Option<TrapReason> {
    if from.path() != to.path() || from.host() != to.host() {
        return None;
    }
    let (own, others): (Vec<_>, Vec<_>) = (parameters(from).collect(), parameters(to).collect());
    let adds = others.len() > own.len() && own.iter().all(|parameter| others.contains(parameter));
    if !adds || own.len() < limits.max_choices {
        return None;
    }
    let is_pager = |parameter: &&str| {
        let name = parameter.split('=').next().unwrap_or_default();
        PAGERS.iter().any(|pager| name.eq_ignore_ascii_case(pager))
    };
    let is_choice = |parameter: &&str| !own.contains(parameter) && !is_pager(parameter);
    let is_repeated = others.iter().filter(|parameter| own.contains(parameter)).count() > own.len();
    (others.iter().any(is_choice) || is_repeated).then_some(TrapReason::Facet)
}

fn parameters(url: &Url) -> impl Iterator<Item = &str> {
    url.query().unwrap_or_default().split('&').filter(|parameter| !parameter.is_empty())
}

/// How many of `words` are not empty, and how often the most frequent of these occurs.
fn count<'a>(words: impl Iterator<Item = &'a str>) -> (usize, usize) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in words.filter(|word| !word.is_empty()) {
        *counts.entry(word).or_default() += 1;
    }
    (counts.values().sum(), counts.into_values().max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, want: &str) {
        let url = Url::parse("http://h.example").unwrap().join(path).unwrap();
        assert_eq!(trap(&url, &TrapLimits::default()).map_or("", TrapReason::code), want);
    }

    #[track_caller]
    fn check_link(from: &str, to: &str, want: &str) {
        let base = Url::parse("http://h.example").unwrap();
        let (from, to) = (base.join(from).unwrap(), base.join(to).unwrap());
        assert_eq!(
            link_trap(&from, &to, &TrapLimits::default()).map_or("", TrapReason::code),
            want
        );
    }

    #[test]
    fn choices_are_followed_to_the_second() {
        check_link("/shop", "/shop?a=1", "");
        check_link("/shop?a=1", "/shop?a=1&b=1", "");
        check_link("/shop?a=1&b=1", "/shop?c=1&a=1&b=1", "trap.facet");
        check_link("/shop?a=1&b=1", "/shop?a=1&b=1&b=1", "trap.facet");
        check_link("/shop?a=1&b=1", "/shop?a=1&b=2", "");
        check_link("/topic?f=3&t=5", "/topic?f=3&t=5&start=20", "");
        check_link("/shop?a=1&b=1", "/item?a=1&b=1&c=1", "");
    }

    #[test]
    fn endless_paths_are_traps() {
        check("/a/a/a", "trap.repeated_segment");
        check("/a/b/a/c/a/", "trap.repeated_segment");
        check("/a/b/a/b/", "trap.repeated_segment");
        check("/users/1/posts/1", "");
        check("/0/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20", "trap.depth");
        check(&format!("/{}", "a".repeat(2_083)), "trap.length");
    }

    #[test]
    fn endless_parameters_are_traps() {
        check("/?a=1&a=2&a&a=3", "trap.repeated_parameter");
        check("/?a&b&c&d&e&f&g&h&i&j&k&l&m", "trap.parameters");
    }

    #[test]
    fn usual_addresses_are_not() {
        check("/", "");
        check("/docs/docs/api//x", "");
        check("/2026/01/01/1?a=1&a=1&a=1&&&", "");
    }
}
