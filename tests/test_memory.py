"""Sizes in words, and how much memory there is."""

from __future__ import annotations

import platform

import numpy as np
import pytest

import widemargin._memory as memory
from widemargin._memory import (
    available_memory,
    give_back_memory,
    parse_size,
    peak_memory,
    resident_memory,
    size_in_words,
)
from widemargin.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512MB", 512 * 10**6),
        ("2GB", 2 * 10**9),
        ("2g", 2 * 10**9),
        ("1.5GiB", 3 * 2**29),
        (" 300 mb ", 300 * 10**6),
        ("200000000", 200 * 10**6),
        ("1TB", 10**12),
        (10**9, 10**9),
    ],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "2XB", "-1GB", "GB", "1..5GB", "nan", "10MB", "0", "1e9", True])
def test_sizes_that_are_none(text):
    with pytest.raises(UsageError, match=r"--memory.*2GB"):
        parse_size(text, "--memory")


def test_what_the_system_tells():
    assert 0 < resident_memory() <= peak_memory() * 1.05
    assert available_memory() > 10**6
    assert size_in_words(10) == "1 MB"


def group(folder, limit, used, files=0, names=("memory.max", "memory.current", "inactive_file")):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 5\n{names[2]} {files}\n")


def test_limits_of_containers(tmp_path):
    root, own = tmp_path / "cgroup", tmp_path / "own"
    own.write_text("0::/a/b\n")
    assert memory._of_container(root, own) is None
    group(root / "a" / "b", "max", 7)
    assert memory._of_container(root, own) is None
    group(root / "a", 1000, 300, 50)
    assert memory._of_container(root, own) == 750
    group(root / "a" / "b", 500, 600)
    assert memory._of_container(root, own) == 0


def test_limits_of_older_containers(tmp_path):
    root, own = tmp_path / "cgroup", tmp_path / "own"
    own.write_text("4:memory:/a\n1:cpu:/b\n0::/\n")
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    group(root / "memory", 2**63 - 4096, 0, names=names)
    assert memory._of_container(root, own) is None
    group(root / "memory" / "a", 900, 200, 100, names=names)
    assert memory._of_container(root, own) == 800


def test_the_least_limit_counts(monkeypatch):
    monkeypatch.setattr(memory, "_of_system", lambda: 100)
    monkeypatch.setattr(memory, "_of_container", lambda: 70)
    assert available_memory() == 70
    monkeypatch.setattr(memory, "_of_container", lambda: None)
    assert available_memory() == 100


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")
def test_memory_is_given_back():
    """Below an array that is in use, glibc keeps what was freed."""
    arrays = [np.ones(100_000, dtype=np.uint8) for _ in range(1000)]
    del arrays[:-1]
    before = resident_memory()
    give_back_memory()
    assert resident_memory() < before - 50_000_000
