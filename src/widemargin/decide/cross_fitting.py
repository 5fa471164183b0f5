"""What is chosen or fitted on some examples decides the others, so that figures of it are not too good."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Parts of the examples; each is decided by what was chosen or fitted on the others.
PARTS = 5


def parts_of(n: int, seed: int = 0) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Masks of one part of n examples and of the others, for each part in turn."""
    part = np.random.default_rng(seed).permutation(n) % min(PARTS, n)
    for k in range(min(PARTS, n)):
        yield part == k, part != k


def cross_fitted(
    fit: Callable[[Floats, NDArray[Any]], Callable[[Floats], Floats]], scores: Floats, truth: NDArray[Any]
) -> Floats:
    """Probabilities of each example by a calibration that was fitted to the other four fifths.

    Parameters
    ----------
    fit : from scores and truth, what gives probabilities (n, classes) from other scores
    scores, truth : (n, columns), held-out

    Examples
    --------
    The share of the second class among the other examples, whatever the score:

    >>> truth = np.array([[1], [1], [1], [1], [-1]])
    >>> share = lambda scores, truth: lambda new: np.full((len(new), 1), (truth > 0).mean())
    >>> cross_fitted(share, np.zeros((5, 1)), truth).ravel().tolist()
    [0.75, 0.75, 0.75, 0.75, 1.0]
    """
    parts = [
        (part, fit(scores[others], truth[others])(scores[part])) for part, others in parts_of(len(scores))
    ]
    found = np.empty((len(scores), parts[0][1].shape[1]))
    for part, chances in parts:
        found[part] = chances
    return found
