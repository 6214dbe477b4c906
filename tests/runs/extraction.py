#!/usr/bin/env python3
"""Chooses the main content of the extraction benchmark's pages, and judges what was chosen.

    target/read/bin/python tests/runs/extraction.py [main parts speed…]

    main     F1 of each set of pages by its own metric
    parts    lines of code, rows of tables and items of lists that are kept
    speed    pages per CPU second, against resiliparse's main-content text where it is installed
             (`pip install resiliparse`); ours writes Markdown

The benchmark is `CORPUS_BENCH`, by default ../shared/bench; without it the script says so and ends.
The program is `CORPUS_BIN`, else the release build. Prints `N passed, N failed`.
"""

import importlib.util
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

from crawl_run import CORPUS, Score, tool

BENCH = tool("CORPUS_BENCH", "../shared/bench") / "extraction"

# Least F1 by set of pages: above the best of the tools that others use.
LEAST_F1 = {
    "scrapinghub": 0.972,
    "wcxb": 0.860,
    "trafeval": 0.940,
    "newspaper4k": 0.950,
    "daniel": 0.910,
    "mozilla": 0.980,
    "defuddle": 0.920,
}

LEAST_PARTS = 0.95

# Text alone: counting tokens for chunks is not what the peer does.
CONFIG = """
[chunk]
tokenizer = "chars"
[dedup]
near = "off"
"""

PEER = """
import gzip, pathlib, sys
from resiliparse.extract.html2text import extract_plain_text
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.html.gz")):
    html = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
    assert isinstance(extract_plain_text(html, main_content=True), str)
"""


def cpu(command):
    """The CPU seconds that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{command[0]}: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def convert(folder):
    """Converts all pages; gives the file with their Markdown, and the CPU seconds."""
    config = folder / "config.toml"
    config.write_text(CONFIG)
    command = [CORPUS, "-q", "convert", "--config", config, "--charset", "utf-8", "--format", "jsonl"]
    seconds = cpu([*command, "--out", folder / "out", BENCH / "pages"])
    found = folder / "found.jsonl"
    with found.open("w") as lines:
        for line in (folder / "out/pages.jsonl").open():
            page = json.loads(line)
            row = {"id": page["id"].rsplit("/", 1)[-1], "text": page["markdown"]}
            lines.write(json.dumps(row) + "\n")
    return found, seconds


def judged(folder, found):
    out = folder / "score.json"
    command = [sys.executable, BENCH / "score.py", BENCH / "gold.jsonl.gz", found, "--parts", "--json", out]
    subprocess.run([str(part) for part in command], check=True, capture_output=True)
    return json.loads(out.read_text())


def main_content(score, folder, found, _seconds):
    for name, found in judged(folder, found).items():
        least = LEAST_F1[name]
        print(f"{name}: F1 {found['f1']:.3f} of {least:.3f}, P {found['p']:.3f}, R {found['r']:.3f}")
        score.check(f"{name} F1", found["f1"] >= least, f"{found['f1']:.4f}")
        score.check(f"{name} pages without a text", found["empty"] == 0, found["empty"])


def parts(score, folder, found, _seconds):
    for name, found in judged(folder, found).items():
        for part in ("code", "rows", "items") if "parts" in found else ():
            share = found["parts"][part]
            print(f"{name}: {share:.3f} of the {part}")
            score.check(f"{name} {part}", share >= LEAST_PARTS, f"{share:.3f}")


def speed(score, _folder, _found, seconds):
    if not importlib.util.find_spec("resiliparse"):
        print("skipped: resiliparse is not installed")
        return
    peer = cpu([sys.executable, "-c", PEER, BENCH / "pages"])
    print(f"{seconds:.1f} CPU s, resiliparse {peer:.1f}: {peer / seconds:.2f} times")
    score.check("as fast as resiliparse", seconds <= peer, f"{seconds / peer:.2f} times the time")


JOBS = {"main": main_content, "parts": parts, "speed": speed}


def main():
    score = Score("extraction")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        found, seconds = convert(folder)
        for job in sys.argv[1:] or JOBS:
            JOBS[job](score, folder, found, seconds)
    sys.exit(not score.settle())


main()
