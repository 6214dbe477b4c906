//! What chunking promises, on random documents and on small ones.

use proptest::prelude::*;

use super::*;
use crate::model::{BlockKind, ChunkFlag, document_id};

pub(super) fn options(max_tokens: usize) -> ChunkOptions {
    ChunkOptions { max_tokens, ..ChunkOptions::default() }
}

pub(super) fn chunks(markdown: &str, options: &ChunkOptions) -> Vec<Chunk> {
    let document_id = document_id("https://example.org/");
    chunk(
        ChunkInput { markdown, title: None, headings: &[], document_id },
        options,
        &Tokenizer::O200kBase,
    )
}

/// Chunks as a reader sees them: `<` before the prefix, `>` before the suffix.
fn show(markdown: &str, max_tokens: usize) -> String {
    let mut shown = String::new();
    for chunk in chunks(markdown, &options(max_tokens)) {
        let head = format!("-- {:?} {} tokens {:?}\n", chunk.bytes, chunk.token_count, chunk.flags);
        shown += head.as_str();
        for (mark, part) in [("<", &chunk.prefix), (" ", &chunk.text), (">", &chunk.suffix)] {
            for line in part.lines() {
                let line = format!("{mark} {line}");
                shown += line.trim_end();
                shown += "\n";
            }
        }
    }
    shown
}

/// Random Markdown: blocks of every kind, some of them long.
fn markdown() -> impl Strategy<Value = String> {
    let words = "[a-zé ]{1,60}";
    let block = prop_oneof![
        "#{1,4} [a-z ]{1,20}",
        words,
        "([A-Z][a-z ]{3,30}\\. ){1,12}",
        "(- [a-z ]{1,30}\n){1,12}",
        "(- [a-z ]{1,30}\n  - [a-z ]{1,20}\n){1,8}",
        "```rs\n(  ?[a-z(){};]{0,30}\n){1,20}```",
        "\\| a \\| b \\|\n\\| --- \\| --- \\|\n(\\| [a-z ]{1,20} \\| [0-9]{1,4} \\|\n){1,20}",
        "> [a-z ]{1,60}",
        "[^\n]{0,80}",
        "[a-z]{200,400}",
    ];
    proptest::collection::vec(block, 0..12).prop_map(|blocks| {
        let mut all = blocks.join("\n\n");
        all.push('\n');
        all
    })
}

proptest! {
    #[test]
    fn nothing_is_lost(markdown in markdown(), max_tokens in 1_usize..200) {
        let (mut bytes, mut chars) = (0, 0);
        for chunk in chunks(&markdown, &options(max_tokens)) {
            prop_assert!(!chunk.text.is_empty());
            prop_assert_eq!(chunk.bytes.start, bytes);
            prop_assert_eq!(chunk.chars.start, chars);
            prop_assert_eq!(markdown.get(chunk.bytes.clone()), Some(chunk.text.as_str()));
            bytes = chunk.bytes.end;
            chars = chunk.chars.end;
        }
        prop_assert_eq!(bytes, markdown.len());
        prop_assert_eq!(chars, markdown.chars().count());
    }

    #[test]
    fn nothing_is_too_long_unless_flagged(markdown in markdown(), max_tokens in 32_usize..200) {
        for chunk in chunks(&markdown, &options(max_tokens)) {
            let counted = Tokenizer::O200kBase.count(&chunk.embed_text());
            prop_assert_eq!(counted, chunk.token_count as usize);
            prop_assert!(
                counted <= max_tokens || chunk.flags.contains(&ChunkFlag::HardSplit),
                "{} tokens: {:?}", counted, chunk
            );
        }
    }

    #[test]
    fn ids_are_unique_and_do_not_depend_on_place(markdown in markdown()) {
        let all = chunks(&markdown, &options(64));
        let mut ids: Vec<_> = all.iter().map(|chunk| chunk.id).collect();
        ids.sort();
        ids.dedup();
        prop_assert_eq!(ids.len(), all.len());
    }

    #[test]
    fn an_embedded_overlap_is_counted(markdown in markdown()) {
        let options = ChunkOptions { embed_overlap: true, ..options(64) };
        for chunk in chunks(&markdown, &options) {
            prop_assert_eq!(Tokenizer::O200kBase.count(&chunk.embed_text()), chunk.token_count as usize);
        }
    }
}

