//! Serves a folder as a small web site on this machine, for the first steps and for tests.
//!
//! In: a folder of files, and in its `_site.toml` what files cannot say. Out: a site over HTTP.
//! Promises:
//!
//! - Only this machine reaches it: an address that is not loopback is refused.
//! - Only files below the folder are served, and none whose name begins with `.` or `_`.
//! - A file that did not change answers 304 to whoever asks with its validators.
//! - `text/html` comes without a charset, so that a page's own declaration counts.
//! - In `robots.txt` and `*.xml`, `{origin}` stands for the site's address: both must name it in
//!   full, and files cannot know it.
//!
//! It is no web server for others: it knows no ranges, no compression and no TLS. It knows
//! nothing of the crawler either; the two meet over HTTP alone.

mod answer;

use std::{
    collections::BTreeMap,
    fs, io,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::{Router, routing::get};
use serde::{Deserialize, Serialize};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle, time::timeout};

use answer::answer;

/// The file in a site's folder that says what files cannot. It is never served.
const SITE_FILE: &str = "_site.toml";

/// How long [`DemoServer::shutdown`] waits for answers that are on their way.
const DRAIN: Duration = Duration::from_secs(1);

/// Which folder is served, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DemoOptions {
    /// The folder of the site.
    pub folder: PathBuf,
    /// A loopback address. Port 0 takes any free one.
    pub address: SocketAddr,
}

impl Default for DemoOptions {
    fn default() -> Self {
        Self {
            folder: PathBuf::from("config/demo-site"),
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 8_811)),
        }
    }
}

/// Why a site cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DemoError {
    /// Others could reach the address.
    #[error("only loopback addresses such as `127.0.0.1` are served, not `{address}`")]
    NotLoopback {
        /// The address as it was set.
        address: SocketAddr,
    },
    /// Another program listens there.
    #[error("the port is taken by another program: `{address}`")]
    PortTaken {
        /// The address as it was set.
        address: SocketAddr,
    },
    /// The operating system refuses the address.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// The address as it was set.
        address: SocketAddr,
        /// What the operating system said.
        source: io::Error,
    },
    /// There is nothing to serve.
    #[error("no folder with a site: `{}`", folder.display())]
    NoFolder {
        /// The folder as it was set.
        folder: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// `_site.toml` cannot be read.
    #[error("cannot read `{}`", path.display())]
    SiteUnreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// `_site.toml` is not what it should be.
    #[error("`{}` does not describe a site", path.display())]
    SiteInvalid {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        source: toml::de::Error,
    },
}

/// What the files of a site cannot say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SiteFile {
    /// Path → where it has moved for good.
    redirects: BTreeMap<String, String>,
}

/// A site as it is served.
#[derive(Debug)]
struct Site {
    /// The folder, absolute and without symbolic links.
    root: PathBuf,
    /// What `{origin}` stands for.
    origin: String,
    redirects: BTreeMap<String, String>,
}

impl Site {
    fn open(folder: &Path, origin: String) -> Result<Self, DemoError> {
        let no_folder = |source| DemoError::NoFolder { folder: folder.to_owned(), source };
        let root = folder.canonicalize().map_err(no_folder)?;
        if !root.is_dir() {
            return Err(no_folder(io::ErrorKind::NotADirectory.into()));
        }
        let path = folder.join(SITE_FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(DemoError::SiteUnreadable { path, source }),
        };
        let SiteFile { redirects } =
            toml::from_str(&text).map_err(|source| DemoError::SiteInvalid { path, source })?;
        Ok(Self { root, origin, redirects })
    }
}

/// A site that is being served. It ends when this is dropped.
#[derive(Debug)]
pub struct DemoServer {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<io::Result<()>>,
}

/// Serves a folder until the returned server is dropped or shut down.
///
/// # Errors
///
/// Fails where the address is not loopback, is taken or is refused, and where the folder holds no
/// site.
pub async fn serve(options: &DemoOptions) -> Result<DemoServer, DemoError> {
    let address = options.address;
    if !address.ip().is_loopback() {
        return Err(DemoError::NotLoopback { address });
    }
    let listener = TcpListener::bind(address).await.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => DemoError::PortTaken { address },
        _ => DemoError::Listen { address, source },
    })?;
    let listening =
        listener.local_addr().map_err(|source| DemoError::Listen { address, source })?;
    let site = Arc::new(Site::open(&options.folder, format!("http://{listening}"))?);
    let router = Router::new().fallback(get(answer)).with_state(site);
    let (stop, stopped) = oneshot::channel();
    let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
        // A sender that is dropped ends the site as well.
        drop(stopped.await);
    });
    let task = tokio::spawn(serving.into_future());
    Ok(DemoServer { address: listening, stop, task })
}

impl DemoServer {
    /// Where it listens: the port that was taken where port 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops listening, and waits a second for answers that are on their way.
    pub async fn shutdown(self) {
        let Self { stop, mut task, .. } = self;
        drop(stop);
        if timeout(DRAIN, &mut task).await.is_err() {
            task.abort();
        }
    }
}

#[cfg(test)]
mod tests;
