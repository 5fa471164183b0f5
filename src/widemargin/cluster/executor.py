"""An executor (`concurrent.futures`) on a cluster, for what works with any: tuning, comparing, folds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from widemargin.cluster.tasks import Tasks


class ClusterExecutor:
    """`submit` and `keep` on the workers of a cluster.

    The results of its futures come with our errors where the cluster fails.
    """

    def __init__(self, tasks: Tasks) -> None:
        self.tasks = tasks

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Submitted:
        """The future of a call; arguments may be what `keep` gave."""
        return Submitted(self.tasks, self.tasks.submit(_called, function, keywords, *arguments))

    def keep(self, value: Any) -> Any:
        """A value that many calls take, sent once."""
        return self.tasks.keep(value)


class Submitted:
    """A call on the cluster."""

    def __init__(self, tasks: Tasks, future: Any) -> None:
        self._tasks, self._future = tasks, future

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the result."""
        return self._tasks.result(self._future)

    def cancel(self) -> bool:
        """Do not begin, if it has not begun."""
        self._future.cancel()
        return True


def _called(function: Callable[..., Any], keywords: dict[str, Any], *arguments: Any) -> Any:
    return function(*arguments, **keywords)
