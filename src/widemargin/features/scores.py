"""Feature selection scores: how informative a term is about a label.

Of n documents, `df` contain the term, P have the label and `tp` both. The contingency table of a term and a
label is tp, df - tp | P - tp, n - df - (P - tp). One pass over the documents gives the tables of all terms
and labels (core/sparse/term_counts.hpp); a score is a formula over a table. References: joachims 2.3.1; zhang
4 (Gini); dasgupta (24); Forman, JMLR 3, 2003 (bi-normal separation).

If a label is on no document or on all of them, its scores are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin._threads import thread_count
from widemargin.errors import UsageError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Rates are kept this far from 0 and 1, where the inverse normal is infinite (Forman 2003, 3.2).
NEAREST_RATE = 0.0005


@dataclass(frozen=True, eq=False)
class TermCounts:
    """Document counts of terms and labels.

    Attributes
    ----------
    together : (labels, terms) documents with both
    terms : (terms,) documents with the term
    labels : (labels,) documents with the label
    n : number of documents
    """

    together: NDArray[np.integer[Any]]
    terms: Integers
    labels: Integers
    n: int

    @property
    def telling(self) -> NDArray[np.bool_]:
        """Which labels are on some documents and not on all."""
        return (self.labels > 0) & (self.labels < self.n)


def count_terms(csr: Csr, signs: NDArray[np.int8], n_jobs: int | None = None) -> TermCounts:
    """Count the documents of every term, label and pair of both.

    Parameters
    ----------
    csr : the documents; a term occurs where its value is not 0
    signs : (n, labels) of +1 and -1
    n_jobs : number of threads, None for all cores

    Examples
    --------
    >>> from widemargin._arrays import canonical_csr
    >>> X = canonical_csr(np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]))
    >>> counts = count_terms(X, np.array([[1], [1], [-1]], dtype=np.int8))
    >>> counts.together.tolist(), counts.terms.tolist(), counts.labels.tolist()
    ([[2, 1]], [2, 2], [2])
    """
    positive = np.ascontiguousarray(signs.T) > 0
    of_label = np.count_nonzero(positive, axis=1)
    rows = np.flatnonzero(positive) % max(1, csr.n_rows)
    n_labels = signs.shape[1]
    # One label more that every document has: its counts are those of the terms. It is the longest, so first.
    indptr = np.concatenate([[0, csr.n_rows], csr.n_rows + np.cumsum(of_label)])
    every = np.concatenate([np.arange(csr.n_rows), rows])
    together = np.empty((n_labels + 1, csr.n_columns), dtype=np.int32)
    _core.count_by_label(
        csr.native(), indptr.astype(np.int64), every.astype(np.int32), together, thread_count(n_jobs)
    )
    return TermCounts(together[1:], together[0].astype(np.int64), of_label.astype(np.int64), csr.n_rows)


def information_gain(counts: TermCounts) -> Floats:
    """I(W, Y) of every label and term, in nats: joachims (2.8), dasgupta (24).

    Examples
    --------
    >>> counts = TermCounts(np.array([[2, 1]]), np.array([2, 2]), np.array([2]), 4)
    >>> information_gain(counts).round(4).tolist()
    [[0.6931, 0.0]]
    """
    x_log_x = _x_log_x(counts.n)
    df, n = counts.terms, counts.n
    of_terms = x_log_x[df] + x_log_x[n - df] - x_log_x[n]
    scores = np.zeros(counts.together.shape)
    for together, P, row in zip(counts.together, counts.labels.tolist(), scores, strict=True):
        if 0 < P < n:
            tp = together.astype(np.int64)
            rest = df - tp
            row += x_log_x[tp]
            row += x_log_x[rest]
            row += x_log_x[P - tp]
            row += x_log_x[n - P - rest]
            row -= of_terms + (x_log_x[P] + x_log_x[n - P])
            np.maximum(row, 0.0, out=row)
            row /= n
    return scores


def gini_gain(counts: TermCounts) -> Floats:
    """Information gain with the Gini index (1 - sum of squared shares) instead of the entropy: zhang 4."""
    tp, df, P, n = _floats(counts)
    within = tp**2 * _inverse(df) + (P - tp) ** 2 * _inverse(n - df)
    return _of_telling(np.maximum(2 * (within - P**2 / n) / n, 0.0), counts)


def chi_square(counts: TermCounts, n_jobs: int | None = None) -> Floats:
    """Pearson's chi-square statistic of the term and the label: joachims 2.3.1."""
    df, P, n = counts.terms.astype(np.float64), counts.labels.astype(np.float64), float(counts.n)
    scores = np.empty(counts.together.shape)
    _core.chi_square(
        np.ascontiguousarray(counts.together, dtype=np.int32),
        df,
        n * _inverse(df) * _inverse(n - df),
        P,
        _inverse(P * (n - P)),
        n,
        scores,
        thread_count(n_jobs),
    )
    return scores


