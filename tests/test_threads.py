"""How many threads are started: affinity, quotas of control groups, OMP_NUM_THREADS."""

import os
import shutil
import subprocess
import sys

import pytest

from widemargin import _threads
from widemargin._threads import cgroup_quota, thread_count, usable_cpus
from widemargin.errors import UsageError


@pytest.fixture(autouse=True)
def _nothing_limits(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(_threads.os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    monkeypatch.setattr(_threads, "_quota_of_this_process", lambda: None)


def groups(root, membership, **files):
    """A fake tree: /proc/self/cgroup and files below /sys/fs/cgroup."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(membership)
    for name, text in files.items():
        file = root / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def test_none_and_negative_numbers_count_from_what_is_usable():
    assert [thread_count(n) for n in (None, -1, -2, -16, -99, 1, 40)] == [16, 16, 15, 1, 1, 1, 40]
    with pytest.raises(UsageError, match="n_jobs=0"):
        thread_count(0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("3", 3), ("3,2", 3), (" 5 ", 5), ("64", 16), ("", 16), ("0", 16), ("-4", 16), ("many", 16), ("²", 16)],
)
def test_omp_num_threads_limits_what_is_not_explicit(monkeypatch, value, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert thread_count(None) == thread_count(-1) == expected
    assert thread_count(8) == 8


def test_the_smallest_limit_counts(monkeypatch):
    monkeypatch.setattr(_threads, "_quota_of_this_process", lambda: 4)
    assert usable_cpus() == 4
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert usable_cpus() == 2


@pytest.mark.parametrize(
    ("limit", "expected"), [("200000 100000", 2), ("150000 100000", 2), ("1000 100000", 1)]
)
def test_version_2_quotas_are_rounded_up(tmp_path, limit, expected):
    assert cgroup_quota(groups(tmp_path, "0::/\n", **{"cpu.max": limit + "\n"})) == expected


@pytest.mark.parametrize("limit", ["max 100000\n", "", "max", "200000", "nonsense here", "-5 100000", "5 0"])
def test_version_2_without_a_quota(tmp_path, limit):
    assert cgroup_quota(groups(tmp_path, "0::/\n", **{"cpu.max": limit})) is None


def test_version_2_enclosing_groups_limit_too(tmp_path):
    files = {
        "work.slice/cpu.max": "300000 100000",
        "work.slice/job/cpu.max": "max 100000",
        "other/cpu.max": "100000 100000",
    }
    assert cgroup_quota(groups(tmp_path, "0::/work.slice/job/step\n", **files)) == 3


@pytest.mark.parametrize("folder", ["cpu,cpuacct", "cpu"])
@pytest.mark.parametrize("path", ["/job", "/docker/of-the-host"])
def test_version_1(tmp_path, folder, path):
    membership = f"5:memory:/job\n4:cpu,cpuacct:{path}\n1:name=systemd:/x\n"
    below = f"{folder}/job" if path == "/job" else folder  # not mounted: the container's group is the root
    files = {f"{below}/cpu.cfs_quota_us": "250000\n", f"{below}/cpu.cfs_period_us": "100000\n"}
    assert cgroup_quota(groups(tmp_path, membership, **files)) == 3


def test_version_1_without_a_quota(tmp_path):
    files = {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}
    assert cgroup_quota(groups(tmp_path, "4:cpu,cpuacct:/\n", **files)) is None


def test_cpusets_alone_are_no_quota(tmp_path):
    files = {"cpu/cpu.cfs_quota_us": "100000\n", "cpu/cpu.cfs_period_us": "100000\n"}
    assert cgroup_quota(groups(tmp_path, "4:cpuset:/\n", **files)) is None


def test_no_control_groups_at_all(tmp_path):
    assert cgroup_quota(tmp_path) is None


@pytest.mark.skipif(shutil.which("taskset") is None, reason="needs taskset")
def test_a_real_affinity_is_respected():
    code = "from widemargin._threads import thread_count; print(thread_count(None), thread_count(-1))"
    cpu = str(min(_REAL_AFFINITY))
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    command = ["taskset", "-c", cpu, sys.executable, "-c", code]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["1", "1"]


_REAL_AFFINITY = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else {0}
