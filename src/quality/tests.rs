//! What the signals promise.

use proptest::prelude::*;

use super::*;
use crate::model::{Markdown, Metadata};

fn document(markdown: &str, lang: Option<&str>) -> Document {
    let metadata = Metadata { lang: lang.map(str::to_owned), ..Metadata::default() };
    Document { markdown: Markdown::new(markdown), metadata, ..Document::default() }
}

fn quality(markdown: &str) -> Quality {
    let mut document = document(markdown, None);
    assess(&mut document);
    document.quality.unwrap_or_default()
}

const PROSE: &str = "The lighthouse stood at the end of the pier, and nobody had lit it for years. \
    When the storm came, the keeper's daughter climbed the stairs with a lamp that her father had \
    left behind. She thought of the ships that would have to find their way to the harbour, and \
    she waited until the morning broke over the grey and quiet water.\n";

#[test]
fn good_prose_meets_every_heuristic() {
    let quality = quality(PROSE);
    assert_eq!(quality.failed, []);
    assert_eq!(quality.words, 63);
    assert_eq!(quality.link_density, Ratio::default());
    assert_eq!(quality.repetition, Ratio::default());
    assert!(quality.stop_word_share > Some(Ratio::from_thousandths(400)));
}

#[test]
fn marks_and_addresses_do_not_count() {
    let plain = quality("One two three.\n\nFour [five](http://a.example/a/long/address) six.\n");
    assert_eq!(plain.words, 6);
    assert_eq!(plain.link_density, Ratio::share(4, 28));
    let marked = quality("# One *two* three.\n\n> Four **five** six.\n");
    assert_eq!((marked.words, marked.symbol_share), (6, Ratio::default()));
}

#[test]
fn each_heuristic_is_failed_by_what_it_names() {
    let fails = |markdown: &str, heuristic| {
        let quality = quality(markdown);
        assert!(quality.failed.contains(&heuristic), "{heuristic}: {:?}", quality.failed);
    };
    fails("Two words.\n", Heuristic::WordCount);
    fails("Two words.\n", Heuristic::FewSentences);
    fails(
        "Pneumonoultramicroscopicsilicovolcanoconiosis incomprehensibilities.\n",
        Heuristic::MeanWordLength,
    );
    fails("12 34 56 78 ninety\n", Heuristic::AlphabeticWords);
    fails("- one\n- two\n- three\n", Heuristic::BulletLines);
    fails("Read on…\n\nRead more...\n\nThe end.\n", Heuristic::EllipsisLines);
    fails("tags #one #two #three\n", Heuristic::SymbolShare);
    fails("Lorem ipsum dolor sit amet.\n", Heuristic::LoremIpsum);
    fails("if (a) { b }\n", Heuristic::CurlyBracket);
    let line = "The same line stands here again.\n\n".repeat(4);
    for heuristic in [
        Heuristic::DuplicateLines,
        Heuristic::DuplicateLineChars,
        Heuristic::DuplicateParagraphs,
        Heuristic::DuplicateParagraphChars,
        Heuristic::Top2Gram,
        Heuristic::Top3Gram,
        Heuristic::Top4Gram,
        Heuristic::Duplicate5Grams,
        Heuristic::Duplicate6Grams,
        Heuristic::Duplicate7Grams,
        Heuristic::Duplicate8Grams,
        Heuristic::Duplicate9Grams,
        Heuristic::Duplicate10Grams,
    ] {
        fails(&line, heuristic);
    }
    let mut few = document("Apples pears plums cherries.\n", Some("en"));
    few.metadata.lang = Some("en".to_owned());
    assert!(Words::of("Apples pears plums", Some("en")).common_english == Some(0));
}

#[test]
fn repeated_text_is_a_share_of_the_whole() {
    let line = "Exactly twenty chars\n\n";
    assert_eq!(quality(&line.repeat(4)).repetition, Ratio::from_thousandths(750));
}

