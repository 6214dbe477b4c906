//! Whole runs against sites on loopback.

use std::collections::BTreeMap;
use std::path::Path;

use crate::corpus_files::{content, rows};
use crate::site::{Job, Page, Site, said};

/// Outcome and reason of every page, by path.
fn outcomes(job: &Job, site: &Site) -> BTreeMap<String, String> {
    let origin = format!("http://{}", site.address);
    rows(&job.corpus(), "pages", &["url", "outcome", "reason", "duplicate_of"])
        .into_iter()
        .map(|row| {
            let path = row[0].replace(&origin, "");
            let words: Vec<String> =
                row[1..].iter().filter(|word| !word.is_empty()).cloned().collect();
            (path, words.join(" ").replace(&origin, ""))
        })
        .collect()
}

fn text(words: &str) -> String {
    format!("<main><h1>{words}</h1><p>What there is to say about {words} is said here.</p></main>")
}

#[test]
fn every_page_has_one_outcome_and_its_reason() {
    let site = Site::start(|path| match path {
        "/robots.txt" => Page::new(
            200,
            "text/plain",
            "User-agent: *\nDisallow: /private\nSitemap: /sitemap.xml\n",
        ),
        "/sitemap.xml" => {
            Page::new(200, "application/xml", "<urlset><url><loc>/only-here</loc></url></urlset>")
        }
        "/" => Page::html(
            "<main><h1>Start</h1><p>A page with links.</p><p><a href=/a>a</a> <a href=/same?utm_source=x>b</a> \
             <a href=/copy>c</a> <a href=/old>d</a> <a href=/gone>e</a> <a href=/private/x>f</a> <a href=/hush>g</a> \
             <a href=/broken>h</a> <a href=/data.json>i</a> <a href=/binary>j</a> <a href=/empty>k</a> \
             <a href=/loop1>l</a> <a href=/refused>m</a> <a href=http://example.org/>n</a> \
             <a rel=nofollow href=/unloved>o</a></p></main>",
        ),
        "/a" | "/only-here" => Page::html(text(path)),
        "/same?utm_source=x" | "/copy" => Page::html(text("twins")),
        "/old" => Page::status(301).with("location", "/a"),
        "/gone" => Page::status(410),
        "/hush" => Page::html(format!("<meta name=robots content=noindex>{}", text("hush"))),
        "/broken" => Page::status(503),
        "/data.json" => Page::new(200, "application/json", "{}"),
        "/binary" => {
            Page::new(200, "text/html", (0..=255).cycle().take(4_000).collect::<Vec<u8>>())
        }
        "/empty" => Page::html("<main></main>"),
        "/loop1" => Page::status(302).with("location", "/loop2"),
        "/loop2" => Page::status(302).with("location", "/loop1"),
        "/refused" => Page::status(403),
        _ => Page::status(404),
    });
    let job = Job::new(&site.url("/"), "[run]\nmax_failure_ratio = 1.0\n");
    job.crawl();
    job.verify();
    let mut shown = String::new();
    for (path, outcome) in outcomes(&job, &site) {
        shown += format!("{path:<14} {outcome}\n").as_str();
    }
    insta::assert_snapshot!(shown, @r"
    /              collected
    /a             collected
    /binary        failed extract.binary
    /broken        failed fetch.server_error
    /copy          collected
    /data.json     excluded type.unsupported
    /empty         excluded content.empty
    /gone          gone gone.410
    /hush          excluded robots.noindex
    /loop1         duplicate duplicate.redirect /loop2
    /loop2         failed fetch.bad_redirect
    /old           duplicate duplicate.redirect /a
    /only-here     collected
    /private/x     excluded robots.disallowed
    /refused       failed fetch.refused
    /same          duplicate duplicate.body /copy
    ");
    assert!(!site.log().iter().any(|path| path.starts_with("/private") || path == "/unloved"));
    assert_eq!(site.log()[0], "/robots.txt");
}

#[test]
fn a_second_run_resumes_and_repeats_nothing() {
    let site = Site::start(|path| match path.trim_start_matches('/').parse::<u32>() {
        _ if path == "/" => Page::html("<p>Begin <a href=/1>here</a>.</p>"),
        Ok(n) if n < 20 => Page::html(format!("<p>Page {n} leads <a href=/{}>on</a>.</p>", n + 1)),
        _ => Page::status(404),
    });
    let limited = Job::new(&site.url("/"), "");
    let config = std::fs::read_to_string(limited.config()).unwrap();
    std::fs::write(limited.config(), config.replace("[crawl]\n", "[crawl]\nmax_pages = 7\n"))
        .unwrap();
    let said = limited.crawl();
    assert!(said.contains("collected 7 pages"), "{said}");
    std::fs::write(limited.config(), config).unwrap();
    let said = limited.crawl();
    assert!(said.contains("collected 13 pages"), "{said}");
    limited.verify();
    let mut pages: Vec<String> =
        site.log().into_iter().filter(|path| path != "/robots.txt").collect();
    let asked = pages.len();
    pages.sort();
    pages.dedup();
    assert_eq!(pages.len(), asked, "a page was asked for twice");
    let said = limited.crawl();
    assert!(said.contains("nothing to do"), "{said}");
}

#[test]
fn a_page_that_is_refused_for_the_moment_is_asked_for_again() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let site = Site::start(|path| match path {
        "/" if ASKED.fetch_add(1, Ordering::SeqCst) == 0 => {
            Page::status(429).with("retry-after", "0")
        }
        "/" => Page::html(text("rest")),
        _ => Page::status(404),
    });
    let job = Job::new(&site.url("/"), "");
    assert!(job.crawl().contains("collected 1 page"));
}

