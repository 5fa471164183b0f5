"""Leave-one-out of Rocchio in closed form: a document is taken out of the sum of its group.

Without a document, w = max(0, s P - v N) with s = 1 / p and v = beta / q, where P and p, or N and q, lack it.
This changes the scale of a whole centroid, so that terms which the document does not have may enter or leave
w. Whether term t has a weight above 0 only depends on s / v and N_t / P_t: with terms in the order of
N_t / P_t, the sums of P^2, P N and N^2 over the terms of w are known for all s and v at once, and give |w|,
P.w and N.w. The terms of the document itself are then corrected one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.learn.class_counts import ClassCounts, less
from widemargin.learn.left_out_documents import Documents
from widemargin.learn.rocchio.centroids import cut, intercepts, inverse, without

Floats = NDArray[np.float64]

# Units of work for every value and column.
WORK = 16.0
# Where corrections leave less than this share of the squared length, it is computed again, term by term.
_LOST = 1e-5
# A factor that makes a comparison safe from rounding.
_ALMOST = 1 - 1e-9


def scores(counts: ClassCounts, documents: Documents, signs: NDArray[np.int8], beta: float) -> Floats:
    """(n, columns) the score of every document by the rule without it; `signs` are its labels."""
    found = np.empty(signs.shape)
    rest = counts.rest
    most = np.zeros(documents.n_features)
    np.maximum.at(most, documents.column, documents.own)
    for k in range(signs.shape[1]):
        numbers = float(counts.documents[k]), float(rest[k])
        found[:, k] = _Label(counts.column(k), counts.all_terms, numbers, beta).scores(
            documents, signs[:, k] > 0, most
        )
    return found


class _Label:
    """The two sums of a label, and the terms of its weights for all scales."""

    def __init__(self, positive: Floats, total: Floats, numbers: tuple[float, float], beta: float) -> None:
        self.positive, self.negative = positive, without(total, positive)
        self.numbers, self.beta = numbers, beta
        self.signed = bool(min(positive.min(), total.min(), self.negative.min()) < 0)
        # Above 0 for small v, and for large v: P > 0, and N < 0 otherwise.
        self.rising = _Ordered(self.positive, self.negative, self.positive > 0)
        self.falling = _Ordered(self.positive, self.negative, (self.positive <= 0) & (self.negative < 0))

    def scores(self, documents: Documents, members: NDArray[np.bool_], most: Floats) -> Floats:
        """(n,) of documents, of which `members` have the label; `most` any has added to each term."""
        n, leaves = len(members), documents.weight
        inside = less(np.full(n, self.numbers[0]), np.where(members, leaves, 0.0))
        outside = less(np.full(n, self.numbers[1]), np.where(members, 0.0, leaves))
        of_inside, of_outside = inverse(inside), inverse(outside)
        s, v = of_inside, self.beta * of_outside
        ratio = np.divide(s, v, out=np.full(n, np.inf), where=v > 0)
        PP, PN, NN = self.rising.below(ratio) + self.falling.above(ratio)
        squares, along_P, along_N = s * s * PP - 2 * s * v * PN + v * v * NN, s * PP - v * PN, s * PN - v * NN
        size = s * s * PP + v * v * NN
        row, column, own, scored = self._entries(documents, s.max() * self.positive, v.min(), most)
        P, N, s, v = self.positive[column], self.negative[column], s[row], v[row]
        before = cut(s * P, v * N)
        theirs = members[row]
        left_P = own * theirs
        left_N = own - left_P
        after = cut(s * without(P, left_P), v * without(N, left_N))
        change = after - before
        squares += np.bincount(row, change * (after + before), n)
        along_P += np.bincount(row, P * change - left_P * after, n)
        along_N += np.bincount(row, N * change - left_N * after, n)
        product = np.bincount(row, scored * after, n)
        for i in np.flatnonzero((squares <= _LOST * size) & (size > 0)):
            here = row == i
            squares[i], along_P[i], along_N[i] = self._again(
                column[here], left_P[here], left_N[here], of_inside[i], self.beta * of_outside[i]
            )
        lengths = np.sqrt(np.maximum(squares, 0.0))
        cosines = np.divide(product, lengths, out=np.zeros(n), where=lengths > 0)
        found: Floats = cosines + intercepts(of_inside * along_P, of_outside * along_N, lengths)
        return found

    def _entries(
        self, documents: Documents, largest: Floats, v: float, most: Floats
    ) -> tuple[NDArray[Any], NDArray[Any], Floats, Floats]:
        """The entries that can change something.

        Without negative values, these are the terms whose weight is above 0 for some document: those with the
        `largest` s P, the least `v`, and N without the `most` that any document has added.
        """
        every = documents.row, documents.column, documents.own, documents.scored
        if self.signed or (len(documents.own) and documents.own.min() < 0):
            return every
        weighs = (self.positive > 0) & (largest >= v * (self.negative - most) * _ALMOST)
        kept = np.flatnonzero(weighs[documents.column])
        return every[0][kept], every[1][kept], every[2][kept], every[3][kept]

    def _again(
        self, column: NDArray[Any], left_P: Floats, left_N: Floats, s: float, v: float
    ) -> tuple[float, float, float]:
        """|w|^2, P.w and N.w without one document, which added `left_P` and `left_N` in these columns."""
        P, N = self.positive.copy(), self.negative.copy()
        P[column], N[column] = without(P[column], left_P), without(N[column], left_N)
        w = cut(s * P, v * N)
        return float(w @ w), float(P @ w), float(N @ w)


class _Ordered:
    """Some terms in the order of N / P, with the sums of P^2, P N and N^2 over the first ones of them."""

    def __init__(self, positive: Floats, negative: Floats, which: NDArray[np.bool_]) -> None:
        P, N = positive[which], negative[which]
        ratio = np.divide(N, P, out=np.full(len(P), np.inf), where=P != 0)
        order = np.argsort(ratio, kind="stable")
        P, N, self.ratio = P[order], N[order], ratio[order]
        self.sums = np.concatenate([np.zeros((3, 1)), np.cumsum([P * P, P * N, N * N], axis=1)], axis=1)

    def below(self, ratio: Floats) -> Floats:
        """(3, n) the sums over the terms whose N / P is below each `ratio`."""
        found: Floats = self.sums[:, np.searchsorted(self.ratio, ratio, side="left")]
        return found

    def above(self, ratio: Floats) -> Floats:
        """The same over the terms whose N / P is above it."""
        found: Floats = self.sums[:, -1:] - self.sums[:, np.searchsorted(self.ratio, ratio, side="right")]
        return found
