#!/usr/bin/env python3
"""Converts the pages of the Markdown benchmark with the program, and judges what it wrote.

    python3 -m venv target/markdown
    target/markdown/bin/pip install cmarkgfm selectolax rapidfuzz
    target/markdown/bin/python tests/runs/markdown.py [fidelity|probes|escapes|hostile|again…]

The benchmark is `CORPUS_BENCH`, by default ../shared/bench; without it the script says so and
ends. The program is `CORPUS_BIN`, else the release build. Speed is measured by

    CORPUS_BENCH_PAGES=… cargo bench --bench stages -- markdown

on the unpacked pages, which names the parser alone beside the conversion.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

from crawl_run import CORPUS, Score, tool

BENCH = tool("CORPUS_BENCH", "../shared/bench") / "markdown"

# By group of pages: least total, and least share of pages without any fault.
TOTALS = {"real": (98, 60), "peers": (98.5, 90), "spec": (99.8, 99)}

# On real pages: least score of what most converters get wrong.
FEATURES = {
    "heading": 97,
    "code": 98,
    "lang": 92,
    "cells": 96,
    "grid": 92,
    "thead": 96,
    "list": 97,
    "supsub": 95,
}

LEAST_PROBES = 163
MOST_NEEDLESS_PERCENT = 1
MOST_CPU_SECONDS = 2
MOST_MEGABYTES = 300

# The hostile pages go up to ten megabytes; each must be read and kept to its last word.
WHOLE = """
[extract]
max_source_chars = 20000000
max_markdown_chars = 40000000
max_nodes = 4000000
"""


def run(*command, folder):
    """Runs a tool of the benchmark in `folder`, and gives what it said."""
    done = subprocess.run([sys.executable, *map(str, command)], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr}")
    return done.stdout


def convert(out, inputs, config=None):
    """Converts whole pages; gives the CPU seconds and the peak megabytes that it took."""
    command = [CORPUS, "-q", "convert", "--no-main-content", "--charset", "utf-8"]
    command += ["--format", "markdown", "--out", out, *(["--config", config] if config else []), *inputs]
    process = subprocess.Popen(list(map(str, command)))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def fidelity(score, folder):
    run("score.py", "--pred", "out", "--split", "dev", "--strict", "--json", "score.json", folder=folder)
    groups = json.loads((folder / "score.json").read_text())["agg"]
    for group, (least_total, least_perfect) in TOTALS.items():
        total, perfect = groups[group]["total"], groups[group]["perfect"]
        print(f"{group}: total {total:.1f}, {perfect:.0f} % of pages perfect")
        score.check(f"{group} total", total >= least_total, total)
        score.check(f"{group} perfect pages", perfect >= least_perfect, perfect)
    real = groups["real"]
    score.check("Markdown per text", real["overhead"] <= 1.5, real["overhead"])
    for feature, least in FEATURES.items():
        found = real["features"][feature][0]
        score.check(f"real {feature}", found >= least, found)


def probes(score, folder):
    run("probes.py", "write", "probes_in", folder=folder)
    convert(folder / "probes", [folder / "probes_in"])
    passed = int(run("probes.py", "check", "probes", folder=folder).split()[1])
    print(f"probes: {passed} of 167")
    score.check("probes", passed >= LEAST_PROBES, passed)


def escapes(score, folder):
    """Backslashes of TeX are no escapes: formulas are left out before the benchmark counts."""
    bare = folder / "bare"
    bare.mkdir()
    for page in (folder / "out").glob("*.md"):
        text = re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$", "", page.read_text(), flags=re.S)
        (bare / page.name).write_text(text)
    found = float(run("needless.py", "bare", folder=folder).split("needless%=")[1])
    print(f"needless escapes: {found:.1f} %")
    score.check("needless escapes", found <= MOST_NEEDLESS_PERCENT, found)


def hostile(score, folder):
    run("adversarial.py", "adv", folder=folder)
    config = folder / "whole.toml"
    config.write_text(WHOLE)
    for line in (folder / "adv/adv.tsv").read_text().splitlines():
        name, path, _, needed = line.split("\t")
        page = folder / path
        cpu, peak = convert(folder / "hostile", [page], config)
        kept = folder / "hostile" / f"{name}.md"
        text = kept.read_text().replace("\\", "") if kept.exists() else ""
        score.check(f"{name} keeps its last words", needed == "-" or needed in text)
        score.check(f"{name} CPU seconds", cpu <= MOST_CPU_SECONDS, f"{cpu:.2f}")
        score.check(f"{name} megabytes", peak <= MOST_MEGABYTES, f"{peak:.0f}")
        score.check(f"{name} grows", len(text) <= 8 * page.stat().st_size + 1_000_000, len(text))


def again(score, folder):
    """Rendered and converted once more, a page is the same; formulas have no rendering."""
    import cmarkgfm

    rendered = folder / "rendered"
    rendered.mkdir()
    pages = [page for page in (folder / "out").glob("*.md") if "$" not in page.read_text()]
    for page in pages:
        made = cmarkgfm.markdown_to_html_with_extensions(
            page.read_text(), options=cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE,
            extensions=["table", "strikethrough", "tasklist"],
        )
        (rendered / f"{page.stem}.html").write_text(made)
    convert(folder / "again", [rendered])
    changed = [
        page.stem for page in pages
        if page.read_text() != (folder / "again" / page.name).read_text()
    ]
    print(f"converted again: {len(changed)} of {len(pages)} pages change: {' '.join(changed[:9])}")
    score.check("pages that change", len(changed) <= len(pages) / 100, len(changed))


JOBS = {"fidelity": fidelity, "probes": probes, "escapes": escapes, "hostile": hostile, "again": again}


def main():
    jobs = sys.argv[1:] or list(JOBS)
    score = Score("markdown")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for script in BENCH.glob("*.py"):
            (folder / script.name).write_bytes(script.read_bytes())
        with tarfile.open(BENCH / "inputs-dev.tar.gz") as pages:
            pages.extractall(folder, filter="data")
        if set(jobs) - {"probes", "hostile"}:
            cpu, peak = convert(folder / "out", sorted(folder.glob("inputs/*/*.html")))
            print(f"{len(list((folder / 'out').glob('*.md')))} pages: {cpu:.1f} CPU s, {peak:.0f} MB")
        for job in jobs:
            JOBS[job](score, folder)
    sys.exit(not score.settle())


main()
