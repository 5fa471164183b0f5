"""SVM-light's example files: ``target [qid:n] [cost:x] feature:value ... [# comment]``, one vector per line.

The target is a number, several with commas between them (multi-label), or nothing (in no category); 0 means
unlabeled, as for transduction. ``cost:x`` multiplies the cost of errors on the row. Feature numbers begin at
1 and increase along the line. A comment is the id of its row.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from widemargin._files import replacing
from widemargin.documents.collection import Vectors
from widemargin.documents.limits import MAX_DOCUMENT
from widemargin.documents.record import LabelSet
from widemargin.documents.sources.byte_source import ByteSource
from widemargin.documents.wording import counted, shown
from widemargin.errors import DataError, DataWarning

NUMBER = rb"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_ROW = re.compile(
    rb"(?P<target>" + NUMBER + rb"(?:," + NUMBER + rb")*+)?"
    rb"(?P<marks>(?:[ \t]+(?:qid:[0-9]+|cost:" + NUMBER + rb"))*+)"
    rb"(?P<features>(?:[ \t]+[0-9]+:" + NUMBER + rb")*+)"
    rb"[ \t\r\n]*(?:#(?P<comment>.*))?",
    re.DOTALL,
)
_PAIR = re.compile(rb"([0-9]+):(" + NUMBER + rb")")
_LARGEST = 2**31 - 1
# Enough lines at a time for NumPy to be fast, few enough to fit in a cache.
_BLOCK = 4096


def read_vectors(
    source: str | Path, n_features: int | None = None, max_document: int = MAX_DOCUMENT
) -> Vectors:
    """Read an SVM-light file (also .gz, .xz, .zst; "-" is standard input).

    Parameters
    ----------
    source : path
    n_features : int, optional
        Smallest number of columns, so that files of one task get the same shape.
    max_document : int
        Largest size of a line in bytes.
    """
    stream = ByteSource(source)
    try:
        return parse_vectors(stream.lines(max_document), stream.name, n_features)
    finally:
        stream.close()


def parse_vectors(lines: Iterable[bytes], name: str, n_features: int | None = None) -> Vectors:
    """The rows of an SVM-light file from its `lines`; `name` is for messages."""
    rows = _Rows(name)
    for number, line in enumerate(lines, 1):
        rows.add(line, number)
    if not rows.labels:
        raise DataError(f"{name}: has no rows. Expected lines such as `1 3:0.5 7:1.2`.")
    found = rows.vectors(n_features or 0)
    rows.warn_about_zeros()
    return found


def vector_batches(lines: Iterable[bytes], name: str, size: int) -> Iterator[Vectors]:
    """The same rows, at most about `size` values at a time, each part as wide as it has to be."""
    rows, before = _Rows(name), 0
    for number, line in enumerate(lines, 1):
        rows.add(line, number)
        if rows.n_values >= size:
            yield rows.vectors(0, before)
            before += len(rows.labels)
            rows = rows.next()
    if not before and not rows.labels:
        raise DataError(f"{name}: has no rows. Expected lines such as `1 3:0.5 7:1.2`.")
    if rows.labels:
        yield rows.vectors(0, before)
    rows.warn_about_zeros()


def write_vectors(vectors: Vectors, path: str | Path) -> None:
    """Write an SVM-light file; ids that are not row numbers become comments."""
    indptr = vectors.X.indptr.tolist()
    features = (vectors.X.indices.astype(np.int64) + 1).tolist()
    values = vectors.X.data
    with replacing(path) as file:
        for i, (identifier, labels) in enumerate(zip(vectors.ids, vectors.labels, strict=True)):
            if not all(map(_is_target, labels or ())):
                raise DataError(
                    f"Row {i + 1}: the labels {labels} are not numbers, as SVM-light needs. Number them."
                )
            if labels is not None and len(labels) == 1 and float(labels[0]) == 0:
                raise DataError(
                    f"Row {i + 1}: the label is 0, which means unlabeled to SVM-light. Number the classes "
                    f"from 1."
                )
            fields = ["0" if labels is None else ",".join(labels)]
            if vectors.qids is not None:
                fields.append(f"qid:{vectors.qids[i]}")
            if vectors.weights is not None:
                fields.append(f"cost:{float(vectors.weights[i])!r}")
            row = slice(indptr[i], indptr[i + 1])
            if labels == () and row.start == row.stop and len(fields) == 1:
                fields.append("1:0")  # an empty line would not be a row
            # str() of a float32 is the shortest number that reads back as the same.
            fields += [
                f"{feature}:{value!s}" for feature, value in zip(features[row], values[row], strict=True)
            ]
            if identifier != str(i + 1):
                # A line end inside an id would end the row.
                fields.append("# " + " ".join(identifier.split()))
            file.write(" ".join(fields).encode() + b"\n")


def _is_target(label: str) -> bool:
    return re.fullmatch(NUMBER, label.encode()) is not None


class _Rows:
    """The rows read so far; features are converted one block of lines at a time."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.labels: list[LabelSet] = []
        self.qids: list[int] = []
        self.weights: list[float] = []
        self.comments: list[str] = []
        self.indices: list[NDArray[np.int32]] = [np.empty(0, np.int32)]
        self.values: list[NDArray[np.float32]] = [np.empty(0, np.float32)]
        self.lengths: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        self._known: dict[bytes | None, LabelSet] = {None: ()}
        self._features: list[bytes] = []
        self._numbers: list[int] = []
        self.n_values = 0  # of blocks that are converted
        self._zeros_before, self._names_before = 0, set[str]()

    def next(self) -> _Rows:
        """For the rows that follow."""
        rows = _Rows(self.name)
        rows._zeros_before, rows._names_before = self._targets()
        return rows

    def vectors(self, n_features: int, before: int = 0) -> Vectors:
        """The rows so far, with at least so many features, and their numbers after `before`."""
        import scipy.sparse as sp

        self.flush()
        indices = np.concatenate(self.indices)
        width = max(int(indices.max(initial=0)), n_features)
        indptr = np.concatenate([[0], np.cumsum(np.concatenate(self.lengths))])
        indices -= 1
        X = sp.csr_array((np.concatenate(self.values), indices, indptr), shape=(len(self.labels), width))
        ids = [comment or str(i) for i, comment in enumerate(self.comments, before + 1)]
        qids = self.qids if any(self.qids) else None
        weights = None if all(weight == 1.0 for weight in self.weights) else self.weights
        return Vectors(ids, X, self.labels, qids, weights)

    def add(self, line: bytes, number: int) -> None:
        match = _ROW.fullmatch(line)
        if match is None:
            raise DataError(f"{self.name}, line {number}: {_what_is_wrong(line)}")
        target, marks, features, comment = match.groups()
        if target is None and not features and not marks:
            return  # blank, or a comment on the file
        if target not in self._known:
            self._known[target] = _labels(target)
        self.labels.append(self._known[target])
        qid, weight = self._marks(marks, number) if marks else (0, 1.0)
        self.qids.append(qid)
        self.weights.append(weight)
        self.comments.append(comment.decode("utf-8", "replace").strip() if comment else "")
        self._features.append(features)
        self._numbers.append(number)
        if len(self._features) == _BLOCK:
            self.flush()

    def _marks(self, marks: bytes, number: int) -> tuple[int, float]:
        """The query number of a row, 0 for none, and the factor on its cost."""
        fields = [field.partition(b":")[::2] for field in marks.split()]
        found = dict(fields)
        where = f"{self.name}, line {number}"
        if len(found) < len(fields):
            raise DataError(f"{where}: {shown(fields[-1][0])} is given twice. Remove one of them.")
        weight = float(found.get(b"cost", b"1"))
        if not 0 <= weight < np.inf:
            raise DataError(
                f"{where}: cost:{shown(found[b'cost'])} is not a factor of a cost. Write a number from 0 on."
            )
        return int(found.get(b"qid", b"0")), weight

    def flush(self) -> None:
        """Convert the features of the pending lines."""
        lengths = np.array([features.count(b":") for features in self._features], np.int64)
        text = b"".join(self._features).replace(b":", b" ").decode("ascii")
        numbers = np.fromstring(text, dtype=np.float64, sep=" ")
        indices, values = numbers[::2], numbers[1::2]
        with np.errstate(over="ignore"):
            narrow = values.astype(np.float32)
        # Feature numbers increase within a row; a new row may start with a smaller one.
        ascending = np.diff(indices, prepend=0) > 0
        starts = np.cumsum(lengths)[:-1]
        ascending[starts[starts < len(indices)]] = True
        if not (ascending.all() and np.isfinite(narrow).all() and _in_range(indices)):
            self._complain()
        self.indices.append(indices.astype(np.int32))
        self.values.append(narrow)
        self.lengths.append(lengths)
        self.n_values += len(indices)
        self._features, self._numbers = [], []

    def _targets(self) -> tuple[int, set[str]]:
        """How many targets were 0, and what the others were."""
        zeros = sum(labels is None for labels in self.labels)
        names = {label for labels in self._known.values() for label in labels or ()}
        return zeros + self._zeros_before, names | self._names_before

    def warn_about_zeros(self) -> None:
        """Warn about targets of 0: a class in many other formats, but not in SVM-light."""
        zeros, names = self._targets()
        if zeros and names and not any(name.startswith("-") for name in names):
            warnings.warn(
                f"{self.name}: {counted(zeros, 'row')} with the target 0 read as unlabeled. If 0 is one of "
                f"the classes, number the classes from 1.",
                DataWarning,
                stacklevel=3,
            )

    def _complain(self) -> None:
        """Find the first wrong row of the block, and raise an error with the reason."""
        for features, number in zip(self._features, self._numbers, strict=True):
            previous = 0
            for index, value in _PAIR.findall(features):
                where = f"{self.name}, line {number}: feature {shown(index)}"
                if not index.strip(b"0"):
                    raise DataError(f"{where}: numbers begin at 1. Add 1 to every feature number.")
                if len(index.lstrip(b"0")) > 10 or int(index) > _LARGEST:
                    raise DataError(f"{where}: numbers may not exceed 2**31 - 1. Renumber the features.")
                if int(index) == previous:
                    raise DataError(f"{where}: given twice. Add the two values.")
                if int(index) < previous:
                    raise DataError(
                        f"{where}: comes after {previous}. Sort the features of a line by number."
                    )
                with np.errstate(over="ignore"):
                    if not np.isfinite(np.float32(float(value))):
                        raise DataError(
                            f"{where}: {shown(value)} is beyond single precision. Scale the values."
                        )
                previous = int(index)


