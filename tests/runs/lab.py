#!/usr/bin/env python3
"""Crawls the web laboratory on loopback and judges the requests that it saw and the pages written.

    tests/runs/lab.py full     traps, refusals, redirects, errors: completeness and politeness
    tests/runs/lab.py plain    many hosts without delay: completeness and speed
    tests/runs/lab.py drip     the same beside a host that sends a byte a second: what it costs them
    tests/runs/lab.py wild     odd answers, one a page
    tests/runs/lab.py docs FOLDER START    a folder of HTML; START is the first page

The laboratory is `CORPUS_LAB`, by default ../shared/lab/crawl_lab.py; without it the script says
so and ends. See crawl_run.py for what else it needs. Only loopback is asked.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from crawl_run import Score, crawl_served, pages, tool

LAB = tool("CORPUS_LAB", "../shared/lab/crawl_lab.py")
PORT = 8817
HOSTS, PAGES, LATENCY = 50, 20, 0.2


def config(seeds, politeness, more=""):
    return f"""
[crawl]
seeds = {json.dumps(seeds)}
[politeness]
contact = "lab@example.org"
{politeness}
[fetch]
allow_private = ["127.0.1.0/24"]
{more}
"""


def run(arguments, text):
    """Serves the laboratory, crawls it, and gives the run, the pages and the requests."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "lab.jsonl")
        command = [sys.executable, str(LAB), "serve", "--port", str(PORT), "--log", str(log)]
        outcome = crawl_served([*command, *arguments], folder, text)
        requests = [json.loads(line) for line in log.read_text().splitlines()]
        report = json.loads(
            subprocess.run(
                [sys.executable, str(LAB), "report", "--log", str(log), *arguments],
                capture_output=True,
                text=True,
            ).stdout
            or "{}"
        )
        try:
            rows = pages(folder)
        except Exception as error:
            print(outcome["said"])
            raise SystemExit(f"no pages: {error}")
    return outcome, rows, requests, report


def generated():
    return [f"http://127.0.1.{host}:{PORT}/" for host in range(1, HOSTS + 1)]


SIZE = ["--hosts", str(HOSTS), "--pages", str(PAGES), "--latency", str(LATENCY)]


def full():
    delay = 0.3
    text = config(generated(), f"delay_ms = {int(delay * 1000)}\nmax_concurrent = 64")
    outcome, rows, requests, report = run(SIZE, text)
    score = Score("lab full")
    score.check("every wanted page", report["complete"] == 1.0, report["missing_kinds"])
    score.check("nothing that robots.txt forbids", report["disallowed_fetched"] == 0)
    score.check("nothing that only nofollow leads to", report["nofollow_only_fetched"] == 0)
    score.check("nothing twice", report["repeated_200"] == 0, report["repeated_200"])
    score.check("one request a host", report["max_in_flight_per_host"] == 1)
    by_host = collections.defaultdict(list)
    for request in requests:
        by_host[request["k"]].append(request)
    gaps = [
        later["t0"] - sooner["t1"]
        for host in by_host.values()
        for sooner, later in zip(
            sorted(host, key=lambda r: r["t0"]), sorted(host, key=lambda r: r["t0"])[1:]
        )
    ]
    score.check("delay after each answer", min(gaps) >= 0.95 * delay, min(gaps))
    score.check("Retry-After", report["retry_after_waits_min"] >= 1.9, report["retry_after_waits_min"])
    score.check("robots.txt first", "hosts fetched before robots.txt" not in report["trap_and_alias_requests"])
    traps = collections.Counter(
        r["k"] for r in requests if re.match(r"/(cal|trap)/|/facet", r["p"])
    )
    score.check("at most 30 requests in traps a host", max(traps.values()) <= 30, max(traps.values()))
    aliases = [u for u in rows if rows[u]["outcome"] == "collected" and re.search(r"utm_|sessid|jsessionid|/canon$", u, re.I)]
    score.check("no alias is stored", not aliases, aliases[:3])
    noindex = [u for u in rows if rows[u]["outcome"] == "collected" and re.search(r"/ni/0|/xr/0", u)]
    score.check("no page that asks not to be", not noindex, noindex[:3])
    print(f"  {len(requests)} requests in {outcome['seconds']:.1f} s, {outcome['peak_mb']:.0f} MB")
    return score.settle()


