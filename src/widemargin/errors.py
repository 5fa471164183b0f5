"""The few errors a user can meet. Each message says what was wrong, where, what was found, and the cure.

The command line maps an error to its ``exit_code`` and prints its message without a traceback.
"""

from __future__ import annotations


class WidemarginError(Exception):
    """Base of everything that widemargin raises on purpose."""

    exit_code = 1


class UsageError(WidemarginError, ValueError):
    """The call itself makes no sense: an unknown name, options that exclude each other."""

    exit_code = 2


class DataError(WidemarginError, ValueError):
    """The data cannot be used as it is: a malformed line, a missing column, only one class."""

    exit_code = 65


class MissingFileError(WidemarginError, FileNotFoundError):
    """A file or a folder that was named does not exist."""

    exit_code = 66


class StorageError(WidemarginError, OSError):
    """Reading or writing failed: no permission, a full disk."""

    exit_code = 74

    # OSError prints its errno tuple; these carry one whole sentence instead.
    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class DataWarning(UserWarning):
    """The data can be used, but not quite as it stands; the message says what was done instead."""
