"""What every benchmark shares: two contestants on the same data in the same run, and the ratio of medians."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass
class Row:
    """One comparison. `quality` says in numbers that both sides did the same job."""

    name: str
    peer: str
    ours_s: float
    peer_s: float
    quality: dict[str, Any]

    @property
    def ratio(self) -> float:
        return self.peer_s / self.ours_s


def alternate(
    ours: Callable[[], object], peer: Callable[[], object], repeats: int = 5
) -> tuple[float, float]:
    """Median seconds of each contestant, run in turns so that a busy machine slows both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for contestant, taken in zip((ours, peer), times, strict=True):
            start = time.perf_counter()
            contestant()
            taken.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def report(rows: Iterable[Row], as_json: bool) -> None:
    """Print each row as it comes: one JSON object a line, or an aligned line for people."""
    for row in rows:
        if as_json:
            print(json.dumps({**asdict(row), "ratio": row.ratio}), flush=True)
        else:
            quality = ", ".join(f"{key} {_short(value)}" for key, value in row.quality.items())
            print(
                f"{row.name:34s} {row.ratio:7.1f}x   ours {row.ours_s:9.4f} s   "
                f"{row.peer} {row.peer_s:9.4f} s   ({quality})",
                flush=True,
            )


def wants_json() -> bool:
    """Whether the script was called with --json."""
    return "--json" in sys.argv[1:]


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