def plain():
    text = config(generated(), "delay_ms = 0\nmax_concurrent = 64")
    outcome, rows, requests, report = run([*SIZE, "--plain"], text)
    ideal = LATENCY * max(collections.Counter(r["k"] for r in requests).values())
    score = Score("lab plain")
    score.check("every page", report["found"] == report["wanted"], report["missing_kinds"])
    score.check("nothing twice", report["repeated_200"] == 0)
    score.check("one request a host", report["max_in_flight_per_host"] == 1)
    score.check("45 in flight", report["max_in_flight"] >= 45, report["max_in_flight"])
    score.check("time of the slowest host", outcome["seconds"] <= 1.15 * ideal, f"{outcome['seconds']:.1f} s, ideal {ideal:.1f} s")
    score.check("memory", outcome["peak_mb"] <= 150, f"{outcome['peak_mb']:.0f} MB")
    cpu = 1000 * outcome["cpu"] / len(requests)
    print(
        f"  {report['found']} of {report['wanted']} pages, {report['max_in_flight']} in flight, "
        f"{outcome['seconds'] / ideal:.2f} x the ideal time, {outcome['peak_mb']:.0f} MB, {cpu:.1f} ms CPU a request"
    )
    return score.settle()


def drip():
    """The least of three runs each, since the machine has other work."""
    politeness = "delay_ms = 0\nmax_concurrent = 64"
    dripping = f"http://127.0.1.200:{PORT}/w/slow-drip"
    score = Score("lab drip")
    seconds = {False: [], True: []}
    for with_drip in [False, True] * 3:
        seeds = generated() + [dripping] * with_drip
        text = config(seeds, politeness, "timeout_secs = 30")
        outcome, rows, requests, _ = run([*SIZE, "--plain"], text)
        theirs = [r for r in requests if r["k"] <= HOSTS]
        seconds[with_drip].append(max(r["t1"] for r in theirs) - min(r["t0"] for r in theirs))
        if with_drip:
            dripped = rows[dripping]
            score.check("the dripping page is given up", dripped["reason"] == "fetch.timeout", dripped)
    cost = min(seconds[True]) / min(seconds[False]) - 1
    score.check("a dripping host costs the others less than 5 %", cost < 0.05, f"{100 * cost:.1f} %")
    print(f"  the others take {min(seconds[False]):.2f} s, and {100 * cost:+.1f} % beside it")
    return score.settle()


def judge(case, row):
    """Whether a row of `pages` is as the laboratory says that it must be."""
    name, expect = case["id"], case["expect"]
    outcome, reason, text = row["outcome"], row["reason"] or "", row["markdown"] or ""
    is_stored = outcome == "collected"
    if name in ("endless", "gzip-bomb"):
        return reason == "fetch.too_large"
    if name in ("slow-drip", "slow-headers"):
        return reason == "fetch.timeout"
    if name.startswith("redir-") and "/w/gzip" in expect:
        return reason == "duplicate.redirect"
    if name == "redir-utf8":
        return reason == "duplicate.redirect" and row["duplicate_of"].endswith("/caf%C3%A9")
    if name == "length-too-short":
        return "MARK-COMPRESSED-OK" not in text
    if name in ("redir-userinfo", "redir-crlf"):
        return not is_stored
    if name.startswith("ssrf-"):
        return not is_stored and reason != "duplicate.redirect"
    if name == "cookie-loop":
        return is_stored or reason == "fetch.bad_redirect"
    if name == "refresh-header":
        return reason == "duplicate.redirect"
    if name == "text-plain-html":
        return is_stored and "\\<" in text
    if name == "markdown":
        return is_stored and "```py\nx = 1\n```" in text
    if name == "redir-300":
        return True
    if name == "status-204":
        return outcome != "failed" and not is_stored
    if name == "cs-bad-bytes":
        return is_stored and "\ufffd" in text and "MARK" in text
    if name == "rss":
        return not is_stored
    wanted = re.match(r"text contains (.*?)( \(| or |$)", expect)
    if wanted:
        phrase = wanted[1]
        is_there = is_stored and phrase in re.sub(r"\\(?=\W)", "", text)
        return is_there or (" or " in expect and not is_stored)
    if re.search(r"error or (decoded|page)", expect) or "treated as chunked or" in expect:
        return "\ufffd" not in text
    if re.search(r"^stored|; stored|reached through|found only|page kept|no file outside|one log line", expect):
        return is_stored
    return not is_stored


