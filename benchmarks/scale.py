"""Training from disk and on a cluster: time, memory and growth, up to millions of documents.

Documents are made from a local collection (`_resampled.py`): about 60 different terms each, 20 labels, a
vocabulary that grows without end. They are written once, as shards; smaller collections are the first of
these. Every run is the real command line in a process of its own, without tuning and estimates.

memory: all documents with --memory 1GB, against training in memory on the largest part that fits. Per
document, it may take 3 times as long; its resident memory (ru_maxrss) may be at most 1.3 times what was
given; its primal objective, recomputed here from the model files in double precision, may be at most 0.1 %
above that of the same documents in memory, and the terms must be the same, in the same order.

growth: 1/8, 1/4, 1/2 and all of the documents. The exponent of the fitted power of the number of documents
may be at most 1.1.

cluster: --cluster local with two workers against one, a native thread each, on 1/4 of the documents and with
4GB, so that every worker can keep its rows. For making rows and for learning, two workers may take 1/1.7 of
the time, and the model files must be the same in every byte of weights and terms.

Runs alternate, and the median of --repeats counts. 5 million documents need 2.5 GB on disk and about as much
again while they are trained, and an hour or two with three repeats.
--generate-only DIR writes the shards and ends. --table FILE prints the sizing table of docs/scale.md from the
rows of an earlier run with --json.
"""

from __future__ import annotations

import argparse
import functools
import shutil
import statistics
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from _compare import Check, Row, arguments, report
from _scale_runs import Run, RunError, members_that_differ, objectives, terms_that_differ, train
from _scale_table import sizing_table

N_SHARDS = 32
PARTS = (8, 4, 2, 1)  # the number of shards is divided by these
CLUSTER_PART = 4  # so many documents that starting the workers hardly counts
CLUSTER_MEMORY = "4GB"  # so that every worker can keep its rows
PARTS_OF_BENCHMARK = ("memory", "growth", "cluster")
MOST_MEMORY = 1.3
MOST_TIME = 3.0
MOST_OBJECTIVE = 1e-3
MOST_EXPONENT = 1.1
LEAST_SPEEDUP = 1.7
Asked = tuple[Any, ...]  # the divisor of the documents, and options
# Bytes in memory for a byte of text, so that a collection surely fits.
_IN_MEMORY = 8


