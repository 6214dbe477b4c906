//! Scores the pure parts of the crawler against conformance data from elsewhere.
//!
//! The data are read where they lie: the folder in the environment variable
//! `CORPUS_CONFORMANCE`, else `../shared/conformance` beside the project. A file that is absent is
//! skipped with a word, so the tests pass on any machine.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a scoring test reads its folder from the environment, prints its score, and may end \
              at the first line that it cannot read"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use corpus::fetch::robots::{ROBOTS_MAX_BYTES, RobotsRules};
use serde_json::Value;
use url::Url;

/// The cases of one file, or of a part of it, and how they went.
struct Score {
    name: &'static str,
    passed: usize,
    failed: Vec<String>,
}

impl Score {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            passed: 0,
            failed: Vec::new(),
        }
    }

    /// Counts a case that gave `got` where `want` was due.
    fn count<T: PartialEq + std::fmt::Debug>(&mut self, id: &str, got: &T, want: &T) {
        if got == want {
            self.passed += 1;
        } else {
            self.failed
                .push(format!("{id}: got {got:?}, want {want:?}"));
        }
    }

    /// Prints the score; fails the test where more than `tolerated` of all cases failed.
    fn settle(self, tolerated: f64) {
        let failed = self.failed.len();
        let mut report = format!("{}: {} passed, {failed} failed", self.name, self.passed);
        for id in &self.failed {
            write!(report, "\n  {id}").unwrap();
        }
        println!("{report}");
        let all = f64::from(u32::try_from(self.passed + failed).unwrap());
        assert!(
            f64::from(u32::try_from(failed).unwrap()) <= all * tolerated,
            "{report}"
        );
    }
}

/// The cases of a file, one a line; none where the file is absent.
fn cases(file: &str) -> Vec<Value> {
    let folder = std::env::var_os("CORPUS_CONFORMANCE").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/conformance"),
        PathBuf::from,
    );
    let path = folder.join(file);
    let Ok(text) = fs::read_to_string(&path) else {
        println!("{file}: skipped, there is no `{}`", path.display());
        return Vec::new();
    };
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The text under `key`, empty where there is none.
fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap_or_default()
}

/// The bytes that stand under `encoded_key` in base 64, else under `key` as text.
fn bytes(case: &Value, key: &str, encoded_key: &str) -> Vec<u8> {
    let encoded = case[encoded_key].as_str();
    encoded.map_or_else(|| text(case, key).as_bytes().to_vec(), base64)
}

fn base64(encoded: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<usize> = encoded.chars().filter_map(|c| DIGITS.find(c)).collect();
    let mut decoded = Vec::new();
    for group in digits.chunks(4) {
        let bits = group.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - group.len()));
        let octets = u32::try_from(bits).unwrap().to_be_bytes();
        decoded.extend(octets.into_iter().skip(1).take(group.len() - 1));
    }
    decoded
}

fn is_allowed(rules: &RobotsRules, address: &str) -> bool {
    let base = Url::parse("http://h.example/").unwrap();
    rules.verdict(&base.join(address).unwrap()).allowed
}

#[test]
fn robots_rules_are_read_as_the_standard_says() {
    let mut score = Score::new("robots_cases");
    for case in cases("robots_cases.jsonl") {
        if matches!(text(&case, "tier"), "core" | "rfc") {
            let body = bytes(&case, "robots_txt", "robots_b64");
            let rules = RobotsRules::parse(&body, text(&case, "user_agent"), ROBOTS_MAX_BYTES);
            let want = case["allowed"].as_bool().unwrap();
            score.count(
                text(&case, "id"),
                &is_allowed(&rules, text(&case, "url")),
                &want,
            );
        }
    }
    score.settle(0.0);
}

#[test]
fn real_robots_files_are_read_as_by_others() {
    let mut score = Score::new("robots_real");
    for case in cases("robots_real.jsonl") {
        let body = bytes(&case, "robots_txt", "robots_b64");
        for probe in case["probes"].as_array().unwrap() {
            let (agent, url) = (probe[0].as_str().unwrap(), probe[1].as_str().unwrap());
            let rules = RobotsRules::parse(&body, agent, ROBOTS_MAX_BYTES);
            let id = format!("{} {agent} {url}", text(&case, "file"));
            score.count(&id, &is_allowed(&rules, url), &probe[2].as_bool().unwrap());
        }
    }
    score.settle(0.0);
}
