"""Small models: LinearSVM(penalty="l1") against penalty="l2", and its solver against LIBLINEAR's.

Quality: on each collection, C of either penalty is chosen by three-fold cross-validation on the training
documents, among values a factor of about 3 apart: by micro-F1 for label sets, otherwise by accuracy. The row
shows the figures on test documents, what share of the terms has a weight for any label, what share of all
weights is not zero, and the bytes of the saved weights and of the whole model file, whose vocabulary both
penalties need. Times are those of one training with the chosen C. The check is on points lost: of micro-PRBEP
for label sets, otherwise of accuracy.

Speed: all labels, objectives recomputed here in float64. The peer is scikit-learn's LinearSVC(penalty="l1",
dual=False) in a loop over the labels, at the loosest tolerance at which the sum of its objectives is within
0.1 % of the best that ours reaches; ours stops at its default tolerance, a certified duality gap. CPU time of
one thread.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from _compare import Check, Row, arguments, in_turns, report
from widemargin import LinearSVM, TextClassifier, Vectorizer, load_corpus
from widemargin.labels import Labels
from widemargin.measure.break_even import micro_prbep

THREADS = 2
FOLDS = 3
COSTS = {"l1": (0.3, 1.0, 3.0, 10.0), "l2": (0.1, 0.3, 1.0, 3.0)}
POINTS_LOST = 1.0
CORPORA = {
    "reuters": ("Reuters-90", "reuters21578"),
    "newsgroups": ("20 Newsgroups", "20newsgroups"),
    "ohsumed": ("Ohsumed", "ohsumed"),
    "imdb": ("IMDB", "imdb"),
    "clinc": ("CLINC150", "clinc150"),
    "sms": ("SMS", "sms-spam"),
}
SPEED_COSTS = (1.0, 10.0)
PEER_TOLERANCES = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)
WITHIN, AIM = 1e-3, 8e-4


def load(name: str) -> tuple[list[str], list[Any], list[str], list[Any]]:
    """Texts and labels of training and of test documents; every third is for testing if there is no split."""
    corpus = load_corpus(name)
    texts, labels = list(corpus.train.texts), list(corpus.train.labels)
    if corpus.test is None or not len(corpus.test.texts):
        out = np.arange(len(texts)) % 3 == 2
        parts = [[texts[k] for k in np.flatnonzero(some)] for some in (~out, out)]
        found = [[labels[k] for k in np.flatnonzero(some)] for some in (~out, out)]
    else:
        parts, found = [texts, list(corpus.test.texts)], [labels, list(corpus.test.labels)]
    if name == "reuters21578":
        kept = set(corpus.categories_of("90"))
        found = [[sorted(kept.intersection(one)) for one in side] for side in found]
    elif name != "ohsumed":
        found = [[one[0] if isinstance(one, list | tuple) else one for one in side] for side in found]
    return parts[0], found[0], parts[1], found[1]


def f1(truth: Any, decided: Any) -> float:
    both = np.count_nonzero((truth > 0) & (decided > 0))
    return 200 * both / max(np.count_nonzero(truth > 0) + np.count_nonzero(decided > 0), 1)


def quality(truth: Labels, scores: Any) -> dict[str, float]:
    """Points of 100: accuracy of exclusive classes, otherwise micro-F1 at 0 and micro-PRBEP."""
    signs = truth.signs
    if truth.space.kind == "multilabel":
        return {"micro_f1": f1(signs, scores), "micro_prbep": 100 * float(micro_prbep(signs, scores))}
    if truth.space.kind == "binary":
        right = (scores.ravel() > 0) == (signs[:, 0] > 0)
    else:
        right = signs[np.arange(len(signs)), scores.argmax(axis=1)] > 0
    return {"accuracy": 100 * float(right.mean())}


def choose(X: Any, labels: Labels, y: list[Any], penalty: str) -> float:
    """The C that is best on held-out folds of the training documents."""
    fold = np.random.default_rng(0).permutation(X.shape[0]) % FOLDS
    found = dict.fromkeys(COSTS[penalty], 0.0)
    for out in range(FOLDS):
        inside, held = np.flatnonzero(fold != out), np.flatnonzero(fold == out)
        given = [y[k] for k in inside]
        for C in found:
            model = LinearSVM(C, penalty=penalty, tol=0.01, n_jobs=THREADS)
            # A fold may lack a rare label; all folds then have the columns of all labels.
            signs = labels.signs[inside]
            model.fit(X[inside], (signs > 0).astype(int) if labels.space.kind == "multilabel" else given)
            scores = model.decision_function(X[held]).reshape(len(held), -1)
            truth = Labels(labels.space, np.asfortranarray(labels.signs[held]))
            found[C] += next(iter(quality(truth, scores).values())) / FOLDS
    return max(found, key=lambda C: found[C])


def small(task: str) -> Row:
    title, name = CORPORA[task]
    texts, y, new_texts, new_y = load(name)
    vectorizer = Vectorizer(n_jobs=THREADS)
    X, new = vectorizer.fit_transform(texts), vectorizer.transform(new_texts)
    labels = Labels.of(y)
    truth = Labels(labels.space, np.asfortranarray(labels.space.encode(new_y, unknown="ignore")))
    figures: dict[str, Any] = {}
    seconds = {}
    for penalty in ("l1", "l2"):
        C = choose(X, labels, y, penalty)
        start = time.perf_counter()
        model = LinearSVM(C, penalty=penalty, n_jobs=THREADS).fit(X, y)
        seconds[penalty] = time.perf_counter() - start
        scores = model.decision_function(new).reshape(len(new_texts), -1)
        used = int(np.count_nonzero((model.coef_ != 0).any(axis=0)))
        figures |= {
            f"{penalty}_C": C,
            f"{penalty}_terms": used,
            f"{penalty}_weights": int(np.count_nonzero(model.coef_)),
            f"{penalty}_bytes_of_weights": sum(each.nbytes for each in model.get_state()[1].values()),
            f"{penalty}_bytes": saved(texts, y, C, penalty),
            **{f"{penalty}_{key}": value for key, value in quality(truth, scores).items()},
        }
    figures["share_of_terms"] = figures["l1_terms"] / X.shape[1]
    figures["share_of_weights"] = figures["l1_weights"] / figures["l2_weights"]
    main = "micro_prbep" if labels.space.kind == "multilabel" else "accuracy"
    lost = figures[f"l2_{main}"] - figures[f"l1_{main}"]
    return Row(
        f"small models, {title}",
        'penalty="l2"',
        seconds["l1"],
        seconds["l2"],
        [Check(f"points of {main} lost", lost, POINTS_LOST)],
        figures,
    )


def saved(texts: list[str], y: list[Any], C: float, penalty: str) -> int:
    """The bytes of a saved classifier."""
    model = TextClassifier(Vectorizer(n_jobs=THREADS), LinearSVM(C, penalty=penalty), estimate=None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.wm"
        model.fit(texts, y).save(path)
        return path.stat().st_size


def objective(Z: Any, Y: Any, weights: Any, C: float) -> float:
    """The sum of all labels' primal objectives, in float64."""
    slacks = np.maximum(0.0, 1 - (2 * Y - 1) * (Z @ weights.T))
    return float(np.abs(weights).sum() + C * (slacks**2).sum())


