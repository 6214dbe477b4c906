//! Finds where an article begins and where it ends: its first and its last prose. Around them
//! stand labels (author, date, section), calls to read something else, and what links to other
//! pages.

use super::lines::{Line, lines, take_out};
use super::measure::{Page, Removed, is_sentence_end};
use super::phrases::{ADVERTISEMENT, CREDIT};
use super::sections::is_any;

/// Shortest line that is prose, in characters.
const MIN_PROSE_CHARS: u32 = 80;

/// Least prose of an article, in characters.
const MIN_ARTICLE_CHARS: u32 = 400;

/// Longest line that labels an article without being a sentence of it, in characters.
const MAX_LABEL_CHARS: u32 = 50;

/// Longest line that says who made a picture, in characters.
const MAX_CREDIT_CHARS: u32 = 80;

/// Longest line that says when an article was written, in characters.
const MAX_DATELINE_CHARS: u32 = 100;

/// Removes what stands before the beginning and behind the end of an article, and the lines within
/// it that are not its text.
pub(super) fn prune(page: &Page<'_>, removed: &mut Removed) {
    let lines = lines(page, removed);
    let is_prose = |line: &Line| is_prose(page, line);
    let prose: u32 = lines.iter().filter(|line| is_prose(line)).map(|line| line.facts.text).sum();
    let first = lines.iter().position(is_prose);
    let last = lines.iter().rposition(|line| is_prose(line) || is_content(page, line));
    let (Some(first), Some(last)) = (first, last) else { return };
    if prose < MIN_ARTICLE_CHARS {
        return;
    }
    let tail = lines.iter().skip(last + 1).skip_while(|line| !leads_away(page, line));
    let tail = tail.map(|line| (line, "content.tail"));
    let within = lines.iter().enumerate().take(last + 1).filter_map(|(at, line)| {
        let is_about = at < first && is_label(page, line);
        let rule = is_about.then_some("content.about").or_else(|| interruption(page, line));
        Some((line, rule?))
    });
    take_out(page, removed, within.chain(tail));
}

fn is_prose(page: &Page<'_>, line: &Line) -> bool {
    line.facts.text >= MIN_PROSE_CHARS
        && line.facts.sentences > 0
        && line.facts.link_density() < 0.5
        && !line.is_heading(page)
}

/// What belongs to an article although it is no prose: code, data, items that lead nowhere, what
/// a figure says, a short sentence.
fn is_content(page: &Page<'_>, line: &Line) -> bool {
    let tag = page.tree.tag(line.block);
    let is_plain = line.facts.linked == 0 && !line.is_heading(page);
    page.is_shielded(line.block)
        || tag == "figure"
        || is_plain && (is_item(tag) || tag == "blockquote" || ends_sentence(&line.text(page)))
}

fn is_item(tag: &str) -> bool {
    matches!(tag, "li" | "dt" | "dd" | "td" | "th")
}

/// Whether a line behind the last prose leads away from the article.
fn leads_away(page: &Page<'_>, line: &Line) -> bool {
    line.is_heading(page)
        || line.facts.link_density() > 0.5
        || line.text(page).trim_end().ends_with([':', '：'])
}

/// Whether a line before the first prose is about the article: who wrote it, when, and where it
/// stands in its site.
fn is_label(page: &Page<'_>, line: &Line) -> bool {
    let tag = page.tree.tag(line.block);
    let is_kept = line.is_heading(page) || page.is_shielded(line.block) || tag == "figure";
    if is_kept || line.facts.text > MAX_DATELINE_CHARS {
        return false;
    }
    if line.facts.link_density() > 0.5 {
        return true;
    }
    let text = line.text(page);
    let is_short = line.facts.text <= MAX_LABEL_CHARS && !ends_sentence(&text);
    !is_item(tag) && (is_short || states_a_time(&text))
}

/// Whether `text` ends as a sentence does.
fn ends_sentence(text: &str) -> bool {
    let is_closing = |c: char| c.is_whitespace() || matches!(c, '"' | '”' | '»' | '’' | ')' | '」');
    text.trim_end_matches(is_closing).ends_with(is_sentence_end)
}

/// Whether `text` has a year or a time of the day.
fn states_a_time(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != ':').any(|word| {
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let is_year = digits == 4 && (word.starts_with("19") || word.starts_with("20"));
        let is_clock = matches!(digits, 1 | 2) && word.as_bytes().get(digits) == Some(&b':');
        is_year || is_clock
    })
}

