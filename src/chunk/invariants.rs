//! What must hold of every document's chunks, beside the promises in `tests`: structure
//! that is never cut, headers that are a table's own, neighbours that join, edits that stay local.

use std::ops::Range;

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};
use unicode_segmentation::UnicodeSegmentation as _;

use super::tests::{chunks, options, sections, slice};
use crate::chunk::{ChunkInput, Tokenizer, chunk};
use crate::model::{Chunk, document_id};

fn count(text: &str) -> usize {
    Tokenizer::O200kBase.count(text)
}

fn starts(all: &[Chunk]) -> impl Iterator<Item = usize> {
    all.iter().map(|chunk| chunk.bytes.start)
}

/// Text whose characters are more than one scalar value, in lines that end as on Windows.
fn clusters() -> impl Strategy<Value = String> {
    let word =
        prop_oneof!["[a-z]{1,9} ", Just("e\u{301}a\u{308} ".to_owned()), Just("👩‍👩‍👧‍👦🇨🇭".to_owned())];
    let line = proptest::collection::vec(word, 1..30).prop_map(|words| words.concat());
    proptest::collection::vec(line, 1..8).prop_map(|lines| lines.join("\r\n"))
}

/// Two tables, each with a name of its own, next to each other or behind a list.
fn tables() -> impl Strategy<Value = String> {
    let table = |name: &'static str| {
        (1_usize..40, any::<bool>()).prop_map(move |(rows, has_header)| {
            let header = if has_header { format!("| {name} | {name} b |") } else { "| | |".into() };
            let row = |n| format!("| {name} {n} | value {n} of {name} |\n");
            format!("{header}\n|---|---|\n{}", (0..rows).map(row).collect::<String>())
        })
    };
    (table("first"), table("second"), any::<bool>()).prop_map(|(first, second, has_list)| {
        let between = if has_list { "\n- an item\n- an item\n\n" } else { "\n" };
        format!("{first}{between}{second}")
    })
}

/// Cells of each row of `markdown`, its header first; none where it has no table.
fn row_lengths(markdown: &str) -> Vec<usize> {
    let mut lengths = Vec::new();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::TableHead | Tag::TableRow) => lengths.push(0),
            Event::Start(Tag::TableCell) => *lengths.last_mut().unwrap() += 1,
            _ => {}
        }
    }
    lengths
}

/// Sections of one level, each with a text.
fn siblings() -> impl Strategy<Value = Vec<String>> {
    let section = "# [A-Z][a-z]{2,9}\n\n([A-Z][a-z]{2,9}( [a-z]{2,9}){2,9}\\. ){1,12}";
    proptest::collection::vec(section, 1..20)
}

