"""From raw text through ``widemargin train --stream``: documents a second with 20 labels.

    python benchmarks/stream.py [--json] [--learner balanced-winnow] [--documents 200000]

The documents are 20 Newsgroups cut into pieces of 100 words, in a random order, as JSON Lines through a pipe;
the time is that of the whole command, starting the interpreter and saving the model included. The bar is
50,000 documents a second; no peer goes from JSON to a saved model of several classes, so that the ratio
is that to the bar.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from widemargin.documents.corpora import load_corpus

BAR = 50_000
WORDS = 100


def pieces(n: int) -> list[str]:
    """`n` lines; those there are, again and again."""
    corpus = load_corpus("20newsgroups")
    made = []
    for part in (corpus.train, corpus.test):
        for document in part:
            words = document.text.split()
            for start in range(0, max(len(words) - WORDS // 2, 1), WORDS):
                text = " ".join(words[start : start + WORDS])
                made.append(json.dumps({"text": text, "labels": document.labels}, ensure_ascii=False))
    order = np.random.default_rng(0).permutation(len(made))
    return [made[order[i % len(made)]] for i in range(n)]


def measure(path: Path, learner: str, model: Path) -> tuple[float, dict[str, float]]:
    """Seconds of one run over the file, through a pipe, and what the command says of it."""
    begin = time.perf_counter()
    with subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE) as source:
        command = [sys.executable, "-m", "widemargin", "train", "-", "--stream", "--json", "--quiet"]
        done = subprocess.run(
            [*command, "--learner", learner, "-o", str(model)],
            stdin=source.stdout,
            capture_output=True,
            check=True,
        )
    return time.perf_counter() - begin, json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--learner", action="append")
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pieces.jsonl"
        path.write_text("\n".join(pieces(arguments.documents)) + "\n", encoding="utf-8")
        for learner in arguments.learner or ["balanced-winnow", "perceptron", "dual-svm"]:
            runs = [measure(path, learner, Path(folder) / "m.wm") for _ in range(arguments.repeats)]
            seconds = statistics.median(spent for spent, _ in runs)
            found = runs[0][1]
            bar = arguments.documents / BAR
            row = {
                "name": f"stream {learner}, {arguments.documents:,} documents",
                "peer": f"{BAR:,} documents a second",
                "ours_s": round(seconds, 3),
                "peer_s": bar,
                "ratio": round(bar / seconds, 2),
                "quality": f"{100 * found['share_wrong']:.1f} % wrong before learning",
            }
            if arguments.json:
                print(json.dumps(row))
            else:
                rate = arguments.documents / seconds
                print(f"{row['name']}: {seconds:.2f} s, {rate:,.0f} a second, {row['ratio']} of the bar; "
                      f"{row['quality']}")  # fmt: skip


if __name__ == "__main__":
    main()
