"""Start a cluster on this machine, or connect to one, and leave nothing behind."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from widemargin._threads import thread_count
from widemargin.cluster.extra import distributed
from widemargin.cluster.tasks import Tasks
from widemargin.errors import MissingFileError, StorageError, UsageError

# Seconds to wait for a scheduler, at the beginning and when the connection to it is lost.
CONNECT = 10.0
_ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_ADDRESS = re.compile(r"[a-z]+://\S+")


@contextlib.contextmanager
def connected(
    where: str, tell: Callable[[str], None] = lambda text: None, *, patience: float | None = None
) -> Iterator[Tasks]:
    """Tasks on a cluster, while the block runs.

    Parameters
    ----------
    where : "local" for worker processes on this machine, one per core; "local:2" for two; the address of a
        Dask scheduler, such as "tcp://10.0.0.1:8786"; or its scheduler file
    tell : gets a line about the cluster: the link to its dashboard
    patience : seconds without any worker after which work is given up

    Examples
    --------
    >>> with connected("local:0"):
    ...     pass
    Traceback (most recent call last):
    ...
    widemargin.errors.UsageError: --cluster local:0: expected local, local:N with N at least 1, ...
    """
    workers = local_workers(where)
    dask = distributed()
    import dask as config

    chosen = {
        "distributed.comm.timeouts.connect": f"{CONNECT}s",
        # A scheduler that is gone does not come back.
        "distributed.client.scheduler-info-interval": "1s",
        # Inputs are sent to the scheduler once, so that it can give them to another worker.
        "distributed.admin.large-graph-warning-threshold": "100GB",
        # For worker processes here. Dask would also set MALLOC_TRIM_THRESHOLD_, which slows training: the
        # system would take back the memory of every large array, and clear it for the next one.
        "distributed.nanny.pre-spawn-environ": dict.fromkeys(_ONE_THREAD, "1"),
    }
    how = {} if patience is None else {"patience": patience}
    # What Dask logs when a process ends is said by the errors of `Tasks`.
    with _quiet("distributed"), config.config.set(chosen):
        if workers is None:
            with _client(dask, _scheduler(where), where, direct=None) as client:
                tell(_link(client))
                yield Tasks(client, **how)
            return
        with tempfile.TemporaryDirectory(prefix="widemargin-cluster-", ignore_cleanup_errors=True) as folder:
            files = config.config.set({"temporary-directory": folder})
            local = _local(dask, workers, folder)
            with files, local as cluster, _client(dask, cluster, where, direct=True) as client:
                tell(_link(client))
                yield Tasks(client, **how)


def local_workers(where: str) -> int | None:
    """How many workers to start here; None if `where` names a cluster that exists.

    Examples
    --------
    >>> local_workers("local:3"), local_workers("tcp://10.0.0.1:8786")
    (3, None)
    """
    name, colon, number = where.partition(":")
    if name == "local" and (not colon or (number.isdecimal() and int(number) > 0)):
        return int(number) if colon else thread_count(None)
    if name != "local" and (_ADDRESS.fullmatch(where) or where.endswith(".json") or Path(where).is_file()):
        return None
    raise UsageError(
        f"--cluster {where}: expected local, local:N with N at least 1, the address of a Dask scheduler such "
        f"as tcp://10.0.0.1:8786, or its scheduler file (.json)."
    )


def _scheduler(where: str) -> Any:
    if _ADDRESS.fullmatch(where):
        return where
    if not Path(where).is_file():
        raise MissingFileError(f"{where}: no such scheduler file. Check the path.")
    import json

    try:
        return json.loads(Path(where).read_text(encoding="utf-8"))["address"]
    except (ValueError, KeyError, TypeError, OSError):
        raise UsageError(f"--cluster {where}: not a scheduler file of Dask, which has an address.") from None


@contextlib.contextmanager
def _local(dask: Any, workers: int, folder: str) -> Iterator[Any]:
    """Workers with one thread each; their files are in `folder`."""
    cluster = dask.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        memory_limit=0,  # the memory of one machine is not divided
        local_directory=folder,
        silence_logs=logging.CRITICAL,
    )
    try:
        yield cluster
    finally:
        cluster.close(timeout=CONNECT)


@contextlib.contextmanager
def _client(dask: Any, address: Any, where: str, direct: bool | None) -> Iterator[Any]:
    """`direct`: whether results come from the workers, not through the scheduler; None: as Dask decides."""
    try:
        client = dask.Client(address, timeout=CONNECT, set_as_default=False, direct_to_workers=direct)
    except (OSError, TimeoutError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise StorageError(
            f"--cluster {where}: no scheduler answers there ({' '.join(str(error).split())[:200]}). Start "
            f"one (dask scheduler), or check the address."
        ) from error
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=CONNECT)


def _link(client: Any) -> str:
    workers = len(client.scheduler_info(n_workers=-1)["workers"])
    found = f"Cluster of {workers} worker{'' if workers == 1 else 's'}"
    link = client.dashboard_link
    return f"{found}; dashboard: {link}" if link else f"{found}."


@contextlib.contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Without what a library logs about processes that end, here and in worker processes."""
    logger = logging.getLogger(name)
    others = [logging.getLogger(other) for other in logging.root.manager.loggerDict if other.startswith(name)]
    before = [(each, each.level) for each in (logger, *others)]
    variable = "DASK_LOGGING__DISTRIBUTED"
    old = os.environ.get(variable)
    for each, _ in before:
        each.setLevel(logging.CRITICAL + 1)
    os.environ[variable] = "critical"
    try:
        yield
    finally:
        os.environ.pop(variable) if old is None else os.environ.__setitem__(variable, old)
        for each, level in before:
            each.setLevel(level)