def odds_ratio(counts: TermCounts) -> Floats:
    """The log odds ratio of the term in documents with and without the label.

    joachims (2.10), without the prior of the label. The rates are smoothed by one more document per class,
    which has the term with its overall frequency. A term that is equally frequent in both classes, in no
    document or in all of them scores 0; a term that is rarer with the label scores below 0.
    """
    tp, df, P, n = _floats(counts)
    prior = df / n
    inside, outside = (tp + prior) / (P + 1), (df - tp + prior) / (n - P + 1)
    varies = np.broadcast_to((df > 0) & (df < n), tp.shape)
    ratio = np.divide(inside * (1 - outside), outside * (1 - inside), out=np.ones_like(inside), where=varies)
    return _of_telling(np.log(ratio), counts)


def bi_normal_separation(counts: TermCounts) -> Floats:
    """The distance between the inverse normals of the two rates: Forman 2003, 3.2."""
    result = np.zeros(counts.together.shape)
    for tp, P, scores in zip(counts.together, counts.labels.tolist(), result, strict=True):
        if 0 < P < counts.n:
            scores[:] = np.abs(_inverse_normals(P)[tp] - _inverse_normals(counts.n - P)[counts.terms - tp])
    return result


def document_frequency(counts: TermCounts) -> Floats:
    """The number of documents with the term, the same for every label."""
    return np.broadcast_to(counts.terms.astype(np.float64), counts.together.shape)


def joint_information_gain(counts: TermCounts) -> Floats:
    """I(W, Y) for a multiclass Y: (terms,).

    Examples
    --------
    >>> counts = TermCounts(np.array([[1], [0], [0]]), np.array([1]), np.array([1, 1, 1]), 3)
    >>> joint_information_gain(counts).round(4).tolist()
    [0.6365]
    """
    x_log_x = _x_log_x(counts.n)
    tp, df, P, n = counts.together, counts.terms, counts.labels[:, None], counts.n
    gain = (x_log_x[tp] + x_log_x[P - tp] - x_log_x[P]).sum(axis=0)
    gain += x_log_x[n] - x_log_x[df] - x_log_x[n - df]
    return np.asarray(np.maximum(gain, 0.0) / n)


def joint_gini_gain(counts: TermCounts) -> Floats:
    """The decrease of the multiclass Gini index given the term: (terms,)."""
    return np.asarray(gini_gain(counts).sum(axis=0) / 2)


def joint_chi_square(counts: TermCounts) -> Floats:
    """Pearson's chi-square statistic of the term and a multiclass label: (terms,)."""
    tp, df, P, n = _floats(counts)
    return np.asarray(
        ((tp - df * P / n) ** 2 * _inverse(P)).sum(axis=0) * n**2 * (_inverse(df) * _inverse(n - df))
    )


Score = Callable[[TermCounts], Floats]
SCORES: dict[str, Score] = {
    "df": document_frequency,
    "ig": information_gain,
    "gini": gini_gain,
    "chi2": chi_square,
    "odds": odds_ratio,
    "bns": bi_normal_separation,
}
JOINT_SCORES: dict[str, Score] = {
    "ig": joint_information_gain,
    "gini": joint_gini_gain,
    "chi2": joint_chi_square,
}


def score_function(name: str, *, joint: bool = False) -> Score:
    """The score with this name; `joint` for the multiclass score instead of one score per label."""
    scores = JOINT_SCORES if joint else SCORES
    if name in scores:
        return scores[name]
    if name in SCORES:
        raise UsageError(f"criterion={name!r} has no joint form. Use one of {', '.join(JOINT_SCORES)}.")
    raise UsageError(f"criterion={name!r}: expected one of {', '.join(SCORES)}.")


def _x_log_x(n: int) -> Floats:
    """k log k for k = 0 .. n: all counts of a table are among them, so each logarithm is computed once."""
    k = np.arange(n + 1, dtype=np.float64)
    return np.asarray(k * np.log(np.maximum(k, 1.0)))


def _inverse_normals(size: int) -> Floats:
    rates = np.arange(size + 1) / size
    return np.asarray(ndtri(np.clip(rates, NEAREST_RATE, 1 - NEAREST_RATE)))


def _floats(counts: TermCounts) -> tuple[Floats, Floats, Floats, float]:
    tp, df, P = (a.astype(np.float64) for a in (counts.together, counts.terms, counts.labels))
    return tp, df, P[:, None], float(counts.n)


def _inverse(counts: Floats) -> Floats:
    """1 / counts, and 0 for a count of 0, so that an empty row of a table adds 0 to a sum."""
    return np.divide(1.0, counts, out=np.zeros_like(counts), where=counts > 0)


def _of_telling(scores: Floats, counts: TermCounts) -> Floats:
    if not counts.telling.all():
        scores[~counts.telling] = 0.0
    return scores
