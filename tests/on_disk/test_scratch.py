"""Temporary folders: removed in the end, whatever happens; full disks are named."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from widemargin.errors import DataError, MissingFileError, StorageError
from widemargin.on_disk import Scratch
from widemargin.on_disk.scratch import remove_leftovers, writing_to

CHILD = """
import sys, time
from widemargin.on_disk import Scratch
with Scratch(sys.argv[1]) as folder:
    (folder / "counts").write_bytes(b"1")
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("error", [None, DataError, KeyboardInterrupt, SystemExit])
def test_the_folder_is_removed(tmp_path, error):
    with pytest.raises(error) if error else pytest.MonkeyPatch.context(), Scratch(tmp_path) as folder:
        (folder / "deep").mkdir()
        (folder / "deep/file").write_text("x")
        assert folder.parent == tmp_path
        if error:
            raise error
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_a_killed_process_are_removed_and_no_others(tmp_path):
    other = tmp_path / "widemargin-of-someone"
    other.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            line = child.stdout.readline().strip()
            with Scratch(tmp_path):
                assert os.path.exists(line)  # its process runs
        finally:
            child.kill()
    assert os.path.exists(line)
    with Scratch(tmp_path):
        assert not os.path.exists(line)
    assert other.exists()  # it has no lock, so it is not known to be a leftover
    remove_leftovers(tmp_path / "missing")


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(MissingFileError, match="scratch"), Scratch(tmp_path / "none"):
        pass


def test_a_full_disk_is_an_error_that_says_what_helps(tmp_path):
    with (
        pytest.raises(StorageError, match=r"full: about 5.0 MB .*--scratch"),
        writing_to(tmp_path, 5_000_000),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(StorageError, match=r"about 1000000000.0 GB are needed"), writing_to(tmp_path, 10**18):
        pass
    with pytest.raises(StorageError, match="could not be written"), writing_to(tmp_path):
        raise PermissionError(errno.EACCES, "Permission denied")
    with pytest.raises(DataError), writing_to(tmp_path):
        raise DataError("as it is")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_device_that_is_really_full(tmp_path):
    refused = pytest.raises(StorageError, match="the disk is full")
    with refused, writing_to(tmp_path), open("/dev/full", "wb") as file:
        file.write(b"x" * 100_000)
