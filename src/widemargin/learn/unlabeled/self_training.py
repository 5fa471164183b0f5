"""Self-training: learn, label what is surest, and learn again from both."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import checked_csr
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import COUNT, FROM_0_TO_1, parameter
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.costs import weights_for
from widemargin.learn.label_model import LabelModel, State
from widemargin.learn.svm.linear_svm import LinearSVM

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class SelfTraining(LabelModel):
    """Let a learner label the unlabeled documents that it is surest of, and learn from them too.

    The learner is trained on the labeled documents. In every round, the `keep` share of the unlabeled
    documents with the widest margin between the best and the next class get the best class, and the learner
    is trained again on the labeled documents and these, which count `weight` times. Cheaper than
    :class:`~widemargin.TransductiveSVM`, for documents with one class each.

    Parameters
    ----------
    learner : any classifier with `decision_function`; it needs `sample_weight` unless `weight` is 1. None for
        a :class:`~widemargin.LinearSVM`
    rounds : how often unlabeled documents are labeled again
    keep : share of the unlabeled documents that are learned from, the surest ones
    weight : how much one of them counts beside a labeled document
    unlabeled : the mark of an unlabeled document in `y`: None for None and NaN, or a value such as -1
    n_jobs : number of threads of the default learner

    Attributes
    ----------
    final_learner_ : the learner that was trained last, which scores new documents and is saved
    transduction_ : labels of all training documents, in the form of `y`; those that were given stay
    unlabeled_ : (n,) true for inferred labels
    scores_ : (n, columns) scores of the training documents
    inductive_ : (n, columns) their scores by the learner of the labeled documents only

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [0.3, 0.8], [1.0, 0.0], [0.9, 0.2], [0.7, 0.3]])
    >>> model = SelfTraining().fit(X, ["ham", None, None, "spam", None, None])
    >>> model.transduction_.tolist()
    ['ham', 'ham', 'ham', 'spam', 'spam', 'spam']
    """

    learner: Any = None
    _: KW_ONLY
    rounds: int = parameter(2, COUNT)
    keep: float = parameter(0.7, FROM_0_TO_1)
    weight: float = parameter(0.5, FROM_0_TO_1)
    unlabeled: Any = None
    n_jobs: int | None = None

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any) -> Self:
        """Train on labeled and unlabeled documents.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : one label per document, some of them marked as unlabeled
        """
        self._check_parameters()
        if self.learner is not None and not hasattr(self.learner, "decision_function"):
            raise UsageError(f"learner={self.learner!r} has no decision_function. Pass another learner.")
        rows = checked_csr(self, X, first=True).matrix
        labels = Labels.partial(y, self.unlabeled, rows.shape[0])
        if labels.space.kind == "multilabel":
            raise DataError(
                "Self-training needs one class per document; these have label sets. Use a TransductiveSVM."
            )
        self.label_space_ = labels.space
        self.unlabeled_: NDArray[np.bool_] = labels.unlabeled
        known, others = np.flatnonzero(~self.unlabeled_), np.flatnonzero(self.unlabeled_)
        if not len(others):
            warnings.warn(
                "Every document is labeled, so there is nothing to train itself on. Mark documents to label "
                f"by {'None or NaN' if self.unlabeled is None else repr(self.unlabeled)}.",
                DataWarning,
                stacklevel=3,
            )
        count = round(float(self.keep) * len(others)) if self.weight > 0 else 0
        self.final_learner_ = self._trained(rows, labels, known, known[:0], self.label_space_)
        self.inductive_ = self.scores_ = self._scores(rows)
        for _ in range(self.rounds if count else 0):
            sure = others[np.argsort(-_margins(self.scores_[others]), kind="stable")[:count]]
            self.final_learner_ = self._trained(rows, labels, known, np.sort(sure), self.label_space_)
            self.scores_ = self._scores(rows)
        choice = labels.signs.astype(np.float64)
        choice[self.unlabeled_] = self.scores_[self.unlabeled_]
        self.transduction_: Any = labels.space.decide(choice)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Scores of the documents: (n,) for a binary task, otherwise (n, labels)."""
        check_is_fitted(self, "label_space_")
        return np.asarray(self.final_learner_.decision_function(X))

    def get_state(self) -> State:
        """The state of the final learner."""
        check_is_fitted(self, "label_space_")
        state: State = self.final_learner_.get_state()
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags

    def _trained(self, rows: Any, labels: Labels, known: Any, sure: Any, space: LabelSpace) -> Any:
        """The learner of the labeled documents, and of the `sure` ones with their best classes."""
        learner = clone(self.learner) if self.learner is not None else LinearSVM(n_jobs=self.n_jobs)
        signs = labels.signs[known]
        weights = None
        if len(sure):
            signs = np.vstack([signs, space.choose(self.scores_[sure])])
            if self.weight != 1:
                weights = np.concatenate([np.ones(len(known)), np.full(len(sure), float(self.weight))])
        given = Labels(space, np.asfortranarray(signs, dtype=np.int8))
        return learner.fit(rows[np.concatenate([known, sure])], given, **weights_for(learner, weights))

    def _scores(self, rows: Any) -> Floats:
        return np.asarray(self.final_learner_.decision_function(rows), float).reshape(rows.shape[0], -1)


def _margins(scores: Floats) -> Floats:
    """How far the best class is before the next one."""
    if scores.shape[1] == 1:
        return np.abs(scores[:, 0])
    best = np.partition(scores, -2, axis=1)
    return np.asarray(best[:, -1] - best[:, -2])
