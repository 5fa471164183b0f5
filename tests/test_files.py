"""Saving when it goes wrong: kills, permissions, poor file systems, what others left behind."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from widemargin import _files
from widemargin._files import replacing
from widemargin.errors import StorageError

needs_signals = pytest.mark.skipif(os.name != "posix", reason="a process cannot kill itself there")

# How the new content becomes a file: without a name until it is complete, or under a temporary one.
WAYS = {
    "nameless": "",
    "no nameless files": "del os.O_TMPFILE",
    "not on this file system": """
        real_open = os.open
        def no_nameless(path, flags, *more, **options):
            if flags & os.O_TMPFILE == os.O_TMPFILE:
                raise OSError(errno.EOPNOTSUPP, "not supported")
            return real_open(path, flags, *more, **options)
        os.open = no_nameless
    """,
    "cannot be named": """
        def no_link(*paths, **options):
            raise OSError(errno.EXDEV, "no links here")
        os.link = no_link
    """,
}
if not hasattr(os, "O_TMPFILE"):
    WAYS = {"no nameless files": ""}

# Where a kill may hit: before the content, in the middle of it, before it is on the disk, before the rename.
POINTS = {
    "begun": "with replacing(path) as file: die()",
    "half": "with replacing(path) as file: file.write(b'n' * 100_000); file.flush(); die(); file.write(b'e')",
    "sync": "os.fsync = die\nwith replacing(path) as file: file.write(b'new')",
    "rename": "os.replace = die\nwith replacing(path) as file: file.write(b'new')",
}


def killed(path: Path, way: str, point: str) -> None:
    """Let another process save to `path` and be killed at `point`."""
    program = "import errno, os, signal, sys\nfrom widemargin._files import replacing\n"
    program += textwrap.dedent(WAYS[way]) + "\npath = sys.argv[1]\n"
    program += "def die(*ignored): os.kill(os.getpid(), signal.SIGKILL)\n" + POINTS[point]
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL


def apply(monkeypatch, way: str) -> None:
    """The same in this process."""
    if way == "no nameless files":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    elif way == "not on this file system":
        monkeypatch.setattr(_files, "_open_nameless", lambda folder: None)
    elif way == "cannot be named":

        def no_link(*paths, **options):
            raise OSError("no links here")

        monkeypatch.setattr(os, "link", no_link)


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@needs_signals
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_loses_nothing_and_the_next_save_cleans_up(tmp_path, way, point):
    path = tmp_path / "f"
    path.write_text("old")
    killed(path, way, point)
    assert path.read_text() == "old"
    if way == "nameless" and point != "rename":
        assert names(tmp_path) == ["f"]
    for name in set(names(tmp_path)) - {"f"}:
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) & 0o077 == 0 or point in ("sync", "rename")
    with replacing(path) as file:
        file.write(b"newer")
    assert path.read_text() == "newer"
    assert names(tmp_path) == ["f"]


@pytest.mark.parametrize("way", WAYS)
class TestPermissions:
    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, None])
    def test_nobody_else_reads_what_is_being_written(self, tmp_path, monkeypatch, way, mode):
        apply(monkeypatch, way)
        path = tmp_path / "f"
        if mode is not None:
            path.write_text("old")
            path.chmod(mode)
        seen = []
        before = os.umask(0o022)
        try:
            with replacing(path) as file:
                file.write(b"secret")
                file.flush()
                seen = [stat.S_IMODE(os.fstat(file.fileno()).st_mode)]
                seen += [stat.S_IMODE(p.stat().st_mode) for p in tmp_path.iterdir() if p != path]
        finally:
            os.umask(before)
        assert set(seen) == {0o600}
        assert stat.S_IMODE(path.stat().st_mode) == (0o644 if mode is None else mode)
        assert path.read_bytes() == b"secret"

    @pytest.mark.parametrize(("umask", "expected"), [(0o077, 0o600), (0o002, 0o664)])
    def test_new_files_obey_the_umask(self, tmp_path, monkeypatch, way, umask, expected):
        apply(monkeypatch, way)
        before = os.umask(umask)
        try:
            with replacing(tmp_path / "f") as file:
                file.write(b"new")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == expected

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
    def test_owner_and_group_stay(self, tmp_path, monkeypatch, way):
        apply(monkeypatch, way)
        path = tmp_path / "f"
        path.write_text("old")
        os.chown(path, 12345, 23456)
        path.chmod(0o660)
        with replacing(path) as file:
            file.write(b"new")
        found = path.stat()
        assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 23456, 0o660)

    def test_a_group_that_cannot_be_kept_gets_nothing(self, tmp_path, monkeypatch, way):
        """What one group was allowed is not allowed to another."""
        apply(monkeypatch, way)
        path = tmp_path / "f"
        path.write_text("old")
        path.chmod(0o664)
        found = path.stat()
        other = os.stat_result((*found[:5], found.st_gid + 1, *found[6:]))
        monkeypatch.setattr(_files, "_replaced_file", lambda path, target: other)

        def refuse(*ignored):
            raise PermissionError("not yours")

        monkeypatch.setattr(os, "fchown", refuse)
        with replacing(path) as file:
            file.write(b"new")
        assert stat.S_IMODE(path.stat().st_mode) == 0o604


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["f", "a" * 255, "\N{CJK UNIFIED IDEOGRAPH-4E00}" * 85])
def test_any_name_that_a_file_may_have(tmp_path, monkeypatch, way, name):
    apply(monkeypatch, way)
    for content in (b"first", b"second"):
        with replacing(tmp_path / name) as file:
            file.write(content)
        assert (tmp_path / name).read_bytes() == content
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("way", WAYS)
def test_two_writers_at_once(tmp_path, monkeypatch, way):
    """Neither takes the other's temporary file for a dead one's; the last to end wins."""
    apply(monkeypatch, way)
    path = tmp_path / "f"
    with replacing(path) as slow:
        slow.write(b"slow")
        slow.flush()
        thread = threading.Thread(target=_write, args=(path, b"quick"))
        thread.start()
        thread.join()
        assert path.read_bytes() == b"quick"
    assert path.read_bytes() == b"slow"
    assert names(tmp_path) == ["f"]


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


@needs_signals
class TestStaleFiles:
    @pytest.fixture
    def path(self, tmp_path) -> Path:
        return tmp_path / "f"

    def stale(self, path: Path, pid: int, started: str, target: Path | None = None) -> Path:
        prefix = _files._prefix(target or path)
        file = path.with_name(f"{prefix}{pid}-{started}-{os.urandom(6).hex()}.part")
        file.write_text("half")
        return file

    def dead(self) -> int:
        """The number of a process that has ended."""
        return int(subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                                  capture_output=True, check=True).stdout)  # fmt: skip

    def test_of_dead_processes_go(self, path):
        files = [self.stale(path, self.dead(), "0"), self.stale(path, self.dead(), "123")]
        _write(path, b"new")
        assert not any(file.exists() for file in files)

    def test_of_living_processes_stay(self, path):
        own = self.stale(path, os.getpid(), _files._started(os.getpid()))
        unknown = self.stale(path, os.getpid(), "0")  # of a system that does not tell when a process began
        parent = self.stale(path, os.getppid(), _files._started(os.getppid()))
        _write(path, b"new")
        assert own.exists()
        assert unknown.exists()
        assert parent.exists()

    @pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell the time")
    def test_a_number_that_another_process_has_by_now(self, path):
        file = self.stale(path, os.getpid(), "1")
        _write(path, b"new")
        assert not file.exists()

    def test_of_other_machines_stay(self, path, monkeypatch):
        """On a shared file system a number that means nobody here may be a process there."""
        monkeypatch.setattr(_files, "_machine", lambda: "0123456789ab")
        file = self.stale(path, self.dead(), "0")
        monkeypatch.undo()
        _write(path, b"new")
        assert file.exists()

    def test_of_other_files_and_of_other_programs_stay(self, path):
        other = self.stale(path, self.dead(), "0", target=path.with_name("g"))
        strange = path.with_name(f".f.{self.dead()}.part")
        strange.write_text("not ours")
        folder = path.with_name(f"{_files._prefix(path)}{self.dead()}-0-00.part")
        folder.mkdir()
        for odd in ("x", "", "-1", "9" * 30):
            path.with_name(f"{_files._prefix(path)}{odd}-0-00.part").write_text("odd")
        before = set(names(path.parent))
        _write(path, b"new")
        assert before <= set(names(path.parent))
        assert other.exists()

    def test_of_other_users_stay(self, path, monkeypatch):
        file = self.stale(path, self.dead(), "0")
        monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
        _write(path, b"new")
        assert file.exists()

    def test_links_are_not_followed(self, path):
        precious = path.with_name("precious")
        precious.write_text("mine")
        link = path.with_name(f"{_files._prefix(path)}{self.dead()}-0-00.part")
        link.symlink_to(precious)
        _write(path, b"new")
        assert precious.read_text() == "mine"


@pytest.mark.parametrize("way", WAYS)
def test_an_error_of_the_disk_keeps_the_old_file(tmp_path, monkeypatch, way):
    apply(monkeypatch, way)
    path = tmp_path / "f"
    path.write_text("old")

    def full(*ignored):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        _write(path, b"new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["f"]
