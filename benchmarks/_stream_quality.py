"""One pass over a stream: AROW beside Vowpal Wabbit and SGDClassifier, on the same documents in one order.

Every document is predicted before it is learned; afterwards the test documents are predicted. Terms are
hashed to 2^18 columns and weighted by ltc with the document frequencies so far. The peers get the same
matrices and know all labels from the start (SGDClassifier learns in batches of 100); ours reads texts and
meets labels as they come. Every side has the setting of its grid that made the fewest errors before
learning. Ours is also shown with its defaults, and with bigrams.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier

from _compare import Check, Row, peer_package
from widemargin import Arow, TextClassifier, Vectorizer, load_corpus
from widemargin.labels import LabelSpace
from widemargin.measure.break_even import micro_prbep

HASHED = 2**18
BATCH = 100
SGD_GRID = tuple(itertools.product(("hinge", "log_loss", "modified_huber"), (1e-4, 1e-5, 1e-6)))
OUR_GRID = tuple(itertools.product((0.3, 0.5, 1.0), (0.25, 0.5, 1.0)))
VW_GRID = tuple(itertools.product(("hinge", "logistic"), (0.5, 2.0, 8.0), (0.0, 0.5)))
TASKS = {
    "newsgroups": ("20newsgroups", None),
    "clinc150": ("clinc150", None),
    "sms": ("sms-spam", "random"),
    "reuters": ("reuters21578", "modapte"),
}


@dataclass
class Task:
    """Shuffled training documents and test documents, with signs of all labels."""

    name: str
    texts: list[str]
    labels: list[Any]
    test: list[str]
    signs: NDArray[np.int8]
    test_signs: NDArray[np.int8]
    space: LabelSpace

    @property
    def several(self) -> bool:
        return self.space.kind == "multilabel"


@dataclass
class Result:
    """The share of documents wrong before learning, the scores of test documents, and the seconds."""

    wrong: float
    scores: NDArray[np.float64]
    seconds: float
    setting: str = "its defaults"


def load(name: str) -> Task:
    corpus = load_corpus(*(part for part in TASKS[name] if part is not None))
    several = name == "reuters"
    known = (
        corpus.categories_of("90") if several else sorted({one for own in corpus.train.labels for one in own})
    )
    space = LabelSpace("multilabel", np.array(known))
    order = np.random.default_rng(0).permutation(len(corpus.train.texts))
    texts = [corpus.train.texts[i] for i in order]
    sets = [tuple(one for one in corpus.train.labels[i] if one in set(known)) for i in order]
    signs = space.encode(sets)
    test_signs = space.encode(corpus.test.labels, unknown="ignore")
    kind = LabelSpace("multilabel" if several else "multiclass", np.array(known))
    labels: list[Any] = list(sets) if several else [own[0] for own in sets]
    return Task(name, texts, labels, corpus.test.texts, signs, test_signs, kind)


def ours(task: Task, r: float = 0.5, rivals: float = 0.5, blocks: str | None = None) -> Result:
    start = time.perf_counter()
    model = TextClassifier(Vectorizer(n_hashed=HASHED, blocks=blocks), Arow(r, rivals=rivals), estimate=None)
    for first in range(0, len(task.texts), 1000):
        part = slice(first, first + 1000)
        model.partial_fit(task.texts[part], task.labels[part])
    scores = model.decision_function(task.test)
    seconds = time.perf_counter() - start
    places = [task.space.classes.tolist().index(label) for label in model.classes_.tolist()]
    every = np.full(task.test_signs.shape, -1e9)
    every[:, places] = scores
    learner = model.learner_
    return Result(
        learner.documents_wrong_ / learner.documents_seen_, every, seconds, f"r={r:g}, rivals={rivals:g}"
    )


def matrices(task: Task) -> tuple[sp.csr_array, sp.csr_array]:
    vectorizer = Vectorizer(n_hashed=HASHED)
    X = vectorizer.partial_fit_transform(task.texts)
    used = np.unique(X.indices)  # columns of zeros only cost the peers time
    return X[:, used], vectorizer.transform(task.test)[:, used]


def wrong(task: Task, scores: NDArray[np.float64], signs: NDArray[np.int8]) -> int:
    if task.several:
        return int(((scores > 0) != (signs > 0)).any(axis=1).sum())
    return int((signs[np.arange(len(signs)), scores.argmax(axis=1)] < 0).sum())


def sgd(task: Task, X: Any, test: Any, loss: str, alpha: float) -> Result:
    start = time.perf_counter()
    Y, errors = (task.signs > 0).astype(int), 0
    columns = Y.T if task.several else Y.argmax(axis=1)[None, :]
    classes = np.arange(2 if task.several else len(task.space.classes))
    models = [SGDClassifier(loss=loss, alpha=alpha, random_state=0) for _ in columns]

    def score(rows: Any) -> NDArray[np.float64]:
        if task.several:
            return np.column_stack([model.decision_function(rows) for model in models])
        found = models[0].decision_function(rows)
        return np.column_stack([-found, found]) if found.ndim == 1 else found

    for first in range(0, X.shape[0], BATCH):
        part = slice(first, first + BATCH)
        if first:  # what it cannot predict yet does not count
            errors += wrong(task, score(X[part]), task.signs[part])
        for model, y in zip(models, columns, strict=True):
            model.partial_fit(X[part], y[part], classes)
    return Result(
        errors / (X.shape[0] - BATCH), score(test), time.perf_counter() - start, f"{loss}, alpha={alpha:g}"
    )


def vowpal_wabbit(task: Task, X: Any, test: Any, loss: str, rate: float, power: float) -> Result:
    pyvw = peer_package("vowpalwabbit").pyvw
    n_labels = len(task.space.classes)
    scheme = "multilabel_oaa" if task.several else "oaa"
    options = f"--{scheme} {n_labels} --loss_function {loss} -l {rate} --power_t {power} -b 18 --quiet"
    start = time.perf_counter()
    model, errors = pyvw.Workspace(options), 0
    for row, signs in zip(_lines(X), task.signs, strict=True):
        own = np.flatnonzero(signs > 0)
        label = ",".join(map(str, own)) if task.several else str(own[0] + 1)
        example = model.parse(f"{label} |{row}")
        model.learn(example)
        found = example.get_prediction()
        errors += set(found) != set(own.tolist()) if task.several else found != own[0] + 1
        model.finish_example(example)
    scores = np.full(task.test_signs.shape, -1.0)
    for place, row in enumerate(_lines(test)):
        found = model.predict(f"|{row}")
        scores[place, found if task.several else found - 1] = 1.0
    model.finish()
    return Result(
        errors / X.shape[0], scores, time.perf_counter() - start, f"{loss}, -l {rate:g}, --power_t {power:g}"
    )


def _lines(X: Any) -> Iterator[str]:
    """The rows as Vowpal Wabbit reads them."""
    X = sp.csr_array(X)
    for first, last in itertools.pairwise(X.indptr.tolist()):
        pairs = zip(X.indices[first:last].tolist(), X.data[first:last].tolist(), strict=True)
        yield "".join(f" {column}:{value:.6g}" for column, value in pairs)


def figures(task: Task, result: Result, *, ranks: bool = True) -> dict[str, float]:
    """What the test documents give, in percent."""
    if not task.several:
        return {"accuracy": 100 * (1 - wrong(task, result.scores, task.test_signs) / len(task.test))}
    truth, said = task.test_signs > 0, result.scores > 0
    found = {"F1": 200 * (truth & said).sum() / (truth.sum() + said.sum())}
    if ranks:
        found["PRBEP"] = 100 * micro_prbep(truth, result.scores)
    return found


def rows(names: list[str]) -> Iterator[Row]:
    for name in names:
        task = load(name)
        usual, with_bigrams = ours(task), ours(task, blocks="words,bigrams:0.5")
        mine = min((ours(task, *setting) for setting in OUR_GRID), key=lambda result: result.wrong)
        X, test = matrices(task)
        contests: dict[str, tuple[Callable[..., Result], Any]] = {
            "SGDClassifier": (sgd, SGD_GRID),
            "Vowpal Wabbit": (vowpal_wabbit, VW_GRID),
        }
        for peer, (learn, grid) in contests.items():
            tried = [learn(task, X, test, *setting) for setting in grid]
            best = min(tried, key=lambda result: result.wrong)
            ranks = peer != "Vowpal Wabbit"  # its label sets have no scores
            here, there = figures(task, mine, ranks=ranks), figures(task, best, ranks=ranks)
            checks = [Check(f"points of {key} below the peer's", there[key] - here[key], 0.0) for key in here]
            more = 100 * (mine.wrong - best.wrong)
            checks.append(Check("points more wrong before learning", more, 0.0))
            quality = {f"ours, {key}": round(value, 2) for key, value in here.items()}
            quality |= {
                f"with bigrams, {k}": round(v, 2) for k, v in figures(task, with_bigrams, ranks=ranks).items()
            }
            own = figures(task, usual, ranks=ranks)
            quality |= {f"with defaults, {key}": round(value, 2) for key, value in own.items()}
            quality |= {f"peer's {key}": round(value, 2) for key, value in there.items()}
            quality |= {
                "ours, wrong before learning": f"{100 * mine.wrong:.2f} %",
                "with defaults": f"{100 * usual.wrong:.2f} %",
                "with bigrams": f"{100 * with_bigrams.wrong:.2f} %",
                "our setting": mine.setting,
                "peer's": f"{100 * best.wrong:.2f} %",
                "peer's setting": best.setting,
            }
            yield Row(f"one pass, {name}", peer, mine.seconds, best.seconds, checks, quality)