proptest! {
    #[test]
    fn a_cluster_of_characters_stays_whole(text in clusters(), max_tokens in 32_usize..100) {
        let ends: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
        for start in starts(&chunks(&text, &options(max_tokens))) {
            // "\r\n" is one cluster too.
            prop_assert!(ends.binary_search(&start).is_ok(), "{:?}", slice(&text, 0..start));
        }
    }

    #[test]
    fn a_tag_stays_whole(words in proptest::collection::vec("[a-z]{1,9}", 1..60)) {
        let tagged = |word: &String| format!("<span title=\"{word} a > b\">{word}</span>");
        let text = words.iter().map(tagged).collect::<Vec<_>>().join(" ");
        let tags: Vec<Range<usize>> = Parser::new(&text)
            .into_offset_iter()
            .filter(|(event, _)| matches!(event, Event::InlineHtml(_)))
            .map(|(_, range)| range)
            .collect();
        for start in starts(&chunks(&text, &options(64))) {
            let inside = tags.iter().find(|tag| tag.start < start && start < tag.end);
            prop_assert!(inside.is_none(), "{:?}", slice(&text, 0..start));
        }
    }

    #[test]
    fn a_fence_line_stays_with_code(markdown in sections(), max_tokens in 80_usize..200) {
        for chunk in chunks(&markdown, &options(max_tokens)) {
            let lines: Vec<&str> = chunk.text.lines().filter(|line| !line.trim().is_empty()).collect();
            let last = lines.last().copied().unwrap_or_default();
            prop_assert!(!last.starts_with("```rs"), "{:?}", chunk.text);
            prop_assert!(lines.first() != Some(&"```"), "{:?}", chunk.text);
        }
    }

    #[test]
    fn a_carried_header_is_that_of_its_table(markdown in tables(), max_tokens in 48_usize..160) {
        for chunk in chunks(&markdown, &options(max_tokens)) {
            for (own, other) in [("first", "second"), ("second", "first")] {
                let begins = chunk.text.starts_with(&format!("| {own} "));
                prop_assert!(!begins || !chunk.prefix.contains(&format!("| {other}")), "{:?}", chunk);
            }
            let embedded = chunk.embed_text();
            prop_assert!(row_lengths(&embedded).iter().all(|cells| *cells == 2), "{}", embedded);
            let is_row = chunk.text.starts_with("| first ") || chunk.text.starts_with("| second ");
            prop_assert!(!is_row || row_lengths(&embedded).len() > 1, "{}", embedded);
        }
    }

    #[test]
    fn a_heading_never_ends_a_chunk(markdown in sections(), max_tokens in 80_usize..300) {
        let all = chunks(&markdown, &options(max_tokens));
        for pair in all.windows(2) {
            let last = pair[0].text.trim_end().lines().last().unwrap_or_default();
            // An empty section in front of another may end where both do not fit.
            let is_left = last.starts_with('#') && !pair[1].text.starts_with('#');
            prop_assert!(!is_left, "{:?} before {:?}", pair[0].text, pair[1].text);
        }
    }

    #[test]
    fn what_is_small_joins_a_neighbour_that_has_room(sections in siblings()) {
        let all = chunks(&(sections.join("\n\n") + "\n"), &options(256));
        for pair in all.windows(2) {
            let is_small = pair.iter().any(|chunk| count(&chunk.text) < 64);
            // With some room for white space, two tokens a line.
            let both: usize =
                pair.iter().map(|c| count(&c.text) + 2 * c.text.lines().count()).sum();
            prop_assert!(!is_small || both > 256, "{:?}, {:?}", pair[0].text, pair[1].text);
        }
    }

    #[test]
    fn no_heading_is_taken_from_code(markdown in sections(), lines in 1_usize..60) {
        let code = "# not a heading\n".repeat(lines);
        let markdown = format!("# Above\n\n```sh\n{code}```\n\n{markdown}");
        for chunk in chunks(&markdown, &options(64)) {
            prop_assert!(!chunk.heading_path.iter().any(|name| name == "not a heading"));
        }
    }

    #[test]
    fn ids_are_unique_over_pages(markdown in sections()) {
        let ids = |url: &str| -> Vec<_> {
            let input = ChunkInput {
                markdown: &markdown, title: None, headings: &[], document_id: document_id(url),
            };
            chunk(input, &options(64), &Tokenizer::O200kBase).iter().map(|c| c.id).collect()
        };
        let (first, second) = (ids("https://example.org/a"), ids("https://example.org/b"));
        prop_assert!(first.iter().all(|id| !second.contains(id)));
    }

    #[test]
    fn white_space_that_says_nothing_makes_no_new_chunk(
        markdown in sections(), blank in prop_oneof![Just(" "), Just("\t")], lines in 1_usize..4,
    ) {
        let mut is_code = false;
        let mut spaced = String::new();
        for line in markdown.lines() {
            let is_fence = line.starts_with("```");
            spaced += line;
            // In code, and at the end of a text that goes on, blanks say something.
            if line.is_empty() {
                spaced += &"\n".repeat(lines);
            } else if !is_code && !is_fence {
                spaced += blank;
            }
            spaced += "\n";
            is_code ^= is_fence;
        }
        let hashes = |markdown: &str| -> Vec<_> {
            // Far from the limit, so that white space does not reach it.
            chunks(markdown, &options(20_000)).iter().map(|chunk| chunk.embed_hash).collect()
        };
        prop_assert_eq!(hashes(&spaced), hashes(&markdown));
    }
}
