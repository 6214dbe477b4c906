//! An address from anyone, absolute or as a link.
#![no_main]

use corpus::model::WebUrl;
use corpus_fuzz::check_address;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let base = WebUrl::parse("https://h.example/a/b?c").expect("an address");
    for url in [WebUrl::parse(text), base.join(text)].into_iter().flatten() {
        check_address(&url);
        assert_eq!(base.join(url.as_str()).as_ref(), Ok(&url), "an absolute link leads elsewhere");
        let with_fragment = WebUrl::parse(&format!("{url}#part")).expect("an address");
        assert_eq!(with_fragment, url, "a fragment makes another page");
        let mark = if url.as_url().query().is_some() { '&' } else { '?' };
        if let Ok(tracked) = WebUrl::parse(&format!("{url}{mark}utm_source=x")) {
            assert_eq!(tracked.key(), url.key(), "a tracking parameter makes another page");
        }
    }
});