def speed(task: str) -> Iterator[Row]:
    title, name = CORPORA[task]
    texts, y, _, _ = load(name)
    X = Vectorizer(n_jobs=THREADS).fit_transform(texts)
    Y = (Labels.of(y).signs > 0).astype(int)
    Z = sp.csr_matrix(sp.hstack([X.astype(np.float64), np.ones((X.shape[0], 1))]))
    for C in SPEED_COSTS:

        def ours(C: float = C, tol: float = 1e-3) -> Any:
            model = LinearSVM(C, penalty="l1", balance=0, tol=tol, n_jobs=1).fit(X, Y)
            return np.column_stack([model.coef_, model.intercept_])

        def peer(tol: float, C: float = C) -> Any:
            model = LinearSVC(
                penalty="l1", dual=False, C=C, tol=tol, fit_intercept=False, random_state=0, max_iter=10_000
            )
            return np.vstack([model.fit(Z, column).coef_[0] for column in Y.T])

        best = objective(Z, Y, ours(tol=1e-5), C)
        for tol in PEER_TOLERANCES:
            if objective(Z, Y, peer(tol), C) <= best * (1 + AIM):
                break
        one, other = in_turns(ours, lambda tol=tol: peer(tol), repeats=1, warm=False, clock=time.process_time)
        reached = [objective(Z, Y, found.result, C) / best - 1 for found in (one, other)]
        yield Row(
            f"speed, {title}, C = {C:g}",
            'LinearSVC(penalty="l1")',
            one.seconds,
            other.seconds,
            [
                Check("objective above the best, ours", reached[0], WITHIN),
                Check("objective above the best, peer", reached[1], WITHIN),
            ],
            {"peer_tol": tol, "labels": Y.shape[1]},
        )


def rows(tasks: list[str]) -> Iterator[Row]:
    for task in tasks:
        if task.startswith("speed-"):
            yield from speed(task.removeprefix("speed-"))
        else:
            yield small(task)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = arguments(__doc__, None, [*CORPORA, "speed-reuters", "speed-newsgroups"])
    options = parser.parse_args()
    sys.exit(report(rows(options.tasks), options.json))