#[test]
fn an_unreachable_robots_file_means_that_nothing_is_fetched() {
    let site =
        Site::start(
            |path| if path == "/robots.txt" { Page::status(503) } else { Page::html(text("x")) },
        );
    let job = Job::new(&site.url("/"), "");
    let output = job.run("crawl");
    assert_eq!(output.status.code(), Some(3));
    let said = said(&output, job.folder.path());
    assert!(
        said.contains(
            "robots.txt could not be read: the server answered 503; 1 page waits for the next run"
        ),
        "{said}"
    );
    assert!(site.log().iter().all(|path| path == "/robots.txt"));
}

#[test]
fn a_page_that_leads_to_another_host_takes_the_crawl_there() {
    let far = Site::start(|path| match path {
        "/" => Page::html(text("far away")),
        _ => Page::status(404),
    });
    let target = far.url("/");
    let near = Site::start(move |path| match path {
        "/" => Page::status(302).with("location", &target),
        _ => Page::status(404),
    });
    let job = Job::new(&near.url("/"), "");
    let config = std::fs::read_to_string(job.config()).unwrap();
    std::fs::write(job.config(), config.replace("[crawl]\n", "[crawl]\nscope = \"any\"\n"))
        .unwrap();
    assert!(job.crawl().contains("collected 1 page"));
}

#[test]
fn a_redirect_to_another_spelling_of_an_address_is_followed() {
    let site = Site::start(|path| match path {
        "/" => Page::html("<p>Start <a href='/p?utm_source=x'>here</a>.</p>"),
        "/p?utm_source=x" => Page::status(301).with("location", "/p"),
        "/p" => Page::html(text("plain")),
        _ => Page::status(404),
    });
    let job = Job::new(&site.url("/"), "");
    job.crawl();
    assert_eq!(outcomes(&job, &site)["/p"], "collected");
}

#[test]
fn broken_pages_do_not_keep_a_host_from_its_good_ones() {
    let site = Site::start(|path| match path {
        "/" => {
            let links = (0..13).fold(String::new(), |all, n| all + &format!("<a href=/{n}>x</a> "));
            Page::html(format!("<p>Start {links}</p>"))
        }
        "/8" | "/9" | "/10" | "/11" | "/12" => Page::html(text(path)),
        "/robots.txt" => Page::status(404),
        _ => Page::status(500),
    });
    let job = Job::new(&site.url("/"), "[run]\nmax_failure_ratio = 1.0\n");
    for _ in 0..6 {
        job.crawl();
    }
    job.verify();
    let good = outcomes(&job, &site).into_iter().filter(|(_, outcome)| outcome == "collected");
    assert_eq!(good.count(), 6);
}

