"""Any y (strings, numbers, label sets, an indicator matrix) <-> columns of +1 and -1.

Every learner trains on columns of signs and nothing else. Binary tasks have one column, +1 for the larger
of the two classes; multi-class tasks one column per class (one against the rest; the largest score decides);
multi-label tasks one column per label (the sign decides).

The forms of ``y``:

- one-dimensional values: binary or multi-class, and a column vector too, with scikit-learn's warning;
- a two-dimensional array or sparse matrix, or a rectangular list of 0/1 rows: a label indicator;
- a table with several columns of 0 and 1: a label indicator whose columns have names, which are the labels;
- lists, tuples or sets of strings, or ragged lists: label sets, where an empty one is in no category.

Columns of pandas, polars and Arrow, iterables, and tables with one column are read as lists of their values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from widemargin._stored import Stored
from widemargin.errors import DataError, UsageError
from widemargin.labels.forms import (
    Indicator,
    Sets,
    Signs,
    Values,
    label_array,
    read_form,
    signs_at,
    some,
)

Kind = Literal["binary", "multiclass", "multilabel"]
# The types of numbers that labels and indicator matrices may have.
NUMBERS = tuple(
    [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
    + [f"float{bits}" for bits in (16, 32, 64)]
)


@dataclass(frozen=True, eq=False)
class LabelSpace:
    """What the labels of a task are, and in which form they came.

    Attributes
    ----------
    kind : "binary", "multiclass" or "multilabel"
    classes : array of all labels, sorted; for an indicator matrix the names or numbers of its columns, in
        their order
    indicator : whether multi-label decisions are an indicator matrix rather than label sets
    sparse : whether that matrix is sparse
    dtype : the type of that matrix
    """

    kind: Kind
    classes: NDArray[Any]
    indicator: bool = False
    sparse: bool = False
    dtype: str = "int64"

    @classmethod
    def of(cls, form: Values | Sets | Indicator) -> LabelSpace:
        """The space of all labels that occur in a form."""
        if isinstance(form, Indicator):
            return cls("multilabel", form.classes(), True, form.sparse, form.dtype)
        classes = form.classes()
        if isinstance(form, Sets):
            return cls("multilabel", classes)
        return cls("binary" if len(classes) <= 2 else "multiclass", classes)

    @classmethod
    def of_counts(cls, counts: Mapping[Any, int], n_documents: int, *, exclusive: bool) -> LabelSpace:
        """The space of labels that were counted in parts of a collection.

        Parameters
        ----------
        counts : the number of documents of every label
        exclusive : whether every document has exactly one label

        Examples
        --------
        >>> LabelSpace.of_counts({"spam": 1, "ham": 2}, 3, exclusive=True).classes.tolist()
        ['ham', 'spam']
        """
        form = Values(label_array(sorted(counts))) if exclusive else Sets([list(counts)])
        space = cls.of(form)
        if exclusive:
            space.require_two_classes(n_documents)
        else:
            space.require_differences(any(0 < n < n_documents for n in counts.values()), n_documents)
        return space

    def require_two_classes(self, n_documents: int) -> None:
        """Refuse a task with a single class."""
        if len(self.classes) == 1:
            raise DataError(
                f"All {n_documents} examples are of one class, {self.classes.tolist()[0]!r}: there is no "
                f"decision to learn. Add examples of a second class."
            )

    @staticmethod
    def require_differences(found: bool, n_documents: int) -> None:
        """Refuse a task in which no label is on some examples only."""
        if not found:
            raise DataError(
                f"No label is on some of the {n_documents} examples but not on all of them: there is no "
                f"class to learn. Add examples that differ."
            )

    @property
    def n_columns(self) -> int:
        """Number of columns of signs and of scores."""
        return 1 if self.kind == "binary" else len(self.classes)

    @property
    def column_names(self) -> NDArray[Any]:
        """The label that +1 stands for in each column."""
        return self.classes[1:] if self.kind == "binary" else self.classes

    def decide(self, scores: NDArray[Any], thresholds: NDArray[Any] | None = None) -> Any:
        """Labels from scores, in the form in which the labels came.

        Parameters
        ----------
        scores : array (n,) or (n, n_columns)
        thresholds : (n_columns,), which a label's score has to exceed; 0 by default. One of several classes
            is chosen: the one whose score exceeds its threshold most, or falls least short of it.

        Examples
        --------
        >>> from widemargin.labels import Labels
        >>> space = Labels.of([["wheat", "grain"], [], ["grain"]]).space
        >>> space.decide(np.array([[0.5, -1.0], [0.1, 2.0]]))
        [('grain',), ('grain', 'wheat')]
        """
        scores = self._checked(scores)
        if self.kind == "multiclass":
            return self.classes[self._largest(scores, thresholds)]
        positive = scores > (0.0 if thresholds is None else thresholds)
        if self.kind == "binary":
            return self.classes[positive[:, 0].astype(np.intp)]
        if not self.indicator:
            return self._sets(positive)
        matrix = positive.astype(self.dtype)
        if not self.sparse:
            return matrix
        import scipy.sparse as sp

        return sp.csr_array(matrix)

    def choose(self, scores: NDArray[Any], thresholds: NDArray[Any] | None = None) -> Signs:
        """The same decisions as signs (n, n_columns).

        Examples
        --------
        >>> from widemargin.labels import Labels
        >>> space = Labels.of([["wheat", "grain"], [], ["grain"]]).space
        >>> space.choose(np.array([[0.5, -0.2]]), np.array([0.6, -0.3])).tolist()
        [[-1, 1]]
        """
        scores = self._checked(scores)
        if self.kind != "multiclass":
            return np.where(scores > (0.0 if thresholds is None else thresholds), 1, -1).astype(np.int8)
        return self.signs_of(self._largest(scores, thresholds))

    def signs_of(self, codes: NDArray[Any]) -> Signs:
        """Signs (n, n_columns) of exclusive classes, given by their places in `classes`.

        Examples
        --------
        >>> from widemargin.labels import Labels
        >>> Labels.of(["a", "b", "c"]).space.signs_of(np.array([2, 0])).tolist()
        [[-1, -1, 1], [1, -1, -1]]
        """
        if self.kind == "binary":
            return np.where(np.asarray(codes)[:, None] == 1, 1, -1).astype(np.int8)
        signs = np.full((len(codes), self.n_columns), -1, dtype=np.int8)
        signs[np.arange(len(codes)), codes] = 1
        return signs

    @staticmethod
    def _largest(scores: NDArray[Any], thresholds: NDArray[Any] | None) -> NDArray[np.intp]:
        above = scores if thresholds is None else scores - thresholds
        found: NDArray[np.intp] = above.argmax(axis=1)
        return found

    def _checked(self, scores: NDArray[Any]) -> NDArray[Any]:
        scores = np.asarray(scores)
        if scores.ndim == 1 and self.n_columns == 1:
            scores = scores[:, None]
        if scores.ndim != 2 or scores.shape[1] != self.n_columns:
            raise UsageError(f"The scores have shape {scores.shape}; expected (n, {self.n_columns}).")
        return scores

    def _sets(self, positive: NDArray[np.bool_]) -> list[tuple[Any, ...]]:
        labels = self.classes[np.nonzero(positive)[1]].tolist()
        ends = np.cumsum(np.count_nonzero(positive, axis=1)).tolist()
        return [tuple(labels[start:end]) for start, end in zip([0, *ends], ends, strict=False)]

    def read(self, y: Any) -> Values | Sets | Indicator:
        """Which form `y` has: where label sets are expected, rows are label sets, whatever they hold."""
        return read_form(y, rows_are_sets=self.kind == "multilabel" and not self.indicator)

    def encode(self, y: Any, unknown: Literal["error", "ignore"] = "error") -> Signs:
        """Columns of +1 and -1 for labels of a space that is already known.

        Parameters
        ----------
        y : labels in the form in which the space came (multi-label: label sets or an indicator)
        unknown : what a label outside the space does: raise an error, or belong to no column (the two
            classes of a binary task share one column, so there it is always an error)

        Returns
        -------
        int8 array (n, n_columns) in Fortran order
        """
        if unknown not in ("error", "ignore"):
            raise UsageError(f'unknown={unknown!r}: expected "error" or "ignore".')
        form = self.read(y)
        if isinstance(form, Values if self.kind == "multilabel" else Sets | Indicator):
            raise DataError(f"y holds {form}, but the task is {self.kind}. Pass labels as in training.")
        if isinstance(form, Indicator):
            if form.shape[1] != len(self.classes):
                raise DataError(f"y is {form}; the task has {len(self.classes)} labels, so as many columns.")
            signs: Signs = form.signs()
            if self._is_renamed(form):
                signs = np.asfortranarray(signs[:, self._places(form.names)])
            return signs
        codes = form.codes({label: code for code, label in enumerate(self.classes.tolist())})
        known = codes >= 0
        if not known.all() and (unknown == "error" or self.kind == "binary"):
            strange = sorted({repr(form.label(i)) for i in np.flatnonzero(~known).tolist()})
            cure = "" if self.kind == "binary" else ', or leave them out (unknown="ignore")'
            raise DataError(
                f"{some(strange)} {'is' if len(strange) == 1 else 'are'} not among the {len(self.classes)} "
                f"labels of the task: {some([repr(label) for label in self.classes.tolist()])}. "
                f"Train with these labels too{cure}."
            )
        if self.kind == "binary":
            signs = (codes == 1).view(np.int8)[:, None]
            signs *= 2
            signs -= 1
            return signs
        return signs_at(form.rows()[known], codes[known], form.n, len(self.classes))

    def _is_renamed(self, form: Indicator) -> bool:
        """Whether the columns of `y` have names, and these are not in the order of the labels."""
        named = form.names is not None and not (self.indicator and self.classes.dtype.kind in "iu")
        return named and list(form.names or ()) != self.classes.tolist()

    def _places(self, names: tuple[str, ...] | None) -> list[int]:
        """The columns of `y` in the order of the labels."""
        place = {name: i for i, name in enumerate(names or ())}
        missing = [label for label in self.classes.tolist() if str(label) not in place]
        if missing:
            raise DataError(
                f"y has no column {str(missing[0])!r}; its columns are {some(list(place))}. Name the columns "
                f"of y as in training."
            )
        return [place[str(label)] for label in self.classes.tolist()]

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold; `from_dict` restores it with the type of the classes.

        Examples
        --------
        >>> from widemargin.labels import Labels
        >>> space = Labels.of(["ham", "spam"]).space
        >>> LabelSpace.from_dict(space.to_dict()) == space
        True
        """
        classes = self.classes.tolist()
        for label in classes:
            if not isinstance(label, str | int | float):
                raise UsageError(f"A label of type {type(label).__name__} cannot be saved: {label!r}.")
        kind = self.classes.dtype.kind
        return {
            "kind": self.kind,
            "classes": classes,
            "classes_dtype": "str" if kind == "U" else self.classes.dtype.name,
            "indicator": self.indicator,
            "sparse": self.sparse,
            "dtype": self.dtype,
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> LabelSpace:
        """The space that `to_dict` described."""
        stored = Stored(state, path="labels.")
        kind: Any = stored.choice("kind", ("binary", "multiclass", "multilabel"))
        indicator, sparse = stored.flag("indicator"), stored.flag("sparse")
        values, types = stored.items("classes"), ("str", "object", "bool", *NUMBERS)
        dtype = stored.choice("classes_dtype", types)
        plain = {"str": str, "object": str | int | float, "bool": bool}.get(dtype, int | float)
        if not all(isinstance(label, plain) and label == label for label in values):
            raise DataError(f"'labels.classes' in manifest.json holds labels that are not of type {dtype}")
        if len(set(values)) != len(values) or (kind == "binary" and len(values) != 2) or not values:
            raise DataError(f"'labels.classes' in manifest.json are no {len(values)} labels of a {kind} task")
        try:
            classes = np.array(values, dtype=np.dtype(dtype))
            unchanged = classes.tolist() == values
        except (OverflowError, ValueError, TypeError):
            unchanged = False
        named = dtype in ("str", "object") and all(isinstance(label, str) for label in values)
        if not unchanged or (indicator and not named and values != list(range(len(values)))):
            raise DataError(f"'labels.classes' in manifest.json holds labels that are not of type {dtype}")
        return cls(kind, classes, indicator, sparse, stored.choice("dtype", ("bool", *NUMBERS)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelSpace):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # compared by content, which holds an array
