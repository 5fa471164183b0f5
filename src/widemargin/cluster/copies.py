"""Copies of a store for workers: one per machine, in the folder of its workers.

Workers on the machine of the client read its own copy. A worker that finds none, because it is elsewhere, new
or restarted, makes one of the sorted ranges of keys, which Dask sends to it with the task. The copies are
removed when the work is done, or when the last worker of a machine ends.
"""

from __future__ import annotations

import contextlib
import shutil
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from widemargin.cluster.extra import distributed
from widemargin.cluster.stores import ClusterStore, write_parts
from widemargin.cluster.tasks import Tasks
from widemargin.errors import StorageError
from widemargin.on_disk.merging import Merged
from widemargin.on_disk.row_store import INDEX, RowStore
from widemargin.on_disk.scratch import writing_to

try:
    import fcntl
except ImportError:  # Windows: every worker has its own folder there
    fcntl = None  # type: ignore[assignment]

_ORIGIN = "origin"
_ATTEMPTS = 10


@dataclass(frozen=True)
class StoreCopies:
    """Where workers find a store.

    Attributes
    ----------
    name : of this store among all
    origin : the folder of the client
    merged : what the collection is
    """

    name: str
    origin: str
    merged: Merged

    def here(self, *ranges: Any) -> RowStore:
        """The store, in a worker: that of the client, or a copy, which is made of its ranges of keys if there
        is none."""
        with contextlib.suppress(OSError):
            if Path(self.origin, _ORIGIN).read_text(encoding="ascii") == self.name:
                return RowStore(self.origin)
        folder = copy_folder(distributed().get_worker(), self.name)
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not (folder / INDEX).exists():
            with _one_at_a_time(folder):
                if not (folder / INDEX).exists():
                    shutil.rmtree(folder, ignore_errors=True)
                    with writing_to(folder.parent):
                        write_parts(folder, self.merged, ranges)
        return RowStore(folder)


@contextlib.contextmanager
def copies_of(tasks: Tasks, made: ClusterStore, *, local: bool) -> Iterator[StoreCopies]:
    """The copies of a store, while the block runs.

    Parameters
    ----------
    local : whether all workers, now and later, are on this machine: then nothing is kept for others
    """
    name = uuid.uuid4().hex
    directory = made.store.directory
    (directory / _ORIGIN).write_text(name, encoding="ascii")
    copies = StoreCopies(name, str(directory.absolute()), made.merged)
    if local:
        made.ranges.clear()
        yield copies
        return
    plugin = _remover(name)
    _register(tasks, plugin)
    try:
        yield copies
    finally:
        with contextlib.suppress(Exception):
            if tasks.client.status == "running":
                tasks.client.unregister_worker_plugin(plugin.name)


def _register(tasks: Tasks, plugin: Any) -> None:
    """Add a plugin to all workers, also while some of them are dying."""
    for attempt in range(_ATTEMPTS):
        try:
            tasks.client.register_plugin(plugin)
            return
        except OSError as error:  # a worker that the scheduler still counts on is gone
            if attempt == _ATTEMPTS - 1:
                raise StorageError(
                    f"The workers of the cluster cannot be prepared ({error}). Check them, and run the "
                    f"command again."
                ) from error
            time.sleep(1.0)


def have_room(tasks: Tasks, n_bytes: int) -> bool:
    """Whether the disks of all workers have room for a copy of so many bytes. A worker that is dying is not
    asked: another one will take its place on the same machine."""
    return all(free >= n_bytes for free in tasks.on_workers(_free_bytes))


def _free_bytes(dask_worker: Any = None) -> int:
    """Of the disk of a worker; Dask passes the worker by the name of the argument."""
    return shutil.disk_usage(dask_worker.local_directory).free


def copy_folder(worker: Any, name: str) -> Path:
    """The folder of a copy, which all workers of a machine with the same folder for files share."""
    return Path(worker.local_directory).parent / f"widemargin-{name}"


@contextlib.contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """One process of this machine at a time."""
    with folder.with_suffix(".making").open("ab") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _remover(name: str) -> Any:
    """What removes the copy of a machine when its last worker ends, or when it is not needed any more."""
    dask = distributed()

    class RemoveCopy(dask.WorkerPlugin):  # type: ignore[misc, name-defined]
        def setup(self, worker: Any) -> None:
            self.folder = copy_folder(worker, name)
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self.lock: IO[bytes] = self.folder.with_suffix(".used").open("ab")
            if fcntl is not None:
                with contextlib.suppress(OSError):
                    fcntl.flock(self.lock, fcntl.LOCK_SH)

        def teardown(self, worker: Any) -> None:
            with contextlib.suppress(OSError):
                if fcntl is not None:
                    fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while others use it
                shutil.rmtree(self.folder, ignore_errors=True)
                for ending in (".making", ".used"):
                    self.folder.with_suffix(ending).unlink(missing_ok=True)
            self.lock.close()

    plugin = RemoveCopy()
    plugin.name = f"widemargin-{name}"
    return plugin
