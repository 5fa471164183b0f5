"""Which terms of a collection are kept."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataError, UsageError


class NoTermsError(DataError):
    """Documents without terms, or all of whose terms were pruned."""


@dataclass(frozen=True)
class Pruning:
    """Limits on how often a term occurs, checked on construction.

    Parameters
    ----------
    min_df, max_df : int or float
        The fewest and the most documents that may contain a term; a float is a share of the documents.
    min_count : int
        The fewest occurrences over all documents.
    max_features : int, optional
        Keep this many terms, the most frequent ones; ties are broken by position.
    phrases : float, optional
        Keep n-grams of several words only if their log-likelihood ratio is at least this, see
        :mod:`widemargin.text.phrases`.
    pairs_min_df : int
        The fewest documents that may contain a pair of words, see :mod:`widemargin.text.pairs`.
    """

    min_df: float = 1
    max_df: float = 1.0
    min_count: int = 1
    max_features: int | None = None
    phrases: float | None = None
    pairs_min_df: int = 1

    def __post_init__(self) -> None:
        _check_frequency("min_df", self.min_df)
        _check_frequency("max_df", self.max_df)
        _check_positive("min_count", self.min_count)
        if self.max_features is not None:
            _check_positive("max_features", self.max_features)
        strength = self.phrases
        if strength is not None and (
            isinstance(strength, bool) or not isinstance(strength, Real) or strength <= 0
        ):
            raise UsageError(
                f"phrases={strength!r}: expected the smallest log-likelihood ratio, such as 10.83."
            )

    @property
    def needs_totals(self) -> bool:
        """Whether occurrences are needed in addition to document frequencies."""
        return self.min_count > 1 or self.max_features is not None or self.phrases is not None

    @property
    def prunes(self) -> bool:
        """Whether any term can be removed."""
        unbounded = isinstance(self.max_df, float) and self.max_df == 1.0
        some = self.min_df not in (0, 1) or self.pairs_min_df > 1
        return self.needs_totals or some or isinstance(self.min_df, float) or not unbounded

    def keep(
        self,
        frequencies: NDArray[np.int32],
        totals: NDArray[np.int64] | None,
        n_documents: int,
        ties: NDArray[np.float64] | None = None,
        pairs: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.bool_]:
        """Mark the terms to keep, given their document frequencies and their occurrences.

        `ties` are the log-likelihood ratios of the terms, needed for `phrases`. `pairs` marks those that are
        pairs of words.
        """
        kept = self.allowed(frequencies, totals, n_documents, ties, pairs)
        if totals is not None:
            places = np.flatnonzero(kept)
            kept[places[~self.most_frequent(totals[places])]] = False
        self.require_some(bool(kept.any()))
        return kept

    def allowed(
        self,
        frequencies: NDArray[np.integer],
        totals: NDArray[np.int64] | None,
        n_documents: int,
        ties: NDArray[np.float64] | None = None,
        pairs: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.bool_]:
        """Mark the terms that are within the limits, whatever `max_features` is; the arguments are those of
        :meth:`keep`. A term is judged alone, so that terms can be given in parts."""
        fewest = self.min_df if isinstance(self.min_df, Integral) else self.min_df * n_documents
        most = self.max_df if isinstance(self.max_df, Integral) else self.max_df * n_documents
        if most < fewest:
            raise NoTermsError(
                f"max_df={self.max_df} allows {most:g} documents, fewer than the {fewest:g} that "
                f"min_df={self.min_df} requires. Lower min_df or raise max_df."
            )
        kept: NDArray[np.bool_] = (frequencies >= fewest) & (frequencies <= most)
        if pairs is not None:
            kept &= ~pairs | (frequencies >= self.pairs_min_df)
        if ties is not None and self.phrases is not None:
            kept &= ties >= self.phrases
        if totals is not None:
            kept &= totals >= self.min_count
        return kept

    def most_frequent(self, totals: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark the `max_features` terms with the most occurrences; all without that limit."""
        kept = np.ones(len(totals), dtype=bool)
        if self.max_features is not None and len(totals) > self.max_features:
            kept[np.argsort(-totals, kind="stable")[self.max_features :]] = False
        return kept

    @staticmethod
    def require_some(found: bool) -> None:
        """Raise if pruning left no terms."""
        if not found:
            raise NoTermsError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")


def _check_frequency(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise UsageError(f"{name}={value!r}: expected a number of documents, or a fraction from 0.0 to 1.0.")
    if isinstance(value, Integral):
        if value < 0:
            raise UsageError(f"{name}={value}: a number of documents cannot be negative.")
    elif not 0.0 <= float(value) <= 1.0:
        raise UsageError(f"{name}={value}: a fraction of the documents must be between 0.0 and 1.0.")


def _check_positive(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise UsageError(f"{name}={value!r}: expected a positive whole number.")
