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

use std::cell::Cell;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use corpus::fetch::address::AddressPolicy;
use corpus::fetch::charset::declared_encoding;
use corpus::fetch::retry_after::parse_retry_after;
use corpus::fetch::robots::{ROBOTS_MAX_BYTES, RobotsRules};
use corpus::frontier::trap::{TrapLimits, trap};
use corpus::model::{CanonicalUrl, DirectiveReader, RobotsDirectives, Timestamp, resolve};
use html5ever::tokenizer::{
    BufferQueue, Tag, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use serde_json::Value;
use url::Url;

/// The cases of one file, or of a part of it, and how they went.
pub(crate) struct Score {
    name: &'static str,
    passed: usize,
    failed: Vec<String>,
}

impl Score {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, passed: 0, failed: Vec::new() }
    }

    /// Counts a case that gave `got` where `want` was due.
    pub(crate) fn count<T: PartialEq + std::fmt::Debug>(&mut self, id: &str, got: &T, want: &T) {
        if got == want {
            self.passed += 1;
        } else {
            self.failed.push(format!("{id}: got {got:?}, want {want:?}"));
        }
    }

    /// Prints the score; fails the test where more than `tolerated` of all cases failed.
    pub(crate) fn settle(self, tolerated: f64) {
        let failed = self.failed.len();
        let mut report = format!("{}: {} passed, {failed} failed", self.name, self.passed);
        for id in &self.failed {
            write!(report, "\n  {id}").unwrap();
        }
        println!("{report}");
        let all = f64::from(u32::try_from(self.passed + failed).unwrap());
        assert!(f64::from(u32::try_from(failed).unwrap()) <= all * tolerated, "{report}");
    }
}

/// The cases of a file, one a line; none where the file is absent.
pub(crate) fn cases(file: &str) -> Vec<Value> {
    let folder = std::env::var_os("CORPUS_CONFORMANCE").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/conformance"),
        PathBuf::from,
    );
    let path = folder.join(file);
    let Ok(text) = fs::read_to_string(&path) else {
        println!("{file}: skipped, there is no `{}`", path.display());
        return Vec::new();
    };
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The text under `key`, empty where there is none.
pub(crate) fn text<'a>(case: &'a Value, key: &str) -> &'a str {
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
            score.count(text(&case, "id"), &is_allowed(&rules, text(&case, "url")), &want);
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

#[test]
fn addresses_are_refused_that_are_not_public() {
    let mut score = Score::new("ip_cases");
    let policy = AddressPolicy::default();
    for case in cases("ip_cases.jsonl") {
        let got = policy.check(text(&case, "addr").parse().unwrap()).is_ok();
        score.count(text(&case, "addr"), &got, &case["allowed"].as_bool().unwrap());
    }
    score.settle(0.0);
}

/// A page that declares nothing is expected to be in the default of western browsers.
#[test]
fn declared_charsets_are_found() {
    let mut score = Score::new("charset_cases");
    for case in cases("charset_cases.jsonl") {
        let body = bytes(&case, "data", "data_b64");
        let mark = encoding_rs::Encoding::for_bom(&body).map(|(encoding, _)| encoding);
        let encoding = mark.or_else(|| declared_encoding(&body));
        let got = encoding.map_or("windows-1252", encoding_rs::Encoding::name);
        let want = text(&case, "encoding").to_ascii_lowercase();
        score.count(text(&case, "id"), &got.to_ascii_lowercase(), &want);
    }
    score.settle(0.0);
}

/// Cases that turn on the status alone, not on the value, are not about the parser.
#[test]
fn retry_after_is_a_number_or_a_date() {
    let mut score = Score::new("retry_after_cases");
    for case in cases("retry_after_cases.jsonl") {
        let now = httpdate::parse_http_date(text(&case, "now")).unwrap();
        let now = now.duration_since(UNIX_EPOCH).unwrap().as_secs();
        let wait = parse_retry_after(text(&case, "value"), i64::try_from(now).unwrap());
        let got = match wait.map(|wait| wait.as_secs()) {
            None => Value::from("backoff"),
            Some(seconds) if seconds > 600 => Value::from("park"),
            Some(seconds) => Value::from(seconds),
        };
        match case["expect_wait_s"].as_str() {
            Some("none" | "ignored or waited") => {}
            _ => score.count(text(&case, "id"), &got, &case["expect_wait_s"]),
        }
    }
    score.settle(0.0);
}

