"""Boosted stumps as a linear rule: every stump adds the vote of a term that is present, or of one that is
not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin.learn.trees.committees import with_last_repeated

Floats = NDArray[np.float64]

# The numbers of the core's Votes.
VOTES = ("real", "abstaining", "discrete")


class Stumps(NamedTuple):
    """The stumps of all committees, round by round.

    Attributes
    ----------
    columns : (committees, rounds) the column that each stump tests; -1 after the last round of a committee
    votes : (labels, rounds, 2) for documents without and with the term
    losses : (committees, rounds) the training loss after each round
    """

    columns: NDArray[np.int64]
    votes: Floats
    losses: Floats

    @classmethod
    def boosted(
        cls,
        csr: Csr,
        problem: _core.BoostingProblem,
        options: _core.StumpOptions,
        n_threads: int,
    ) -> Stumps:
        """Run AdaBoost on rows whose terms count as present if their value is above 0."""
        n_labels = len(problem.signs)
        results = _core.StumpResults.zeros(
            committees=1 if options.together else n_labels, rounds=options.n_rounds, labels=n_labels
        )
        _core.boost_stumps(csr.native(), problem, options, results, n_threads)
        made = (results.columns >= 0).sum(axis=1)
        losses = np.column_stack([np.ones(len(made)), results.losses])
        return cls(
            results.columns[:, : made.max()],
            results.votes[:, : made.max()],
            with_last_repeated(losses, made),
        )

    @property
    def n_rounds(self) -> NDArray[np.int64]:
        """The number of stumps of each committee."""
        counts: NDArray[np.int64] = (self.columns >= 0).sum(axis=1)
        return counts

    def linear_rule(self, n_features: int) -> tuple[sp.csr_array, Floats]:
        """Weights of present terms, labels x features, and intercepts: the same votes."""
        n_labels = len(self.votes)
        columns = np.broadcast_to(self.columns, self.votes.shape[:2])
        label, at = np.nonzero(columns >= 0)
        differences = self.votes[label, at, 1] - self.votes[label, at, 0]
        parts = differences, (label, columns[label, at])
        weights = sp.coo_array(parts, shape=(n_labels, n_features)).tocsr()
        return weights, self.votes[:, :, 0].sum(axis=1)
