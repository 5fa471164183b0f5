"""Files that appear whole or not at all, and documents written as canonical JSON Lines."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from widemargin.documents.record import Document
from widemargin.errors import StorageError


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to; it takes the place of `path` once all has been written, not before."""
    path = Path(path)
    temporary: str | None = None
    try:
        try:
            handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            # mkstemp lets only the owner read; a result has the permissions of any new file.
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, path)
            temporary = None
        except StorageError:
            raise
        except OSError as error:
            reason = error.strerror or str(error)
            raise StorageError(
                f"{path}: cannot be written ({reason}). Check the folder, its permissions and the space left."
            ) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def write_jsonl(documents: Iterable[Document], path: str | Path) -> int:
    """Write canonical JSON Lines to `path` and say how many documents there were."""
    count = 0
    with replacing(path) as file:
        for document in documents:
            file.write(document.to_json().encode())
            file.write(b"\n")
            count += 1
    return count
