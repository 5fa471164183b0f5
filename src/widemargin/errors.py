"""The errors of this library. Each message says what was wrong, where, what was found, and how to fix it.

The command line maps an error to its ``exit_code`` and prints its message without a traceback.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class WidemarginError(Exception):
    """Base class of all errors of this library."""

    exit_code = 1


class UsageError(WidemarginError, ValueError):
    """An invalid call: an unknown name, or options that exclude each other."""

    exit_code = 2


class DataError(WidemarginError, ValueError):
    """Invalid data: a malformed line, a missing column, only one class."""

    exit_code = 65


class MissingFileError(WidemarginError, FileNotFoundError):
    """A file or folder does not exist."""

    exit_code = 66


class StorageError(WidemarginError, OSError):
    """Reading or writing failed: no permission, a full disk."""

    exit_code = 74

    # OSError prints its errno tuple; these carry one whole sentence instead.
    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class OutOfMemoryError(WidemarginError, MemoryError):
    """A step does not fit into memory."""

    exit_code = 74


@contextlib.contextmanager
def memory_for(stage: str, size: str, cure: str) -> Iterator[None]:
    """Turn a memory error in the block into a message that says what was too large and what helps.

    Examples
    --------
    >>> try:
    ...     with memory_for("learning", "10 documents x 5 terms", "Use fewer."):
    ...         raise MemoryError
    ... except MemoryError as error:
    ...     print(error)
    Not enough memory for learning (10 documents x 5 terms). Use fewer.
    """
    try:
        yield
    except OutOfMemoryError:
        raise
    except MemoryError as error:
        reason = str(error)
        wanted = f": {reason.rstrip('.')}" if reason and "bad_alloc" not in reason else ""
        raise OutOfMemoryError(f"Not enough memory for {stage} ({size}){wanted}. {cure}") from error


class DataWarning(UserWarning):
    """The data is used with a change or a limitation, which the message explains."""
