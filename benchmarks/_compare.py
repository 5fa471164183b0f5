"""Shared by all benchmarks: arguments, alternating runs, and checks that both sides did the same job.

A row of a benchmark has at least one `Check`: a figure, recomputed by the script, that must stay within a
stated limit. If a check fails, the row is still printed, with the reason why its times do not compare, and
the exit code is 1.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any


@dataclass(frozen=True)
class Check:
    """A figure that must be at most `at_most`, otherwise the times of a row do not compare. NaN fails."""

    what: str
    value: float
    at_most: float

    @property
    def holds(self) -> bool:
        return bool(self.value <= self.at_most)


@dataclass(frozen=True)
class Row:
    """One comparison: `checks` show that both sides did the same job; `quality` has further figures."""

    name: str
    peer: str
    ours_s: float
    peer_s: float
    checks: Sequence[Check]
    quality: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.checks:
            raise ValueError(f"{self.name}: a row without a check compares times of different jobs.")

    @property
    def ratio(self) -> float:
        return self.peer_s / self.ours_s

    def as_json(self) -> dict[str, Any]:
        """The row with the keys that all benchmarks share; values that are not finite become null."""
        quality = {**self.quality, **{check.what: check.value for check in self.checks}}
        quality["limits"] = {check.what: check.at_most for check in self.checks}
        return {
            "name": self.name,
            "peer": self.peer,
            "ours_s": self.ours_s,
            "peer_s": self.peer_s,
            "ratio": self.ratio,
            "quality": {key: _finite(value) for key, value in quality.items()},
        }

    def as_text(self) -> str:
        figures = [f"{key} {_short(value)}" for key, value in self.quality.items()]
        figures += [f"{check.what} {_short(check.value)} <= {check.at_most:g}" for check in self.checks]
        return (
            f"{self.name:34s} {self.ratio:7.1f}x   ours {self.ours_s:9.4f} s   "
            f"{self.peer} {self.peer_s:9.4f} s   ({', '.join(figures)})"
        )


@dataclass(frozen=True)
class Timed:
    """The median time of a contestant, and the result of its last run."""

    seconds: float
    result: Any


@dataclass(frozen=True)
class Prepared:
    """A contestant with a preparation for each run, which is not timed."""

    prepare: Callable[[], Any]
    work: Callable[[Any], Any]


def in_turns(
    *contestants: Callable[[], Any] | Prepared,
    repeats: int,
    warm: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Timed]:
    """Median seconds of each contestant, run alternately so that a busy machine slows all of them.

    With `warm`, each contestant first runs once untimed, so that imports, threads, processes and caches of
    the first run do not count.
    """
    if warm:
        for contestant in contestants:
            _run(contestant, clock)
    seconds: list[list[float]] = [[] for _ in contestants]
    results: list[Any] = [None] * len(contestants)
    for _ in range(repeats):
        for number, contestant in enumerate(contestants):
            # A result that nobody needs any more gives its memory back, as it does in use.
            results[number] = None
            spent, results[number] = _run(contestant, clock)
            seconds[number].append(spent)
    return [Timed(statistics.median(spent), result) for spent, result in zip(seconds, results, strict=True)]


def _run(contestant: Callable[[], Any] | Prepared, clock: Callable[[], float]) -> tuple[float, Any]:
    work = contestant
    if isinstance(contestant, Prepared):
        work = partial(contestant.work, contestant.prepare())
    start = clock()
    result = work()
    return clock() - start, result


def report(rows: Iterable[Row], as_json: bool) -> int:
    """Print each row as it comes; return 1 if any check fails, otherwise 0.

    A row is one JSON object per line, or a line of text. Failed checks are printed on stderr.
    """
    failed = 0
    for row in rows:
        print(json.dumps(row.as_json()) if as_json else row.as_text(), flush=True)
        for check in row.checks:
            if not check.holds:
                failed = 1
                print(
                    f"{row.name}, {row.peer}: {check.what} is {check.value:.6g}; at most {check.at_most:g} "
                    f"is allowed. The quality differs, so the times do not compare.",
                    file=sys.stderr,
                )
    return failed


def arguments(doc: str | None, repeats: int | None, tasks: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The arguments of every benchmark: --help (its docstring), --json and --repeats.

    `repeats` is None if nothing is timed; `tasks` are the parts that --tasks can select.
    """
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per row")
    if repeats is not None:
        parser.add_argument(
            "--repeats",
            type=_positive,
            default=repeats,
            metavar="N",
            help=f"timed runs of each contestant; the median counts (default: {repeats})",
        )
    if tasks:
        parser.add_argument(
            "--tasks",
            nargs="+",
            choices=tasks,
            default=list(tasks),
            metavar="TASK",
            help=f"only some of: {', '.join(tasks)}",
        )
    return parser


def peer_package(name: str) -> Any:
    """A module that only benchmarks need, imported after parsing arguments, so that --help works without
    it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise SystemExit(f"{name} is not installed ({error}). Run: make .venv/.stamps/bench") from error


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected 1 or more")
    return number


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
