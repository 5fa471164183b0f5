"""The labels of test documents, in the columns that a model scores."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from widemargin.errors import DataError, DataWarning
from widemargin.labels.forms import Signs
from widemargin.labels.hierarchy import LabelTree
from widemargin.labels.space import LabelSpace


def truth_of(label_sets: Sequence[Any], space: LabelSpace, tree: LabelTree | None = None) -> Signs:
    """The signs (n, columns) of the label sets of test documents; labels that the model does not know are
    left out with a warning.

    Labels of a file are strings, and those of a model that was trained in Python may be numbers: they are
    compared by their names. In a label hierarchy, ancestors are added, also those of unknown labels.

    Raises
    ------
    DataError
        The model chooses one label per document and a document has none or several, or it separates two
        classes and a document has a third one.

    Examples
    --------
    >>> from widemargin.labels import Labels
    >>> truth_of([("2",), ("1",)], Labels.of([1, 2, 2]).space).ravel().tolist()
    [1, -1]
    """
    _check_one_label(label_sets, space.kind != "multilabel" or (tree is not None and tree.exclusive))
    if tree is not None:
        label_sets = tree.nodes_of(label_sets)
    by_name = {str(label): label for label in space.classes.tolist()}
    typed = [tuple(by_name.get(label, label) for label in labels) for labels in label_sets]
    known = set(space.classes.tolist())
    strange = sorted({str(label) for labels in typed for label in labels if label not in known})
    if strange:
        shown = ", ".join(strange[:5]) + (", ..." if len(strange) > 5 else "")
        if space.kind == "binary":
            raise DataError(
                f"The model separates {' from '.join(map(str, space.classes))}, but the data also has "
                f"{shown}. Evaluate on documents of the two classes."
            )
        labels = f"{len(strange):,} label{'' if len(strange) == 1 else 's'}"
        warnings.warn(
            f"the data has {labels} that the model does not know: {shown}.", DataWarning, stacklevel=2
        )
    return LabelSpace("multilabel", space.column_names).encode(typed, unknown="ignore")


def _check_one_label(label_sets: Sequence[Any], one: bool) -> None:
    several = sum(len(labels) != 1 for labels in label_sets) if one else 0
    if several:
        documents = f"{several:,} document{'' if several == 1 else 's'}"
        raise DataError(
            f"{documents} have none or several labels, but the model chooses one. "
            f"Train with --multilabel, or evaluate on documents with one label each."
        )
