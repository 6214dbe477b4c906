//! Bits that flip, and files that are cut short: `corpus verify` says so, and never panics.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::crash::page;
use crate::site::{Job, Site, program};

/// Stretches of a file of which each has a bit flipped, one after the other.
const STRETCHES: usize = 8;

/// Places that are the same in every run.
struct Places(u64);

impl Places {
    /// One of `0..end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end.max(1) as u64).unwrap()
    }

    /// Copies of `whole` with a bit flipped in each of its stretches, and cut to three lengths.
    fn rotten(&mut self, whole: &[u8]) -> Vec<(String, Vec<u8>)> {
        let stretch = whole.len().div_ceil(STRETCHES);
        let mut copies = Vec::new();
        for from in (0..whole.len()).step_by(stretch.max(1)) {
            let at = from + self.below(stretch.min(whole.len() - from));
            let bit = self.below(8);
            let mut copy = whole.to_vec();
            copy[at] ^= 1 << bit;
            copies.push((format!("bit {bit} of byte {at}"), copy));
        }
        for length in [0, self.below(whole.len()), whole.len() - 1] {
            copies.push((format!("cut to {length} bytes"), whole[..length].to_vec()));
        }
        copies
    }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.retain(|path| path.is_file());
    files
}

/// The exit code of `corpus verify`, and what it said.
fn verify(job: &Job) -> (i32, String) {
    let output = job.run("verify");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    let code = output.status.code().unwrap_or_else(|| panic!("{said}"));
    assert!(code != 101 && !said.contains("panicked"), "{said}");
    (code, said)
}

#[test]
fn every_flip_and_cut_at_rest_is_reported() {
    let site = Site::start(page);
    let job = Job::new(&site.url("/"), "[output]\npart_bytes = 524288\n");
    job.crawl();
    job.verify();
    let state = job.folder.path().join("corpus-state");
    let mut files = vec![job.corpus().join("_manifest.json")];
    for kind in ["pages", "chunks", "changes"] {
        files.extend(files_in(&job.corpus().join(kind)));
    }
    files.extend([state.join("state.db"), state.join("state.db.digest")]);
    let mut places = Places(0x9e37_79b9_7f4a_7c15);
    for path in files {
        let whole = fs::read(&path).unwrap();
        for (what, rotten) in places.rotten(&whole) {
            fs::write(&path, rotten).unwrap();
            let (code, said) = verify(&job);
            assert_eq!(code, 1, "{}: {what}: {said}", path.display());
        }
        fs::write(&path, whole).unwrap();
        job.verify();
    }
}

#[test]
fn rot_in_what_a_kill_left_never_panics() {
    let site = Site::start(page);
    let job = Job::new(&site.url("/"), "");
    let mut child = program().arg("crawl").arg(job.config()).stderr(Stdio::null()).spawn().unwrap();
    for _ in 0..120 {
        site.asked.lock().unwrap().recv().unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let state = job.folder.path().join("corpus-state");
    let left: Vec<(PathBuf, Vec<u8>)> =
        files_in(&state).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    assert!(left.iter().any(|(path, log)| path.ends_with("state.db-wal") && !log.is_empty()));
    let mut places = Places(0x0123_4567_89ab_cdef);
    for (path, whole) in left.iter().filter(|(_, whole)| !whole.is_empty()) {
        for (_, rotten) in places.rotten(whole) {
            for path in files_in(&state) {
                fs::remove_file(path).unwrap();
            }
            for (path, whole) in &left {
                fs::write(path, whole).unwrap();
            }
            fs::write(path, rotten).unwrap();
            verify(&job);
        }
    }
}
