"""Training time of biased machines against the number of examples, and their memory.

The first 1/8, 1/4, 1/2 and all examples of a task, ours and LIBSVM (scikit-learn's SVC) at epsilon 0.001. The
last row of a task has the exponent, the slope of a line fitted to the logarithms. The thesis measures 1.2 to
1.5 for linear machines and 1.7 to 2.1 for RBF (Tables 8.4-8.9). Primal and dual objectives are recomputed
here.

Our primal objective may be at most 0.1 % above the peer's, our dual one at most 0.1 % below. Ours runs on two
threads, LIBSVM on one; runs alternate.

Memory: the growth of the peak resident size of a new process while it trains a machine whose kernel matrix is
many times larger than the cache.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from _compare import Row, arguments, in_turns, report
from _kernel_tasks import PEER, Solution, Task, our_solution, peer_solution, same_job, texts, vectors

SMALL_CACHE = 40  # megabytes
TASKS = ("memory", "adult", "web", "ohsumed")


def growth(task: Task, title: str, repeats: int) -> Iterator[Row]:
    sizes = [task.X.shape[0] // share for share in (8, 4, 2, 1)]
    taken: list[tuple[float, float]] = []
    for n in sizes:
        part = task.part(n)
        ours, peer = in_turns(
            partial(our_solution, part), partial(peer_solution, part), repeats=repeats, warm=n == sizes[0]
        )
        taken.append((ours.seconds, peer.seconds))
        checks, quality = same_job(part, ours.result, peer.result), {}
        if n == sizes[-1]:
            fitted = np.polyfit(np.log(sizes), np.log(taken), 1)[0]
            quality = {"exponent": float(fitted[0]), "peer's exponent": float(fitted[1])}
        yield Row(f"{title}, n = {n}", PEER, ours.seconds, peer.seconds, checks, quality)


def memory_of(side: str, name: str, answer: Any) -> None:
    """Megabytes by which training grows a process, seconds, and the solution."""
    task = vectors(name).kernel(1.0, 0.05)
    solve = our_solution if side == "ours" else peer_solution
    solve(task.part(100), SMALL_CACHE)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    solution = solve(task, SMALL_CACHE)
    seconds = time.perf_counter() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    answer.put((grown, seconds, solution))


def memory(name: str, repeats: int) -> Row:
    """Both sides in separate processes, alternating."""
    context = multiprocessing.get_context("spawn")
    measured: dict[str, list[tuple[float, float, Solution]]] = {"ours": [], "peer": []}
    for _ in range(repeats):
        for side, runs in measured.items():
            answer = context.Queue()
            process = context.Process(target=memory_of, args=(side, name, answer))
            process.start()
            runs.append(answer.get())
            process.join()
    ours_mb, peer_mb = (max(grown for grown, _, _ in runs) for runs in measured.values())
    ours_s, peer_s = (float(np.median([taken for _, taken, _ in runs])) for runs in measured.values())
    task = vectors(name).kernel(1.0, 0.05)
    data = (task.X.data.nbytes + task.X.indices.nbytes) / 2**20
    quality = {
        "cache MB": SMALL_CACHE,
        "data MB": data,
        "grown by MB": ours_mb,
        "peer grown by MB": peer_mb,
        "kernel matrix MB": task.X.shape[0] ** 2 * 4 / 2**20,
    }
    checks = same_job(task, *(runs[-1][2] for runs in measured.values()))
    return Row(f"RBF {name}, {SMALL_CACHE} MB cache", PEER, ours_s, peer_s, checks, quality)


def rows(tasks: list[str], repeats: int) -> Iterator[Row]:
    if "memory" in tasks:
        yield memory("a7a", repeats)
    if "adult" in tasks:
        adult = vectors("a7a")
        yield from growth(adult.kernel(1.0, 0.05), "RBF adult", repeats)
        yield from growth(adult.kernel(0.05, None), "linear adult", repeats)
    if "web" in tasks:
        web = vectors("w6a")
        yield from growth(web.kernel(5.0, 0.05), "RBF web", repeats)
        yield from growth(web.kernel(1.0, None), "linear web", repeats)
    if "ohsumed" in tasks:
        ohsumed = texts("ohsumed", None, largest=1, documents=6000)
        yield from growth(ohsumed.kernel(50.0, 0.6), "RBF Ohsumed", repeats)
        yield from growth(ohsumed.kernel(0.5, None), "linear Ohsumed", repeats)


def main() -> int:
    options = arguments(__doc__, repeats=3, tasks=TASKS).parse_args()
    return report(rows(options.tasks, options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
