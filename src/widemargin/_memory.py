"""Memory: sizes such as "2GB", how much there is, and how much this process uses."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import re
import sys
from pathlib import Path

from widemargin.errors import UsageError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([kmgt]?i?)b?", re.IGNORECASE)
# Python and its libraries alone take about so much.
LEAST = 100 * 10**6
# Where the limits of a container are, by the version of its control groups.
_LIMITS = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat", "total_inactive_file"),
)


def parse_size(size: str | int, name: str = "memory") -> int:
    """The bytes of a size such as "512MB", "1.5GiB" or a number of bytes.

    Parameters
    ----------
    name : what errors call it

    Examples
    --------
    >>> parse_size("2GB"), parse_size("1.5 GiB"), parse_size(500_000_000)
    (2000000000, 1610612736, 500000000)
    """
    if isinstance(size, int) and not isinstance(size, bool):
        found = float(size)
    else:
        match = _SIZE.fullmatch(str(size).strip())
        unit = "?" if match is None else match[2].lower()
        factor = {**_UNITS, **_BINARY}.get(unit)
        if match is None or factor is None:
            raise UsageError(f"{name} {size}: expected a size such as 512MB, 2GB or 1.5GiB.")
        found = float(match[1]) * factor
    if not LEAST <= found <= 2**60:
        raise UsageError(f"{name} {size}: expected at least {LEAST // 10**6}MB, such as 512MB or 2GB.")
    return int(found)


def size_in_words(size: float) -> str:
    """A size for people.

    Examples
    --------
    >>> size_in_words(2_345_678), size_in_words(1_400_000_000), size_in_words(31e9)
    ('2 MB', '1.4 GB', '31 GB')
    """
    if size < 10**9:
        return f"{max(size / 10**6, 1):.0f} MB"
    return f"{size / 10**9:.1f} GB" if size < 10**10 else f"{size / 10**9:.0f} GB"


def available_memory() -> int | None:
    """Bytes that this process may still use without swapping: by the system, and by the limits of its
    container. None if the system does not tell."""
    found = [size for size in (_of_system(), _of_container()) if size is not None]
    return min(found) if found else None


def resident_memory() -> int:
    """Bytes of this process in memory at the moment; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def give_back_memory() -> None:
    """Return memory that is not used any more to the system, where that can be asked for."""
    gc.collect()
    with contextlib.suppress(OSError, TypeError, AttributeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def peak_memory() -> int | None:
    """The most bytes that this process has had in memory; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


def _of_system() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _of_container(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> int | None:
    """What the control groups of this process leave: the least of the group and of those above it."""
    rooms = [room for folder in _groups(root, own) if (room := _room(folder)) is not None]
    return min(rooms) if rooms else None


def _groups(root: Path, own: Path) -> list[Path]:
    """The folders of the control groups that may limit this process."""
    found = [root, root / "memory"]
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return found
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "memory" not in controllers.split(","):
            continue
        folder = (root / "memory" if controllers else root) / path.lstrip("/")
        while folder not in found and root in folder.parents:
            found.append(folder)
            folder = folder.parent
    return found


def _room(folder: Path) -> int | None:
    """What one control group leaves; pages of files that can be dropped at once count as free."""
    for most, used, counts, droppable in _LIMITS:
        try:
            limit, taken = int((folder / most).read_text()), int((folder / used).read_text())
        except (OSError, ValueError):  # not there, or "max"
            continue
        if limit >= 2**60:  # no limit
            continue
        try:
            pairs = (line.split() for line in (folder / counts).read_text().splitlines())
            files = next((int(pair[1]) for pair in pairs if pair[:1] == [droppable]), 0)
        except (OSError, ValueError, IndexError):
            files = 0
        return max(limit - taken + files, 0)
    return None
