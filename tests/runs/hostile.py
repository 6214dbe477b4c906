#!/usr/bin/env python3
"""Crawls the hostile server and judges what became of each of its routes.

    ../shared/faults/isolated.sh target/read/bin/python tests/runs/hostile.py [ROUTE…]

Beside it two ordinary hosts are crawled, alone and in the same run: the hostile one may not take
more than a fifth of their speed.

Some routes point at private and link-local addresses, so the script refuses to run where anything
but loopback has a route. The server is `CORPUS_HOSTILE`, by default
../shared/faults/hostile_server.py; without it the script says so and ends. See crawl_run.py for
what else it needs.
"""

import http.server
import json
import os
import re
import sys
import tempfile
import threading
import time
import urllib.request

from crawl_run import Score, crawl, pages, serve, tool

SERVER = tool("CORPUS_HOSTILE", "../shared/faults/hostile_server.py")
PORT = 8800
ORDINARY_PORT, HOSTS, PAGES, LATENCY = 8790, 2, 300, 0.5

CONFIG = """
[crawl]
seeds = {seeds}
exclude = {exclude}
scope = "host"
max_sitemap_entries = 5000
[politeness]
user_agent = "corpus"
contact = "hostile@example.org"
delay_ms = 0
per_host = {per_host}
retry_base_ms = 50
max_host_failures = 100000
crawl_delay_max_secs = 2
[fetch]
connect_timeout_secs = 5
first_byte_timeout_secs = 8
timeout_secs = 15
max_tries = {tries}
allow_private = ["127.0.0.1/32", "127.0.1.0/24", "127.0.2.0/24", "127.0.3.0/24"]
"""

# Reasons that count as each class of failure.
CLASSES = {
    "timeout": {"fetch.timeout"},
    "headers_too_large": {"fetch.too_large", "fetch.protocol"},
    "protocol": {"fetch.protocol", "fetch.bad_body"},
    "incomplete": {"fetch.bad_body"},
    "too_large": {"fetch.too_large"},
    "reset": {"fetch.protocol", "fetch.bad_body", "fetch.connect"},
    "status": {"fetch.unexpected_status", "fetch.refused", "fetch.server_error", "gone.404", "fetch.bad_redirect"},
    "decode": {"fetch.bad_body"},
    "not_html": {"type.unsupported", "extract.binary"},
    "redirect_loop": {"fetch.bad_redirect"},
    "too_many_redirects": {"fetch.bad_redirect"},
    # An address of a megabyte is beyond the limit of the headers.
    "url_too_long": {"fetch.bad_redirect", "fetch.too_large", "fetch.protocol"},
}


def is_isolated():
    routes = open("/proc/net/route").read().splitlines()[1:]
    return all(line.split()[0] == "lo" for line in routes)


def ask(path, method="GET"):
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", method=method)
    return json.load(urllib.request.urlopen(request))


class Ordinary(http.server.BaseHTTPRequestHandler):
    """Hosts of `PAGES` pages each, every one linked from the first and slow to answer."""

    protocol_version = "HTTP/1.1"
    times = []

    def do_GET(self):
        self.times.append(time.monotonic())
        time.sleep(LATENCY)
        status, body = 200, f"<h1>Page {self.path}</h1><p>What {self.path} has to say is said here.</p>"
        if self.path == "/":
            body += "".join(f"<a href=/{n}>{n}</a> " for n in range(1, PAGES))
        elif not self.path[1:].isdigit():
            status, body = 404, ""
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())
        self.times.append(time.monotonic())

    def log_message(self, *_):
        pass


def ordinary_seeds():
    return [f"http://127.0.3.{n}:{ORDINARY_PORT}/" for n in range(1, HOSTS + 1)]


def ordinary_seconds():
    """From the first to the last request of the ordinary hosts since the last call."""
    times = list(Ordinary.times)
    Ordinary.times.clear()
    return max(times) - min(times) if len(times) >= 2 * HOSTS * PAGES else float("inf")


def run(routes, exclude, per_host, tries=2, more=()):
    """Crawls the seeds of `routes`, and `more`; gives the run, the pages and the server's counts."""
    ask("/__reset", "POST")
    with tempfile.TemporaryDirectory() as folder:
        seeds = json.dumps([*(route["url"] for route in routes), *more])
        text = CONFIG.format(seeds=seeds, exclude=json.dumps(exclude), per_host=per_host, tries=tries)
        outcome = crawl(folder, text)
        try:
            rows = pages(folder)
        except Exception:
            rows = {}
    return outcome, rows, ask("/__stats"), ask("/__log")


def end_of(rows, row):
    """The page that a chain of redirects and duplicates ends at."""
    for _ in range(20):
        if row is None or row["outcome"] != "duplicate":
            return row
        row = rows.get(row["duplicate_of"])
    return row


# What a smuggler hides in characters that no reader sees.
UNSEEN = re.compile("[\U000e0000-\U000e007f\u200b\u202a-\u202e\u2066-\u2069]|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}|[a-z]\u200c")


def is_clean(name, text):
    """Whether a text holds nothing that its page hid, smuggled or poisoned."""
    if "\0" in text or "\r" in text or UNSEEN.search(text):
        return False
    match name:
        case "text_hidden":
            shown = {"VISIBLE-details", "VISIBLE-block", "VISIBLE-aria-false"}
            return "HIDDEN-" not in text and all(word in text for word in shown)
        case "text_invisible":
            kept = ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\U0001f468\u200d\U0001f469\u200d\U0001f467")
            return all(word in text for word in kept)
        case "text_poison":
            # What stands in angle brackets is an address, whatever it holds.
            text = re.sub(r"\]\(<[^<>\n]*>\)", "]()", text)
            scripts = re.search(r"(?<!\\)\]\s*\(\s*<?\s*(javascript|vbscript|data):", text, re.I)
            markup = re.search(r"(?<!\\)<(script|img)", text, re.I)
            definition = re.search(r"^\[x\]:", text, re.M)
            return not scripts and not markup and not definition
    return True


