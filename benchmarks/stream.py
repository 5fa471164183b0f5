"""Streams: how good one pass is, beside Vowpal Wabbit and SGDClassifier, and documents per second.

Quality (newsgroups, clinc150, sms, reuters): every document is predicted before it is learned, then the test
documents; _stream_quality.py says what each side gets. Ours must not be worse, before learning and at the
end.

Speed: from raw text through ``widemargin train --stream``. The documents are 20 Newsgroups cut into pieces of
100 words, in a random order, as JSON Lines through a pipe; the time is that of the whole command, including
starting the interpreter and saving the model. Each document is predicted before it is learned.

The peer does the same with scikit-learn in a separate process: HashingVectorizer and Perceptron.partial_fit
on batches of 1,000 documents, each predicted before it is learned, with all labels known from the start,
saved with joblib. Our error rate may be at most 5 points higher. "The bar" is 50,000 documents per second.
"learning alone" is AROW's `partial_fit` of the same documents as matrices.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

import _stream_quality
from _compare import Check, Row, arguments, in_turns, report
from widemargin import Arow, Vectorizer
from widemargin.documents.corpora import load_corpus

BAR = 50_000
WORDS = 100
BATCH = 1000
ALLOWED_LOSS = 5.0  # points
LEARNERS = ("arow", "balanced-winnow", "perceptron", "dual-svm")
TASKS = ("speed", *_stream_quality.TASKS)


def pieces(n: int) -> tuple[list[str], list[str]]:
    """`n` lines, those there are again and again; and the labels."""
    corpus = load_corpus("20newsgroups")
    made = []
    for part in (corpus.train, corpus.test):
        for document in part:
            words = document.text.split()
            for start in range(0, max(len(words) - WORDS // 2, 1), WORDS):
                text = " ".join(words[start : start + WORDS])
                made.append(json.dumps({"text": text, "labels": document.labels}, ensure_ascii=False))
    order = np.random.default_rng(0).permutation(len(made))
    return [made[order[i % len(made)]] for i in range(n)], sorted(corpus.categories)


def through_a_pipe(path: Path, command: list[str]) -> float:
    """Run a command on the file through a pipe; return the share of wrong documents that it reports."""
    with subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE) as source:
        done = subprocess.run(command, stdin=source.stdout, stdout=subprocess.PIPE, check=True)
    return float(json.loads(done.stdout)["share_wrong"])


def run_peer(model: Path, labels: list[str]) -> None:
    """The other side, in a separate process."""
    import joblib
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import Perceptron

    vectorizer, learner = HashingVectorizer(), Perceptron()
    documents = wrong = 0
    while lines := list(itertools.islice(sys.stdin.buffer, BATCH)):
        records = [json.loads(line) for line in lines]
        X = vectorizer.transform(record["text"] for record in records)
        y = np.array([record["labels"][0] for record in records])
        if documents:
            wrong += int((learner.predict(X) != y).sum())
        else:
            wrong += len(y)
        learner.partial_fit(X, y, classes=labels)
        documents += len(y)
    joblib.dump((vectorizer, learner), model)
    print(json.dumps({"share_wrong": wrong / documents}))


def rows(learners: list[str], n: int, repeats: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder) / "pieces.jsonl", Path(folder) / "m.wm"
        lines, labels = pieces(n)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "widemargin", "train", "-", "--stream", "--json", "--quiet"]
        ours = [[*command, "--learner", learner, "-o", str(model)] for learner in learners]
        peer = [sys.executable, __file__, "--peer-model", str(Path(folder) / "m.joblib"), *labels]
        *timed, other = in_turns(
            *(partial(through_a_pipe, path, one) for one in (*ours, peer)), repeats=repeats, warm=False
        )
        for learner, mine in zip(learners, timed, strict=True):
            worse = 100 * (mine.result - other.result)
            checks = [Check("points more wrong than the peer", worse, ALLOWED_LOSS)]
            quality = {
                "documents_per_s": round(n / mine.seconds),
                "wrong before learning": f"{100 * mine.result:.1f} %",
                "peer's": f"{100 * other.result:.1f} %",
            }
            name = f"stream {learner}, {n:,} documents"
            yield Row(name, "HashingVectorizer + Perceptron", mine.seconds, other.seconds, checks, quality)
            yield Row(name, f"the bar, {BAR:,} per s", mine.seconds, n / BAR, checks, quality)
        yield learning_alone(lines, repeats)


def learning_alone(lines: list[str], repeats: int) -> Row:
    """AROW on matrices of batches, without texts, in seconds of one core."""
    records = [json.loads(line) for line in lines]
    vectorizer, y = Vectorizer(n_hashed=2**18), np.array([record["labels"][0] for record in records])
    parts = [slice(first, first + BATCH) for first in range(0, len(records), BATCH)]
    texts = [record["text"] for record in records]
    batches = [(vectorizer.partial_fit_transform(texts[part]), y[part]) for part in parts]

    def learn() -> Arow:
        learner = Arow(n_jobs=1)
        for X, labels in batches:
            learner.partial_fit(X, labels)
        return learner

    (timed,) = in_turns(learn, repeats=repeats, clock=time.process_time)
    share = timed.result.documents_wrong_ / len(records)
    checks = [Check("wrong before learning, %", 100 * share, 50.0)]
    quality = {"documents_per_s": round(len(records) / timed.seconds)}
    name, peer = f"arow, learning alone, {len(records):,} documents", f"the bar, {BAR:,} per s"
    return Row(name, peer, timed.seconds, len(records) / BAR, checks, quality)


def main() -> int:
    parser = arguments(__doc__, repeats=3, tasks=TASKS)
    parser.add_argument(
        "--learner",
        action="append",
        help=f"only this one; may be repeated (default: {', '.join(LEARNERS)})",
    )
    parser.add_argument("--documents", type=int, default=200_000, metavar="N", help="how many")
    parser.add_argument("--peer-model", nargs="+", help=argparse.SUPPRESS)  # the peer's process
    options = parser.parse_args()
    if options.peer_model:
        run_peer(Path(options.peer_model[0]), options.peer_model[1:])
        return 0
    chosen = [name for name in options.tasks if name != "speed"]
    found = _stream_quality.rows(chosen)
    if "speed" in options.tasks:
        found = itertools.chain(
            found, rows(options.learner or list(LEARNERS), options.documents, options.repeats)
        )
    return report(found, options.json)


if __name__ == "__main__":
    sys.exit(main())
