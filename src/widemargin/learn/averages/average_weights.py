"""What an `AverageOf` learned, in plain arrays: to score and to explain without scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr
from widemargin._stored import Stored
from widemargin.errors import DataError
from widemargin.labels import LabelSpace
from widemargin.learn.averages.columns import Ranges, restricted, width
from widemargin.learn.averages.members import (
    MEMBERS,
    member_class,
    member_parts,
    member_scores,
    member_weights,
)

Floats = NDArray[np.float64]
# Settings that say how to work and not what comes out.
MACHINE = ("n_jobs", "verbose")


class AverageWeights:
    """The fitted members of an average, and the columns of each.

    Attributes
    ----------
    label_space_ : LabelSpace
    members_ : fitted learners, or their weights
    columns_, ranges_ : the columns of each of them, as they were given, and as a list of (begin, end)
    n_features_in_ : number of features
    """

    label_space_: LabelSpace
    members_: list[Any]
    columns_: list[Any]
    ranges_: list[Ranges]
    n_features_in_: int
    n_jobs: int | None = None
    verbose: bool = False

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """What the `get_state` of the learner described; its parameters are ignored."""
        self = cls()
        self._read_members(Stored(config, arrays), arrays, to_score=True)
        return self

    def row_scores(self, csr: Csr) -> Floats:
        """Scores (n, columns) of rows."""
        if csr.n_columns != self.n_features_in_:
            raise DataError(
                f"X has {csr.n_columns} features, but the classifier learned {self.n_features_in_}."
            )
        total = np.zeros((csr.n_rows, self.label_space_.n_columns))
        for member, ranges in zip(self.members_, self.ranges_, strict=True):
            total += member_scores(self._threaded(member), restricted(csr, ranges)[0])
        total /= len(self.members_)
        return total

    def score_parts(self, row: Csr) -> tuple[Floats, Floats]:
        """What each value of a row adds to the scores: the intercepts, and values x columns."""
        constants = np.zeros(self.label_space_.n_columns)
        parts = np.zeros((len(row.data), len(constants)))
        for member, ranges in zip(self.members_, self.ranges_, strict=True):
            part, inside = restricted(row, ranges)
            constant, values = member_parts(member, part)
            constants += constant
            parts[inside] += values
        return constants / len(self.members_), parts / len(self.members_)

    @property
    def intercept_(self) -> Floats:
        """Means of the members' intercepts."""
        self._require_members()
        space = self.label_space_
        found = [
            np.broadcast_to(np.asarray(member.intercept_, dtype=np.float64), (space.n_columns,))
            for member in self.members_
        ]
        return np.asarray(np.mean(found, axis=0))

    @property
    def term_weights_(self) -> Floats:
        """Means of the members' weights, columns x features."""
        self._require_members()
        weights = [member_weights(member) for member in self.members_]
        if any(found is None for found in weights):
            raise AttributeError("A member of this average has no term weights.")
        total = np.zeros((self.label_space_.n_columns, self.n_features_in_))
        for found, ranges in zip(weights, self.ranges_, strict=True):
            first = 0
            for begin, end in ranges:
                total[:, begin:end] += found[:, first : first + end - begin]
                first += end - begin
        return total / len(self.members_)

    def _require_members(self) -> None:
        if not hasattr(self, "members_"):
            raise AttributeError("This average is not fitted.")

    def _threaded(self, member: Any) -> Any:
        """The member with this average's number of threads."""
        for name in MACHINE:
            if hasattr(member, name):
                setattr(member, name, getattr(self, name))
        return member

    def _read_members(
        self, stored: Stored, arrays: dict[str, NDArray[Any]], *, to_score: bool = False
    ) -> None:
        self.label_space_ = LabelSpace.from_dict(stored.value("labels"))
        self.n_features_in_ = stored.integer("n_features")
        self.members_, self.ranges_, self.columns_ = [], [], []
        for k, part in enumerate(stored.items("members")):
            member = Stored(part, {}, f"members.{k}.")
            prefix = f"{k}."
            own = {
                name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)
            }
            ranges = _stored_ranges(member, self.n_features_in_)
            member.inner("state").same("n_features", width(ranges))  # before anything of that size is made
            by_weights = to_score and "dual_coef" not in own
            made = member_class(member.choice("name", MEMBERS), to_score=by_weights)
            learner = made.from_state(member.value("state"), own)
            if learner.n_features_in_ != width(ranges) or learner.label_space_ != self.label_space_:
                raise DataError(f"'members.{k}' in manifest.json has other columns or labels than the rest")
            names = _stored_names(member)
            numbers = np.concatenate([np.arange(*edges) for edges in ranges])
            self.members_.append(learner)
            self.ranges_.append(ranges)
            self.columns_.append(numbers if names == [] else names)
        if not self.members_:
            raise DataError("'members' in manifest.json is empty")


def _stored_names(member: Stored) -> list[str] | None:
    if member.value("blocks") is None:
        return None
    names = member.items("blocks")
    if not all(isinstance(name, str) for name in names):
        raise DataError("'blocks' of a member in manifest.json holds what is not a name")
    return names


def _stored_ranges(member: Stored, n_columns: int) -> Ranges:
    last, found = 0, []
    for part in member.items("ranges"):
        edges = isinstance(part, list) and len(part) == 2 and all(type(edge) is int for edge in part)
        if not edges or not last <= part[0] < part[1] <= n_columns:
            raise DataError(f"'ranges' of a member in manifest.json has {part!r}; expected ascending columns")
        found.append((part[0], part[1]))
        last = part[1]
    if not found:
        raise DataError("'ranges' of a member in manifest.json is empty")
    return found
