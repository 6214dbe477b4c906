#!/usr/bin/env python3
"""Ends crawls, re-crawls and compactions in every way, and judges what is left each time.

    cargo build --features kill-points
    target/read/bin/python tests/runs/crashes.py                     the long form, about an hour
    target/read/bin/python tests/runs/crashes.py --kills 10 --each 1 --errors 5 kills points errors

    kills        SIGKILL at random moments
    points       SIGKILL at every named point, `--each` times
    power        loss of power at every named point, on ext4 and XFS, and with the state on a disk of
                 its own; wants root and loop devices
    errors       the n-th write, sync, rename, … fails
    lock         a second process is refused, and touches nothing
    politeness   the delay of a host, and the rest that it asks for, outlive a kill
    mistakes     the protocol is broken on purpose, in each way once: the checks above must notice

After each end the invariants must hold (see ../invariants.py), and the same command must complete
and leave the corpus of a run that was not disturbed. The program is `CORPUS_BIN`, by default the
debug build, with the feature `kill-points`. Prints `N passed, N failed`. Only loopback is asked.
"""

import argparse
import collections
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from crash_rig import CORPUS, PAGES, Disk, Job, Site, faults
from crawl_run import Score

# File systems, and whether the state stands on a second one, which loses its power too.
LAYOUTS = ("ext4", "xfs", "ext4 apart", "xfs apart")

# Most requests on their way when a process ends, and most pages of a commit.
IN_FLIGHT, GROUP = 32, 64


class Stop(Exception):
    """The first finding, where one is enough."""


class Rig:
    """A site, and the corpora that runs leave that nobody disturbs."""

    def __init__(self, folder, options):
        self.folder, self.options, self.site = pathlib.Path(folder), options, Site()
        self.faults = faults(folder)
        self.random = random.Random(options.seed)
        self.names = (self.folder / f"job-{n}" for n in range(1 << 30))

    def job(self, **more):
        return Job(next(self.names), self.site.seed, **more)

    def scenes(self):
        """A crawl, a re-crawl of an edited site and a compaction: for each what stands before, the
        points that it comes by, and the content that it leaves."""
        before, scenes = self.job(), []
        for command, revision in (("crawl", 0), ("crawl", 1), ("compact", 1)):
            self.site.revision = revision
            after = self.job()
            after.take(before)
            trace = self.folder / "trace"
            began = time.monotonic()
            succeed(after, command, {"KILL_TRACE": str(trace)})
            seconds = time.monotonic() - began
            points = collections.Counter(trace.read_text().split())
            trace.unlink()
            scenes.append(Scene(command, revision, before, points, after.content(), seconds))
            before = after
        return scenes


