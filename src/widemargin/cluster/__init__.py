"""Work on several processes or machines by Dask (extra ``dask``).

Every task is a pure function of its inputs, so that Dask can run it again elsewhere when a worker dies, and
results do not depend on the number of workers.
"""

from __future__ import annotations

from widemargin.cluster.connecting import connected
from widemargin.cluster.executor import ClusterExecutor
from widemargin.cluster.tasks import Tasks

__all__ = ["ClusterExecutor", "Tasks", "connected"]
