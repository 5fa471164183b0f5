"""Biased support vector machines against LIBSVM (scikit-learn's SVC) at the same epsilon, 0.001.

RBF machines on the largest topics of Reuters-21578 and Ohsumed and on the adult and web sets, one label and
all labels against the rest, and biased linear machines, for which SVC has no special case. Both sides get the
same vectors (the peer's are converted before its clock starts); both get a cache that holds every row
they may want again. Primal and dual objectives are recomputed here in float64 from the data. Ours runs on two
threads; LIBSVM has one. The rows of Reuters and Ohsumed run the peer once on each label.

    python benchmarks/kernel_svm.py [--json]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from _compare import Row, alternate, report, wants_json
from _kernel_tasks import (
    PEER,
    Solution,
    Task,
    our_solution,
    peer_solution,
    same_job,
    stacked,
    texts,
    vectors,
)


def timed(work: Callable[[], Solution]) -> tuple[float, Solution]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def small(task: Task, title: str) -> Row:
    """One label, three repeats in turns."""
    ours_s, peer_s = alternate(lambda: our_solution(task), lambda: peer_solution(task), repeats=3)
    return Row(title, PEER, ours_s, peer_s, same_job(task, our_solution(task), peer_solution(task)))


def large(task: Task, title: str) -> Iterator[Row]:
    """The first label, and all of them; the peer once on each, ours three times."""
    peer = [timed(lambda k=k: peer_solution(task.label(k))) for k in range(len(task.labels))]
    one = [timed(lambda: our_solution(task.label(0))) for _ in range(3)]
    quality = same_job(task.label(0), one[0][1], peer[0][1])
    yield Row(f"{title}, {task.labels[0]}", PEER, float(np.median([s for s, _ in one])), peer[0][0], quality)
    if len(task.labels) > 1:
        everything = [timed(lambda: our_solution(task)) for _ in range(3)]
        quality = same_job(task, everything[0][1], stacked([solution for _, solution in peer]))
        ours_s = float(np.median([s for s, _ in everything]))
        yield Row(f"{title}, {len(task.labels)} labels", PEER, ours_s, sum(s for s, _ in peer), quality)


def rows() -> Iterator[Row]:
    adult, web = vectors("a4a"), vectors("w4a")
    yield small(adult.kernel(1.0, 0.05), "RBF adult a4a")
    yield small(web.kernel(5.0, 0.05), "RBF web w4a")
    yield small(adult.kernel(0.05, None), "linear adult a4a")
    yield small(web.kernel(1.0, None), "linear web w4a")
    reuters = texts("reuters21578", "modapte", largest=10)
    yield from large(reuters.kernel(1000.0, 0.1), "RBF Reuters")
    yield from large(reuters.label(0).kernel(0.5, None), "linear Reuters")
    ohsumed = texts("ohsumed", None, largest=5, documents=3000)
    yield from large(ohsumed.kernel(1000.0, 0.1), "RBF Ohsumed")


if __name__ == "__main__":
    report(rows(), wants_json())
