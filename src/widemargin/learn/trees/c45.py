"""C4.5: decision trees and rules (Quinlan, 1993; joachims 2.5.4)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import Csr, canonical_csr, checked_csr
from widemargin._one_fit import one_fit_at_a_time, require_not_fitting
from widemargin._parameters import (
    BETWEEN_0_AND_1,
    COUNT,
    FLAG,
    POSITIVE,
    one_of,
    or_none,
    parameter,
    require_finite,
)
from widemargin._stored import Stored
from widemargin.errors import UsageError
from widemargin.labels import Labels
from widemargin.learn.costs import sample_weights
from widemargin.learn.label_model import Arrays, LabelModel, State
from widemargin.learn.trees.conditions import OutlineLine, Step
from widemargin.learn.trees.forest import Forest, Growing
from widemargin.learn.trees.rule_lists import RuleLists

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class C45(LabelModel):
    """One decision tree per label, or the rules that follow from it.

    A node tests whether a feature exceeds a threshold; a missing term has the value 0. Among the splits that
    gain at least as much information as the average of all that gain any, the one of greatest gain ratio is
    chosen. Subtrees become leaves where that is not expected to increase errors, by the upper confidence
    limit of the errors of leaves. The score of a document is the share of training documents with the label
    in its leaf, (p + 1) / (n + 2), minus 0.5. Many documents have equal scores.

    Parameters
    ----------
    confidence : float or None
        Of the confidence limit: smaller values prune more. None prunes nothing.
    output : {"tree", "rules"}
        "rules": every path of the tree without pruning becomes a rule. Its conditions are dropped as long as
        its pessimistic error does not rise, and rules that do not pay are removed (core/trees/rules.hpp).
    min_objects : float
        The least number of training documents on both sides of a split, or their weight. For a feature with
        several values other than 0, it is n / 20 of the n documents of a node, if that is more, but at most
        25, as in release 8 of C4.5.
    max_depth : int or None
        The largest number of tests on a path.
    penalty : bool
        Subtract log2(d - 1) / n from the information gain of a feature with d distinct values among the n
        documents of a node, for choosing its threshold (Quinlan, 1996). Features with one value other than 0
        are not affected.
    n_jobs : int or None
        As in :class:`~widemargin.LinearSVM`. Labels are divided among the threads.

    Attributes
    ----------
    trees_ : :class:`~widemargin.learn.trees.forest.Forest`, with ``output="tree"``
    rules_ : :class:`~widemargin.learn.trees.rule_lists.RuleLists`, with ``output="rules"``

    Examples
    --------
    >>> X = np.array([[1, 0, 2], [1, 1, 0], [0, 1, 0], [0, 0, 1]] * 3)
    >>> model = C45().fit(X, ["grain", "grain", "money", "money"] * 3)
    >>> [line.words("money", ["corn", "bank", "rate"].__getitem__) for line in model.outline("money")]
    ['corn <= 0: money (6 of 6)', 'corn > 0: not money (0 of 6)']
    >>> model.predict([[0, 5, 0]]).tolist()
    ['money']
    """

    confidence: float | None = parameter(0.25, or_none(BETWEEN_0_AND_1))
    _: KW_ONLY
    output: Literal["tree", "rules"] = parameter("tree", one_of("tree", "rules"))
    min_objects: float = parameter(2.0, POSITIVE)
    max_depth: int | None = parameter(None, or_none(COUNT))
    penalty: bool = parameter(True, FLAG)
    n_jobs: int | None = None

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

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
        if len(weights) and not weights.all():  # a threshold is a value of documents that count
            counting = np.flatnonzero(weights)
            csr, signs, weights = canonical_csr(csr.matrix[counting]), signs[counting], weights[counting]
        growing = Growing(self.min_objects, self.max_depth, True, bool(self.penalty), self.confidence)
        made = self._kind.grown(csr, signs, weights, growing, self.n_jobs)
        require_finite(self, csr, thresholds=made.threshold, weights=made.n)
        self._keep(made)
        self.label_space_ = space
        return self

    def decision_function(self, X: Any) -> Floats:
        """Scores from -0.5 to 0.5: (n,) for a binary task, otherwise (n, labels)."""
        check_is_fitted(self, "label_space_")
        require_not_fitting(self)
        scores = self._made.scores(checked_csr(self, X, first=False), self.n_jobs)
        return scores[:, 0] if self.label_space_.kind == "binary" else scores

    def predict_proba(self, X: Any) -> Floats:
        """The expected share of each label in the leaf of a document, documents x `classes_`.

        Those of several classes are divided by their sum.
        """
        found = self.decision_function(X) + 0.5
        if self.label_space_.kind == "multilabel":
            return found
        if self.label_space_.kind == "binary":
            return np.column_stack([1 - found, found])
        shares: Floats = found / found.sum(axis=1, keepdims=True)
        return shares

    def outline(self, label: Any = None) -> list[OutlineLine]:
        """The tree or the rules of a label, line by line; by default of the second of two classes."""
        check_is_fitted(self, "label_space_")
        names = self.label_space_.column_names.tolist()
        if label is None and len(names) == 1:
            label = names[0]
        if label not in names:
            shown = ", ".join(map(str, names[:10])) + (", ..." if len(names) > 10 else "")
            raise UsageError(f"There is no tree for {label!r}, but for {shown}.")
        return self._made.outline(names.index(label))

    def steps(self, row: Csr, column: int) -> tuple[float, list[Step]]:
        """The score of a column of labels without any condition, and the conditions that decided it for one
        document."""
        check_is_fitted(self, "label_space_")
        return self._made.steps(column, row.indices, row.data)

    def score_parts(self, row: Csr) -> tuple[Floats, Floats]:
        """The scores of one document as sums: a constant per column, and a part per term and column.

        A condition adds the difference that it makes to the score. Conditions on terms that the document does
        not have add to the constant.
        """
        check_is_fitted(self, "label_space_")
        place = {int(column): k for k, column in enumerate(row.indices)}
        constants = np.zeros(self.label_space_.n_columns)
        parts = np.zeros((len(row.indices), len(constants)))
        for column in range(len(constants)):
            score, steps = self.steps(row, column)
            constants[column] = score
            for step in steps:
                at = place.get(step.condition.column)
                if at is None:
                    constants[column] += step.score - score
                else:
                    parts[at, column] += step.score - score
                score = step.score
        return constants, parts

    def get_state(self) -> State:
        """The state for prediction: a configuration for JSON, and arrays."""
        config = self._described()
        return config, self._made.arrays()

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        """A fitted learner from the result of `get_state`."""
        stored = Stored(config, arrays)
        learner = cls._from_description(stored)
        learner._keep(learner._kind.read(stored, learner.label_space_.n_columns, learner.n_features_in_))
        return learner

    @property
    def _kind(self) -> type[Forest] | type[RuleLists]:
        return RuleLists if self.output == "rules" else Forest

    @property
    def _made(self) -> Forest | RuleLists:
        return self.rules_ if hasattr(self, "rules_") else self.trees_

    def _keep(self, made: Forest | RuleLists) -> None:
        for name in ("trees_", "rules_"):
            if hasattr(self, name):
                delattr(self, name)
        if isinstance(made, RuleLists):
            self.rules_ = made
        else:
            self.trees_ = made
