//! Addresses that look like the inside of a trap: endless paths and endless parameters.
//!
//! In: an address. Out: what is suspicious about its shape, if anything. Only the shape is looked
//! at; traps of other kinds (calendars, facets) show in what their pages hold, not here.

use std::collections::HashMap;

use url::Url;

/// What an address may look like at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrapLimits {
    /// Longest address, in bytes.
    pub max_bytes: usize,
    /// Segments of the path.
    pub max_segments: usize,
    /// How often one segment may occur in the path, wherever it does. Relative links without a
    /// first slash repeat segments without end, and not always one right after the other.
    pub max_segment_repeats: usize,
    /// Query parameters.
    pub max_parameters: usize,
    /// Query parameters of one name.
    pub max_parameter_repeats: usize,
}

impl Default for TrapLimits {
    /// The values that other large crawlers have used for years.
    fn default() -> Self {
        Self {
            max_bytes: 2_083,
            max_segments: 20,
            max_segment_repeats: 2,
            max_parameters: 12,
            max_parameter_repeats: 3,
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
        }
    }
}

/// Says what is suspicious about `url`: the first of the reasons, in their order.
pub fn trap(url: &Url, limits: &TrapLimits) -> Option<TrapReason> {
    if url.as_str().len() > limits.max_bytes {
        return Some(TrapReason::Length);
    }
    let (segments, repeats) = count(url.path().split('/'));
    if segments > limits.max_segments {
        return Some(TrapReason::Depth);
    }
    if repeats > limits.max_segment_repeats {
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

    #[test]
    fn endless_paths_are_traps() {
        check("/a/a/a", "trap.repeated_segment");
        check("/a/b/a/c/a/", "trap.repeated_segment");
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