class Scene:
    def __init__(self, command, revision, before, points, content, seconds):
        self.command, self.revision, self.before = command, revision, before
        self.points, self.content, self.seconds = points, content, seconds

    def __str__(self):
        return f"{self.command} of revision {self.revision}"

    def moments(self, each):
        """Names of points with the times at which they are passed that are tried."""
        for name, count in sorted(self.points.items()):
            for n in sorted({1, 2, max(1, count // 2)})[:each]:
                if n <= count:
                    yield name, n


def succeed(job, command, environment=None):
    code, said = job.run(command, environment)
    if code != 0:
        raise AssertionError(f"{command} ends with {code}: {said}")


def judge(score, what, job, scene, killed=True):
    """What is left holds, and the same command completes it."""
    found = "" if killed else "it was not ended"
    found = found or job.findings()
    if not found:
        code, said = job.run(scene.command)
        found = "" if code == 0 else f"completing it ends with {code}: {said.strip()}"
    found = found or job.findings()
    if not found and job.content() != scene.content:
        got, want = set(job.content()), set(scene.content)
        found = f"V5 another corpus: {len(want - got)} chunks lost, {len(got - want)} too many"
    score.check(what, not found, found)


def kills(rig, score):
    """One corpus, killed again and again; its site goes on to the next revision when a run ends."""
    job, twin = rig.job(), rig.job()
    steps = [("crawl", 1), ("crawl", 1), ("compact", 0)]
    seconds = {"crawl": 1.0, "compact": 0.5}
    deaths = step = 0
    rig.site.log.clear()
    while deaths < rig.options.kills:
        command, _ = steps[step % len(steps)]
        process = job.begin(command)
        try:
            began = time.monotonic()
            process.wait(rig.random.uniform(0.02, seconds[command]))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            deaths += 1
            found = job.findings()
            score.check(f"kill {deaths}, in {command}", not found, found)
            continue
        seconds[command] = 1.3 * (time.monotonic() - began)
        said = process.stderr.read()
        asked = len([path for _, path in rig.site.log if path != "/robots.txt"])
        if step == 0:
            most = PAGES + deaths * (IN_FLIGHT + GROUP)
            score.check("V8 pages fetched again", asked <= most, f"{asked} requests, at most {most}")
        score.check(f"{command} completes", process.returncode == 0, said)
        succeed(twin, command)
        score.check(f"V5 the corpus after {command}", job.content() == twin.content())
        step += 1
        rig.site.revision += steps[step % len(steps)][1]
    succeed(job, "crawl")
    succeed(twin, "crawl")
    found = job.findings()
    score.check("the end holds", not found, found)
    score.check("V5 the corpus at the end", job.content() == twin.content())


def points(rig, score, environment=None, each=None, only=None):
    for scene in rig.scenes():
        rig.site.revision = scene.revision
        if only and scene.command != only:
            continue
        for name, n in scene.moments(each or rig.options.each):
            job = rig.job()
            job.take(scene.before)
            code, _ = job.run(scene.command, {"KILL_AT": f"{name}:{n}", **(environment or {})})
            judge(score, f"{scene} killed at {name}:{n}", job, scene, code < 0)


def power(rig, score, layouts=None, environment=None, each=None):
    if os.geteuid() != 0 or not rig.faults or not pathlib.Path("/dev/loop-control").exists():
        print("  skipped: loss of power wants root, loop devices and a C compiler")
        return
    scenes = rig.scenes()
    for layout in layouts or rig.options.layout or LAYOUTS:
        disks = [Disk(next(rig.names), layout.split()[0]) for _ in range(1 + layout.endswith("apart"))]
        try:
            for scene in scenes:
                rig.site.revision = scene.revision
                cut_power(rig, score, layout, disks, scene, environment, each or rig.options.power)
        finally:
            for disk in disks:
                disk.close()


def cut_power(rig, score, layout, disks, scene, environment, each):
    folders = {"FAULT_PLUG": ":".join(str(disk.folder) for disk in disks), "FAULT_ROOT": str(rig.folder)}
    for name, n in scene.moments(each):
        job = Job(disks[0].folder / "job", rig.site.seed, state=disks[-1].folder / "job")
        job.take(scene.before)
        for disk in disks:
            disk.sync()
        at = {"KILL_AT": f"{name}:{n}", **rig.faults, **folders, **(environment or {})}
        code, said = job.run(scene.command, at)
        for disk in disks:
            disk.restart()
        what = f"{layout}: power lost in {scene} at {name}:{n}"
        judge(score, what, job, scene, code == -signal.SIGKILL)


def errors(rig, score):
    """The n-th call that touches the disk fails."""
    if not rig.faults:
        print("  skipped: failing calls want a C compiler")
        return
    for scene in rig.scenes():
        rig.site.revision = scene.revision
        for call, count in counted(rig, scene).items():
            tried = sorted({1 + n * count // rig.options.errors for n in range(rig.options.errors)})
            for n in tried if count else ():
                job = rig.job()
                job.take(scene.before)
                fault = {**rig.faults, "FAULT_ROOT": str(job.folder), "FAULT_FAIL": f"{call}:{n}"}
                code, said = job.run(scene.command, fault)
                what = f"{scene}: {call} {n} of {count} fails"
                # SQLite does without some calls that fail, such as those that tidy its log.
                is_clear = code == 0 or code == 4 and said.startswith("error: cannot ") and "\nhint: " in said
                score.check(f"{what}: said clearly", is_clear, f"{code}: {said.strip()}")
                judge(score, what, job, scene)


def counted(rig, scene):
    """How often a command makes each call that can fail."""
    job, counts = rig.job(), rig.folder / "counts"
    job.take(scene.before)
    succeed(job, scene.command, {**rig.faults, "FAULT_ROOT": str(job.folder), "FAULT_COUNT": str(counts)})
    return {name: int(count) for name, count in map(str.split, counts.read_text().splitlines())}


def lock(rig, score, environment=None):
    """A second process is refused at once and touches nothing."""
    rig.site.revision = 0
    job = rig.job()
    first = job.begin("crawl")
    while not rig.site.log or rig.site.log[-1][1] == "/robots.txt":
        time.sleep(0.001)
    halt(first)
    before = snapshot(job)
    began = time.monotonic()
    second = job.begin("crawl", environment)
    try:
        code = second.wait(5)
    except subprocess.TimeoutExpired:
        second.kill()
        code = f"no end after 5 s, {second.wait()}"
    seconds = time.monotonic() - began
    score.check("V6 a second process is refused", code == 5, code)
    score.check("V6 at once", seconds < 1, f"{seconds:.1f} s")
    score.check("V6 and touches nothing", snapshot(job) == before)
    first.send_signal(signal.SIGCONT)
    score.check("V6 the first completes", first.wait() == 0)
    found = job.findings()
    score.check("V6 its corpus holds", not found, found)


def halt(process):
    """Stops a process, and waits until each of its threads stands still."""
    process.send_signal(signal.SIGSTOP)
    tasks = pathlib.Path(f"/proc/{process.pid}/task")
    while any(task.read_text().rsplit(")", 1)[1].split()[0] != "T" for task in tasks.glob("*/stat")):
        time.sleep(0.001)


def snapshot(job):
    files = [path for path in job.folder.rglob("*") if path.is_file()]
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def politeness(rig, score):
    """V7: requests to a host stay apart, whatever ends between them."""
    delay, rest = 0.1, 2
    job, deaths = rig.job(delay=int(1000 * delay)), 20
    rig.site.log.clear()
    for _ in range(deaths):
        process = job.begin("crawl")
        time.sleep(rig.random.uniform(0.1, 0.5))
        process.kill()
        process.wait()
    times = [at for at, _ in rig.site.log]
    gap = min(later - sooner for sooner, later in zip(times, times[1:]))
    score.check("V7 the delay outlives a kill", len(times) > deaths and gap >= delay - 0.02, f"{gap:.3f} s")

    job = rig.job()
    rig.site.log.clear()
    rig.site.retry_after = {"/4": str(rest)}
    process = job.begin("crawl")
    while not any(path == "/4" for _, path in rig.site.log):
        time.sleep(0.001)
    time.sleep(0.3)
    process.kill()
    process.wait()
    refused = next(at for at, path in rig.site.log if path == "/4")
    rig.site.log.clear()
    succeed(job, "crawl")
    waited = rig.site.log[0][0] - refused
    score.check("V7 the rest that a host asks for outlives a kill", waited >= rest - 0.02, f"{waited:.2f} s")


class First(Score):
    """Stops at the first check that fails, and keeps what it was."""

    def check(self, what, holds, found=""):
        self.passed += 1
        if not holds:
            self.found = f"{what}: {found}"
            raise Stop


# What is broken: how, and the checks that must notice. Those of the first four are faults of
# faults.c, the others `MISTAKE`s of src/model/kill_point.rs.
MISTAKES = {
    "files are not synced": ({"FAULT_SKIP": "files"}, "power"),
    "folders are not synced": ({"FAULT_SKIP": "folders"}, "power"),
    "the log of the state is not synced": ({"FAULT_SKIP": "log"}, "power"),
    "files grow under their final names": ({"FAULT_COPY": "KILL"}, "copies"),
    "a page is acknowledged before it is spooled": ({"MISTAKE": "acknowledge-first"}, "points"),
    "links are committed after their page": ({"MISTAKE": "links-apart"}, "points"),
    "a part has no intent": ({"MISTAKE": "no-intent"}, "points"),
    "a part is published in two transactions": ({"MISTAKE": "publish-apart"}, "points"),
    "retired parts go before the manifest": ({"MISTAKE": "retire-first"}, "compaction"),
    "nothing is locked": ({"MISTAKE": "no-lock"}, "lock"),
}


def mistakes(rig, score):
    for name, (broken, by) in MISTAKES.items():
        first = First(name)
        try:
            if by == "power":
                power(rig, first, ["ext4 apart", "xfs apart"], broken, each=1)
            elif by in ("points", "compaction"):
                points(rig, first, broken, each=2, only="compact" if by == "compaction" else None)
            elif by == "copies":
                copies(rig, first)
            else:
                lock(rig, first, broken)
        except Stop:
            print(f"  {name}: found after {first.passed} checks by {first.found[:160]}", flush=True)
            score.check(name, True)
        else:
            score.check(f"found: {name}", False, f"{first.passed} checks passed")


def copies(rig, score):
    scene = rig.scenes()[0]
    rig.site.revision = scene.revision
    for n in range(1, 4):
        job = rig.job()
        job.take(scene.before)
        code, _ = job.run(scene.command, {**rig.faults, "FAULT_ROOT": str(job.folder), "FAULT_COPY": f"KILL:{n}"})
        judge(score, f"{scene} killed in rename {n}", job, scene, code < 0)


PHASES = {phase.__name__: phase for phase in (kills, points, power, errors, lock, politeness, mistakes)}


def keep_mounts_apart():
    """Goes on in a mount namespace of its own: a disk that another process sees too would stay
    mounted when it is to be restarted."""
    if os.geteuid() == 0 and "CRASHES_APART" not in os.environ:
        os.environ["CRASHES_APART"] = "yes"
        os.execvp("unshare", ["unshare", "-m", sys.executable, *sys.argv])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phases", nargs="*", choices=[[], *PHASES], default=[])
    for name, default in (("kills", 200), ("each", 3), ("power", 1), ("errors", 20), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--layout", action="append", choices=LAYOUTS, help="of the disks whose power is cut")
    options = parser.parse_args()
    keep_mounts_apart()
    if subprocess.run([CORPUS, "--version"], stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit(f"there is no program {CORPUS} (set CORPUS_BIN)")
    total = Score("crashes")
    for name in options.phases or PHASES:
        score, began = Score(name), time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            PHASES[name](Rig(folder, options), score)
        print(f"{name}: {score.passed} passed, {score.failed} failed, {time.monotonic() - began:.0f} s", flush=True)
        total.passed += score.passed
        total.failed += score.failed
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
