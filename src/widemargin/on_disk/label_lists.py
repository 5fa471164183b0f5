"""The labels of the documents of a run, as places in its own sorted list of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin.errors import DataError


class LabelLists(NamedTuple):
    """The labels of documents.

    Attributes
    ----------
    names : the labels that occur, sorted
    indptr, places : labeled document i has the labels ``places[indptr[i]:indptr[i + 1]]`` of `names`
    one_each : whether every labeled document has exactly one label
    labeled : the rows of the documents that have labels, or are known to have none
    n_unlabeled : the number of others
    """

    names: tuple[Any, ...]
    indptr: NDArray[np.int64]
    places: NDArray[np.int32]
    one_each: bool
    labeled: NDArray[np.intp]
    n_unlabeled: int

    @classmethod
    def read(cls, label_sets: Sequence[Any]) -> LabelLists:
        """Read one label or any number of labels per document, None if it is unlabeled.

        Examples
        --------
        >>> labels = LabelLists.read([["b", "a"], None, "b", []])
        >>> labels.names, labels.indptr.tolist(), labels.places.tolist(), labels.labeled.tolist()
        (('a', 'b'), [0, 2, 3, 3], [0, 1, 1], [0, 2, 3])
        """
        # Many documents have the same labels: each set is read once.
        numbers: dict[Any, int] = {}
        codes = np.full(len(label_sets), -1, dtype=np.intp)
        for row, labels in enumerate(label_sets):
            if labels is not None:
                key = labels if isinstance(labels, tuple) else _as_tuple(labels)
                try:
                    codes[row] = numbers.setdefault(key, len(numbers))
                except TypeError as error:
                    raise DataError(f"A label set has a value that is not a label ({error}).") from None
        sets = [_checked(labels) for labels in numbers]
        names = _sorted_labels({label for labels in sets for label in labels})
        place = {label: i for i, label in enumerate(names)}
        lists = [sorted({place[label] for label in labels}) for labels in sets]
        labeled = np.flatnonzero(codes >= 0)
        of_rows = codes[labeled]
        ends = np.cumsum([0, *map(len, lists)])
        lengths = np.diff(ends)[of_rows]
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        flat = np.array([i for each in lists for i in each], dtype=np.int32)
        places = flat[np.arange(indptr[-1]) + np.repeat(ends[:-1][of_rows] - indptr[:-1], lengths)]
        one_each = all(len(labels) == 1 for labels in sets)
        return cls(names, indptr, places, one_each, labeled, len(label_sets) - len(labeled))

    def require_length(self, n: int) -> None:
        """Raise if there are not as many documents."""
        found = len(self.labeled) + self.n_unlabeled
        if found != n:
            raise DataError(f"There are {n} documents and {found} labels. Pass one label per document.")

    def hashes(self, seed: int) -> NDArray[np.uint64]:
        """One hash per label, whatever other labels there are."""
        return np.array([_hash(name, seed) for name in self.names], dtype=np.uint64)


def _as_tuple(labels: Any) -> tuple[Any, ...]:
    return (labels,) if isinstance(labels, str | int | float | np.generic) else tuple(labels)


def _checked(labels: tuple[Any, ...]) -> tuple[Any, ...]:
    found = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
    for label in found:
        if not isinstance(label, str | int | float) or label != label:
            raise DataError(f"A label is {label!r}, of type {type(label).__name__}. Use strings as labels.")
    return found


def _sorted_labels(labels: set[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(labels))
    except TypeError:
        types = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise DataError(f"The labels mix values of type {types}. Use one type for all labels.") from None


def _hash(label: Any, seed: int) -> int:
    if isinstance(label, bool) or (isinstance(label, float) and label.is_integer()):
        label = int(label)  # equal numbers are one label, of whatever type they are
    written = f"{'text' if isinstance(label, str) else 'number'} {label}"
    return _core.hash_bytes(np.frombuffer(written.encode(errors="surrogatepass"), np.uint8), seed)
