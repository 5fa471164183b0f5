"""Rocchio's classifier: the difference of two centroids, compared by the cosine (joachims, 2.5.2)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import Csr, checked_csr
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import AT_LEAST_0, either, one_of, parameter, require_finite
from widemargin._stored import Stored
from widemargin.errors import UsageError
from widemargin.labels import Labels, LabelSpace
from widemargin.labels.growing import receive
from widemargin.learn.class_counts import ClassCounts
from widemargin.learn.costs import sample_weights
from widemargin.learn.label_model import Arrays, State
from widemargin.learn.left_out_documents import Documents
from widemargin.learn.linear_model import LinearModel
from widemargin.learn.rocchio import left_out
from widemargin.learn.rocchio.centroids import NEGATIVE_WEIGHTS
from widemargin.learn.rocchio.rocchio_weights import RocchioWeights
from widemargin.measure.break_even import micro_prbep
from widemargin.measure.held_out_scores import HeldOutScores, LeftOutCost
from widemargin.weight.left_out import AsNew

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class Rocchio(RocchioWeights, LinearModel):
    """The centroid of the positive documents minus `negative_weight` times that of the negative ones.

    Documents are scaled to length 1, negative weights are cut to 0 (2.22), and a score is the cosine of the
    document and the weights. The threshold is midway between the mean cosines of the positive and
    the negative training documents. Scores of different labels are not comparable;
    :func:`~widemargin.decide.thresholds.proportional_scores` makes them so.

    Parameters
    ----------
    negative_weight : weight of the negative documents, at least 0; or "auto": one for all labels out of 0,
        0.1, 0.25, 0.5 and 1 (6.3.4), by the leave-one-out scores of the training documents: the accuracy for
        several classes, otherwise the micro-averaged break-even point of precision and recall
    n_jobs : as in :class:`~widemargin.LinearSVM`

    Attributes
    ----------
    coef_ : weights of length 1, labels x features
    intercept_ : minus the threshold
    negative_weight_ : the weight that was used
    sums_ : sums of documents, from which the weights follow

    Examples
    --------
    >>> X, y = np.array([[1, 0, 1], [2, 1, 0], [0, 1, 0], [0, 3, 1]]), ["a", "a", "b", "b"]
    >>> Rocchio().fit(X, y).predict(X).tolist()
    ['a', 'a', 'b', 'b']
    """

    negative_weight: float | Literal["auto"] = parameter(0.25, either(AT_LEAST_0, one_of("auto")))
    _: KW_ONLY
    n_jobs: int | None = None

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the centroids.

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
        rows = self.as_scored(csr)
        sums = ClassCounts.of(rows, signs, weights, self.n_jobs)
        self._choose(sums, rows, weights, signs, space)
        self._keep(space, sums)
        coef, intercept = self._linear_rule()
        require_finite(self, csr, coef_=coef, intercept_=intercept)
        return self

    @one_fit_at_a_time
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add more documents to the centroids; the result is that of one `fit` on all of them.

        A `negative_weight` of "auto" is chosen in the first call.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in the form of the first call; earlier documents do not have labels that are new
        classes : sequence of labels, optional
            Expected labels, in the first call. Two of them make the task binary; by default every label has
            a column.
        sample_weight : (n,) how often each document counts
        """
        first = not hasattr(self, "label_space_")
        self._check_parameters()
        csr = checked_csr(self, X, first=first)
        batch = receive(None if first else self.label_space_, y, classes, n=csr.n_rows)
        weights = sample_weights(sample_weight, csr.n_rows)
        rows = self.as_scored(csr)
        sums = ClassCounts.of(rows, batch.signs.T, weights, self.n_jobs)
        if first or self.negative_weight != "auto":
            self._choose(sums, rows, weights, batch.signs.T, batch.space)
        if not first:
            sums = self._all_sums().placed(batch.kept, batch.space.n_columns).plus(sums)
        self._keep(batch.space, sums)
        return self

    def left_out_scores(
        self, X: Any, y: Any, sample_weight: Any = None, *, as_new: AsNew | None = None, **_: Any
    ) -> HeldOutScores:
        """Scores of training examples by the rules learned without them, in closed form.

        Each document is taken out of the sums of its labels; nothing is learned again, and a weight that was
        chosen stays. What else learners take here is about ways that are not exact.
        """
        check_is_fitted(self, "label_space_")
        csr = checked_csr(self, X, first=False)
        labels = Labels.of(y, csr.n_rows, space=self.label_space_)
        weights = sample_weights(sample_weight, csr.n_rows)
        new = None if as_new is None else self.as_scored(checked_csr(self, as_new.rows, first=False))
        documents = Documents.of(self.as_scored(csr), weights, new)
        scores = left_out.scores(self._all_sums(), documents, labels.signs, self.negative_weight_)
        require_finite(self, csr, left_out_scores=scores)
        return HeldOutScores.of_closed_form(scores, labels.signs)

    def left_out_cost(self, X: Any) -> LeftOutCost:
        """What `left_out_scores` is predicted to take on `X`."""
        check_is_fitted(self, "label_space_")
        size = X.nnz if hasattr(X, "nnz") else np.size(X)
        cells = float(size + X.shape[1]) * self.label_space_.n_columns
        return LeftOutCost(left_out.WORK * cells, "Rocchio would take every document out of its centroids")

    def get_state(self) -> State:
        """The state for prediction and further training: a configuration for JSON, and arrays."""
        config = self._described()
        config["negative_weight"] = self.negative_weight_
        return config, self._all_sums().arrays()

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        """A learner from the result of `get_state`; training can continue."""
        stored = Stored(config, arrays)
        learner: Self = stored.estimator(cls)
        learner._read_weights(stored)
        return learner

    def _linear_rule(self) -> tuple[Floats, Floats]:
        check_is_fitted(self, "label_space_")
        return super()._linear_rule()

    def _choose(
        self, sums: ClassCounts, rows: Csr, weights: Floats, signs: NDArray[np.int8], space: LabelSpace
    ) -> None:
        if self.negative_weight != "auto":
            self.negative_weight_ = float(self.negative_weight)
            return
        documents = Documents.of(rows, weights, None)
        self.negative_weight_ = _best_negative_weight(sums, documents, signs, space)

    def _keep(self, space: LabelSpace, sums: ClassCounts) -> None:
        self.label_space_, self.sums_, self._rule = space, sums, None

    def _all_sums(self) -> ClassCounts:
        if self.sums_ is None:
            raise UsageError("This model was saved without the sums of its documents. Train it again.")
        return self.sums_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # negative weights are cut to 0: meant for term counts
        return tags


def _best_negative_weight(
    sums: ClassCounts, documents: Documents, signs: NDArray[np.int8], space: LabelSpace
) -> float:
    """The weight with the best leave-one-out scores; of equally good ones the smallest."""
    found = []
    for beta in NEGATIVE_WEIGHTS:
        scores = left_out.scores(sums, documents, signs, beta)
        if space.kind == "multiclass":
            right = np.take_along_axis(signs, scores.argmax(axis=1)[:, None], axis=1)[:, 0] > 0
            found.append(float(np.average(right, weights=documents.weight)))
        else:
            found.append(micro_prbep(signs, scores, "own"))
    return NEGATIVE_WEIGHTS[int(np.argmax(found))]
