"""Verbs on a cluster (``--cluster``)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from widemargin.cli.output import note

if TYPE_CHECKING:
    from widemargin.cli.commands import Given
    from widemargin.cluster.executor import ClusterExecutor
    from widemargin.cluster.tasks import Tasks


@contextlib.contextmanager
def cluster_of(given: Given) -> Iterator[Tasks]:
    """Tasks on the cluster that a verb names."""
    from widemargin.cluster.connecting import connected

    with connected(given.cluster, lambda text: note(text, given.quiet)) as tasks:
        yield tasks


@contextlib.contextmanager
def executor_of(given: Given) -> Iterator[ClusterExecutor | None]:
    """An executor on the cluster that a verb names, None if it names none."""
    if given.cluster is None:
        yield None
        return
    from widemargin.cluster.executor import ClusterExecutor

    with cluster_of(given) as tasks:
        yield ClusterExecutor(tasks)
