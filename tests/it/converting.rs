//! One page through every stage: what the config makes of it.

#![expect(clippy::unwrap_used, reason = "clippy allows it in tests, but not in their helpers")]

use std::path::Path;

use corpus::config::Config;
use corpus::model::{Exclusion, PageOutcome, WebUrl};
use corpus::pipeline::{Converted, Converter, PageInput};

fn convert(config: &str, url: &str, html: &str) -> Converted {
    let config = Config::parse(config, Path::new("site.toml"), &|_| None).unwrap();
    let base = WebUrl::parse(url).unwrap();
    let input = PageInput::new(url.to_owned(), Some(base), "text/html", html.as_bytes().to_vec());
    Converter::new(&config).convert(&input, "run-000001")
}

#[test]
fn each_host_has_the_main_content_that_its_table_names() {
    let config = "[extract]\nmain_content = \"off\"\n\
                  [[site]]\nhost = \"*.example.org\"\nmain_content = \"#a\"\ndrop = [\"i\"]\n";
    let html = "<p id=a>one <i>two</i></p><p>three</p>";
    let markdown = |url| convert(config, url, html).record.markdown.into_string();
    assert_eq!(markdown("http://docs.example.org/"), "one\n");
    assert_eq!(markdown("http://example.com/"), "one *two*\n\nthree\n");
}

#[test]
fn a_page_that_is_not_wanted_is_excluded_with_its_measures_and_leads_on() {
    let config = "[quality]\nlanguages = [\"de\"]\n";
    let html = "<p>The lighthouse stood at the end of the pier, and nobody had lit it for many \
                years. <a href=/keeper>The keeper</a> had left with the last ship.</p>";
    let page = convert(config, "http://example.org/", html);
    assert_eq!(page.record.outcome, PageOutcome::Excluded(Exclusion::Language));
    assert_eq!(page.record.metadata.lang.as_deref(), Some("en"));
    assert_eq!(page.record.quality.unwrap().words, 25);
    assert_eq!((page.record.markdown.as_str(), page.record.chunks.len()), ("", 0));
    assert_eq!(page.outlinks, [WebUrl::parse("http://example.org/keeper").unwrap()]);
    let page = convert("[quality]\nmin_words = 25\n", "http://example.org/", html);
    assert_eq!(page.record.outcome, PageOutcome::Collected);
    let page =
        convert("[quality]\nheuristics = [\"gopher.word_count\"]\n", "http://a.example/", html);
    assert_eq!(page.record.outcome, PageOutcome::Excluded(Exclusion::Heuristic));
}
