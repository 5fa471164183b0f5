"""Biased support vector machines against LIBSVM (scikit-learn's SVC) at the same epsilon, 0.001.

RBF machines on the largest topics of Reuters-21578 and Ohsumed and on the adult and web sets, one label and
all labels against the rest, and biased linear machines, for which SVC has no special case. All sides get the
same vectors (the peer's are converted before its clock starts) and a cache that holds every row they may want
again. They run in turns; the rows of several labels take minutes.

SVC computes kernel rows itself and again for each label. "SVC, precomputed" is given what it lacks: the Gram
matrix, made once with scikit-learn's kernels and shared by all labels. Its time includes that; "Gram s" says
how much of it. LIBSVM has one thread a machine: one label is compared with ours on one thread and on two,
several labels with ours on one thread, and on two threads with the peer's labels on two threads.

Primal and dual objectives are recomputed here in float64 from the data: our primal one may be at most 0.1 %
above the peer's, our dual one at most 0.1 % below.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

from _compare import Row, arguments, in_turns, report
from _kernel_tasks import (
    GRAM_PEER,
    PEER,
    THREADS,
    Solution,
    Task,
    gram_solution,
    our_solution,
    peer_solution,
    same_job,
    texts,
    vectors,
)

TASKS = ("adult", "web", "reuters", "ohsumed")


def compare(task: Task, title: str, repeats: int) -> Iterator[Row]:
    """All labels of a task: ours on one thread and on two against SVC, with and without a shared Gram."""
    several = len(task.labels) > 1
    ours = {threads: partial(our_solution, task, threads=threads) for threads in (1, THREADS)}
    # A single label keeps LIBSVM's one thread busy, however many there are.
    peers: dict[tuple[str, int], Callable[[], Solution]] = {
        (name, threads): partial(solve, task, threads=threads)
        for threads in ((1, THREADS) if several else (1,))
        for name, solve in ((PEER, peer_solution), (GRAM_PEER, gram_solution))
    }
    # Work of seconds: what a first run pays besides is small, and a run of SVC on ten labels is not.
    timed = in_turns(*ours.values(), *peers.values(), repeats=repeats, warm=not several)
    found = dict(zip((*ours, *peers), timed, strict=True))
    for threads in ours:
        for name in (PEER, GRAM_PEER):
            mine, other = found[threads], found[name, threads if several else 1]
            quality = {"threads": threads, "peer's threads": threads if several else 1}
            if name == GRAM_PEER:
                quality["Gram s"] = other.result.gram_s
            checks = same_job(task, mine.result, other.result)
            yield Row(title, name, mine.seconds, other.seconds, checks, quality)


def labels_of(task: Task, title: str, repeats: int) -> Iterator[Row]:
    """The largest label alone, then all of them."""
    yield from compare(task.label(0), f"{title}, {task.labels[0]}", repeats)
    yield from compare(task, f"{title}, {len(task.labels)} labels", repeats)


def rows(tasks: list[str], repeats: int) -> Iterator[Row]:
    if "adult" in tasks:
        adult = vectors("a4a")
        yield from compare(adult.kernel(1.0, 0.05), "RBF adult a4a", repeats)
        yield from compare(adult.kernel(0.05, None), "linear adult a4a", repeats)
    if "web" in tasks:
        web = vectors("w4a")
        yield from compare(web.kernel(5.0, 0.05), "RBF web w4a", repeats)
        yield from compare(web.kernel(1.0, None), "linear web w4a", repeats)
    if "reuters" in tasks:
        reuters = texts("reuters21578", "modapte", largest=10)
        yield from labels_of(reuters.kernel(1000.0, 0.1), "RBF Reuters", repeats)
        one = reuters.label(0).kernel(0.5, None)
        yield from compare(one, f"linear Reuters, {one.labels[0]}", repeats)
    if "ohsumed" in tasks:
        ohsumed = texts("ohsumed", None, largest=5, documents=3000)
        yield from labels_of(ohsumed.kernel(1000.0, 0.1), "RBF Ohsumed", repeats)


def main() -> int:
    options = arguments(__doc__, repeats=3, tasks=TASKS).parse_args()
    return report(rows(options.tasks, options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