pub(super) fn slice(markdown: &str, range: std::ops::Range<usize>) -> &str {
    markdown.get(range).unwrap()
}

/// The ranges that a budget never cuts: links, code spans, and rows.
fn whole_ranges(markdown: &str) -> Vec<(std::ops::Range<usize>, &'static str)> {
    use pulldown_cmark::{Event, Options, Parser, Tag};
    let options = Options::ENABLE_TABLES;
    let whole = |(event, range): (Event<'_>, _)| match event {
        Event::Start(Tag::Link { .. }) => Some((range, "link")),
        Event::Start(Tag::TableRow) => Some((range, "row")),
        Event::Code(_) => Some((range, "code span")),
        _ => None,
    };
    Parser::new_ext(markdown, options).into_offset_iter().filter_map(whole).collect()
}

/// What is open at the end of `markdown`, or stands outside of its table.
fn torn(markdown: &str) -> Option<String> {
    use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};
    for (event, range) in Parser::new_ext(markdown, Options::ENABLE_TABLES).into_offset_iter() {
        let text = slice(markdown, range);
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_)))
                if !text.trim_end().ends_with("```") =>
            {
                return Some(format!("open fence: {text}"));
            }
            Event::Text(text) if text.starts_with("| ") => return Some(format!("row: {text}")),
            _ => {}
        }
    }
    None
}

/// Well-formed Markdown whose blocks each fit 256 tokens.
pub(super) fn sections() -> impl Strategy<Value = String> {
    let block = prop_oneof![
        "#{1,3} [A-Z][a-z]{2,9} `[a-z]{1,6}`",
        "([A-Z][a-z ]{3,30}\\. ){1,8}",
        "See `[a-z ]{1,20}` and \\[[a-z]{1,9}\\]\\(/[a-z]{1,9}\\), [a-z ]{1,30}:",
        "\\*\\*[a-z]{1,9}\\*\\*",
        "(- [a-z]{1,30}\n){1,9}",
        "```rs\n([a-z]{1,20}\n){1,60}```",
        "\\| a \\| b \\|\n\\| --- \\| --- \\|\n(\\| [a-z]{1,9} \\| [0-9]{1,4} \\|\n){1,40}",
    ];
    proptest::collection::vec(block, 0..30).prop_map(|blocks| blocks.join("\n\n") + "\n")
}

