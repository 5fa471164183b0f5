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
        _check_known(typed, known, strange)
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


def _check_known(label_sets: Sequence[Any], known: set[Any], strange: list[str]) -> None:
    """Refuse labels of which the model knows none; warn if it does not know those of most documents, or if
    some are spelled otherwise."""
    labeled = [labels for labels in label_sets if labels]
    unknown = sum(all(label not in known for label in labels) for labels in labeled)
    names = sorted(map(str, known))
    if unknown == len(labeled):
        numbers = [all(_is_number(label) for label in some) for some in (strange, names)]
        cure = "Evaluate on documents with the labels of training, or name the column with --label."
        if numbers[0] != numbers[1]:
            has = ("numbers", "names") if numbers[0] else ("names", "numbers")
            cure = f"The data has {has[0]} and the model {has[1]}. Write the labels as in training."
        raise DataError(
            f"The model knows none of the labels of the data ({_some(strange)}); its labels are "
            f"{_some(names)}. {_spelled_otherwise(strange, names)}{cure}"
        )
    hint = _spelled_otherwise(strange, names)
    if 2 * unknown > len(labeled):
        warnings.warn(
            f"{100 * unknown / len(labeled):.0f} % of the documents have only labels that the model does not "
            f"know, and count as errors. {hint}Its labels are {_some(names)}.",
            DataWarning,
            stacklevel=3,
        )
    elif hint:
        warnings.warn(hint.rstrip(), DataWarning, stacklevel=3)


def _spelled_otherwise(strange: Sequence[str], names: Sequence[str]) -> str:
    """Which unknown labels are known ones but for case, white space and punctuation; empty if none is.

    Examples
    --------
    >>> _spelled_otherwise(["Billing ", "sales"], ["billing"])
    "'Billing ' is 'billing' in the model: labels are compared exactly, so write them alike. "
    """
    by_name = {_plain(name): name for name in names}
    pairs = [(label, by_name[_plain(label)]) for label in strange if by_name.get(_plain(label))]
    if not pairs:
        return ""
    found = " and ".join(f"{label[:40]!r} is {name[:40]!r}" for label, name in pairs[:3])
    more = f" (and {len(pairs) - 3} more)" if len(pairs) > 3 else ""
    return f"{found} in the model{more}: labels are compared exactly, so write them alike. "


def _plain(label: str) -> str:
    return "".join(character for character in label.casefold() if character.isalnum())


def _is_number(label: str) -> bool:
    return label.strip().lstrip("+-").replace(".", "", 1).isdecimal()


def _some(labels: Sequence[str]) -> str:
    return ", ".join(label[:40] for label in labels[:5]) + (", ..." if len(labels) > 5 else "")


def _check_one_label(label_sets: Sequence[Any], one: bool) -> None:
    several = sum(len(labels) != 1 for labels in label_sets) if one else 0
    if several:
        documents = f"{several:,} document{'' if several == 1 else 's'}"
        raise DataError(
            f"{documents} have none or several labels, but the model chooses one. "
            f"Train with --multilabel, or evaluate on documents with one label each."
        )
