"""Regularized least squares on 20 Newsgroups: widemargin against scikit-learn's RidgeClassifier.

All 20 classes at lambda = 1 with a threshold that costs nothing, `ltc` weights, two threads; both sides are
iterative and stop at about the same accuracy: ours has a tolerance at which its objective, recomputed here,
is still no higher. Then 20 values of lambda against the one that is hardest, and exact leave-one-out against
one factorisation of the same matrix (on some of the documents, to fit into memory and minutes).

    python benchmarks/least_squares.py [--json] [--repeats 3]

`quality` is the objective of both over that of a solution to 1e-9, less 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.linear_model import RidgeClassifier

from _compare import Row, alternate, report, wants_json
from widemargin import RegularizedLeastSquares, Vectorizer, load_corpus
from widemargin.labels import learn_labels

LAMBDA = 1.0
PATH = np.geomspace(0.1, 10, 20)
PEER_TOLERANCE = 1e-4
TOLERANCE = 2e-4
LEFT_OUT_DOCUMENTS = 3000


def objective(X: Any, signs: Any, model: Any, regularization: float) -> float:
    errors = signs - X @ model.coef_.T - model.intercept_
    return float(np.square(errors).sum() + regularization * np.square(model.coef_).sum())


def ours(**parameters: Any) -> RegularizedLeastSquares:
    return RegularizedLeastSquares(LAMBDA, bias="unregularized", n_jobs=2, **parameters)


def rows(repeats: int) -> Iterator[Row]:
    train = load_corpus("20newsgroups").train
    X = Vectorizer(weighting="ltc").fit_transform(train.texts)
    y = [labels[0] for labels in train.labels]
    signs = learn_labels(y)[1].astype(float)
    peer = RidgeClassifier(alpha=LAMBDA, tol=PEER_TOLERANCE, solver="sparse_cg")
    best = objective(X, signs, ours(tol=1e-9, solver="iterative").fit(X, y), LAMBDA)
    fast = ours(tol=TOLERANCE, solver="iterative")
    quality = {
        "ours above best": objective(X, signs, fast.fit(X, y), LAMBDA) / best - 1,
        "peer above best": objective(X, signs, peer.fit(X, y), LAMBDA) / best - 1,
        "passes": fast.n_iter_,
    }
    yield Row(
        "20 classes",
        "RidgeClassifier",
        *alternate(lambda: fast.fit(X, y), lambda: peer.fit(X, y), repeats),
        quality,
    )
    hardest = RegularizedLeastSquares(
        float(PATH[0]), bias="unregularized", n_jobs=2, tol=TOLERANCE, solver="iterative"
    )
    seconds = alternate(lambda: fast.path(X, y, PATH), lambda: hardest.fit(X, y), repeats)
    yield Row("20 values of lambda", "one value, the hardest", *seconds, {"bar": "at least 0.5x"})
    some = np.random.default_rng(0).permutation(X.shape[0])[:LEFT_OUT_DOCUMENTS]
    part, labels = X[some], [y[i] for i in some]
    learner = ours(solver="dual").fit(part, labels)

    def factorise() -> None:
        K = (part @ part.T).toarray().astype(np.float64)
        K[np.diag_indices_from(K)] += LAMBDA
        scipy.linalg.cho_solve(scipy.linalg.cho_factor(K, overwrite_a=True), signs[some])

    seconds = alternate(lambda: learner.left_out_scores(part, labels), factorise, repeats)
    yield Row(
        "leave-one-out", "SciPy: one factorisation and solve", *seconds, {"documents": LEFT_OUT_DOCUMENTS}
    )


if __name__ == "__main__":
    times = int(sys.argv[sys.argv.index("--repeats") + 1]) if "--repeats" in sys.argv else 3
    report(rows(times), wants_json())
