"""Files elsewhere, by URL, with the extra ``remote`` (fsspec): read as streams, checked at their end."""

from __future__ import annotations

import contextlib
import functools
import io
from collections.abc import Iterator
from typing import IO, Any

from widemargin.documents.sources.files import File, is_hidden
from widemargin.documents.sources.remote_errors import changed, ended_early, explained
from widemargin.documents.sources.urls import Url
from widemargin.errors import DataError, MissingFileError, UsageError

# Bytes that are requested at a time from storage that is read in pieces.
_PIECE = 1 << 22
_BUFFER = 1 << 20
# A server that sends nothing for so many seconds has failed; a large file may take as long as it needs.
_SECONDS = 120
_WEB = ("http", "https")
_PACKAGES = {
    **dict.fromkeys(("s3", "s3a"), "s3fs"),
    **dict.fromkeys(("gs", "gcs"), "gcsfs"),
    **dict.fromkeys(("abfs", "abfss", "az", "adl"), "adlfs"),
    **dict.fromkeys(_WEB, "aiohttp"),
    **dict.fromkeys(("sftp", "ssh"), "paramiko"),
    "hf": "huggingface_hub",
    "smb": "smbprotocol",
    "webdav": "webdav4",
    "hdfs": "pyarrow",
    "oci": "ocifs",
    "oss": "ossfs",
}
# What tells one content of a file from another, where a file system knows it; the first that is known counts.
_MARKS = (
    "ETag",
    "etag",
    "generation",
    "md5Hash",
    "content_md5",
    "Content-MD5",
    "mtime",
    "created",
    "updated",
)


def expanded(url: Url) -> list[Url]:
    """The address, which must exist, or those that match a pattern, sorted by their names.

    That of a folder ends with a slash.
    """
    system, path = _system(url)
    names = sorted(_matches(url, system, path)) if _is_pattern(url) else []
    if names:
        return [_address(url, system, name) for name in names]
    try:
        return [_checked(url, system, path)]  # also if the name itself has a star or a bracket
    except MissingFileError:
        if not _is_pattern(url):
            raise
        raise MissingFileError(f"{url}: no file matches this pattern. Check the address.") from None


def _matches(url: Url, system: Any, path: str) -> dict[str, Any]:
    """The files that match a pattern, with what is known of them."""
    try:
        with explained(url):
            found: dict[str, Any] = system.glob(path, detail=True)
    except ValueError as error:
        reason = url.without_secrets(str(error)).rstrip(".")
        raise UsageError(f"{url}: {reason[:1].lower()}{reason[1:]}. Repair the pattern.") from None
    return {name: info for name, info in found.items() if info["type"] != "directory"}


def _checked(url: Url, system: Any, path: str) -> Url:
    folder = _look(url, system, path).get("type") == "directory" and url.protocol not in _WEB
    return Url(url.address.rstrip("/") + "/") if folder else url


def is_folder(url: Url) -> bool:
    """Whether an address that `expanded` returned is that of a folder."""
    return url.protocol not in _WEB and url.address.endswith("/")


def size_of(url: Url) -> int | None:
    """The number of bytes of a file, of all below a folder or of those that match a pattern; None if it is
    unknown."""
    system, path = _system(url)
    known = [info.get("size") for info in _matches(url, system, path).values()] if _is_pattern(url) else []
    if known and None not in known:
        return int(sum(known))
    total = 0
    for one in expanded(url):
        system, path = _system(one)
        with explained(one):
            size = system.du(path) if is_folder(one) else _look(one, system, path).get("size")
        if not isinstance(size, int):
            return None
        total += size
    return total


def file_at(url: Url, path: str | None = None) -> File:
    """A file to read, by default named by its address; `path` is that below the folder it was found in."""
    return File(
        str(url),
        path or str(url),
        functools.partial(open_stream, url),
        any_order=functools.partial(_pieces, url),
    )


class RemoteFolder:
    """The files below an address, in the order of their paths."""

    def __init__(self, url: Url) -> None:
        self.name, self._url = str(url).rstrip("/"), url

    def files(self) -> list[File]:
        system, path = _system(self._url)
        with explained(self._url):
            names = sorted(system.find(path))
        base = path.rstrip("/") + "/"
        places = [(name, name.removeprefix(base)) for name in names]
        parent = Url(self._url.address.rstrip("/") + "/")
        return [
            file_at(_address(parent, system, name), where) for name, where in places if not is_hidden(where)
        ]

    def close(self) -> None:
        pass


def open_stream(url: Url) -> IO[bytes]:
    """The bytes of a file from its first to its last; one that ends early or has changed is an error."""
    return io.BufferedReader(_Stream(url), _BUFFER)


class _Stream(io.RawIOBase):
    """A file that is read once. At its end, its size and mark are compared with those at its beginning."""

    def __init__(self, url: Url) -> None:
        self._url = url
        self._system, self._path = _system(url)
        self._before = _look(url, self._system, self._path)
        if self._before.get("type") == "directory":
            raise DataError(
                f"{url}: is a folder; expected a file. End the address with a pattern such as /*.jsonl."
            )
        how: dict[str, Any] = {"block_size": _PIECE, "cache_type": "readahead"}
        if url.protocol in _WEB:
            how = {"block_size": 0, "size": self._before.get("size")}  # one request, whose answer is read on
        with explained(url):
            self._file = self._system.open(self._path, "rb", **how)
        self._size = _announced(self._file, self._before)
        self._read = 0
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        if self._ended:
            return 0
        with explained(self._url):
            data = self._file.read(len(buffer))
        self._read += len(data)
        if not data:
            self._ended = True
            if self._size is not None and self._read < self._size:
                raise ended_early(self._url, self._read, self._size)
            _check_unchanged(self._url, self._system, self._path, self._before)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed and hasattr(self, "_file"):
            with contextlib.suppress(Exception):
                self._file.close()
        super().close()


