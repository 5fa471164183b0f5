"""What loading a corpus gives, and what is known about a corpus before it is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from widemargin.documents.collection import Collection, Vectors
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
