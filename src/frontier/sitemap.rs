//! Sitemaps and feeds: lists of a site's pages.
//!
//! In: the body of a sitemap, sitemap index (sitemaps.org), text list, RSS, Atom or JSON feed,
//! gzipped or not, and its address. Out: [`Sitemap`].
//!
//! Promises:
//!
//! - Any bytes give a result; of a body that breaks off, what came before the break is kept.
//! - Memory is bounded by the limits, whatever the body unpacks to. No entity is expanded but the
//!   five of XML and character references, so nothing grows after unpacking.
//!
//! Names count without their namespace, since many sitemaps have a wrong one or none. Addresses
//! on other hosts are returned as well: whether they may enter the frontier is for the scope. It
//! fetches nothing, so depth and cycles of indexes are for the caller.

use std::io::Read as _;

use flate2::bufread::MultiGzDecoder;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::model::{UrlError, WebUrl};

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// Bytes that are unpacked at a time.
const PIECE_BYTES: usize = 1 << 16;

/// Attributes of one element that are looked at: a feed's link has three.
const MAX_ATTRIBUTES: usize = 16;

/// Longest date that is kept, in bytes: the longest form of ISO 8601 has 35.
const MAX_DATE_BYTES: usize = 64;

/// How much of a sitemap is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SitemapLimits {
    /// Longest unpacked body, in bytes.
    pub max_bytes: usize,
    /// Most pages and sitemaps together.
    pub max_entries: usize,
}

impl Default for SitemapLimits {
    /// The bytes that sitemaps.org allows, 50 MiB, which no honest sitemap comes near, and twice
    /// the entries, 100,000, for sites that do not keep to it.
    fn default() -> Self {
        Self { max_bytes: 50 << 20, max_entries: 100_000 }
    }
}

/// What a sitemap lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// The pages, in order.
    pub pages: Vec<SitemapEntry>,
    /// Further sitemaps, in order.
    pub sitemaps: Vec<WebUrl>,
    /// Entries whose address is none that may be asked for.
    pub refused: usize,
    /// Whether the body breaks off, is malformed or exceeds a limit, so that entries are missing.
    pub is_cut: bool,
}

/// A page in a sitemap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SitemapEntry {
    /// Its address.
    pub url: WebUrl,
    /// When it was last changed, as the sitemap writes it.
    pub lastmod: Option<String>,
}

/// Reads `body` as the sitemap at `base`.
pub fn parse_sitemap(body: &[u8], base: &WebUrl, limits: &SitemapLimits) -> Sitemap {
    let mut sitemap = Sitemap::default();
    let unpacked;
    let mut body = body;
    if body.starts_with(GZIP_MAGIC) {
        (unpacked, sitemap.is_cut) = gunzip(body, limits.max_bytes);
        body = &unpacked;
    }
    if let Some(start) = body.get(..limits.max_bytes) {
        sitemap.is_cut |= start.len() < body.len();
        body = start;
    }
    // The mark decides between UTF-8 and UTF-16; sitemaps in other encodings are not allowed.
    let (text, _, _) = encoding_rs::UTF_8.decode(body);
    let mut list = List { sitemap, base, max_entries: limits.max_entries, is_over: false };
    match text.trim_start().chars().next() {
        Some('<') => list.read_xml(&text),
        Some('{') => list.read_json(&text),
        _ => list.read_lines(&text),
    }
    list.sitemap
}

/// How many bytes a packed one may become: far more than any list of addresses.
const MAX_RATIO: usize = 200;

/// Unpacked bytes that are always read.
const GRACE_BYTES: usize = 1 << 20;

/// The start of what `body` unpacks to, and whether something is missing. What unpacks to more
/// than [`MAX_RATIO`] times its size is no list, and is read no further.
fn gunzip(body: &[u8], max_bytes: usize) -> (Vec<u8>, bool) {
    let mut unpacked = Vec::new();
    // The last bytes state the length, so that a whole list needs no more room than it takes.
    let stated = body.last_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize);
    let honest = stated.min(max_bytes).min(body.len().saturating_mul(MAX_RATIO));
    if unpacked.try_reserve_exact(honest + PIECE_BYTES).is_err() {
        return (unpacked, true);
    }
    let mut decoder = MultiGzDecoder::new(body);
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let Ok(read) = decoder.read(&mut piece) else { return (unpacked, true) };
        unpacked.extend_from_slice(piece.get(..read).unwrap_or_default());
        let packed = body.len() - decoder.get_ref().len();
        let most = packed.saturating_mul(MAX_RATIO).max(GRACE_BYTES).min(max_bytes);
        if read == 0 || unpacked.len() > most {
            let is_cut = unpacked.len() > most;
            unpacked.truncate(most);
            return (unpacked, is_cut);
        }
    }
}

