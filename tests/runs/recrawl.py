#!/usr/bin/env python3
"""Crawls the web laboratory three times: as it is, unchanged, and at its next revision.

    tests/runs/recrawl.py

At the next revision some pages change, more change around their content only, some are gone and
some are new. Chunks must be written for the changed and new pages alone, and the change feed must
tell exactly those. See lab.py and crawl_run.py for what the script needs. Only loopback is asked.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import duckdb
from crawl_run import CORPUS, Score, crawl_served, tool

LAB = tool("CORPUS_LAB", "../shared/lab/crawl_lab.py")
PORT, HOSTS, PAGES = 8819, 50, 40

CONFIG = f"""
[crawl]
seeds = {json.dumps([f"http://127.0.1.{host}:{PORT}/" for host in range(1, HOSTS + 1)])}
[politeness]
delay_ms = 0
max_concurrent = 64
[fetch]
allow_private = ["127.0.1.0/24"]
[recrawl]
start_hours = 0
min_hours = 0
confirm_gone_hours = 0
"""


def visit(folder, revision):
    """One run against a revision of the laboratory, and the requests that it saw."""
    log = pathlib.Path(folder, "lab.jsonl")
    log.unlink(missing_ok=True)
    size = ["--hosts", str(HOSTS), "--pages", str(PAGES), "--plain", "--rev", str(revision)]
    command = [sys.executable, str(LAB), "serve", "--port", str(PORT), "--log", str(log), *size]
    outcome = crawl_served(command, folder, CONFIG)
    if outcome["code"] != 0:
        sys.exit(f"exit code {outcome['code']}\n{outcome['said']}")
    verified = subprocess.run([CORPUS, "verify", "-q", pathlib.Path(folder, "run.toml")])
    return [json.loads(line) for line in log.read_text().splitlines()], verified.returncode == 0


def rows(folder, sql):
    return duckdb.sql(sql.replace("@", f"{folder}/corpus")).fetchall()


def page_requests(requests):
    return [r for r in requests if re.match(r"/(p/\d+)?$", r["p"])]


def truth():
    """Addresses of the pages that are edited, new and gone at revision 2, by the laboratory."""
    lab = {"__name__": "lab"}
    exec(LAB.read_text(), lab)
    edited, new, gone = set(), set(), set()
    for host in range(1, HOSTS + 1):
        address = f"http://127.0.1.{host}:{PORT}/p/"
        for page in range(1, PAGES):
            if lab["gone"](host, page, 2):
                gone.add(f"{address}{page}")
            elif lab["page_rev"](host, page, 2) != 1:
                edited.add(f"{address}{page}")
        added = [page for page in lab["added"](2, PAGES) if not lab["gone"](host, page, 2)]
        new.update(f"{address}{page}" for page in added)
    return edited, new, gone


def main():
    score = Score("lab recrawl")
    with tempfile.TemporaryDirectory() as folder:
        first, verified = visit(folder, 1)
        score.check("the first run verifies", verified)
        known = {(r["k"], r["p"]) for r in page_requests(first)}
        score.check("every page", len(known) >= HOSTS * (PAGES - 2), len(known))

        second, verified = visit(folder, 1)
        score.check("the second run verifies", verified)
        written = rows(folder, "select count(*) from '@/chunks/*.parquet' where run_id = 'run-000002'")
        told = rows(folder, "select count(*) from '@/changes/*.parquet' where run_id = 'run-000002'")
        score.check("an unchanged site writes no chunk", written == [(0,)], written)
        score.check("and tells no change", told == [(0,)], told)
        asked = page_requests(second)
        # One page in seven of the laboratory has no validator.
        with_validator = [r for r in asked if r["cond"]]
        share = len(with_validator) / len(asked)
        score.check("requests are conditional", share >= 0.9 * 6 / 7, f"{share:.3f}")
        unmodified = sum(r["s"] == 304 for r in with_validator) / len(with_validator)
        score.check("and answered with 304", unmodified >= 0.85, f"{unmodified:.3f}")

        third, verified = visit(folder, 2)
        score.check("the third run verifies", verified)
        changed = rows(
            folder,
            """select distinct url from '@/chunks/*.parquet' where run_id = 'run-000003'""",
        )
        # The truth, by the text of the pages: where the revision in the content is another.
        wrong = rows(
            folder,
            """
            with versions as (
                select url, version, string_agg(text, '' order by chunk_index) as text
                from '@/chunks/*.parquet' group by url, version)
            select later.url from versions later join versions sooner using (url)
            where later.version > sooner.version and later.text = sooner.text
            """,
        )
        score.check("no page is written again as it was", not wrong, wrong[:3])
        told = collections.defaultdict(set)
        for reason, url in rows(
            folder,
            """select distinct reason, url from '@/changes/*.parquet'
               where run_id = 'run-000003' and op = 'upsert'""",
        ):
            told[reason].add(url)
        # A start page gains links; whether they are content is not judged here.
        pages = {url for url in told["edited"] if not url.endswith("/")}
        print(f"  {len(changed)} pages written: {len(pages)} edited, {len(told['new_page'])} new")
        edited, new, gone = truth()
        score.check("pages edited", pages == edited, (len(pages), len(edited)))
        score.check("pages new", told["new_page"] == new, (len(told["new_page"]), len(new)))
        missing = rows(
            folder,
            """select url from '@/pages/*.parquet'
               where run_id = 'run-000003' and reason = 'gone.404' and list_contains(flags, 'stale')""",
        )
        missing = {url for url, in missing}
        score.check("pages missing are stale", missing == gone, (len(missing), len(gone)))
        deleted = rows(
            folder,
            "select count(*) from '@/changes/*.parquet' where op = 'delete' and reason = 'page_gone'",
        )
        score.check("a missing page keeps its chunks", deleted == [(0,)], deleted)

        _, verified = visit(folder, 2)
        score.check("the fourth run verifies", verified)
        deleted = rows(
            folder,
            """select count(distinct url) from '@/changes/*.parquet'
               where op = 'delete' and reason = 'page_gone'""",
        )
        score.check("a page missing twice is deleted", deleted == [(len(gone),)], deleted)
    return 0 if score.settle() else 1


if __name__ == "__main__":
    sys.exit(main())
