//! Places at which a test ends the process, as a loss of power would, or breaks the protocol.
//!
//! Without the feature `kill-points` this is nothing. With it, `KILL_AT=name:n` aborts the process
//! the `n`th time that it comes by `name`, `KILL_TRACE=file` appends every name that it comes by,
//! and `KILL_PAGE=text` aborts it when it converts a page whose address contains the text.
//!
//! `MISTAKE=name` makes the program do one step of the commit protocol wrong, so that the tests can
//! be tested: `tests/runs/crashes.py` must find each of them.
//!
//! | mistake | what is wrong |
//! | --- | --- |
//! | `acknowledge-first` | a page is acknowledged in a transaction before that of its record |
//! | `links-apart` | a page's links are committed after the page |
//! | `no-intent` | a part is written without a note that recovery would follow |
//! | `publish-apart` | a part is published before the spool is emptied |
//! | `retire-first` | retired files are deleted before the manifest is without them |
//! | `no-lock` | the state is not locked |

#[cfg(not(feature = "kill-points"))]
mod points {
    /// Ends the process here, if a test wants it.
    #[inline]
    pub const fn kill_point(_name: &'static str) {}

    /// Ends the process at the page `url`, if a test wants it.
    #[inline]
    pub const fn kill_page(_url: &str) {}

    /// Whether a test wants the mistake `name` to be made.
    #[inline]
    pub const fn mistake(_name: &'static str) -> bool {
        false
    }
}

#[cfg(feature = "kill-points")]
#[expect(clippy::disallowed_methods, reason = "what a test wants stands in the environment")]
mod points {
    use std::io::Write as _;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{LazyLock, Mutex, PoisonError};

    static AT: LazyLock<Option<(String, u32)>> = LazyLock::new(|| {
        let at = std::env::var("KILL_AT").ok()?;
        let (name, n) = at.rsplit_once(':')?;
        Some((name.to_owned(), n.parse().ok()?))
    });
    static SEEN: AtomicU32 = AtomicU32::new(0);
    static TRACE: LazyLock<Option<Mutex<std::fs::File>>> = LazyLock::new(|| {
        let path = std::env::var_os("KILL_TRACE")?;
        std::fs::OpenOptions::new().create(true).append(true).open(path).ok().map(Mutex::new)
    });
    static PAGE: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("KILL_PAGE").ok());
    static MISTAKE: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("MISTAKE").ok());

    /// Ends the process here, if a test wants it.
    pub fn kill_point(name: &'static str) {
        if let Some(file) = &*TRACE {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            drop(writeln!(file, "{name}"));
        }
        if let Some((at, n)) = &*AT
            && at == name
            && SEEN.fetch_add(1, Ordering::AcqRel) + 1 == *n
        {
            std::process::abort();
        }
    }

    /// Ends the process at the page `url`, if a test wants it.
    pub fn kill_page(url: &str) {
        if PAGE.as_ref().is_some_and(|page| url.contains(page.as_str())) {
            std::process::abort();
        }
    }

    /// Whether a test wants the mistake `name` to be made.
    pub fn mistake(name: &'static str) -> bool {
        MISTAKE.as_deref() == Some(name)
    }
}

pub use points::{kill_page, kill_point, mistake};
