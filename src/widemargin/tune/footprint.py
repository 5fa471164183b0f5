"""What a step costs: seconds by the clock, and the growth of the process's peak memory."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass
class Footprint:
    """Seconds, and the bytes by which the resident memory of the process grew at its highest point.

    `memory` is None where the system does not tell: Linux resets its peak on request, others do not.
    """

    seconds: float = 0.0
    memory: int | None = None


@contextlib.contextmanager
def measured(*, memory: bool = True) -> Iterator[Footprint]:
    """Measure the block.

    Examples
    --------
    >>> with measured() as found:
    ...     large = b"x" * 10_000_000
    >>> found.memory is None or found.memory > 9_000_000
    True
    """
    found = Footprint()
    before = _forget_peak() if memory else None
    start = time.perf_counter()
    yield found
    found.seconds = time.perf_counter() - start
    if before is not None:
        after = _resident("VmHWM")
        found.memory = None if after is None else max(after - before, 0)


def _forget_peak() -> int | None:
    """Make the peak what is resident now, and return that; None where this is not possible."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        # Free memory that the allocator keeps would hide what the step takes.
        ctypes.CDLL(None).malloc_trim(0)
    try:
        _RESET.write_text("5")
    except OSError:
        return None
    return _resident("VmRSS")


def _resident(name: str) -> int | None:
    """A figure of the process in bytes."""
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return None
    sizes = [int(line.split()[1]) for line in lines if line.startswith(f"{name}:")]
    return 1024 * sizes[0] if sizes else None
