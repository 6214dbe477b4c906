//! What the program says when something is wrong: one clear message, what to do, the right exit
//! code.

use std::path::Path;

use crate::site::{Job, Page, Site, program, said};

/// Exit code and messages of a command in `folder`.
fn session(folder: &Path, args: &[&str]) -> String {
    let output = program().args(args).current_dir(folder).output().unwrap();
    format!("exit {}\n{}", output.status.code().unwrap_or(-1), said(&output, folder))
}

fn folder_with(name: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    folder
}

#[test]
fn a_missing_config() {
    let folder = tempfile::tempdir().unwrap();
    insta::assert_snapshot!(session(folder.path(), &["crawl", "no.toml"]), @r"
    exit 2
    error: cannot read the config `no.toml`
      because: No such file or directory (os error 2)
    hint: `corpus init` writes a config to start from
    ");
}

#[test]
fn an_unknown_key() {
    let folder = folder_with("a.toml", "[crawl]\nseeds = [\"http://h/\"]\nmax_dept = 3\n");
    insta::assert_snapshot!(session(folder.path(), &["crawl", "a.toml"]), @r"
    exit 2
    error: there is no key `crawl.max_dept` (`a.toml`, line 3)
    hint: did you mean `crawl.max_depth`?
    ");
}

#[test]
fn a_wrong_type() {
    let folder = folder_with("a.toml", "[crawl]\nseeds = \"http://h/\"\n");
    insta::assert_snapshot!(session(folder.path(), &["crawl", "a.toml"]), @r#"
    exit 2
    error: `a.toml` is not a valid config
    TOML parse error at line 2, column 9
      |
    2 | seeds = "http://h/"
      |         ^^^^^^^^^^^
    invalid type: string "http://h/", expected a sequence
    hint: `corpus init` prints every key with its default
    "#);
}

#[test]
fn an_impossible_range() {
    let folder = folder_with("a.toml", "[chunk]\nmax_tokens = 2\n");
    insta::assert_snapshot!(session(folder.path(), &["check", "a.toml"]), @r"
    exit 2
    error: `chunk.max_tokens` is 2, but must be at least 32 (`a.toml`, line 2)
    ");
}

#[test]
fn a_tokenizer_that_does_not_exist() {
    let folder = folder_with("a.toml", "[chunk]\ntokenizer = \"o200k\"\n");
    insta::assert_snapshot!(session(folder.path(), &["check", "a.toml"]), @r#"
    exit 2
    error: `a.toml` is not a valid config
    TOML parse error at line 2, column 13
      |
    2 | tokenizer = "o200k"
      |             ^^^^^^^
    `o200k` is not a tokenizer: it must be `o200k_base`, `cl100k_base`, `chars` or the path of a `tokenizer.json` of Hugging Face
    hint: `corpus init` prints every key with its default
    "#);
    let folder = folder_with("a.toml", "[chunk]\ntokenizer = \"model/tokenizer.json\"\n");
    insta::assert_snapshot!(session(folder.path(), &["check", "a.toml"]), @r"
    exit 2
    error: `chunk.tokenizer` is `model/tokenizer.json` (No such file or directory (os error 2)), but must be `o200k_base`, `cl100k_base`, `chars` or the path of a `tokenizer.json` of Hugging Face (`a.toml`, line 2)
    ");
    std::fs::write(folder.path().join("a.md"), "Text.").unwrap();
    let args = ["chunk", "a.md", "--tokenizer", "model/tokenizer.json"];
    insta::assert_snapshot!(session(folder.path(), &args), @r"
    exit 2
    error: cannot count with `model/tokenizer.json`: No such file or directory (os error 2)
    hint: `--tokenizer` must be `o200k_base`, `cl100k_base`, `chars` or the path of a `tokenizer.json` of Hugging Face
    ");
}

#[test]
fn a_tokenizer_that_is_none() {
    let folder = folder_with("a.toml", "[chunk]\ntokenizer = \"t.json\"\n");
    std::fs::write(folder.path().join("t.json"), "{\"model\": 1}").unwrap();
    insta::assert_snapshot!(session(folder.path(), &["check", "a.toml"]), @r"
    exit 2
    error: `chunk.tokenizer` is `t.json` (it is not a `tokenizer.json`: data did not match any variant of untagged enum ModelUntagged at line 1 column 12), but must be `o200k_base`, `cl100k_base`, `chars` or the path of a `tokenizer.json` of Hugging Face (`a.toml`, line 2)
    ");
}

#[test]
fn no_seed() {
    let folder = folder_with("a.toml", "[crawl]\n");
    insta::assert_snapshot!(session(folder.path(), &["crawl", "a.toml"]), @r#"
    exit 2
    error: `crawl.seeds` is empty, but must be a list of absolute http(s) addresses (`a.toml`)
    hint: set `seeds = ["https://…/"]` in the table `[crawl]`
    "#);
}

#[test]
fn a_seed_that_is_not_http() {
    let folder = folder_with("a.toml", "[crawl]\nseeds = [\"ftp://h/\"]\n");
    insta::assert_snapshot!(session(folder.path(), &["crawl", "a.toml"]), @r#"
    exit 2
    error: `crawl.seeds` is `ftp://h/`: scheme `ftp` is not http or https, but must be a list of absolute http(s) addresses (`a.toml`, line 2)
    hint: set `seeds = ["https://…/"]` in the table `[crawl]`
    "#);
}

#[test]
fn an_output_folder_that_cannot_be_made() {
    let folder = folder_with(
        "a.toml",
        "[crawl]\nseeds = [\"http://127.0.0.1:9/\"]\n[output]\npath = \"file/corpus\"\n",
    );
    std::fs::write(folder.path().join("file"), "").unwrap();
    insta::assert_snapshot!(session(folder.path(), &["crawl", "a.toml"]), @r"
    exit 4
    error: cannot list `file/corpus/.tmp`
      because: Not a directory (os error 20)
    hint: check that the path can be written to, then run the same command: nothing is lost
    ");
}

#[test]
fn a_site_that_is_down() {
    // A port that was free a moment ago: nobody listens there.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let job = Job::new(&format!("http://{address}/"), "");
    let output = job.run("crawl");
    let said = said(&output, job.folder.path()).replace(&address.to_string(), "[HOST]");
    insta::assert_snapshot!(format!("exit {}\n{said}", output.status.code().unwrap()), @r"
    exit 3
    collected 0 pages in [TIME] s; 0 unchanged, 0 duplicate, 0 excluded, 0 gone, 0 failed
    wrote 0 chunks with 0 tokens to `[FOLDER]/corpus`
    warning: http://[HOST]: robots.txt could not be read: Connection refused (os error 111); 1 page waits for the next run
    hint: nothing is lost: the same command tries again
    ");
}

#[test]
fn a_private_address_that_was_not_allowed() {
    let folder = folder_with(
        "a.toml",
        "[crawl]\nseeds = [\"http://127.0.0.1:9/\"]\n[politeness]\nretry_base_ms = 1\n",
    );
    insta::assert_snapshot!(session(folder.path(), &["crawl", "a.toml"]), @r"
    exit 3
    collected 0 pages in [TIME] s; 0 unchanged, 0 duplicate, 0 excluded, 0 gone, 0 failed
    wrote 0 chunks with 0 tokens to `corpus`
    warning: http://127.0.0.1:9: robots.txt could not be read: the address is not public; `fetch.allow_private` can name it; 1 page waits for the next run
    hint: nothing is lost: the same command tries again
    ");
}

#[test]
fn an_empty_site() {
    let site = Site::start(|path| if path == "/" { Page::html("") } else { Page::status(404) });
    let job = Job::new(&site.url("/"), "");
    let output = job.run("crawl");
    insta::assert_snapshot!(format!("exit {}\n{}", output.status.code().unwrap(), said(&output, job.folder.path())), @r"
    exit 0
    collected 0 pages in [TIME] s; 0 unchanged, 0 duplicate, 1 excluded, 0 gone, 0 failed
    wrote 0 chunks with 0 tokens to `[FOLDER]/corpus`
    warning: no page was collected
    hint: `corpus check CONFIG URL` says what happens to an address, `corpus page URL --format stats` what becomes of its text
    ");
}

#[test]
fn a_page_that_is_binary() {
    let bytes: Vec<u8> = (0..=255).cycle().take(3_000).collect();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.html"), bytes).unwrap();
    insta::assert_snapshot!(session(folder.path(), &["page", "a.html"]), @r"
    exit 1
    error: `file:///a.html`: it is declared as text/html, but is not text
    ");
    insta::assert_snapshot!(session(folder.path(), &["convert", "--out", "o", "a.html"]), @r"
    exit 3
    collected 0 pages in [TIME] s; 0 unchanged, 0 duplicate, 0 excluded, 0 gone, 1 failed
    wrote 0 chunks with 0 tokens to `o`
    warning: 1 page failed: `extract.binary` 1
    hint: the column `reason` of `pages` says which; the same command tries them again
    warning: no page was collected
    hint: `corpus check CONFIG URL` says what happens to an address, `corpus page URL --format stats` what becomes of its text
    ");
}

#[test]
fn an_input_that_does_not_exist() {
    let folder = tempfile::tempdir().unwrap();
    insta::assert_snapshot!(session(folder.path(), &["convert", "--out", "o", "no.html"]), @r"
    exit 2
    error: cannot read `no.html`: No such file or directory (os error 2)
    hint: check the path
    ");
    insta::assert_snapshot!(session(folder.path(), &["convert", "no.html"]), @r"
    exit 2
    error: cannot read `no.html`: No such file or directory (os error 2)
    hint: check the path
    ");
}

#[test]
fn a_state_of_a_newer_program() {
    let site = Site::start(|_| Page::html("<p>Some text to keep.</p>"));
    let job = Job::new(&site.url("/"), "");
    job.crawl();
    let state = job.folder.path().join("corpus-state/state.db");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let pool = sqlx::SqlitePool::connect(&format!("sqlite:{}", state.display())).await.unwrap();
        let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                     VALUES (999, 'newer', 1, x'00', 0)";
        sqlx::query(newer).execute(&pool).await.unwrap();
        pool.close().await;
    });
    std::fs::remove_file(state.with_extension("db.digest")).unwrap();
    let output = job.run("crawl");
    insta::assert_snapshot!(format!("exit {}\n{}", output.status.code().unwrap(), said(&output, job.folder.path())), @r"
    exit 5
    error: the state was written by a newer `corpus` (migration 999): `[FOLDER]/corpus-state/state.db`
    hint: update `corpus`; nothing was touched
    ");
}

#[test]
fn a_file_in_the_way() {
    let site = Site::start(|_| Page::html("<p>Some text to keep.</p>"));
    let job = Job::new(&site.url("/"), "");
    std::fs::create_dir_all(job.corpus().join("chunks")).unwrap();
    let stranger = job.corpus().join("chunks/part-000001.parquet");
    std::fs::write(&stranger, "mine").unwrap();
    let output = job.run("crawl");
    insta::assert_snapshot!(format!("exit {}\n{}", output.status.code().unwrap(), said(&output, job.folder.path())), @r"
    exit 1
    error: a file that this corpus does not know stands in its way: `[FOLDER]/corpus/chunks/part-000001.parquet`
    hint: move the file away; nothing was deleted
    ");
    assert_eq!(std::fs::read_to_string(stranger).unwrap(), "mine");
}

#[test]
fn a_lost_text_is_found_again() {
    let html = "<nav><a href=/>Home</a></nav><main><h1>Tea</h1><p>It grows on hills.</p><p hidden>Secret</p></main>";
    let folder = folder_with("a.html", html);
    let find = |text: &str| {
        let output = program()
            .args(["page", "a.html", "--find", text])
            .current_dir(folder.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    insta::assert_snapshot!(find("grows on"), @r"kept: chunk 1 of 1");
    insta::assert_snapshot!(find("Home"), @r"lost: stage `extract`, rule `content.navigation`");
    insta::assert_snapshot!(find("Secret"), @r"lost: stage `extract`, rule `extract.hidden_attribute`");
    insta::assert_snapshot!(find("coffee"), @r"absent: not in the page's source as it was fetched");
}
