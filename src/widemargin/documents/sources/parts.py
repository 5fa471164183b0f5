"""What sources consist of, beside single files: each part is read by one reader."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from widemargin.documents.sources.files import File
from widemargin.documents.sources.urls import hidden

_SQLITE = "sqlite:///"


@dataclass(frozen=True)
class FileDocuments:
    """The files of a folder or archive, each of which is a document."""

    name: str
    files: tuple[File, ...]
    archive: bool = False


@dataclass(frozen=True)
class SavedDataset:
    """One split of a dataset that Hugging Face's ``save_to_disk`` wrote.

    `files` are its Arrow files in their order, `features` describe its columns.
    """

    name: str
    files: tuple[File, ...]
    features: Any


@dataclass(frozen=True, repr=False)
class SqlQuery:
    """A query to read documents from; as text, it is the address without user, password and options.

    >>> print(SqlQuery("postgresql://me:secret@db.example:5432/tickets?sslmode=require", "select 1"))
    postgresql://db.example:5432/tickets
    """

    url: str
    query: str

    def __str__(self) -> str:
        if self.database is not None:
            return self.url.partition("?")[0]
        scheme, mark, rest = self.url.partition("://")
        return f"{scheme}{mark}{rest.partition('?')[0].rpartition('@')[2]}" if mark else "the database"

    __repr__ = __str__

    @property
    def database(self) -> Path | None:
        """The file of an SQLite database."""
        if not self.url.startswith(_SQLITE):
            return None
        from urllib.parse import unquote

        return Path(unquote(self.url.removeprefix(_SQLITE).partition("?")[0]))

    def without_secrets(self, message: str) -> str:
        """A message of a database, which may repeat what it was given."""
        address, _, settings = self.url.partition("?")
        userinfo = address.partition("://")[2].rpartition("@")[0]
        return hidden(message.replace(self.url, "***"), userinfo, settings)


Part = File | FileDocuments | SavedDataset | SqlQuery
