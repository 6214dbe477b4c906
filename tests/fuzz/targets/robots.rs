//! A robots.txt from anyone: the first line is the address that is asked about.
#![no_main]

use corpus::fetch::robots::{ROBOTS_MAX_BYTES, RobotsRules};
use corpus::model::WebUrl;
use corpus_fuzz::first_line;
use libfuzzer_sys::fuzz_target;
use url::Url;

const TOKEN: &str = "corpusbot";

fn allows(body: &[u8], url: &Url) -> bool {
    RobotsRules::parse(body, TOKEN, ROBOTS_MAX_BYTES).verdict(url).allowed
}

fuzz_target!(|data: &[u8]| {
    let (path, body) = first_line(data);
    let base = WebUrl::parse("http://h.example/").expect("an address");
    let Ok(url) = base.join(&String::from_utf8_lossy(path)) else { return };
    let (base, url) = (base.as_url(), url.as_url());
    let rules = RobotsRules::parse(body, TOKEN, ROBOTS_MAX_BYTES);
    let verdict = rules.verdict(url);
    assert_eq!(verdict.rule.is_some(), verdict.line.is_some());
    assert!(verdict.allowed || verdict.rule.is_some(), "no line forbids it");
    let file = url.join("/robots.txt").expect("an address");
    assert!(rules.verdict(&file).allowed, "robots.txt itself is closed");
    let _all =
        (rules.usage(url), rules.crawl_delay(), rules.sitemaps().len(), rules.memory_bytes());

    // The group of another crawler in front says nothing to this one.
    if !body.starts_with(b"\xef") {
        let prefixed = [b"User-agent: zz\nDisallow: /\n".as_slice(), body].concat();
        assert_eq!(allows(&prefixed, url), verdict.allowed, "another group binds");
    }
    // How lines end does not matter.
    let crlf: Vec<u8> = body
        .iter()
        .flat_map(|byte| if *byte == b'\n' { b"\r\n".to_vec() } else { vec![*byte] })
        .collect();
    assert_eq!(allows(&crlf, url), verdict.allowed, "line ends matter");
    // The limit never lets half a line apply: what is left are lines of the file.
    let cut = RobotsRules::parse(body, TOKEN, body.len() / 2).verdict(url);
    if let Some(rule) = &cut.rule {
        let file = String::from_utf8_lossy(body).into_owned();
        let mut lines = file.split(['\n', '\r']);
        assert!(lines.any(|line| line.contains(rule.as_str())), "`{rule}` is no line");
    }
    // A long file and a long address: libFuzzer's time limit tells where time is not linear.
    let long = body.repeat(1 + 65_536 / (body.len() + 1));
    let far = format!("/{}", url.path().repeat(1 + 2_000 / url.path().len()));
    if let Ok(far) = base.join(&far) {
        allows(&long, &far);
    }
});
