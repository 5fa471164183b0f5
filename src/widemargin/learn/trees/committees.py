"""Committees of trees by boosting: flat trees, and the vote of every leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin._stored import Stored
from widemargin._threads import thread_count
from widemargin.errors import DataError
from widemargin.learn.trees.forest import Forest, Growing

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TreeCommittees:
    """The trees of all labels, label by label and round by round.

    Attributes
    ----------
    forest : all trees
    sizes : (labels,) number of trees of each label
    votes : (nodes,) of the leaves
    """

    forest: Forest
    sizes: NDArray[np.int64]
    votes: Floats

    @classmethod
    def boosted(
        cls, csr: Csr, problem: _core.BoostingProblem, options: _core.TreeBoostingOptions, n_jobs: int | None
    ) -> tuple[TreeCommittees, Floats]:
        """Run AdaBoost. Returns the trees, and the losses (labels, rounds)."""
        threads = thread_count(n_jobs)
        columns = _core.TreeColumns(csr.native(), threads)
        found: Any = _core.boost_trees(columns, problem, options, threads)
        trees, sizes, votes, losses = found
        rounds = np.ones((len(sizes), int(sizes.max()) + 1))
        for k, some in enumerate(np.split(losses, np.cumsum(sizes)[:-1])):
            rounds[k, 1 : 1 + len(some)] = some
        return cls(Forest(*trees), sizes, votes), with_last_repeated(rounds, sizes)

    def scores(self, csr: Csr, n_jobs: int | None) -> Floats:
        """The sums of votes, rows x labels."""
        sums = np.zeros((csr.n_rows, len(self.sizes)))
        ends = np.cumsum(self.sizes)
        for k, (first, last) in enumerate(zip(ends - self.sizes, ends, strict=True)):
            if first < last:
                part, nodes = self._part(int(first), int(last))
                sums[:, k] = part.values(csr, self.votes[nodes], n_jobs).sum(axis=1)
        return sums

    def _part(self, first: int, last: int) -> tuple[Forest, slice]:
        """Some of the trees, and their nodes."""
        begin = self.forest.begin[first : last + 1]
        nodes = slice(int(begin[0]), int(begin[-1]))
        names = ("column", "left", "right", "threshold", "n", "positive")
        arrays = {name: getattr(self.forest, name)[nodes] for name in names}
        return Forest(begin=begin - begin[0], **arrays), nodes

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of a model file."""
        return {**self.forest.arrays(), "committee_sizes": self.sizes, "tree_votes": self.votes}

    @classmethod
    def read(cls, stored: Stored, n_labels: int, n_features: int) -> TreeCommittees:
        """Verified committees of a model file."""
        sizes = stored.array("committee_sizes", (n_labels,), np.int64, least=0, most=2**31)
        n_trees = sum(sizes.tolist())
        if n_trees + 1 != len(stored.array("tree_begin", (None,), np.int64)):
            raise DataError("'committee_sizes' in arrays.safetensors does not divide the trees among labels")
        forest = Forest.read(stored, n_trees, n_features)
        return cls(forest, sizes, stored.array("tree_votes", forest.column.shape))


def boosting_options(
    growing: Growing, n_rounds: int, votes: str, smoothing: float
) -> _core.TreeBoostingOptions:
    """The options of the core."""
    native = growing.native()
    names = ("min_objects", "max_depth", "gain_ratio", "penalty", "confidence")
    return _core.TreeBoostingOptions(
        **{name: getattr(native, name) for name in names},
        n_rounds=n_rounds,
        discrete=votes == "discrete",
        smoothing=smoothing,
    )


def with_last_repeated(losses: Floats, sizes: NDArray[np.int64]) -> Floats:
    """Losses after each round, from losses before the first one and after each of `sizes` rounds.

    Examples
    --------
    >>> with_last_repeated(np.array([[1.0, 0.5, 0.0], [1.0, 0.8, 0.6]]), np.array([1, 2])).tolist()
    [[0.5, 0.5], [0.8, 0.6]]
    """
    rounds = np.minimum(np.arange(1, sizes.max() + 1), sizes[:, None])
    return np.take_along_axis(losses, rounds, axis=1)
