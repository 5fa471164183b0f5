"""The sizing table of docs/scale.md: what was measured, and what follows from it for other sizes.

Rows without a mark were measured. Others are extrapolated from the run on most documents:

- making rows takes time in proportion to the documents; learning, to the documents to the power that was
  fitted and to the labels;
- on k cores, the serial part of the work stays and the parallel part is divided by k. Both follow from the
  time by the clock and the processor time on the cores that were measured: w = s + p / cores, c = s + p;
- the vocabulary grows with the fitted power of the documents (Heaps' law);
- temporary files grow in proportion to the documents;
- memory is the least for --memory: a base, the vocabulary with its counts, the weights of 16 labels that are
  learned together, and two bits for each label and document.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

CORES = (2, 16, 64)
SIZES = (
    (100_000, 20),
    (1_000_000, 20),
    (10_000_000, 20),
    (10_000_000, 200),
    (100_000_000, 20),
    (100_000_000, 200),
)
_BASE = 600e6  # Python and its libraries, and the rows that are visited together and those read ahead
_PER_TERM = 120.0  # its spelling, its place, its counts
_TOGETHER = 16
_PER_WEIGHT = 16.0  # the weight in single and in double precision, and one more of the pass


@dataclass(frozen=True)
class Law:
    """y = factor x^power."""

    factor: float
    power: float

    @classmethod
    def through(cls, x: Sequence[float], y: Sequence[float]) -> Law:
        """The power fitted to all points, through the last of them."""
        power = float(np.polyfit(np.log(x), np.log(y), 1)[0])
        return cls(y[-1] / x[-1] ** power, power)

    def __call__(self, x: float) -> float:
        return float(self.factor * x**self.power)


def sizing_table(results: Path) -> str:
    """The table as markdown, from a file of rows as ``--json`` prints them."""
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines() if line.strip()]
    growth = next((row["quality"] for row in lines if "runs" in row["quality"]), None)
    if growth is None:
        raise SystemExit(f"{results}: has no row of growth. Run scale.py --json with --only growth.")
    return markdown(growth["runs"], int(growth["threads"]))


def markdown(runs: Sequence[dict[str, Any]], cores: int) -> str:
    """The table from the figures of runs of growing size on `cores` cores."""
    sizes = [float(run["documents"]) for run in runs]
    vocabulary = Law.through(sizes, [run["terms"] for run in runs])
    learning = Law.through(sizes, [max(run["learning_s"], 1e-3) for run in runs])
    last = runs[-1]
    per_document = (last["wall_s"] - last["learning_s"]) / last["documents"]
    disk = last["scratch_bytes"] / last["documents"]
    serial, parallel = shares(last["wall_s"], last["cpu_s"], cores)

    def minutes(seconds: float, on: int) -> float:
        return seconds * (serial + parallel / on) / (serial + parallel / cores) / 60

    found: list[tuple[float, int, str]] = []
    for run in runs:
        spent = [f"{minutes(run['wall_s'], on):.1f}{'' if on == cores else ' *'}" for on in CORES]
        words = [_count(run["documents"]), str(run["labels"]), _count(run["terms"]), _size(run["peak_bytes"])]
        found.append((run["documents"], run["labels"], _line([*words, _size(run["scratch_bytes"]), *spent])))
    known = {(run["documents"], run["labels"]) for run in runs}
    for n, labels in SIZES:
        if (n, labels) in known:
            continue
        seconds = per_document * n + learning(n) * labels / last["labels"]
        words = [
            _count(n),
            str(labels),
            f"{_count(vocabulary(n))} *",
            f"{_size(least_memory(n, labels, vocabulary(n)))} *",
        ]
        spent = [f"{minutes(seconds, on):.1f} *" for on in CORES]
        found.append((n, labels, _line([*words, f"{_size(disk * n)} *", *spent])))
    head = [
        "documents",
        "labels",
        "vocabulary",
        "memory",
        "disk",
        *(f"minutes on {on} cores" for on in CORES),
    ]
    lines = [_line(head), "|" + "---:|" * len(head), *(line for *_, line in sorted(found))]
    return "\n".join([*lines, "", "\\* extrapolated"])


def shares(wall: float, cpu: float, cores: int) -> tuple[float, float]:
    """The serial and the parallel share of the work.

    >>> shares(10.0, 18.0, 2)
    (0.1111111111111111, 0.8888888888888888)
    """
    if cores < 2:
        return 1.0, 0.0
    parallel = float(np.clip(cores / (cores - 1) * (cpu - wall) / cpu, 0.0, 1.0))
    return 1.0 - parallel, parallel


def least_memory(n: float, labels: int, terms: float) -> float:
    """Bytes that training from disk needs at least."""
    return _BASE + terms * (_PER_TERM + _PER_WEIGHT * min(labels, _TOGETHER)) + n * labels / 4


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _count(number: float) -> str:
    if number < 995:
        return f"{number:.0f}"
    unit, name = (1e3, "thousand") if number < 995_000 else (1e6, "million")
    return f"{number / unit:.3g} {name}"


def _size(number: float) -> str:
    return f"{number / 1e6:.0f} MB" if number < 995e6 else f"{number / 1e9:.3g} GB"