def strayed(log):
    """Requests for a canary. The routes' own address is allowed by name in the config, so its other
    spellings (`0x7f.1`, `127.1`), which are the same origin, lead to no other machine."""
    return [entry for entry in log if entry["route"] == "canary" and entry["origin"] != "127.0.0.1"]


def judge(route, rows, stats, log, said):
    """Whether a route's outcome is the listed one, and what was found."""
    name, outcome = route["name"], route["outcome"]
    row = end_of(rows, rows.get(route["url"].replace("%64", "d")))
    text = (row or {}).get("markdown") or ""
    found = f"{row['outcome']} {row['reason']} {text[:40]!r}" if row else "no row"
    hits = stats["hits"].get(name, 0)
    if route["max_requests"] and hits > route["max_requests"]:
        return False, f"{hits} requests"
    paths = {entry["target"] for entry in log if entry["origin"] == re.search(r"//([\d.]+)", route["url"])[1]}
    if route["group"] == "robots" and outcome != "ok":
        was_asked = "/page" in paths
        if name == "robots_redirect_loop":
            # RFC 9309 §2.3.1.2 leaves the choice; ours is that there are no rules.
            return hits <= route["max_requests"], f"{hits} requests"
        if outcome == "ok_capped":
            return was_asked and "/no" not in paths, f"asked {sorted(paths)[:4]}"
        return not was_asked, f"asked {sorted(paths)[:4]}"
    if outcome == "ok" or outcome == "recrawl":
        is_whole = f"MARK-{name}" in text.replace("\\", "") and f"TAIL-{name}" in text.replace("\\", "")
        is_kept = bool(row) and row["outcome"] == "collected" and is_whole and "XXXX" not in text
        return is_kept and is_clean(name, text), f"{found} {text[:2000]!r}" if is_kept else found
    if outcome == "ok_capped":
        is_whole = route["group"] == "html" and f"TAIL-{name}" in text.replace("\\", "")
        is_refused = bool(row) and row["outcome"] != "collected"
        return is_whole or is_refused or bool(row) and "TAIL-" not in text, found
    if outcome.startswith("fail:"):
        wanted = outcome.removeprefix("fail:")
        if wanted == "rate_limited":
            return not row and "wants to be left alone" in said, said
        if "or the plain page" in route["expect"] and f"TAIL-{name}" in text.replace("\\", ""):
            return True, found
        return bool(row) and row["outcome"] != "collected" and row["reason"] in CLASSES[wanted], found
    if outcome == "refused":
        return not strayed(log), f"{strayed(log)}"
    if outcome.startswith("dedup:"):
        prefix = route["url"].rstrip("/")
        stored = [url for url, row in rows.items() if url.startswith(prefix) and row["outcome"] == "collected"]
        return len(stored) == int(outcome.removeprefix("dedup:")), f"{len(stored)} documents"
    return True, found


def main():
    if not is_isolated():
        sys.exit("refused: run it through isolated.sh, where only loopback has a route")
    server = serve([sys.executable, str(SERVER), "--port", str(PORT)], "hostile server")
    try:
        routes = ask("/__routes")
        if wanted := sys.argv[1:]:
            routes = [route for route in routes if route["name"] in wanted]
        retries = [route for route in routes if route["group"] == "retry"]
        others = [route for route in routes if route["group"] != "retry"]
        score = Score("hostile")
        ordinary = http.server.ThreadingHTTPServer(("0.0.0.0", ORDINARY_PORT), Ordinary)
        threading.Thread(target=ordinary.serve_forever, daemon=True).start()
        run([], [], 16, more=ordinary_seeds())
        alone = ordinary_seconds()
        runs = [(others, ["*/retry/*"], 16, 2)] + [([route], [], 1, 4) for route in retries]
        for group, exclude, per_host, tries in runs:
            if not group:
                continue
            is_many = len(group) > 1
            more = ordinary_seeds() if is_many else ()
            outcome, rows, stats, log = run(group, exclude, per_host, tries, more)
            for route in group:
                holds, found = judge(route, rows, stats, log, outcome["said"])
                score.check(f"{route['name']} ({route['outcome']}: {route['expect']})", holds, found)
            said = re.sub(r"[^\x20-\x7e\n]", "?", outcome["said"])
            if is_many:
                speed = alone / ordinary_seconds()
                score.check("speed of the other hosts", speed >= 0.8, f"{speed:.2f} of theirs alone")
                print(f"  the other hosts keep {100 * speed:.0f} % of their speed")
                print(f"  {outcome['seconds']:.0f} s, {outcome['cpu']:.0f} s CPU, {outcome['peak_mb']:.0f} MB, exit {outcome['code']}")
                print("\n".join("  | " + line for line in said.splitlines()[:40]))
                score.check("memory", outcome["peak_mb"] <= 256, f"{outcome['peak_mb']:.0f} MB")
                score.check("no canary is asked", not strayed(log), strayed(log))
                print("  hits:", {k: v for k, v in sorted(stats["hits"].items(), key=lambda kv: -kv[1])[:12]})
            score.check("nothing controls the terminal", "\x1b" not in outcome["said"])
        return score.settle()
    finally:
        server.kill()


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
