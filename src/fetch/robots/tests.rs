//! Whole files, as a crawler named `ExampleBot` reads them.

use proptest::prelude::*;

use super::*;

fn parse(body: &str) -> RobotsRules {
    RobotsRules::parse(body.as_bytes(), "ExampleBot", ROBOTS_MAX_BYTES)
}

fn address(path: &str) -> Url {
    Url::parse("http://h.example").unwrap().join(path).unwrap()
}

/// `want` is the deciding line, `+` or `-` before it; `+` alone where no line matches.
#[track_caller]
fn check(body: &str, path: &str, want: &str) {
    let verdict = parse(body).verdict(&address(path));
    let sign = if verdict.allowed { '+' } else { '-' };
    let line = verdict.line.map_or(String::new(), |line| format!(" {line}: "));
    assert_eq!(format!("{sign}{line}{}", verdict.rule.unwrap_or_default()), want);
}

#[test]
fn the_longest_pattern_decides_and_of_equals_the_one_that_allows() {
    let body = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b\n";
    check(body, "/a/x", "- 2: Disallow: /a");
    check(body, "/a/b", "+ 3: Allow: /a/b");
    check(body, "/c", "+");
}

#[test]
fn the_groups_that_name_the_crawler_hold_merged_and_no_other() {
    let body = "User-agent: *\nDisallow: /\n\
        User-agent: examplebot\nDisallow: /a\n\
        User-agent: other\nDisallow: /c\n\
        User-agent: EXAMPLEBOT/2.1\nDisallow: /b # not yet\n";
    check(body, "/a", "- 4: Disallow: /a");
    check(body, "/b", "- 8: Disallow: /b");
    check(body, "/c", "+");
    check("User-agent: *\nDisallow: /a\nUser-agent: * \nDisallow: /b", "/b", "- 4: Disallow: /b");
}

#[test]
fn a_name_is_compared_whole() {
    check("User-agent: example\nDisallow: /", "/a", "+");
    check("User-agent: examplebot-news\nDisallow: /", "/a", "+");
    check("User-agent: *bot\nDisallow: /", "/a", "+");
}

#[test]
fn only_a_rule_ends_the_names_of_a_group() {
    let group =
        |between: &str| format!("User-agent: ExampleBot\n{between}\nUser-agent: b\nDisallow: /x\n");
    check(&group("Crawl-delay: 5"), "/x", "- 4: Disallow: /x");
    check(&group("Sitemap: /s.xml"), "/x", "- 4: Disallow: /x");
    check(&group("Something: else"), "/x", "- 4: Disallow: /x");
    check(&group("Allow: /"), "/x", "+ 2: Allow: /");
    check(&group("Disallow:"), "/x", "+");
}

#[test]
fn lines_are_read_leniently() {
    check("\u{feff}user-agent:*\r\ndisallow:/a", "/a", "- 2: disallow:/a");
    check("User-agent: *\rDisallow: /a\r", "/a", "- 2: Disallow: /a");
    check("useragent *\ndissalow /a", "/a", "- 2: dissalow /a");
    check("User-agent: *\nDisallow /a b", "/a", "+");
    check("Disallow: /a\nUser-agent: other", "/a", "+");
    check("User-agent: *\n\0Disallow: /a\0\n", "/a", "- 2: Disallow: /a");
    check("<pre>\nUser-agent: *\nDisallow: /a\n</pre>", "/a", "- 3: Disallow: /a");
}

#[test]
fn robots_txt_itself_is_always_allowed() {
    check("User-agent: *\nDisallow: /", "/robots.txt", "+");
    assert!(RobotsRules::disallow_all().verdict(&address("/robots.txt")).allowed);
}

#[test]
fn without_a_file_all_or_nothing_is_allowed() {
    assert!(RobotsRules::allow_all().verdict(&address("/a")).allowed);
    assert!(!RobotsRules::disallow_all().verdict(&address("/a")).allowed);
}

