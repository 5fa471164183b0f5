"""Tasks on real worker processes: order, bounds, and what happens when processes die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from widemargin.cluster import ClusterExecutor, connected
from widemargin.cluster.connecting import local_workers
from widemargin.errors import DataError, StorageError, UsageError


def slow_square(x: int, seconds: float) -> tuple[int, int]:
    time.sleep(seconds)
    return x * x, os.getpid()


def failing(x: int) -> int:
    raise DataError(f"shard {x}, line 3: nothing there")


def dying(x: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return x


def noted(x: int, file: str) -> int:
    with open(file, "a") as log:
        log.write(f"{x}\n")
    return x


def worker_processes(tasks) -> list[int]:
    return [found["pid"] for found in tasks.client.run(lambda dask_worker: {"pid": os.getpid()}).values()]


def test_results_come_in_order_from_several_processes(tasks):
    found = list(tasks.map(slow_square, [(x, 0.1 * (x == 0)) for x in range(8)]))
    assert [square for square, _ in found] == [x * x for x in range(8)]
    assert len({process for _, process in found}) == 2


@pytest.mark.skipif("MALLOC_TRIM_THRESHOLD_" in os.environ, reason="set for all processes")
def test_workers_here_have_one_thread_and_keep_memory(tasks):
    names = "OMP_NUM_THREADS", "MALLOC_TRIM_THRESHOLD_"
    assert tasks.on_workers(lambda: [os.environ.get(name) for name in names]) == [["1", None]] * 2


def test_few_results_wait_to_be_taken(tasks, tmp_path):
    log = tmp_path / "log"
    results = tasks.map(noted, ((x, str(log)) for x in range(50)), in_flight=3)
    assert next(results) == 0
    time.sleep(0.5)
    assert len(log.read_text().split()) <= 4
    assert list(results) == list(range(1, 50))


def test_an_error_of_a_function_is_raised_as_it_is(tasks):
    with pytest.raises(DataError, match="shard 1, line 3"):
        list(tasks.map(failing, [(1,)]))


def test_a_killed_worker_does_not_change_the_results(tasks):
    kept = tasks.keep(0.3)
    results = tasks.map(slow_square, [(x, kept) for x in range(8)])
    assert next(results)[0] == 0
    os.kill(worker_processes(tasks)[0], signal.SIGKILL)
    assert [square for square, _ in results] == [x * x for x in range(1, 8)]


def test_a_task_that_kills_its_workers_is_given_up(tasks):
    with pytest.raises(StorageError, match="memory"):
        list(tasks.map(dying, [(1,)]))


def test_the_executor_resolves_what_it_keeps(tasks):
    executor = ClusterExecutor(tasks)
    futures = [executor.submit(slow_square, x, executor.keep(0.0)) for x in range(3)]
    assert [future.result()[0] for future in futures] == [0, 1, 4]


@pytest.fixture
def scheduler(tmp_path):
    """A scheduler and a worker, processes of their own."""
    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    begin = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    where = ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0"]
    running = [subprocess.Popen([*begin, *where, "--scheduler-file", str(file)], **quiet)]
    work = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file)]
    more = ["--no-nanny", "--nthreads", "1", "--local-directory", str(tmp_path)]
    running.append(subprocess.Popen([*work, *more, "--no-dashboard"], **quiet))
    while not file.exists():
        time.sleep(0.05)
    try:
        yield str(file), *running
    finally:
        for process in running:
            process.kill()
            process.wait()


def test_a_killed_scheduler_is_an_error_soon(scheduler):
    file, process, _ = scheduler
    with connected(file) as tasks:
        results = tasks.map(time.sleep, [(0.2,)] * 100)
        assert next(results) is None
        begin = time.monotonic()
        process.kill()
        with pytest.raises(StorageError, match="scheduler"):
            list(results)
        assert time.monotonic() - begin < 60


def test_no_workers_for_long_is_an_error(scheduler):
    file, _, worker = scheduler
    with connected(file, patience=1.0) as tasks:
        results = tasks.map(time.sleep, [(0.2,)] * 100)
        assert next(results) is None
        worker.kill()
        with pytest.raises(StorageError, match="no workers for 1 s"):
            list(results)


def test_an_address_without_a_scheduler_is_an_error(monkeypatch):
    monkeypatch.setattr("widemargin.cluster.connecting.CONNECT", 0.5)
    with pytest.raises(StorageError, match="no scheduler answers"), connected("tcp://127.0.0.1:9"):
        pass


@pytest.mark.parametrize("where", ["local:0", "local:x", "localhost", "here"])
def test_names_of_no_cluster_are_refused(where):
    with pytest.raises(UsageError, match="--cluster"):
        local_workers(where)


def test_importing_the_package_does_not_import_dask():
    code = "import sys, widemargin, widemargin.cluster; sys.exit('dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
