"""`split`: documents to train on, to tune on and to test on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import is_sparse
from widemargin.documents.collection import Collection, Vectors
from widemargin.documents.record import join_columns
from widemargin.documents.splitting.stratifying import by_labels, by_time
from widemargin.documents.splitting.units import Units, find_units
from widemargin.documents.times import parse_times
from widemargin.documents.wording import counted
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.labels.forms import Indicator, read_form
from widemargin.labels.unlabeled import leave_out_unlabeled

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Split:
    """The positions of the documents of every part, in rising order.

    Unpacking gives `train` and `test`, or `train`, `dev` and `test`.

    Attributes
    ----------
    n_unlabeled : documents without a label in `train`
    n_near : documents that have a near-duplicate, which stays in the same part
    n_grouped : documents that share a group with others
    n_later : documents of `train` that are later than the first one of the other parts, because they stay
        together with an earlier one
    """

    train: Places
    test: Places
    dev: Places | None = None
    n_unlabeled: int = 0
    n_near: int = 0
    n_grouped: int = 0
    n_later: int = 0

    def __iter__(self) -> Iterator[Places]:
        return iter(self.parts.values())

    @property
    def parts(self) -> dict[str, Places]:
        """The parts by name, the training part first."""
        found = {"train": self.train, "dev": self.dev, "test": self.test}
        return {name: places for name, places in found.items() if places is not None}


def split(
    texts: Any,
    y: Any = None,
    test: float = 0.2,
    groups: Any = None,
    times: Any = None,
    near_duplicates: bool = True,
    random_state: Any = 0,
    *,
    dev: float | None = None,
    n_jobs: int | None = None,
) -> Split:
    """Divide documents into a training part and a test part.

    The parts have nearly the same shares of every label (iterative stratification), and every label of the
    test part has training documents. Documents without a label go to the training part, unless they are kept
    together with a labeled one.

    Parameters
    ----------
    texts : sequence of str, Collection, table with columns of text, Vectors or matrix
    y : labels in any form, None or NaN for unlabeled documents; optional for a Collection or Vectors. Without
        labels, parts are random
    test : a fraction of the labeled documents, or a number of at least 2
    groups : one value per document, optional
        Documents with the same value, such as a customer, stay in one part.
    times : ISO dates or numbers, one per document; those of a Collection if it has them
        The test part gets the latest documents, and labels do not matter. Documents without a time count as
        the earliest.
    near_duplicates : bool
        Near-duplicates stay in one part, so that no test document is nearly a training document. Does not
        apply to vectors.
    random_state : int, Generator or None
    dev : size of a third part, as for `test`
    n_jobs : number of threads, None for all cores; the result does not depend on it

    Examples
    --------
    >>> texts = ["wheat up", "bank cuts rate", "corn exports", "bank profits", "corn up", "rates fall"]
    >>> train, test = split(texts, ["grain", "money"] * 3, test=2)
    >>> len(train), sorted(["grain", "money"][i % 2] for i in test)
    (4, ['grain', 'money'])
    """
    n, strings = _documents(texts)
    if isinstance(texts, Collection | Vectors):
        y = texts.labels if y is None else y
    if isinstance(texts, Collection) and times is None:
        times = texts.times
    labels, labeled = _labels(y, n)
    wanted = _sizes(test, dev, int(np.count_nonzero(labeled)))
    units = find_units(
        n, strings if near_duplicates else None, None if groups is None else list(groups), n_jobs
    )
    sizes = units.sizes(labeled).tolist()
    rng = np.random.default_rng(random_state)
    moments = None
    if times is None:
        of_units: list[dict[int, int]] = [{} for _ in range(units.count)]
        for unit, known in zip(units.of.tolist(), labels, strict=True):
            for label in known:
                of_units[unit][label] = of_units[unit].get(label, 0) + 1
        part_of = by_labels(of_units, sizes, wanted, rng)
    else:
        moments = _moments(times, n)
        first = np.full(units.count, np.inf)
        np.minimum.at(first, units.of, moments)
        part_of = by_time(first, sizes, wanted, rng)
    part_of[np.asarray(sizes) == 0] = 0  # unlabeled documents
    part = part_of[units.of]
    places = [np.flatnonzero(part == j) for j in range(len(wanted))]
    _check_parts(places, wanted, labeled, units, sizes, in_time=times is not None)
    later = 0
    if moments is not None:
        later = int(np.count_nonzero(moments[places[0]] > moments[part > 0].min()))
        if later:
            warnings.warn(
                f"The training part has {counted(later, 'document')} later than the first test document, "
                f"kept together with earlier ones (a group, or near-duplicates).",
                DataWarning,
                stacklevel=2,
            )
    unlabeled = int(np.count_nonzero(~labeled[places[0]]))
    return Split(
        places[0],
        places[-1],
        places[1] if len(places) > 2 else None,
        unlabeled if labeled.any() and not labeled.all() else 0,
        units.n_near,
        units.n_grouped,
        later,
    )


def _documents(texts: Any) -> tuple[int, Sequence[str] | None]:
    """How many documents there are, and their texts; None if they are vectors."""
    if isinstance(texts, str | bytes):
        raise UsageError("texts is one text. Pass a list of texts.")
    if isinstance(texts, Collection):
        return len(texts), texts.texts
    if isinstance(texts, Vectors):
        return len(texts), None
    if is_sparse(texts) or (isinstance(texts, np.ndarray) and texts.ndim == 2 and texts.dtype.kind != "O"):
        return int(texts.shape[0]), None
    names = texts if isinstance(texts, Mapping) else getattr(texts, "columns", None)
    if names is not None and not callable(names):
        columns = [[value if isinstance(value, str) else None for value in texts[name]] for name in names]
        rows = [join_columns(row) for row in zip(*columns, strict=True)]
        return len(rows), rows
    found = texts.to_pylist() if hasattr(texts, "to_pylist") else list(texts)
    if found and isinstance(found[0], Mapping):
        found = [join_columns(v for v in row.values() if isinstance(v, str)) for row in found]
    return len(found), found


def _labels(y: Any, n: int) -> tuple[list[list[int]], NDArray[np.bool_]]:
    """The numbers of the labels of every document, and whether it is labeled; without `y` all are."""
    nothing: list[list[int]] = [[] for _ in range(n)]
    if y is None or (isinstance(y, Sequence) and all(known is None for known in y)):
        return nothing, np.ones(n, dtype=bool)
    known, cells = leave_out_unlabeled(y, None)
    marked = np.asarray(cells if cells.ndim == 1 else cells.all(axis=1))
    if len(marked) != n:
        raise DataError(f"There are {n} documents and {len(marked)} labels. Pass one label per document.")
    form = read_form(known)
    places = np.flatnonzero(~marked)
    if isinstance(form, Indicator):
        rows, codes = np.nonzero(form.signs() > 0)
    else:
        rows, codes = form.rows(), form.codes({label: j for j, label in enumerate(form.classes().tolist())})
    for row, code in zip(places[rows].tolist(), codes.tolist(), strict=True):
        nothing[row].append(code)
    return nothing, ~marked


def _sizes(test: Any, dev: Any, n: int) -> list[int]:
    """The numbers of documents of the parts, the training part first."""
    sizes = [_size(value, n, name) for name, value in (("dev", dev), ("test", test)) if value is not None]
    if not sizes:
        raise UsageError("Pass the size of the test part, such as 0.2.")
    if sum(sizes) >= n:
        few = f"There are {counted(n, 'labeled document')}"
        raise DataError(
            f"{few}, and {sum(sizes):,} are to be held out: none is left to train on. Hold out less."
        )
    return [n - sum(sizes), *sizes]


def _size(value: Any, n: int, name: str) -> int:
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 2:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) < 1:
        return max(1, round(float(value) * n))
    raise UsageError(
        f"{name}={value!r}: expected a fraction above 0 and below 1, such as 0.2, or a number of documents "
        f"of at least 2, such as 500."
    )


def _moments(times: Any, n: int) -> NDArray[np.float64]:
    """Times as numbers; a missing one is before all others."""
    values = list(times)
    if len(values) != n:
        raise DataError(f"There are {n} documents and {len(values)} times. Pass one per document.")
    moments = np.array(parse_times([None if value is None else str(value) for value in values]))
    moments[np.isnan(moments)] = -np.inf
    if len(np.unique(moments)) == 1:
        raise DataError(
            "All documents have the same time, or none, so that none is later. Name another column with the "
            "times, or split without."
        )
    return moments


def _check_parts(
    places: list[Places],
    wanted: list[int],
    labeled: NDArray[np.bool_],
    units: Units,
    sizes: list[int],
    *,
    in_time: bool,
) -> None:
    """Refuse an empty part, and say where a part could not get its size."""
    found = [int(np.count_nonzero(labeled[some])) for some in places]
    names = ["training part", "dev part", "test part"] if len(places) > 2 else ["training part", "test part"]
    kept = "groups and near-duplicates stay in one part"
    if 0 in found:
        n_units = sum(size > 0 for size in sizes)
        if n_units < len(places):
            grouped = "all documents are in one group" if units.n_grouped else "all texts are near-duplicates"
            cure = "Choose another column for the groups (--group)" if units.n_grouped else "Check the texts"
            raise DataError(
                f"Nothing can be held out: {grouped}, or nearly, and {kept}. {cure}, or pass "
                f"near_duplicates=False (--near-duplicates ignore)."
            )
        why = kept if in_time else f"every label needs a training document, and {kept}"
        raise DataError(
            f"The {names[found.index(0)]} has no documents: {why}. Use larger parts, a column with smaller "
            f"groups, or near_duplicates=False (--near-duplicates ignore)."
        )
    for name, size, asked in list(zip(names, found, wanted, strict=True))[1:]:
        if abs(size - asked) > max(1, 0.1 * asked):
            warnings.warn(
                f"The {name} has {counted(size, 'labeled document')} instead of {asked:,}: {kept}.",
                DataWarning,
                stacklevel=3,
            )
