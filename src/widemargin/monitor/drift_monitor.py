"""An alarm for documents that a model labels: do they differ from its training documents beyond chance?

Documents are counted in blocks of 250. A full block is compared with the left-out training documents
(:mod:`widemargin.monitor.reference`) by exact tests of every property
(:mod:`widemargin.monitor.exact_tests`); so are two successive blocks together, four, eight and so on, since
few documents show a large change soon, and many show a small one. Classes that exclude each other are tested
as a mix: for the set of classes that grew most. Test i of length 2**s blocks gets the share
1/((s+1)(s+2)) 1/(2i(1+ln i)**2) of the `level`, divided among the groups of properties and the properties of
a group. All shares sum to at most 1. So the probability that the alarm is ever false is at most `level`,
however long the stream is and whenever it is looked at (the union bound), as long as new and left-out
documents are drawn alike.

Left-out documents are scored by slightly other models than new ones, so a change of odds by less than a
tolerance does not count (`widemargin.monitor.reference.TOLERANCES`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from widemargin._stored import Stored
from widemargin.errors import DataError, UsageError
from widemargin.monitor.exact_tests import changed_mix, changed_shares
from widemargin.monitor.observed import Observed
from widemargin.monitor.reference import TOLERANCES, Reference

Counts = NDArray[np.int64]

BLOCK = 250
LEVEL = 0.01
VERSION = 1
_KEPT = 100  # alarms
_LISTED = 5  # labels of an alarm
_MOST = 2**53


@dataclass(frozen=True)
class DriftFinding:
    """A property whose share in some successive documents differs from that in training.

    Attributes
    ----------
    seen : documents so far
    documents : how many of them, the last ones, were compared
    group, name : the property
    expected, found : its share in left-out training documents, and in these
    p_value : corrected for all tests that were and will be made; an alarm is at most `level`
    """

    seen: int
    documents: int
    group: str
    name: str
    expected: float
    found: float
    p_value: float

    @property
    def sentence(self) -> str:
        """The finding in words."""
        return (
            f"After {self.seen:,} documents: {self.group}: {self.name}: {self.found:.1%} of the last "
            f"{self.documents:,}, {self.expected:.1%} in training (p = {self.p_value:.1g})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Values for JSON."""
        return asdict(self)


