"""Labels that arrive in batches: which are new, and from which document on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataError, UsageError
from widemargin.labels.forms import Indicator, Sets, Values, read_form
from widemargin.labels.space import LabelSpace


@dataclass(frozen=True)
class Arrival:
    """One batch of labels in a space that may have grown by it.

    Attributes
    ----------
    space : LabelSpace
    signs : (columns, n)
    first_row : (columns,) the row with which a column begins: 0, or where its label first appears
    kept : (old columns,) where the columns of the old space stand in the new one
    new : (columns,) whether the batch has brought the label
    """

    space: LabelSpace
    signs: NDArray[np.int8]
    first_row: NDArray[np.int64]
    kept: NDArray[np.intp]
    new: NDArray[np.bool_]


def whole_batch(space: LabelSpace, signs: NDArray[np.int8]) -> Arrival:
    """A batch whose labels are all known from its first row on; `signs` is (n, columns)."""
    kept = np.arange(space.n_columns)
    first_row = np.zeros(space.n_columns, dtype=np.int64)
    return Arrival(space, np.ascontiguousarray(signs.T), first_row, kept, np.zeros(space.n_columns, bool))


def receive(space: LabelSpace | None, y: Any, classes: Any = None, *, n: int | None = None) -> Arrival:
    """The labels of a batch, after those of `space`.

    A new label becomes a new column, which starts at its first row, so that the result does not depend on the
    batches.

    Parameters
    ----------
    space : LabelSpace, optional
        The labels of earlier batches; None for the first batch.
    y : labels in any form that :mod:`widemargin.labels` takes
    classes : sequence of labels, optional
        All expected labels. With exactly two of them, and one label per document, the task is binary; without
        `classes` every label has a column, so that more can be added.
    n : the number of documents, if it is known; other numbers of labels are refused

    Examples
    --------
    >>> first = receive(None, ["ham", "spam"])
    >>> then = receive(first.space, ["ham", "eggs"])
    >>> then.space.classes.tolist(), then.first_row.tolist(), then.kept.tolist()
    (['eggs', 'ham', 'spam'], [1, 0, 0], [1, 2])
    """
    form = read_form(y) if space is None else space.read(y)
    if form.n == 0:
        raise DataError("y is empty: there is nothing to learn from. Pass at least one document.")
    if n is not None and form.n != n:
        raise DataError(f"There are {n} documents and {form.n} labels.")
    if space is None:
        space = _first_space(form, classes)
    elif classes is not None and not set(np.asarray(classes).tolist()) <= set(space.classes.tolist()):
        raise UsageError(
            "`classes` has labels that were not in the first call. Pass all of them in the first call."
        )
    grown = space if isinstance(form, Indicator) else _grown(space, form)
    batch = whole_batch(grown, grown.encode(form))
    if grown is space or isinstance(form, Indicator):
        return batch
    places = {label: place for place, label in enumerate(grown.classes.tolist())}
    kept = np.array([places[label] for label in space.classes.tolist()], dtype=np.intp)
    new = np.ones(grown.n_columns, dtype=bool)
    new[kept] = False
    first_row = np.full(grown.n_columns, form.n, dtype=np.int64)
    np.minimum.at(first_row, form.codes(places), form.rows())
    first_row[kept] = 0
    return Arrival(grown, batch.signs, first_row, kept, new)


def _first_space(form: Values | Sets | Indicator, classes: Any) -> LabelSpace:
    if isinstance(form, Indicator):
        return LabelSpace.of(form)
    expected = [] if classes is None else np.asarray(classes).tolist()
    known = Sets([expected]).classes()
    if isinstance(form, Sets):
        return LabelSpace("multilabel", known)
    if len(expected) == 1:
        raise UsageError("`classes` has only one label. Pass all labels.")
    return LabelSpace("binary" if len(known) == 2 else "multiclass", known)


def _grown(space: LabelSpace, form: Values | Sets) -> LabelSpace:
    """The space with the new labels of `form`; `space` itself if there are none."""
    known = space.classes.tolist()
    new = set(form.classes().tolist()) - set(known)
    if not new or isinstance(form, Values) != (space.kind != "multilabel"):
        return space
    if space.kind == "binary":
        return space  # whose encoder raises the error
    return LabelSpace(space.kind, Sets([[*known, *new]]).classes())
