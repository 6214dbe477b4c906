//! A sitemap or feed from anyone.
#![no_main]

use std::io::Write as _;

use corpus::frontier::{SitemapLimits, parse_sitemap};
use corpus::model::WebUrl;
use corpus_fuzz::check_address;
use flate2::Compression;
use flate2::write::GzEncoder;
use libfuzzer_sys::fuzz_target;

const LIMITS: SitemapLimits = SitemapLimits { max_bytes: 1 << 16, max_entries: 50 };

fuzz_target!(|data: &[u8]| {
    let base = WebUrl::parse("https://h.example/s/map.xml").expect("an address");
    let list = parse_sitemap(data, &base, &LIMITS);
    let entries = list.pages.len() + list.sitemaps.len() + list.refused;
    assert!(entries <= LIMITS.max_entries);
    list.pages.iter().map(|page| &page.url).chain(&list.sitemaps).for_each(check_address);
    let dates = list.pages.iter().filter_map(|page| page.lastmod.as_ref());
    dates.for_each(|date| assert!(!date.is_empty() && date.len() <= 64));
    if !data.starts_with(&[0x1f, 0x8b]) && data.len() < LIMITS.max_bytes {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(data).expect("memory");
        let packed = packed.finish().expect("memory");
        assert_eq!(parse_sitemap(&packed, &base, &LIMITS), list, "packing makes another list");
    }
});