class Collection:
    """The shards in a folder, and the runs on their first parts, each done `repeats` times."""

    def __init__(
        self, folder: Path, shards: Sequence[Path], memory: str, threads: int, repeats: int = 1
    ) -> None:
        self.folder, self.shards, self.memory = folder, shards, memory
        self.threads, self.repeats = threads, repeats
        self._runs: dict[Asked, list[Run]] = {}

    def first(self, part: int) -> Sequence[Path]:
        """The shards of 1/part of the documents."""
        return self.shards[: len(self.shards) // part]

    def measure(self, *wanted: Asked) -> list[list[Run]]:
        """The runs of each, alternating with those of the others."""
        for number in range(self.repeats):
            for each in wanted:
                if len(self._runs.setdefault(each, [])) == number:
                    self._runs[each].append(self._train(*each))
        return [self._runs[each] for each in wanted]

    def run(self, part: int, *words: str) -> Run:
        """The run whose time is the median."""
        (runs,) = self.measure((part, *words))
        return sorted(runs, key=lambda run: run.wall_s)[(len(runs) - 1) // 2]

    def _train(self, part: int, *words: str) -> Run:
        name = f"{part}{''.join(words)}".translate(str.maketrans(":-/ ", "____"))
        model, scratch = self.folder / f"{name}.wm", self.folder / f"scratch{name}"
        _say(f"train on 1/{part} {' '.join(words) or 'in memory'}")
        return train(self.first(part), model, scratch, "--threads", str(self.threads), *words)

    def from_disk(self, part: int) -> Run:
        return self.run(part, "--memory", self.memory)

    def bytes_of(self, part: int) -> int:
        return sum(shard.stat().st_size for shard in self.first(part))


def memory_rows(data: Collection) -> Iterator[Row]:
    part, alone = in_memory(data)
    whole, same = data.from_disk(1), data.from_disk(part)
    _say("objectives")
    found = in_new_process(objectives, [same.model, alone.model], data.first(part), data.threads)
    per_document = [run.wall_s / run.documents for run in (whole, alone)]
    given = size_in_bytes(data.memory)
    checks = [
        Check("time per document over that in memory", per_document[0] / per_document[1], MOST_TIME),
        Check("resident memory over what was given", whole.peak_bytes / given, MOST_MEMORY),
        Check("objective above that in memory", found[0] / found[1] - 1, MOST_OBJECTIVE),
        Check("terms that differ", in_new_process(terms_that_differ, same.model, alone.model), 0.0),
    ]
    quality = {
        **whole.figures(),
        "in_memory": alone.figures(),
        "same_documents": same.figures(),
        "objectives": found,
        "threads": data.threads,
    }
    name = f"train from disk, {whole.documents:,} documents"
    peer = f"in memory, {alone.documents:,} documents (both per 1,000)"
    yield Row(name, peer, 1000 * per_document[0], 1000 * per_document[1], checks, quality)


def growth_rows(data: Collection) -> Iterator[Row]:
    data.measure(*((part, "--memory", data.memory) for part in PARTS))
    runs = [data.from_disk(part) for part in PARTS]
    sizes, seconds = [run.documents for run in runs], [run.wall_s for run in runs]
    exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    vocabulary = float(np.polyfit(np.log(sizes), np.log([run.summary["terms"] for run in runs]), 1)[0])
    quality = {
        "runs": [run.figures() for run in runs],
        "exponent_of_vocabulary": vocabulary,
        "threads": data.threads,
        "memory_bytes": size_in_bytes(data.memory),
    }
    peer = f"{PARTS[0]} times the time of {sizes[0]:,}"
    checks = [Check("exponent of growth", exponent, MOST_EXPONENT)]
    yield Row(
        f"growth up to {sizes[-1]:,} documents", peer, seconds[-1], PARTS[0] * seconds[0], checks, quality
    )


def cluster_rows(data: Collection) -> Iterator[Row]:
    # Both runs have the machine to themselves; native threads are set by --threads, here one per worker.
    alone = Collection(data.folder, data.shards, data.memory, 1, data.repeats)
    how = ("--memory", CLUSTER_MEMORY, "--cluster")
    found = alone.measure(*((CLUSTER_PART, *how, f"local:{n}") for n in (1, 2)))
    one, two = (runs[0] for runs in found)
    differ = Check("parts of the models that differ", members_that_differ(one.model, two.model), 0.0)
    for what, spent in (("vectorize", _vectorizing), ("one-vs-rest", _learning)):
        peer, ours = (statistics.median(map(spent, runs)) for runs in found)
        slow = Check("time of 2 workers over that of 1", ours / peer, 1 / LEAST_SPEEDUP)
        quality = {"one": [run.figures() for run in found[0]], "two": [run.figures() for run in found[1]]}
        yield Row(
            f"{what}, 2 workers, {two.documents:,} documents", "1 worker", ours, peer, [slow, differ], quality
        )


def _vectorizing(run: Run) -> float:
    return run.vectorizing_s


def _learning(run: Run) -> float:
    return run.learning_s


ROWS: dict[str, Callable[[Collection], Iterator[Row]]] = {
    "memory": memory_rows,
    "growth": growth_rows,
    "cluster": cluster_rows,
}


def rows(given: argparse.Namespace, folder: Path) -> Iterator[Row]:
    start = time.perf_counter()
    shards = in_new_process(generate, folder / "shards", given.documents, given.seed)
    seconds = time.perf_counter() - start
    size = sum(shard.stat().st_size for shard in shards)
    _say(f"wrote {given.documents:,} documents, {size / 1e9:.2f} GB, in {seconds:.0f} s")
    data = Collection(folder, shards, given.memory, given.threads, given.repeats)
    for name in given.only:
        try:
            yield from ROWS[name](data)
        except Exception as error:
            # The other parts are still worth their time.
            given.failed.append(name)
            if not isinstance(error, RunError):
                traceback.print_exc()
            print(f"{name}: {error}", file=sys.stderr, flush=True)


def generate(folder: Path, n: int, seed: int) -> list[Path]:
    from _resampled import local_source, write_shards

    source = local_source(seed)
    _say(f"documents like those of {source.name}; vocabulary grows with exponent {source.beta:.3f}")
    return write_shards(source, folder, n, N_SHARDS, seed)


def in_new_process(function: Callable[..., Any], *words: Any) -> Any:
    """The result of a function. Memory that this process has had would count as that of its children."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *words).result()


def in_memory(data: Collection) -> tuple[int, Run]:
    """The run in memory on the largest part that fits, and the divisor of this part."""
    free = free_memory()
    for part in reversed(PARTS):
        if data.bytes_of(part) * _IN_MEMORY > 0.9 * free and part != PARTS[0]:
            continue
        try:
            run = data.run(part)
        except RunError as error:
            _say(f"{error} Trying a smaller part.")
            continue
        if "memory" not in run.summary:
            return part, run
        _say("The command chose to train from disk. Trying a smaller part.")
    raise RunError("No part of the documents could be trained in memory.")


def free_memory() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines() if Path("/proc/meminfo").exists() else ():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 8 * 10**9


def size_in_bytes(text: str) -> float:
    """Bytes of a size such as 1GB."""
    units = {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2**10, "mib": 2**20, "gib": 2**30}
    number = text.lower().rstrip("kmgtib")
    return float(number) * units[text.lower()[len(number) :]]


def _say(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def main() -> int:
    parser = arguments(__doc__, repeats=3)
    add = functools.partial(parser.add_argument)
    add("--documents", type=int, default=5_000_000, metavar="N", help="how many (default: 5,000,000)")
    add("--memory", default="1GB", metavar="SIZE", help="what training from disk is given (default: 1GB)")
    add("--threads", type=int, default=2, metavar="N", help="threads of training (default: 2)")
    add(
        "--scratch", type=Path, metavar="DIR", help="for shards, models and temporary files (default: TMPDIR)"
    )
    add("--seed", type=int, default=0, metavar="N", help="of the documents (default: 0)")
    add("--only", nargs="+", choices=PARTS_OF_BENCHMARK, default=list(PARTS_OF_BENCHMARK), metavar="PART")
    add("--generate-only", type=Path, metavar="DIR", help="write the shards to DIR, and end")
    add("--table", type=Path, metavar="FILE", help="print the sizing table from the rows of --json in FILE")
    given = parser.parse_args()
    given.failed = []
    if given.documents < N_SHARDS:
        parser.error(f"--documents {given.documents}: expected {N_SHARDS} or more, one per shard.")
    if given.table is not None:
        print(sizing_table(given.table))
        return 0
    if given.generate_only is not None:
        generate(given.generate_only, given.documents, given.seed)
        return 0
    folder = Path(tempfile.mkdtemp(prefix="widemargin-scale-", dir=given.scratch))
    try:
        needed, free = given.documents * 1_500, shutil.disk_usage(folder).free
        if free < needed:
            parser.error(
                f"{folder} has {free / 1e9:.1f} GB free; {needed / 1e9:.1f} GB are needed. Pass --scratch."
            )
        failed = report(rows(given, folder), given.json)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return int(bool(failed or given.failed))


if __name__ == "__main__":
    sys.exit(main())
