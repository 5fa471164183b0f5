"""What went wrong elsewhere, as this library's errors: missing, not permitted, cut off, not reachable.

Every file system has errors of its own, some of which hide the reason in their cause. None of them is chained
to ours, since it may show a password.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from widemargin.documents.sources.urls import Url
from widemargin.errors import DataError, MissingFileError, StorageError, WidemarginError

_MISSING = (404, 410)
_FORBIDDEN = (401, 403, 407)
# The packages of file systems, whose errors need not be of any common kind.
_PACKAGES = {
    *("adlfs", "aiobotocore", "aiohttp", "azure", "botocore", "fsspec", "gcsfs", "google", "huggingface_hub"),
    *("httpx", "paramiko", "requests", "s3fs", "smbprotocol", "urllib3", "yarl"),
}


@contextlib.contextmanager
def explained(url: Url) -> Iterator[None]:
    """Converts errors of a file system to this library's errors."""
    try:
        yield
    except (WidemarginError, MemoryError):
        raise
    except Exception as error:
        found = _converted(url, error)
        if found is None:
            raise
        raise found from None


def ended_early(url: Url, read: int, size: int | None) -> DataError:
    of_all = f" of {size:,}" if size is not None else ""
    return DataError(
        f"{url}: ends early, after {read:,}{of_all} bytes: the connection was closed, or the file was "
        f"replaced while it was read. Run the command again."
    )


def changed(url: Url) -> DataError:
    return DataError(
        f"{url}: changed while it was read, so its documents may be a mixture. Run the command again when "
        f"nothing writes to it."
    )


def _converted(url: Url, error: BaseException) -> WidemarginError | None:
    chain = _chain(error)
    kinds = {type(each).__name__ for each in chain}
    status = next((found for found in map(_status, chain) if found is not None), None)
    if "ClientPayloadError" in kinds or "IncompleteReadError" in kinds:
        return DataError(
            f"{url}: ends early: the connection was closed before the last byte. Run the command again."
        )
    if "FileExpired" in kinds or status == 412:
        return changed(url)
    reason = _reason(url, chain, status)
    if status in _FORBIDDEN or any(isinstance(each, PermissionError) for each in chain):
        return StorageError(f"{url}: not permitted ({reason}). {_credentials(url)}")
    if "NoCredentialsError" in kinds or "DefaultCredentialsError" in kinds:
        return StorageError(f"{url}: no credentials are found. {_credentials(url)}")
    lost = any(_is_network(each) for each in chain)
    missing = any(isinstance(each, FileNotFoundError | IsADirectoryError) for each in chain)
    if status in _MISSING or (missing and status is None and not lost):
        return MissingFileError(f"{url}: no such file. Check the address.")
    if status is not None and status >= 500:
        return StorageError(f"{url}: the server failed ({reason}). Try again later.")
    if lost:
        return StorageError(f"{url}: not reachable ({reason}). Check the address and the network.")
    ours = isinstance(error, OSError) or any(_package(each) in _PACKAGES for each in chain)
    if not ours:
        return None
    return StorageError(f"{url}: cannot be read ({reason}). Check the address.")


def _chain(error: BaseException) -> list[BaseException]:
    """An error and its causes, the innermost last."""
    found: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in found:
        found.append(following)
        following = following.__cause__ or following.__context__
    return found


def _status(error: BaseException) -> int | None:
    """The number of a failed answer of a server."""
    answer: Any = getattr(error, "response", None)  # of botocore
    answer = answer.get("ResponseMetadata", {}).get("HTTPStatusCode") if isinstance(answer, dict) else None
    found = getattr(error, "status", None) or answer or getattr(error, "code", None)
    return found if isinstance(found, int) and 400 <= found < 600 else None


def _is_network(error: BaseException) -> bool:
    name = type(error).__name__
    return isinstance(error, ConnectionError | TimeoutError) or any(
        part in name for part in ("Connect", "Timeout", "ServerDisconnected", "gaierror", "SSL")
    )


def _reason(url: Url, chain: list[BaseException], status: int | None) -> str:
    if status is not None:
        from http import HTTPStatus

        phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
        return f"HTTP {status} {phrase}".strip()
    words = next((text for each in reversed(chain) if (text := str(each).strip())), type(chain[0]).__name__)
    return url.without_secrets(words).rstrip(".")[:200]


def _credentials(url: Url) -> str:
    if url.protocol in ("s3", "s3a"):
        return (
            "Check the credentials (AWS_PROFILE, AWS_ACCESS_KEY_ID), or set FSSPEC_S3_ANON=1 for public data."
        )
    if url.protocol in ("http", "https"):
        return "Check the user and password or the signature in the address."
    return "Check the credentials."


def _package(error: BaseException) -> str:
    return type(error).__module__.partition(".")[0]
