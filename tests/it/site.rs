//! A site on loopback that answers as a test wants, and remembers what it was asked.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};

/// What a page answers.
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Page {
    pub(crate) fn html(body: impl Into<String>) -> Self {
        Self::new(200, "text/html; charset=utf-8", body.into())
    }

    pub(crate) fn new(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: vec![("content-type", media_type.to_owned())], body: body.into() }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::new(status, "text/plain", "")
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// A running site; it ends with the test's process.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
    /// Paths answered with 304.
    unmodified: Arc<Mutex<Vec<String>>>,
    /// Sends a word for every request.
    pub(crate) asked: Mutex<Receiver<()>>,
}

impl Site {
    /// Serves `answer`, which gets paths with their queries.
    pub(crate) fn start(answer: impl Fn(&str) -> Page + Clone + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0", answer)
    }

    /// As [`Site::start`], at an address.
    pub(crate) fn start_at(
        at: &'static str,
        answer: impl Fn(&str) -> Page + Clone + Send + Sync + 'static,
    ) -> Self {
        let log = Arc::new(Mutex::new(Vec::new()));
        let unmodified = Arc::new(Mutex::new(Vec::new()));
        let (tell, asked) = channel();
        let (started, address) = channel();
        let logs = [Arc::clone(&log), Arc::clone(&unmodified)];
        std::thread::spawn(move || serve(at, answer, &logs, &tell, &started));
        Self { address: address.recv().unwrap(), log, unmodified, asked: Mutex::new(asked) }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Paths asked for so far, in order.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// Paths asked for since the last call, and those of them that were answered with 304.
    pub(crate) fn take_logs(&self) -> (Vec<String>, Vec<String>) {
        let take = |log: &Mutex<Vec<String>>| std::mem::take(&mut *log.lock().unwrap());
        (take(&self.log), take(&self.unmodified))
    }
}

fn serve(
    at: &'static str,
    answer: impl Fn(&str) -> Page + Clone + Send + Sync + 'static,
    [log, unmodified]: &[Arc<Mutex<Vec<String>>>; 2],
    tell: &Sender<()>,
    started: &Sender<SocketAddr>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (log, unmodified) = (Arc::clone(log), Arc::clone(unmodified));
    let tell = Arc::new(Mutex::new(tell.clone()));
    let app = Router::new().fallback(move |request: Request| {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let mut page = answer(&path);
        if is_known(&request, &page) {
            unmodified.lock().unwrap().push(path.clone());
            page = Page::status(304);
        }
        log.lock().unwrap().push(path);
        // A test that no longer counts has dropped the other end.
        tell.lock().unwrap().send(()).unwrap_or_default();
        async move { response(page) }
    });
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(at).await.unwrap();
        started.send(listener.local_addr().unwrap()).unwrap();
        axum::serve(listener, app).await.unwrap();
    });
}

/// Whether the request names all validators that the page has, byte for byte.
fn is_known(request: &Request, page: &Page) -> bool {
    let names = |validator, condition| {
        let has = page.headers.iter().find(|(name, _)| *name == validator).map(|(_, value)| value);
        let asked = request.headers().get(condition).and_then(|value| value.to_str().ok());
        (has.is_some(), asked == has.map(String::as_str))
    };
    let (has_tag, is_tag) = names("etag", "if-none-match");
    let (has_date, is_date) = names("last-modified", "if-modified-since");
    (has_tag || has_date) && is_tag && is_date
}

fn response(page: Page) -> Response {
    let mut response = (StatusCode::from_u16(page.status).unwrap(), page.body).into_response();
    for (name, value) in page.headers {
        response
            .headers_mut()
            .insert(HeaderName::from_static(name), HeaderValue::from_str(&value).unwrap());
    }
    response
}

/// A folder with a config for a crawl of `seed`.
pub(crate) struct Job {
    pub(crate) folder: tempfile::TempDir,
}

impl Job {
    /// A crawl without delay; `more` is TOML for further tables.
    pub(crate) fn new(seed: &str, more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = format!(
            "[crawl]\nseeds = [\"{seed}\"]\n\n[politeness]\ndelay_ms = 0\nretry_base_ms = 1\n\n\
             [fetch]\nallow_private = [\"127.0.0.0/8\"]\n\n{more}\n"
        );
        std::fs::write(folder.path().join("site.toml"), config).unwrap();
        Self { folder }
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.folder.path().join("site.toml")
    }

    pub(crate) fn corpus(&self) -> PathBuf {
        self.folder.path().join("corpus")
    }

    /// Runs `corpus COMMAND CONFIG`.
    pub(crate) fn run(&self, command: &str) -> Output {
        program().arg(command).arg(self.config()).output().unwrap()
    }

    /// Runs `corpus crawl CONFIG` with `more` arguments.
    pub(crate) fn crawl_with(&self, more: &[&str]) -> Output {
        program().arg("crawl").arg(self.config()).args(more).output().unwrap()
    }

    /// Runs a crawl that must succeed.
    pub(crate) fn crawl(&self) -> String {
        let output = self.run("crawl");
        let said = said(&output, self.folder.path());
        assert!(output.status.success(), "{:?}\n{said}", output.status);
        said
    }

    /// Holds the corpus against its invariants.
    pub(crate) fn verify(&self) {
        let output = self.run("verify");
        assert!(output.status.success(), "{}", said(&output, self.folder.path()));
    }
}

/// The program under test.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corpus"));
    command.env("NO_COLOR", "1").env_remove("RUST_BACKTRACE");
    command
}

/// What a command said, with its folder and times replaced.
pub(crate) fn said(output: &Output, folder: &Path) -> String {
    let text =
        String::from_utf8_lossy(&output.stderr).replace(&folder.display().to_string(), "[FOLDER]");
    let mut plain = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let is_time = |n: usize| {
            n > 0
                && words[n].trim_end_matches([';', ',']) == "s"
                && words[n - 1].parse::<f64>().is_ok()
        };
        let words = (0..words.len())
            .map(|n| if n + 1 < words.len() && is_time(n + 1) { "[TIME]" } else { words[n] });
        plain.push_str(words.collect::<Vec<_>>().join(" ").trim_end());
        plain.push('\n');
    }
    plain
}
