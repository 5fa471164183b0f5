"""`Labels`: `y`, read once. Every fit, estimate, selection and check uses the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataError
from widemargin.labels.forms import Indicator, Sets, Signs, Values, read_form
from widemargin.labels.space import LabelSpace
from widemargin.labels.unlabeled import leave_out_unlabeled


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of n documents.

    scikit-learn treats it like the original array of labels.

    Attributes
    ----------
    space : LabelSpace
    signs : int8 array (n, space.n_columns) in Fortran order: +1, -1, or 0 for unknown. A column of an
        indicator matrix without positive examples is kept, all -1.
    marked : true for unlabeled rows (n,), or cells (n, space.n_columns) of an indicator matrix; None if
        everything is labeled

    Examples
    --------
    >>> labels = Labels.of(["ham", "spam", "ham"])
    >>> labels.space.kind, labels.space.classes.tolist(), labels.signs.ravel().tolist()
    ('binary', ['ham', 'spam'], [-1, 1, -1])
    >>> Labels.of(labels) is labels
    True
    """

    space: LabelSpace
    signs: Signs
    marked: NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, y: Any, n: int | None = None, *, space: LabelSpace | None = None) -> Labels:
        """Read labels, none of which may be missing.

        Parameters
        ----------
        y : labels in any form that :mod:`widemargin.labels.space` describes, or Labels
        n : number of documents, which must be that of the labels
        space : the expected labels; by default those of `y`

        Raises
        ------
        DataError
            Only one class, a missing label, invalid labels, or a wrong number of labels.
        """
        if not isinstance(y, cls):
            found = cls(space, space.encode(y)) if space is not None else _learned(y)
        elif space is None or y.space is space or y.space == space:
            found = y
        else:
            found = cls(space, space.encode(y))
        if found.marked is not None:
            raise DataError("Input y contains unlabeled documents (None or NaN). Drop unlabeled rows.")
        return found._checked(n)

    @classmethod
    def partial(cls, y: Any, unlabeled: Any = None, n: int | None = None) -> Labels:
        """Read labels, some of which are missing.

        Parameters
        ----------
        y : labels in any form, with some rows marked as unlabeled, or some cells of an indicator matrix; a
            sparse one must store its marks
        unlabeled : another mark besides None and NaN, such as -1 or 0

        Examples
        --------
        >>> Labels.partial(["ham", None, "spam"]).signs.ravel().tolist()
        [-1, 0, 1]
        >>> Labels.partial([[1, -1], [-1, -1], [0, 1]], unlabeled=-1).signs.tolist()
        [[1, 0], [0, 0], [-1, 1]]
        """
        if isinstance(y, cls):
            return y._checked(n)
        known, marked = leave_out_unlabeled(y, unlabeled)
        if not marked.any():
            return _learned(known)._checked(n)
        if marked.all():
            raise DataError(
                f"None of the {len(marked)} documents has a label. Name the column with the labels."
            )
        given = _learned(known)
        signs = np.zeros((len(marked), given.space.n_columns), dtype=np.int8, order="F")
        # A mark of a row holds in all columns.
        cells = np.broadcast_to(marked.reshape(len(marked), -1), signs.shape)
        signs[~cells.all(axis=1)] = given.signs
        signs[cells] = 0
        return cls(given.space, signs, marked)._checked(n)

    @classmethod
    def of_documents(cls, label_sets: Sequence[Any], *, multilabel: bool = False) -> Labels:
        """Read the label sets of a collection, where None means unlabeled.

        If every labeled document has exactly one label, the task is binary or multiclass, unless `multilabel`
        is true.

        Examples
        --------
        >>> Labels.of_documents([("ham",), None, ("spam",)]).space.kind
        'binary'
        >>> Labels.of_documents([("ham",), (), ("ham", "spam")]).space.kind
        'multilabel'
        """
        single = not multilabel and all(known is None or len(known) == 1 for known in label_sets)
        return cls.partial([known and next(iter(known)) for known in label_sets] if single else label_sets)

    @property
    def space_and_signs(self) -> tuple[LabelSpace, Signs]:
        """The space and the signs."""
        return self.space, self.signs

    @property
    def codes(self) -> NDArray[np.intp]:
        """(n,) the place of each document's class in `space.classes`, where a document has one class.

        Examples
        --------
        >>> Labels.of(["ham", "spam"]).codes.tolist(), Labels.of(["b", "c", "a"]).codes.tolist()
        ([0, 1], [1, 2, 0])
        """
        if self.space.kind == "binary":
            return np.asarray(self.signs[:, 0] > 0).astype(np.intp)
        return np.asarray(self.signs.argmax(axis=1))

    @property
    def unlabeled(self) -> NDArray[np.bool_]:
        """(n,) true for documents without any label."""
        if self.marked is None:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(self.marked if self.marked.ndim == 1 else self.marked.all(axis=1))

    def __len__(self) -> int:
        return len(self.signs)

    def take(self, rows: NDArray[Any]) -> Labels:
        """The labels of some documents, given by number or by a mask, in the same space."""
        marked = None if self.marked is None else self.marked[rows]
        signs = np.asfortranarray(self.signs[rows])
        return Labels(self.space, signs, marked if marked is not None and marked.any() else None)

    def hide(self, rows: NDArray[np.bool_]) -> Labels:
        """The same documents, with those of the mask `rows` unlabeled."""
        signs = self.signs.copy(order="F")
        signs[rows] = 0
        return Labels(self.space, signs, signs == 0 if self.space.indicator else rows | self.unlabeled)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """One label or label set per document, or the indicator matrix."""
        values = self.space.decide(self.signs)
        if isinstance(values, list):
            values = np.fromiter(values, dtype=object, count=len(values))
        elif self.space.sparse:
            values = values.toarray()
        return np.asarray(values, dtype=dtype)

    def _checked(self, n: int | None) -> Labels:
        if n is not None and n != len(self):
            raise DataError(f"There are {n} documents and {len(self)} labels. Pass one label per document.")
        return self


def _learned(y: Any) -> Labels:
    """Labels, and the space of their values."""
    form = read_form(y)
    if form.n == 0:
        raise DataError("y is empty: there is no class to learn. Pass at least one example of two classes.")
    space = LabelSpace.of(form)
    if isinstance(form, Values):
        space.require_two_classes(form.n)
    signs = space.encode(form)
    if isinstance(form, Sets | Indicator):
        space.require_differences(bool((signs.max(axis=0) > signs.min(axis=0)).any()), form.n)
    return Labels(space, signs)
