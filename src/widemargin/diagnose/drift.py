"""Whether test documents are like the training documents: words, labels, and how well they can be told apart.

Words and labels are compared by the number of documents that have them, with Fisher's exact test and Holm's
correction for all words together: of collections without a drift, at most one in a thousand has a word that
is called changed. How strong a drift is says a classifier that tells test from training documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import chi2, fisher_exact, mannwhitneyu

from widemargin.diagnose.parts import Part
from widemargin.estimate.cross_validation import out_of_fold
from widemargin.labels import Labels
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.weight.vectorizer import Vectorizer

Floats = NDArray[np.float64]
LEVEL = 0.001  # of every kind of finding, after the correction for many
_FOLDS = 5
_SHOWN = 50
_MOST = 20_000  # documents that a classifier tells apart


@dataclass(frozen=True)
class Change:
    """A word or a label that is on a different share of the documents.

    `p_value` is corrected for the number of words, or of labels.
    """

    name: Any
    train: float
    test: float
    p_value: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "train": round(self.train, 6),
            "test": round(self.test, 6),
            "p_value": float(f"{self.p_value:.3g}"),
        }


@dataclass(frozen=True)
class Drift:
    """How far the test documents differ from the training documents.

    Attributes
    ----------
    unknown, expected_unknown : share of the words of the test documents that no training document has, and
        what it would be for a new document like the training documents
    terms, n_terms : words that changed, the most certain first, and how many there are
    labels : labels that changed
    told_apart : how often a classifier ranks a test document above a training document: 0.5 means that they
        cannot be told apart, 1 that they can without error
    p_value : of `told_apart` being above 0.5 by chance
    """

    unknown: float
    expected_unknown: float
    terms: list[Change]
    n_terms: int
    labels: list[Change]
    told_apart: float
    p_value: float

    @property
    def found(self) -> bool:
        """Whether there is a drift beyond chance."""
        return bool(self.terms or self.labels or self.p_value < LEVEL)

    def to_dict(self) -> dict[str, Any]:
        return {
            "found": self.found,
            "unknown": round(self.unknown, 6),
            "expected_unknown": round(self.expected_unknown, 6),
            "terms": [term.to_dict() for term in self.terms],
            "n_terms": self.n_terms,
            "labels": [label.to_dict() for label in self.labels],
            "told_apart": round(self.told_apart, 4),
            "p_value": float(f"{self.p_value:.3g}"),
        }


def find_drift(train: Part, test: Part, *, n_jobs: int | None = None, random_state: int = 0) -> Drift:
    """Compare test documents with training documents.

    Examples
    --------
    >>> old = Part(list(range(40)), ["corn is up", "oil is down"] * 20, [("x",)] * 40)
    >>> new = Part(list(range(40)), ["corn has risen", "oil has fallen"] * 20, [("x",)] * 40)
    >>> drift = find_drift(old, new)
    >>> [change.name for change in drift.terms[:2]], drift.unknown > drift.expected_unknown
    (['has', 'is'], True)
    """
    vectorizer = Vectorizer(weighting=None, n_jobs=n_jobs)
    counts = vectorizer.fit_counts(train.texts + test.texts)
    matrix = counts.matrix
    n = len(train)
    ours, others = matrix[:n], matrix[n:]
    df_train, df_test = (np.bincount(part.indices, minlength=matrix.shape[1]) for part in (ours, others))
    unknown = others.data[df_train[others.indices] == 0].sum() / max(others.data.sum(), 1)
    # A word that one training document has alone is new to all others.
    expected = ours.data[df_train[ours.indices] == 1].sum() / max(ours.data.sum(), 1)
    terms, p = changed(df_train, n, df_test, len(test))
    name = vectorizer.vocabulary_.term
    changes = [
        Change(name(j), df_train[j] / n, df_test[j] / len(test), float(p_value))
        for j, p_value in zip(terms[:_SHOWN].tolist(), p, strict=False)
    ]
    X = vectorizer.reweighted("tfc").weighed(counts).matrix
    told_apart, p_value = _told_apart(X, n, n_jobs, random_state)
    return Drift(
        float(unknown),
        float(expected),
        changes,
        len(terms),
        _labels(train.label_sets, test.label_sets),
        told_apart,
        p_value,
    )


def changed(first: Any, n_first: int, second: Any, n_second: int) -> tuple[NDArray[np.intp], Floats]:
    """Which of many shares differ between two samples, the most certain first, with corrected p-values.

    Examples
    --------
    >>> places, p = changed(np.array([50, 90]), 100, np.array([52, 20]), 100)
    >>> places.tolist(), bool(p[0] < 1e-9)
    ([1], True)
    """
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    rate = (first + second) / (n_first + n_second)
    spread = np.sqrt(rate * (1 - rate) * (1 / n_first + 1 / n_second))
    apart = np.abs(first / n_first - second / n_second)
    score = np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)
    # The exact test is slow; it is for those that an approximation, far too generous in the tails, lets pass.
    screened = np.flatnonzero(chi2.sf(score**2, 1) < 0.05 * np.sqrt(LEVEL / max(len(first), 1)))
    p = np.array(
        [
            fisher_exact(np.array([[first[j], n_first - first[j]], [second[j], n_second - second[j]]]))[1]
            for j in screened
        ]
    )
    order = np.argsort(p, kind="stable")
    # Holm's correction counts all of them, also those that were not tested.
    raised = np.minimum(p[order] * (len(first) - np.arange(len(order))), 1.0)
    corrected = np.maximum.accumulate(raised) if len(raised) else raised
    kept = corrected < LEVEL
    return screened[order][kept], corrected[kept]


def _labels(train: Sequence[Any], test: Sequence[Any]) -> list[Change]:
    known = [labels for labels in test if labels is not None]
    if not known:
        return []
    names = sorted({label for labels in [*train, *known] for label in labels}, key=str)
    place = {label: j for j, label in enumerate(names)}
    first, second = np.zeros(len(names)), np.zeros(len(names))
    for counts, part in ((first, train), (second, known)):
        for labels in part:
            for label in labels:
                counts[place[label]] += 1
    places, p = changed(first, len(train), second, len(known))
    return [
        Change(names[j], first[j] / len(train), second[j] / len(known), float(p_value))
        for j, p_value in zip(places.tolist(), p, strict=True)
    ]


def _told_apart(X: sp.csr_array, n: int, n_jobs: int | None, seed: int) -> tuple[float, float]:
    """The area under the ROC curve of telling test from training documents, and its p-value."""
    generator = np.random.default_rng([seed, 2])
    share = min(1.0, _MOST / X.shape[0])
    train, test = (
        np.sort(generator.choice(np.arange(low, high), max(round(share * (high - low)), 1), replace=False))
        for low, high in ((0, n), (n, X.shape[0]))
    )
    if min(len(train), len(test)) < 2 * _FOLDS:
        return float("nan"), 1.0
    rows = np.concatenate([train, test])
    is_test = rows >= n
    learner = LinearSVM(tol=0.01, class_weight="balanced", n_jobs=n_jobs)
    held = out_of_fold(learner, X[rows], Labels.of(is_test), folds=_FOLDS, random_state=seed)
    scores = held.scores[:, 0]
    assert held.fold is not None
    # Within folds, since the scores of two rules do not compare.
    areas, weights, p_values = [], [], []
    for k in range(_FOLDS):
        inside = held.fold == k
        a, b = scores[inside & is_test], scores[inside & ~is_test]
        found = mannwhitneyu(a, b, alternative="greater")
        areas.append(found.statistic / (len(a) * len(b)))
        weights.append(len(a) * len(b))
        p_values.append(found.pvalue)
    # Folds share training documents: the smallest p-value, corrected, holds in any case.
    return float(np.average(areas, weights=weights)), float(min(1.0, _FOLDS * min(p_values)))
