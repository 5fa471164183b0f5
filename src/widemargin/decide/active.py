"""Active learning: which documents to label next.

Four functions give every document a value: its uncertainty, the expected change of the margin, its relevance,
or a random number. `next_to_label` picks the documents with the highest values. A batch of the most valuable
documents may contain near-duplicates, so it trades the value off against the cosine with the documents picked
before (Brinker, Incorporating Diversity in Active Learning with Support Vector Machines, ICML 2003).

Scores have one column for two classes, otherwise one column per label.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataError, UsageError
from widemargin.labels import Kind

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]

# A batch is picked from the most valuable documents, this many times its size, so that diversity does not
# bring in documents of low value.
_POOL = 10
# Without calibration, a score at the margin counts as a probability of 88 %: a convention, not an estimate.
_SLOPE = 2.0


def certainty(scores: Any, kind: Kind = "binary") -> Floats:
    """Distance of each document from the decision boundary, in units of the margin.

    Parameters
    ----------
    scores : (n,) or (n, columns)
    kind : "binary" or "multilabel": the smallest distance over the labels; "multiclass": half the difference
        between the two highest scores

    Examples
    --------
    >>> certainty([-2.0, 0.25]).tolist()
    [2.0, 0.25]
    >>> certainty([[1.0, 0.5, -1.0]], "multiclass").tolist()
    [0.25]
    """
    table = _table(scores)
    if kind != "multiclass":
        nearest: Floats = np.abs(table).min(axis=1)
        return nearest
    if table.shape[1] < 2:
        raise UsageError(f"The scores have shape {np.shape(scores)}; several classes need one column each.")
    second, best = np.partition(table, -2, axis=1)[:, -2:].T
    result: Floats = (best - second) / 2
    return result


def uncertainty(scores: Any, kind: Kind = "binary") -> Floats:
    """Prefer documents near the decision boundary: minus `certainty`.

    Examples
    --------
    >>> int(uncertainty([-2.0, 0.25, 1.0]).argmax())
    1
    """
    return -certainty(scores, kind)


def relevance(scores: Any, column: int | None = None) -> Floats:
    """Prefer documents with a high score for one label, or for any label.

    Examples
    --------
    >>> relevance([[0.5, -1.0], [-1.0, 2.0]]).tolist(), relevance([[0.5, -1.0], [-1.0, 2.0]], 0).tolist()
    ([0.5, 2.0], [0.5, -1.0])
    """
    table = _table(scores)
    return table.max(axis=1) if column is None else table[:, column]


def margin_change(scores: Any, X: Any, *, C: float = 1.0, chances: Any = None) -> Floats:
    """The expected change of the margin by the label of each document, summed over all labels.

    A new training document with label y and score f raises the objective w.w/2 + C sum(xi) of an unbiased SVM
    by at least alpha (1 - y f) - alpha^2 x.x / 2 with alpha = min(C, (1 - y f) / x.x): the best step of its
    own dual variable, all others fixed, as in joachims (7.16) and (7.17). A larger objective is a smaller
    margin. The value is the expectation over y.

    Parameters
    ----------
    scores : (n,) or (n, columns)
    X : (n, features); only the lengths of the rows are used
    C : cost of a margin error
    chances : probabilities of +1, in the shape of `scores`; by default 1 / (1 + exp(-2 score))

    Examples
    --------
    >>> margin_change([0.0, 3.0, 0.0], np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 0.0]])).round(3).tolist()
    [0.5, 0.009, 0.056]
    """
    table = _table(scores)
    if not C > 0:
        raise UsageError(f"C={C}: expected a positive cost.")
    lengths = _square_lengths(X, len(table))[:, None]
    if chances is None:
        positive = 1 / (1 + np.exp(-np.clip(_SLOPE * table, -500, 500)))
    else:
        positive = _table(chances)
        if positive.shape != table.shape or not ((positive >= 0) & (positive <= 1)).all():
            raise UsageError("The chances must be from 0 to 1 and have the shape of the scores.")
    expected = positive * _step(1 - table, lengths, C) + (1 - positive) * _step(1 + table, lengths, C)
    result: Floats = expected.sum(axis=1)
    return result


def at_random(count: int, random_state: Any = 0) -> Floats:
    """Random values, as a baseline.

    Examples
    --------
    >>> at_random(3).shape
    (3,)
    """
    return np.random.default_rng(random_state).random(count)


def next_to_label(
    values: Any,
    count: int = 1,
    X: Any = None,
    *,
    diversity: float = 0.5,
    known: Any = None,
    random_state: Any = 0,
) -> Numbers:
    """The `count` documents to label next, most valuable first.

    Parameters
    ----------
    values : (n,), higher is better; ties are broken at random
    count : number of documents; fewer are returned if fewer are left
    X : (n, features), optional
        With vectors, each pick trades off a document's rank (from 1 for the best to 0 for the last of the
        best ten times `count`) against its largest cosine with an earlier pick.
    diversity : from 0 (values only) to 1 (cosines only, after the first pick)
    known : (n,) true for documents that are labeled already, optional
    random_state : random seed for ties

    Examples
    --------
    The two most valuable documents have the same words; the third differs.

    >>> X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> next_to_label([3.0, 2.0, 1.5, 0.0], 2).tolist()
    [0, 1]
    >>> next_to_label([3.0, 2.0, 1.5, 0.0], 2, X).tolist()
    [0, 2]
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise DataError(f"Expected one finite value per document, found an array of shape {values.shape}.")
    if count < 1 or not 0 <= diversity <= 1:
        raise UsageError(
            f"count={count}, diversity={diversity}: expected a count of at least 1 and a diversity from 0 "
            f"to 1."
        )
    known = np.zeros(len(values), dtype=bool) if known is None else np.asarray(known, dtype=bool)
    if known.shape != values.shape:
        raise DataError(f"known has shape {known.shape}; expected {values.shape}, one entry per document.")
    chance = np.random.default_rng(random_state).permutation(len(values))
    order: Numbers = np.lexsort((chance, -values))
    order = order[~known[order]]
    if X is None or diversity == 0 or not len(order):
        return order[:count]
    return _diverse(order[: _POOL * count], X, count, diversity)


