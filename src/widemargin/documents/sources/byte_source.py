"""The decompressed bytes of a file or standard input; their beginning can be inspected before reading."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import os
import re
import select
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from widemargin.documents.limits import MAX_DOCUMENT, too_large
from widemargin.documents.sources.files import COMPRESSED, STDIN, File
from widemargin.documents.sources.urls import Url, as_source
from widemargin.errors import DataError, MissingFileError, StorageError

_NOT_READ = {"zip": b"PK\x03\x04", "bzip2": b"BZh[1-9]1AY&", "7z": b"7z\xbc\xaf\x27\x1c"}
_CHUNK = 1 << 20
# Four bytes of a .zst file may expand to 128 kB, so this number of bytes expands to at most 64 MB.
_ZSTD_CHUNK = 1 << 11
_HEAD = 1 << 16


class ByteSource:
    """The decompressed bytes of `source` (a path, an address, "-" for standard input, or a `File`).

    `head` contains the first bytes; reading still begins with them. `in_thread`: standard input is read in a
    thread, and nothing of it has been read yet.
    """

    def __init__(self, source: str | Path | Url | File, *, in_thread: bool = False) -> None:
        if not isinstance(source, File):
            source = as_source(source)
        name = source.name if isinstance(source, File) else str(source)
        self.is_stdin = name == STDIN
        self.name = "standard input" if self.is_stdin else name
        with self._explained():
            raw = self._raw = self._open(source, in_thread)
            self._stream = decompressed(raw, "" if self.is_stdin else name)
            # One line is enough to recognize the format; a pipe may not have more yet.
            self.head = self._stream.read1(_HEAD)
            while b"\n" not in self.head and len(self.head) < _HEAD:
                more = self._stream.read1(_HEAD)
                if not more:
                    break
                self.head += more

    def chunks(self) -> Iterator[bytes]:
        """All bytes in pieces of about a megabyte; from a pipe, as many as are available."""
        if self.head:
            yield self.head
        while True:
            with self._explained():
                chunk = self._stream.read1(_CHUNK)
            if not chunk:
                return
            yield chunk

    def ready(self) -> bool:
        """Whether more bytes, or the end, can be read without waiting for the program that writes to a
        pipe."""
        try:
            return bool(select.select([self._raw], [], [], 0)[0])
        except (
            OSError,
            ValueError,
        ):  # not a descriptor that select supports: a file elsewhere, or on Windows
            return not self.is_stdin

    def lines(self, max_document: int = MAX_DOCUMENT) -> Iterator[bytes]:
        """All lines with their ends; one of more than `max_document` bytes is an error."""
        pending: list[bytes] = []
        waiting, number = 0, 1  # bytes of the current line, and its number
        for chunk in self.chunks():
            lines = chunk.split(b"\n")
            for place, line in enumerate(lines):
                waiting = waiting + len(line) if place == 0 else len(line)
                if waiting > max_document:
                    raise too_large(f"{self.name}, line {number}", max_document)
                if place == 0:
                    pending.append(line)
                if place < len(lines) - 1:
                    yield (b"".join(pending) if place == 0 else line) + b"\n"
                    number += 1
                elif place:
                    pending = [line]
        if last := b"".join(pending):
            yield last

    def close(self) -> None:
        if not self.is_stdin:
            self._stream.close()

    def _open(self, source: str | Path | Url | File, in_thread: bool) -> IO[bytes]:
        if isinstance(source, File) and source.open is not None:
            return source.open()
        if isinstance(source, Url):
            from widemargin.documents.sources.remote import open_stream

            return open_stream(source)
        if self.is_stdin and sys.stdin is None:
            raise DataError("standard input is closed. Pass a file, or pipe documents in.")
        if self.is_stdin and not in_thread:
            return sys.stdin.buffer
        if self.is_stdin:
            try:
                # A separate reader: a thread that waits in sys.stdin would keep the interpreter from exiting.
                return open(os.dup(sys.stdin.fileno()), "rb", buffering=_CHUNK)
            except (OSError, ValueError):  # standard input is not a file
                return sys.stdin.buffer
        assert not isinstance(source, File)
        if os.path.isdir(source):
            raise DataError(
                f"{source}: is a folder; expected a file. Pass --format folder for class folders."
            )
        return open(source, "rb", buffering=_CHUNK)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Converts errors of reading to this library's errors."""
        try:
            yield
        except (MissingFileError, StorageError, DataError):
            raise
        except FileNotFoundError as error:
            raise MissingFileError(f"{self.name}: no such file. Check the path.") from error
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise DataError(self._damaged(error)) from error
        except OSError as error:
            reason = error.strerror or str(error)
            raise StorageError(f"{self.name}: cannot be read ({reason}). Check its permissions.") from error
        except Exception as error:
            # zstandard is imported only when a file needs it, so its error cannot be named here.
            if type(error).__name__ != "ZstdError":
                raise
            raise DataError(self._damaged(error)) from error

    def _damaged(self, error: Exception) -> str:
        return (
            f"{self.name}: the compressed data are damaged or cut off ({error}). Get a complete copy of it."
        )


def decompressed(raw: IO[bytes], source: str | Path) -> Any:
    """`raw`, decompressed if its first bytes show a known compression."""
    buffered: Any = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(cast(Any, raw), _CHUNK)
    magic = buffered.peek(8)[:8]
    suffix = Path(source).suffix.lower()
    if magic and suffix in COMPRESSED and not magic.startswith(COMPRESSED[suffix]):
        raise DataError(f"{source}: not a {suffix} file despite its name. Rename it, or get a complete copy.")
    for name, start in _NOT_READ.items():
        if re.match(start, magic):
            where, cure = source or "standard input", "Unpack it first."
            if name == "zip" and not source:
                cure = "Save it as a file first."
            raise DataError(f"{where}: a {name} file cannot be read directly. {cure}")
    if magic.startswith(COMPRESSED[".gz"]):
        return io.BufferedReader(cast(Any, gzip.GzipFile(fileobj=buffered)), _CHUNK)
    if magic.startswith(COMPRESSED[".xz"]):
        return io.BufferedReader(lzma.LZMAFile(buffered), _CHUNK)
    if magic.startswith(COMPRESSED[".zst"]):
        return io.BufferedReader(_Zstandard(buffered), _CHUNK)
    return buffered


class _Zstandard(io.RawIOBase):
    """The decompressed frames of a .zst stream; a truncated one is an error, not an early end."""

    def __init__(self, stream: io.BufferedReader[Any]) -> None:
        import zstandard

        self._stream = stream
        self._new = zstandard.ZstdDecompressor
        self._frame = self._new().decompressobj()
        self._begun = False
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._ready:
            data = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame, self._begun = self._new().decompressobj(), False
            data = data or self._stream.read1(_ZSTD_CHUNK)
            if not data:
                if self._begun:
                    raise EOFError("the last frame does not end")
                return 0
            self._begun = True
            self._ready = memoryview(self._frame.decompress(data))
        size = min(len(self._ready), len(buffer))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def close(self) -> None:
        self._stream.close()
        super().close()
