//! `corpus check`: what would happen to addresses, and what a first run would fetch.

use crate::site::{Job, Page, Site, program, said};

const ROBOTS: &str = "User-agent: *\nDisallow: /private\nSitemap: /moved.xml\nSitemap: /gone.xml\n";

fn site() -> Site {
    let entry = |path: &str| format!("<url><loc>{path}</loc></url>");
    Site::start(move |path| match path {
        "/robots.txt" => Page::new(200, "text/plain", ROBOTS),
        "/moved.xml" => Page::status(301).with("location", "/index.xml"),
        "/index.xml" => Page::new(
            200,
            "application/xml",
            "<sitemapindex><sitemap><loc>/pages.xml</loc></sitemap></sitemapindex>",
        ),
        "/pages.xml" => Page::new(
            200,
            "application/xml",
            format!(
                "<urlset>{}{}{}{}{}</urlset>",
                entry("/"),
                entry("/a"),
                entry("/private/b"),
                entry("/c.zip"),
                entry("http://example.org/d"),
            ),
        ),
        _ => Page::status(404),
    })
}

/// What `corpus check` prints, and then what it says, for `args` after the config.
fn check(job: &Job, site: &Site, args: &[&str]) -> String {
    let output = program().arg("check").arg(job.config()).args(args).output().unwrap();
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    let said = said(&output, job.folder.path());
    format!("{printed}--\n{said}").replace(&site.address.to_string(), "[SITE]")
}

#[test]
fn a_dry_run_lists_what_a_first_run_would_fetch() {
    let site = site();
    let job = Job::new(&site.url("/"), "");
    insta::assert_snapshot!(check(&job, &site, &["--dry-run"]), @r"
    fetch                    http://[SITE]/
    fetch                    http://[SITE]/a
    robots.disallowed        http://[SITE]/private/b
    scope.file_type          http://[SITE]/c.zip
    scope.other_host         http://example.org/d
    --
    `[FOLDER]/site.toml` is valid
    warning: sitemap http://[SITE]/gone.xml: the server answered 404
    a first run begins with 2 pages; 3 addresses stay out; what links lead to shows only then
    ");
    let paths = ["/robots.txt", "/moved.xml", "/gone.xml", "/index.xml", "/pages.xml"];
    assert_eq!(site.log(), paths, "no page is asked for");
    assert!(!job.folder.path().join("corpus-state").exists(), "nothing is written");
}

#[test]
fn a_dry_run_explains_an_address() {
    let site = site();
    let job = Job::new(&site.url("/"), "");
    let urls = [site.url("/private/b"), site.url("/a?utm_source=x"), "ftp://h/".to_owned()];
    let mut args: Vec<&str> = urls.iter().map(String::as_str).collect();
    insta::assert_snapshot!(check(&job, &site, &args), @r"
    http://[SITE]/private/b
      key        http://[SITE]/private/b
      scope      in
      known      no
    http://[SITE]/a?utm_source=x
      key        http://[SITE]/a
      scope      in
      known      no
    ftp://h/
      scope      no page: scheme `ftp` is not http or https
      known      no
    --
    `[FOLDER]/site.toml` is valid
    ");
    assert!(site.log().is_empty(), "without `--dry-run` nothing is asked");
    args.push("--dry-run");
    insta::assert_snapshot!(check(&job, &site, &args), @r"
    http://[SITE]/private/b
      key        http://[SITE]/private/b
      scope      in
      robots     disallowed by line 2: `Disallow: /private`
      sitemap    http://[SITE]/pages.xml
      plan       robots.disallowed
      known      no
    http://[SITE]/a?utm_source=x
      key        http://[SITE]/a
      scope      in
      robots     allowed
      sitemap    http://[SITE]/pages.xml
      plan       fetch
      known      no
    ftp://h/
      scope      no page: scheme `ftp` is not http or https
      known      no
    --
    `[FOLDER]/site.toml` is valid
    warning: sitemap http://[SITE]/gone.xml: the server answered 404
    ");
}

#[test]
fn a_dry_run_tells_what_a_host_wants_and_what_may_not_be_contacted() {
    let site = Site::start(|path| match path {
        "/robots.txt" => Page::new(
            200,
            "text/plain",
            "User-agent: *\nCrawl-delay: 0.02\nContent-Signal: ai-train=no\n\
             Content-Usage: /kept ai-input=n\n",
        ),
        _ => Page::status(404),
    });
    let job = Job::new(&site.url("/"), "");
    let config = std::fs::read_to_string(job.config()).unwrap();
    std::fs::write(job.config(), config.replace("[politeness]", "scope = \"any\"\n[politeness]"))
        .unwrap();
    let urls = [site.url("/a"), site.url("/kept/b"), "http://0x0a.1/".to_owned()];
    let mut args: Vec<&str> = urls.iter().map(String::as_str).collect();
    args.push("--dry-run");
    insta::assert_snapshot!(check(&job, &site, &args), @r"
    http://[SITE]/a
      key        http://[SITE]/a
      scope      in
      robots     allowed
      usage      ai-train=no
      delay      20 ms after each answer
      plan       fetch
      known      no
    http://[SITE]/kept/b
      key        http://[SITE]/kept/b
      scope      in
      robots     allowed
      usage      ai-input=no, ai-train=no
      delay      20 ms after each answer
      plan       usage.ai_input
      known      no
    http://0x0a.1/
      key        http://10.0.0.1/
      scope      in
      address    the address is not public; `fetch.allow_private` can name it
      plan       fetch.address_refused
      known      no
    --
    `[FOLDER]/site.toml` is valid
    ");
}

#[test]
fn seeds_come_from_lists_as_well() {
    let site = site();
    let job = Job::new(&site.url("/"), "");
    let list = format!("\u{feff}# pages\r\n{}\r\n\r\n  {}\n", site.url("/b"), site.url("/a.zip"));
    std::fs::write(job.folder.path().join("more.txt"), list).unwrap();
    let config = std::fs::read_to_string(job.config()).unwrap();
    let config = config.replace("seeds =", "seed_files = [\"more.txt\"]\nseeds =");
    std::fs::write(job.config(), config.replace("more.txt", "no.txt")).unwrap();
    let said_of = |args: &[&str]| check(&job, &site, args);
    insta::assert_snapshot!(said_of(&[]), @r"
    --
    error: `crawl.seed_files` is `[FOLDER]/no.txt` (No such file or directory (os error 2)), but must be a list of files with one address a line (`[FOLDER]/site.toml`)
    ");
    std::fs::write(job.config(), config).unwrap();
    let planned = said_of(&["--dry-run"]);
    for path in ["/", "/b", "/a.zip"] {
        let line = format!("fetch                    http://[SITE]{path}\n");
        assert!(planned.contains(&line), "{planned}");
    }
}
