"""Fuzz for a number of seconds, each target in a process of its own; exit 1 with the case of a failure."""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import multiprocessing
import os
import sys
import time
import traceback
from collections import Counter
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

from tests.fuzz.targets import TARGETS, case_of, check

_LONGEST_CASE = 60.0  # seconds: beyond, a case hangs
_KEPT = Path(__file__).parent / "cases"


def _work(name: str, seed: int, seconds: float, memory: str) -> None:
    """Cases 0, 1, 2, ... until the time is over. The number of the running one is in shared memory."""
    faulthandler.enable()
    running = SharedMemory(memory)
    end = float("inf")  # the clock starts after the first case, which imports what the others need
    outcomes: Counter[str] = Counter()
    finds: set[tuple[str, ...]] = set()
    number = 0
    while time.monotonic() < end:
        running.buf[:8] = number.to_bytes(8, "little")
        case = case_of(name, seed, number)
        try:
            outcomes[check(TARGETS[name], case)] += 1
        except Exception as error:
            # One report for each place where it happens.
            stack = traceback.extract_tb(error.__traceback__)
            place = (type(error).__name__, *(f"{frame.filename}:{frame.lineno}" for frame in stack[-3:]))
            if place not in finds:
                finds.add(place)
                traceback.print_exc()
                _say(name, seed, number, f"raises {type(error).__name__}")
        number += 1
        end = min(end, time.monotonic() + seconds)
    running.close()
    print(f"{name}: {number} cases, {dict(outcomes.most_common())}", flush=True)
    os._exit(1 if finds else 0)


def _say(name: str, seed: int, number: int, what: str) -> None:
    print(
        f"\n{name}: case {number} of seed {seed} {what}. Run it again; --keep makes it a test:\n"
        f"    python -m tests.fuzz --seed {seed} --target {name} --case {number}\n",
        flush=True,
    )


def _fuzz(name: str, seed: int, seconds: float) -> bool:
    context = multiprocessing.get_context("fork")  # the worker keeps the core that this process has loaded
    running = SharedMemory(create=True, size=8)
    try:
        worker = context.Process(target=_work, args=(name, seed, seconds, running.name))
        worker.start()
        last, since = b"", time.monotonic()
        hangs = False
        while worker.is_alive() and not hangs:
            worker.join(0.5)
            now = bytes(running.buf[:8])
            if now != last:
                last, since = now, time.monotonic()
            hangs = time.monotonic() - since > seconds + _LONGEST_CASE
        if hangs:
            worker.kill()
            worker.join()
        number = int.from_bytes(running.buf[:8], "little")
    finally:
        running.close()
        running.unlink()
    if worker.exitcode not in (0, 1):
        _say(name, seed, number, "hangs" if hangs else f"ends the process with {worker.exitcode}")
    return worker.exitcode == 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together")
    parser.add_argument("--seed", type=int, help="by default another one each day")
    parser.add_argument("--target", choices=sorted(TARGETS), action="append", help="by default all")
    parser.add_argument("--case", type=int, help="run this case alone, in this process")
    parser.add_argument("--keep", action="store_true", help="with --case: store it where the tests replay it")
    options = parser.parse_args()
    seed = int(time.time() // 86_400) if options.seed is None else options.seed
    names = options.target or sorted(TARGETS)
    if options.case is not None:
        for name in names:
            case = case_of(name, seed, options.case)
            print(repr(case))
            if options.keep:
                path = _KEPT / f"{name}-{hashlib.sha256(case).hexdigest()[:12]}.bin"
                path.write_bytes(case)
                print(f"kept as {path}")
            print(check(TARGETS[name], case))
        return 0
    print(f"seed {seed}, {options.seconds / len(names):.0f} seconds for each of {len(names)} targets")
    failed = [name for name in names if not _fuzz(name, seed, options.seconds / len(names))]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
