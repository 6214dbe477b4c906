//! Holds `src` against ARCHITECTURE.md: who may depend on whom, and how large files may grow.

#![expect(clippy::unwrap_used, reason = "a test's helpers may fail the test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Module → what of this crate it may name, in the order of the flow. A module that is missing
/// here fails the test.
const MAY_USE: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("frontier", &["model"]),
    ("fetch", &["model"]),
    ("extract", &["model"]),
    ("clean", &["model"]),
    ("quality", &["model"]),
    ("chunk", &["model"]),
    ("store", &["model"]),
    ("output", &["model"]),
    ("demo", &[]),
    (
        "config",
        &[
            "model", "frontier", "fetch", "extract", "clean", "quality", "chunk", "store",
            "output", "demo",
        ],
    ),
    (
        "pipeline",
        &[
            "model", "frontier", "fetch", "extract", "clean", "quality", "chunk", "store",
            "output", "config",
        ],
    ),
    ("cli", &["model", "fetch", "chunk", "store", "demo", "config", "pipeline"]),
];

/// Outside crate → the only modules that may name it.
const LIVES_IN: &[(&str, &[&str])] = &[
    ("url", &["model", "frontier", "fetch", "extract"]),
    ("reqwest", &["fetch"]),
    ("governor", &["fetch"]),
    ("psl", &["fetch"]),
    ("rustls", &["fetch"]),
    ("encoding_rs", &["frontier", "fetch"]),
    ("quick_xml", &["frontier"]),
    ("globset", &["frontier"]),
    ("html5ever", &["extract"]),
    ("scraper", &["extract"]),
    ("whatlang", &["quality"]),
    ("stop_words", &["quality"]),
    ("twox_hash", &["quality"]),
    ("pulldown_cmark", &["quality", "chunk", "cli"]),
    ("bpe_openai", &["chunk"]),
    ("tokenizers", &["chunk"]),
    ("sqlx", &["store"]),
    ("croner", &["config"]),
    ("arrow", &["output"]),
    ("parquet", &["output"]),
    ("axum", &["demo"]),
    ("toml", &["config", "demo"]),
    ("rayon", &["pipeline"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("indicatif", &["cli"]),
];

/// Lines of production code in one file.
const MAX_FILE: usize = 400;

struct Source {
    module: String,
    path: PathBuf,
    /// The production code: comments are blank, tests are cut.
    code: String,
    text: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let is_test = path.file_name().is_some_and(|name| name == "tests.rs");
            let module = path.strip_prefix(&root).unwrap().components().next().unwrap();
            let module =
                Path::new(module.as_os_str()).file_stem().unwrap().to_str().unwrap().to_owned();
            if path.extension().is_none_or(|ending| ending != "rs")
                || is_test
                || module == "lib"
                || module == "main"
            {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            sources.push(Source { module, code: production(&text), path, text });
        }
    }
    assert!(sources.len() > 30, "the sources were not found");
    sources
}

/// `text` up to its tests, comment lines blank.
fn production(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let is_comment = |line: &&str| line.trim_start().starts_with("//");
    code.lines()
        .map(|line| if is_comment(&line) { "" } else { line })
        .collect::<Vec<_>>()
        .join("\n")
}

/// The first name after every `start`, and each of a group in braces.
fn names_after(code: &str, start: &str) -> Vec<String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let name =
        |text: &str| text.trim_start().chars().take_while(|c| is_name(*c)).collect::<String>();
    let mut names = Vec::new();
    for (_, after) in code.match_indices(start).map(|(at, _)| code.split_at(at + start.len())) {
        let Some(group) = after.strip_prefix('{') else {
            names.push(name(after));
            continue;
        };
        let mut depth = 0;
        let mut item = String::new();
        for c in group.chars() {
            match c {
                '}' if depth == 0 => break,
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => names.push(name(&std::mem::take(&mut item))),
                _ => item.push(c),
            }
        }
        names.push(name(&item));
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Whether `code` names the outside crate `name` at the start of a path.
fn names_outside(code: &str, name: &str) -> bool {
    let path = format!("{name}::");
    code.match_indices(&path).any(|(at, _)| {
        let before = code.split_at(at).0.chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | ':'))
    })
}

fn fail_on(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn modules_depend_only_downwards() {
    let allowed: BTreeMap<_, _> = MAY_USE.iter().copied().collect();
    let mut wrong = Vec::new();
    for Source { module, path, code, .. } in sources() {
        let Some(may_use) = allowed.get(module.as_str()) else {
            wrong.push(format!("{}: `{module}` is not in MAY_USE", path.display()));
            continue;
        };
        for used in names_after(&code, "crate::") {
            if used != module && !may_use.contains(&used.as_str()) {
                wrong.push(format!("{}: `{module}` must not use `{used}`", path.display()));
            }
        }
        if code.contains("super::super") {
            wrong.push(format!("{}: write `crate::` instead of `super::super`", path.display()));
        }
    }
    fail_on(&wrong);
}

#[test]
fn outside_crates_stay_in_their_modules() {
    let mut wrong = Vec::new();
    for Source { module, path, code, .. } in sources() {
        for (outside, homes) in LIVES_IN {
            if !homes.contains(&module.as_str()) && names_outside(&code, outside) {
                wrong.push(format!("{}: `{outside}` belongs to {homes:?}", path.display()));
            }
        }
    }
    fail_on(&wrong);
}

#[test]
fn the_table_itself_has_no_cycle() {
    let order: Vec<_> = MAY_USE.iter().map(|(module, _)| *module).collect();
    for (n, (module, uses)) in MAY_USE.iter().enumerate() {
        for used in *uses {
            let at = order.iter().position(|m| m == used);
            assert!(
                at.is_some_and(|at| at < n),
                "`{module}` uses `{used}`, which must stand above it"
            );
        }
    }
}

#[test]
fn files_hold_one_idea() {
    let long = sources().into_iter().filter_map(|source| {
        let lines = source.code.lines().count();
        (lines > MAX_FILE).then(|| format!("{}: {lines} lines", source.path.display()))
    });
    fail_on(&long.collect::<Vec<_>>());
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent = sources().into_iter().filter(|source| !source.text.starts_with("//! "));
    fail_on(&silent.map(|source| source.path.display().to_string()).collect::<Vec<_>>());
}

#[test]
fn only_cli_prints() {
    let words = ["println!", "eprintln!", "print!(", "eprint!("];
    let loud = sources().into_iter().filter(|source| {
        source.module != "cli" && words.iter().any(|word| source.code.contains(word))
    });
    fail_on(&loud.map(|source| source.path.display().to_string()).collect::<Vec<_>>());
}