/// What an entry is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A page in a sitemap.
    Page,
    /// A sitemap in an index.
    Sitemap,
    /// A page in a feed.
    Post,
}

impl Kind {
    /// The kind of entry that an element begins.
    fn of(name: &[u8]) -> Option<Self> {
        match name {
            b"url" => Some(Self::Page),
            b"sitemap" => Some(Self::Sitemap),
            b"item" | b"entry" => Some(Self::Post),
            _ => None,
        }
    }
}

/// What the text of an element is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Address,
    Date,
}

/// An entry while it is read.
struct Entry {
    kind: Kind,
    /// How many elements are open around its fields.
    depth: usize,
    address: String,
    date: String,
}

impl Entry {
    /// The part of the entry that an element of its own holds: each but once.
    fn field_of(&self, name: &[u8]) -> Option<Field> {
        match (name, self.kind) {
            (b"loc", Kind::Page | Kind::Sitemap) | (b"link", Kind::Post) => {
                self.address.is_empty().then_some(Field::Address)
            }
            (b"lastmod" | b"updated" | b"pubdate" | b"date", _) => {
                self.date.is_empty().then_some(Field::Date)
            }
            _ => None,
        }
    }

    fn field(&mut self, field: Field) -> &mut String {
        match field {
            Field::Address => &mut self.address,
            Field::Date => &mut self.date,
        }
    }
}

/// A sitemap while it is read.
struct List<'a> {
    sitemap: Sitemap,
    base: &'a WebUrl,
    max_entries: usize,
    /// Whether there was one entry more.
    is_over: bool,
}

/// A JSON Feed (jsonfeed.org, version 1.1), as far as it names pages.
#[derive(serde::Deserialize)]
struct JsonFeed {
    items: Vec<JsonItem>,
}

#[derive(serde::Deserialize)]
struct JsonItem {
    url: Option<String>,
    date_modified: Option<String>,
    date_published: Option<String>,
}

impl List<'_> {
    fn read_json(&mut self, text: &str) {
        let Ok(feed) = serde_json::from_str::<JsonFeed>(text) else {
            self.sitemap.is_cut = true;
            return;
        };
        for item in feed.items {
            if self.is_over {
                return;
            }
            let date = item.date_modified.or(item.date_published).unwrap_or_default();
            let address = item.url.unwrap_or_default();
            let kind = Kind::Post;
            self.add(Some(Entry { kind, depth: 0, address, date }));
        }
    }

    fn read_lines(&mut self, text: &str) {
        // Half an address is another one.
        let whole = if self.sitemap.is_cut { text.rfind(['\n', '\r']) } else { Some(text.len()) };
        let text = text.get(..whole.unwrap_or(0)).unwrap_or_default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if self.is_over {
                return;
            }
            self.push(Kind::Page, WebUrl::parse(line), None);
        }
    }

    fn read_xml(&mut self, text: &str) {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        let mut state = Elements::default();
        while !self.is_over {
            match reader.read_event() {
                Ok(Event::Start(start)) => {
                    let finished = state.open(&start);
                    self.add(finished);
                }
                Ok(Event::Empty(start)) => {
                    let finished = state.open(&start);
                    self.add(finished);
                    self.add(state.close());
                }
                Ok(Event::End(_)) => self.add(state.close()),
                Ok(Event::Text(text)) => state.text(&text.decode().unwrap_or_default()),
                Ok(Event::CData(text)) => state.text(&text.decode().unwrap_or_default()),
                Ok(Event::GeneralRef(reference)) => state.text(&resolved(&reference)),
                Ok(Event::Eof) => {
                    self.sitemap.is_cut |= state.depth > 0;
                    break;
                }
                Ok(_) => {}
                Err(_) => {
                    self.sitemap.is_cut = true;
                    break;
                }
            }
        }
        // An entry whose end is missing counts when its address is whole.
        if state.field.is_none() {
            self.add(state.entry.take());
        }
    }

    fn add(&mut self, entry: Option<Entry>) {
        let Some(Entry { kind, address, date, .. }) = entry else {
            return;
        };
        let (address, date) = (address.trim(), date.trim());
        if address.is_empty() {
            return;
        }
        let lastmod = (!date.is_empty() && date.len() <= MAX_DATE_BYTES).then(|| date.to_owned());
        self.push(kind, self.base.join(address), lastmod);
    }

    fn push(&mut self, kind: Kind, url: Result<WebUrl, UrlError>, lastmod: Option<String>) {
        let Sitemap { pages, sitemaps, refused, is_cut } = &mut self.sitemap;
        self.is_over = pages.len() + sitemaps.len() + *refused >= self.max_entries;
        match (url, kind) {
            _ if self.is_over => *is_cut = true,
            (Ok(url), Kind::Sitemap) => sitemaps.push(url),
            (Ok(url), Kind::Page | Kind::Post) => pages.push(SitemapEntry { url, lastmod }),
            (Err(_), _) => *refused += 1,
        }
    }
}