def wild():
    text = config(
        [f"http://127.0.1.200:{PORT}/w/"],
        "delay_ms = 0\nper_host = 8\nretry_base_ms = 10\nmax_host_failures = 1000",
        "first_byte_timeout_secs = 5\ntimeout_secs = 15\nmax_tries = 2\n[dedup]\nexact = false",
    )
    outcome, rows, requests, _ = run(["--hosts", "1", "--pages", "1"], text)
    listed = subprocess.run(
        [sys.executable, str(LAB), "wildlist", "--port", str(PORT)], capture_output=True, text=True
    )
    score = Score("lab wild")
    for case in map(json.loads, listed.stdout.splitlines()):
        address = f"http://127.0.1.200:{PORT}{case['path']}".replace("%2f", "%2F")
        row = rows.get(address)
        what = f"{case['id']} ({case['expect']})"
        if row is None:
            score.check(what, False, "not asked for")
            continue
        score.check(what, judge(case, row), f"{row['outcome']} {row['reason']} {row['markdown'][-60:]!r}")
    score.check("nothing controls the terminal", "\x1b" not in outcome["said"])
    score.check("no header is smuggled in", not any(r["inj"] for r in requests))
    score.check("no credentials are sent", not any(r["auth"] for r in requests))
    score.check("memory", outcome["peak_mb"] <= 256, f"{outcome['peak_mb']:.0f} MB")
    tries = collections.Counter(r["p"] for r in requests if r["k"] == 200)
    for name, most in (("status-401", 1), ("status-403", 1), ("status-500", 2), ("gzip-truncated", 2)):
        score.check(f"tries of {name}", tries[f"/w/{name}"] == most, tries[f"/w/{name}"])
    return score.settle()


def docs(folder, start):
    arguments = ["--hosts", "1", "--pages", "1", "--docs", folder]
    text = config([f"http://127.0.1.201:{PORT}/{start}"], "delay_ms = 0\nper_host = 4")
    outcome, rows, requests, _ = run(arguments, text)
    with tempfile.NamedTemporaryFile("r") as reachable:
        command = [sys.executable, str(LAB), "docs-links", "--docs", folder, "--start", start, "--out", reachable.name]
        subprocess.run(command, capture_output=True, check=True)
        wanted = set(reachable.read().split())
    asked = {r["p"].split("?")[0].lstrip("/") for r in requests if r["k"] == 201 and r["s"] == 200}
    asked |= {path + "index.html" for path in asked if path == "" or path.endswith("/")}
    score = Score(f"lab docs {folder}")
    score.check("every reachable page", wanted <= asked, sorted(wanted - asked)[:5])
    cpu = 1000 * outcome["cpu"] / len(wanted)
    print(f"  {len(wanted & asked)} of {len(wanted)} pages, {cpu:.1f} ms CPU a page, {outcome['peak_mb']:.0f} MB")
    return score.settle()


if __name__ == "__main__":
    runs = {"full": full, "plain": plain, "drip": drip, "wild": wild, "docs": docs}
    if len(sys.argv) < 2 or sys.argv[1] not in runs:
        sys.exit(__doc__)
    sys.exit(0 if runs[sys.argv[1]](*sys.argv[2:]) else 1)