#[test]
fn a_narrower_scope_holds_for_what_was_found_before() {
    let site = Site::start(|path| match path {
        "/" => Page::html("<p>Start <a href=/print/a>a</a> <a href=/b>b</a>.</p>"),
        "/b" | "/print/a" => Page::html(text(path)),
        _ => Page::status(404),
    });
    let job = Job::new(&site.url("/"), "");
    let config = std::fs::read_to_string(job.config()).unwrap();
    std::fs::write(job.config(), config.replace("[crawl]\n", "[crawl]\nmax_pages = 1\n")).unwrap();
    job.crawl();
    let narrow = config.replace("[crawl]\n", "[crawl]\nexclude = [\"*/print/*\"]\n");
    std::fs::write(job.config(), narrow).unwrap();
    job.crawl();
    let outcomes = outcomes(&job, &site);
    assert_eq!(outcomes["/print/a"], "excluded scope.changed");
    assert_eq!(outcomes["/b"], "collected");
}

#[test]
fn duplicates_do_not_depend_on_the_order_of_arrival() {
    let pages = |first: &'static str, second: &'static str| {
        Site::start(move |path| match path {
            "/" => {
                Page::html(format!("<p>Start: <a href={first}>1</a> <a href={second}>2</a></p>"))
            }
            "/short" | "/a-much-longer-address" => Page::html(text("the same thing")),
            _ => Page::status(404),
        })
    };
    for site in
        [pages("/short", "/a-much-longer-address"), pages("/a-much-longer-address", "/short")]
    {
        let job = Job::new(&site.url("/"), "");
        job.crawl();
        job.verify();
        let outcomes = outcomes(&job, &site);
        assert_eq!(outcomes["/short"], "collected");
        assert_eq!(outcomes["/a-much-longer-address"], "duplicate duplicate.body /short");
        assert_eq!(content(&job.corpus()).len(), 2);
    }
}

#[test]
fn the_site_that_ships_is_crawled_as_documented() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/demo-site");
    let job = Job::new("http://127.0.0.1:1/", "");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = std::fs::read_to_string(job.config())
        .unwrap()
        .replace("127.0.0.1:1/", &format!("127.0.0.1:{port}/"));
    let demo = format!(
        "{config}\n[demo]\nfolder = \"{}\"\naddress = \"127.0.0.1:{port}\"\n",
        folder.display()
    );
    std::fs::write(job.config(), demo).unwrap();
    job.crawl();
    job.verify();
    let origin = format!("http://127.0.0.1:{port}");
    let mut shown = String::new();
    let mut pages =
        rows(&job.corpus(), "pages", &["url", "outcome", "reason", "charset", "lang", "title"]);
    pages.sort();
    for row in pages {
        shown += row.join(" | ").replace(&origin, "").as_str();
        shown += "\n";
    }
    insta::assert_snapshot!("demo_pages", shown);
    let menu = rows(&job.corpus(), "pages", &["url", "markdown"]);
    let menu = menu.into_iter().find(|row| row[0].ends_with("/menu.html")).unwrap();
    insta::assert_snapshot!("demo_menu", menu[1].replace(&origin, ""));
}

/// A site that refuses uses of some of its pages, in all the ways there are.
fn reserved(path: &str) -> Page {
    match path {
        "/robots.txt" => Page::new(
            200,
            "text/plain",
            "User-agent: *\nContent-Signal: search=yes, ai-train=no\nContent-Usage: /kept ai-input=n\n",
        ),
        "/" => Page::html(format!("{}<a href=/kept>a</a> <a href=/field>b</a>", text("start"))),
        "/kept" => Page::html(format!("{}<a href=/behind>c</a>", text(path))),
        "/field" => Page::html(text(path)).with("content-signal", "ai-input=no"),
        "/behind" => Page::html(text(path)),
        _ => Page::status(404),
    }
}

#[test]
fn text_that_is_not_to_be_input_of_a_model_stays_out() {
    let check = |policy: &str, kept: &str, start: &str| {
        let site = Site::start(reserved);
        let job = Job::new(&site.url("/"), "");
        let config = std::fs::read_to_string(job.config()).unwrap();
        let line = format!("[politeness]\nusage_policy = \"{policy}\"");
        std::fs::write(job.config(), config.replace("[politeness]", &line)).unwrap();
        job.crawl();
        let outcomes = outcomes(&job, &site);
        assert_eq!((outcomes["/kept"].as_str(), outcomes["/field"].as_str()), (kept, kept));
        assert_eq!(outcomes["/behind"], "collected", "links count");
        let flags = rows(&job.corpus(), "pages", &["url", "flags"]);
        let flags = &flags.iter().find(|row| row[0] == site.url("/")).unwrap()[1];
        assert_eq!(flags.contains("ai_train_refused"), start == "flagged", "{flags}");
    };
    check("respect", "excluded usage.ai_input", "flagged");
    check("record", "collected", "flagged");
    check("ignore", "collected", "bare");
}

