#!/usr/bin/env python3
"""Runs `corpus` and a peer on the same input in the same run, and prints the ratio of CPU times.

    benches/peers.py convert FOLDER     pages (.html, .html.gz) to Markdown, against trafilatura
    benches/peers.py crawl FOLDER START a folder of HTML served on loopback, against Scrapy that
                                        only follows links; START is the first page's path. What
                                        the crawl takes beyond the conversion of the same pages is
                                        held against wget2, where it is installed
    benches/peers.py chunk FOLDER       Markdown (.md) to chunks with exact token counts, against
                                        text-splitter with the same vocabulary

Needs a virtual environment with the peers, and a release build:

    python3 -m venv target/peers
    target/peers/bin/pip install trafilatura lxml_html_clean scrapy semantic-text-splitter
    cargo build --release
    target/peers/bin/python benches/peers.py convert PAGES

CPU time is that of the whole process tree, user and system. The machine's other work hardly
counts in it, so ratios can be compared where seconds cannot.
"""

import functools
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = os.environ.get("CORPUS_BIN", ROOT / "target/release/corpus")

TRAFILATURA = """
import gzip, pathlib, sys
import trafilatura
for path in sys.stdin.read().split("\\n"):
    data = pathlib.Path(path).read_bytes()
    data = gzip.decompress(data) if path.endswith(".gz") else data
    text = trafilatura.extract(data, output_format="markdown", include_links=True, include_tables=True)
    assert text is None or isinstance(text, str)
"""

SPIDER = """
import sys, scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
class Follow(scrapy.Spider):
    name = "follow"
    start_urls = [sys.argv[1]]
    allowed_domains = ["127.0.0.1"]
    links = LinkExtractor(tags=("a",), attrs=("href",))
    pages = 0
    def parse(self, response):
        Follow.pages += 1
        if isinstance(response, scrapy.http.HtmlResponse):
            for link in self.links.extract_links(response):
                yield response.follow(link)
process = CrawlerProcess({"LOG_ENABLED": False, "ROBOTSTXT_OBEY": True, "TELNETCONSOLE_ENABLED": False,
                          "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "DOWNLOAD_DELAY": 0})
process.crawl(Follow)
process.start()
print(Follow.pages)
"""


SPLITTER = """
import pathlib, sys
from semantic_text_splitter import MarkdownSplitter
splitter = MarkdownSplitter.from_tiktoken_model("gpt-4", 256)
for path in sys.argv[1:]:
    splitter.chunks(pathlib.Path(path).read_text())
"""


def measure(command, **options):
    """Runs a command; returns its CPU seconds, peak memory in MB, and output."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([str(part) for part in command], stdout=out, stderr=subprocess.DEVNULL, **options)
        _, status, usage = os.wait4(child.pid, 0)
        # 3 and 8: done, but pages failed, as links of the peers' sites may lead nowhere.
        if os.waitstatus_to_exitcode(status) not in (0, 3, 8):
            raise SystemExit(f"{command[0]} failed with {os.waitstatus_to_exitcode(status)}")
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read().decode()


def report(job, pages, ours, theirs, peer, memory):
    print(json.dumps({
        "job": job, "pages": pages, "corpus_cpu_s": round(ours, 4), f"{peer}_cpu_s": round(theirs, 4),
        "ratio": round(theirs / ours, 1), "corpus_peak_mb": round(memory),
    }))


def convert(folder):
    files = sorted(str(path) for path in pathlib.Path(folder).rglob("*") if path.name.endswith((".html", ".html.gz")))
    with tempfile.TemporaryDirectory() as out:
        ours, memory, _ = measure([CORPUS, "convert", "--charset", "utf-8", "--out", out + "/corpus", folder])
        listing = pathlib.Path(out) / "files"
        listing.write_text("\n".join(files))
        with listing.open("rb") as names:
            theirs, _, _ = measure([sys.executable, "-c", TRAFILATURA], stdin=names)
    report("convert: main content, Markdown, chunks, Parquet / trafilatura: Markdown", len(files), ours, theirs,
           "trafilatura", memory)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def crawl(folder, start):
    """The server runs in this process, so its CPU time is nobody's."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    seed = f"http://127.0.0.1:{server.server_port}/{start.lstrip('/')}"
    out = tempfile.mkdtemp()
    try:
        config = pathlib.Path(out) / "site.toml"
        config.write_text(f'[crawl]\nseeds = ["{seed}"]\n[politeness]\ndelay_ms = 0\nper_host = 8\n'
                          '[fetch]\nallow_private = ["127.0.0.1/32"]\n')
        ours, memory, text = measure([CORPUS, "--json", "crawl", config])
        summary = json.loads(text)
        pages = sum(summary["outcomes"].get(name, 0) for name in ("collected", "duplicate", "excluded"))
        converted, _, _ = measure([CORPUS, "convert", "--out", out + "/converted", folder])
        if shutil.which("wget2"):
            command = ["wget2", "-q", "-r", "-l", "0", "--max-threads=16", "-P", out + "/wget2", seed]
            saved, _, _ = measure(command)
            files = sum(1 for path in pathlib.Path(out, "wget2").rglob("*") if path.is_file())
            report("crawl less conversion: fetch and links / wget2 -r", pages, (ours - converted) / pages,
                   saved / files, "wget2", memory)
        theirs, _, text = measure([sys.executable, "-c", SPIDER, seed])
        theirs_pages = int(text.strip().splitlines()[-1])
    finally:
        server.shutdown()
        shutil.rmtree(out)
    print(f"corpus: {summary['outcomes']}, scrapy: {theirs_pages} pages")
    report("crawl to Parquet / Scrapy following links", pages, ours / pages, theirs / theirs_pages, "scrapy", memory)


def chunk(folder):
    """What a start costs is taken off, since `corpus chunk` takes one file and starts for each."""
    files = sorted(pathlib.Path(folder).rglob("*.md"))
    command = [CORPUS, "chunk", "--tokenizer", "cl100k_base", "--max-tokens", "256"]
    splitter = [sys.executable, "-c", SPLITTER]
    with tempfile.NamedTemporaryFile("w", suffix=".md") as nothing:
        nothing.write("Nothing.\n")
        nothing.flush()
        start = sum(measure([*command, nothing.name])[0] for _ in files)
        splitter_start = measure([*splitter, nothing.name])[0]
    runs = [measure([*command, path]) for path in files]
    ours = sum(seconds for seconds, _, _ in runs) - start
    theirs = measure([*splitter, *files])[0] - splitter_start
    report("chunk: Markdown to chunks with token counts / text-splitter", len(files), ours, theirs, "text_splitter",
           max(memory for _, memory, _ in runs))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["convert", folder]:
            convert(folder)
        case ["crawl", folder, start]:
            crawl(folder, start)
        case ["chunk", folder]:
            chunk(folder)
        case _:
            raise SystemExit(__doc__)
