//! Scores how a robots.txt is fetched, kept and renewed, against conformance data from elsewhere
//! and a server that answers each case's bytes.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use corpus::fetch::robots::ROBOTS_MAX_BYTES;
use corpus::fetch::{Budget, FetchOptions, Fetcher, PolitenessOptions, RobotsAnswer, RobotsFile};
use corpus::model::{Timestamp, WebUrl};
use serde_json::Value;

use crate::conformance::{Score, cases, text};

const RULES: &str = "User-agent: *\nDisallow: /x\n";

/// A server that gives one answer a connection, the last one for ever.
struct RawSite {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
}

impl RawSite {
    fn start(answers: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let n = count.fetch_add(1, Ordering::AcqRel);
                let answer = answers.get(n).or(answers.last()).cloned().unwrap_or_default();
                std::thread::spawn(move || reply(connection.unwrap(), &answer));
            }
        });
        Self { address, asked }
    }

    fn url(&self) -> WebUrl {
        WebUrl::parse(&format!("http://{}/", self.address)).unwrap()
    }
}

/// Reads a request and writes an answer; a client may leave before its end.
fn reply(mut connection: TcpStream, answer: &[u8]) {
    let mut request = [0; 4_096];
    let _read = connection.read(&mut request);
    if answer == SILENCE {
        // Until the client gives up.
        let _read = connection.read(&mut request);
        return;
    }
    let is_endless = answer.ends_with(ENDLESS);
    let mut is_open = connection.write_all(answer).is_ok();
    while is_endless && is_open {
        is_open = connection.write_all(ENDLESS).is_ok();
    }
}

const SILENCE: &[u8] = b"silence";
const ENDLESS: &[u8] = b"# and so on, and so on, and so on\n";

/// The bytes of one answer of a case.
fn answer(case: &Value) -> Vec<u8> {
    if let Some(error) = case["error"].as_str() {
        return match error {
            "read-timeout" => SILENCE.to_vec(),
            "reset-mid-body" => b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nUser-agent".to_vec(),
            _ => Vec::new(),
        };
    }
    let mut fields: Vec<String> =
        vec![format!("HTTP/1.1 {} X", case["status"]), "Connection: close".to_owned()];
    for (name, value) in case["headers"].as_object().into_iter().flatten() {
        fields.push(format!("{name}: {}", value.as_str().unwrap()));
    }
    fields.extend(case["location"].as_str().map(|location| match location {
        "same-host" | "other-host" => "Location: /elsewhere".to_owned(),
        location => format!("Location: {location}"),
    }));
    let body = body(case["body"].as_str().unwrap_or_default());
    if !body.ends_with(ENDLESS) {
        fields.push(format!("Content-Length: {}", body.len()));
    }
    [fields.join("\r\n").as_bytes(), b"\r\n\r\n", &body].concat()
}

fn body(told: &str) -> Vec<u8> {
    let filler = |bytes: usize| ENDLESS.repeat(bytes / ENDLESS.len());
    match told {
        "@600k:rule@100k" => [
            b"User-agent: *\n".to_vec(),
            filler(100 << 10),
            b"Disallow: /x\n".to_vec(),
            filler(500 << 10),
            b"#".to_vec(),
        ]
        .concat(),
        "@600k:Allow line cut at limit" => {
            let mut body = [RULES.as_bytes(), &filler(ROBOTS_MAX_BYTES)].concat();
            body.truncate(ROBOTS_MAX_BYTES - 9);
            body.extend_from_slice(b"\nAllow: /x/is/longer\n");
            body.extend(filler(100 << 10));
            body.push(b'#');
            body
        }
        "@endless" => [RULES.as_bytes(), ENDLESS].concat(),
        plain => plain.as_bytes().to_vec(),
    }
}

fn fetcher() -> Fetcher {
    let options = FetchOptions {
        first_byte_timeout_secs: 1,
        connect_timeout_secs: 1,
        allow_private: vec!["127.0.0.0/8".to_owned()],
        ..FetchOptions::default()
    };
    let politeness = PolitenessOptions {
        delay_ms: 0,
        retry_base_ms: 1,
        retry_after_max_secs: 30,
        ..PolitenessOptions::default()
    };
    Fetcher::new(&options, &politeness, Budget::new(64 << 20)).unwrap()
}

