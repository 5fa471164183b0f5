"""Text to counts: widemargin on two threads against scikit-learn's CountVectorizer, on all of 20 Newsgroups.

Both sides find the same terms and count them: words of at least two characters, words and pairs of words, and
triples of characters. Then blocks (words, bigrams and character 3-5-grams within words, weighted, each of its
own length), against a FeatureUnion of three TfidfVectorizers and against three Vectorizers that are not put
together. Then the memory of one run, and the time for 1/8, 1/4, 1/2 and all documents.

Vocabulary and matrix must be equal, term by term and cell by cell (weights: within 1e-6). Ours is also
compared on one thread, since CountVectorizer has only one. Peak memory (Linux) is that of a process that gets
the texts and counts them once, minus its memory before that; the limit is twice the texts, the matrix and the
vocabulary together.

Where the time goes (perf, one thread): words: a third is finding words and their hashes, a third looking them
up and counting them by document, the rest sorting terms and rows. Pairs of words: half is waiting for the
table of pairs, which is larger than the caches. Characters: half is looking up triples, a third sorting rows
and writing the matrix.
"""

from __future__ import annotations

import argparse
import pickle
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import Normalizer

from _compare import Check, Row, arguments, in_turns, report
from widemargin import Vectorizer, load_corpus

JOBS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "words": ({}, {}),
    "word 1-2-grams": ({"ngram_range": (1, 2)}, {"ngram_range": (1, 2)}),
    "character 3-grams": (
        {"units": "chars", "ngram_range": (3, 3)},
        {"analyzer": "char", "ngram_range": (3, 3)},
    ),
}
# Weights without document frequencies, which scikit-learn defines differently.
BLOCKS = ("words", "bigrams:0.5", "chars:0.5")
WEIGHTS = {"words": 1.0, "bigrams": 0.5, "chars": 0.5}
SEPARATE: dict[str, dict[str, Any]] = {
    "words": {},
    "bigrams": {"ngram_range": (2, 2)},
    "chars": {"units": "chars_in_words", "ngram_range": (3, 5)},
}
MEMORY_BOUND = 2.0


def load_texts() -> list[str]:
    """All 18,846 messages with single spaces: white space is the one thing that the two sides treat
    differently."""
    corpus = load_corpus("20newsgroups", split=None)
    return [re.sub(r"\s+", " ", text) for text in corpus.train.texts]


def ours(job: str, threads: int = 2) -> Vectorizer:
    return Vectorizer(tokens="unicode", min_token_length=2, weighting=None, n_jobs=threads, **JOBS[job][0])


def peer(job: str) -> CountVectorizer:
    return CountVectorizer(preprocessor=str.casefold, **JOBS[job][1])


def counted(vectorizer: Any, texts: list[str]) -> tuple[Any, Any]:
    return vectorizer, vectorizer.fit_transform(texts)


def same_job(ours: tuple[Any, Any], peer: tuple[Any, Any]) -> list[Check]:
    """That terms and counts are equal."""
    (left, found), (right, expected) = ours, peer
    terms, other_terms = set(left.vocabulary_), set(right.get_feature_names_out())
    checks = [Check("terms that differ", len(terms ^ other_terms), 0)]
    if list(left.vocabulary_) == list(right.get_feature_names_out()):
        checks.append(Check("counts that differ", (found != expected).nnz, 0))
    else:
        checks.append(Check("order of terms differs", 1, 0))
    return checks


def time_jobs(texts: list[str], repeats: int) -> Iterator[Row]:
    for job in JOBS:
        two, one, other = in_turns(
            lambda job=job: counted(ours(job), texts),
            lambda job=job: counted(ours(job, threads=1), texts),
            lambda job=job: counted(peer(job), texts),
            repeats=repeats,
        )
        matrix = two.result[1]
        for threads, mine in ((2, two), (1, one)):
            quality = {"threads": threads, "terms": matrix.shape[1], "non-zeros": matrix.nnz}
            checks = same_job(mine.result, other.result)
            yield Row(f"vectorize {job}", "CountVectorizer", mine.seconds, other.seconds, checks, quality)


def blocks(threads: int) -> Vectorizer:
    return Vectorizer(tokens="unicode", weighting="lxc", n_jobs=threads, blocks=BLOCKS)


def separate(texts: list[str], threads: int) -> list[Any]:
    """The same terms by one vectorizer each, which are not put together."""
    return [
        Vectorizer(tokens="unicode", weighting="lxc", n_jobs=threads, **options).fit_transform(texts)
        for options in SEPARATE.values()
    ]