def _in_range(indices: NDArray[np.float64]) -> bool:
    return not len(indices) or (indices.min() >= 1 and indices.max() <= _LARGEST)


def _labels(target: bytes) -> LabelSet:
    """The labels of a target; numbers are written without plus signs and redundant zeros.

    >>> _labels(b"+1"), _labels(b"-1.0"), _labels(b"0"), _labels(b"1,5")
    (('1',), ('-1',), None, ('1', '5'))
    """
    names = [_plain(number) for number in target.split(b",")]
    return None if names == ["0"] else tuple(dict.fromkeys(names))


def _plain(number: bytes) -> str:
    value = float(number)
    return str(int(value)) if value.is_integer() else repr(value)


def _what_is_wrong(line: bytes) -> str:
    """Why a line is not a row."""
    target, *fields = (
        line.partition(b"#")[0].split() if line[:1].strip() else [b"", *line.partition(b"#")[0].split()]
    )
    if target and re.fullmatch(NUMBER + rb"(?:," + NUMBER + rb")*", target) is None:
        return f"the target {shown(target)} is not a number. Number the classes, or name another --format."
    for field in fields:
        feature, colon, value = field.partition(b":")
        if not colon:
            return f"{shown(field)} is not feature:value. Write pairs such as 3:0.5."
        if feature == b"qid":
            return f"{shown(field)} is not a query number after the target. Write `1 qid:4 3:0.5`."
        if feature == b"cost":
            return f"{shown(field)} is not a cost after the target. Write `1 cost:2.5 3:0.5`."
        if feature == b"sid":
            return f"{shown(field)}: shared slacks are not supported. Remove them."
        if not feature.isdigit():
            return f"the feature {shown(feature)} is not a whole number from 1. Number the features."
        if value.lstrip(b"+-").lower() in (b"nan", b"inf", b"infinity"):
            return f"feature {shown(feature)} is {shown(value)}. Remove it, or give it a finite value."
        if re.fullmatch(NUMBER, value) is None:
            return f"feature {shown(feature)}: {shown(value)} is not a number. Write pairs such as 3:0.5."
    return f"found {shown(line.strip())}; expected `target feature:value ...`."
