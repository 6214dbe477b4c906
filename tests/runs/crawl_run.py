"""A crawl by the program, its cost, and the pages that it wrote: for the scripts beside this one.

The program is `CORPUS_BIN`, else the release build. Pages are read with DuckDB:

    python3 -m venv target/read && target/read/bin/pip install duckdb
"""

import http.server
import os
import pathlib
import resource
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = os.environ.get("CORPUS_BIN", str(ROOT / "target/release/corpus"))


def tool(variable, default):
    """The path of a tool that lies outside the project; ends the script where it is absent."""
    path = pathlib.Path(os.environ.get(variable, ROOT / default))
    if not path.exists():
        print(f"skipped: there is no {path} (set {variable})")
        sys.exit(0)
    return path


def loopback(answer):
    """Serves GET on loopback: `answer(handler)` writes the response. Gives the server."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self):
            answer(self)

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_):
            pass  # a client that was killed has hung up

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def serve(command, ready):
    """Starts a server and waits for the line that says that it listens."""
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in server.stdout:
        if ready in line:
            return server
    sys.exit(f"{command[1]} did not start")


def crawl_served(command, folder, config):
    """Runs a crawl of the laboratory that `command` serves, and ends the laboratory."""
    server = serve(command, "ready")
    try:
        return crawl(folder, config)
    finally:
        time.sleep(0.7)  # the laboratory writes its log twice a second
        server.terminate()
        server.wait()


def crawl(folder, config):
    """Runs a crawl; gives its exit code, seconds, CPU seconds, peak MB and what it said."""
    path = pathlib.Path(folder, "run.toml")
    path.write_text(config)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    run = subprocess.run([CORPUS, "-v", "crawl", path], capture_output=True, text=True)
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "code": run.returncode,
        "seconds": seconds,
        "cpu": cpu,
        "peak_mb": after.ru_maxrss / 1024,
        "said": run.stderr,
    }


def pages(folder):
    """The rows of `pages` by address, the last of each."""
    import duckdb

    columns = "url, outcome, reason, status, markdown, duplicate_of, flags, elapsed_ms, final_url"
    found = duckdb.sql(f"select {columns} from '{folder}/corpus/pages/*.parquet' order by fetched_at")
    names = columns.split(", ")
    return {row[0]: dict(zip(names, row)) for row in found.fetchall()}


class Score:
    """Counts checks; those that fail are printed."""

    def __init__(self, name):
        self.name, self.passed, self.failed = name, 0, 0

    def check(self, what, holds, found=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"  failed: {what}: {found}")

    def settle(self):
        print(f"{self.name}: {self.passed} passed, {self.failed} failed")
        return self.failed == 0