def union_of_vectorizers() -> Pipeline:
    """The same rows by scikit-learn."""
    common = {"preprocessor": str.casefold, "use_idf": False, "sublinear_tf": True, "dtype": np.float32}
    parts = [
        ("words", TfidfVectorizer(token_pattern=r"\w+", **common)),
        ("bigrams", TfidfVectorizer(token_pattern=r"\w+", ngram_range=(2, 2), **common)),
        ("chars", TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), **common)),
    ]
    union = FeatureUnion(parts, transformer_weights=WEIGHTS)
    return Pipeline([("union", union), ("length", Normalizer(copy=False))])


def same_rows(ours: tuple[Any, Any], peer: tuple[Any, Any]) -> list[Check]:
    """That terms and weights are equal; the columns of characters have another order."""
    (left, found), (right, expected) = ours, peer
    parts = {name: part.get_feature_names_out().tolist() for name, part in right["union"].transformer_list}
    names = [*parts["words"], *parts["bigrams"]]
    names += [f"chars:{term.replace(' ', '_')}" for term in parts["chars"]]
    column = {name: place for place, name in enumerate(names)}
    terms = list(left.vocabulary_)
    checks = [Check("terms that differ", len(set(terms) ^ set(column)), 0)]
    if not checks[0].value:
        difference = abs(found - expected[:, [column[term] for term in terms]])
        checks.append(Check("largest difference of weights", float(difference.max()), 1e-6))
    return checks


def time_blocks(texts: list[str], repeats: int) -> Iterator[Row]:
    # Words only: the two sides treat marks between words differently in n-grams of characters.
    texts = [" ".join(re.findall(r"[^\W_]+", text)) for text in texts]
    two, one, parts, other = in_turns(
        lambda: counted(blocks(2), texts),
        lambda: counted(blocks(1), texts),
        lambda: separate(texts, 1),
        lambda: counted(union_of_vectorizers(), texts),
        repeats=repeats,
    )
    matrix = two.result[1]
    for threads, mine in ((2, two), (1, one)):
        quality = {"threads": threads, "terms": matrix.shape[1], "non-zeros": matrix.nnz}
        checks = same_rows(mine.result, other.result)
        peer = "FeatureUnion of TfidfVectorizer"
        yield Row("vectorize blocks", peer, mine.seconds, other.seconds, checks, quality)
    quality = {"threads": 1, "terms": matrix.shape[1], "non-zeros": matrix.nnz}
    checks = [Check("entries that differ", abs(matrix.nnz - sum(part.nnz for part in parts.result)), 0)]
    yield Row("vectorize blocks", "three Vectorizers", one.seconds, parts.seconds, checks, quality)


def peak_bytes() -> int:
    """The peak memory of this process so far. Not from getrusage, which includes the parent's peak."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def measure_memory(job: str) -> None:
    """In a separate process: print the memory needed, and the memory before counting."""
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
    """The texts from standard input as one pickle, since reading the corpus needs more memory than counting
    it."""
    return pickle.load(sys.stdin.buffer)


def report_memory(texts: list[str]) -> int:
    """1 if a job needs more than the limit, otherwise 0."""
    data, failed = pickle.dumps(texts), 0
    for job in JOBS:
        command = [sys.executable, __file__, "--memory", job]
        answer = subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout
        peak, size = map(int, answer.split())
        print(
            f"memory {job:27s} peak {peak / 2**20:6.0f} MiB   "
            f"texts, matrix and vocabulary {size / 2**20:6.0f} MiB   "
            f"ratio {peak / size:.2f} (at most {MEMORY_BOUND:g})"
        )
        if peak > MEMORY_BOUND * size:
            failed = 1
            print(f"memory {job}: more than {MEMORY_BOUND:g} times its data.", file=sys.stderr)
    return failed


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


def main() -> int:
    parser = arguments(__doc__, repeats=5)
    parser.add_argument(
        "--memory", choices=list(JOBS), help=argparse.SUPPRESS
    )  # the process that is measured
    options = parser.parse_args()
    if options.memory:
        measure_memory(options.memory)
        return 0
    texts = load_texts()
    rows = chain(time_jobs(texts, options.repeats), time_blocks(texts, options.repeats))
    failed = report(rows, options.json)
    if not options.json:
        failed |= report_memory(texts)
        report_growth(texts, options.repeats)
    return failed


if __name__ == "__main__":
    sys.exit(main())
