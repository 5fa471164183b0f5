"""Lists of rules as flat arrays: made by the core from trees, scored, saved and verified."""

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
from widemargin.learn.trees.conditions import Condition, OutlineLine, Step
from widemargin.learn.trees.forest import Growing, laplace_scores

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RuleLists:
    """One list of rules per label (core/trees/rules.hpp). The first rule whose conditions hold decides.

    Attributes
    ----------
    begin : (lists + 1,) the first rule of each list
    conditions_begin : (rules + 1,) the first condition of each rule; the last rule of a list has none
    column, above, threshold : of each condition, see :class:`~widemargin.learn.trees.conditions.Condition`
    n, positive : weight of the training examples that a rule covers (the last one: that no other covers), and
        of the positive ones among them
    """

    begin: NDArray[np.int64]
    conditions_begin: NDArray[np.int64]
    column: NDArray[np.int32]
    above: NDArray[np.uint8]
    threshold: Floats
    n: Floats
    positive: Floats

    @classmethod
    def grown(
        cls, csr: Csr, signs: NDArray[np.int8], weights: Floats, growing: Growing, n_jobs: int | None
    ) -> RuleLists:
        """One list per column of `signs`; parameters as in
        :meth:`~widemargin.learn.trees.forest.Forest.grown`.

        Examples
        --------
        >>> from widemargin._arrays import canonical_csr
        >>> X = canonical_csr(np.array([[1.0, 0], [1, 1], [0, 1], [0, 1]]))
        >>> rules = RuleLists.grown(X, np.array([[1], [1], [-1], [-1]], np.int8), np.zeros(0), Growing(), 1)
        >>> [line.words("it", "ab".__getitem__) for line in rules.outline(0)]
        ['a > 0: it (2 of 2)', 'a <= 0: not it (0 of 2)', 'otherwise: not it (2 of 4)']
        """
        threads = thread_count(n_jobs)
        columns = _core.TreeColumns(csr.native(), threads)
        examples = np.ascontiguousarray(signs.T), weights
        made: Any = _core.grow_trees(columns, *examples, growing.native(rules=True), threads)
        return cls(*made)

    @property
    def rule_scores(self) -> Floats:
        """The score of every rule: :func:`~widemargin.learn.trees.forest.laplace_scores`."""
        return laplace_scores(self.n, self.positive)

    def scores(self, csr: Csr, n_jobs: int | None) -> Floats:
        """The score of the first rule that covers each row, (n, lists)."""
        native = _core.RuleLists(
            begin=self.begin,
            conditions_begin=self.conditions_begin,
            column=self.column,
            above=self.above,
            threshold=self.threshold,
            score=self.rule_scores,
        )
        found = np.empty((csr.n_rows, len(self.begin) - 1))
        _core.score_by_rules(csr.native(), native, found, thread_count(n_jobs))
        return found

    def conditions(self, rule: int) -> tuple[Condition, ...]:
        """The conditions of a rule."""
        places = range(int(self.conditions_begin[rule]), int(self.conditions_begin[rule + 1]))
        return tuple(
            Condition(int(self.column[c]), bool(self.above[c]), float(self.threshold[c])) for c in places
        )

    def steps(self, place: int, columns: NDArray[Any], values: NDArray[Any]) -> tuple[float, list[Step]]:
        """The score of the last rule of a list, and the conditions of the rule that covers a row.

        Every condition adds the same share of the difference of their scores.
        """
        row = dict(zip(columns.tolist(), values.tolist(), strict=True))
        scores = self.rule_scores
        last = int(self.begin[place + 1]) - 1
        for rule in range(int(self.begin[place]), last + 1):
            conditions = self.conditions(rule)
            found = [row.get(each.column, 0.0) for each in conditions]
            if all((x > each.threshold) == each.above for x, each in zip(found, conditions, strict=True)):
                break
        start = float(scores[last])
        shares = start + (float(scores[rule]) - start) * np.arange(1, len(found) + 1) / max(len(found), 1)
        return start, [Step(*step) for step in zip(conditions, found, shares.tolist(), strict=True)]

    def outline(self, place: int) -> list[OutlineLine]:
        """The rules of a list in order."""
        scores = self.rule_scores
        return [
            OutlineLine(
                0, self.conditions(rule), float(self.n[rule]), float(self.positive[rule]), float(scores[rule])
            )
            for rule in range(int(self.begin[place]), int(self.begin[place + 1]))
        ]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of a model file. Bytes are stored as 32-bit numbers, since an array of bytes is a text
        there."""
        found = {f"rules_{name}": getattr(self, name) for name in self.__dataclass_fields__}
        return {**found, "rules_above": self.above.astype(np.int32)}

    @classmethod
    def read(cls, stored: Stored, n_lists: int, n_features: int) -> RuleLists:
        """Verified rules of a model file."""
        begin = stored.array("rules_begin", (n_lists + 1,), np.int64)
        n, positive = (stored.array(f"rules_{name}", (None,), least=0) for name in ("n", "positive"))
        n_rules = len(n)
        places = stored.array("rules_conditions_begin", (n_rules + 1,), np.int64)
        column = stored.array("rules_column", (None,), np.int32, least=0, most=n_features - 1)
        above = stored.array("rules_above", column.shape, np.int32, least=0, most=1)
        threshold = stored.array("rules_threshold", column.shape)
        if begin[0] != 0 or begin[-1] != n_rules or (np.diff(begin) < 1).any():
            raise DataError("'rules_begin' in arrays.safetensors does not divide the rules among the labels")
        sizes = np.diff(places)
        if places[0] != 0 or places[-1] != len(column) or (sizes < 0).any() or sizes[begin[1:] - 1].any():
            raise DataError(
                "'rules_conditions_begin' in arrays.safetensors does not divide the conditions among rules"
            )
        if positive.shape != n.shape or (positive > n).any():
            raise DataError("'rules_positive' in arrays.safetensors exceeds 'rules_n'")
        return cls(begin, places, column, above.astype(np.uint8), threshold, n, positive)
