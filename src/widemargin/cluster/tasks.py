"""Tasks on a cluster: results in the order of submission, a bounded number at a time, clear failures."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from widemargin.cluster.extra import distributed
from widemargin.errors import StorageError, WidemarginError

T = TypeVar("T")

# Seconds without any worker after which work is given up: workers are restarted within a few.
PATIENCE = 60.0
# Seconds between two looks at the cluster.
_LOOK = 0.5
# Seconds that fetching a result may take, at most, before the cluster is looked at.
_LONGEST = 120.0


class Tasks:
    """Runs functions on the workers of a Dask client.

    Functions must be pure: after a worker has died, they run again elsewhere. A task that ended several
    workers is not tried again (Dask's ``distributed.scheduler.allowed-failures``).

    Parameters
    ----------
    client : dask.distributed.Client
    patience : seconds without any worker after which work is given up
    """

    def __init__(self, client: Any, patience: float = PATIENCE) -> None:
        self.client, self.patience = client, patience
        self._alone: float | None = None

    @property
    def n_workers(self) -> int:
        """The number of workers at the moment; at least 1."""
        return max(len(self._workers()), 1)

    def submit(self, function: Callable[..., Any], *arguments: Any, **how: Any) -> Any:
        """The future of a call; arguments may be futures. `how`: see `Client.submit`."""
        return self.client.submit(function, *arguments, pure=False, **how)

    def keep(self, value: Any) -> Any:
        """A value that many tasks take, sent once: the scheduler can give it to any worker again."""
        return self.submit(_given, value)

    def result(self, future: Any) -> Any:
        """The result of a future; errors of the cluster become errors of ours."""
        return self._result(future)

    def results(self, futures: Iterable[Any]) -> Iterator[Any]:
        """The results of futures, in their order."""
        for future in futures:
            yield self._result(future)

    def on_workers(self, function: Callable[..., Any]) -> list[Any]:
        """The results of a function on every worker that is alive; see `Client.run`."""
        with self._explained():
            return list(self.client.run(function, on_error="ignore").values())

    def map(
        self, function: Callable[..., T], items: Iterable[tuple[Any, ...]], *, in_flight: int | None = None
    ) -> Iterator[T]:
        """The results of ``function(*item)``, in the order of the items.

        At most `in_flight` results exist that have not been taken: by default two for every worker.
        """
        most = in_flight or 2 * self.n_workers
        waiting: deque[Any] = deque()
        rest = iter(items)
        try:
            while True:
                for item in rest:
                    waiting.append(self.submit(function, *item))
                    if len(waiting) >= most:
                        break
                if not waiting:
                    return
                yield self.result(waiting[0])
                waiting.popleft()
        finally:
            with contextlib.suppress(Exception):
                if waiting and self.client.status == "running":
                    self.client.cancel(list(waiting), force=True)

    def _result(self, future: Any) -> Any:
        """Wait for a future, and look at the cluster meanwhile."""
        wait = _LOOK
        while True:
            status = future.status
            try:
                with self._explained():
                    return future.result(timeout=wait)
            except TimeoutError:
                if status == "error":  # of the task
                    raise
                self._check()
                if status == "finished":  # a large result takes a while
                    wait = min(4 * wait, _LONGEST)

    def _check(self) -> None:
        """Raise if there is no scheduler, or there have been no workers for too long."""
        if self.client.status in ("closed", "closing"):
            raise _lost()
        if self._workers() or self.client.status == "connecting":
            self._alone = None
            return
        now = time.monotonic()
        self._alone = now if self._alone is None else self._alone
        if now - self._alone >= self.patience:
            raise StorageError(
                f"The cluster has had no workers for {self.patience:.0f} s. Start workers (dask worker "
                f"ADDRESS), and run the command again."
            )

    def _workers(self) -> Any:
        if self.client.status != "running":
            return ()
        with contextlib.suppress(Exception):
            return self.client.sync(self.client.scheduler.identity, n_workers=-1)["workers"]
        return ()

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn the errors of a cluster into ours; those of functions stay what they are."""
        dask = distributed()
        from concurrent.futures import CancelledError

        try:
            yield
        except WidemarginError:
            raise
        except dask.KilledWorker as error:
            raise StorageError(
                f"A task ended {error.allowed_failures + 1} workers, which is more often than it is tried "
                f"again. The workers may need more memory; their logs say more."
            ) from error
        except (dask.comm.CommClosedError, dask.client.FutureCancelledError, CancelledError) as error:
            raise _lost() from error
        except (RuntimeError, ImportError) as error:
            if "deserializ" not in str(error) and not isinstance(error, ImportError):
                raise
            raise StorageError(
                f"The cluster cannot run the task ({' '.join(str(error).split())[:100]}). Install the same "
                f"version of widemargin on its scheduler and all its workers."
            ) from error


def _given(value: T) -> T:
    return value


def _lost() -> StorageError:
    return StorageError(
        "The connection to the scheduler of the cluster was lost, and with it the work. Check the scheduler "
        "(its log says why it ended), and run the command again."
    )