class DriftMonitor:
    """Watches what a model sees of new documents.

    Parameters
    ----------
    reference : the left-out training documents; ``model.record_.profile.reference`` of a classifier
    labels : names of the columns of labels; their numbers by default
    level : the largest probability of ever giving a false alarm

    Attributes
    ----------
    seen : documents so far
    alarms : list of :class:`DriftFinding`, the first 100
    n_alarms : how many there were

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> def documents(n, share):
    ...     return Observed(decided=rng.random((n, 1)) < share)
    >>> monitor = DriftMonitor(Reference.of(documents(2000, 0.2)), ["spam"])
    >>> _ = monitor.update(documents(1000, 0.2))
    >>> monitor.alarms
    []
    >>> monitor.update(documents(1000, 0.4))[0].name
    'spam'
    """

    def __init__(
        self, reference: Reference, labels: Sequence[Any] | None = None, *, level: float = LEVEL
    ) -> None:
        if not 0 < level < 1:
            raise UsageError(f"level={level}: expected a number between 0 and 1, such as 0.01.")
        if not reference.groups:
            raise UsageError("There is nothing to compare with: the profile of training is empty.")
        self.reference, self.level = reference, float(level)
        most = int(reference.labels.max()) + 1 if len(reference.labels) else 0
        self._names = reference.names(list(range(most)) if labels is None else list(labels))
        self.seen = 0
        self.n_alarms = 0
        self.alarms: list[DriftFinding] = []
        self._expected = reference.counts
        self._total = self._nothing()
        self._block = self._nothing()
        self._in_block = 0
        self._waiting: list[dict[str, Counts] | None] = []  # by length, the first of a pair
        self._tests: list[int] = []  # by length, how many were made

    def _nothing(self) -> dict[str, Counts]:
        return {group: np.zeros(len(counts), np.int64) for group, (counts, _) in self._expected.items()}

    def update(self, seen: Observed) -> list[DriftFinding]:
        """Count some documents, in the order in which they came; returns the new alarms."""
        new: list[DriftFinding] = []
        start, n = 0, seen.documents
        while start < n:
            end = min(n, start + BLOCK - self._in_block)
            found = self.reference.observed(seen.part(start, end))
            for group, counts in found.items():
                self._block[group] += counts
                self._total[group] += counts
            self.seen += end - start
            self._in_block += end - start
            start = end
            if self._in_block == BLOCK:
                new += self._block_is_full()
        self.n_alarms += len(new)
        self.alarms = (self.alarms + new)[:_KEPT]
        return new

    def _block_is_full(self) -> list[DriftFinding]:
        """Test the block, and all longer stretches that it completes."""
        counts, self._block, self._in_block = self._block, self._nothing(), 0
        new, scale = [], 0
        while True:
            if scale == len(self._tests):
                self._tests.append(0)
                self._waiting.append(None)
            self._tests[scale] += 1
            new += self._test(counts, scale, self._tests[scale])
            first = self._waiting[scale]
            if first is None:
                self._waiting[scale] = counts
                return new
            self._waiting[scale] = None
            counts = {group: first[group] + counts[group] for group in counts}
            scale += 1

    def _test(self, counts: dict[str, Counts], scale: int, number: int) -> list[DriftFinding]:
        n = BLOCK * 2**scale
        share = 1 / ((scale + 1) * (scale + 2)) / (2 * number * (1 + math.log(number)) ** 2)
        new = []
        for group, now in counts.items():
            before, n_before = self._expected[group]
            found: list[tuple[float, list[int], str]] = []
            if group == "labels" and self.reference.exclusive:
                p, grown = changed_mix(before, n_before, now, n, TOLERANCES[group])
                found = [(p, *_fewer(grown.tolist(), self._names[group]))]
            else:
                every = changed_shares(before, n_before, now, n, TOLERANCES[group]) * len(now)
                found = [(p, [j], self._names[group][j]) for j, p in enumerate(every.tolist())]
            for p, properties, name in found:
                corrected = min(1.0, p * len(counts) / share)
                if corrected <= self.level:
                    expected, share_now = (
                        float(part[properties].sum()) / size for part, size in ((before, n_before), (now, n))
                    )
                    new.append(DriftFinding(self.seen, n, group, name, expected, share_now, corrected))
        return sorted(new, key=lambda finding: finding.p_value)

    def shares(self) -> list[dict[str, Any]]:
        """Every property: its share in training and in all documents so far; and in the block at hand."""
        found = []
        for group, (before, n_before) in self._expected.items():
            for j, name in enumerate(self._names[group]):
                row = {"group": group, "name": name, "expected": round(float(before[j]) / n_before, 6)}
                row["found"] = round(float(self._total[group][j]) / self.seen, 6) if self.seen else None
                found.append({**row, "documents": int(self._total[group][j])})
        return found

    def to_dict(self) -> dict[str, Any]:
        """What is known now, for JSON."""
        return {
            "documents": self.seen,
            "level": self.level,
            "alarm": bool(self.n_alarms),
            "n_alarms": self.n_alarms,
            "alarms": [alarm.to_dict() for alarm in self.alarms],
            "shares": self.shares(),
        }

    def state(self) -> dict[str, Any]:
        """All that `from_state` needs, for JSON."""
        return {
            "version": VERSION,
            "level": self.level,
            "seen": self.seen,
            "in_block": self._in_block,
            "total": _plain(self._total),
            "block": _plain(self._block),
            "waiting": [None if part is None else _plain(part) for part in self._waiting],
            "tests": list(self._tests),
            "n_alarms": self.n_alarms,
            "alarms": [alarm.to_dict() for alarm in self.alarms],
        }

    @classmethod
    def from_state(cls, reference: Reference, state: Any, labels: Sequence[Any] | None = None) -> Self:
        """The monitor that `state` was taken of, of the same reference.

        Raises
        ------
        DataError
            The state is damaged, or was taken of another reference.
        """
        stored = Stored(state)
        if stored.integer("version") != VERSION:
            raise DataError(f"'version' of this state is {stored.value('version')}; expected {VERSION}")
        level = stored.number("level", least=1e-300, most=1 - 1e-16)
        self = cls(reference, labels, level=level)
        self.seen = stored.integer("seen", most=_MOST)
        self._in_block = stored.integer("in_block", most=BLOCK - 1)
        self._total = self._counts(stored.value("total"), self.seen)
        self._block = self._counts(stored.value("block"), self._in_block)
        self._tests = [stored_count(value) for value in stored.items("tests")]
        waiting = stored.items("waiting")
        blocks = (self.seen - self._in_block) // BLOCK
        if (self.seen - self._in_block) % BLOCK or self._tests != _tests_after(blocks):
            raise DataError("The numbers of tests do not fit the number of documents")
        if [part is not None for part in waiting] != [bool(count % 2) for count in self._tests]:
            raise DataError("The counts that wait for a second half do not fit the numbers of tests")
        self._waiting = [
            None if part is None else self._counts(part, BLOCK * 2**scale)
            for scale, part in enumerate(waiting)
        ]
        self.n_alarms = stored.integer("n_alarms", most=_MOST)
        self.alarms = [_finding(value) for value in stored.items("alarms")]
        if len(self.alarms) != min(self.n_alarms, _KEPT):
            raise DataError(f"There are {len(self.alarms)} alarms; expected {min(self.n_alarms, _KEPT)}")
        return self

    def _counts(self, found: Any, most: int) -> dict[str, Counts]:
        stored = Stored(found)
        if set(found) != set(self._expected):
            raise DataError(f"Counts are of {', '.join(found)}; expected {', '.join(self._expected)}")
        made = {}
        for group, (before, _) in self._expected.items():
            values = [stored_count(value, most) for value in stored.items(group)]
            if len(values) != len(before):
                raise DataError(f"There are {len(values)} counts of {group}; expected {len(before)}")
            made[group] = np.array(values, dtype=np.int64)
        return made


