"""How the training time of biased machines grows with the number of examples, and what memory they take.

The first 1/8, 1/4, 1/2 and all examples of a task, ours and LIBSVM (scikit-learn's SVC) at epsilon 0.001; the
last row of a task has the exponent of a line fitted to the logarithms. The thesis measures 1.2 to 1.5 for
linear machines and 1.7 to 2.1 for RBF (Tables 8.4-8.9). Primal and dual objectives are recomputed here.

Memory: by how much the largest resident size of a fresh process grows while a machine is trained whose kernel
matrix is many times larger than the cache.

    python benchmarks/decomposition.py [--json]
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator

import numpy as np

from _compare import Row, report, wants_json
from _kernel_tasks import PEER, Solution, Task, our_solution, peer_solution, same_job, texts, vectors

SMALL_CACHE = 40  # megabytes


def timed(work: Callable[[], Solution], repeats: int) -> tuple[float, Solution]:
    """Median seconds, and the result."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds)), result


def growth(task: Task, title: str) -> Iterator[Row]:
    sizes = [task.X.shape[0] // share for share in (8, 4, 2, 1)]
    our_solution(task.part(sizes[0]))  # warm
    taken: list[tuple[float, float]] = []
    for n in sizes:
        part = task.part(n)
        ours_s, ours = timed(lambda part=part: our_solution(part), repeats=3)
        peer_s, peer = timed(lambda part=part: peer_solution(part), repeats=1)
        taken.append((ours_s, peer_s))
        quality = same_job(part, ours, peer)
        if n == sizes[-1]:
            fitted = np.polyfit(np.log(sizes), np.log(taken), 1)[0]
            quality |= {"exponent": float(fitted[0]), "peer's exponent": float(fitted[1])}
        yield Row(f"{title}, n = {n}", PEER, ours_s, peer_s, quality)


def memory_of(side: str, name: str, answer: multiprocessing.Queue[tuple[float, float]]) -> None:
    """Megabytes by which training grows a process, and seconds."""
    task = vectors(name).kernel(1.0, 0.05)
    solve = our_solution if side == "ours" else peer_solution
    solve(task.part(100), SMALL_CACHE)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    solve(task, SMALL_CACHE)
    seconds = time.perf_counter() - start
    answer.put(((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, seconds))


def memory(name: str) -> Row:
    context = multiprocessing.get_context("spawn")
    measured = []
    for side in ("ours", "peer"):
        answer: multiprocessing.Queue[tuple[float, float]] = context.Queue()
        process = context.Process(target=memory_of, args=(side, name, answer))
        process.start()
        measured.append(answer.get())
        process.join()
    (ours_mb, ours_s), (peer_mb, peer_s) = measured
    task = vectors(name)
    data = (task.X.data.nbytes + task.X.indices.nbytes) / 2**20
    quality = {
        "cache MB": SMALL_CACHE,
        "data MB": data,
        "grown by MB": ours_mb,
        "peer grown by MB": peer_mb,
        "kernel matrix MB": task.X.shape[0] ** 2 * 4 / 2**20,
    }
    return Row(f"RBF {name}, {SMALL_CACHE} MB cache", PEER, ours_s, peer_s, quality)


def rows() -> Iterator[Row]:
    yield memory("a7a")
    adult, web = vectors("a7a"), vectors("w6a")
    yield from growth(adult.kernel(1.0, 0.05), "RBF adult")
    yield from growth(web.kernel(5.0, 0.05), "RBF web")
    yield from growth(adult.kernel(0.05, None), "linear adult")
    yield from growth(web.kernel(1.0, None), "linear web")
    ohsumed = texts("ohsumed", None, largest=1, documents=6000)
    yield from growth(ohsumed.kernel(50.0, 0.6), "RBF Ohsumed")
    yield from growth(ohsumed.kernel(0.5, None), "linear Ohsumed")


if __name__ == "__main__":
    report(rows(), wants_json())
