#!/usr/bin/env python3
"""Plays the cases of a later visit against a site on loopback: what came, and what becomes of a page.

    CORPUS_CONFORMANCE=FOLDER target/read/bin/python tests/runs/recrawl_cases.py [ID…]

A case of FOLDER/recrawl_cases.jsonl says what is stored of a page, what a later visit finds, and in
words what must follow. Each is played with two runs or more; the words decide what is judged. The
folder is by default ../shared/conformance. See invariants.py for what the script needs; the program
is `CORPUS_BIN`, by default the debug build. Prints `N passed, N failed`.
"""

import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from crawl_run import Score, loopback, tool

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import invariants  # noqa: E402

CORPUS = os.environ.get("CORPUS_BIN", str(ROOT / "target/debug/corpus"))
CASES = tool("CORPUS_CONFORMANCE", "../shared/conformance") / "recrawl_cases.jsonl"
PAGE, OTHERS = "/page", [f"/other-{n}" for n in range(12)]

CONFIG = """
[crawl]
seeds = ["{seed}"]
[politeness]
delay_ms = 0
retry_base_ms = 1
[fetch]
max_tries = 1
first_byte_timeout_secs = 1
allow_private = ["127.0.0.0/8"]
[recrawl]
start_hours = {start}
min_hours = {least}
confirm_gone_hours = 0
max_delete_ratio = 1.0
{more}
"""


class Site:
    """Pages that a case can change: status, body and fields by path. It honours validators."""

    def __init__(self):
        self.pages, self.log, self.date = {}, [], "x"
        self.server = loopback(self.respond)
        self.port = self.server.server_port

    def respond(self, request):
        self.log.append((request.path, {name.lower(): value for name, value in request.headers.items()}))
        status, body, fields = self.pages.get(request.path, (404, "", {}))
        if status == "silence":
            time.sleep(2)
            request.close_connection = True
            return
        if status == 200 and self.knows(request.headers, fields):
            status, body = 304, ""
        data = body.encode()
        kind = "text/plain" if request.path.endswith(".txt") else "text/xml" if request.path.endswith(".xml") else "text/html"
        fields = {"content-type": f"{kind}; charset=utf-8", **fields, "content-length": str(len(data))}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        request.wfile.write(f"HTTP/1.1 {status} -\r\n{head}\r\n".encode() + data)

    @staticmethod
    def knows(asked, fields):
        pairs = [("if-none-match", "etag"), ("if-modified-since", "last-modified")]
        given = [(asked.get(asks), fields.get(has)) for asks, has in pairs if fields.get(has)]
        return bool(given) and all(asked == has for asked, has in given)

    def requests(self, path=PAGE):
        return [fields for asked, fields in self.log if asked == path]


def article(topic, edited="", footer="2026-01-01"):
    paragraphs = [f"Remark {n} on {topic} goes on for a while and then it ends. " * 8 for n in range(8)]
    if edited:
        paragraphs[6] = edited * 8
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<title>{topic}</title><main><h1>{topic}</h1>{text}</main><footer>as of {footer}</footer>"


def index(paths):
    return "<main><h1>Start</h1><p>What there is.</p><ul>" + "".join(f"<li><a href='{path}'>about {path}</a>" for path in paths) + "</ul></main>"


