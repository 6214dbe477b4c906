#!/usr/bin/env python3
"""Reads a corpus with DuckDB, pandas and pyarrow, and checks what its documentation promises.

Usage, in a virtual environment:

    python3 -m venv venv
    venv/bin/pip install duckdb pandas pyarrow blake3
    venv/bin/python tests/readback.py FOLDER

FOLDER is the `[output] path` of a config. The identifiers, offsets and hashes are computed again
here, by other libraries than the ones that wrote them; without blake3 the hashes are left out.
This is the reader's side: it knows the corpus alone, at rest. What must hold between corpus and
state at every instant is judged by `invariants.py`.
One line is printed for each check that fails, then `N passed, N failed`. The exit code is 1 where
a check failed.
"""

import json
import sys
import uuid
from collections import Counter
from pathlib import Path

import duckdb
import pandas
import pyarrow as pa
import pyarrow.parquet as pq

try:
    from blake3 import blake3
except ImportError:
    blake3 = None

SCHEMA_VERSION = 1
TEXTS = pa.list_(pa.field("element", pa.string(), nullable=False))
MOMENT = pa.timestamp("us", tz="UTC")
REMOVAL = pa.struct(
    [
        pa.field("rule", pa.string(), nullable=False),
        pa.field("chars", pa.int64(), nullable=False),
        pa.field("sample", pa.string(), nullable=False),
    ]
)
REMOVALS = pa.list_(pa.field("element", REMOVAL, nullable=False))

PAGES = {
    "url": pa.string(),
    "final_url": pa.string(),
    "canonical_url": pa.string(),
    "document_id": pa.string(),
    "outcome": pa.string(),
    "reason": pa.string(),
    "status": pa.int32(),
    "content_type": pa.string(),
    "charset": pa.string(),
    "depth": pa.int32(),
    "referrer": pa.string(),
    "fetched_at": MOMENT,
    "elapsed_ms": pa.int64(),
    "body_bytes": pa.int64(),
    "title": pa.string(),
    "description": pa.string(),
    "author": pa.string(),
    "site_name": pa.string(),
    "keywords": TEXTS,
    "image": pa.string(),
    "breadcrumbs": TEXTS,
    "published_at": MOMENT,
    "modified_at": MOMENT,
    "lang": pa.string(),
    "lang_confidence": pa.float32(),
    "page_type": pa.string(),
    "metadata_sources": TEXTS,
    "markdown": pa.string(),
    "original_html_chars": pa.int64(),
    "initial_markdown_chars": pa.int64(),
    "filtered_chars_removed": pa.int64(),
    "final_filtered_chars": pa.int64(),
    "removed": REMOVALS,
    "flags": TEXTS,
    "is_partial": pa.bool_(),
    "words": pa.int32(),
    "link_density": pa.float32(),
    "stop_word_share": pa.float32(),
    "symbol_share": pa.float32(),
    "repetition": pa.float32(),
    "failed_heuristics": TEXTS,
    "chunk_count": pa.int32(),
    "token_count": pa.int64(),
    "content_hash": pa.string(),
    "duplicate_of": pa.string(),
    "near_duplicate_of": pa.string(),
    "etag": pa.string(),
    "last_modified": pa.string(),
    "version": pa.int32(),
    "run_id": pa.string(),
    "host": pa.string(),
    "outlinks": TEXTS,
}

CHUNKS = {
    "chunk_id": pa.string(),
    "document_id": pa.string(),
    "url": pa.string(),
    "host": pa.string(),
    "title": pa.string(),
    "lang": pa.string(),
    "chunk_index": pa.int32(),
    "total_chunks": pa.int32(),
    "heading_path": TEXTS,
    "heading": pa.string(),
    "anchor": pa.string(),
    "text": pa.string(),
    "prefix": pa.string(),
    "suffix": pa.string(),
    "overlap": pa.string(),
    "embed_text": pa.string(),
    "token_count": pa.int32(),
    "byte_start": pa.int64(),
    "byte_end": pa.int64(),
    "char_start": pa.int64(),
    "char_end": pa.int64(),
    "kinds": TEXTS,
    "content_hash": pa.string(),
    "embed_hash": pa.string(),
    "flags": TEXTS,
    "fetched_at": MOMENT,
    "first_seen_at": MOMENT,
    "changed_at": MOMENT,
    "run_id": pa.string(),
    "version": pa.int32(),
}

CHANGES = {
    "run_id": pa.string(),
    "seq": pa.int64(),
    "op": pa.string(),
    "reason": pa.string(),
    **{name: kind for name, kind in CHUNKS.items() if name != "run_id"},
}

