//! One page through every stage: what the config makes of it.

#![expect(clippy::unwrap_used, reason = "clippy allows it in tests, but not in their helpers")]

use std::path::Path;

use corpus::config::Config;
use corpus::model::WebUrl;
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
