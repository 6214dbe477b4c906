//! The promises of the module's header, asked for over a raw connection.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::*;

fn options(folder: &Path) -> DemoOptions {
    DemoOptions { folder: folder.to_owned(), address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)) }
}

/// A site of three pages, a secret beside it, and a redirect.
fn example() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let site = place.path().join("site");
    fs::create_dir_all(site.join("teas")).unwrap();
    fs::write(place.path().join("secret.html"), "secret").unwrap();
    fs::write(site.join("index.html"), "home").unwrap();
    fs::write(site.join("teas/index.html"), "teas").unwrap();
    fs::write(site.join("grün.html"), "green").unwrap();
    fs::write(site.join("404.html"), "missing").unwrap();
    fs::write(site.join(".hidden.html"), "secret").unwrap();
    fs::write(site.join("_site.toml"), "[redirects]\n\"/old\" = \"/teas/\"\n").unwrap();
    place
}

/// The head and the body of the answer to `GET path`, `fields` being more lines of the head.
async fn ask(server: &DemoServer, path: &str, fields: &str) -> (String, String) {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n{fields}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// Status and body of the answer to `GET path`, or status and target of a redirect.
async fn show(server: &DemoServer, path: &str) -> String {
    let (head, body) = ask(server, path, "").await;
    let status = head.split_whitespace().nth(1).unwrap();
    match field(&head, "location") {
        Some(target) => format!("{status} {target}"),
        None => format!("{status} {body}"),
    }
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[tokio::test]
async fn a_folder_is_a_site() {
    let place = example();
    let server = serve(&options(&place.path().join("site"))).await.unwrap();
    assert_eq!(show(&server, "/").await, "200 home");
    assert_eq!(show(&server, "/index.html?page=2").await, "200 home");
    assert_eq!(show(&server, "/teas/").await, "200 teas");
    assert_eq!(show(&server, "/teas?a=b").await, "301 /teas/?a=b");
    assert_eq!(show(&server, "/gr%C3%BCn.html").await, "200 green");
    assert_eq!(show(&server, "/old").await, "301 /teas/");
    assert_eq!(show(&server, "/absent.html").await, "404 missing");
    assert_eq!(show(&server, "/index.html/more").await, "404 missing");
    server.shutdown().await;
}

#[tokio::test]
async fn robots_and_sitemaps_name_the_site_in_full() {
    let place = example();
    let site = place.path().join("site");
    for name in ["robots.txt", "sitemap.xml", "other.txt"] {
        fs::write(site.join(name), "{origin}/a").unwrap();
    }
    let server = serve(&options(&site)).await.unwrap();
    let full = format!("200 http://{}/a", server.address());
    assert_eq!(show(&server, "/robots.txt").await, full);
    assert_eq!(show(&server, "/sitemap.xml").await, full);
    assert_eq!(show(&server, "/other.txt").await, "200 {origin}/a");
}

#[tokio::test]
async fn nothing_outside_the_site_is_served() {
    let place = example();
    let site = place.path().join("site");
    #[cfg(unix)]
    std::os::unix::fs::symlink(place.path().join("secret.html"), site.join("link.html")).unwrap();
    let server = serve(&options(&site)).await.unwrap();
    for path in [
        "/../secret.html",
        "/teas/../../secret.html",
        "/%2e%2e/secret.html",
        "/..%2fsecret.html",
        "/..%5csecret.html",
        "/link.html",
        "/.hidden.html",
        "/_site.toml",
        "/%5fsite.toml",
        "/%ff.html",
        "/index.html%00",
    ] {
        assert_eq!(show(&server, path).await, "404 missing", "{path}");
    }
}

#[tokio::test]
async fn an_unchanged_page_answers_304() {
    let place = example();
    let site = place.path().join("site");
    let server = serve(&options(&site)).await.unwrap();
    let (head, _) = ask(&server, "/", "").await;
    assert_eq!(field(&head, "content-type"), Some("text/html"));
    let etag = field(&head, "etag").unwrap();
    let modified = field(&head, "last-modified").unwrap();
    for fields in [
        format!("if-none-match: {etag}\r\n"),
        format!("if-none-match: \"x\", W/{etag}\r\n"),
        format!("if-modified-since: {modified}\r\n"),
    ] {
        let (head, body) = ask(&server, "/", &fields).await;
        assert!(head.starts_with("HTTP/1.1 304"), "{fields}{head}");
        assert_eq!((field(&head, "etag"), body.as_str()), (Some(etag), ""));
    }
    fs::write(site.join("index.html"), "changed").unwrap();
    let fields = format!("if-none-match: {etag}\r\nif-modified-since: {modified}\r\n");
    assert_eq!(ask(&server, "/", &fields).await.1, "changed");
}

#[tokio::test]
async fn only_this_machine_is_served() {
    let place = example();
    let open = DemoOptions { address: "0.0.0.0:0".parse().unwrap(), ..options(place.path()) };
    let error = serve(&open).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "only loopback addresses such as `127.0.0.1` are served, not `0.0.0.0:0`"
    );
}

#[tokio::test]
async fn a_taken_port_is_named() {
    let place = example();
    let server = serve(&options(place.path())).await.unwrap();
    let taken = DemoOptions { address: server.address(), ..options(place.path()) };
    let error = serve(&taken).await.unwrap_err();
    let want = format!("the port is taken by another program: `{}`", server.address());
    assert_eq!(error.to_string(), want);
}

#[tokio::test]
async fn a_site_ends_with_its_server() {
    let place = example();
    let server = serve(&options(place.path())).await.unwrap();
    let address = server.address();
    server.shutdown().await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn what_cannot_be_served_is_named() {
    let place = example();
    let absent = place.path().join("absent");
    let error = serve(&options(&absent)).await.unwrap_err();
    assert_eq!(error.to_string(), format!("no folder with a site: `{}`", absent.display()));
    let site = place.path().join("site");
    fs::write(site.join("_site.toml"), "[redirect]").unwrap();
    let error = serve(&options(&site)).await.unwrap_err();
    let file = site.join("_site.toml");
    assert_eq!(error.to_string(), format!("`{}` does not describe a site", file.display()));
}

#[tokio::test]
async fn the_shipped_site_has_what_real_ones_have() {
    let shipped = DemoOptions { address: "127.0.0.1:0".parse().unwrap(), ..DemoOptions::default() };
    let server = serve(&shipped).await.unwrap();
    assert!(show(&server, "/").await.starts_with("200 <!DOCTYPE html>"));
    assert_eq!(show(&server, "/old-menu").await, "301 /menu.html");
    assert!(show(&server, "/handbook/old/4.1.html").await.starts_with("404 "));
    assert_eq!(show(&server, "/tea/green.html").await, show(&server, "/leaflets/green.html").await);
    let robots = show(&server, "/robots.txt").await;
    assert!(robots.contains(&format!("Sitemap: http://{}/sitemap.xml", server.address())));
    assert!(show(&server, "/sitemap.xml").await.contains("/hidden-corner.html</loc>"));
    let (head, _) = ask(&server, "/tea/cha.html", "").await;
    assert_eq!(field(&head, "content-type"), Some("text/html"));
}
