"""AdaBoost over stumps: AdaBoost.MH, and a committee for every label (joachims, 2.5.5)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr, checked_csr
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import COUNT, POSITIVE, one_of, or_none, parameter, require_finite
from widemargin._threads import thread_count
from widemargin.labels import Labels
from widemargin.learn.costs import sample_weights
from widemargin.learn.linear_model import LinearModel
from widemargin.learn.trees.stumps import VOTES, Stumps

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class BoostedTrees(LinearModel):
    """AdaBoost: a committee of stumps, each learned from the documents that those before it get wrong.

    A stump tests whether a document has a term (a value above 0) and votes for or against a label. Every
    round adds the stump that makes the exponential loss ``mean exp(-sign * score)`` least, where documents
    that are wrong weigh more. The score of a label is the sum of all votes, which estimates half its
    log-odds. It is not divided by the number of votes, so that scores of different labels are comparable.
    The loss never rises, and it bounds the share of wrong signs.

    Committees of stumps are linear: `coef_` is what a term adds if it is present.

    Parameters
    ----------
    n_estimators : the maximum number of rounds. A committee ends earlier after a stump that makes no mistake,
        and when no stump lowers the loss by more than 2e-6 of it.
    committees : "per-label": every label has a committee of its own. "shared": all labels share a term in
        every round, each with votes of its own (AdaBoost.MH, Schapire and Singer, 2000). This needs more
        rounds, but a round adds only one term.
    votes : "real": the vote is half the log-odds of the label among the documents with the term, or without
        it. "abstaining": only documents with the term get a vote. "discrete": all votes of a round have the
        same size.
    smoothing : added to the shares of positive and of negative documents from which votes are computed, so
        that they are finite; None for 1 / (number of documents and labels of a committee)
    n_jobs : number of threads, None for all cores; the result does not depend on it

    Attributes
    ----------
    coef_ : sparse (labels, features); one row for a binary task
    intercept_ : (labels,) the votes for a document without any term
    training_loss_ : (committees, rounds) the loss after each round; it stays the same after the last one
    n_rounds_ : (committees,)
    stumps_ : the stumps in order of the rounds

    Examples
    --------
    >>> X, y = np.array([[1, 0, 1], [2, 1, 0], [0, 1, 0], [0, 3, 1]]), ["a", "a", "b", "b"]
    >>> model = BoostedTrees().fit(X, y)
    >>> model.predict(X).tolist()
    ['a', 'a', 'b', 'b']
    >>> model.stumps_.columns.tolist()  # the first term divides them without a mistake
    [[0]]
    """

    n_estimators: int = parameter(100, COUNT)
    _: KW_ONLY
    committees: Literal["per-label", "shared"] = parameter("per-label", one_of("per-label", "shared"))
    votes: Literal["real", "abstaining", "discrete"] = parameter("real", one_of(*VOTES))
    smoothing: float | None = parameter(None, or_none(POSITIVE))
    n_jobs: int | None = None

    # What a Vectorizer should make of texts.
    text_options: ClassVar[dict[str, Any]] = {"weighting": "bxx"}

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
        problem = _core.BoostingProblem(signs=np.ascontiguousarray(signs.T), sample_weights=weights)
        shared = self.committees == "shared"
        options = _core.StumpOptions(
            n_rounds=int(self.n_estimators),
            votes=VOTES.index(self.votes),
            together=shared,
            smoothing=self._smoothing(weights, csr.n_rows, space.n_columns if shared else 1),
        )
        stumps = Stumps.boosted(csr, problem, options, thread_count(self.n_jobs))
        coef, intercept = stumps.linear_rule(csr.n_columns)
        require_finite(self, csr, coef_=coef, intercept_=intercept, training_loss_=stumps.losses)
        self.label_space_, self.coef_, self.intercept_ = space, coef, intercept
        self.stumps_, self.training_loss_, self.n_rounds_ = stumps, stumps.losses, stumps.n_rounds
        return self

    def as_scored(self, csr: Csr) -> Csr:
        """1 for every term that is present."""
        return csr._replace(data=(csr.data > 0).astype(np.float64))

    def _smoothing(self, weights: Floats, n: int, n_labels: int) -> float:
        if self.smoothing is not None:
            return float(self.smoothing)
        # A document with the weight 2 is two documents; weights that sum to little are still documents.
        documents = max(float(weights.sum()), float(np.count_nonzero(weights))) if len(weights) else float(n)
        return 1 / (documents * n_labels)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # stumps only see which terms occur
        return tags
