//! What chunking promises, on random documents and on small ones.

use proptest::prelude::*;

use super::*;
use crate::model::{ChunkFlag, document_id};

fn options(max_tokens: usize) -> ChunkOptions {
    ChunkOptions { max_tokens, ..ChunkOptions::default() }
}

fn chunks(markdown: &str, options: &ChunkOptions) -> Vec<Chunk> {
    let document_id = document_id("https://example.org/");
    chunk(ChunkInput { markdown, title: None, headings: &[], document_id }, options)
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
            let counted = TokenizerName::O200kBase.count(&chunk.embed_text());
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
            prop_assert_eq!(TokenizerName::O200kBase.count(&chunk.embed_text()), chunk.token_count as usize);
        }
    }
}

#[test]
fn a_continued_table_has_its_own_header() {
    let table = |name: &str, rows: usize| {
        let row = |all: String, n: usize| all + &format!("| {name}{n} | value {n} of it |\n");
        let body = (0..rows).fold(String::new(), row);
        format!("| {name} | what |\n| --- | --- |\n{body}")
    };
    let markdown = format!("{}\n{}", table("A", 20), table("B", 20));
    for chunk in chunks(&markdown, &options(64)) {
        let name = if chunk.text.contains("| A") { "A" } else { "B" };
        let embedded = chunk.embed_text();
        assert!(
            embedded.contains(&format!("| {name} | what |\n| --- | --- |\n| {name}")),
            "{embedded}"
        );
        let other = if name == "A" { "| B | what" } else { "| A | what" };
        assert!(!embedded.contains(other), "{embedded}");
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
