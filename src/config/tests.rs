//! What a config promises.

use super::*;

fn parse(text: &str) -> Result<Config, ConfigError> {
    let env = |name: &str| (name == "TOKEN").then(|| "s\"cret".to_owned());
    Config::parse(text, Path::new("folder/site.toml"), &env)
}

#[track_caller]
fn check(text: &str, want: &str) {
    let error = parse(text).unwrap_err();
    let hint = error.hint().map_or(String::new(), |hint| format!("\nhint: {hint}"));
    assert_eq!(format!("{error}{hint}"), want);
}

#[test]
fn the_shipped_config_states_every_default() {
    assert_eq!(read::shipped(), read::defaults());
}

#[test]
fn every_key_of_the_shipped_config_is_explained() {
    let mut was_comment = false;
    for line in DEFAULT_TOML.lines() {
        let is_key = line.contains('=') && !line.starts_with(['#', '[']);
        assert!(!is_key || was_comment, "`{line}` has no comment above");
        was_comment = line.starts_with('#');
    }
}

#[test]
fn an_unknown_key_names_the_nearest() {
    check(
        "[chunk]\nmax_token = 9\n",
        "there is no key `chunk.max_token` (`folder/site.toml`, line 2)\nhint: did you mean `chunk.max_tokens`?",
    );
    check(
        "[crawler]\nseeds = []\n",
        "there is no key `crawler` (`folder/site.toml`, line 1)\nhint: did you mean `crawl`?",
    );
}

#[test]
fn a_value_out_of_range_says_what_it_must_be() {
    check(
        "[chunk]\n\nmax_tokens = 3\n",
        "`chunk.max_tokens` is 3, but must be at least 32 (`folder/site.toml`, line 3)",
    );
    check(
        "[crawl]\nseeds = [\"ftp://h/\"]\n",
        "`crawl.seeds` is `ftp://h/`: scheme `ftp` is not http or https, but must be a list of absolute http(s) \
         addresses (`folder/site.toml`, line 2)\nhint: set `seeds = [\"https://…/\"]` in the table `[crawl]`",
    );
    check(
        "[fetch]\nallow_private = [\"all\"]\n",
        "`fetch.allow_private` is `all`, but must be a list of networks such as `127.0.0.0/8` (`folder/site.toml`, line 2)",
    );
    check(
        "[extract]\nmain_content = \"a[\"\n",
        "`extract.main_content` is `a[`, but must be `auto`, `off` or a CSS selector (`folder/site.toml`, line 2)",
    );
}

#[test]
fn a_wrong_type_is_shown_in_its_place() {
    let error = parse("[politeness]\ndelay_ms = \"slow\"\n").unwrap_err().to_string();
    assert!(error.contains("line 2"), "{error}");
    assert!(error.contains("delay_ms = \"slow\""), "{error}");
    assert!(error.contains("invalid type: string \"slow\", expected u64"), "{error}");
}

#[test]
fn secrets_come_from_the_environment() {
    let config = parse("[fetch]\nheaders = [\"Authorization: ${TOKEN}\"] # ${LATER}\n");
    let error = config.unwrap_err().to_string();
    assert_eq!(error, "the variable `LATER` is not set (`folder/site.toml`, line 2)");
    let config = parse("[fetch]\n# ${LATER}\nheaders = [\"Authorization: ${TOKEN}\"]\n").unwrap();
    assert_eq!(config.fetch.headers, ["Authorization: s\"cret"]);
}

#[test]
fn no_error_shows_a_secret() {
    for (text, shown) in [
        ("[fetch]\nheaders = \"A: ${TOKEN}\"\n", "headers = \"A: ${TOKEN}\""),
        ("[fetch]\nheaders = [\"${TOKEN}\"]\n", "`fetch.headers` is malformed in entry 1"),
        ("[fetch]\nproxy = \"http://[${TOKEN}\"\n", "`fetch.proxy` is malformed"),
        ("[crawl]\nscope = \"${TOKEN}\"\n", "${TOKEN}"),
    ] {
        let error = parse(text).unwrap_err();
        let error = format!("{error} {}", crate::model::with_causes(&error));
        assert!(!error.contains("s\"cret") && error.contains(shown), "{error}");
    }
}

#[test]
fn paths_are_relative_to_the_config() {
    let config = parse("[output]\npath = \"out\"\n").unwrap();
    assert_eq!(config.output.path, Path::new("folder/out"));
    assert_eq!(config.state_path(), Path::new("folder/corpus-state/state.db"));
}

#[test]
fn a_tokenizer_lies_beside_the_config_and_counts_by_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.toml");
    let with = |model: &str| {
        std::fs::write(folder.path().join("t.json"), model).unwrap();
        Config::parse("[chunk]\ntokenizer = \"t.json\"\n", &path, &|_| None).unwrap()
    };
    let model = |unknown: &str| {
        format!(
            r#"{{"model": {{"type": "WordLevel", "vocab": {{"?": 0, "!": 1}}, "unk_token": "{unknown}"}}}}"#
        )
    };
    let (first, again, other) = (with(&model("?")), with(&model("?")), with(&model("!")));
    assert_eq!(first.tokenizer.count("tea"), 1);
    assert_eq!(first.content_hash(), again.content_hash());
    assert_ne!(first.content_hash(), other.content_hash());
    assert_ne!(first.content_hash(), Config::default().content_hash());
}

#[test]
fn a_site_has_its_own_main_content() {
    let config = parse(
        "[extract]\ndrop = [\".ad\"]\n\
         [[site]]\nhost = \"docs.example.org\"\nmain_content = \"article\"\n\
         [[site]]\nhost = \"*.example.org\"\nmain_content = \"off\"\ndrop = []\n",
    )
    .unwrap();
    let sites: Vec<_> = config.sites().collect();
    let of = |host: &str| {
        let own = sites.iter().find(|(pattern, _)| pattern.matches(host));
        own.map(|(_, options)| (options.main_content.as_str(), options.drop.len()))
    };
    assert_eq!(of("docs.example.org"), Some(("article", 1)));
    assert_eq!(of("example.org"), Some(("off", 0)));
    assert_eq!(of("example.com"), None);
    assert_ne!(
        config.content_hash(),
        parse("[extract]\ndrop = [\".ad\"]\n").unwrap().content_hash()
    );
}

#[test]
fn a_mistake_in_a_site_is_said_in_its_place() {
    check(
        "[[site]]\nhost = \"a.example\"\n[[site]]\nhost = \"b.example\"\nmain_contents = \"x\"\n",
        "there is no key `site.main_contents` (`folder/site.toml`, line 5)\n\
         hint: did you mean `site.main_content`?",
    );
    check(
        "[[site]]\nhost = \"a.example\"\ndrop = [\"a[\"]\n",
        "`site.drop` is `a[`, but must be a list of CSS selectors (`folder/site.toml`, line 3)",
    );
    let error = parse("[[site]]\nhost = \"https://a.example/\"\n").unwrap_err().to_string();
    assert!(error.contains("is not a host such as"), "{error}");
}
