//! The lines of a robots.txt, and which of them bind this crawler.
//!
//! In: the bytes of the file and the product token. Out: the merged groups that hold, and the
//! sitemaps. A group is one or more `User-agent` lines and what follows them up to the next
//! `User-agent` after a rule; lines that are neither (`Crawl-delay`, `Content-Signal`, unknown
//! ones) belong to the group that they stand in and never end it (RFC 9309 §2.2).

use std::time::Duration;

use super::matcher::Pattern;
use super::usage::UsageLine;
use super::{Access, Rule, Section};

/// The lines that mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    UserAgent,
    Rule(Access),
    CrawlDelay,
    Sitemap,
    ContentSignal,
    ContentUsage,
}

/// Field names in lower case. The misspelt ones are those that Google's parser takes, too.
const FIELDS: &[(&str, Field)] = &[
    ("user-agent", Field::UserAgent),
    ("useragent", Field::UserAgent),
    ("user agent", Field::UserAgent),
    ("allow", Field::Rule(Access::Allow)),
    ("disallow", Field::Rule(Access::Disallow)),
    ("dissallow", Field::Rule(Access::Disallow)),
    ("dissalow", Field::Rule(Access::Disallow)),
    ("disalow", Field::Rule(Access::Disallow)),
    ("diasllow", Field::Rule(Access::Disallow)),
    ("disallaw", Field::Rule(Access::Disallow)),
    ("crawl-delay", Field::CrawlDelay),
    ("crawldelay", Field::CrawlDelay),
    ("sitemap", Field::Sitemap),
    ("site-map", Field::Sitemap),
    ("content-signal", Field::ContentSignal),
    ("content-usage", Field::ContentUsage),
];

/// Reads what of `body` binds `product_token`, and the sitemaps.
pub(super) fn read(body: &[u8], product_token: &str, max_bytes: usize) -> (Section, Vec<String>) {
    let body = whole_lines(body, max_bytes);
    let mut reader = Reader { token: token(product_token.as_bytes()), ..Reader::default() };
    for line in Lines::of(body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body)) {
        reader.take(line);
    }
    let section = if reader.is_named { reader.own } else { reader.any };
    (section, reader.sitemaps)
}

/// The start of `body` that is within the limit, without a line that the limit cuts.
fn whole_lines(body: &[u8], max_bytes: usize) -> &[u8] {
    let (Some(head), Some(next)) = (body.get(..max_bytes), body.get(max_bytes)) else {
        return body;
    };
    if matches!(next, b'\n' | b'\r') {
        return head;
    }
    let end = head.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
    head.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// The product token at the start of `value`.
fn token(value: &[u8]) -> &[u8] {
    let is_inside = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
    let end = value.iter().position(|byte| !is_inside(byte)).unwrap_or(value.len());
    value.get(..end).unwrap_or_default()
}

/// A line without its end and comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line<'a> {
    number: usize,
    text: &'a [u8],
}

/// The lines of a file: CR, LF and CRLF end one, and so does NUL, which no value may hold.
struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    fn of(rest: &'a [u8]) -> Self {
        Self { rest, number: 1 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let end = memchr::memchr3(b'\n', b'\r', b'\0', self.rest).unwrap_or(self.rest.len());
        let (text, tail) = self.rest.split_at(end);
        let number = self.number;
        (self.rest, self.number) = match tail {
            [b'\r', b'\n', rest @ ..] | [b'\r' | b'\n', rest @ ..] => (rest, number + 1),
            [_, rest @ ..] => (rest, number),
            [] => (tail, number),
        };
        let comment = memchr::memchr(b'#', text).unwrap_or(text.len());
        let text = text.get(..comment).unwrap_or_default().trim_ascii();
        Some(Line { number, text })
    }
}

/// Splits a line into its field and value.
///
/// A missing colon is forgiven where the line is two words, as Google's parser does.
fn field_and_value(text: &[u8]) -> Option<(Field, &[u8])> {
    let (name, value) = if let Some(at) = memchr::memchr(b':', text) {
        (text.get(..at)?, text.get(at + 1..)?)
    } else {
        let at = text.iter().position(u8::is_ascii_whitespace)?;
        let value = text.get(at..)?.trim_ascii();
        if value.iter().any(u8::is_ascii_whitespace) {
            return None;
        }
        (text.get(..at)?, value)
    };
    let name = name.trim_ascii();
    let (_, field) =
        FIELDS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes()))?;
    Some((*field, value.trim_ascii()))
}

/// Sorts lines into the groups that name this crawler and those for all.
#[derive(Default)]
struct Reader<'t> {
    token: &'t [u8],
    own: Section,
    any: Section,
    sitemaps: Vec<String>,
    is_named: bool,
    group: Group,
}

/// Whom the group at hand binds.
#[derive(Clone, Copy, Default)]
struct Group {
    own: bool,
    any: bool,
    state: GroupState,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum GroupState {
    /// Only `User-agent` lines so far: another one joins them.
    Naming,
    /// A rule was read: the next `User-agent` line begins another group.
    #[default]
    Ruled,
}

impl Reader<'_> {
    fn take(&mut self, line: Line<'_>) {
        let Some((field, value)) = field_and_value(line.text) else {
            return;
        };
        match field {
            Field::UserAgent => self.name(value),
            Field::Rule(access) => self.rule(access, value, line),
            Field::Sitemap => self.sitemap(value),
            Field::CrawlDelay => {
                if let Some(delay) = delay(value) {
                    self.each(|section| section.crawl_delay = section.crawl_delay.max(Some(delay)));
                }
            }
            Field::ContentSignal => self.usage(&UsageLine::signal(value)),
            Field::ContentUsage => self.usage(&UsageLine::usage(value)),
        }
    }

    fn name(&mut self, value: &[u8]) {
        if self.group.state == GroupState::Ruled {
            self.group = Group { state: GroupState::Naming, ..Group::default() };
        }
        match value {
            [b'*'] => self.group.any = true,
            [b'*', next, ..] if next.is_ascii_whitespace() => self.group.any = true,
            _ if !self.token.is_empty() && token(value).eq_ignore_ascii_case(self.token) => {
                self.group.own = true;
                self.is_named = true;
            }
            _ => {}
        }
    }

    fn rule(&mut self, access: Access, value: &[u8], line: Line<'_>) {
        self.group.state = GroupState::Ruled;
        let Some(pattern) = Pattern::parse(value) else {
            return;
        };
        let text = String::from_utf8_lossy(line.text).into_owned();
        let rule = Rule { access, pattern, text, line: line.number };
        self.each(|section| section.rules.push(rule.clone()));
    }

    fn usage(&mut self, line: &UsageLine) {
        self.each(|section| section.usage.push(line.clone()));
    }

    fn sitemap(&mut self, value: &[u8]) {
        let sitemap = String::from_utf8_lossy(value).into_owned();
        if !sitemap.is_empty() {
            self.sitemaps.push(sitemap);
        }
    }

    /// Lets `change` act on what the group at hand binds.
    fn each(&mut self, change: impl Fn(&mut Section)) {
        if self.group.own {
            change(&mut self.own);
        }
        if self.group.any {
            change(&mut self.any);
        }
    }
}

/// A delay in seconds, whole or not.
fn delay(value: &[u8]) -> Option<Duration> {
    let seconds: f64 = str::from_utf8(value).ok()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