TABLES = {"pages": PAGES, "chunks": CHUNKS, "changes": CHANGES}

OUTCOMES = {"collected", "unchanged", "duplicate", "excluded", "gone", "failed"}

DUCKDB_TYPES = {
    pa.string(): "VARCHAR",
    pa.int32(): "INTEGER",
    pa.float32(): "FLOAT",
    pa.int64(): "BIGINT",
    pa.bool_(): "BOOLEAN",
    MOMENT: "TIMESTAMP WITH TIME ZONE",
    TEXTS: "VARCHAR[]",
    REMOVALS: "STRUCT(rule VARCHAR, chars BIGINT, sample VARCHAR)[]",
}


class Report:
    """Counts checks; says what is wrong with the ones that fail."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, name, wrong):
        """`wrong` lists what breaks the check; an empty list passes it."""
        wrong = list(wrong)
        if not wrong:
            self.passed += 1
            return
        self.failed += 1
        shown = "; ".join(str(one) for one in wrong[:3])
        print(f"FAILED {name}: {len(wrong)} wrong, {shown}")

    def attempt(self, name, checks, *arguments):
        """Runs `checks`; a reader that gives up is a check that fails."""
        try:
            checks(self, *arguments)
        except Exception as error:  # every library has errors of its own
            self.check(name, [f"{type(error).__name__}: {error}"])

    def print(self):
        print(f"{self.passed} passed, {self.failed} failed")


def check_files(report, root, manifest):
    """The manifest's files are those of the folders, and are what it says."""
    files = [file for part in manifest["parts"] for file in part["files"]]
    listed = {file["path"] for file in files}
    found = {
        f"{kind}/{path.name}" for kind in TABLES for path in sorted((root / kind).glob("*"))
    }
    report.check("every file is in the manifest", sorted(found - listed))
    report.check("every file of the manifest is there", sorted(listed - found))
    files = [file for file in files if file["path"] in found]
    rows = {file["path"]: pq.read_metadata(root / file["path"]).num_rows for file in files}
    report.check(
        "rows are as recorded",
        [(f["path"], f["rows"], rows[f["path"]]) for f in files if f["rows"] != rows[f["path"]]],
    )
    report.check(
        "lengths are as recorded",
        [f["path"] for f in files if f["bytes"] != (root / f["path"]).stat().st_size],
    )
    if blake3:
        report.check(
            "checksums are as recorded",
            [
                f["path"]
                for f in files
                if f["checksum"] != blake3((root / f["path"]).read_bytes()).hexdigest()
            ],
        )
    names = ["schema_version", "program_version", "config_hash", "chunker_version", "run_id"]
    keys = [f"corpus.{name}".encode() for name in names]
    report.check(
        "footers say where a part comes from",
        [
            (f["path"], key.decode())
            for f in files
            for key in keys
            if not (pq.read_metadata(root / f["path"]).metadata or {}).get(key)
        ],
    )


def check_types(report, root, kind, paths):
    """The three readers see the documented columns and equally many rows."""
    want = TABLES[kind]
    for path in paths:
        schema = pq.read_schema(path)
        report.check(f"{path.name} of {kind} has the columns", unequal(schema.names, list(want)))
        report.check(
            f"{path.name} of {kind} has the types",
            [
                (name, str(schema.field(name).type))
                for name in want
                if name in schema.names and not schema.field(name).type.equals(want[name])
            ],
        )
    glob = str(root / kind / "*.parquet")
    described = query(f"DESCRIBE SELECT * FROM read_parquet('{quoted(glob)}')")
    types = {row[0]: row[1] for row in described}
    report.check(
        f"DuckDB sees the types of {kind}",
        [
            (name, types.get(name))
            for name, kind_ in want.items()
            if plain(types.get(name)) != plain(DUCKDB_TYPES[kind_])
        ],
    )
    by_duckdb = query(f"SELECT count(*) FROM read_parquet('{quoted(glob)}')")[0][0]
    frame = pandas.read_parquet(root / kind)
    report.check(f"pandas sees the columns of {kind}", unequal(list(frame.columns), list(want)))
    report.check(
        f"pandas sees moments in {kind}",
        unequal(str(frame["fetched_at"].dtype), "datetime64[us, UTC]"),
    )
    by_pyarrow = sum(pq.read_metadata(path).num_rows for path in paths)
    counts = (by_duckdb, len(frame), by_pyarrow)
    report.check(
        f"three readers count the rows of {kind}", [] if len(set(counts)) == 1 else [counts]
    )