class Play:
    """One case: a site, a corpus, and what the runs did."""

    def __init__(self, case, folder):
        self.case, self.folder, self.site = case, pathlib.Path(folder), Site()
        self.stored, self.response, self.expect = case["stored"], case["response"], case["expect"]
        self.host, self.more = "127.0.0.1", ""
        # Where the interval is judged there must be room in both directions, and no page is due.
        self.hours = 10 if "interval" in self.expect else 0
        self.config, self.said = self.folder / "site.toml", ""
        self.is_due = "lastmod" in self.stored
        fields = {}
        if etag := self.stored.get("etag"):
            fields["etag"] = etag
        if modified := self.stored.get("last_modified"):
            fields["last-modified"] = modified if modified.count(" ") > 3 else "Thu, 01 Jan 2026 00:00:00 GMT"
        self.fields = fields
        self.site.pages = {"/": (200, index([PAGE, *OTHERS]), {})}
        self.site.pages |= {path: (200, article(path), {"etag": f'"{path}"'}) for path in OTHERS}
        self.put(200, article(PAGE), fields)

    def put(self, status, body="", fields=None, path=PAGE):
        self.site.pages[path] = (status, body, fields or {})

    def crawl(self, kill_after=None, hosts=None):
        """A run; gives the number of its run, after which the site's log is that of the run."""
        seed = f"http://{self.host}:{self.site.port}/"
        self.config.write_text(CONFIG.format(seed=seed, start=self.hours, least=self.hours // 10, more=self.more))
        self.site.log.clear()
        command = [CORPUS, "-q", "crawl", "--all", str(self.config)]
        if self.is_due:
            command.remove("--all")
        if hosts is not None:
            command = ["unshare", "-m", "sh", "-c", NAMED, "sh", self.named(hosts), self.named("nameserver 127.0.0.1\n", "resolv"), *command]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"})
        while kill_after is not None and len(self.site.log) < kill_after and process.poll() is None:
            time.sleep(0.001)
        if kill_after is not None:
            process.kill()
        _, said = process.communicate()
        if process.returncode not in (0, 3, -9):
            raise AssertionError(f"exit {process.returncode}: {said}")

    def named(self, text, name="hosts"):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    @property
    def url(self):
        return f"http://{self.host}:{self.site.port}{PAGE}"

    def rows(self, kind):
        corpus, _ = invariants.places(self.config)
        import pyarrow.parquet as pq

        found = []
        for path in sorted((corpus / kind).glob("*.parquet")):
            found += pq.read_table(path).to_pylist()
        return found

    def state(self, column):
        state = invariants.State(invariants.places(self.config)[1])
        try:
            return state.list(f"SELECT {column} FROM page WHERE url = ?", self.url)[0]
        finally:
            state.close()

    def manifest(self):
        return json.loads((invariants.places(self.config)[0] / "_manifest.json").read_text())

    def live(self):
        """The ids of the page's live chunks, by the feed."""
        held = set()
        for row in sorted(self.rows("changes"), key=lambda row: row["seq"]):
            if row["url"] == self.url:
                held.discard(row["chunk_id"]) if row["op"] == "delete" else held.add(row["chunk_id"])
        return held

    def visit(self):
        """The page's row of its last visit."""
        return [row for row in self.rows("pages") if row["url"] == self.url][-1]


# Names are looked up in a file alone, and never asked of anybody.
NAMED = 'mount --bind "$1" /etc/hosts && mount --bind "$2" /etc/resolv.conf && shift 2 && exec "$@"'


def judge(play):
    """What does not hold, as a list of words."""
    response, wrong = play.response, []

    def hold(what, holds):
        if not holds:
            wrong.append(what)

    if "run" in response:
        judge_run(play, hold)
    elif "sitemap_lastmod" in response:
        judge_sitemap(play, hold)
    else:
        judge_visit(play, hold)
    found = invariants.check(play.config)
    hold(f"invariants: {found}", not found.wrong)
    return wrong


def judge_run(play, hold):
    """Something happens to a whole run."""
    if "killed" in play.response["run"]:
        play.crawl(kill_after=6)
        play.crawl()
        urls = [row["url"] for row in play.rows("pages") if row["outcome"] == "collected"]
        hold(f"every page once: {len(urls)}", len(urls) == len(set(urls)) == len(OTHERS) + 2)
        return
    play.crawl()
    chunks = len(play.rows("chunks"))
    play.crawl()
    hold("no new chunk rows", len(play.rows("chunks")) == chunks)
    asked = [fields for path, fields in play.site.log if path in OTHERS]
    share = sum("if-none-match" in fields for fields in asked) / max(1, len(asked))
    hold(f"conditional where a validator is known: {share}", share >= 0.9)


def judge_sitemap(play, hold):
    """A sitemap says when the page changed: the first of the two dates before the first visit, a
    later one after it."""
    play.hours = 168
    is_later = play.response["sitemap_lastmod"] > play.stored["lastmod"]
    play.put(200, f"Sitemap: http://127.0.0.1:{play.site.port}/sitemap.xml\n", path="/robots.txt")

    def sitemap(date):
        entry = f"<url><loc>{play.url}</loc><lastmod>{date}</lastmod></url>"
        play.put(200, f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entry}</urlset>', path="/sitemap.xml")

    sitemap("2020-01-01")
    play.crawl()
    if is_later:
        time.sleep(1.1)
        sitemap(datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))
    play.crawl()
    pages = [path for path, _ in play.site.log if path == PAGE or path in OTHERS]
    hold(f"asked for {pages}", pages[:1] == [PAGE] if is_later else PAGE not in pages)


def judge_visit(play, hold):
    """One page is visited again."""
    hosts = None
    if play.response.get("error") == "dns":
        play.host, hosts = "recrawl.test", "127.0.0.1 localhost recrawl.test\n"
    play.crawl(hosts=hosts)
    before = {"rows": len(play.rows("chunks")), "live": play.live(), "interval": play.state("interval_secs")}
    if not before["live"]:
        hold("the first visit collects the page", False)
        return
    change(play)
    visits = max(play.response.get("nth", 1), 2 if play.response.get("not_linked") else 1)
    for n in range(visits):
        if play.response.get("not_linked") and n == 0:
            play.crawl()
            hold("an orphan is asked for", play.site.requests())
            play.put(410)
        play.crawl(hosts="127.0.0.1 localhost\n" if hosts else None)
    follow(play, before, hold)


def change(play):
    """Makes the site what the later visit finds."""
    response = play.response
    status, body, note = response.get("status"), response.get("body", ""), response.get("note", "")
    if "robots_txt" in response:
        play.put(200, f"User-agent: *\nDisallow: {PAGE}\n", path="/robots.txt")
    elif response.get("not_linked"):
        play.put(200, index(OTHERS), path="/")
    elif "error" in response:
        if response["error"] != "dns":
            play.put("silence" if "time" in response["error"] else 503)
    elif status == 304:
        if "converter" in note:
            play.more = "[chunk]\nmax_tokens = 200\n"
    elif status == 200:
        change_body(play, body, note)
    elif status in (301, 302, 303, 307, 308):
        target = response.get("location", OTHERS[0])
        for path in [PAGE, *OTHERS[:3]] if "many" in note else [PAGE]:
            play.put(status, fields={"location": target}, path=path)
    else:
        play.put(status)


def change_body(play, body, note):
    edited = "This paragraph is another one than it was before. "
    if "not found" in body.lower():
        missing = "<title>Not found</title><main><h1>Page not found</h1><p>There is nothing here. Try the search.</p></main>"
        play.put(200, missing)
        play.site.pages = Missing(play.site.pages, (200, missing, {}))
    elif "same bytes" in body:
        play.put(200, article(PAGE), {"etag": '"b"'} if play.fields else {})
    elif "noindex" in body + note or "noindex" in json.dumps(play.response):
        play.put(200, "<meta name=robots content=noindex>" + article(PAGE))
    elif "canonical" in json.dumps(play.response):
        play.put(200, f"<link rel=canonical href='{OTHERS[0]}'>" + article(PAGE))
    elif re.search(r"date|nonce|footer|navigation|advert", body) and "differ" in body:
        play.put(200, article(PAGE, footer="2026-11-30"))
    else:
        play.put(200, article(PAGE, edited=edited), {"etag": '"b"'} if play.fields else {})


class Missing(dict):
    """Pages of a site that answers whatever is asked for."""

    def __init__(self, pages, otherwise):
        super().__init__(pages)
        self.otherwise = otherwise

    def get(self, path, default=None):
        return super().get(path, default if path == "/robots.txt" else self.otherwise)


def follow(play, before, hold):
    """What the words of the case want."""
    expect, visit = play.expect, play.visit()
    asked = play.site.requests()
    new_rows = [row for row in play.rows("chunks")[before["rows"] :] if row["url"] == play.url]
    told = [row for row in play.rows("changes") if row["url"] == play.url and row["run_id"] == play.manifest()["runs"][-1]]
    tombstones = {row["url"]: row["reason"] for row in play.manifest()["tombstones"]}
    if "sent" in play.response:
        wanted = {"if-none-match": play.fields.get("etag"), "if-modified-since": play.fields.get("last-modified")}
        hold(f"sent {asked}", len(asked) == 1 and all(asked[0].get(name) == value for name, value in wanted.items()))
    if "without conditions" in expect:
        hold(f"asked {asked}", asked and not {"if-none-match", "if-modified-since"} & set(asked[0]))
    elif expect.startswith("unchanged"):
        hold(f"outcome {visit['outcome']}", visit["outcome"] == "unchanged")
        hold("no new rows", not new_rows and not told and play.live() == before["live"])
    elif expect.startswith("changed"):
        kept = before["live"] & play.live()
        hold("new rows", new_rows and play.live() != before["live"])
        hold("unchanged chunks keep their ids", kept)
        hold("the old rows are superseded", any(row["url"] == play.url for row in play.manifest()["superseded"]))
        hold("only what changed is told", {row["chunk_id"] for row in told if row["op"] == "upsert"}.isdisjoint(kept))
    elif "tombstone" in expect or "gone" in expect or "deleted" in expect:
        hold(f"chunks deleted, {visit['outcome']} {visit['reason']}", not play.live())
        hold("a tombstone", play.url in tombstones)
        if "robots" in expect:
            hold(f"reason {tombstones.get(play.url)}", "robots" in tombstones.get(play.url, "") and not asked)
    elif "kept" in expect or "suspect" in expect or "not a deletion" in expect:
        hold(f"chunks kept, {visit['outcome']} {visit['reason']}", play.live() == before["live"])
        if "suspect" in expect:
            hold(f"marked suspect: {visit['flags']}", "stale" in visit["flags"])
        play.crawl(hosts="127.0.0.1 localhost\n" if play.host == "recrawl.test" else None)
        hold("asked for again", play.site.requests() or play.host == "recrawl.test")
    else:
        hold(f"words that nobody understands: {expect}", False)
    if "interval" in expect:
        interval = play.state("interval_secs")
        is_as_said = interval > before["interval"] if "grows" in expect else interval < before["interval"]
        hold(f"interval {interval} after {before['interval']}", is_as_said)
    if "etag updated" in expect:
        hold(f"etag {play.state('etag')}", play.state("etag") == '"b"')
    if "last_checked" in expect:
        hold("last checked", play.state("checked_at") > play.state("first_seen_at"))


def main(wanted):
    score = Score("recrawl cases")
    for line in CASES.read_text().splitlines():
        case = json.loads(line)
        if wanted and case["id"] not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            play = Play(case, folder)
            try:
                wrong = judge(play)
            except Exception as error:  # a case that cannot be played has failed
                wrong = [f"{type(error).__name__}: {error}"]
            finally:
                play.site.server.shutdown()
        score.check(f"{case['id']} ({case['expect']})", not wrong, "; ".join(map(str, wrong))[:600])
    print(f"{score.passed} passed, {score.failed} failed")
    return 1 if score.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
