"""AdaBoost over trees of C4.5 and over stumps: a committee for every label, and AdaBoost.MH (joachims,
2.5.5)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

import widemargin._core as _core
from widemargin._arrays import Csr, canonical_csr, checked_csr
from widemargin._one_fit import one_fit_at_a_time, require_not_fitting
from widemargin._parameters import COUNT, POSITIVE, one_of, or_none, parameter, require_finite
from widemargin._stored import Stored
from widemargin._threads import thread_count
from widemargin.errors import UsageError
from widemargin.labels import Labels
from widemargin.learn.costs import sample_weights
from widemargin.learn.label_model import Arrays, State
from widemargin.learn.linear_model import LinearModel
from widemargin.learn.trees.committees import TreeCommittees, boosting_options
from widemargin.learn.trees.forest import Growing
from widemargin.learn.trees.stumps import VOTES, Stumps

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class BoostedTrees(LinearModel):
    """AdaBoost: a committee of trees or stumps, each learned from what those before it get wrong.

    Every round adds a tree that is grown on weighted documents. Those that are wrong so far weigh more, and
    every leaf votes for or against the label by the weights that reach it. The score of a label is the sum of
    all votes, which estimates half its log-odds. It is not divided by the number of votes, so that scores of
    different labels are comparable. The exponential loss ``mean exp(-sign * score)`` never rises, and it
    bounds the share of wrong signs.

    A stump tests whether a document has one term (a value above 0), and the one that makes the loss least is
    taken. Committees of stumps are linear: `coef_` is what a term adds if it is present.

    Parameters
    ----------
    n_estimators : the maximum number of rounds. A committee ends earlier after a tree that makes no mistake,
        unless trees have real votes, and when a tree, or the best stump, lowers the loss by less than 2e-6 of
        it: its error is 1/2.
    base : "trees" of C4.5, split by information gain and not pruned, or "stumps"
    max_depth : the largest number of tests on a path of a tree, None for no limit
    min_objects : the least weight on both sides of a split of a tree, where all documents together weigh as
        much as there are documents
    committees : "per-label": every label has a committee of its own. "shared", for stumps: all labels share a
        term in every round, each with votes of its own (AdaBoost.MH, Schapire and Singer, 2000). This needs
        more rounds, but a round adds only one term.
    votes : "real": half the log-odds of the label among the documents that reach a leaf. "discrete": all
        votes of a round have the same size. "abstaining", for stumps: as "real", but documents without the
        term get no vote.
    smoothing : added to the shares of positive and of negative documents from which votes are computed, so
        that they are finite; None for 1 / (number of documents and labels of a committee)
    n_jobs : number of threads, None for all cores; the result does not depend on it

    Attributes
    ----------
    training_loss_ : (committees, rounds) the loss after each round; it stays the same after the last one
    n_rounds_ : (committees,)
    trees_ : the trees of all labels, with ``base="trees"``
    stumps_ : the stumps in order of the rounds, with ``base="stumps"``
    coef_, intercept_ : sparse (labels, features), one row for a binary task, and (labels,); only with
        ``base="stumps"``

    Examples
    --------
    >>> X = np.array([[1, 0, 1], [2, 1, 0], [0, 1, 0], [0, 3, 1]] * 2)
    >>> model = BoostedTrees(votes="discrete").fit(X, ["a", "a", "b", "b"] * 2)
    >>> model.predict(X[:4]).tolist()
    ['a', 'a', 'b', 'b']
    >>> model.trees_.forest.column.tolist()  # the first feature divides them without a mistake
    [0, -1, -1]
    """

    n_estimators: int = parameter(100, COUNT)
    _: KW_ONLY
    base: Literal["trees", "stumps"] = parameter("trees", one_of("trees", "stumps"))
    max_depth: int | None = parameter(10, or_none(COUNT))
    min_objects: float = parameter(2.0, POSITIVE)
    committees: Literal["per-label", "shared"] = parameter("per-label", one_of("per-label", "shared"))
    votes: Literal["real", "abstaining", "discrete"] = parameter("real", one_of(*VOTES))
    smoothing: float | None = parameter(None, or_none(POSITIVE))
    n_jobs: int | None = None

    # What a Vectorizer should make of texts. Trees of counts are no better, and take four times as long.
    text_options: ClassVar[dict[str, Any]] = {"weighting": "bxx"}

    @property
    def needs_absent_terms(self) -> bool:
        """Whether only the presence of terms counts."""
        return self.base == "stumps"

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the committees.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in any form that :mod:`widemargin.labels` accepts
        sample_weight : (n,) how often each document counts
        """
        self._check_parameters()
        csr = checked_csr(self, X, first=True)
        space, signs = Labels.of(y, csr.n_rows).space_and_signs
        weights = sample_weights(sample_weight, csr.n_rows)
        n = float(csr.n_rows)
        if len(weights):
            counting = np.flatnonzero(weights)
            if len(counting) < csr.n_rows:
                csr, signs, weights = canonical_csr(csr.matrix[counting]), signs[counting], weights[counting]
            # A document of weight 2 is two documents; weights that sum to little are still documents.
            n = max(float(weights.sum()), float(csr.n_rows))
            weights = weights * (n / weights.sum())
        problem = _core.BoostingProblem(signs=np.ascontiguousarray(signs.T), sample_weights=weights)
        n_shares = n * space.n_columns if self.committees == "shared" else n
        smoothing = 1 / n_shares if self.smoothing is None else float(self.smoothing)
        self._forget()
        if self.base == "stumps":
            self._boost_stumps(csr, problem, smoothing)
        else:
            self._boost_trees(csr, problem, smoothing)
        require_finite(self, csr, training_loss_=self.training_loss_)
        self.label_space_ = space
        return self

    def decision_function(self, X: Any) -> Floats:
        """Sums of votes: (n,) for a binary task, otherwise (n, labels).

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        """
        if self.base == "stumps":
            return super().decision_function(X)
        check_is_fitted(self, "label_space_")
        require_not_fitting(self)
        csr = checked_csr(self, X, first=False)
        scores = self.trees_.scores(csr, self.n_jobs)
        require_finite(self, csr, scores=scores)
        return scores[:, 0] if self.label_space_.kind == "binary" else scores

    def as_scored(self, csr: Csr) -> Csr:
        """1 for every term that is present, which is what stumps see; trees see the documents themselves."""
        return csr._replace(data=(csr.data > 0).astype(np.float64)) if self.base == "stumps" else csr

    def get_state(self) -> State:
        """The state for prediction: a configuration for JSON, and arrays."""
        return super().get_state() if self.base == "stumps" else (self._described(), self._trees().arrays())

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        """Fitted committees from the result of `get_state`, without the losses of the training."""
        stored = Stored(config, arrays)
        if stored.inner("parameters").choice("base", ("trees", "stumps")) == "stumps":
            return super().from_state(config, arrays)
        learner = cls._from_description(stored)
        space, n_features = learner.label_space_, learner.n_features_in_
        learner.trees_ = TreeCommittees.read(stored, space.n_columns, n_features)
        return learner

    def _trees(self) -> TreeCommittees:
        check_is_fitted(self, "label_space_")
        return self.trees_

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.base == "trees" and self.committees == "shared":
            raise UsageError('committees="shared" is for stumps. Pass base="stumps", or "per-label".')
        if self.base == "trees" and self.votes == "abstaining":
            raise UsageError('votes="abstaining" is for stumps. Pass base="stumps", or other votes.')

    def _forget(self) -> None:
        """Drop the results of an earlier fit, with another base."""
        for name in ("coef_", "intercept_", "stumps_", "trees_"):
            if hasattr(self, name):
                delattr(self, name)

    def _boost_stumps(self, csr: Csr, problem: _core.BoostingProblem, smoothing: float) -> None:
        options = _core.StumpOptions(
            n_rounds=int(self.n_estimators),
            votes=VOTES.index(self.votes),
            together=self.committees == "shared",
            smoothing=smoothing,
        )
        self.stumps_ = Stumps.boosted(csr, problem, options, thread_count(self.n_jobs))
        self.coef_, self.intercept_ = self.stumps_.linear_rule(csr.n_columns)
        require_finite(self, csr, coef_=self.coef_, intercept_=self.intercept_)
        self.training_loss_, self.n_rounds_ = self.stumps_.losses, self.stumps_.n_rounds

    def _boost_trees(self, csr: Csr, problem: _core.BoostingProblem, smoothing: float) -> None:
        growing = Growing(self.min_objects, self.max_depth, gain_ratio=False, confidence=None)
        options = boosting_options(growing, int(self.n_estimators), self.votes, smoothing)
        self.trees_, self.training_loss_ = TreeCommittees.boosted(csr, problem, options, self.n_jobs)
        self.n_rounds_ = self.trees_.sizes
        require_finite(self, csr, votes=self.trees_.votes, thresholds=self.trees_.forest.threshold)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.base == "stumps"  # they only see which terms occur
        return tags
