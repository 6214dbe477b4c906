//! On a full disk a crawl stops with a clear word, and goes on once there is room.

use std::process::Command;

use crate::corpus_files::content;
use crate::crash::page;
use crate::site::{Job, Site};

/// Sizes of the disk, from one on which the state alone does not fit.
const KIB: [u32; 5] = [64, 300, 700, 1_100, 1_700];

/// Crawls on a disk of the size `$1` KiB that stands in `$2` in a mount namespace of its own, then
/// makes room, crawls again, verifies, and copies what came out to `$4`. Prints both exit codes
/// and what the first crawl said.
const SCRIPT: &str = r#"
mount -t tmpfs -o size=$1k tmpfs "$2" || exit 99
cp "$3" "$2/site.toml"
"$5" crawl -q "$2/site.toml" 2>"$4/said"
echo $?
"$5" verify -q "$2/site.toml" >/dev/null 2>>"$4/verified"
mount -o remount,size=65536k "$2" || exit 99
"$5" crawl -q "$2/site.toml" 2>>"$4/verified"
echo $?
"$5" verify -q "$2/site.toml" >/dev/null 2>>"$4/verified"
echo $?
cp -r "$2/corpus" "$4/corpus"
"#;

#[test]
fn a_full_disk_loses_nothing() {
    let probe = Command::new("unshare").args(["-rm", "true"]).status();
    if !probe.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no mount namespace can be made here");
        return;
    }
    let site = Site::start(page);
    let undisturbed = Job::new(&site.url("/"), "");
    undisturbed.crawl();
    let want = content(&undisturbed.corpus());
    let mut stopped = 0;
    for size in KIB {
        let job = Job::new(&site.url("/"), "[output]\npart_bytes = 65536\n");
        let disk = tempfile::tempdir().unwrap();
        let output = Command::new("unshare")
            .args(["-rm", "sh", "-c", SCRIPT, "sh", &size.to_string()])
            .args([disk.path(), &job.config(), job.folder.path()])
            .arg(env!("CARGO_BIN_EXE_corpus"))
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        if output.status.code() == Some(99) {
            eprintln!("skipped: no disk can be mounted here");
            return;
        }
        let text = |name: &str| std::fs::read_to_string(job.folder.path().join(name)).unwrap();
        let codes = String::from_utf8(output.stdout).unwrap();
        let codes: Vec<&str> = codes.lines().collect();
        let said = text("said");
        if codes[0] != "0" {
            stopped += 1;
            assert_eq!(codes[0], "4", "{size} KiB: {said}");
            assert!(said.starts_with("error: cannot "), "{size} KiB: {said}");
            assert!(said.contains("hint: free some space"), "{size} KiB: {said}");
        }
        assert_eq!(codes[1..], ["0", "0"], "{size} KiB: {said}{}", text("verified"));
        assert!(content(&job.corpus()) == want, "{size} KiB: another corpus");
    }
    assert!(stopped >= 3, "the disks were too large to test anything");
}
