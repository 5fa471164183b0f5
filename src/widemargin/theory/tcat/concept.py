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
from widemargin.theory.laws import ZipfLaw
from widemargin.theory.tcat.sampling import Drawing, draw_documents

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TCatConcept:
    """A task whose documents have `p` (positive ones) or `n` (negative ones) of the `f` words of each set.

    Parameters
    ----------
    sets : triples (p, n, f). Averages over documents may be fractions; drawing documents takes whole numbers

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

    sets: tuple[tuple[float, float, int], ...]

    def __init__(self, sets: Iterable[tuple[float, float, int]]) -> None:
        checked = tuple((_count(p), _count(n), int(f)) for p, n, f in sets)
        for p, n, f in checked:
            if not (0 <= p < math.inf and 0 <= n < math.inf) or f < 1:
                raise UsageError(
                    f"[{p:g} : {n:g} : {f}]: expected numbers of words that are not negative, from a set of "
                    f"at least one."
                )
        if not checked:
            raise UsageError("A TCat-concept needs at least one set of words, such as (4, 1, 200).")
        object.__setattr__(self, "sets", checked)

    def __str__(self) -> str:
        return f"TCat({', '.join(f'[{p:.4g} : {n:.4g} : {f}]' for p, n, f in self.sets)})"

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

    def set_weights(self) -> Floats:
        """The weight that Lemma 2 gives to the words of each set; positive documents score 1, negative ones
        -1."""
        a, b, c = self._products()
        determinant = a * c - b * b
        if determinant <= 1e-12 * max(a * c, 1e-300):
            raise UsageError(
                "No set of words distinguishes the two classes: there is no separating hyperplane."
            )
        p, n, f = np.array(self.sets, dtype=np.float64).T
        # (4.29) and (4.32), with the inverse of (4.36) corrected: [[c, b], [b, a]] over the determinant.
        return np.asarray(((c + b) * p - (b + a) * n) / determinant / f)

    def separator(self) -> Floats:
        """The weights (one per word) with this margin; they score positive documents 1 and negative ones
        -1."""
        return np.repeat(self.set_weights(), [f for _, _, f in self.sets])

    def rounded(self) -> TCatConcept:
        """Whole numbers of words, rounded so that documents keep their length (the largest remainders go up).

        Examples
        --------
        Table 4.2 of the thesis gives shares of 277 words; rounded, they are its concept (4.18).

        >>> positive = [0.277, 0.015, 0.059, 0.003, 0.032, 0.002, 0.612]
        >>> negative = [0.104, 0.077, 0.007, 0.044, 0.002, 0.077, 0.689]
        >>> sizes = [98, 52, 431, 341, 5045, 24276, 8116]
        >>> sets = [(277 * p, 277 * n, f) for p, n, f in zip(positive, negative, sizes)]
        >>> print(TCatConcept(sets).rounded())
        TCat([77 : 29 : 98], [4 : 21 : 52], [16 : 2 : 431], [1 : 12 : 341], [9 : 1 : 5045], [1 : 21 : 24276],
        [169 : 191 : 8116])
        """
        p, n, f = zip(*self.sets, strict=True)
        return TCatConcept(zip(_rounded(p), _rounded(n), f, strict=True))

    def reweighted(self, factors: Iterable[float]) -> TCatConcept:
        """The concept after the counts of every set were multiplied by a factor, as term weights do.

        Examples
        --------
        >>> TCatConcept([(40, 40, 50), (12, 3, 7500)]).reweighted([1, 2]).sets
        ((40, 40, 50), (24, 6, 7500))
        """
        return TCatConcept((p * g, n * g, f) for (p, n, f), g in zip(self.sets, factors, strict=True))

    def lengths(self) -> tuple[float, float]:
        """The number of words of a positive and of a negative document."""
        return sum(p for p, _, _ in self.sets), sum(n for _, n, _ in self.sets)

    def sample(
        self,
        n_positive: int,
        n_negative: int,
        *,
        distinct: bool = False,
        attribute_noise: float = 0.0,
        label_noise: float = 0.0,
        longest: int = 1,
        length_exponent: float = 2.0,
        word_law: ZipfLaw | None = None,
        random_state: Any = 0,
    ) -> tuple[sp.csr_array, NDArray[np.int8]]:
        """Draw documents: word counts (positive documents first) and labels +1 and -1.

        Without noise, every document has exactly the numbers of words that the concept prescribes.

        Parameters
        ----------
        distinct : whether the words of a document are all different, so that every binary vector that fits
            the concept is equally likely; otherwise occurrences are drawn independently
        attribute_noise : probability that a word is replaced by one of a random set, drawn by how frequent
            the sets are in both classes together
        label_noise : probability that a document has the wrong label; documents stay in their order
        longest : documents are 1 to `longest` times as long as the concept says, by Zipf's law: a length of m
            times is chosen with a probability proportional to ``m ** -length_exponent``
        word_law : how frequent the words of a set are among each other, by rank; None for equally frequent
        random_state : random seed or generator
        """
        options = Drawing(distinct, attribute_noise, label_noise, longest, length_exponent, word_law)
        return draw_documents(self.sets, n_positive, n_negative, options, random_state)

    def _products(self) -> tuple[float, float, float]:
        """a, b and c of Lemma 2."""
        p, n, f = np.array(self.sets, dtype=np.float64).T
        return float(p**2 @ (1 / f)), float((p * n) @ (1 / f)), float(n**2 @ (1 / f))


def _count(value: float) -> float:
    """A number of words; whole numbers as integers, so that they print as such."""
    value = float(value)
    return int(value) if value.is_integer() else value


def _rounded(values: Iterable[float]) -> list[int]:
    counts = np.array(list(values), dtype=np.float64)
    whole = np.floor(counts + 1e-9)
    missing = round(float(counts.sum() - whole.sum()))
    whole[np.argsort(whole - counts, kind="stable")[:missing]] += 1
    return [int(count) for count in whole]
