"""Scores of all terms for all labels: widemargin against scikit-learn, on Reuters-21578 and 20 Newsgroups.

Chi-square against `chi2` (for all labels at once) and information gain against `mutual_info_classif` with
discrete features. The latter is computed term by term: on Reuters it is timed on some terms of one label, and
extrapolated to all.

Our scores may differ from a dense reference by at most 1e-9 of the largest score, and the best 1,000 terms
must be the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_selection import chi2, mutual_info_classif

from _compare import Check, Row, arguments, in_turns, report
from widemargin import Vectorizer, load_corpus
from widemargin._arrays import canonical_csr
from widemargin.features.scores import chi_square, count_terms, information_gain
from widemargin.labels import Labels

# Terms and documents that mutual_info_classif is timed on; it needs about a millisecond a term.
FEW_TERMS = 200
SAME_SCORES = 1e-9


def load(name: str) -> tuple[sp.csr_array, NDArray[np.int8]]:
    """Which terms each training document has, and its labels as signs."""
    train = load_corpus(name).train
    X = Vectorizer(weighting="bxx").fit_transform(train.texts)
    labels = train.labels if name == "reuters21578" else [labels[0] for labels in train.labels]
    return X, Labels.of(labels).signs


def dense_tables(
    X: sp.csr_array, signs: NDArray[np.int8]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
    """Documents with both, with the term and with the label, by a computation independent of ours."""
    together = np.asarray((X.T @ (signs > 0).astype(np.float64)).T)
    return (
        together,
        np.asarray(X.sum(axis=0)).ravel(),
        (signs > 0).sum(axis=0).astype(float),
        float(len(signs)),
    )


def cells(
    tp: NDArray[np.float64], df: NDArray[np.float64], P: NDArray[np.float64], n: float
) -> list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]:
    """The four cells of every table, and the totals of their rows and columns."""
    missing = P[:, None] - tp
    return [(tp, df, P), (df - tp, df, n - P), (missing, n - df, P), (n - df - missing, n - df, n - P)]


def dense_chi2(X: sp.csr_array, signs: NDArray[np.int8]) -> NDArray[np.float64]:
    """The sum over the four cells of (observed - expected)^2 / expected."""
    tp, df, P, n = dense_tables(X, signs)
    total = np.zeros_like(tp)
    for observed, row, column in cells(tp, df, P, n):
        expected = row * column[:, None] / n
        total += np.divide((observed - expected) ** 2, expected, out=np.zeros_like(tp), where=expected > 0)
    return total


def dense_gain(X: sp.csr_array, signs: NDArray[np.int8]) -> NDArray[np.float64]:
    """The sum over the four cells of p log p / (p q)."""
    tp, df, P, n = dense_tables(X, signs)
    total = np.zeros_like(tp)
    for observed, row, column in cells(tp, df, P, n):
        expected = row * column[:, None] / n
        share = np.divide(observed, expected, out=np.ones_like(tp), where=(expected > 0) & (observed > 0))
        total += observed / n * np.log(share)
    return total


def agreement(ours: NDArray[np.float64], reference: NDArray[np.float64]) -> list[Check]:
    difference = np.abs(ours - reference).max() / np.abs(reference).max()
    best = [
        set(np.argsort(-scores.max(axis=0), kind="stable")[:1000].tolist()) for scores in (ours, reference)
    ]
    return [
        Check("differs from the reference", float(difference), SAME_SCORES),
        Check("other terms among the best 1,000", len(best[0] - best[1]), 0),
    ]


def rows(tasks: list[str], repeats: int) -> Iterator[Row]:
    for name in tasks:
        X, signs = load(name)
        csr = canonical_csr(X)
        indicator = (signs > 0).astype(int)
        y = indicator if name == "reuters21578" else signs.argmax(axis=1)
        chi, peer = in_turns(
            lambda csr=csr, signs=signs: chi_square(count_terms(csr, signs)),
            partial(chi2, X, y),
            repeats=repeats,
        )
        checks = agreement(chi.result, dense_chi2(X, signs))
        yield Row(f"{name} chi-square", "sklearn chi2", chi.seconds, peer.seconds, checks)
        gain, peer = in_turns(
            lambda csr=csr, signs=signs: information_gain(count_terms(csr, signs)),
            partial(mutual_info_classif, X[:, :FEW_TERMS], indicator[:, 0], discrete_features=True),
            repeats=min(repeats, 3),
        )
        peer_s = peer.seconds * X.shape[1] / FEW_TERMS * signs.shape[1]
        checks = agreement(gain.result, dense_gain(X, signs))
        quality = {"peer timed on": f"{FEW_TERMS} terms of one label"}
        yield Row(f"{name} information gain", "mutual_info_classif", gain.seconds, peer_s, checks, quality)


def main() -> int:
    options = arguments(__doc__, repeats=5, tasks=("reuters21578", "20newsgroups")).parse_args()
    return report(rows(options.tasks, options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