proptest! {
    #[test]
    fn links_code_and_rows_stay_whole(markdown in sections(), max_tokens in 64_usize..300) {
        let all = chunks(&markdown, &options(max_tokens));
        for (range, what) in whole_ranges(&markdown) {
            let cut = all.iter().find(|chunk| {
                let at = chunk.bytes.start;
                range.start < at && at < range.end && !slice(&markdown, at..range.end).trim().is_empty()
            });
            prop_assert!(cut.is_none(), "a {} is cut: {:?}", what, slice(&markdown, range));
        }
    }

    #[test]
    fn what_is_embedded_parses_alone(markdown in sections(), max_tokens in 64_usize..300) {
        for chunk in chunks(&markdown, &options(max_tokens)) {
            let embedded = chunk.embed_text();
            prop_assert_eq!(torn(&embedded), None, "{}", embedded);
        }
    }

    #[test]
    fn no_heading_is_left_by_its_text(markdown in sections()) {
        // With room for a heading and the longest block under it.
        for pair in chunks(&markdown, &options(512)).windows(2) {
            let last = pair[0].text.trim_end().lines().last().unwrap_or_default();
            let is_left = last.starts_with('#') && !pair[1].text.starts_with('#');
            prop_assert!(!is_left, "{:?}", pair[0].text);
        }
    }

    #[test]
    fn the_heading_path_is_that_of_the_headings_above(markdown in sections()) {
        for chunk in chunks(&markdown, &options(100)) {
            let mut path: Vec<(usize, String)> = Vec::new();
            // Code of `sections` holds no line that looks like a heading.
            for line in slice(&markdown, 0..chunk.bytes.start).lines().filter(|line| line.starts_with('#')) {
                let level = line.chars().take_while(|c| *c == '#').count();
                path.retain(|(above, _)| *above < level);
                let name = line.trim_start_matches('#').replace('`', "");
                path.push((level, crate::model::collapse(&name)));
            }
            let own = chunk.text.lines().next().unwrap_or_default();
            if own.starts_with('#') {
                let level = own.chars().take_while(|c| *c == '#').count();
                path.retain(|(above, _)| *above < level);
            }
            let names: Vec<String> = path.into_iter().map(|(_, name)| name).collect();
            prop_assert_eq!(&chunk.heading_path, &names);
        }
    }

    #[test]
    fn chunking_what_chunks_hold_gives_them_again(markdown in markdown()) {
        let all = chunks(&markdown, &options(80));
        let text: String = all.iter().map(|chunk| chunk.text.as_str()).collect();
        let again = std::thread::spawn(move || chunks(&text, &options(80))).join().unwrap();
        prop_assert_eq!(all, again);
    }

    #[test]
    fn an_edit_reaches_no_section_but_its_neighbours(
        before in sections(), after in sections(), edited in sections(),
    ) {
        let document = |last: &str| format!("# Before\n\n{before}\n# After\n\n{last}");
        let first = chunks(&document(&after), &options(64));
        let second = chunks(&document(&edited), &options(64));
        let boundary = before.len();
        let stays = |all: &[Chunk]| -> Vec<Uuid> {
            let inside = all.iter().filter(|chunk| chunk.bytes.end < boundary);
            inside.map(|chunk| chunk.id).collect()
        };
        let (first, second) = (stays(&first), stays(&second));
        // The last chunk of a section may join the first of the next.
        let most = first.len().min(second.len()).saturating_sub(1);
        prop_assert!(first.len().abs_diff(second.len()) <= 2);
        prop_assert_eq!(first.get(..most), second.get(..most));
    }

    #[test]
    fn a_boundless_budget_gives_one_chunk_and_the_least_ends(markdown in markdown()) {
        prop_assert!(chunks(&markdown, &options(usize::MAX / 2)).len() <= 1);
        prop_assert!(!chunks(&markdown, &options(1)).is_empty());
    }
}

#[test]
fn hostile_documents_are_cut_like_others() {
    let nested = |(depth, all): (usize, String)| all + &"  ".repeat(depth) + "- x\n";
    let cases = [
        "[".repeat(20_000),
        "|".repeat(20_000),
        "` ".repeat(10_000),
        "> ".repeat(5_000) + "x",
        "- ".repeat(5_000) + "x",
        "a".repeat(20_000),
        "*a ".repeat(5_000),
        "\r\n".repeat(5_000),
        (0..200).fold(String::new(), |all, depth| nested((depth, all))),
    ];
    for markdown in cases {
        let all = chunks(&markdown, &options(64));
        let joined: String = all.iter().map(|chunk| chunk.text.as_str()).collect();
        assert_eq!(joined, markdown);
        for chunk in all {
            let is_flagged = chunk.flags.contains(&ChunkFlag::HardSplit);
            assert!(chunk.token_count <= 64 || is_flagged, "{:?}", chunk.text);
        }
    }
}

/// Whether a behaviour shows in the chunks of its document.
type Holds = fn(&[Chunk]) -> bool;