@contextlib.contextmanager
def _pieces(url: Url) -> Iterator[IO[bytes] | None]:
    """The bytes of a file in any order, a request per piece; None if the server sends whole files only."""
    system, path = _system(url)
    before = _look(url, system, path)
    size = before.get("size")
    if before.get("partial") is False or not size:
        yield None
        return
    with explained(url):
        file = system.open(path, "rb", block_size=_PIECE, cache_type="none", size=size)
    try:
        if not _sends_pieces(url, file):
            yield None
            return
        yield io.BufferedReader(_Pieces(url, file, size), _BUFFER)
        _check_unchanged(url, system, path, before)
    finally:
        with contextlib.suppress(Exception):
            file.close()


class _Pieces(io.RawIOBase):
    """A file that is read in any order."""

    def __init__(self, url: Url, file: Any, size: int) -> None:
        self._url, self._file, self._size = url, file, size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        wanted = min(len(buffer), self._size - self._file.tell())
        if wanted <= 0:
            return 0
        with explained(self._url):
            data = self._file.read(wanted)
        if not data:
            raise ended_early(self._url, self._file.tell(), self._size)
        buffer[: len(data)] = data
        return len(data)


# ---------------------------------------------------------------------- file systems


def _system(url: Url) -> tuple[Any, str]:
    """The file system of an address, and what the system calls the file."""
    package = _PACKAGES.get(url.protocol)
    try:
        import fsspec
    except ImportError:
        also = f" {package}" if package not in (None, "aiohttp") else ""
        raise UsageError(
            f"{url}: reading from a URL needs fsspec. Run `pip install widemargin[remote]{also}`, or "
            f"download the file."
        ) from None
    if url.protocol not in {*fsspec.available_protocols(), *fsspec.registry}:
        raise UsageError(
            f"{url}: there is no protocol {url.protocol}. Use one such as https, s3, gs, abfs or sftp; a "
            f"database is read with --sql."
        )
    try:
        with explained(url):
            system, path = fsspec.core.url_to_fs(url.address, **_settings(url, fsspec))
    except ImportError as error:
        install = f"Run `pip install widemargin[remote] {package}`." if package else f"{error}."
        raise UsageError(f"{url}: reading {url.protocol}:// needs another package. {install}") from None
    except ValueError as error:
        reason = url.without_secrets(str(error)).rstrip(".")
        raise UsageError(f"{url}: is not an address of {url.protocol} ({reason}). Check it.") from None
    return system, path


def _settings(url: Url, fsspec: Any) -> dict[str, Any]:
    """How to make the file system, beside what is configured for it (FSSPEC_... in the environment)."""
    if url.protocol not in _WEB:
        return {}
    import aiohttp

    own = fsspec.config.conf.get(url.protocol, {})
    # The bytes are wanted as they are stored: those of a .gz file are decompressed like a local one's.
    client = {
        "auto_decompress": False,
        "read_bufsize": _BUFFER,
        "timeout": aiohttp.ClientTimeout(total=None, sock_connect=_SECONDS, sock_read=_SECONDS),
        "trust_env": True,  # proxies
    }
    return {
        "client_kwargs": {**client, **own.get("client_kwargs", {})},
        "headers": {**own.get("headers", {}), "Accept-Encoding": "identity"},
    }


def _look(url: Url, system: Any, path: str) -> dict[str, Any]:
    """What the file system knows of a file now, not when it was last listed."""
    with explained(url):
        system.invalidate_cache()
        return dict(system.info(path))


def _is_pattern(url: Url) -> bool:
    # In an address of the web, ? begins the options.
    return any(letter in str(url) for letter in ("*[" if url.protocol in _WEB else "*?["))


def _address(url: Url, system: Any, name: str) -> Url:
    """The address of a file that a pattern or folder led to, with the user and host of `url`."""
    literal = url.address
    for letter in "*[" if url.protocol in _WEB else "*?[":
        literal = literal.partition(letter)[0]
    above = literal.rpartition("/")[0]
    if above.endswith(":/"):  # a pattern at the top
        above += "/"
    known = _system(Url(above))[1]
    if name.startswith(known):
        return Url(above + "/" + name[len(known) :].lstrip("/"))
    return Url(system.unstrip_protocol(name))


def _announced(file: Any, info: dict[str, Any]) -> int | None:
    """The number of bytes that are to come."""
    answer = getattr(file, "r", None)
    if answer is None:
        size = info.get("size")
        return size if isinstance(size, int) else None
    length = answer.headers.get("Content-Length", "")
    return int(length) if length.isdigit() else None


def _sends_pieces(url: Url, file: Any) -> bool:
    """Whether a part of a file can be asked for. Servers of the web that cannot do so seldom say it."""
    if url.protocol not in _WEB:
        return True
    with explained(url):
        try:
            file.seek(1)
            file.read(1)
            file.seek(0)
        except ValueError:
            return False
    return True


def _check_unchanged(url: Url, system: Any, path: str, before: dict[str, Any]) -> None:
    after = _look(url, system, path)
    mark = next((name for name in _MARKS if name in before), None)
    for name in ("size", mark, "Last-Modified" if mark is None else None):
        if name is not None and before.get(name) != after.get(name):
            raise changed(url)
