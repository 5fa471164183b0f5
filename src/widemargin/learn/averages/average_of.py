"""The mean of the scores of a few machines, each of which learns from some of the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import checked_csr
from widemargin._one_fit import one_fit_at_a_time
from widemargin._stored import Stored
from widemargin.errors import DataError, UsageError
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.averages.average_weights import MACHINE, AverageWeights
from widemargin.learn.averages.columns import Ranges, check_blocks, ranges_of, restricted
from widemargin.learn.averages.members import member_name
from widemargin.learn.costs import weights_for
from widemargin.learn.label_model import Arrays, LabelModel, RowModel, State
from widemargin.learn.svm.label_weighted_svm import LabelWeightedSVM
from widemargin.learn.svm.linear_svm import LinearSVM

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class AverageOf(RowModel, AverageWeights):
    """The mean of the scores of two or three machines over blocks of columns.

    Each member is trained on the rows in its columns, scaled to length 1; empty rows stay empty. Machines
    that see different sides of a document err on different documents, so that their mean is often better
    than each. A member whose blocks have no columns is left out.

    Parameters
    ----------
    members : pairs of columns and an unfitted learner. Columns are a name or names of blocks of the
        :class:`~widemargin.Vectorizer`, a slice or numbers of columns, or None for all. By default, for
        label sets a :class:`~widemargin.LabelWeightedSVM` on words and a :class:`~widemargin.LinearSVM` on
        everything; for exclusive classes a LinearSVM on words and one on everything
    blocks : the columns of every block, name by name; a :class:`~widemargin.TextClassifier` sets them
    random_state : random seed of the default members
    n_jobs : number of threads of each member, None for all cores; the result does not depend on it
    verbose : show progress bars when stderr is a terminal

    Attributes
    ----------
    members_ : the fitted members
    columns_, ranges_ : the columns of each of them, as they were given, and as a list of (begin, end)
    intercept_ : means of the members' intercepts
    term_weights_ : means of the members' weights, columns x features: what a value adds to a score before
        rows are scaled; 0 in columns that a member does not have
    label_space_ : the labels and their form
    classes_ : all labels

    Examples
    --------
    >>> X = np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 0.0], [3.0, 0.0, 1.0], [4.0, 1.0, 0.0]])
    >>> average = AverageOf([(slice(0, 2), LinearSVM()), (None, LinearSVM(C=10))])
    >>> average.fit(X, ["ham", "ham", "spam", "spam"]).predict(X).tolist()
    ['ham', 'ham', 'spam', 'spam']
    """

    members: Sequence[tuple[Any, Any]] | None = None
    _: KW_ONLY
    blocks: Mapping[str, Any] | None = None
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: bool = False

    needs_blocks: ClassVar[bool] = True
    no_left_out: ClassVar[str] = (
        "The members of an AverageOf scale documents for themselves, so that none can be left out of their "
        "mean at once. Use k-fold, which fits all members again in every fold."
    )

    def with_blocks(self, blocks: Mapping[str, slice]) -> Self:
        """A copy that knows the columns of every block."""
        told: Self = clone(self).set_params(
            blocks={name: [int(part.start), int(part.stop)] for name, part in blocks.items()}
        )
        return told

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train all members.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in any form that :mod:`widemargin.labels` accepts
        sample_weight : (n,) factors on the costs of the examples
        """
        self._check_parameters()
        csr = checked_csr(self, X, first=True)
        labels = Labels.of(y, csr.n_rows)
        members = self._default(labels.space) if self.members is None else self.members
        found: list[tuple[Any, Ranges, Any]] = []
        for columns, learner in members:
            ranges = ranges_of(columns, self.blocks, csr.n_columns)
            if not ranges:  # nothing is left of its blocks
                continue
            rows, _ = restricted(csr, ranges)
            member = self._threaded(clone(learner))
            member.fit(rows.matrix, labels, **weights_for(member, sample_weight))
            found.append((member, ranges, columns))
        if not found:
            raise DataError("No member of the average has any column: all its blocks are empty.")
        self.members_, self.ranges_, self.columns_ = map(list, zip(*found, strict=True))
        self.label_space_ = labels.space_and_signs[0]
        return self

    def get_state(self) -> State:
        """The state for prediction: a configuration for JSON, and arrays."""
        check_is_fitted(self, "label_space_")
        config: dict[str, Any] = {
            "parameters": {
                "blocks": None
                if self.blocks is None
                else {name: list(_edges(part)) for name, part in self.blocks.items()},
                "random_state": self.random_state,
                "n_jobs": self.n_jobs,
                "verbose": self.verbose,
            },
            "by_default": self.members is None,
            "labels": self.label_space_.to_dict(),
            "n_features": self.n_features_in_,
            "members": [],
        }
        arrays: Arrays = {}
        for k, (member, ranges) in enumerate(zip(self.members_, self.ranges_, strict=True)):
            state, found = member.get_state()
            state["parameters"] = {
                name: value for name, value in state["parameters"].items() if name not in MACHINE
            }
            config["members"].append(
                {
                    "name": member_name(member),
                    "blocks": _names(self.columns_[k]),
                    "ranges": [list(part) for part in ranges],
                    "state": state,
                }
            )
            arrays |= {f"{k}.{name}": value for name, value in found.items()}
        return config, arrays

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        """A fitted average from the result of `get_state`."""
        stored = Stored(config, arrays)
        average: Self = stored.estimator(cls)
        average._read_members(stored, arrays)
        members = [
            (columns, clone(learner))
            for columns, learner in zip(average.columns_, average.members_, strict=True)
        ]
        average.members = None if stored.flag("by_default") else members
        return average

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_blocks(self.blocks)
        if self.members is None:
            return
        pairs = isinstance(self.members, list | tuple) and len(self.members) > 0
        if not pairs or not all(isinstance(each, list | tuple) and len(each) == 2 for each in self.members):
            raise UsageError(
                f"members={self.members!r}: expected a list of pairs of columns and a learner, such as "
                f"[('words', LinearSVM()), (None, LinearSVM())], or None."
            )
        for _, learner in self.members:
            if not isinstance(learner, LabelModel):
                raise UsageError(f"A member of an average is {learner!r}: expected a learner of widemargin.")

    def _require_members(self) -> None:
        check_is_fitted(self, "label_space_")

    def _default(self, space: LabelSpace) -> list[tuple[Any, Any]]:
        blocks = {name: part for name, part in (self.blocks or {}).items() if np.ptp(_edges(part)) > 0}
        several = len(blocks) > 1 and "words" in blocks
        words = "words" if several else None
        everything = (None, LinearSVM(random_state=self.random_state))
        if space.kind == "multilabel":
            return [(words, LabelWeightedSVM(random_state=self.random_state)), everything]
        return [(words, LinearSVM(random_state=self.random_state)), everything] if several else [everything]


def _edges(part: Any) -> tuple[int, int]:
    begin, end = (part.start, part.stop) if isinstance(part, slice) else part
    return int(begin), int(end)


def _names(columns: Any) -> list[str] | None:
    """Names of blocks; None for all columns, empty for numbers, which the ranges say."""
    names = [columns] if isinstance(columns, str) else columns
    if names is None:
        return None
    named = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    return list(names) if named else []
