"""Terms of several words: what pairs of words cost to count, and what they and phrases add to the quality.

Counting is on all of 20 Newsgroups: pairs with at most 3 words between them, in either order and in their
order, in at least 2 documents, and all of them, against scikit-learn's CountVectorizer(ngram_range=(1, 2)).
It has no such pairs, so it does less: its pairs of adjacent words are a quarter of ours. What it counts must
be among what we count: adjacent words are counted again as "after:0" and must be its bigrams, and a pair may
not be rarer than the two bigrams it contains. Times are CPU seconds of one thread.

Quality is that of a linear SVM (C = 1) on the test documents of Reuters-21578 (90 topics) and 20 Newsgroups,
with the seconds to count and to train. Decisions are by the sign of the score: with more terms, each has a
smaller weight in a document, so rare topics are found less often at the same C.

Where the time goes (CPU seconds of the stages, one thread, "near:3"): 84 % is looking up pairs in their
table, which is larger than the caches, and merging it; 10 % sorting the rows by columns; the rest is writing
terms and the matrix.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import f1_score

from _compare import Check, Row, arguments, in_turns, report
from _reuters import THREADS, reuters
from vectorize import load_texts
from widemargin import LinearSVM, Vectorizer, load_corpus

PEER = "CountVectorizer, 1-2-grams"
COUNTED = {
    "words": {},
    "after:0": {"pairs": "after:0:min=1"},
    "near:3": {"pairs": "near:3"},
    "after:3": {"pairs": "after:3"},
    "near:3, all": {"pairs": "near:3:min=1"},
}
REPRESENTED: dict[str, dict[str, Any]] = {
    "words": {},
    "phrases": {"phrases": 10.83, "min_count": 2},
    "bigrams in 2 documents": {"pairs": "after:0"},
    "near:3": {"pairs": "near:3"},
    "near:3 in 5 documents": {"pairs": "near:3:min=5"},
    "after:3": {"pairs": "after:3"},
}


def ours(options: dict[str, Any]) -> Vectorizer:
    return Vectorizer(tokens="unicode", min_token_length=2, weighting=None, n_jobs=1, **options)


def peer() -> CountVectorizer:
    return CountVectorizer(preprocessor=str.casefold, ngram_range=(1, 2))


def counted(vectorizer: Any, texts: list[str]) -> tuple[Any, Any]:
    return vectorizer, vectorizer.fit_transform(texts)


def same_terms(found: tuple[Any, Any], expected: tuple[Any, Any], name: str) -> Check:
    """That the peer's counts are among ours."""
    terms = dict(zip(found[0].vocabulary_, np.asarray(found[1].sum(axis=0)).ravel().tolist(), strict=True))
    wanted = dict(zip(expected[0].get_feature_names_out(), expected[1].sum(axis=0).tolist()[0], strict=True))
    bigrams = {tuple(term.split(" ")): count for term, count in wanted.items() if " " in term}
    if name == "words":
        wrong = sum(terms.get(term) != count for term, count in wanted.items() if " " not in term)
    elif name == "after:0":
        wrong = sum(terms.get(" ... ".join(pair)) != count for pair, count in bigrams.items())
    else:
        mark = " ... " if name.startswith("after") else " ~ "
        kept = (
            (terms.get(mark.join(pair if mark == " ... " else sorted(pair))), count)
            for pair, count in bigrams.items()
        )
        everything = name.endswith("all")
        wrong = sum((have is None and everything) or (have is not None and have < n) for have, n in kept)
    return Check("terms that the peer counts more often", wrong, 0)


def time_counting(texts: list[str], repeats: int) -> Iterator[Row]:
    for name, options in COUNTED.items():
        mine, other = in_turns(
            lambda options=options: counted(ours(options), texts),
            lambda: counted(peer(), texts),
            repeats=repeats,
            clock=time.process_time,
        )
        quality = {"terms": mine.result[1].shape[1], "non-zeros": mine.result[1].nnz}
        quality["terms of the peer"] = other.result[1].shape[1]
        check = same_terms(mine.result, other.result, name)
        yield Row(f"count {name}", PEER, mine.seconds, other.seconds, [check], quality)


def figures(
    texts: list[str], Y: Any, new: list[str], Y_new: Any, options: dict[str, Any]
) -> dict[str, float]:
    """Quality on new documents, and what it took."""
    start = time.perf_counter()
    vectorizer = Vectorizer(n_jobs=THREADS, **options)
    X = vectorizer.fit_transform(texts)
    counted = time.perf_counter() - start
    start = time.perf_counter()
    learner = LinearSVM(C=1.0, balance=0, n_jobs=THREADS).fit(X, Y)
    trained = time.perf_counter() - start
    found = learner.predict(vectorizer.transform(new))
    micro, macro = (100 * f1_score(Y_new, found, average=of, zero_division=0) for of in ("micro", "macro"))
    return {"micro-F1": micro, "macro-F1": macro, "terms": X.shape[1], "count s": counted, "train s": trained}


def measure_quality() -> Iterator[tuple[str, str, dict[str, float]]]:
    job = reuters()
    news = load_corpus("20newsgroups")
    labels = [[label[0] for label in part.labels] for part in (news.train, news.test)]
    for name, options in REPRESENTED.items():
        yield "Reuters-21578", name, figures(job.train, job.Y_train, job.test, job.Y_test, options)
    for name, options in REPRESENTED.items():
        yield "20 Newsgroups", name, figures(news.train.texts, labels[0], news.test.texts, labels[1], options)


def main() -> int:
    parser = arguments(__doc__, repeats=3)
    parser.add_argument("--quality", action="store_true", help="only the quality, which is not timed alone")
    options = parser.parse_args()
    failed = 0
    if not options.quality:
        failed = report(time_counting(load_texts(), options.repeats), options.json)
    if not options.json:
        for corpus, name, found in measure_quality():
            shown = "   ".join(f"{key} {value:,.1f}" for key, value in found.items())
            print(f"{corpus:14s} {name:24s} {shown}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