/// Takes the directives of a page's `meta` elements.
struct MetaElements {
    reader: DirectiveReader<'static>,
    found: Cell<RobotsDirectives>,
}

impl TokenSink for MetaElements {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        if let Token::TagToken(tag) = token
            && &*tag.name == "meta"
        {
            let found = self.reader.meta(attribute(&tag, "name"), attribute(&tag, "content"));
            self.found.set(self.found.get().strictest(found));
        }
        TokenSinkResult::Continue
    }
}

fn attribute<'a>(tag: &'a Tag, name: &str) -> &'a str {
    tag.attrs.iter().find(|a| &*a.name.local == name).map_or("", |a| &*a.value)
}

#[test]
fn robots_directives_bind_as_written() {
    let mut score = Score::new("meta_robots_cases");
    // 2026-11-30T12:00:00Z.
    let now = Timestamp(1_796_040_000_000_000);
    let reader = DirectiveReader { product_token: "corpusbot", now };
    for case in cases("meta_robots_cases.jsonl") {
        let found = Cell::new(RobotsDirectives::default());
        let page = Tokenizer::new(MetaElements { reader, found }, TokenizerOpts::default());
        let input = BufferQueue::default();
        input.push_back(text(&case, "head").into());
        drop(page.feed(&input));
        page.end();
        let fields = case["headers"].as_array().unwrap().iter();
        let directives = fields
            .map(|field| reader.header(field.as_str().unwrap()))
            .fold(page.sink.found.get(), RobotsDirectives::strictest);
        let want = &case["expect"];
        let got = (Value::from(!directives.noindex), Value::from(!directives.nofollow));
        score.count(text(&case, "id"), &got, &(want["store"].clone(), want["follow"].clone()));
    }
    score.settle(0.0);
}

/// The cases of `policy` and `kind` in the file of addresses.
fn url_cases(policy: &str, kind: &str) -> Vec<Value> {
    let mut cases = cases("url_cases.jsonl");
    cases.retain(|case| text(case, "policy") == policy && text(case, "kind") == kind);
    cases
}

#[test]
fn addresses_are_parsed_as_browsers_do() {
    let mut score = Score::new("url_cases (whatwg)");
    for case in url_cases("whatwg", "parse") {
        let input = text(&case, "input");
        let parsed = match case["base"].as_str() {
            Some(base) => Url::parse(base).and_then(|base| resolve(&base, input)),
            None => Url::parse(input),
        };
        let got = parsed.map_or(Value::Null, |url| Value::from(url.as_str()));
        score.count(text(&case, "id"), &got, &case["expect"]);
    }
    score.settle(0.01);
}

#[test]
fn addresses_have_one_canonical_form() {
    let mut score = Score::new("url_cases (corpus-default)");
    for case in url_cases("corpus-default", "canonical") {
        let got = CanonicalUrl::parse(text(&case, "input"));
        let got = got.map_or(Value::Null, |url| Value::from(url.as_str()));
        score.count(text(&case, "id"), &got, &case["expect"]);
    }
    score.settle(0.0);
}

#[test]
fn traps_show_in_the_shape_of_an_address() {
    let mut score = Score::new("url_cases (trap)");
    for case in url_cases("corpus-default", "trap") {
        let url = Url::parse(text(&case, "input")).unwrap();
        let got = trap(&url, &TrapLimits::default()).is_none();
        score.count(text(&case, "id"), &got, &case["expect"].as_bool().unwrap());
    }
    score.settle(0.0);
}