/// The open elements of an XML document, as far as entries need them.
#[derive(Default)]
struct Elements {
    depth: usize,
    entry: Option<Entry>,
    field: Option<Field>,
}

impl Elements {
    /// Opens an element; gives an entry that this one finishes since its own end is missing.
    fn open(&mut self, start: &BytesStart<'_>) -> Option<Entry> {
        self.depth += 1;
        let name = start.local_name().as_ref().to_ascii_lowercase();
        let kind = Kind::of(&name);
        match &mut self.entry {
            Some(entry) if kind != Some(entry.kind) => {
                // Only an entry's own parts count: images and videos in it have addresses, too.
                if self.depth == entry.depth + 1 {
                    self.field = entry.field_of(&name);
                    if self.field == Some(Field::Address) {
                        entry.address.push_str(&link_target(start).unwrap_or_default());
                    }
                }
                None
            }
            open => {
                self.field = None;
                let (address, date) = (String::new(), String::new());
                let begun = kind.map(|kind| Entry { kind, depth: self.depth, address, date });
                std::mem::replace(open, begun)
            }
        }
    }

    /// Closes an element; gives the entry that ends with it.
    fn close(&mut self) -> Option<Entry> {
        self.field = None;
        let is_end = self.entry.as_ref().is_some_and(|entry| self.depth <= entry.depth);
        self.depth = self.depth.saturating_sub(1);
        if is_end { self.entry.take() } else { None }
    }

    fn text(&mut self, text: &str) {
        if let (Some(entry), Some(field)) = (&mut self.entry, self.field) {
            entry.field(field).push_str(text);
        }
    }
}

/// The target of an Atom link to the entry's own page.
fn link_target(start: &BytesStart<'_>) -> Option<String> {
    let mut target = None;
    for attribute in start.attributes().with_checks(false).take(MAX_ATTRIBUTES).flatten() {
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
        match attribute.key.local_name().as_ref() {
            b"href" => target = Some(value.into_owned()),
            b"rel" if value != "alternate" => return None,
            _ => {}
        }
    }
    target
}

