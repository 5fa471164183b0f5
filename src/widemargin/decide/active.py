"""Which document to label next: how much each would teach, and batches of documents that differ.

A document is valued by its scores (and its vector), and the most valuable ones are asked for. Four values:
how close it is to a decision boundary (`certainty`, turned round), how much the margin is expected to change
by its label, how likely it is to be relevant, and chance. `next_to_label` picks from the values, one document
or a batch; a batch of the most valuable ones alone would often be one document over and over, so it weighs
the value against the angle to what is picked already (Brinker, Incorporating Diversity in Active Learning
with Support Vector Machines, ICML 2003).

Scores are as everywhere here: one column for two classes, otherwise one column a label.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataError, UsageError
from widemargin.labels import Kind

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]

# A batch is picked from so many times its size of the most valuable documents: the angle orders what is
# worth labeling, it does not bring in what is not.
_POOL = 10
# Without calibrated chances a score at the margin counts as 88 % sure. A convention, not an estimate.
_SLOPE = 2.0


def certainty(scores: Any, kind: Kind = "binary") -> Floats:
    """How far each document is from any other decision, in units of the margin: 0 on the boundary.

    Parameters
    ----------
    scores : (n,) or (n, columns)
    kind : "binary" or "multilabel": the distance of the label that is nearest to its boundary;
        "multiclass": half of what the best class is ahead of the second

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
        raise UsageError(f"The scores have shape {np.shape(scores)}; several classes need a column each.")
    second, best = np.partition(table, -2, axis=1)[:, -2:].T
    result: Floats = (best - second) / 2
    return result


def uncertainty(scores: Any, kind: Kind = "binary") -> Floats:
    """Values that prefer documents near a decision boundary: `certainty` with its sign turned.

    Examples
    --------
    >>> int(uncertainty([-2.0, 0.25, 1.0]).argmax())
    1
    """
    return -certainty(scores, kind)


def relevance(scores: Any, column: int | None = None) -> Floats:
    """Values that prefer documents with a high score: of one label, or of whichever is highest.

    Examples
    --------
    >>> relevance([[0.5, -1.0], [-1.0, 2.0]]).tolist(), relevance([[0.5, -1.0], [-1.0, 2.0]], 0).tolist()
    ([0.5, 2.0], [0.5, -1.0])
    """
    table = _table(scores)
    return table.max(axis=1) if column is None else table[:, column]


def margin_change(scores: Any, X: Any, *, C: float = 1.0, chances: Any = None) -> Floats:
    """How much the label of each document is expected to change the margin, over all labels.

    A document with label y and score f that joins the training set pushes with alpha = (1 - y f) / x.x, at
    most C, and raises the objective w.w/2 + C sum(xi) of an unbiased machine by at least
    alpha (1 - y f) - alpha^2 x.x / 2: the best step of its own multiplier, the others at rest, as in
    joachims (7.16) and (7.17). A larger objective is a smaller margin. The value is the expectation over y.

    Parameters
    ----------
    scores : (n,) or (n, columns)
    X : (n, features), of which only the lengths of the rows matter
    C : the cost of training errors
    chances : of +1, in the shape of `scores`; by default 1 / (1 + exp(-2 score))

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
            raise UsageError("The chances must be from 0 to 1 and in the shape of the scores.")
    expected = positive * _step(1 - table, lengths, C) + (1 - positive) * _step(1 + table, lengths, C)
    result: Floats = expected.sum(axis=1)
    return result


def at_random(n: int, random_state: Any = 0) -> Floats:
    """Values in a random order, the yardstick of the others.

    Examples
    --------
    >>> at_random(3).shape
    (3,)
    """
    return np.random.default_rng(random_state).random(n)


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
    values : (n,), higher for what is better to know; of equal ones chance decides
    count : how many; fewer are returned when there are not as many left
    X : (n, features), optional
        With vectors each pick weighs a document's place among the most valuable (1 for the first, 0 for
        the last of ten times `count`) against its largest cosine with an earlier pick.
    diversity : from 0, the values alone, to 1, the angles alone after the first pick
    known : (n,) true where a document is labeled already and is not to be asked for again, optional
    random_state : of the order of equal values

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
        raise DataError(f"Expected one finite value a document, found an array {values.shape}.")
    if count < 1 or not 0 <= diversity <= 1:
        raise UsageError(f"count={count}, diversity={diversity}: expected 1 or more, and from 0 to 1.")
    known = np.zeros(len(values), dtype=bool) if known is None else np.asarray(known, dtype=bool)
    if known.shape != values.shape:
        raise DataError(f"known has shape {known.shape}; expected {values.shape}, one entry a document.")
    chance = np.random.default_rng(random_state).permutation(len(values))
    order: Numbers = np.lexsort((chance, -values))
    order = order[~known[order]]
    if X is None or diversity == 0 or not len(order):
        return order[:count]
    return _diverse(order[: _POOL * count], X, count, diversity)


def _diverse(order: Numbers, X: Any, count: int, diversity: float) -> Numbers:
    """Greedily from the documents of `order`, most valuable first."""
    import scipy.sparse as sp
    from sklearn.preprocessing import normalize

    rows = normalize(sp.csr_array(X)[order])
    place = np.linspace(1, 0, len(order))
    # No cosine is lower.
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
    """What one multiplier's best step adds to the dual, for a document that lacks `missing` of its margin."""
    missing = np.maximum(missing, 0.0)
    # A document without any word pushes with all its might and moves nothing but its own slack.
    alpha = np.minimum(np.divide(missing, lengths, out=np.full(missing.shape, C), where=lengths > 0), C)
    result: Floats = alpha * missing - alpha**2 * lengths / 2
    return result


def _table(scores: Any) -> Floats:
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim not in (1, 2) or (scores.ndim == 2 and not scores.shape[1]):
        raise UsageError(f"The scores have shape {scores.shape}; expected (n,) or (n, columns).")
    if not np.isfinite(scores).all():
        raise DataError("The scores hold a NaN or an infinity. Check the vectors.")
    table: Floats = scores[:, None] if scores.ndim == 1 else scores
    return table


def _square_lengths(X: Any, n: int) -> Floats:
    if X.shape[0] != n:
        raise UsageError(f"There are {n} rows of scores and {X.shape[0]} vectors; expected as many.")
    squares: Any = X.multiply(X) if hasattr(X, "multiply") else np.square(X)
    return np.asarray(squares.sum(axis=1), dtype=np.float64).reshape(-1)
