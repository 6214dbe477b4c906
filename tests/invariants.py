#!/usr/bin/env python3
"""Holds the state of a crawl and its corpus against the invariants of ARCHITECTURE.md.

    python3 -m venv target/read && target/read/bin/pip install duckdb pyarrow blake3
    target/read/bin/python tests/invariants.py CONFIG

It shares no code with the program: the state is read with Python's sqlite3, the parts with pyarrow.
What it asks for must hold at every instant, also between a crash and the run that puts it right,
so it looks at a copy of the state and touches nothing. `readback.py` beside it is the reader's
side: it knows only the corpus, and judges every column of a corpus that is at rest.

One line is printed for each check that fails, then `N passed, N failed`. The exit code is 1 where
a check failed. Without blake3, checksums are left out.
"""

import json
import pathlib
import shutil
import sqlite3
import sys
import tempfile
import tomllib
import urllib.parse
import uuid
from collections import Counter, defaultdict

import pyarrow as pa
import pyarrow.parquet as pq

try:
    from blake3 import blake3
except ImportError:
    blake3 = None

KINDS = ("pages", "chunks", "changes")
COLUMNS = {
    "pages": ["url", "document_id", "version", "run_id", "outcome", "reason", "final_url", "chunk_count", "outlinks"],
    "chunks": ["url", "document_id", "version", "chunk_index", "total_chunks", "chunk_id", "text"],
    "changes": ["run_id", "seq", "op", "chunk_id"],
}


class Findings:
    """Checks by name; those that fail, with what is wrong."""

    def __init__(self):
        self.passed, self.wrong = 0, {}

    def check(self, name, wrong):
        wrong = list(wrong)
        if wrong:
            self.wrong[name] = wrong
        else:
            self.passed += 1

    def __str__(self):
        lines = (f"{name}: {len(wrong)} wrong, {wrong[:3]}" for name, wrong in self.wrong.items())
        return "\n".join(lines)


class State:
    """The database, read from a copy, so that looking at it changes nothing."""

    def __init__(self, path):
        self.folder = tempfile.TemporaryDirectory()
        copy = pathlib.Path(self.folder.name, "state.db")
        for end in ("", "-wal"):
            if pathlib.Path(f"{path}{end}").exists():
                shutil.copyfile(f"{path}{end}", f"{copy}{end}")
        self.database = sqlite3.connect(copy)
        self.database.row_factory = sqlite3.Row

    def all(self, sql, *values):
        return [dict(row) for row in self.database.execute(sql, values)]

    def list(self, sql, *values):
        return [row[0] for row in self.database.execute(sql, values)]

    def close(self):
        self.database.close()
        self.folder.cleanup()

    def spool(self):
        """The records that wait, with their number and the page that they are of."""
        for row in self.all("SELECT seq, page_id, version, bytes, body FROM pending ORDER BY seq"):
            text = pa.Codec("zstd").decompress(row["body"], row["bytes"]).to_pybytes()
            yield row, json.loads(text)


class Parts:
    """Every file under a final name, read whole; a file that cannot be read is a finding."""

    def __init__(self, corpus):
        self.corpus, self.rows, self.metadata, self.unreadable = corpus, {}, {}, []
        for kind in KINDS:
            for path in sorted((corpus / kind).glob("*")):
                name = f"{kind}/{path.name}"
                try:
                    table = pq.read_table(path)
                    self.rows[name] = table.select(COLUMNS[kind]).to_pylist()
                except Exception as error:  # a reader has errors of its own
                    self.unreadable.append((name, f"{type(error).__name__}: {error}"[:80]))

    def of(self, kind, names=None):
        """The rows of a kind's files, each with the name of its file."""
        for name, rows in self.rows.items():
            if name.startswith(kind + "/") and (names is None or name in names):
                for row in rows:
                    yield name, row


def check(config):
    """Every invariant of the corpus and the state that the file `config` names."""
    corpus, path = places(config)
    found = Findings()
    if not path.exists():
        names = [name for kind in KINDS for name in (corpus / kind).glob("*")]
        found.check("V2 without a state there is no part", names)
        return found
    state, parts = State(path), Parts(corpus)
    try:
        if check_database(found, state):
            check_all(found, corpus, state, parts)
    finally:
        state.close()
    return found


def places(config):
    """The folder of the corpus and the file of the state."""
    config = pathlib.Path(config)
    options = tomllib.loads(config.read_text())
    corpus = options.get("output", {}).get("path", "corpus")
    state = options.get("store", {}).get("url", "sqlite:corpus-state/state.db")
    return config.parent / corpus, config.parent / state.removeprefix("sqlite:")


def check_database(found, state):
    """Whether there is anything to look at: a crash may have come before the first table."""
    try:
        verdict = state.list("PRAGMA integrity_check")
        found.check("the database is whole", [line for line in verdict if line != "ok"])
        found.check("no row points nowhere", state.all("PRAGMA foreign_key_check"))
        return bool(state.list("SELECT 1 FROM sqlite_master WHERE name = 'feed'"))
    except sqlite3.DatabaseError as error:
        found.check("the database can be read", [str(error)])
        return False