/// What a reference stands for; nothing where only a DTD could tell.
fn resolved(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    let name = reference.decode().unwrap_or_default();
    resolve_predefined_entity(&name).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    const LIMITS: SitemapLimits = SitemapLimits { max_bytes: 10_000, max_entries: 5 };

    fn parse(body: &[u8]) -> Sitemap {
        parse_sitemap(body, &WebUrl::parse("http://h.example/s/map.xml").unwrap(), &LIMITS)
    }

    /// One word an entry: the path and date of a page, `+` before the path of a sitemap; `!` for
    /// each refused one, and `…` at the end where something is missing.
    fn show(sitemap: &Sitemap) -> String {
        let path = |url: &WebUrl| url.as_str().replace("http://h.example", "");
        let pages = sitemap.pages.iter().map(|page| {
            let date = page.lastmod.as_deref().map_or(String::new(), |date| format!("@{date}"));
            path(&page.url) + &date
        });
        let sitemaps = sitemap.sitemaps.iter().map(|url| format!("+{}", path(url)));
        let refused = std::iter::repeat_n("!".to_owned(), sitemap.refused);
        let cut = sitemap.is_cut.then(|| "…".to_owned());
        pages.chain(sitemaps).chain(refused).chain(cut).collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn check(body: &str, want: &str) {
        assert_eq!(show(&parse(body.as_bytes())), want);
    }

    #[test]
    fn pages_and_sitemaps_are_listed_in_order() {
        check(
            "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
             <url><loc> /a </loc><lastmod>2026-01-02</lastmod></url>\
             <url><lastmod/><loc>http://h.example/b?x=1&amp;y=&#x32;</loc></url></urlset>",
            "/a@2026-01-02 /b?x=1&y=2",
        );
        check(
            "<sitemapindex><sitemap><loc>b.xml.gz</loc></sitemap></sitemapindex>",
            "+/s/b.xml.gz",
        );
    }

    #[test]
    fn namespaces_do_not_matter_but_nesting_does() {
        check("<x:urlset><x:url><x:loc>/a</x:loc></x:url></x:urlset>", "/a");
        check(
            "<urlset><url><loc>/a</loc><image:image><image:loc>/i.png</image:loc></image:image>\
             <xhtml:link rel='alternate' hreflang='de' href='/de'/></url></urlset>",
            "/a",
        );
        check("<rss><item><image><url>/i.png</url></image><link>/a</link></item></rss>", "/a");
    }

    #[test]
    fn feeds_are_lists_as_well() {
        check(
            "<rss><channel><link>/home</link><item><title>T</title><link><![CDATA[/a]]></link>\
             <pubDate>Fri, 02 Jan 2026 00:00:00 GMT</pubDate></item></channel></rss>",
            "/a@Fri, 02 Jan 2026 00:00:00 GMT",
        );
        check(
            "<feed><link href='/feed' rel='self'/><entry><link rel='edit' href='/edit'/>\
             <link href='/a'/><updated>2026-01-02</updated></entry></feed>",
            "/a@2026-01-02",
        );
        check(
            r#"{"items":[{"id":"1","url":"/a","date_modified":"2026-01-02"},{"id":"2"}]}"#,
            "/a@2026-01-02",
        );
        check(r#"{"items":[{"url":"/a"}"#, "…");
    }

    #[test]
    fn a_text_list_has_one_address_a_line() {
        check("\u{feff}http://h.example/a\r\n\r\n http://h.example/b \n/c", "/a /b !");
    }

    #[test]
    fn a_text_list_that_is_cut_ends_with_a_whole_line() {
        let limits = SitemapLimits { max_bytes: 30, ..LIMITS };
        let base = WebUrl::parse("http://h.example/map.txt").unwrap();
        let list = parse_sitemap(b"http://h.example/a\nhttp://h.example/bcd\n", &base, &limits);
        assert_eq!(show(&list), "/a …");
    }

    #[test]
    fn marks_and_packing_are_taken_off() {
        let text = "<urlset><url><loc>/a</loc></url></urlset>";
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        let packed = encoder.finish().unwrap();
        assert_eq!(show(&parse(&packed)), "/a");
        assert_eq!(show(&parse(&packed[..packed.len() - 4])), "/a …");
        let wide: Vec<u8> =
            format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(show(&parse(&wide)), "/a");
    }

    #[test]
    fn a_bomb_is_read_no_further_than_a_list_could_go() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(b"https://h.example/a\n").unwrap();
        packed.write_all(&vec![b' '; 20 << 20]).unwrap();
        let packed = packed.finish().unwrap();
        let (unpacked, is_cut) = gunzip(&packed, 50 << 20);
        assert!(is_cut && unpacked.len() < packed.len() * MAX_RATIO + PIECE_BYTES);
        let read = parse(&packed);
        assert_eq!((read.pages.len(), read.is_cut), (1, true));
    }

    #[test]
    fn what_came_before_a_break_is_kept() {
        check("<urlset><url><loc>/a</loc></url><url><loc>/b", "/a …");
        check("<urlset><url><loc>/a</loc><url><loc>/b</loc></urlset>", "/a /b …");
        check("<urlset><url><loc>/a?b&c</loc></url><url><loc>/b</loc></url></urlset>", "/a?b&c /b");
        check("<urlset><url><loc>/a</loc></url><url <loc>", "/a …");
    }

    #[test]
    fn limits_cut_and_say_so() {
        let url = |n| format!("<url><loc>/{n}</loc></url>");
        check(
            &format!("<urlset>{}</urlset>", (0..9).map(url).collect::<String>()),
            "/0 /1 /2 /3 /4 …",
        );
        check(&format!("<urlset>{}{}", url(1), " ".repeat(10_000)), "/1 …");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(format!("<urlset>{}", url(1)).as_bytes()).unwrap();
        encoder.write_all(&vec![b' '; 1 << 24]).unwrap();
        assert_eq!(show(&parse(&encoder.finish().unwrap())), "/1 …");
    }

    #[test]
    fn entities_are_not_expanded() {
        check(
            "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY f SYSTEM 'file:///etc/passwd'>]>\
             <urlset><url><loc>/x&a;&f;y</loc></url></urlset>",
            "/xy",
        );
    }

    #[test]
    fn addresses_that_may_not_be_asked_for_are_counted() {
        check(
            "<urlset><url><loc>ftp://h/</loc></url><url><loc>http://u@h/</loc></url></urlset>",
            "! !",
        );
        check("<html><body><a href='/a'>not a sitemap</a></body></html>", "");
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_result_within_the_limits(
            body in "(<|>|/|url|loc|sitemap|link href='/a'|&|;|#x41|!\\[CDATA\\[|\\]\\]|!--| |/a){0,60}",
        ) {
            let sitemap = parse(body.as_bytes());
            let entries = sitemap.pages.len() + sitemap.sitemaps.len() + sitemap.refused;
            prop_assert!(entries <= LIMITS.max_entries);
        }
    }
}
