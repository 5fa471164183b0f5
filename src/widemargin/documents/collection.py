"""Documents in memory: as texts (`Collection`) or, if a file contains numbers, as `Vectors`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from widemargin.documents.record import SEPARATOR, Document, LabelSet
from widemargin.documents.times import parse_times

if TYPE_CHECKING:
    import numpy as np
    import scipy.sparse as sp
    from numpy.typing import NDArray

    from widemargin.documents.formats.columns import Options


def label_counts(labels: Iterable[LabelSet]) -> dict[str, int]:
    """How many documents carry each label, in sorted order of the labels.

    >>> label_counts([("b",), ("a", "b"), (), None])
    {'a': 1, 'b': 2}
    """
    counts: dict[str, int] = {}
    for known in labels:
        for label in known or ():
            counts[label] = counts.get(label, 0) + 1
    return dict(sorted(counts.items()))


@dataclass
class Collection:
    """Texts with ids and labels, column by column; iterating gives one `Document` at a time.

    `times` are numbers that can be compared, NaN where there is none, if the times were read. `beside` are
    the cells of further columns that were read, by their names: those of the times and the groups.
    `reading` is how the documents were read, as a model remembers it.

    >>> collection = Collection.of([Document("1", "ham", ("food",)), Document("2", "spam", None)])
    >>> len(collection), collection.texts
    (2, ['ham', 'spam'])
    """

    ids: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    labels: list[LabelSet] = field(default_factory=list)
    times: list[float] | None = field(default=None, kw_only=True)
    beside: dict[str, list[str]] = field(default_factory=dict, kw_only=True)
    reading: dict[str, Any] | None = field(default=None, kw_only=True, compare=False, repr=False)

    @classmethod
    def of(cls, documents: Iterable[Document]) -> Collection:
        """Collect `documents` in order."""
        collection = cls()
        for document in documents:
            collection.append(document)
        return collection

    def append(self, document: Document) -> None:
        self.ids.append(document.id)
        self.texts.append(document.text)
        self.labels.append(document.labels)

    def extend(self, other: Collection) -> None:
        """Append the documents of `other`."""
        self.ids += other.ids
        self.texts += other.texts
        self.labels += other.labels

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Document]:
        return map(Document, self.ids, self.texts, self.labels)

    def subset(self, indices: Sequence[int] | NDArray[np.integer]) -> Collection:
        """The documents at `indices`, in that order."""
        return Collection(
            [self.ids[i] for i in indices],
            [self.texts[i] for i in indices],
            [self.labels[i] for i in indices],
            times=None if self.times is None else [self.times[i] for i in indices],
            beside={name: [cells[i] for i in indices] for name, cells in self.beside.items()},
            reading=self.reading,
        )

    def take_beside(self, options: Options) -> None:
        """Take the columns that are not text from the texts, whose first columns they are while they are
        read."""
        for name in options.beside:
            cells, texts = [], []
            for text in self.texts:
                cell, _, rest = text.partition(SEPARATOR)
                cells.append(cell)
                texts.append(rest)
            self.texts, self.beside[name] = texts, cells
        if options.time is not None:
            self.times = parse_times(self.beside[options.time], self.ids)

    def label_counts(self) -> dict[str, int]:
        """How many documents carry each label, in sorted order of the labels."""
        return label_counts(self.labels)


@dataclass
class Vectors:
    """Rows of a float32 CSR matrix with ids and labels.

    `qids` are SVM-light's query numbers, `weights` its factors on the costs of errors (``cost:``), if any.
    Column ``j`` holds the feature numbered ``j + 1`` in an SVM-light file.
    """

    ids: list[str]
    X: sp.csr_array
    labels: list[LabelSet]
    qids: list[int] | None = None
    weights: list[float] | None = None

    @classmethod
    def joined(cls, parts: Sequence[Vectors]) -> Vectors:
        """The rows of several files, as wide as the widest."""
        import scipy.sparse as sp

        width = max(part.X.shape[1] for part in parts)
        matrices = []
        for part in parts:
            rows: Any = part.X.copy()
            rows.resize((part.X.shape[0], width))
            matrices.append(rows)

        def column(name: str, filler: Any) -> list[Any]:
            lists = [getattr(part, name) or [filler] * len(part) for part in parts]
            return [value for values in lists for value in values]

        has_qids = any(part.qids is not None for part in parts)
        weighted = any(part.weights is not None for part in parts)
        return cls(
            column("ids", ""),
            sp.csr_array(sp.vstack(matrices, format="csr")),
            column("labels", None),
            column("qids", 0) if has_qids else None,
            column("weights", 1.0) if weighted else None,
        )

    def __len__(self) -> int:
        return len(self.ids)

    def subset(self, indices: Sequence[int] | NDArray[np.integer]) -> Vectors:
        """The rows at `indices`, in that order."""
        return Vectors(
            [self.ids[i] for i in indices],
            self.X[list(indices)],
            [self.labels[i] for i in indices],
            None if self.qids is None else [self.qids[i] for i in indices],
            None if self.weights is None else [self.weights[i] for i in indices],
        )

    def label_counts(self) -> dict[str, int]:
        """How many rows carry each label, in sorted order of the labels."""
        return label_counts(self.labels)
