"""``train --unlabeled POOL``: reading the pool, and what is printed of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from widemargin.cli.commands import Given
from widemargin.cli.files import read_all, without_labels
from widemargin.cli.output import counted, note
from widemargin.documents.sources.urls import as_source
from widemargin.errors import DataError, UsageError

if TYPE_CHECKING:
    from widemargin.documents.collection import Collection, Vectors

WITH = {
    "representation": "with their words",
    "self-training": "with self-training",
    "transductive": "with transduction",
}
FOR = {
    "representation": "used for terms and document frequencies",
    "self-training": "used for self-training",
    "transductive": "used for transduction",
    None: "not used",
}
MEASURES = {"accuracy": "% right", "prbep": "% break-even"}


def check(given: Given) -> None:
    """Refuse options that exclude each other, before anything is read."""
    if given.unlabeled is None:
        if "unlabeled_use" in given.typed:
            raise UsageError(f"--unlabeled-use {given.unlabeled_use} needs --unlabeled POOL.")
        return
    given.unlabeled = as_source(given.unlabeled)
    if given.unlabeled == "-" and "-" in given.data:
        raise UsageError("DATA and --unlabeled cannot both be -. Give one of them as a file.")
    if given.stream:
        raise UsageError("--unlabeled needs all documents at once: use it without --stream.")


def read(given: Given, reading: dict[str, Any], collection: Collection | Vectors) -> Any:
    """The documents of the pool; None without one."""
    if given.unlabeled is None:
        return None
    from widemargin.documents.collection import Vectors

    pool = read_all(given.unlabeled, given.quiet, without_labels(reading) | {"time": None})
    if isinstance(pool, Vectors) != isinstance(collection, Vectors):
        has, other = ("vectors", "texts") if isinstance(collection, Vectors) else ("texts", "vectors")
        raise DataError(
            f"{given.data} holds {has} and {given.unlabeled} holds {other}. Pass two files of the same kind."
        )
    if len(pool) == 0:
        raise DataError(f"{given.unlabeled}: there are no documents. Name another file, or omit --unlabeled.")
    labeled = sum(labels is not None for labels in pool.labels)
    if labeled:
        note(f"{given.unlabeled}: the labels of {counted(labeled, 'document')} are ignored.", given.quiet)
    return pool


def in_words(pool: dict[str, Any]) -> str:
    """What unlabeled documents were used for, and why.

    Examples
    --------
    >>> figures = {"none": 0.886, "representation": 0.887, "self-training": 0.898}
    >>> p_values = {"representation": 0.63, "self-training": 0.01}
    >>> found = {"documents": 7532, "use": "self-training", "measure": "accuracy", "folds": 5}
    >>> in_words({**found, "figures": figures, "p_values": p_values})
    '7,532 documents, used for self-training: 88.6 % right in 5 folds without them, 88.7 with their words \
(p = 0.63), 89.8 with self-training (p = 0.01)'
    >>> in_words({"documents": 7532, "use": "representation"})
    '7,532 documents, used for terms and document frequencies'
    """
    start = f"{counted(pool['documents'], 'document')}, {FOR[pool['use']]}"
    if "figures" not in pool:
        return start
    figures = {use: f"{100 * value:.1f}" for use, value in pool["figures"].items()}
    first = f"{figures.pop('none')} {MEASURES[pool['measure']]} in {pool['folds']} folds without them"
    others = [f"{value} {WITH[use]} (p = {pool['p_values'][use]:.2g})" for use, value in figures.items()]
    return f"{start}: {', '.join([first, *others])}"