#[test]
fn a_line_cut_by_the_limit_does_not_apply() {
    let body = b"User-agent: *\nDisallow: /\nAllow: /private";
    for max_bytes in 24..body.len() {
        let rules = RobotsRules::parse(body, "ExampleBot", max_bytes);
        assert!(rules.verdict(&address("/a")).allowed == (max_bytes < 25), "{max_bytes}");
    }
}

#[test]
fn the_longest_delay_of_the_merged_groups_holds() {
    let delay = |body: &str| parse(body).crawl_delay().map(|delay| delay.as_millis());
    let body = "User-agent: ExampleBot\nCrawl-delay: 2\n\
        User-agent: *\nCrawl-delay: 9\nAllow: /\nUser-agent: ExampleBot\nCrawl-Delay: 2.5";
    assert_eq!(delay("User-agent: *\nCrawl-delay: 1.5"), Some(1500));
    assert_eq!(delay(body), Some(9000));
    assert_eq!(delay("User-agent: *\nCrawl-delay: 9\nAllow: /\nUser-agent: ExampleBot"), None);
    assert_eq!(delay("User-agent: *\nCrawl-delay: -1\nCrawl-delay: soon"), None);
}

#[test]
fn sitemaps_stand_outside_of_groups() {
    let rules =
        parse("SITEMAP: /a.xml\nUser-agent: other\nSitemap: http://h.example/b.xml\nSitemap:");
    assert_eq!(rules.sitemaps(), ["/a.xml", "http://h.example/b.xml"]);
}

#[track_caller]
fn check_usage(lines: &str, path: &str, want: &str) {
    let UsagePreferences { ai_input, search, ai_train } =
        parse(&format!("User-agent: *\n{lines}\nAllow: /")).usage(&address(path));
    assert_eq!(format!("{ai_input:?} {search:?} {ai_train:?}"), want);
}

#[test]
fn usage_is_what_the_longest_matching_path_says() {
    let signal = "Content-Signal: search=yes, ai-input=no, ai-train=no, use=reference";
    check_usage(signal, "/", "Refused Allowed Refused");
    check_usage("Content-Usage: train-ai=n, search=y", "/a", "Unstated Allowed Refused");
    let scoped = "Content-Usage: train-ai=n\nContent-Usage: /open/ train-ai=y";
    check_usage(scoped, "/open/a", "Unstated Unstated Allowed");
    check_usage(scoped, "/a", "Unstated Unstated Refused");
    check_usage(
        "Content-Signal: ai-input=yes\nContent-Signal: AI-Input=NO",
        "/",
        "Refused Unstated Unstated",
    );
    check_usage("Content-Signal: ai-input", "/", "Unstated Unstated Unstated");
}

#[test]
fn a_hostile_file_is_judged_without_backtracking() {
    let stars = "*a".repeat(200);
    let mut body = String::from("User-agent: *\n");
    while body.len() < ROBOTS_MAX_BYTES - 500 {
        body.push_str("Disallow: ");
        body.push_str(&stars);
        body.push_str("b\n");
    }
    let rules = parse(&body);
    let path = format!("/{}", "a".repeat(2_000));
    // Backtracking would not come to an end here.
    assert!(rules.verdict(&address(&path)).allowed);
}

proptest! {
    #[test]
    fn any_bytes_give_an_answer(
        body in proptest::collection::vec(any::<u8>(), 0..200), max_bytes in 0_usize..200,
    ) {
        let rules = RobotsRules::parse(&body, "ExampleBot", max_bytes);
        rules.verdict(&address("/a"));
        rules.usage(&address("/a"));
    }

    #[test]
    fn a_file_cut_anywhere_never_opens_what_the_whole_lines_close(cut in 0_usize..80) {
        let body = "User-agent: *\nDisallow: /\nAllow: /public/\nAllow: /private/open/\n";
        let rules = RobotsRules::parse(body.as_bytes(), "ExampleBot", cut);
        let is_closed = cut >= "User-agent: *\nDisallow: /".len();
        prop_assert_eq!(rules.verdict(&address("/private/a")).allowed, !is_closed);
    }
}
