"""An alarm for streams: have the documents changed so that old ones spoil what is learned from new ones?

Klinkenberg and Joachims (Detecting Concept Drift with Support Vector Machines, ICML 2000; joachims, 5.5)
train support vector machines on windows of different lengths, all of which end with the newest documents, and
keep the window with the least xi-alpha estimate of the error on these. As long as nothing changes, more
documents are better, and the longest window wins. After a change, a shorter one does.

Here the window of the last `window` documents is divided into ten batches. When a batch is full, the
whole window is compared with its last 2, 4 and 8 batches, on the documents of these. Those at risk (alpha D^2
+ xi >= 1, see :mod:`widemargin.measure.xi_alpha`) in the whole window but not in the shorter one speak for a
change, those at risk in the shorter one only speak against it. The alarm fires if a sign test, corrected for
the number of windows, has a p-value of at most `level`. Then the documents before the shorter window are
forgotten.

The risks under one machine depend on each other, and a batch is in several comparisons, so `level` is not the
rate of false alarms. Without a change that is lower, since shorter windows have higher estimates: 460 checks
of drawn streams gave no p-value below 0.01.

Each check trains on at most 2.4 windows of documents, after a tenth of a window. So the work per document is
that of training on 24 documents, however long the stream is. Memory is that of the window.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin._arrays import canonical_csr, row_squares
from widemargin.errors import UsageError
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.measure.significance import sign_p_value

BATCHES = 10  # of a window
SHORTER = (2, 4, 8)  # batches of the windows that the whole is compared with
NEWEST = 2  # batches that the estimates are about
LEVEL = 0.001
LEAST = 100  # documents of a window: less than ten in a batch say nothing
MOST_LABELS = 20
# Documents have length 1. A bias feature of this size shifts the threshold without loosening the bound.
_BIAS = 0.3
_ROUNDING = 1e-9
_ALARMS = 100  # that are kept


@dataclass(frozen=True)
class WindowEstimate:
    """A window of the last `documents`, and the xi-alpha estimate of its error on the newest ones.

    `estimate` is the mean number of wrong labels per document. `p_value` is that of the window having a lower
    estimate than the longest one by chance, corrected for the number of windows.
    """

    documents: int
    estimate: float
    p_value: float


@dataclass(frozen=True)
class Check:
    """The result after a batch.

    Attributes
    ----------
    seen : number of documents of the stream so far
    windows : the estimates, of the longest window first
    chosen : documents of the window with the least estimate; the longest of equally good ones
    fired : whether a shorter window is better beyond chance
    changed_at : if the alarm fired, the number of documents before the change, about
    """

    seen: int
    windows: tuple[WindowEstimate, ...]
    chosen: int
    fired: bool
    changed_at: int | None

    @property
    def sentence(self) -> str:
        """The result in words."""
        if self.changed_at is None:
            return (
                f"After {self.seen:,} documents: no change found in the last {self.windows[0].documents:,}."
            )
        return (
            f"The documents changed at about document {self.changed_at:,}: the last "
            f"{self.seen - self.changed_at:,} are better learned without those before "
            f"(p = {min(window.p_value for window in self.windows):.1g})."
        )

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "windows": [asdict(window) for window in self.windows]}


class DriftAlarm:
    """Watch labeled documents as they arrive.

    Parameters
    ----------
    window : number of documents to keep, at least 100
    level : p-value at or below which the alarm fires
    C : cost of a margin error
    n_jobs : as for :class:`~widemargin.LinearSVM`

    Attributes
    ----------
    seen : number of documents so far
    alarms : every :class:`Check` that fired, the last hundred of them

    Examples
    --------
    The class of the documents is in their first two words, until it is in the next two.

    >>> rng = np.random.default_rng(0)
    >>> X, alarm = (rng.random((1500, 30)) < 0.3).astype(float), DriftAlarm(500)
    >>> y = np.where(np.arange(1500) < 800, X[:, 0] + X[:, 1], X[:, 2] + X[:, 3]) > 0
    >>> checks = alarm.add(X, [(str(label),) for label in y])
    >>> [check.changed_at for check in alarm.alarms]
    [800]
    """

    def __init__(
        self, window: int = 2000, *, level: float = LEVEL, C: float = 1.0, n_jobs: int | None = None
    ) -> None:
        if window < LEAST:
            raise UsageError(f"window={window}: expected at least {LEAST} documents.")
        if not 0 < level < 1:
            raise UsageError(f"level={level}: expected a number between 0 and 1.")
        self.batch = window // BATCHES
        self.level, self.C, self.n_jobs = level, C, n_jobs
        self.seen = 0
        self.alarms: list[Check] = []
        self._rows: deque[sp.csr_array] = deque()  # full batches
        self._labels: deque[list[Sequence[str]]] = deque()
        self._new_rows: list[sp.csr_array] = []
        self._new_labels: list[Sequence[str]] = []

    def add(self, X: Any, labels: Sequence[Sequence[str]]) -> list[Check]:
        """Take the next documents, and return the checks of all batches that they complete.

        Parameters
        ----------
        X : (n, features); documents are scaled to length 1
        labels : the labels of each document
        """
        rows = _unit_rows(X)
        if rows.shape[0] != len(labels):
            raise UsageError(f"There are {rows.shape[0]} documents and labels of {len(labels)}.")
        checks, start = [], 0
        while start < len(labels):
            end = min(len(labels), start + self.batch - len(self._new_labels))
            self._new_rows.append(rows[start:end])
            self._new_labels += labels[start:end]
            self.seen += end - start
            start = end
            if len(self._new_labels) == self.batch:
                checks += self._close_batch()
        return checks

    def _close_batch(self) -> list[Check]:
        self._rows.append(sp.csr_array(sp.vstack(self._new_rows, format="csr")))
        self._labels.append(self._new_labels)
        self._new_rows, self._new_labels = [], []
        if len(self._rows) > BATCHES:
            self._rows.popleft()
            self._labels.popleft()
        shorter = [length for length in SHORTER if length < len(self._rows)]
        if not shorter:
            return []
        check = self._check(shorter)
        if check.changed_at is not None:
            self.alarms = [*self.alarms[1 - _ALARMS :], check]
            while len(self._rows) * self.batch > self.seen - check.changed_at:
                self._rows.popleft()
                self._labels.popleft()
        return [check]

    def _check(self, shorter: list[int]) -> Check:
        X = _used_columns(sp.csr_array(sp.vstack(list(self._rows), format="csr")))
        member = _members([known for batch in self._labels for known in batch], min(shorter) * self.batch)
        whole = self._at_risk(X, member)
        newest = NEWEST * self.batch
        windows = [WindowEstimate(X.shape[0], float(whole[-newest:].mean()), 1.0)]
        for length in sorted(shorter, reverse=True):
            n = length * self.batch
            part = self._at_risk(X[X.shape[0] - n :], member[len(member) - n :])
            difference = whole[-n:] - part
            better, worse = int(np.count_nonzero(difference > 0)), int(np.count_nonzero(difference < 0))
            p_value = sign_p_value(better, worse, one_sided=True)
            windows.append(WindowEstimate(n, float(part[-newest:].mean()), min(1.0, len(shorter) * p_value)))
        least = min(window.estimate for window in windows)
        chosen = next(window.documents for window in windows if window.estimate == least)
        surest = min(windows, key=lambda window: window.p_value)
        fired = surest.p_value <= self.level
        changed_at = self.seen - surest.documents if fired else None
        return Check(self.seen, tuple(windows), chosen, fired, changed_at)

    def _at_risk(self, X: sp.csr_array, member: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The number of labels of each document that may be leave-one-out errors."""
        if not member.shape[1]:
            return np.zeros(len(member), dtype=np.intp)
        learner = LinearSVM(self.C, bias=_BIAS, balance=0, tol=0.01, n_jobs=self.n_jobs)
        learner.fit(X, member[:, 0] if member.shape[1] == 1 else member)
        risk = np.asarray(learner.left_out_risk(X)).reshape(len(member), -1)
        found: NDArray[np.intp] = np.count_nonzero(risk >= 1 - _ROUNDING, axis=1)
        return found


