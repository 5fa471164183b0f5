"""What loading a corpus gives, what is known of it before, and how most of them are loaded: from records.

A record has an id, a text, a label or labels, and perhaps the side of a split.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from widemargin.documents.collection import Collection, Vectors
from widemargin.documents.record import Document
from widemargin.errors import UsageError

Kind = Literal["text", "vectors"]
# The training and the test part; without a split everything is in the first.
Parts = tuple[Collection, Collection] | tuple[Vectors, Vectors]


@dataclass
class Corpus:
    """The training and the test part of a collection under one of its splits.

    With ``split=None`` there is no test part: `train` holds everything.
    """

    name: str
    split: str | None
    train: Collection | Vectors
    test: Collection | Vectors

    @property
    def categories(self) -> tuple[str, ...]:
        """Every label with an example in `train` or in `test`, sorted."""
        return self.categories_of("either")

    def categories_of(self, which: str) -> tuple[str, ...]:
        """One of the lists of categories that papers choose.

        Parameters
        ----------
        which : str
            "train", "test", "either" or "both": the labels with an example there, sorted. A number is
            the list among "both", "either", "train" and "test" that has so many labels (for Reuters'
            ModApte split "90", "118", "115" and "93"), otherwise so many of the labels most frequent in
            `train`, the largest first ("10").
        """
        train, test = self.train.label_counts(), self.test.label_counts()
        lists = {
            "both": train.keys() & test.keys(),
            "either": train.keys() | test.keys(),
            "train": set(train),
            "test": set(test),
        }
        if which in lists:
            return tuple(sorted(lists[which]))
        for labels in lists.values():
            if which == str(len(labels)):
                return tuple(sorted(labels))
        if which.isdecimal() and int(which) <= len(train):
            return tuple(sorted(train, key=lambda label: (-train[label], label))[: int(which)])
        raise UsageError(
            f"{self.name} has no list of categories {which!r}. Choose both, either, train, test, or a number "
            f"up to {len(train)}."
        )


@dataclass(frozen=True)
class Source:
    """A corpus as the registry knows it.

    `files` are relative to the data folder; `fetched` are those that fetching makes, where it makes others.
    The first of `splits` is the standard one unless the collection has no `official` split. `load` takes the
    paths of the files and the split (None for all).
    """

    name: str
    title: str
    kind: Kind
    files: tuple[str, ...]
    splits: tuple[str, ...]
    documents: int
    classes: int
    origin: str
    load: Callable[[tuple[Path, ...], str | None], Parts]
    official: bool = True
    fetched: tuple[str, ...] = ()


@dataclass(frozen=True)
class CorpusDescription:
    """One line of ``widemargin corpus list``."""

    name: str
    title: str
    kind: Kind
    splits: tuple[str, ...]
    documents: int
    classes: int
    available: bool
    origin: str


def document(record: dict[str, Any]) -> Document:
    """A record with `label` or `labels` as a document."""
    labels = record["labels"] if "labels" in record else [record["label"]]
    return Document(str(record["id"]), record["text"], tuple(labels))


def own_side(record: dict[str, Any]) -> str | None:
    """The side that the record itself names."""
    side = record["split"]
    return side if isinstance(side, str) else None


def random_side(record: dict[str, Any]) -> str:
    """Two thirds for training, drawn by the id: the same in every run."""
    return "test" if zlib.crc32(str(record["id"]).encode()) % 3 == 0 else "train"


def load_labeled(
    records: Iterable[dict[str, Any]],
    split: str | None,
    side: Callable[[dict[str, Any]], str | None] = own_side,
    make: Callable[[dict[str, Any]], Document] = document,
) -> Parts:
    """Distribute the records; `side` says of each whether it is in "train", "test" or neither."""
    train, test = Collection(), Collection()
    sides = {"train": train, "test": test}
    for record in records:
        where = "train" if split is None else side(record)
        if where in sides:
            sides[where].append(make(record))
    return train, test