def check_all(found, corpus, state, parts):
    recorded = {
        row["path"]: row
        for row in state.all(
            """SELECT path, row_count, bytes, checksum, state FROM part_file JOIN part ON part.id = part_id"""
        )
    }
    published = {name for name, row in recorded.items() if row["state"] == "published"}
    check_files(found, corpus, state, parts, recorded, published)
    spool = list(state.spool())
    check_chunks(found, state, parts, published, spool)
    check_pages(found, state, parts, published, spool)
    check_links(found, state, parts, published, spool)
    check_manifest(found, corpus, state, recorded)
    check_feed(found, state, parts, published, spool)


def check_files(found, corpus, state, parts, recorded, published):
    """V2: what stands under a final name is whole, known, and what its record says."""
    found.check("V2 every visible file can be read", parts.unreadable)
    sealed = state.list("SELECT id FROM part WHERE state = 'sealed'")
    expected = {f"{kind}/part-{part:06}.parquet" for part in sealed for kind in KINDS}
    seen = {f"{kind}/{path.name}" for kind in KINDS for path in (corpus / kind).glob("*")}
    found.check("V2 every visible file is known", sorted(seen - expected - set(recorded)))
    found.check("V2 every published file is there", sorted(published - seen))
    wrong = []
    for name in published & seen:
        path, record = corpus / name, recorded[name]
        if path.stat().st_size != record["bytes"]:
            wrong.append((name, "length"))
        if blake3 and blake3(path.read_bytes()).hexdigest() != record["checksum"]:
            wrong.append((name, "checksum"))
        if name in parts.rows and len(parts.rows[name]) != record["row_count"]:
            wrong.append((name, "rows"))
    found.check("V2 published files are as recorded", wrong)
    broken = []
    for path in [*(corpus / "runs").glob("*"), *corpus.glob("*.json")]:
        try:
            json.loads(path.read_text())
        except ValueError as error:
            broken.append((path.name, str(error)))
    found.check("V2 summaries and manifest are whole", broken)


def check_chunks(found, state, parts, published, spool):
    """V1 and V3: the chunks of a live page stand once, whole, in a part or the spool."""
    places_of = defaultdict(lambda: defaultdict(list))
    for name, row in parts.of("chunks", published):
        places_of[row["document_id"], row["version"]][name].append((row["chunk_index"], row["total_chunks"]))
    sealed = {f"chunks/part-{part:06}.parquet" for part in state.list("SELECT id FROM part WHERE state = 'sealed' AND holds = 'records'")}
    lost, torn = [], []
    for row, record in spool:
        chunks = [(index, len(record["chunks"])) for index in range(len(record["chunks"]))]
        if chunks:
            places_of[record["document_id"], row["version"]]["the spool"] += chunks
    superseded = {(row["document_id"], row["version"]) for row in state.all("SELECT document_id, version FROM superseded")}
    live = state.all("SELECT url, document_id, version, chunk_count FROM page WHERE is_live = 1")
    for page in live:
        places = places_of.pop((page["document_id"], page["version"]), {})
        if page["chunk_count"] and not places:
            lost.append(page["url"])
            continue
        whole = [(index, page["chunk_count"]) for index in range(page["chunk_count"])]
        if len(places) > 1 or any(rows != whole for rows in places.values()):
            torn.append((page["url"], {name: len(rows) for name, rows in places.items()}, page["chunk_count"]))
    found.check("V3 no page is acknowledged without its chunks", lost)
    found.check("V1 the chunks of a live page stand once and whole", torn)
    found.check("V1 no others stand in parts or spool", [key for key in places_of if key not in superseded])
    # What is written and not yet recorded holds nothing but what waits in the spool.
    waiting = {(record["document_id"], row["version"]) for row, record in spool}
    extra = [(name, row["url"]) for name, row in parts.of("chunks", sealed) if (row["document_id"], row["version"]) not in waiting]
    found.check("V1 a part that is not recorded yet holds what is spooled", extra)
    seen = Counter((row["document_id"], row["version"], row["chunk_index"]) for _, row in parts.of("chunks", published | sealed))
    found.check("V1 no chunk stands in two visible files", [key for key, n in seen.items() if n > 1])


def check_pages(found, state, parts, published, spool):
    """V3: what the state says of a page's last visit, a row says too, and only one."""
    rows = defaultdict(list)
    for _, row in parts.of("pages", published):
        rows[row["url"], row["run_id"]].append(row["outcome"])
    spooled = {row["page_id"] for row, _ in spool}
    wrong = []
    for page in state.all("SELECT id, url, run_id FROM page WHERE state IN ('done', 'failed') AND run_id IS NOT NULL"):
        if not rows.get((page["url"], f"run-{page['run_id']:06}")) and page["id"] not in spooled:
            wrong.append(page["url"])
    found.check("V3 every visit has its row", wrong)


