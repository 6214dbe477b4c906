//! The documentation says what the program does.

use std::fmt::Write as _;
use std::path::Path;

use corpus::model::{ErrorCode, Exclusion, Heuristic};
use corpus::output::{CHANGES, CHUNKS, Column, PAGES};

use crate::site::program;

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

fn help() -> String {
    let output = program().arg("--help").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_readme_shows_the_help() {
    let readme = read("README.md");
    let shown = readme.split("```text\n").find(|block| block.contains("Usage: corpus")).unwrap();
    let shown = shown.split("```").next().unwrap();
    assert_eq!(shown.trim_end(), help().trim_end());
}

#[test]
fn no_document_has_a_gap() {
    for name in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "docs/output.md"] {
        assert!(!read(name).contains("@@"), "{name}");
    }
}

#[test]
fn every_command_helps_itself() {
    for line in help()
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
    {
        let Some(command) = line
            .split_whitespace()
            .next()
            .filter(|_| line.starts_with("  ") && !line.starts_with("   "))
        else {
            continue;
        };
        let output = program().args([command, "--help"]).output().unwrap();
        assert!(output.status.success(), "{command}");
    }
}

#[test]
fn the_documentation_lists_every_column() {
    let mut table = String::new();
    let is_chunk = |column: &Column| CHUNKS.iter().any(|chunk| chunk.name == column.name);
    let own = CHANGES.iter().filter(|column| column.name == "run_id" || !is_chunk(column));
    let changes: Vec<Column> = own.copied().collect();
    for (name, columns) in [("pages", PAGES), ("chunks", CHUNKS), ("changes", &changes)] {
        write!(table, "`{name}`\n\n| column | type | meaning |\n| --- | --- | --- |\n").unwrap();
        for column in columns {
            writeln!(table, "| `{}` | {} | {} |", column.name, column.kind, column.meaning)
                .unwrap();
        }
        table.push('\n');
    }
    let path = "docs/output.md";
    let text = read(path);
    assert!(text.contains(table.trim_end()), "{path} should hold\n\n{table}");
}

#[test]
fn the_documentation_lists_every_heuristic_and_every_reason_of_quality() {
    let text = read("docs/quality.md");
    let reasons = Exclusion::ALL.iter().map(|exclusion| exclusion.code());
    let reasons = reasons.filter(|code| code.starts_with("quality."));
    for code in Heuristic::ALL.iter().map(|heuristic| heuristic.code()).chain(reasons) {
        assert!(text.contains(&format!("| `{code}` |")), "{code}");
    }
}

#[test]
fn the_test_command_of_the_readme_is_the_one_that_ci_runs() {
    let command = "cargo test --locked";
    assert!(read("README.md").contains(command));
    assert!(read(".ci/run").contains(command));
}

#[test]
fn init_prints_the_defaults() {
    let output = program().arg("init").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), corpus::config::DEFAULT_TOML);
}

#[test]
fn the_documentation_lists_every_reason() {
    let text = read("docs/output.md");
    let excluded = Exclusion::ALL.iter().map(|reason| (reason.code(), "excluded"));
    let failed = ErrorCode::ALL.iter().map(|reason| (reason.code(), "failed"));
    for (code, outcome) in excluded.chain(failed) {
        assert!(text.contains(&format!("| `{code}` | {outcome} | ")), "{code}");
    }
}
