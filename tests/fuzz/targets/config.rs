//! A config from anyone: it is refused with a word, or it is what it says.
#![no_main]

use std::path::Path;

use corpus::config::Config;
use libfuzzer_sys::fuzz_target;

fn read(text: &str) -> Result<Config, String> {
    let env = |name: &str| (name != "ABSENT").then(|| format!("value of {name}"));
    Config::parse(text, Path::new("corpus.toml"), &env).map_err(|error| error.to_string())
}

fuzz_target!(|text: &str| {
    // Files that a config names are read, and this machine's are none of a fuzzer's business.
    if text.contains('/') && (text.contains("seed_files") || text.contains("tokenizer")) {
        return;
    }
    match read(text) {
        Err(error) => assert!(!error.is_empty()),
        Ok(config) => {
            let written = toml::to_string(&config).expect("a config can be written");
            // What a variable of the environment holds is not looked through again.
            if !written.contains("${") {
                assert_eq!(read(&written), Ok(config), "a config that was written is another");
            }
        }
    }
});