def check_pages(report, path, pages):
    """What the rows of one file of pages promise by themselves."""
    where = path.name
    report.check(
        f"{where}: outcomes are known",
        [row["url"] for row in pages if row["outcome"] not in OUTCOMES],
    )
    report.check(
        f"{where}: document ids can be computed",
        [row["url"] for row in pages if row["document_id"] != document_id(row["url"])],
    )
    report.check(
        f"{where}: only collected pages have content",
        [
            row["url"]
            for row in pages
            if row["outcome"] != "collected" and (row["markdown"] or row["chunk_count"])
        ],
    )
    report.check(
        f"{where}: only pages outside the corpus have a reason",
        [
            row["url"]
            for row in pages
            if bool(row["reason"]) == (row["outcome"] in ("collected", "unchanged"))
        ],
    )
    report.check(
        f"{where}: the kept characters are those of the Markdown",
        [
            row["url"]
            for row in pages
            if row["outcome"] == "collected"
            and row["final_filtered_chars"] != len(row["markdown"])
        ],
    )


def check_part(report, path, pages, chunks):
    """A page's chunks stand together, in order, and are its Markdown."""
    where = path.name
    collected = {
        (row["document_id"], row["version"]): row for row in pages if row["outcome"] == "collected"
    }
    groups = []
    for row in chunks:
        key = (row["document_id"], row["version"])
        if not groups or groups[-1][0] != key:
            groups.append((key, []))
        groups[-1][1].append(row)
    counted = Counter(key for key, _ in groups)
    report.check(
        f"{where}: a page's chunks are contiguous", [key for key, n in counted.items() if n > 1]
    )
    report.check(
        f"{where}: chunks belong to a collected page",
        [key for key, _ in groups if key not in collected],
    )
    of_page = dict(groups)
    wrong = {name: [] for name in CHUNK_CHECKS}
    for key, page in collected.items():
        rows = of_page.get(key, [])
        for name, holds in CHUNK_CHECKS.items():
            if not holds(page, rows):
                wrong[name].append(page["url"])
    for name in CHUNK_CHECKS:
        report.check(f"{where}: {name}", wrong[name])


def check_rows(report, root, path):
    """Everything about the rows of one part, which is in memory whole."""
    pages = pq.read_table(path).to_pylist()
    check_pages(report, path, pages)
    check_part(report, path, pages, pq.read_table(root / "chunks" / path.name).to_pylist())


def indexed(page, rows):
    n = page["chunk_count"]
    return [row["chunk_index"] for row in rows] == list(range(n)) and all(
        row["total_chunks"] == n for row in rows
    )


def tiles_bytes(page, rows):
    markdown = page["markdown"].encode()
    at = 0
    for row in rows:
        if row["byte_start"] != at or not row["text"]:
            return False
        at = row["byte_end"]
        if markdown[row["byte_start"] : at] != row["text"].encode():
            return False
    return at == len(markdown)


def tiles_chars(page, rows):
    at = 0
    for row in rows:
        if row["char_start"] != at:
            return False
        at = row["char_end"]
        if page["markdown"][row["char_start"] : at] != row["text"]:
            return False
    return at == len(page["markdown"])


def embeds(page, rows):
    plain_text = [row["prefix"] + row["text"] + row["suffix"] for row in rows]
    found = [row["embed_text"] for row in rows]
    with_overlap = [row["overlap"] + text for row, text in zip(rows, plain_text)]
    return found in (plain_text, with_overlap)


def has_ids(page, rows):
    seen = Counter()
    for row in rows:
        name = f"{row['embed_hash']}\n{seen[row['embed_hash']]}"
        seen[row["embed_hash"]] += 1
        if row["chunk_id"] != str(uuid.uuid5(uuid.UUID(page["document_id"]), name)):
            return False
    return True


def has_hashes(page, rows):
    if not blake3:
        return True
    if page["content_hash"] != (short_hash(page["markdown"]) if page["markdown"] else None):
        return False
    return all(row["content_hash"] == short_hash(row["text"]) for row in rows)


def repeats_page(page, rows):
    columns = ["url", "host", "title", "lang", "fetched_at", "run_id", "version"]
    return all(row[name] == page[name] for row in rows for name in columns)


def joins_headings(page, rows):
    return all(row["heading"] == " > ".join(row["heading_path"]) for row in rows)


def counts_tokens(page, rows):
    return page["token_count"] == sum(row["token_count"] for row in rows)