def check_links(found, state, parts, published, spool):
    """V4: where a live page leads to in the frontier's origins, the frontier knows."""
    found.check(
        "V4 every link leads to a page",
        state.all("SELECT * FROM link WHERE to_id NOT IN (SELECT id FROM page) OR from_id NOT IN (SELECT id FROM page)"),
    )
    known, origins = set(), set()
    for page in state.all("SELECT url, fetch_url, depth FROM page WHERE authority <> ''"):
        known |= {page["url"], page["fetch_url"]}
        if page["depth"] == 0:
            origins.add(origin(page["url"]))
    live = {(row["document_id"], row["version"]) for row in state.all("SELECT document_id, version FROM page WHERE is_live = 1")}
    rows = [row for _, row in parts.of("pages", published)]
    rows += [{**record, "version": row["version"]} for row, record in spool]
    lost = []
    for row in rows:
        if (row["document_id"], row["version"]) not in live:
            continue
        for link in row.get("outlinks") or []:
            link = urllib.parse.urldefrag(link).url
            if origin(link) in origins and link not in known:
                lost.append((row["url"], link))
    found.check("V4 outlinks in scope are known to the frontier", lost)


def origin(url):
    return urllib.parse.urlsplit(url)[:2]


def check_manifest(found, corpus, state, recorded):
    """The manifest is as it was written, and lists nothing that is not so."""
    path = corpus / "_manifest.json"
    if not path.exists():
        return
    text = path.read_text()
    try:
        manifest = json.loads(text)
    except ValueError:
        return  # `check_files` has said so
    if blake3:
        hashed = blake3(text.replace(manifest["checksum"], "", 1).encode()).hexdigest()
        found.check("M the manifest's checksum holds", [] if hashed == manifest["checksum"] else [hashed])
    files = [file for part in manifest["parts"] for file in part["files"]]
    found.check(
        "M the manifest lists what is recorded",
        [
            file["path"]
            for file in files
            if (row := recorded.get(file["path"])) is None
            or (file["rows"], file["bytes"], file["checksum"]) != (row["row_count"], row["bytes"], row["checksum"])
        ],
    )
    found.check("M what the manifest lists is there", [file["path"] for file in files if not (corpus / file["path"]).exists()])
    ended = {f"run-{run:06}" for run in state.list("SELECT id FROM run WHERE ended_at IS NOT NULL")}
    found.check("M the manifest lists runs that have ended", [run for run in manifest["runs"] if run not in ended])


def check_feed(found, state, parts, published, spool):
    """V10: the feed, applied from its beginning, gives what it has told, and at rest what is live."""
    held, wrong, twice, at, told = set(), [], [], 0, set()
    for name, row in parts.of("changes", published):
        key = row["chunk_id"]
        if row["seq"] != at or (key in held) != (row["op"] != "upsert"):
            wrong.append((name, row["seq"], row["op"], key))
        if (row["run_id"], key) in told:
            twice.append((row["run_id"], key))
        told.add((row["run_id"], key))
        at = row["seq"] + 1
        held.add(key)
        if row["op"] == "delete":
            held.remove(key)
    found.check("V10 changes follow from each other", wrong)
    found.check("V10 a chunk is told once a run", twice)
    recorded = {str(uuid.UUID(bytes=told[at : at + 16])) for told in state.list("SELECT told FROM feed") for at in range(0, len(told), 16)}
    found.check("V10 the feed gives what the state has told", held ^ recorded)
    if spool or state.list("SELECT 1 FROM feed WHERE is_told = 0 LIMIT 1"):
        return
    live = {(row["document_id"], row["version"]) for row in state.all("SELECT document_id, version FROM page WHERE is_live = 1")}
    chunks = {row["chunk_id"] for _, row in parts.of("chunks", published) if (row["document_id"], row["version"]) in live}
    found.check("V10 the feed gives the live chunks", held ^ chunks)


def content(config):
    """The live chunks of a corpus at rest, by its manifest."""
    corpus, _ = places(config)
    manifest = json.loads((corpus / "_manifest.json").read_text())
    files = [file["path"] for part in manifest["parts"] for file in part["files"]]
    superseded = {(row["document_id"], row["version"]) for row in manifest["superseded"]}
    parts = Parts(corpus)
    return sorted(
        (row["url"], row["chunk_index"], row["chunk_id"], row["text"])
        for _, row in parts.of("chunks", files)
        if (row["document_id"], row["version"]) not in superseded
    )


def main(arguments):
    if len(arguments) != 1:
        print(__doc__)
        return 2
    found = check(arguments[0])
    for line in str(found).splitlines():
        print(f"FAILED {line}")
    print(f"{found.passed} passed, {len(found.wrong)} failed")
    return 1 if found.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