#[test]
fn the_language_is_that_of_the_text() {
    let find = |markdown: &str, declared: Option<&str>| {
        let mut document = document(markdown, declared);
        assess(&mut document);
        let metadata = document.metadata;
        (metadata.lang.unwrap_or_default(), metadata.lang_confidence.is_some())
    };
    let german =
        "Der Leuchtturm stand am Ende der Mole, und niemand hatte ihn seit Jahren angezündet.\n";
    assert_eq!(find(german, None), ("de".to_owned(), true));
    assert_eq!(find(german, Some("en")), ("de".to_owned(), true));
    assert_eq!(find("灯塔矗立在码头的尽头，多年来没有人点亮过它。\n", None).0, "zh");
    assert_eq!(find("تقع المنارة في نهاية الرصيف ولم يشعلها أحد منذ سنوات.\n", None).0, "ar");
    assert_eq!(find("प्रकाशस्तंभ घाट के अंत में खड़ा था और वर्षों से किसी ने इसे नहीं जलाया।\n", None).0, "hi");
    // Too little to tell: the page's own word stands, without a measure of it.
    assert_eq!(find("OK\n", Some("da")), ("da".to_owned(), false));
    // Neither code nor the addresses of links speak.
    let page = format!("```\nlet the_value = of(the, and, that, with, have);\n```\n\n{german}");
    assert_eq!(find(&page, None).0, "de");
    assert_eq!(
        find(
            "[灯塔](http://the.example/and/of/that/with/the/lighthouse/have) 矗立在码头的尽头\n",
            None
        )
        .0,
        "zh"
    );
}

#[test]
fn stop_words_are_counted_where_words_are_set_apart() {
    assert!(Words::of("der die das und", Some("de")).stopped == Some(4));
    assert!(Words::of("灯塔的尽头", Some("zh")).stopped.is_none());
    assert!(Words::of("der die das", None).stopped.is_none());
}

#[test]
fn only_what_the_options_say_keeps_a_page_out() {
    let with = |options: &QualityOptions, lang: Option<&str>| {
        let mut page = document("- [one](http://a.example/)\n- [two](http://a.example/)\n", lang);
        assess(&mut page);
        options.exclusion(&page)
    };
    let all = QualityOptions::default;
    assert_eq!(with(&all(), Some("en")), None);
    let english = QualityOptions { languages: vec!["en".to_owned()], ..all() };
    assert_eq!(with(&english, Some("en")), None);
    assert_eq!(with(&english, Some("de")), Some(Exclusion::Language));
    assert_eq!(with(&english, None), None);
    let long = QualityOptions { min_words: 3, ..all() };
    assert_eq!(with(&long, None), Some(Exclusion::FewWords));
    let prose = QualityOptions { max_link_density: Ratio::from_thousandths(500), ..all() };
    assert_eq!(with(&prose, None), Some(Exclusion::LinkDensity));
    let no_list = QualityOptions { heuristics: vec![Heuristic::BulletLines], ..all() };
    assert_eq!(with(&no_list, None), Some(Exclusion::Heuristic));
    assert_eq!(all().exclusion(&Document::default()), Some(Exclusion::Empty));
}

proptest! {
    #[test]
    fn any_text_is_measured(text in "[a-z #…{}\n\\[\\]()`>*|\u{4e00}-\u{4e10}-]{0,200}") {
        let quality = quality(&text);
        let mut sorted = quality.failed.clone();
        sorted.sort_by_key(|heuristic| heuristic.code());
        sorted.dedup();
        prop_assert_eq!(&sorted, &quality.failed);
        prop_assert!(quality.link_density <= Ratio::ALL);
    }

    #[test]
    fn a_text_twice_is_repeated_by_half(lines in prop::collection::hash_set("[a-z]{12}", 1..8)) {
        let once: String = lines.iter().map(|line| line.clone() + "\n\n").collect();
        prop_assert_eq!(quality(&once.repeat(2)).repetition, Ratio::from_thousandths(500));
    }
}