CHUNK_CHECKS = {
    "chunks are numbered from 0": indexed,
    "chunks tile the Markdown by bytes": tiles_bytes,
    "chunks tile the Markdown by characters": tiles_chars,
    "embedded text is prefix, text and suffix": embeds,
    "chunk ids can be computed": has_ids,
    "content hashes can be computed": has_hashes,
    "chunks repeat their page's columns": repeats_page,
    "headings are joined": joins_headings,
    "tokens add up": counts_tokens,
}


def check_live(report, root, manifest):
    """What a reader of the manifest gets: each chunk and each page once."""
    superseded = {(row["document_id"], row["version"]) for row in manifest["superseded"]}
    tombstones = {row["document_id"] for row in manifest["tombstones"]}
    seen, contents = Counter(), {}
    live = {}
    for path in part_paths(root, manifest, "chunks"):
        columns = [name for name in CHUNKS if name != "run_id"]
        for row in pq.read_table(path, columns=columns).to_pylist():
            key = (row["document_id"], row["version"])
            if key in superseded or row["document_id"] in tombstones:
                continue
            seen[row["chunk_id"]] += 1
            live[row["chunk_id"]] = row
            contents.setdefault(row["document_id"], set()).add((path.name, row["version"]))
    report.check("live chunk ids are unique", [key for key, n in seen.items() if n > 1])
    report.check(
        "a live page has one content",
        [(key, sorted(versions)) for key, versions in contents.items() if len(versions) > 1],
    )
    check_feed(report, root, manifest, live)


def check_feed(report, root, manifest, live):
    """The change feed, applied to nothing, gives the live chunks."""
    held, twice, out_of_order, told, at = {}, [], [], set(), 0
    for path in part_paths(root, manifest, "changes"):
        for row in pq.read_table(path).to_pylist():
            key = row["chunk_id"]
            if (row["run_id"], key) in told:
                twice.append((row["run_id"], key))
            told.add((row["run_id"], key))
            if row["seq"] != at or (key in held) != (row["op"] != "upsert"):
                out_of_order.append((row["seq"], row["op"], key))
            at = row["seq"] + 1
            chunk = {name: row[name] for name in CHUNKS if name != "run_id"}
            held[key] = chunk
            if row["op"] == "delete":
                del held[key]
    report.check("a chunk is told at most once a run", twice)
    report.check("changes follow from each other", out_of_order)
    report.check(
        "the change feed gives the live chunks",
        [key for key in held.keys() | live.keys() if held.get(key) != live.get(key)],
    )


def check_by_sql(report, root):
    """DuckDB joins the two tables and cuts the Markdown at the same characters."""
    pages, chunks = (quoted(str(root / kind / "*.parquet")) for kind in ("pages", "chunks"))
    wrong = query(
        f"""
        SELECT c.url, c.chunk_index
        FROM read_parquet('{chunks}') c
        JOIN read_parquet('{pages}') p USING (document_id, version, run_id)
        WHERE p.outcome = 'collected'
          AND (substring(p.markdown, c.char_start + 1, c.char_end - c.char_start) <> c.text
               OR octet_length(encode(c.text)) <> c.byte_end - c.byte_start)
        """
    )
    report.check("DuckDB cuts the same texts", wrong)


def part_paths(root, manifest, kind):
    files = [file for part in manifest["parts"] for file in part["files"]]
    paths = [root / file["path"] for file in files if file["kind"] == kind]
    return [path for path in paths if path.is_file()]


def document_id(url):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, url))


def short_hash(text):
    return blake3(text.encode()).digest(length=16).hex()


def unequal(found, want):
    return [] if found == want else [f"{found} instead of {want}"]


def query(sql):
    return duckdb.execute(sql).fetchall()


def quoted(text):
    return text.replace("'", "''")


def plain(name):
    return (name or "").replace('"', "")


def main(arguments):
    if len(arguments) != 1:
        print(__doc__)
        return 2
    root = Path(arguments[0])
    report = Report()
    manifest = json.loads((root / "_manifest.json").read_text(encoding="utf-8"))
    report.check("schema version", unequal(manifest["schema_version"], SCHEMA_VERSION))
    report.attempt("files can be read", check_files, root, manifest)
    if manifest["parts"]:
        for kind in TABLES:
            paths = part_paths(root, manifest, kind)
            report.attempt(f"{kind} can be read", check_types, root, kind, paths)
        report.attempt("DuckDB reads both tables", check_by_sql, root)
    for path in part_paths(root, manifest, "pages"):
        report.attempt(f"{path.name} can be read", check_rows, root, path)
    report.attempt("live chunks can be read", check_live, root, manifest)
    report.print()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
