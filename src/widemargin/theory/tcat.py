"""TCat-concepts: text-classification tasks described by how many words of each kind a document has.

TCat([p_1 : n_1 : f_1], ..., [p_s : n_s : f_s]) divides the words into s disjoint sets; the i-th has f_i
words, of which p_i occur in every positive document and n_i in every negative one, the same word possibly
several times (joachims, Definition 8). Such a task is separable by a hyperplane through the origin that
weights all words of a set equally, and its margin follows from the counts (Lemma 2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin.errors import UsageError

Floats = NDArray[np.float64]

# Random numbers in memory at a time while documents of distinct words are drawn.
_BLOCK = 4_000_000


@dataclass(frozen=True)
class TCatConcept:
    """A task whose documents have `p` (positive ones) or `n` (negative ones) of the `f` words of each set.

    Parameters
    ----------
    sets : triples (p, n, f)

    Examples
    --------
    The concept (7.7) of the thesis: one word of the positive class, one of the negative class, and eight
    words of which every document has four.

    >>> concept = TCatConcept([(1, 0, 1), (0, 1, 1), (4, 4, 8)])
    >>> concept.n_words, concept.margin_bound()
    (10, 0.7071067811865476)
    >>> X, y = concept.sample(2, 1, distinct=True, random_state=0)
    >>> y.tolist(), X.toarray()[:, :2].tolist(), X.sum(axis=1).tolist()
    ([1, 1, -1], [[1, 0], [1, 0], [0, 1]], [5, 5, 5])
    """

    sets: tuple[tuple[int, int, int], ...]

    def __init__(self, sets: Iterable[tuple[int, int, int]]) -> None:
        checked = tuple((int(p), int(n), int(f)) for p, n, f in sets)
        for p, n, f in checked:
            if p < 0 or n < 0 or f < 1:
                raise UsageError(
                    f"[{p} : {n} : {f}]: expected numbers of words that are not negative, from a set of at "
                    f"least one."
                )
        if not checked:
            raise UsageError("A TCat-concept needs at least one set of words, such as (4, 1, 200).")
        object.__setattr__(self, "sets", checked)

    @property
    def n_words(self) -> int:
        """The size of the vocabulary."""
        return sum(f for _, _, f in self.sets)

    def margin_bound(self) -> float:
        """The least margin delta of the task (Lemma 2); 0 if no set of words distinguishes the classes.

        Examples
        --------
        >>> concept = TCatConcept([(40, 40, 50), (30, 0, 1000), (0, 30, 1000), (30, 30, 30000)])
        >>> round(concept.margin_bound(), 2)
        0.67
        """
        a, b, c = self._products()
        total = a + 2 * b + c
        # Rounding may give a tiny negative number.
        return math.sqrt(max(a * c - b * b, 0.0) / total) if total else 0.0

    def separator(self) -> Floats:
        """The weights (one per word) with this margin; they score positive documents 1 and negative ones
        -1."""
        a, b, c = self._products()
        determinant = a * c - b * b
        if determinant <= 1e-12 * max(a * c, 1e-300):
            raise UsageError(
                "No set of words distinguishes the two classes: there is no separating hyperplane."
            )
        p, n, f = np.array(self.sets, dtype=np.float64).T
        # (4.29) and (4.32), with the inverse of (4.36) corrected: [[c, b], [b, a]] over the determinant.
        per_set = ((c + b) * p - (b + a) * n) / determinant / f
        weights: Floats = np.repeat(per_set, f.astype(np.intp))
        return weights

    def sample(
        self, n_positive: int, n_negative: int, *, distinct: bool = False, random_state: Any = 0
    ) -> tuple[sp.csr_array, NDArray[np.int8]]:
        """Draw documents: word counts (positive documents first) and labels +1 and -1.

        Parameters
        ----------
        distinct : whether the words of a document are all different, so that every binary vector that fits
            the concept is equally likely; otherwise occurrences are drawn independently
        random_state : random seed or generator
        """
        rng = np.random.default_rng(random_state)
        y = np.repeat(np.array([1, -1], dtype=np.int8), [n_positive, n_negative])
        rows, columns = [], []
        first = 0
        for p, n, f in self.sets:
            if distinct and max(p, n) > f:
                raise UsageError(
                    f"[{p} : {n} : {f}]: a document cannot have {max(p, n)} of {f} different words."
                )
            for take, begin, count in ((p, 0, n_positive), (n, n_positive, n_negative)):
                found = _distinct(rng, count, take, f) if distinct else rng.integers(f, size=(count, take))
                rows.append(np.repeat(np.arange(begin, begin + count), take))
                columns.append(first + found.ravel())
            first += f
        row, column = np.concatenate(rows), np.concatenate(columns)
        counts = sp.coo_array((np.ones(len(row), dtype=np.int32), (row, column)), shape=(len(y), first))
        return counts.tocsr(), y

    def _products(self) -> tuple[float, float, float]:
        """a, b and c of Lemma 2."""
        p, n, f = np.array(self.sets, dtype=np.float64).T
        return float(p**2 @ (1 / f)), float((p * n) @ (1 / f)), float(n**2 @ (1 / f))


def _distinct(rng: np.random.Generator, count: int, take: int, f: int) -> NDArray[np.intp]:
    """`take` different numbers below f for each of `count` documents."""
    found = np.empty((count, take), dtype=np.intp)
    if take == 0:
        return found
    step = max(_BLOCK // f, 1)
    for start in range(0, count, step):
        part = found[start : start + step]
        part[:] = np.argpartition(rng.random((len(part), f)), take - 1, axis=1)[:, :take]
    return found
