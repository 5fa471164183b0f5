"""Dissimilarities of texts and profiles, both given as rows of n-gram counts.

The definitions are those of ``core/profiles/dissimilarities.hpp``: "ct", "kl", "kl-all", "cosine", "chi2"
and "chi2-asymmetric". A direction names the arguments in their order: "profile-to-text" is
d(profile, text). The document (Teytaud and Jalam, 2.1) does not say which argument is the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin._threads import thread_count

Floats = NDArray[np.float64]

DISSIMILARITIES = {
    "ct": _core.DissimilarityKind.ct,
    "kl": _core.DissimilarityKind.kl,
    "kl-all": _core.DissimilarityKind.kl_all,
    "cosine": _core.DissimilarityKind.cosine,
    "chi2": _core.DissimilarityKind.chi2,
    "chi2-asymmetric": _core.DissimilarityKind.chi2_asymmetric,
}
# An n-gram of at least one in so many profiles is also kept as a dense line, in multiples of so many values.
_DENSE_FROM, _LANES = 4, 16
DIRECTIONS = ("profile-to-text", "text-to-profile")


@dataclass(frozen=True)
class Dissimilarity:
    """What d(text, profile) is.

    Attributes
    ----------
    name, direction : see above
    unseen : the count that replaces 0 in logarithms and denominators
    max_rank, missing_rank : NMAX and DMAX of "ct"
    """

    name: str
    direction: str = "profile-to-text"
    unseen: float = 0.5
    max_rank: int = 500
    missing_rank: int = 1000

    @property
    def text_first(self) -> bool:
        return self.direction == "text-to-profile"

    def native(self) -> _core.DissimilarityRule:
        """The same for the core."""
        return _core.DissimilarityRule(
            kind=DISSIMILARITIES[self.name],
            text_first=self.text_first,
            unseen=float(self.unseen),
            n_max=float(self.max_rank),
            d_max=float(self.missing_rank),
        )


@dataclass(frozen=True, eq=False)
class Profiles:
    """Rows of counts that texts are compared with.

    Examples
    --------
    >>> from widemargin._arrays import canonical_csr
    >>> rows = canonical_csr(np.array([[2.0, 2.0, 0.0], [0.0, 1.0, 3.0]]))
    >>> Profiles(rows, Dissimilarity("chi2")).between(rows, 1).round(3).tolist()
    [[0.0, 2.667], [2.667, 0.0]]
    """

    counts: Csr
    rule: Dissimilarity

    def between(self, texts: Csr, n_jobs: int | None) -> Floats:
        """The dissimilarities, texts x profiles."""
        out = np.empty((texts.n_rows, self.counts.n_rows))
        n_threads = 1 if texts.n_rows == 1 else thread_count(n_jobs)
        _core.dissimilarities(texts.native(), self._index, self._sums, self.rule.native(), out, n_threads)
        return out

    def between_texts(self, texts: _core.Texts, terms: _core.TermIndex, n_jobs: int | None) -> Floats:
        """The same of texts, whose terms are counted, for "kl" from profile to text: without the part of a
        text that is the same for all profiles."""
        out = np.empty((len(texts), self.counts.n_rows))
        n_threads = 1 if len(texts) == 1 else thread_count(n_jobs)
        _core.text_dissimilarities(texts, terms, self._index, self._sums, out, n_threads)
        return out

    def parts(self, text: Csr) -> tuple[Floats, Floats]:
        """The dissimilarities of one text as sums: a part per profile, and one per n-gram and profile."""
        base, out = np.empty(self.counts.n_rows), np.empty((len(text.data), self.counts.n_rows))
        _core.dissimilarity_parts(
            text.native(), self._by_term.native(), self._sums, self.rule.native(), base, out
        )
        return base, out

    @cached_property
    def _rows(self) -> NDArray[np.intp]:
        """The profile of every value."""
        return np.repeat(np.arange(self.counts.n_rows), np.diff(self.counts.indptr))

    @cached_property
    def _frequencies(self) -> tuple[Floats, Floats]:
        """The frequency of every value, and the one that replaces 0 in each profile."""
        totals = self._sum(self.counts.data)
        # An empty profile is not near to anything.
        totals = np.where(totals > 0, totals, totals.max(initial=0.0) or 1.0)
        return self.counts.data / totals[self._rows], float(self.rule.unseen) / totals

    @cached_property
    def _ranks(self) -> Floats:
        """The rank of every value in its profile, by decreasing count, then by column."""
        rows = self._rows
        order = np.lexsort((self.counts.indices, -self.counts.data, rows))
        ranks = np.empty(len(order))
        ranks[order] = np.arange(len(order)) - self.counts.indptr[rows]
        return ranks

    def _sum(self, values: NDArray[np.generic]) -> Floats:
        """The sum over each profile of one value per n-gram."""
        sums: Floats = np.bincount(self._rows, weights=values, minlength=self.counts.n_rows).astype(
            np.float64
        )
        return sums

    @cached_property
    def _sums(self) -> _core.ProfileSums:
        f, unseen = self._frequencies
        logs = np.log(f)
        ranks = np.zeros(self.counts.n_rows)
        if self.rule.name == "ct":
            most = float(self.rule.missing_rank)
            inside = self._ranks < self.rule.max_rank
            ranks = self._sum(np.where(inside, np.minimum(np.abs(most - self._ranks), most), 0.0))
        return _core.ProfileSums(
            size=np.diff(self.counts.indptr).astype(np.float64),
            mass=(np.diff(self.counts.indptr) > 0).astype(np.float64),
            squares=self._sum(f * f),
            logs=self._sum(logs),
            entropy=self._sum(f * logs),
            unseen=unseen,
            log_unseen=np.log(unseen),
            ranks=ranks,
        )

    @cached_property
    def _by_term(self) -> Csr:
        """The inverted index: for every n-gram the profiles that have it, with the values that the core
        uses."""
        rule, (f, unseen) = self.rule, self._frequencies
        kept = np.ones(len(f), dtype=bool)
        if rule.name == "ct":
            values = self._ranks
            kept = kept if rule.text_first else values < rule.max_rank
        elif rule.name in ("kl", "kl-all") and not rule.text_first:
            values = np.log(f / unseen[self._rows])
        elif rule.name == "cosine":
            values = f / np.sqrt(self._sum(f * f))[self._rows]
        else:
            values = f
        rows, terms, values = self._rows[kept], self.counts.indices[kept], values[kept]
        order = np.argsort(terms, kind="stable")  # profiles are in order already
        indptr = np.concatenate([[0], np.cumsum(np.bincount(terms, minlength=self.counts.n_columns))])
        return Csr(indptr.astype(np.int64), rows[order].astype(np.int32), values[order], self.counts.n_rows)

    @cached_property
    def _index(self) -> _core.ProfileIndex:
        """The inverted index for the core. For "kl" of texts it has a second part in single precision.

        That takes at most `_DENSE_FROM` / 3 times the memory of the first.
        """
        index, n_profiles = self._by_term, self.counts.n_rows
        sizes = np.diff(index.indptr)
        too_many = len(index.data) + len(sizes) >= 2**31 - _LANES  # for positions in int32
        if self.rule.name != "kl" or self.rule.text_first or n_profiles < _LANES or too_many:
            lines, place = np.zeros((0, 0), dtype=np.float32), np.zeros(0, dtype=np.int32)
            return _core.ProfileIndex(index.native(), lines, place, np.zeros((0, 2), dtype=np.int32))
        many = sizes * _DENSE_FROM >= n_profiles
        room = np.where(many, 0, sizes + 1)
        starts = np.cumsum(room) - room
        place = np.where(many, np.cumsum(many) - 1, -1 - starts).astype(np.int32)
        of_many = np.repeat(many, sizes)
        lines = np.zeros((int(many.sum()), -(-n_profiles // _LANES) * _LANES), dtype=np.float32)
        lines[np.repeat(place, sizes)[of_many], index.indices[of_many]] = index.data[of_many]
        # The number of profiles, then each with its value.
        few = np.zeros((int(room.sum()), 2), dtype=np.int32)
        few[starts[~many], 0] = sizes[~many]
        rest = ~of_many
        at = (np.arange(len(rest)) + np.repeat(starts - index.indptr[:-1] + 1, sizes))[rest]
        few[at, 0] = index.indices[rest]
        few[at, 1] = index.data[rest].astype(np.float32).view(np.int32)
        return _core.ProfileIndex(index.native(), lines, place, few)