/// What a robots.txt amounts to.
fn seen(file: &RobotsFile) -> String {
    let may = |path: &str| {
        file.rules
            .verdict(WebUrl::parse(&format!("http://h.example{path}")).unwrap().as_url())
            .allowed
    };
    let rules = match (may("/x"), may("/y")) {
        (true, true) => "allow-all",
        (false, true) => "rules",
        (false, false) => "disallow-all",
        (true, false) => "nonsense",
    };
    let is_deferred = matches!(file.answer, RobotsAnswer::Unreachable(_));
    let rest = file.retry_after.map_or(String::new(), |rest| format!(" after {}", rest.as_secs()));
    format!("{rules}{}{rest}", if is_deferred { " deferred" } else { "" })
}

fn wanted(expect: &str, case: &Value) -> String {
    let rest = case["chain"][0]["headers"]["Retry-After"].as_str();
    let rest = rest.map_or(String::new(), |secs| format!(" after {secs}"));
    if expect.contains("disallow-all") {
        format!("disallow-all deferred{rest}")
    } else if expect.starts_with("allow-all") {
        "allow-all".to_owned()
    } else {
        "rules".to_owned()
    }
}

#[tokio::test]
async fn a_robots_file_is_fetched_as_the_standard_says() {
    let mut score = Score::new("robots_fetch_cases (fetched)");
    for case in cases("robots_fetch_cases.jsonl") {
        let answers = match &case["chain"] {
            Value::Array(chain) if chain[0]["status"] != 304 => chain.iter().map(answer).collect(),
            Value::String(word) if word == "loop" => {
                vec![answer(&serde_json::json!({"status": 301, "location": "same-host"}))]
            }
            _ => continue,
        };
        let mut url = RawSite::start(answers).url();
        if case["chain"][0]["error"] == "dns-failure" {
            url = WebUrl::parse("http://no-such-name.invalid/").unwrap();
        }
        let file = fetcher().robots(&url, Timestamp::default()).await;
        score.count(text(&case, "id"), &seen(&file), &wanted(text(&case, "expect"), &case));
    }
    score.settle(0.0);
}

const HOUR: i64 = 3_600_000_000;

fn found(fields: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {length}\r\n{fields}\r\n{body}"
    )
    .into_bytes()
}

/// Reads a robots.txt whose second answer is `second`, and again after `hours`.
async fn read_twice(fields: &str, second: Vec<u8>, hours: i64) -> String {
    let site = RawSite::start(vec![found(fields, RULES), second]);
    let fetcher = fetcher();
    let now = Timestamp(HOUR);
    let old = fetcher.robots(&site.url(), now).await;
    let later = Timestamp(now.0 + hours * HOUR);
    if !old.is_stale(later) {
        return "kept".to_owned();
    }
    let file = fetcher.renewed_robots(&site.url(), old, later).await;
    assert!(!file.is_stale(later));
    format!("{} in {} requests", seen(&file), site.asked.load(Ordering::Acquire))
}

#[tokio::test]
async fn a_robots_file_is_kept_for_a_day() {
    let refusal = || b"HTTP/1.1 503 X\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec();
    let closed = || found("", "User-agent: *\nDisallow: /\n");
    assert_eq!(read_twice("", closed(), 23).await, "kept");
    assert_eq!(read_twice("", closed(), 25).await, "disallow-all in 2 requests");
    assert_eq!(
        read_twice("Cache-Control: max-age=600\r\n", closed(), 1).await,
        "disallow-all in 2 requests"
    );
    assert_eq!(
        read_twice("Cache-Control: max-age=99999999\r\n", closed(), 25).await,
        "disallow-all in 2 requests"
    );
    assert_eq!(read_twice("Cache-Control: no-store\r\n", closed(), 0).await, "kept");
    assert_eq!(read_twice("", refusal(), 25).await, "rules in 4 requests");
    assert_eq!(read_twice("", refusal(), 31 * 24).await, "disallow-all deferred in 4 requests");
    let unchanged = b"HTTP/1.1 304 X\r\nConnection: close\r\n\r\n".to_vec();
    assert_eq!(read_twice("ETag: \"a\"\r\n", unchanged, 25).await, "rules in 2 requests");
}