def _unit_rows(X: Any) -> sp.csr_array:
    csr = canonical_csr(X)
    lengths = np.sqrt(row_squares(csr))
    scale = np.repeat(1 / np.where(lengths > 0, lengths, 1.0), np.diff(csr.indptr))
    return csr._replace(data=csr.data * scale).matrix


def _used_columns(X: sp.csr_array) -> sp.csr_array:
    """The same rows without empty columns: hashed terms have far more columns than a window has terms."""
    used, indices = np.unique(X.indices, return_inverse=True)
    shape = X.shape[0], max(len(used), 1)
    return sp.csr_array((X.data, indices.astype(np.int32), X.indptr), shape=shape)


def _members(labels: list[Sequence[str]], shortest: int) -> NDArray[np.bool_]:
    """Which documents have the most frequent labels, one column each.

    Only labels that some of the documents of the shortest window have and others have not: two labels that
    exclude each other are one column.
    """
    newest = Counter(label for known in labels[-shortest:] for label in set(known))
    some = [label for label, count in newest.items() if 2 <= count <= shortest - 2]
    if len(newest) == 2 and all(len(known) == 1 for known in labels):
        some = sorted(some)[:1]
    chosen = sorted(some, key=lambda label: (-newest[label], label))[:MOST_LABELS]
    return np.array([[label in known for label in chosen] for known in labels], dtype=bool).reshape(
        len(labels), len(chosen)
    )
