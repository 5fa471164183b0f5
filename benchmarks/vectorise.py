"""Text to counts: widemargin on two threads against scikit-learn's CountVectorizer, on all of 20 Newsgroups.

Both sides find the same terms and count them: words of two characters and more, words and pairs of words, and
triples of characters. Then the memory that one run needs, and the time over 1/8, 1/4, 1/2 and all documents.

    python benchmarks/vectorise.py [--json] [--repeats 5]

`quality` says that vocabulary and matrix are equal; the script fails where they are not. Peak memory (Linux)
is that of a process that is handed the texts and counts them once, less what it needs before it has them; the
bound is twice the texts, the matrix and the vocabulary together.

Where the time goes (perf, one thread): words: a third is finding words and their hashes, a third looking them
up and counting them by document, the rest sorting terms and rows. Pairs of words: half is waiting for the
table of pairs, which is larger than the caches. Characters: half is looking up triples, a third sorting rows
and writing the matrix.
"""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from _compare import Row, alternate, report, wants_json
from widemargin import Vectorizer, load_corpus

JOBS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "words": ({}, {}),
    "word 1-2-grams": ({"ngram_range": (1, 2)}, {"ngram_range": (1, 2)}),
    "character 3-grams": (
        {"units": "chars", "ngram_range": (3, 3)},
        {"analyzer": "char", "ngram_range": (3, 3)},
    ),
}
MEMORY_BOUND = 2.0


def load_texts() -> list[str]:
    """All 18,846 messages, white space made single: the one thing the two sides treat differently."""
    corpus = load_corpus("20newsgroups", split=None)
    return [re.sub(r"\s+", " ", text) for text in corpus.train.texts]


def ours(job: str) -> Vectorizer:
    return Vectorizer(tokens="unicode", min_token_length=2, weighting=None, n_jobs=2, **JOBS[job][0])


def peer(job: str) -> CountVectorizer:
    return CountVectorizer(preprocessor=str.casefold, **JOBS[job][1])


def compare(job: str, texts: list[str]) -> dict[str, Any]:
    """The size of the job, after making sure that both sides did it."""
    left, right = ours(job), peer(job)
    found, expected = left.fit_transform(texts), right.fit_transform(texts)
    equal = list(left.vocabulary_) == list(right.get_feature_names_out()) and (found != expected).nnz == 0
    if not equal:
        raise SystemExit(f"{job}: the counts differ")
    return {"counts equal": equal, "terms": found.shape[1], "non-zeros": found.nnz}


def time_jobs(texts: list[str], repeats: int) -> Iterator[Row]:
    for job in JOBS:
        quality = compare(job, texts)
        seconds = alternate(
            lambda job=job: ours(job).fit_transform(texts),
            lambda job=job: peer(job).fit_transform(texts),
            repeats,
        )
        yield Row(f"vectorise {job}", "CountVectorizer", *seconds, quality)


def peak_bytes() -> int:
    """The most this process has needed so far. Not getrusage: that one remembers the parent's peak."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def measure_memory(job: str) -> None:
    """In a process of its own: print what was needed, and what had to be there anyhow."""
    text = "a few words to have everything imported and compiled"
    ours(job).fit_transform([text])
    before = peak_bytes()
    texts = load_texts_once()
    counted = ours(job)
    matrix = counted.fit_transform(texts)
    size = sum(map(sys.getsizeof, texts))
    size += matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    size += counted.vocabulary_.buffer.nbytes + counted.vocabulary_.offsets.nbytes
    print(peak_bytes() - before, size)


def load_texts_once() -> list[str]:
    """The texts from standard input, one pickle: reading the corpus would need more than counting it."""
    return pickle.load(sys.stdin.buffer)


def report_memory(texts: list[str]) -> None:
    data = pickle.dumps(texts)
    for job in JOBS:
        command = [sys.executable, __file__, "--memory", job]
        answer = subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout
        peak, size = map(int, answer.split())
        print(
            f"memory {job:27s} peak {peak / 2**20:6.0f} MiB   "
            f"texts, matrix and vocabulary {size / 2**20:6.0f} MiB   "
            f"ratio {peak / size:.2f} (at most {MEMORY_BOUND:g})"
        )


def report_growth(texts: list[str], repeats: int) -> None:
    order = np.random.default_rng(0).permutation(len(texts))
    for job in JOBS:
        times = []
        for share in (8, 4, 2, 1):
            part = [texts[i] for i in order[: len(texts) // share]]
            taken = []
            for _ in range(repeats):
                start = time.perf_counter()
                ours(job).fit_transform(part)
                taken.append(time.perf_counter() - start)
            times.append(sorted(taken)[repeats // 2])
        exponent = np.polyfit(np.log([1 / 8, 1 / 4, 1 / 2, 1]), np.log(times), 1)[0]
        shown = "  ".join(f"{seconds:.4f}" for seconds in times)
        print(f"growth {job:27s} 1/8, 1/4, 1/2, all: {shown} s   as n^{exponent:.2f}")


def main() -> None:
    if "--memory" in sys.argv:
        measure_memory(sys.argv[-1])
        return
    repeats = int(sys.argv[sys.argv.index("--repeats") + 1]) if "--repeats" in sys.argv else 5
    texts = load_texts()
    report(time_jobs(texts, repeats), wants_json())
    if not wants_json():
        report_memory(texts)
        report_growth(texts, repeats)


if __name__ == "__main__":
    main()