/// What browser-use's chunker does, by the number of the behaviour, and what is done here.
#[test]
fn a_known_chunkers_behaviours_are_kept_or_bettered() {
    let rows = "| r | 1 |\n".repeat(40);
    let items = (0..60).fold(String::new(), |all, n| all + &format!("- item number {n}\n"));
    let cases: &[(&str, String, Holds)] = &[
        ("B1 a hashtag is no heading", "#tag\n\nText.\n".into(), |all| {
            all[0].kinds == [BlockKind::Paragraph]
        }),
        ("B1 a tilde fence is code", "~~~\n# no\n| a |\n~~~\n".into(), |all| {
            all[0].kinds == [BlockKind::Code]
        }),
        ("B2 cuts fall between rows", format!("| a | b |\n|---|---|\n{rows}"), |all| {
            all.len() > 1 && all.iter().all(|chunk| chunk.text.trim_end().ends_with('|'))
        }),
        ("B3 a long list is cut between items; there it is never cut", items, |all| {
            all.len() > 1 && all.iter().all(|chunk| chunk.text.starts_with("- "))
        }),
        ("B4 the budget is hard; there a long block breaks it", "word ".repeat(500), |all| {
            all.len() > 1 && all.iter().all(|chunk| chunk.token_count <= 64)
        }),
        (
            "B5 a cut falls before a heading, never behind it",
            format!("{}\n\n# Next\n\n{}\n", "Some words. ".repeat(18), "More. ".repeat(20)),
            |all| all.len() > 1 && all.iter().any(|chunk| chunk.text.starts_with("# Next")),
        ),
        (
            "B6 the overlap has its own column, and holds no half fence",
            format!("{}\n\n```\n{}```\n", "Text here. ".repeat(4), "line\n".repeat(80)),
            |all| all.len() > 2 && all.iter().all(|chunk| !chunk.overlap.contains("```")),
        ),
        (
            "B7 a new table never gets the header of the one before",
            format!("| a | b |\n|---|---|\n{rows}\n| c | d |\n|---|---|\n{rows}"),
            |all| {
                all.iter()
                    .filter(|c| c.embed_text().contains("| c |"))
                    .all(|c| !c.prefix.contains("| a |"))
            },
        ),
        ("B8 offsets are those of the slice", "Zwölf. ".repeat(90), |all| {
            all.windows(2).all(|pair| pair[0].chars.end == pair[1].chars.start)
        }),
    ];
    for (behaviour, markdown, holds) in cases {
        let all = chunks(markdown, &options(64));
        assert!(holds(&all), "{behaviour}: {all:#?}");
    }
}

#[test]
fn code_is_closed_and_opened_again() {
    let code = "```py\ndef brew():\n    heat()\n    steep()\n\ndef pour():\n    fill()\n    serve()\n    drink()\n```\n";
    insta::assert_snapshot!(show(&format!("# Tea\n\n{code}"), 24), @r"
    -- 0..49 17 tokens []
      # Tea

      ```py
      def brew():
          heat()
          steep()

    > ```
    -- 49..100 19 tokens [Continued]
    < Tea
    <
    < ```py
      def pour():
          fill()
          serve()
          drink()
      ```
    ");
}

#[test]
fn a_list_is_cut_between_items_under_their_parent() {
    let list = "- Green teas of the spring\n  - Sencha, steamed and rolled into needles\n  \
                - Gyokuro, shaded for three weeks before picking\n  \
                - Bancha, picked late and drunk every day\n- Black teas\n";
    insta::assert_snapshot!(show(list, 40), @r"
    -- 0..122 31 tokens []
      - Green teas of the spring
        - Sencha, steamed and rolled into needles
        - Gyokuro, shaded for three weeks before picking
    -- 122..179 23 tokens [Continued]
    < - Green teas of the spring
        - Bancha, picked late and drunk every day
      - Black teas
    ");
}

#[test]
fn the_title_leads_where_no_main_heading_does() {
    let prefixes = |markdown: &str| -> Vec<String> {
        let document_id = document_id("https://example.org/tea");
        let input = ChunkInput { markdown, title: Some("Tea"), headings: &[], document_id };
        let chunks = chunk(input, &options(120), &Tokenizer::Chars);
        chunks.into_iter().map(|chunk| chunk.prefix).collect()
    };
    let leaves = "Leaves are heated in a pan until they smell of chestnuts, and no longer.\n\n\
        Then they are rolled by hand, and dried once more over a slow fire of charcoal.";
    assert_eq!(prefixes(&format!("## Green\n\n{leaves}")), ["Tea\n\n", "Tea > Green\n\n"]);
    let named = prefixes(&format!("# All of tea\n\n## Green\n\n{leaves}"));
    assert!(named.iter().all(|prefix| !prefix.contains("Tea")), "{named:?}");
}
