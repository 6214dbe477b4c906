"""A site of 400 pages, jobs that crawl it, and disks whose power can be cut: for crashes.py."""

import os
import pathlib
import shutil
import subprocess
import sys
import time
from hashlib import sha256

from crawl_run import loopback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import invariants  # noqa: E402

CORPUS = os.environ.get("CORPUS_BIN", str(ROOT / "target/debug/corpus"))
PAGES = 400

CONFIG = """
[crawl]
seeds = ["{seed}"]
[politeness]
delay_ms = {delay}
retry_base_ms = 1
[fetch]
allow_private = ["127.0.0.0/8"]
[output]
path = "{corpus}"
part_bytes = 65536
[store]
url = "sqlite:{state}"
[recrawl]
start_hours = 0
min_hours = 0
confirm_gone_hours = 0
max_delete_ratio = 1.0
"""


class Site:
    """Pages that link to three others each; every tenth has the text of its neighbour. Each revision
    edits some, and takes some away that the one before had."""

    def __init__(self):
        self.revision, self.log, self.retry_after = 0, [], {}
        self.server = loopback(self.respond)
        self.seed = f"http://127.0.0.1:{self.server.server_port}/"

    def respond(self, request):
        self.log.append((time.monotonic(), request.path))
        status, body, headers = self.answer(request.path, request.headers.get("if-none-match"))
        lines = [f"HTTP/1.1 {status} -", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        request.wfile.write("\r\n".join([*lines, "", ""]).encode() + body)

    def answer(self, path, known):
        number = path.strip("/")
        number = 0 if path == "/" else int(number) if number.isdigit() else PAGES
        if path in self.retry_after:
            return 429, b"", {"retry-after": self.retry_after.pop(path)}
        if number >= PAGES:
            return 404, b"", {}
        if number > PAGES // 2 and number % 40 == self.revision % 40:
            return 410, b"", {}
        body = self.page(number).encode()
        tag = f'"{sha256(body).hexdigest()}"'
        headers = {"etag": tag, "content-type": "text/html; charset=utf-8"}
        return (304, b"", headers) if known == tag else (200, body, headers)

    def page(self, number):
        topic = number - 1 if number % 10 == 9 else number
        links = " ".join(f"<a href='/{3 * number + k}'>next</a>" for k in (1, 2, 3))
        edited = number % 20 == self.revision % 20
        news = f"<p>Revision {self.revision} of page {number}.</p>" if edited else ""
        return (
            f"<title>Page</title><main><h1>Page {topic}</h1><p>All that is to be said about the number {topic}. "
            f"{'It is a number. ' * (topic % 30)}</p><table><tr><th>n</th><th>square</th></tr>"
            f"<tr><td>{topic}</td><td>{topic * topic}</td></tr></table>{news}</main><nav>{links}</nav>"
        )


class Job:
    """A config with its corpus and its state, in folders that may stand on disks of their own."""

    def __init__(self, folder, seed, state=None, delay=0):
        self.folder, self.state = pathlib.Path(folder), pathlib.Path(state or folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.state.mkdir(parents=True, exist_ok=True)
        self.config = self.folder / "site.toml"
        names = {"corpus": self.folder / "corpus", "state": self.state / "state" / "state.db"}
        self.config.write_text(CONFIG.format(seed=seed, delay=delay, **names))

    def begin(self, command, environment=None):
        environment = {**os.environ, "NO_COLOR": "1", **(environment or {})}
        return subprocess.Popen(
            [CORPUS, "-q", command, str(self.config)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, command, environment=None):
        """Runs a command to its end; gives its exit code and what it said."""
        process = self.begin(command, environment)
        _, said = process.communicate()
        return process.returncode, said

    def take(self, other):
        """Becomes as `other` is."""
        for mine, of_other, name in ((self.folder, other.folder, "corpus"), (self.state, other.state, "state")):
            shutil.rmtree(mine / name, ignore_errors=True)
            if (of_other / name).exists():
                shutil.copytree(of_other / name, mine / name)

    def content(self):
        return invariants.content(self.config)

    def findings(self):
        """What does not hold, in one line; empty where all does."""
        return str(invariants.check(self.config)).replace("\n", "; ")


class Disk:
    """A file system on a loop device that keeps nothing but what was synced when its power goes."""

    # What ext4 does of its own accord would hide a sync that is missing.
    OPTIONS = {"ext4": "loop,commit=300,noauto_da_alloc", "xfs": "loop"}

    def __init__(self, folder, kind):
        self.folder, self.image, self.kind = pathlib.Path(folder), pathlib.Path(f"{folder}.img"), kind
        self.folder.mkdir()
        with open(self.image, "wb") as file:
            file.truncate(400 << 20)
        force = "-F" if kind == "ext4" else "-f"
        subprocess.run([f"mkfs.{kind}", "-q", force, str(self.image)], check=True, capture_output=True)
        self.mount()

    def mount(self):
        subprocess.run(["mount", "-o", self.OPTIONS[self.kind], self.image, self.folder], check=True, capture_output=True)

    def unmount(self):
        subprocess.run(["umount", self.folder], check=True, capture_output=True)

    def sync(self):
        subprocess.run(["sync", "-f", self.folder], check=True)

    def restart(self):
        self.unmount()
        self.mount()

    def close(self):
        self.unmount()
        self.image.unlink()


def faults(folder):
    """The library that plays a failing disk; None where there is no C compiler."""
    library = pathlib.Path(folder, "faults.so")
    source = ROOT / "tests/runs/faults.c"
    try:
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source], check=True)
    except FileNotFoundError:
        return None
    return {"LD_PRELOAD": str(library)}
