"""Few labels, many documents: 8 to 64 labels a class, ours beside scikit-learn, on the same draws.

The pool is the training part of a collection. Of every class, some documents keep their label (all but one of
a class with fewer); the others are hidden. `pool` is the share of hidden documents that get their class,
`test` that of test documents by the model that was learned. Ours: a linear SVM of the labeled documents, a
transductive SVM and self-training, each on words alone and with document vectors that are learned from the
pool; all with their defaults (C = 20 for the linear SVM too). scikit-learn, on tf-idf: LogisticRegression
(C = 10), SelfTrainingClassifier with it, and LabelSpreading with 7 neighbors on 100 singular vectors. Class
shares are never given.

--choices instead measures choices of the user with 8 labels a class: the true shares, half of the share of
the largest class, and as many labels again in four batches, of random documents or of those that `--next`
asks for (right among all that were hidden at first, those that are labeled later included).

A row compares the transductive SVM with vectors, the default of `widemargin label`, with the best of
scikit-learn's on the pool. Its checks: ours is not below that by more than two standard errors of the
difference over draws, and a draw takes less than 20 CPU seconds of all threads, the representation included.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from _compare import Check, Row, arguments, report
from widemargin import LinearSVM, SelfTraining, TransductiveSVM, Vectorizer
from widemargin.decide import at_random, next_to_label, uncertainty
from widemargin.documents.corpora.loading import load_corpus

TASKS = ("20newsgroups", "r8", "r52", "clinc20", "clinc50", "sms")
SIZES = (8, 16, 32, 64)
DEFAULT = "transductive, vectors"
SECONDS = 20.0  # most for one draw, of all threads together

Documents = list[tuple[str, str]]


def documents(name: str) -> tuple[Documents, Documents]:
    """Training and test documents with one class each."""
    if name.startswith("r"):
        return _reuters(int(name[1:]))
    corpus = load_corpus("clinc150" if name.startswith("clinc") else {"sms": "sms-spam"}.get(name, name))
    parts = [_single(part) for part in (corpus.train, corpus.test) if part is not None and part.texts]
    if name.startswith("clinc"):  # a sample of the intents
        intents = sorted({label for _, label in parts[0]} - {"oos"})
        kept = set(np.random.default_rng(0).permutation(intents)[: int(name[5:])].tolist())
        return _of(parts[0], kept), _of(parts[1], kept)
    if len(parts) == 2:
        return parts[0], parts[1]
    order = np.random.default_rng(0).permutation(len(parts[0]))
    cut = int(0.7 * len(order))
    return [parts[0][i] for i in order[:cut]], [parts[0][i] for i in order[cut:]]


def _single(part: Any) -> Documents:
    found = []
    for text, labels in zip(part.texts, part.labels, strict=True):
        one = [labels] if isinstance(labels, str) else list(labels or ())
        if len(one) == 1:
            found.append((text, str(one[0])))
    return found


def _of(part: Documents, kept: set[str]) -> Documents:
    return [document for document in part if document[1] in kept]


def _reuters(n_topics: int) -> tuple[Documents, Documents]:
    """Stories with one topic, of the most frequent topics that are in both parts."""
    corpus = load_corpus("reuters21578")
    train, test = _single(corpus.train), _single(corpus.test)
    counts = [Counter(label for _, label in part) for part in (train, test)]
    both = sorted(set(counts[0]) & set(counts[1]), key=lambda label: -counts[0][label] - counts[1][label])
    return _of(train, set(both[:n_topics])), _of(test, set(both[:n_topics]))


class Task:
    """The documents of a collection in all representations, each with the seconds it took."""

    def __init__(self, name: str) -> None:
        train, test = documents(name)
        self.name = name
        texts = [[text for text, _ in part] for part in (train, test)]
        self.classes, codes = np.unique([label for _, label in train + test], return_inverse=True)
        self.y, self.y_test = codes[: len(train)], codes[len(train) :]
        self.rows = {
            "words": _timed(_ours(["words"]), texts),
            "vectors": _timed(_ours(["words", "vectors"]), texts),
            "tf-idf": _timed(_tf_idf, texts),
            "singular": _timed(_singular, texts),
        }

    def drawn(self, size: int, seed: int) -> np.ndarray:
        """`y` with -1 for all documents but `size` of each class."""
        rng = np.random.default_rng(seed)
        marked = np.full(len(self.y), -1)
        for c in range(len(self.classes)):
            own = rng.permutation(np.flatnonzero(self.y == c))
            kept = own[: min(size, max(len(own) - 1, 1))]
            marked[kept] = c
        return marked


def _timed(make: Callable[..., Any], texts: list[list[str]]) -> tuple[Any, Any, float]:
    start = time.process_time()
    pool, test = make(*texts)
    return pool, test, time.process_time() - start


def _ours(blocks: list[str]) -> Callable[..., Any]:
    def make(pool: list[str], test: list[str]) -> tuple[Any, Any]:
        vectorizer = Vectorizer(blocks=blocks)
        return vectorizer.fit_transform(pool), vectorizer.transform(test)

    return make


def _tf_idf(pool: list[str], test: list[str]) -> tuple[Any, Any]:
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    return vectorizer.fit_transform(pool), vectorizer.transform(test)


def _singular(pool: list[str], test: list[str]) -> tuple[Any, Any]:
    rows = _tf_idf(pool, test)
    svd = TruncatedSVD(100, random_state=0)
    return normalize(svd.fit_transform(rows[0])), normalize(svd.transform(rows[1]))


def ways() -> dict[str, tuple[str, Callable[[Any, Any], Any]]]:
    """Of every way of learning its representation, and what fits a model to rows and marked labels."""

    def supervised(learner: Any) -> Callable[[Any, Any], Any]:
        return lambda X, marked: learner().fit(X[marked >= 0], marked[marked >= 0])

    found: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {}
    for rows in ("words", "vectors"):
        found[f"inductive, {rows}"] = (rows, supervised(lambda: LinearSVM(20.0)))
        found[f"transductive, {rows}"] = (
            rows,
            lambda X, marked: TransductiveSVM(unlabeled=-1, on_alarm="ignore").fit(X, marked),
        )
        found[f"self-training, {rows}"] = (rows, lambda X, marked: SelfTraining(unlabeled=-1).fit(X, marked))
    found["LogisticRegression"] = ("tf-idf", supervised(lambda: LogisticRegression(C=10, max_iter=1000)))
    found["SelfTrainingClassifier"] = (
        "tf-idf",
        lambda X, marked: SelfTrainingClassifier(LogisticRegression(C=10, max_iter=1000)).fit(X, marked),
    )
    found["LabelSpreading"] = (
        "singular",
        lambda X, marked: LabelSpreading(kernel="knn", n_neighbors=7).fit(X, marked),
    )
    return found


def _measured(task: Task, way: str, marked: np.ndarray) -> tuple[float, float, float]:
    """Right in the pool and in the test documents, in percent, and seconds."""
    representation, fit = ways()[way]
    pool, test, seconds = task.rows[representation]
    start = time.process_time()
    model = fit(pool, marked)
    hidden = marked < 0
    # Of SelfTrainingClassifier, documents that it never was sure of have no label there.
    labels = None if isinstance(model, SelfTrainingClassifier) else getattr(model, "transduction_", None)
    labels = np.asarray(model.predict(pool[hidden]) if labels is None else np.asarray(labels)[hidden])
    seconds += time.process_time() - start
    return (
        100 * float((labels == task.y[hidden]).mean()),
        100 * float((np.asarray(model.predict(test)) == task.y_test).mean()),
        seconds,
    )


def rows(tasks: list[str], sizes: list[int], draws: int, as_json: bool) -> Iterator[Row]:
    peers = ("LogisticRegression", "SelfTrainingClassifier", "LabelSpreading")
    for name in tasks:
        task = Task(name)
        for size in sizes:
            marks = [task.drawn(size, seed) for seed in range(draws)]
            # (draws, 3) of each way: pool, test, seconds.
            found = {way: np.array([_measured(task, way, marked) for marked in marks]) for way in ways()}
            if not as_json:
                for way, figures in found.items():
                    pool, test, seconds = figures.mean(axis=0)
                    error = _standard_error(figures[:, 0])
                    print(f"  {way:24s} pool {pool:5.1f} +- {error:.1f}  test {test:5.1f}  {seconds:6.1f} s")
            best = max(peers, key=lambda way: found[way][:, 0].mean())
            difference = found[best][:, 0] - found[DEFAULT][:, 0]
            allowed = 2 * _standard_error(difference)
            seconds = found[DEFAULT][:, 2]
            figures = {
                way: {
                    "pool": part[0],
                    "test": part[1],
                    "seconds": part[2],
                    "error": _standard_error(all_[:, 0]),
                }
                for way, all_ in found.items()
                for part in [all_.mean(axis=0).round(3).tolist()]
            }
            quality: dict[str, Any] = {
                "ours": float(found[DEFAULT][:, 0].mean()),
                "theirs": float(found[best][:, 0].mean()),
            }
            if as_json:
                quality["ways"] = json.dumps(figures)
            yield Row(
                f"{name}, {size} labels a class",
                best,
                float(np.median(seconds)),
                float(np.median(found[best][:, 2])),
                [
                    Check("points below", float(difference.mean()), max(allowed, 0.0)),
                    Check("CPU seconds", float(np.median(seconds)), SECONDS),
                ],
                quality,
            )


def choices(tasks: list[str], draws: int, as_json: bool) -> None:
    """One line per collection: means and standard errors in percent."""
    for name in tasks:
        task = Task(name)
        figures: dict[str, list[float]] = {}
        for seed in range(draws):
            for what, value in _choices(task, seed).items():
                figures.setdefault(what, []).append(value)
        means = {
            what: (float(np.mean(all_)), _standard_error(np.array(all_))) for what, all_ in figures.items()
        }
        shown = ", ".join(f"{what} {mean:.1f} +- {error:.1f}" for what, (mean, error) in means.items())
        print(json.dumps({"name": name, "quality": means}) if as_json else f"{name}: {shown}", flush=True)


def _choices(task: Task, seed: int) -> dict[str, float]:
    X, marked = task.rows["vectors"][0], task.drawn(8, seed)
    hidden = np.flatnonzero(marked < 0)
    true = np.bincount(task.y[hidden], minlength=len(task.classes)) / len(hidden)
    wrong = np.where(true == true.max(), true / 2, true) if (true == true.max()).sum() == 1 else true.copy()
    if np.array_equal(wrong, true):
        wrong[0] /= 2
    wrong /= wrong.sum()

    def fit(marks: np.ndarray, shares: np.ndarray | None = None) -> Any:
        given = None if shares is None else float(shares[1]) if len(shares) == 2 else shares.tolist()
        return TransductiveSVM(unlabeled=-1, positives=given, alarm_level=0).fit(X, marks)

    def right(model: Any) -> float:
        return 100 * float((np.asarray(model.transduction_) == task.y)[hidden].mean())

    found = {
        "estimated shares": right(fit(marked)),
        "true shares": right(fit(marked, true)),
        "half for the largest": right(fit(marked, wrong)),
        "moved": 100 * float(np.abs(wrong - true).sum() / 2),
    }
    batch = 8 * len(task.classes) // 4
    for how in ("random", "next"):
        marks = marked.copy()
        for step in range(4):
            rest = np.flatnonzero(marks < 0)
            chosen = at_random(len(rest), random_state=100 * seed + step)
            if how == "next":
                model = fit(marks)
                chosen = uncertainty(model.scores_[rest], model.label_space_.kind)
            picked = rest[next_to_label(chosen, batch, X[rest] if how == "next" else None, random_state=seed)]
            marks[picked] = task.y[picked]
        found[f"{how} labels"] = right(fit(marks))
    return found


def _standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("inf")


def main() -> int:
    parser = arguments(__doc__, repeats=1)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS, metavar="NAME")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument("--draws", type=int, default=10, metavar="N", help="draws of labeled documents")
    parser.add_argument("--choices", action="store_true", help="shares given, and which labels to ask for")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.choices:
        choices(options.tasks, options.draws, options.json)
        return 0
    return report(rows(options.tasks, options.sizes, options.draws, options.json), options.json)


if __name__ == "__main__":
    sys.exit(main())
