//! Crawls over TLS, HTTP/2 and IPv6, against servers on loopback with certificates of an authority
//! that the program is told to trust.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::channel;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

use crate::corpus_files::rows;
use crate::site::{Job, Page, Site, program, said};

/// An authority that vouches for servers.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap())
    }

    /// The setup of a server for `host`, whose certificate ends with `year`.
    fn vouch(&self, host: &str, year: i32) -> ServerConfig {
        let mut parameters = CertificateParams::new([host.to_owned()]).unwrap();
        parameters.not_before = date_time_ymd(2001, 1, 1);
        parameters.not_after = date_time_ymd(year, 12, 31);
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, &self.0).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap()
    }

    /// Crawls the page at `address`, and gives its outcome and reason.
    fn crawl(&self, address: SocketAddr) -> (String, String) {
        let job = Job::new(
            &format!("https://localhost:{}/", address.port()),
            "[run]\nmax_failure_ratio = 1.0\n",
        );
        let config = std::fs::read_to_string(job.config()).unwrap();
        let config = config
            .replace("[politeness]\n", "[politeness]\nrobots = \"ignore\"\n")
            .replace("\"127.0.0.0/8\"", "\"127.0.0.0/8\", \"::1/128\"");
        std::fs::write(job.config(), config).unwrap();
        let trusted = job.folder.path().join("authority.pem");
        std::fs::write(&trusted, self.0.pem()).unwrap();
        let mut command = program();
        command.arg("crawl").arg(job.config()).env("SSL_CERT_FILE", trusted);
        let output = command.env_remove("SSL_CERT_DIR").output().unwrap();
        assert!(output.status.success(), "{}", said(&output, job.folder.path()));
        let rows = rows(&job.corpus(), "pages", &["outcome", "reason"]);
        (rows[0][0].clone(), rows[0][1].clone())
    }
}

/// Serves one page over TLS and HTTP/2, and nothing else.
fn serve(mut setup: ServerConfig) -> SocketAddr {
    setup.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(setup));
    let (started, address) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            started.send(listener.local_addr().unwrap()).unwrap();
            while let Ok((connection, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // A client that does not trust the server leaves.
                    let Ok(stream) = acceptor.accept(connection).await else { return };
                    let mut requests = h2::server::handshake(stream).await.unwrap();
                    while let Some(Ok((_, mut answer))) = requests.accept().await {
                        let head = http::Response::builder().header("content-type", "text/html");
                        let mut body = answer.send_response(head.body(()).unwrap(), false).unwrap();
                        body.send_data("<p>Words over HTTP/2.</p>".into(), true).unwrap();
                    }
                });
            }
        });
    });
    address.recv().unwrap()
}

/// Answers every connection with `bytes`.
fn serve_bytes(bytes: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut hello = [0; 4_096];
            // A client may leave at any time.
            let _ended = connection.read(&mut hello).and_then(|_| connection.write_all(bytes));
        }
    });
    address
}

#[test]
fn a_page_comes_over_tls_and_http_2() {
    let authority = Authority::new();
    let (outcome, reason) = authority.crawl(serve(authority.vouch("localhost", 2100)));
    assert_eq!((outcome.as_str(), reason.as_str()), ("collected", ""));
}

#[test]
fn what_is_wrong_with_tls_has_a_name() {
    /// A fatal alert: `handshake_failure` (RFC 8446 §6.2).
    const REFUSAL: &[u8] = &[21, 3, 3, 0, 2, 2, 40];
    let (authority, stranger) = (Authority::new(), Authority::new());
    for (address, code) in [
        (serve(authority.vouch("localhost", 2002)), "fetch.tls_expired"),
        (serve(authority.vouch("other.example", 2100)), "fetch.tls_wrong_host"),
        (serve(stranger.vouch("localhost", 2100)), "fetch.tls_untrusted"),
        (serve_bytes(REFUSAL), "fetch.tls"),
        (serve_bytes(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "fetch.tls"),
    ] {
        let (outcome, reason) = authority.crawl(address);
        assert_eq!((outcome.as_str(), reason.as_str()), ("failed", code));
    }
}

#[test]
fn a_site_may_have_an_address_of_version_6_alone() {
    if TcpListener::bind("[::1]:0").is_err() {
        println!("skipped: this machine has no IPv6");
        return;
    }
    let site = Site::start_at("[::1]:0", |path| match path {
        "/" => Page::html("<p>Words over IPv6, and <a href=/a>more</a>.</p>"),
        "/a" => Page::html("<p>More words over IPv6.</p>"),
        _ => Page::status(404),
    });
    let job = Job::new(&site.url("/"), "");
    let config = std::fs::read_to_string(job.config()).unwrap();
    std::fs::write(job.config(), config.replace("127.0.0.0/8", "::1/128")).unwrap();
    let said = job.crawl();
    assert!(said.contains("collected 2 pages"), "{said}");
}
