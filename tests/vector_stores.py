#!/usr/bin/env python3
"""Applies the change feed to vector stores, by the recipes of docs/vector-stores.md.

Usage, in a virtual environment:

    python3 -m venv venv
    venv/bin/pip install duckdb pyarrow lancedb qdrant-client chromadb sqlite-vec \\
        langchain-core llama-index-core
    venv/bin/python tests/vector_stores.py target/debug/corpus

A site of a few pages is served on loopback, crawled, edited (text on top, an edit, a page moved,
pages gone and back) and crawled again. After every run each store applies what is new, and is held
against the live chunks of the corpus, which are read from its parts. A store whose package is
absent is skipped. Prints a line for each check that fails, then `N passed, N failed`; the exit code
is 1 where one failed.
"""

import hashlib
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import duckdb

DOCS = Path(__file__).parent.parent / "docs" / "vector-stores.md"
DIMENSIONS = 16
CONFIG = """
[crawl]
seeds = ["{site}/"]
[politeness]
delay_ms = 0
[fetch]
allow_private = ["127.0.0.0/8"]
[recrawl]
start_hours = 0
min_hours = 0
confirm_gone_hours = 0
max_delete_ratio = 1.0
"""


def embed(texts):
    """Vectors that only depend on the text."""
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return [[1.0 + byte for byte in digest[:DIMENSIONS]] for digest in digests]


class Site:
    """Pages in memory, served on loopback."""

    def __init__(self):
        self.pages = {}
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                page = site.pages.get(self.path)
                status, body = (200, page.encode()) if page else (404, b"")
                self.send_response(status)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def article(self, path, title, paragraphs):
        text = "".join(f"<p>{p}</p>" for p in paragraphs)
        self.pages[path] = f"<title>{title}</title><main><h1>{title}</h1>{text}</main>"
        links = "".join(f"<li><a href={p}>{p}</a>" for p in sorted(self.pages) if p != "/")
        self.pages["/"] = f"<main><h1>Start</h1><p>All pages.</p><ul>{links}</ul></main>"


def paragraphs(topic, count):
    return [f"Remark {n} on {topic} goes on for a while, then it ends. " * 9 for n in range(count)]


def rounds(site):
    """Edits of the site, one after the other; each is followed by a run."""
    text = paragraphs("apples", 8)
    for n in range(6):
        site.article(f"/page-{n}", f"Page {n}", paragraphs(f"topic {n}", 3))
    site.article("/long", "Apples", text)
    yield "first crawl"
    text.insert(0, "A new beginning, before all that was there. " * 9)
    site.article("/long", "Apples", text)
    yield "text on top"
    text[4] = text[4].replace("goes on", "went on")
    site.article("/long", "Apples", text)
    yield "an edit"
    text.append(text.pop(0))
    site.article("/long", "Apples", text)
    yield "text moved"
    kept = site.pages.pop("/page-1")
    yield "a page missing"
    yield "a page gone"
    site.pages["/page-1"] = kept
    site.pages["/moved"] = site.pages.pop("/page-2")
    site.article("/long", "Apples", text[:3])
    yield "a page restored, one moved, text deleted"
    yield "nothing"


# What a store of each recipe holds: chunk id to payload.
HELD = {
    "LanceDB": lambda r: {row["chunk_id"]: row for row in r["table"].to_arrow().to_pylist()},
    "Qdrant": lambda r: {
        point.id: point.payload for point in r["client"].scroll("chunks", limit=100_000)[0]
    },
    "Chroma": lambda r: dict(zip(*map(r["collection"].get().get, ["ids", "metadatas"]))),
    "DuckDB": lambda r: {
        str(chunk): json.loads(payload)
        for chunk, payload in r["db"].execute("SELECT chunk_id, payload FROM chunks").fetchall()
    },
    "sqlite-vec": lambda r: {
        chunk: json.loads(payload)
        for chunk, payload in r["db"].execute(
            "SELECT chunk_id, payload FROM chunks JOIN vectors USING (chunk_id)"
        )
    },
    "LangChain": lambda r: {id: row["metadata"] for id, row in r["store"].store.items()},
    "LlamaIndex": lambda r: {
        id: r["nodes"][id].metadata for id in r["store"].data.embedding_dict
    },
}


def recipes(folder):
    """The recipes of the documentation, each run in a namespace of its own."""
    sections = re.split(r"^## ", DOCS.read_text(), flags=re.M)
    blocks = {
        section.split("\n", 1)[0]: re.findall(r"```python\n(.*?)```", section, flags=re.S)
        for section in sections
    }
    common = next(iter(blocks.values()))[0]
    for name in HELD:
        place = Path(folder) / name
        place.mkdir()
        namespace = {"embed": embed, "DIMENSIONS": DIMENSIONS, "FOLDER": str(place)}
        try:
            exec(common + blocks[name][0], namespace)
        except (ImportError, AttributeError) as error:
            print(f"{name}: skipped, {error}")
            continue
        yield name, namespace


def live(corpus):
    """The live chunks, from the parts and the manifest."""
    manifest = json.loads((corpus / "_manifest.json").read_text())
    files = [f["path"] for part in manifest["parts"] for f in part["files"] if f["kind"] == "chunks"]
    dead = {(old["document_id"], old["version"]) for old in manifest["superseded"]}
    names = "chunk_id", "document_id", "version", "url", "embed_text", "chunk_index"
    query = f"SELECT {', '.join(names)} FROM read_parquet(?)"
    rows = duckdb.execute(query, [[str(corpus / path) for path in files]]).fetchall()
    rows = [dict(zip(names, row)) for row in rows]
    return {r["chunk_id"]: r for r in rows if (r["document_id"], r["version"]) not in dead}


def main():
    program = Path(sys.argv[1]).absolute()
    os.environ["PATH"] = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    passed = failed = 0
    site = Site()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "site.toml"
        config.write_text(CONFIG.format(site=site.url))
        stores = dict(recipes(folder))
        since = None
        for what in rounds(site):
            subprocess.run([program, "crawl", "-q", config], check=True)
            want = live(Path(folder) / "corpus")
            runs = sorted((Path(folder) / "corpus" / "runs").iterdir())
            for name, store in stores.items():
                store["apply"](store["feed"](str(config), since))
                held = HELD[name](store)
                is_same = held.keys() == want.keys() and all(
                    held[id][column] == row[column]
                    for id, row in want.items()
                    for column in ("url", "embed_text", "chunk_index", "version")
                )
                passed += is_same
                failed += not is_same
                if not is_same:
                    print(f"{name}, {what}: holds {len(held)} chunks, {len(want)} are live")
            since = runs[-1].stem
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
