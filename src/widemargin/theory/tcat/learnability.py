"""How well a support vector machine learns a TCat-concept: Theorems 2, 3 and 4 of joachims.

All are bounds on the expected error after training on n documents. The expectation is over training sets; the
error after a single one may exceed it.

- Theorem 2: ``rho R^2 / (delta^2 (n + 1))`` with the margin delta of Lemma 2. rho is 1 for unbiased and 2 for
  biased hyperplanes.
- Theorem 3: documents may lack Delta_j of the words of set j that speak for their class, or have Delta_j more
  of those that speak against it. This adds ``2 sum_j |w_j| E(Delta_j)``, where w_j is the weight of the set
  in Lemma 2. Corrected: Delta is a mean over documents, not a sum, and weights are absolute.
- Theorem 4: labels that are wrong at a rate Delta add ``4 Delta``.

The last two are for C = 1 / (rho R^2) (`cost_for_noise`) and R^2 as measured over the noisy documents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin.errors import UsageError
from widemargin.theory.laws import counts_of
from widemargin.theory.tcat.concept import TCatConcept

Floats = NDArray[np.float64]


def error_bound(
    concept: TCatConcept,
    n: int,
    R2: float,
    *,
    biased: bool = False,
    attribute_noise: Sequence[float] | Floats | None = None,
    label_noise: float = 0.0,
) -> float:
    """The largest expected error after training on `n` documents.

    It may exceed 1, and is infinite if no set of words distinguishes the classes.

    Parameters
    ----------
    R2 : the largest squared Euclidean length of a document: measured, or Lemma 3
    biased : whether the hyperplane has a threshold, which makes the bound twice as large
    attribute_noise : for every set, how many words a document deviates to its disadvantage on average, as
        :func:`measured_noise` finds it
    label_noise : share of wrong labels

    Examples
    --------
    The category `course` of WebKB, (4.45) to (4.47) in the thesis, which prints 11.2 %:

    >>> course = TCatConcept([(77, 29, 98), (4, 21, 52), (16, 2, 431), (1, 12, 341), (9, 1, 5045),
    ...                       (1, 21, 24276), (169, 191, 8116)])
    >>> round(100 * error_bound(course, 3957, R2=1899.7), 1)
    11.2
    """
    if n < 0 or not R2 > 0:
        raise UsageError(f"n={n!r}, R2={R2!r}: expected a number of documents and a positive squared length.")
    if not 0 <= label_noise <= 1:
        raise UsageError(f"label_noise={label_noise!r}: expected a share between 0 and 1.")
    margin = concept.margin_bound()
    if margin == 0:
        return math.inf
    bound = _rho(biased) * R2 / (margin**2 * (n + 1)) + 4 * label_noise
    if attribute_noise is not None:
        noise = np.asarray(attribute_noise, dtype=np.float64)
        if noise.shape != (len(concept.sets),) or not (noise >= 0).all():
            raise UsageError(
                f"attribute_noise: expected {len(concept.sets)} numbers that are not negative, one per set."
            )
        bound += 2 * float(np.abs(concept.set_weights()) @ noise)
    return float(bound)


def documents_needed(concept: TCatConcept, error: float, R2: float, *, biased: bool = False) -> float:
    """After how many training documents Theorem 2 promises an expected error of at most `error`.

    Examples
    --------
    >>> documents_needed(TCatConcept([(3, 0, 9), (0, 3, 9)]), 0.05, R2=9.0)
    359
    """
    if not 0 < error <= 1:
        raise UsageError(f"error={error!r}: expected a share above 0.")
    bound = error_bound(concept, 0, R2, biased=biased)
    return bound if math.isinf(bound) else max(math.ceil(bound / error * (1 - 1e-12)) - 1, 0)


def cost_for_noise(R2: float, *, biased: bool = False) -> float:
    """The C at which Theorems 3 and 4 hold: 1 / (rho R^2)."""
    return 1.0 / (_rho(biased) * R2)


def measured_noise(concept: TCatConcept, counts: Any, y: Any) -> Floats:
    """How many words of every set speak against a document that should not, on average: E(Delta) of Theorem
    3.

    That is, words that are missing for its class, or that it has too many of the other class.

    Parameters
    ----------
    counts : (documents, words of the concept), set after set
    y : signs of the documents

    Examples
    --------
    >>> concept = TCatConcept([(2, 0, 2), (0, 2, 2)])
    >>> measured_noise(concept, np.array([[2, 0, 0, 0], [1, 0, 1, 0]]), [1, 1]).tolist()
    [0.5, 0.5]
    """
    matrix = sp.csr_array(counts_of(counts))
    signs = np.sign(np.asarray(y, dtype=np.float64))
    if matrix.shape != (len(signs), concept.n_words):
        raise UsageError(
            f"The counts have shape {matrix.shape}: expected ({len(signs)}, {concept.n_words}), one column "
            f"per word of the concept."
        )
    p, n, f = np.array(concept.sets, dtype=np.float64).T
    of_word = np.repeat(np.arange(len(f)), f.astype(np.intp))
    sets = sp.csr_array((np.ones(len(of_word)), (np.arange(len(of_word)), of_word)))
    deviation = (matrix @ sets).toarray() - np.where((signs > 0)[:, None], p, n)
    pull = deviation * np.sign(concept.set_weights()) * signs[:, None]
    return np.asarray(np.maximum(-pull, 0.0).mean(axis=0))


def _rho(biased: bool) -> int:
    return 2 if biased else 1