#[test]
fn a_sitemap_that_has_moved_is_read_where_it_is() {
    let site = Site::start(|path| match path {
        "/robots.txt" => Page::new(200, "text/plain", "Sitemap: /old.xml\n"),
        "/old.xml" => Page::status(301).with("location", "/new.xml"),
        "/new.xml" => {
            Page::new(200, "application/xml", "<urlset><url><loc>/only-here</loc></url></urlset>")
        }
        "/" | "/only-here" => Page::html(text(path)),
        _ => Page::status(404),
    });
    let job = Job::new(&site.url("/"), "");
    job.crawl();
    assert_eq!(outcomes(&job, &site)["/only-here"], "collected");
}

#[test]
fn pages_that_one_already_has_are_taken_whatever_they_ask_of_crawlers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.html");
    std::fs::write(&file, format!("<meta name=robots content=noindex>{}", text("mine"))).unwrap();
    let mut command = crate::site::program();
    let output = command.args(["convert", "-q", "--format", "jsonl"]).arg(file).output().unwrap();
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(line["markdown"].as_str().unwrap().contains("What there is to say about mine"));
}

#[test]
fn the_feeds_of_a_start_page_lead_on() {
    let site = Site::start(|path| match path {
        "/" => Page::html(format!(
            "<link rel=alternate type=application/rss+xml href=/rss>\
             <link rel='alternate home' type='application/feed+json; charset=utf-8' href=/json>\
             <link rel=alternate type=application/json+oembed href=/oembed>{} <a href=/a>a</a>",
            text("start")
        )),
        "/rss" => Page::new(
            200,
            "application/rss+xml",
            "<rss><item><link>/post</link></item><item><link>http://example.org/</link></item></rss>",
        ),
        "/json" => {
            Page::new(200, "application/feed+json", r#"{"items":[{"id":"1","url":"/note"}]}"#)
        }
        "/a" => Page::html(format!(
            "<link rel=alternate type=application/atom+xml href=/comments>{}",
            text(path)
        )),
        "/post" | "/note" => Page::html(text(path)),
        _ => Page::status(404),
    });
    let job = Job::new(&site.url("/"), "");
    job.crawl();
    let found = outcomes(&job, &site);
    assert_eq!(found["/post"], "collected");
    assert_eq!(found["/note"], "collected");
    assert_eq!(found["/rss"], "excluded type.unsupported");
    assert!(!site.log().iter().any(|path| path == "/comments" || path == "/oembed"));

    let quiet = Job::new(&site.url("/"), "");
    let config = std::fs::read_to_string(quiet.config()).unwrap();
    let config = config.replace("[crawl]\n", "[crawl]\ndiscover_feeds = false\n");
    std::fs::write(quiet.config(), config).unwrap();
    quiet.crawl();
    assert!(!outcomes(&quiet, &site).contains_key("/post"));
}

#[test]
fn a_host_gives_no_more_pages_than_a_run_may_take() {
    let site = Site::start(|path| match path.trim_start_matches('/').parse::<u32>() {
        _ if path == "/" => {
            let links = "<a href=/1>1</a> <a href=/2>2</a> <a href=/3>3</a> <a href=/4>4</a> <a href=/5>5</a> \
                 <a href=/6>6</a> <a href=/7>7</a> <a href=/8>8</a> <a href=/9>9</a>";
            Page::html(format!("{}{links}", text("start")))
        }
        Ok(_) => Page::html(text(path)),
        Err(_) => Page::status(404),
    });
    let job = Job::new(&site.url("/"), "");
    let config = std::fs::read_to_string(job.config()).unwrap();
    let config = config.replace("[crawl]\n", "[crawl]\nmax_pages_per_host = 4\n");
    std::fs::write(job.config(), config).unwrap();
    let told = format!(
        "{}: `crawl.max_pages_per_host` is reached; 6 pages wait for the next run",
        site.url("")
    );
    let said = job.crawl();
    assert!(said.contains("collected 4 pages") && said.contains(&told), "{said}");
    assert!(job.crawl().contains("collected 4 pages"));
    let said = job.crawl();
    assert!(said.contains("collected 2 pages") && !said.contains("max_pages_per_host"), "{said}");
    job.verify();
}
