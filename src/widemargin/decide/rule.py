"""The decision rule of a `TextClassifier`: scores to decisions and probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._stored import Stored
from widemargin.decide.calibration import Isotonic, Platt, normalized
from widemargin.decide.least_cost import expected_costs
from widemargin.decide.length_calibration import LengthCalibration
from widemargin.decide.tree_rule import TreeRule
from widemargin.errors import DataError, UsageError
from widemargin.labels import LabelSpace

Floats = NDArray[np.float64]
State = tuple[dict[str, Any], dict[str, NDArray[Any]]]
Calibration = Platt | Isotonic | LengthCalibration
CALIBRATIONS: dict[str, type[Calibration]] = {
    "platt": Platt,
    "isotonic": Isotonic,
    "length": LengthCalibration,
}
_CALIBRATION, _HIERARCHY = "calibration.", "hierarchy."


@dataclass(frozen=True, eq=False)
class DecisionRule:
    """Decides the labels of `space` from scores, and calibrates scores to probabilities.

    Attributes
    ----------
    thresholds : (columns,), a label is assigned if its score is larger; None means 0. One of several classes
        is chosen by the largest difference between score and threshold
    calibration : turns scores into probabilities, or None
    costs : (classes, classes), truth in rows, decision in columns: the least expected cost decides instead of
        thresholds. Needs a calibration, and exclusive classes
    hierarchy : keeps decisions consistent with a tree of labels, or None

    Examples
    --------
    >>> from widemargin.labels import Labels
    >>> space = Labels.of(["ham", "spam"]).space
    >>> DecisionRule(space, np.array([0.5])).decide(np.array([0.4, 0.6])).tolist()
    ['ham', 'spam']
    """

    space: LabelSpace
    thresholds: Floats | None = None
    calibration: Calibration | None = None
    hierarchy: TreeRule | None = None
    costs: Floats | None = None

    def with_costs(self, costs: Floats, name: str = "This model") -> DecisionRule:
        """The same rule deciding by costs between classes.

        Raises
        ------
        UsageError
            It has no probabilities, or chooses any number of labels.
        """
        check_exclusive(self.space)
        if self.calibration is None:
            raise UsageError(
                f"{name} gives scores only, but the least expected cost needs probabilities. Train with "
                f"--costs, or with --calibrate platt."
            )
        return DecisionRule(self.space, None, self.calibration, costs=costs)

    def with_thresholds(self, given: Mapping[str, float], name: str = "This model") -> DecisionRule:
        """The same rule with other thresholds for some labels, by their names; those of the others stay.

        A threshold of infinity means that the label is never assigned, minus infinity that it always is.
        The threshold of the first one of two classes is that of the second with the sign turned.

        Raises
        ------
        UsageError
            There is no such label, or no threshold decides.

        Examples
        --------
        >>> from widemargin.labels import Labels
        >>> rule = DecisionRule(Labels.of([["wheat"], ["corn"], []]).space)
        >>> rule.with_thresholds({"corn": 0.5}).thresholds.tolist()
        [0.5, 0.0]
        """
        if self.costs is not None or self.hierarchy is not None:
            why = (
                "by costs between classes" if self.costs is not None else "the labels of a hierarchy together"
            )
            raise UsageError(f"{name} decides {why}, not by thresholds of labels. Omit --thresholds.")
        columns = {str(label): (j, 1.0) for j, label in enumerate(self.space.column_names.tolist())}
        if self.space.kind == "binary":
            columns[str(self.space.classes[0])] = (0, -1.0)
        found = np.zeros(self.space.n_columns) if self.thresholds is None else self.thresholds.copy()
        for label, value in given.items():
            if label not in columns:
                shown = ", ".join(list(columns)[:10]) + (", ..." if len(columns) > 10 else "")
                raise UsageError(f"{name} has no label {label!r}. Its labels are {shown}.")
            if np.isnan(value) or (np.isinf(value) and self.space.kind == "multiclass"):
                raise UsageError(
                    f"The threshold {value} of {label!r} is not a finite number, which thresholds of "
                    f"exclusive classes must be."
                )
            column, sign = columns[label]
            found[column] = sign * value
        return replace(self, thresholds=found)

    def decide(self, scores: NDArray[Any], lengths: Any = None) -> Any:
        """Labels, in the form of the training labels; in a hierarchy, the most specific ones.

        Parameters
        ----------
        lengths : as for `probabilities`, where costs decide
        """
        if self.hierarchy is not None:
            lists = self.hierarchy.label_lists(scores, self.thresholds)
            if not self.hierarchy.tree.exclusive:
                return [tuple(labels) for labels in lists]
            return np.array([label for (label,) in lists], dtype=self.space.classes.dtype)
        if self.costs is None:
            return self.space.decide(scores, self.thresholds)
        return self.space.classes[self.preferences(scores, lengths).argmax(axis=1)]

    def choose(self, scores: NDArray[Any], lengths: Any = None) -> NDArray[np.int8]:
        """The same decisions as signs (n, columns); in a hierarchy, with all ancestors."""
        if self.hierarchy is not None:
            return self.hierarchy.choose(scores, self.thresholds)
        if self.costs is None:
            return self.space.choose(scores, self.thresholds)
        return self.space.signs_of(self.preferences(scores, lengths).argmax(axis=1))

    def preferences(self, scores: NDArray[Any], lengths: Any = None) -> NDArray[Any]:
        """One column per label. The largest decides between exclusive classes: minus the expected cost, or
        how far the score is above the threshold."""
        if self.costs is not None:
            return -expected_costs(self.probabilities(scores, lengths), self.costs)
        if self.thresholds is None:
            return self.by_label(scores)
        columns = np.asarray(scores).reshape(len(scores), -1)
        return self.by_label(columns - self.thresholds)

    @property
    def shown_thresholds(self) -> Floats | None:
        """The scores above which labels are assigned; None where the largest score or a cost decides."""
        one_path = self.hierarchy is not None and self.hierarchy.tree.exclusive
        if (
            self.costs is not None
            or one_path
            or (self.thresholds is None and self.space.kind == "multiclass")
        ):
            return None
        return np.zeros(self.space.n_columns) if self.thresholds is None else self.thresholds

    def label_lists(self, scores: NDArray[Any], lengths: Any = None) -> list[list[Any]]:
        """The same decisions as one list per document, whatever form the labels had in training.

        Examples
        --------
        >>> from widemargin.labels import Labels
        >>> DecisionRule(Labels.of(["ham", "spam"]).space).label_lists(np.array([-1.0, 1.0]))
        [['ham'], ['spam']]
        """
        names = self.space.classes.tolist()
        if self.hierarchy is not None:
            return self.hierarchy.label_lists(scores, self.thresholds)
        if self.space.kind == "multilabel":
            chosen = self.choose(scores) > 0
            labels = [names[j] for j in chosen.nonzero()[1].tolist()]
            ends = chosen.sum(axis=1).cumsum().tolist()
            return [labels[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        return [[label] for label in self.decide(scores, lengths).tolist()]

    def best(self, scores: NDArray[Any], lengths: Any = None) -> Any:
        """The label that one document's scores choose; of several the one furthest above its threshold."""
        if self.space.kind != "multilabel":
            return self.label_lists(scores[None], lengths)[0][0]
        above = self.preferences(scores[None])[0]
        if self.hierarchy is not None:
            chosen = self.hierarchy.labels(scores[None], self.thresholds)[0]
            above = np.where(chosen, above, -np.inf) if chosen.any() else above
        return self.space.classes.tolist()[int(above.argmax())]

    def by_label(self, scores: NDArray[Any]) -> NDArray[Any]:
        """One column of scores per label; of two classes, the first has the second's with the sign turned."""
        columns = np.asarray(scores).reshape(len(scores), -1)
        return np.hstack([-columns, columns]) if self.space.kind == "binary" else columns

    @cached_property
    def candidates(self) -> list[tuple[int, Any]]:
        """The columns of `by_label` with the labels that a document can get; in a hierarchy, those that are
        the most specific label of some training document."""
        names = self.space.classes
        if self.hierarchy is None:
            return list(enumerate(names.tolist()))
        tree = self.hierarchy.tree
        columns = tree.leaves if tree.exclusive else np.flatnonzero(tree.own)
        return list(zip(columns.tolist(), names[tree.label_of[columns]].tolist(), strict=True))

    @property
    def needs_lengths(self) -> bool:
        """Whether probabilities depend on the lengths of the texts."""
        return isinstance(self.calibration, LengthCalibration)

    def probabilities(self, scores: NDArray[Any], lengths: Any = None) -> Floats:
        """One column per class, in rows that sum to 1; for label sets one probability per label.

        In a hierarchy, those of nodes respect the tree (:meth:`TreeRule.probabilities`).

        Parameters
        ----------
        lengths : of the texts, in bytes; required if `needs_lengths`
        """
        assert self.calibration is not None
        columns = np.asarray(scores, dtype=np.float64).reshape(len(scores), -1)
        if self.hierarchy is not None:
            assert not isinstance(self.calibration, LengthCalibration)
            found = self.calibration(columns[:, self.hierarchy.calibrated])
            exclusive = self.hierarchy.tree.exclusive
            return self.hierarchy.probabilities(normalized(found) if exclusive else found)
        if isinstance(self.calibration, LengthCalibration):
            found = self.calibration(columns, lengths)
        else:
            found = self.calibration(columns)
        if self.space.kind == "binary":
            return np.hstack([1.0 - found, found])
        return normalized(found) if self.space.kind == "multiclass" else found

    def get_state(self) -> State:
        """A configuration for JSON, and arrays."""
        config: dict[str, Any] = {"calibration": None}
        arrays: dict[str, NDArray[Any]] = {}
        if self.thresholds is not None:
            arrays["thresholds"] = self.thresholds
        if self.costs is not None:
            arrays["costs"] = self.costs
        if self.calibration is not None:
            (name,) = (key for key, kind in CALIBRATIONS.items() if kind is type(self.calibration))
            config["calibration"] = name
            arrays |= {_CALIBRATION + key: value for key, value in self.calibration.to_arrays().items()}
        if self.hierarchy is not None:
            config["hierarchy"], counts = self.hierarchy.get_state()
            arrays |= {_HIERARCHY + key: value for key, value in counts.items()}
        return config, arrays

    @classmethod
    def from_state(
        cls, space: LabelSpace, config: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> DecisionRule:
        """Restore the rule from the result of `get_state`."""
        stored = Stored(config, arrays)
        thresholds = calibration = hierarchy = costs = None
        if "hierarchy" in stored and stored.value("hierarchy") is not None:
            hierarchy = TreeRule.from_state(space, stored.value("hierarchy"), _part(_HIERARCHY, arrays))
        if stored.has_array("thresholds"):
            # Infinite: the label is always or never assigned. One of several classes has to be.
            several = space.kind == "multiclass"
            thresholds = stored.array("thresholds", (space.n_columns,), infinite=not several)
        if stored.value("calibration") is not None:
            name = stored.choice("calibration", CALIBRATIONS)
            if hierarchy is not None and name == "length":
                raise DataError("'calibration' in manifest.json is 'length', which has no hierarchy")
            columns = space.n_columns if hierarchy is None else len(hierarchy.calibrated)
            calibration = CALIBRATIONS[name].from_arrays(_part(_CALIBRATION, arrays), columns)
        if stored.has_array("costs"):
            if space.kind == "multilabel" or calibration is None or thresholds is not None or hierarchy:
                raise DataError(
                    "'costs' in arrays.safetensors need exclusive classes, a calibration and no thresholds"
                )
            costs = stored.array("costs", (len(space.classes),) * 2, least=0)
        return cls(space, thresholds, calibration, hierarchy, costs)


def check_exclusive(space: LabelSpace) -> None:
    """Refuse costs between classes where a document may have any number of labels."""
    if space.kind == "multilabel":
        raise UsageError(
            "Costs between classes are for documents with exactly one class. Where each label is decided "
            "separately, use --thresholds cost:FALSE_POSITIVE,FALSE_NEGATIVE."
        )


def _part(prefix: str, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with `prefix`, without it."""
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
