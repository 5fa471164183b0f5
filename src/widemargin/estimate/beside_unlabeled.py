"""Held-out scores of a transductive learner: folds over labeled documents, the unlabeled ones in every
fold."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from widemargin._arrays import is_sparse
from widemargin.errors import DataWarning, UsageError
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.averages.columns import told_blocks
from widemargin.measure.held_out_scores import HeldOutScores


class BesideUnlabeled:
    """A learner of labeled documents: `learner` with the same unlabeled documents beside them in every fit.

    Parameters
    ----------
    learner : of labeled and unlabeled documents; it does not change
    unlabeled : (k, features) the unlabeled documents
    space : the labels; None for those that `learner` was fitted with
    scored : held-out scores by folds, if they are known already
    """

    def __init__(
        self,
        learner: Any,
        unlabeled: Any,
        space: LabelSpace | None = None,
        scored: HeldOutScores | None = None,
    ) -> None:
        self.learner = learner
        self.unlabeled = unlabeled
        self.label_space_: LabelSpace = learner.label_space_ if space is None else space
        self.scored = scored
        self.random_state = getattr(learner, "random_state", 0)
        self.verbose = getattr(learner, "verbose", False)

    def __sklearn_clone__(self) -> BesideUnlabeled:
        return BesideUnlabeled(self.learner, self.unlabeled, self.label_space_)

    def with_unlabeled(self, unlabeled: Any, blocks: dict[str, slice] | None) -> BesideUnlabeled:
        """The same with other rows of the unlabeled documents, and with the columns of their blocks."""
        learner, inner = self.learner, getattr(self.learner, "learner", None)
        if inner is not None:
            learner = clone(learner).set_params(learner=told_blocks(inner, blocks))
        return BesideUnlabeled(told_blocks(learner, blocks), unlabeled, self.label_space_)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Nothing that a fold could set."""
        return {}

    def set_params(self) -> Self:
        """Nothing to set."""
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from labeled documents, of which a class may be missing, and from the unlabeled ones."""
        given = Labels.of(y)
        several = given.space.kind == "multilabel"
        names = (self.label_space_ if several else given.space).column_names
        # A label of which there are no examples, or nothing else, is not learned.
        self._constant = given.signs[0].astype(np.float64)
        self._used = (given.signs != given.signs[0]).any(axis=0)
        k = self.unlabeled.shape[0]
        signs = np.zeros((len(given) + k, np.count_nonzero(self._used)), dtype=np.int8, order="F")
        signs[: len(given)] = given.signs[:, self._used]
        space = LabelSpace("multilabel", names[self._used]) if several else given.space
        rows = (sp.vstack if is_sparse(X) else np.vstack)([X, self.unlabeled])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            labels = Labels(space, signs, np.arange(len(signs)) >= len(given))
            self.fitted_ = self._for(space).fit(rows, labels)
        return self

    def _for(self, space: LabelSpace) -> Any:
        """A copy of the learner for the labels of a fold."""
        learner = clone(self.learner)
        if not hasattr(learner, "positives"):
            return learner
        learner.set_params(verbose=False, positives=None)
        if self.unlabeled.shape[0] > 1 and hasattr(self.learner, "positives_"):
            counts = dict(zip(self.label_space_.column_names.tolist(), self.learner.positives_, strict=True))
            learner.positives = [int(counts[name]) for name in space.column_names.tolist()]
        if isinstance(learner.class_weight, dict):
            known = space.classes.tolist()
            learner.class_weight = {name: w for name, w in learner.class_weight.items() if name in known}
        if learner.on_alarm != "inductive":  # then the rule does not depend on the alarm
            learner.set_params(alarm_level=0)
        return learner

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores (n, columns)."""
        scores = np.tile(self._constant, (X.shape[0], 1))
        scores[:, self._used] = self.fitted_.decision_function(X).reshape(len(scores), -1)
        return scores


def labeled_part(
    learner: Any, rows: TrainingRows, names: list[Any] | None
) -> tuple[BesideUnlabeled, TrainingRows, list[Any] | None]:
    """What folds can be made of: the labeled documents, and a learner that sees the others in every fold.

    The representation is that of all documents, as it is where the labels of some are not known.
    """
    if isinstance(learner, BesideUnlabeled):
        return learner, rows, names
    labels = Labels.partial(rows.y, learner.unlabeled)
    known = ~labels.unlabeled
    labeled = labels.take(known)
    if labeled.marked is not None:
        raise UsageError(
            "Some documents have labels of which only a part is known. Estimates need documents whose "
            "labels are all known. Leave out estimate, thresholds and calibration."
        )
    if names is not None:
        names = [name for name, own in zip(names, known.tolist(), strict=True) if own]
    return BesideUnlabeled(learner, rows.X[~known]), TrainingRows(rows.X[known], labeled), names