/// The rule that removes a line wherever it stands in an article: the place of an advertisement,
/// the label of a button, the maker of a picture.
fn interruption(page: &Page<'_>, line: &Line) -> Option<&'static str> {
    if line.facts.text > MAX_CREDIT_CHARS || page.is_shielded(line.block) || line.is_heading(page) {
        return None;
    }
    let text = line.text(page);
    if line.facts.text <= MAX_LABEL_CHARS && is_any(&text, ADVERTISEMENT) {
        return Some("content.advertisement");
    }
    is_credit(&text).then_some("content.credit")
}

/// Whether `text` says who made a picture, and nothing else.
fn is_credit(text: &str) -> bool {
    let text = text.trim().trim_start_matches(['(', '[', '|', ' ']).to_lowercase();
    let names = CREDIT.iter().find_map(|word| text.strip_prefix(word));
    let is_named = names.is_some_and(|names| names.starts_with([':', '…', '.', '©', '/']));
    is_named || text.starts_with('©') || text.starts_with("c) ")
}

#[cfg(test)]
mod tests {
    use crate::extract::content::tests::{PROSE, document, fate};

    /// An article that says so, with `before` and `after` its text.
    fn check(before: &str, after: &str, fates: &[(&str, &str)]) {
        let html = format!(
            "<title>Picking tea</title><meta property=og:type content=article>\
             <meta property=article:published_time content=2024-05-17>\
             <body><article><h1>Picking tea</h1>{before}{PROSE}{after}</article>"
        );
        let page = document(&html, "https://example.org/2024/picking");
        for (text, want) in fates {
            assert_eq!(fate(&page, text), *want, "{text:?} of\n{}", page.markdown);
        }
    }

    #[test]
    fn labels_before_the_first_prose_are_about_the_article() {
        check(
            "<p>Drinks</p><p>By Ada Green</p><p>Published 17 May 2024, 09:30</p>\
             <ul><li><a href=/b>Beverages</a></ul><h2>From the leaf to the cup</h2>\
             <p>Hands do what no machine can.</p><figure><figcaption>A hill</figcaption></figure>",
            "",
            &[
                ("Drinks", "content.about"),
                ("By Ada Green", "content.about"),
                ("Published 17 May", "content.about"),
                ("Beverages", "content.about"),
                ("From the leaf", "kept"),
                ("Hands do what", "kept"),
                ("A hill", "kept"),
                ("Tea is picked", "kept"),
            ],
        );
    }

    #[test]
    fn what_leads_away_behind_the_last_prose_goes() {
        check(
            "",
            "<p>So it is.</p><p>– Ada</p><h3>More to drink</h3><p><a href=/c>Coffee in Harar</a></p>\
             <p>May 2023</p>",
            &[
                ("So it is.", "kept"),
                ("– Ada", "kept"),
                ("More to drink", "content.tail"),
                ("Coffee in Harar", "content.tail"),
                ("May 2023", "content.tail"),
            ],
        );
    }

    #[test]
    fn what_belongs_to_the_article_is_its_end() {
        check(
            "",
            "<h3>What you need</h3><ul><li>A basket</ul><h3>How</h3><pre>pick(leaf)</pre>",
            &[("What you need", "kept"), ("A basket", "kept"), ("pick(leaf)", "kept")],
        );
    }

    #[test]
    fn advertisements_and_credits_interrupt() {
        check(
            "",
            "<p>Advertisement</p><p>Photo: Ada Green</p><p>A photo says more than this.</p>",
            &[
                ("Advertisement", "content.advertisement"),
                ("Photo: Ada Green", "content.credit"),
                ("A photo says more", "kept"),
            ],
        );
    }

    #[test]
    fn the_title_of_a_thread_is_a_fact_about_it() {
        let html = format!("<body><main><h1>Picking tea</h1>{PROSE}<h2>Picking by night</h2>Rare.");
        let thread = document(&html, "https://forum.example.org/t/picking");
        assert_eq!(fate(&thread, "Picking tea"), "content.title");
        assert_eq!(fate(&thread, "Picking by night"), "kept");
        assert_eq!(thread.metadata.title.as_deref(), Some("Picking tea"));
        let manual = document(&html, "https://docs.example.org/picking");
        assert_eq!(fate(&manual, "Picking tea"), "kept");
    }

    #[test]
    fn a_heading_goes_with_all_that_stood_below_it() {
        check(
            "",
            "<h2>Buy it</h2><div class=advertisement>Tea for two</div><h2>Drink it</h2><p>Hot.</p>",
            &[
                ("Buy it", "content.advertisement"),
                ("Tea for two", "content.advertisement"),
                ("Drink it", "kept"),
            ],
        );
    }
}
