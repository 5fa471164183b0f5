"""The number of native threads: at most as many as this process may run at the same time."""

from __future__ import annotations

import math
import os
from functools import cache
from pathlib import Path, PurePosixPath

from widemargin.errors import UsageError


def thread_count(n_jobs: int | None) -> int:
    """The number of native threads for `n_jobs`.

    None and -1 mean all CPUs that this process may use, -2 all but one. A positive number is used as it is.
    """
    if n_jobs == 0:
        raise UsageError("n_jobs=0 asks for no threads. Pass a positive number, or None for all cores.")
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    return max(1, usable_cpus() + 1 + (-1 if n_jobs is None else n_jobs))


def usable_cpus() -> int:
    """CPUs this process may use: the smallest of its affinity, its cgroup's quota and OMP_NUM_THREADS."""
    has_affinity = hasattr(os, "sched_getaffinity")  # available on Linux, not on macOS
    limits = [len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1]
    limits += [limit for limit in (_quota_of_this_process(), _openmp_threads()) if limit is not None]
    return min(limits)


def _openmp_threads() -> int | None:
    """The first number of OMP_NUM_THREADS, which may list one per level; None if it is not set."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isascii() and first.isdigit() and int(first) > 0 else None


@cache
def _quota_of_this_process() -> int | None:
    # Cached, since reading several files per call would slow down predictions of single documents.
    return cgroup_quota(Path("/"))


def cgroup_quota(root: Path) -> int | None:
    """CPUs that control groups (version 1 or 2) allow this process, rounded up; None: no limit.

    The limits of all enclosing groups apply, so the smallest one counts. In a container, the path of the
    group may be the host's, which is not mounted; then the root of the mount is the container's own group.

    Parameters
    ----------
    root : the folder that contains `proc` and `sys`
    """
    mount = root / "sys/fs/cgroup"
    quotas: list[float] = []
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        group = PurePosixPath("/", path.lstrip("/"))
        for parent in (group, *group.parents):
            below = str(parent).lstrip("/")
            if not controllers:
                quotas += _ratio(_read(mount / below / "cpu.max").split())
            elif "cpu" in controllers.split(","):
                for name in (controllers, "cpu"):
                    folder = mount / name / below
                    files = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
                    quotas += _ratio([_read(folder / file).strip() for file in files])
    return max(1, math.ceil(min(quotas))) if quotas else None


def _ratio(quota_and_period: list[str]) -> list[float]:
    """Quota / period as a list with one element; empty if there is no quota ("max", -1, or no file)."""
    try:
        quota, period = (int(number) for number in quota_and_period)
    except ValueError:
        return []
    return [quota / period] if quota > 0 and period > 0 else []


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
