"""A loaded corpus, its registry entry, and loading from records, as most collections are.

A record has an id, a text, a label or labels, and perhaps the side of a split.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from widemargin.documents.collection import Collection, Vectors
from widemargin.documents.corpora.home import records
from widemargin.documents.record import Document
from widemargin.errors import UsageError

Kind = Literal["text", "vectors"]
# The training and the test part; without a split everything is in the first.
Parts = tuple[Collection, Collection] | tuple[Vectors, Vectors]
Loader = Callable[[tuple[Path, ...], str | None], Parts]
Record = dict[str, Any]
# Of a record and a split: "train", "test" or neither.
Side = Callable[[Record, str | None], str | None]


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


@dataclass(frozen=True, kw_only=True)
class Source:
    """A corpus as the registry knows it.

    `files` are relative to the data folder; `fetched` are those that fetching makes, where it makes others.
    The first of `splits` is the standard one, unless the only one is random: then the collection has no
    official split. `load` takes the
    paths of the files and the split (None for all).
    """

    name: str
    title: str
    kind: Kind = "text"
    files: tuple[str, ...]
    splits: tuple[str, ...] = ("random",)
    documents: int
    classes: int
    origin: str
    load: Loader
    fetched: tuple[str, ...] = ()

    @property
    def official(self) -> bool:
        return self.splits != ("random",)


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


def document(record: Record) -> Document:
    """A record with `label` or `labels` as a document."""
    labels = record["labels"] if "labels" in record else [record["label"]]
    return Document(str(record["id"]), record["text"], tuple(labels))


def own_side(record: Record, split: str | None) -> str | None:
    """The side that the record itself names."""
    named = record["split"]
    return named if isinstance(named, str) else None


def random_side(record: Record, split: str | None) -> str:
    """Two thirds for training, drawn by the id: the same in every run."""
    return "test" if zlib.crc32(str(record["id"]).encode()) % 3 == 0 else "train"


def only_file(paths: tuple[Path, ...]) -> Iterable[Record]:
    """The records of a collection of one file."""
    return records(paths[0])


def labeled(
    side: Side = own_side,
    make: Callable[[Record], Document] = document,
    read: Callable[[tuple[Path, ...]], Iterable[Record]] = only_file,
) -> Loader:
    """The `load` of a collection whose records are documents, each on one side of a split."""

    def load(paths: tuple[Path, ...], split: str | None) -> Parts:
        train, test = Collection(), Collection()
        sides = {"train": train, "test": test}
        for record in read(paths):
            where = "train" if split is None else side(record, split)
            if where in sides:
                sides[where].append(make(record))
        return train, test

    return load