def _diverse(order: Numbers, X: Any, count: int, diversity: float) -> Numbers:
    """Pick greedily from the documents of `order`, which are sorted by value."""
    import scipy.sparse as sp
    from sklearn.preprocessing import normalize

    rows = normalize(sp.csr_array(X)[order])
    place = np.linspace(1, 0, len(order))
    # The smallest possible cosine.
    nearest = np.full(len(order), -1.0)
    left = np.ones(len(order), dtype=bool)
    picked: list[int] = []
    for _ in range(min(count, len(order))):
        worth = place if not picked else (1 - diversity) * place - diversity * nearest
        best = int(np.where(left, worth, -np.inf).argmax())
        picked.append(best)
        left[best] = False
        nearest = np.maximum(nearest, (rows @ rows[[best]].T).toarray()[:, 0])
    return order[picked]


def _step(missing: Floats, lengths: Floats, C: float) -> Floats:
    """The increase of the dual by the best step of one variable, for a document that lacks `missing` of its
    margin."""
    missing = np.maximum(missing, 0.0)
    # An empty document has alpha = C and changes only its own slack.
    alpha = np.minimum(np.divide(missing, lengths, out=np.full(missing.shape, C), where=lengths > 0), C)
    result: Floats = alpha * missing - alpha**2 * lengths / 2
    return result


def _table(scores: Any) -> Floats:
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim not in (1, 2) or (scores.ndim == 2 and not scores.shape[1]):
        raise UsageError(f"The scores have shape {scores.shape}; expected (n,) or (n, columns).")
    if not np.isfinite(scores).all():
        raise DataError("The scores contain NaN or infinity. Check the vectors.")
    table: Floats = scores[:, None] if scores.ndim == 1 else scores
    return table


def _square_lengths(X: Any, n: int) -> Floats:
    if X.shape[0] != n:
        raise UsageError(f"There are {n} rows of scores and {X.shape[0]} vectors; expected the same number.")
    squares: Any = X.multiply(X) if hasattr(X, "multiply") else np.square(X)
    return np.asarray(squares.sum(axis=1), dtype=np.float64).reshape(-1)
