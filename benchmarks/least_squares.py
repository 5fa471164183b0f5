"""Regularized least squares on 20 Newsgroups: widemargin against scikit-learn's RidgeClassifier.

All 20 classes at lambda = 1 with a threshold that costs nothing, `ltc` weights, two threads; both sides are
iterative and stop at about the same accuracy: ours has a tolerance at which its objective, recomputed here,
is still no higher. Then 20 values of lambda against the one that is hardest, and exact leave-one-out against
one factorization of the same matrix (on some of the documents, to fit into memory and minutes).

Our objective may be at most 0.01 % above RidgeClassifier's, that of the smallest lambda of the path at most
0.01 % above that of its own training, and leave-one-out has to give the scores of real retraining without
each of a few documents.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.linear_model import RidgeClassifier

from _compare import Check, Row, arguments, in_turns, report
from widemargin import RegularizedLeastSquares, Vectorizer, load_corpus
from widemargin.labels import Labels

LAMBDA = 1.0
PATH = np.geomspace(0.1, 10, 20)
PEER_TOLERANCE = 1e-4
TOLERANCE = 2e-4
LEFT_OUT_DOCUMENTS = 3000
RETRAINED = 5  # documents that are really left out
ALLOWED_EXCESS = 1e-4
SAME_SCORES = 1e-6


def objective(X: Any, signs: Any, model: Any, regularization: float) -> float:
    errors = signs - X @ model.coef_.T - model.intercept_
    return float(np.square(errors).sum() + regularization * np.square(model.coef_).sum())


def ours(**parameters: Any) -> RegularizedLeastSquares:
    return RegularizedLeastSquares(LAMBDA, bias="unregularized", n_jobs=2, **parameters)


def rows(repeats: int) -> Iterator[Row]:
    train = load_corpus("20newsgroups").train
    X = Vectorizer(weighting="ltc").fit_transform(train.texts)
    y = [labels[0] for labels in train.labels]
    signs = Labels.of(y).signs.astype(float)
    peer = RidgeClassifier(alpha=LAMBDA, tol=PEER_TOLERANCE, solver="sparse_cg")
    fast = ours(tol=TOLERANCE, solver="iterative")
    mine, other = in_turns(partial(fast.fit, X, y), partial(peer.fit, X, y), repeats=repeats)
    found, expected = (objective(X, signs, run.result, LAMBDA) for run in (mine, other))
    best = objective(X, signs, ours(tol=1e-9, solver="iterative").fit(X, y), LAMBDA)
    yield Row(
        "20 classes",
        "RidgeClassifier",
        mine.seconds,
        other.seconds,
        [Check("objective above the peer's", found / expected - 1, ALLOWED_EXCESS)],
        {"ours above best": found / best - 1, "peer above best": expected / best - 1, "passes": fast.n_iter_},
    )
    hardest = RegularizedLeastSquares(
        float(PATH[0]), bias="unregularized", n_jobs=2, tol=TOLERANCE, solver="iterative"
    )
    mine, other = in_turns(partial(fast.path, X, y, PATH), partial(hardest.fit, X, y), repeats=repeats)
    found, expected = (objective(X, signs, model, PATH[0]) for model in (mine.result[0], other.result))
    yield Row(
        "20 values of lambda",
        "one value, the hardest",
        mine.seconds,
        other.seconds,
        [Check("objective above that of one value", found / expected - 1, ALLOWED_EXCESS)],
        {"bar": "at least 0.5x"},
    )
    yield left_out(X, y, signs, repeats)


def left_out(X: Any, y: list[Any], signs: Any, repeats: int) -> Row:
    some = np.random.default_rng(0).permutation(X.shape[0])[:LEFT_OUT_DOCUMENTS]
    part, labels = X[some], [y[i] for i in some]
    learner = ours(solver="dual").fit(part, labels)

    def factorize() -> None:
        K = (part @ part.T).toarray().astype(np.float64)
        K[np.diag_indices_from(K)] += LAMBDA
        scipy.linalg.cho_solve(scipy.linalg.cho_factor(K, overwrite_a=True), signs[some])

    mine, other = in_turns(partial(learner.left_out_scores, part, labels), factorize, repeats=repeats)
    apart = 0.0
    for t in range(RETRAINED):
        rest = np.delete(np.arange(LEFT_OUT_DOCUMENTS), t)
        without = ours(solver="dual").fit(part[rest], [labels[i] for i in rest])
        apart = max(apart, float(np.abs(without.decision_function(part[[t]]) - mine.result.scores[t]).max()))
    return Row(
        "leave-one-out",
        "SciPy: one factorization and solve",
        mine.seconds,
        other.seconds,
        [Check("differs from retraining", apart, SAME_SCORES)],
        {"documents": LEFT_OUT_DOCUMENTS, "retrained": RETRAINED},
    )


def main() -> int:
    options = arguments(__doc__, repeats=3).parse_args()
    return report(rows(options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