def stored_count(value: Any, most: int = _MOST) -> int:
    """A number that was read, if it is a count up to `most`."""
    if type(value) is not int or not 0 <= value <= most:
        raise DataError(f"{value!r} is not a count from 0 to {most}")
    return value


def _fewer(grown: list[int], names: list[str]) -> tuple[list[int], str]:
    """Classes that grew, or the others, that shrank, if these are fewer; and what to call them."""
    rest = [j for j in range(len(names)) if j not in grown]
    chosen = grown if len(grown) <= len(rest) else rest
    listed = ", ".join(names[j] for j in chosen[:_LISTED])
    return chosen, listed + (f" and {len(chosen) - _LISTED} more" if len(chosen) > _LISTED else "")


def _tests_after(blocks: int) -> list[int]:
    """How many stretches of each length are complete after so many blocks."""
    found = []
    while blocks:
        found.append(blocks)
        blocks //= 2
    return found


def _plain(counts: dict[str, Counts]) -> dict[str, list[int]]:
    return {group: values.tolist() for group, values in counts.items()}


def _finding(value: Any) -> DriftFinding:
    stored = Stored(value)
    return DriftFinding(
        stored.integer("seen", most=_MOST),
        stored.integer("documents", most=_MOST),
        stored.text("group"),
        stored.text("name"),
        *(stored.number(name, least=0, most=1) for name in ("expected", "found", "p_value")),
    )
