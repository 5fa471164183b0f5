"""Output in parts that is written exactly once: all of it, under its name, or nothing.

Parts are written to a folder beside the target, whose name ends in ``.partial``. When all are complete and on
disk, the folder gets a manifest and is renamed. A run that is killed leaves the partial folder only, which
the next run removes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from widemargin._files import sync_folder
from widemargin.errors import MissingFileError, StorageError

MANIFEST = "manifest.json"
_LOCK = ".lock"


class PartFiles:
    """The parts of an output that is being written, one after the other."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self._folder, self._names = folder, names
        self._file: BinaryIO | None = None
        self._digest = hashlib.sha256()
        self.parts: list[dict[str, Any]] = []

    def write(self, number: int, data: bytes, documents: int) -> None:
        """Append to a part; parts before it are complete."""
        self._begin(number)
        assert self._file is not None
        self._file.write(data)
        self._digest.update(data)
        self.parts[-1]["documents"] += documents
        self.parts[-1]["bytes"] += len(data)

    def _begin(self, number: int) -> None:
        while len(self.parts) <= number:
            self._end()
            name = f"part-{len(self.parts):05d}.jsonl"
            self._file = open(self._folder / name, "xb")  # noqa: SIM115  # closed by `_end`
            self._digest = hashlib.sha256()
            source = self._names[len(self.parts)]
            self.parts.append({"name": name, "source": source, "documents": 0, "bytes": 0})

    def _end(self) -> None:
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None
            self.parts[-1]["sha256"] = self._digest.hexdigest()

    def finish(self, about: dict[str, Any]) -> None:
        """Complete all parts, check them, and write the manifest."""
        self._begin(len(self._names) - 1)
        self._end()
        for part in self.parts:
            if os.path.getsize(self._folder / part["name"]) != part["bytes"]:
                raise StorageError(f"{self._folder / part['name']}: was changed while it was written.")
        documents = sum(part["documents"] for part in self.parts)
        manifest = {**about, "documents": documents, "parts": self.parts}
        with open(self._folder / MANIFEST, "xb") as file:
            file.write(json.dumps(manifest, ensure_ascii=True, indent=1).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


@contextlib.contextmanager
def written_once(target: Path, names: Sequence[str], about: dict[str, Any]) -> Iterator[PartFiles]:
    """Files for one part per name, which become the folder `target` when the block ends without an error.

    Parameters
    ----------
    target : a folder that does not exist yet
    names : of the sources of the parts
    about : what the manifest says beside the parts
    """
    check_folder(target)
    partial = target.with_name(target.name + ".partial")
    try:
        with _locked(partial):
            _emptied(partial)
            files = PartFiles(partial, names)
            try:
                yield files
                files.finish(about)
                os.unlink(partial / _LOCK)
                sync_folder(partial)
                check_folder(target)
                os.rename(partial, target)
                sync_folder(target.parent)
            except BaseException:
                files.close()
                shutil.rmtree(partial, ignore_errors=True)
                raise
    except OSError as error:
        if isinstance(error, StorageError | MissingFileError | BrokenPipeError):
            raise
        raise StorageError(
            f"{target} could not be written: {error.strerror or error}. Free some space, or write elsewhere."
        ) from error


def check_folder(target: Path) -> None:
    """Refuse a folder that exists, or whose parent does not."""
    if target.exists():
        raise StorageError(f"{target} exists already. Remove it, or name another folder with --output.")
    if not target.absolute().parent.is_dir():
        raise MissingFileError(f"There is no folder {target.parent} for {target.name}. Create it first.")


@contextlib.contextmanager
def _locked(partial: Path) -> Iterator[None]:
    """The partial folder, for one process at a time."""
    partial.mkdir(exist_ok=True)
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with open(partial / _LOCK, "ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StorageError(
                f"{partial} is being written by another process. Wait until it ends."
            ) from None
        yield


def _emptied(partial: Path) -> None:
    """Remove what a killed run left."""
    for entry in os.scandir(partial):
        if entry.name != _LOCK:
            shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)
