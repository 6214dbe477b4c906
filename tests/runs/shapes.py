#!/usr/bin/env python3
"""Converts pages of a megabyte in shapes that parsers are slow on, and judges the time of each.

    tests/runs/shapes.py [BYTES]

The shapes are those of Rust's usual parser: deep, with many formatting elements, attributes or
references, in tables that are none. None may take more than 1.25 times the budget of a page: a
second, or two microseconds a byte where that is more. Time is CPU time of the whole program, from
bytes to chunks, less what it takes for an empty page. Twice the size may take little more than
twice the time: the last column says how much. See crawl_run.py for the program that is run.
"""

import resource
import subprocess
import sys
import tempfile

from crawl_run import CORPUS, Score

SHAPES = {
    "div": ("", "<div>", "x"),
    "ulli": ("", "<ul><li>", "x"),
    "b": ("", "<b>", "x"),
    "font_attr": ("", "<font a{n}=1>", ""),
    "a_p": ("", "<a><p>", ""),
    "adopt": ("", "<b><i><div></b>", ""),
    "table_foster": ("<table>", "<b>x", ""),
    "tables": ("", "<table><tr><td>", ""),
    "attrs": ("<div ", "a{n}=1 ", ">"),
    "entities": ("", "&amp;", ""),
    "bad_entities": ("", "&CounterClockwiseContourIntegra", ""),
    "flat": ("", "<p>x</p>", ""),
    "svg": ("<svg>", "<g>", ""),
    "template": ("", "<template>", ""),
    "select": ("<select>", "<option>x", ""),
    # Behind text, since a page that begins so is not taken for text at all.
    "nulls": ("<p>" + "word " * 9_000, "\0", ""),
    "comments": ("", "<!--x-->", ""),
    "sheet": ("<style>", ".a{n}{{display:none}}.b{{display:none}}", "</style><p class='a1 b'>x"),
    "classes": ("<style>.a{display:none}.b.a{display:block}</style>", "<p class='a b'>x", ""),
}


def page(shape, size):
    if shape == "end_tags":
        half = size // 2
        inside = "<div>" * (half // 5) + "</p>" * (half // 4)
        before = after = ""
    else:
        before, piece, after = SHAPES[shape]
        if "{n}" in piece:
            parts, length, n = [], 0, 0
            while length < size:
                parts.append(piece.format(n=n))
                length += len(parts[-1])
                n += 1
            inside = "".join(parts)
        else:
            inside = piece.replace("{{", "{").replace("}}", "}") * (size // len(piece))
    start = "<!doctype html><main><h1>Title</h1><p>MARK stands before all of it.</p>"
    return (start + before + inside + after).encode()


def seconds(content):
    """CPU seconds and peak megabytes of a conversion, and its Markdown."""
    with tempfile.NamedTemporaryFile(suffix=".html") as file:
        file.write(content)
        file.flush()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run(
            [CORPUS, "page", file.name, "--format", "json"], capture_output=True, timeout=300
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, run.returncode, run.stdout.decode()


def main(size=1_000_000):
    score = Score("shapes")
    limit = 1.25 * max(1.0, 2e-6 * size)
    base = min(seconds(b"<p>x")[0] for _ in range(3))
    for shape in [*SHAPES, "end_tags"]:
        once, code, text = seconds(page(shape, size))
        half = seconds(page(shape, size // 2))[0]
        once, half = max(once - base, 0.001), max(half - base, 0.001)
        print(f"  {shape:<13} {once:6.3f} s, {once / half:4.1f} times that of half the size")
        score.check(f"{shape} ends", code == 0, f"exit code {code}")
        score.check(f"{shape} within {limit:.2f} s", once <= limit, f"{once:.2f} s")
        score.check(f"{shape} keeps what came before", "MARK" in text, text[:80])
    return score.settle()


if __name__ == "__main__":
    sys.exit(0 if main(*map(int, sys.argv[1:])) else 1)
