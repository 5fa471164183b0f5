"""Log-likelihood ratios of phrases, from the terms of a whole collection.

As the core computes them in memory (:mod:`widemargin.text.phrases`): over all n-grams of one length, how
often they begin and end as this one does. Terms come twice, both times sorted. So the n-grams with the same
beginning follow each other, and only one sum per beginning and one per last word are kept.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin.on_disk.terms import Terms


class Associations:
    """Ratios of terms, once all terms were read: `parts`, the first time."""

    def __init__(self, parts: Iterable[Terms]) -> None:
        self._sums = _core.PhraseSums()
        for part in parts:
            self._sums.add(part.buffer, part.offsets, part.totals)

    def of(self, part: Terms) -> NDArray[np.float64]:
        """The ratios of the next terms, in the same order as the first time; infinite for words and pairs."""
        ratios = np.empty(part.n_terms)
        self._sums.ratios(part.buffer, part.offsets, part.totals, ratios)
        return ratios
