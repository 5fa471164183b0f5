"""Shares of exclusive classes among unlabeled documents, estimated from scores.

Labeled documents are often a fixed number per class, whatever the shares of the collection. The scores of
unlabeled documents tell more. Scores become probabilities by one factor, chosen on held-out scores of labeled
documents. Then shares and probabilities are computed in turns, each from the other (Saerens, Latinne,
Decaestecker, Neural Computation 2002: expectation maximization). Few turns are better than all: with few
labels the last turns follow the errors of the scores.

If the labeled documents may be a random sample of the estimated shares (by a likelihood ratio test), both are
averaged, each with the inverse square of its expected error: that of the labeled shares is the error of a
sample, that of the estimate half the share of held-out documents that the scores get wrong. If the labeled
documents agree with the estimate better than a sample ever would, their number per class was fixed at the
shares of the collection, and these are taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

Floats = NDArray[np.float64]

# Chosen by hidden labels of training documents of 20 Newsgroups, R8, CLINC and SMS messages: even numbers of
# labels per class, random documents, and both.
_TURNS = 2
_FLOOR = 0.01  # of all shares in the test: a class that seems to be absent is not impossible
_LEAST = 0.5  # documents of every class
_IMPOSSIBLE, _TOO_GOOD = 0.05, 0.99  # p-values of labeled documents that are no sample of the shares
_LOG_FACTORS = (-2.0, 4.0)


def estimated_shares(held_out: Any, codes: Any, scores: Any) -> Floats:
    """The shares of the classes among unlabeled documents, (classes,).

    Parameters
    ----------
    held_out : (labeled, classes) scores of labeled documents by machines that did not know them; NaN in rows
        that cannot be held out, because their class has no other document
    codes : (labeled,) their classes
    scores : (unlabeled, classes)

    Examples
    --------
    >>> scores = np.array([[1.0, -1.0]] * 9 + [[-1.0, 1.0]])
    >>> estimated_shares(scores[[0, 0, 9, 9]], [0, 0, 1, 1], scores).round(2).tolist()
    [0.9, 0.1]
    """
    held_out, codes = np.asarray(held_out, dtype=np.float64), np.asarray(codes)
    scores = np.asarray(scores, dtype=np.float64)
    n, n_classes = scores.shape
    counts = np.bincount(codes, minlength=n_classes)
    among_labeled = counts / counts.sum()
    known = ~np.isnan(held_out).any(axis=1)
    factor = _factor(held_out[known], codes[known]) if known.any() else 1.0
    probabilities = _softmax(factor * scores)
    shares = among_labeled
    for _ in range(_TURNS):
        weighted = probabilities * np.divide(shares, among_labeled)
        shares = (weighted / weighted.sum(axis=1, keepdims=True)).mean(axis=0)
    shares = np.maximum(shares, _LEAST / n)
    shares = shares / shares.sum()
    wrong = np.count_nonzero(held_out[known].argmax(axis=1) != codes[known])
    trust = _trust(counts, shares, (wrong + 1) / (np.count_nonzero(known) + 2))
    mixed: Floats = trust * among_labeled + (1 - trust) * shares
    return mixed


def completed_shares(estimate: Floats, known: Mapping[int, float]) -> Floats:
    """Shares of all classes: those that are known, and the estimates of the others scaled to what is left.

    Examples
    --------
    >>> completed_shares(np.array([0.2, 0.2, 0.6]), {0: 0.6}).round(3).tolist()
    [0.6, 0.1, 0.3]
    """
    shares = estimate.copy()
    places = list(known)
    shares[places] = list(known.values())
    others = np.setdiff1d(np.arange(len(shares)), places)
    left = 1 - sum(known.values())
    if len(others) and left > 0:
        shares[others] *= left / shares[others].sum()
    completed: Floats = shares / shares.sum()
    return completed


def _trust(counts: NDArray[Any], shares: Floats, wrong: float) -> float:
    """The weight of the labeled shares; `wrong` is the share of held-out documents in a wrong class."""
    p = _p_value(counts, shares)
    if p < _IMPOSSIBLE:
        return 0.0
    # Half the sum of the mean absolute errors, as a document in a wrong class changes two shares.
    of_sample = np.sqrt(2 / np.pi * shares * (1 - shares) / counts.sum()).sum() / 2
    of_estimate = wrong / 2
    weight = of_estimate**2 / (of_estimate**2 + of_sample**2)
    return float(max(weight, (p - _TOO_GOOD) / (1 - _TOO_GOOD)))


def _factor(held_out: Floats, codes: NDArray[Any]) -> float:
    """What makes the softmax of the scores most likely."""
    own = np.arange(len(codes)), codes

    def loss(log_factor: float) -> float:
        return float(-np.log(_softmax(np.exp(log_factor) * held_out)[own] + 1e-12).sum())

    return float(np.exp(minimize_scalar(loss, bounds=_LOG_FACTORS, method="bounded").x))


def _softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    powers /= powers.sum(axis=1, keepdims=True)
    return np.asarray(powers)


def _p_value(counts: NDArray[Any], shares: Floats) -> float:
    """Of the likelihood ratio test that the counts are a sample of these shares."""
    n_classes = len(counts)
    expected = counts.sum() * (shares + _FLOOR / n_classes) / (1 + _FLOOR)
    some = counts > 0
    ratio = 2 * float((counts[some] * np.log(counts[some] / expected[some])).sum())
    return float(chi2.sf(ratio, n_classes - 1))
