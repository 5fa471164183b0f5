"""Loading a collection under one of its splits."""

from __future__ import annotations

from pathlib import Path

from widemargin.documents.corpora.corpus import Corpus, Source
from widemargin.documents.corpora.home import DAMAGED, data_folders, described
from widemargin.documents.corpora.registry import find_files, find_source
from widemargin.errors import DataError, MissingFileError, UsageError, WidemarginError

# The split that papers mean when they name none.
DEFAULT = "default"


def load_corpus(name: str, split: str | None = DEFAULT, data_home: str | Path | None = None) -> Corpus:
    """Load a collection with its training and test documents.

    Parameters
    ----------
    name : str
        One of the names that `list_corpora` gives, such as "reuters21578".
    split : str or None
        A split of the collection ("modapte"); by default its standard one, and everything where it has
        none. None or "all": everything, as the training part.
    data_home : path, optional
        The folder to search instead of ``$WIDEMARGIN_DATA`` and the user's cache.
    """
    source = find_source(name)
    split = _choose_split(source, split)
    paths = find_files(source, data_home)
    if paths is None:
        raise MissingFileError(_not_here(source, data_home))
    try:
        train, test = source.load(paths, split)
    except WidemarginError:
        raise
    except DAMAGED as error:
        files = " and ".join(map(str, paths))
        raise DataError(
            f"{files}: not the collection {name}, or damaged ({described(error)}). Get it again."
        ) from error
    return Corpus(name, split, train, test)


def _choose_split(source: Source, split: str | None) -> str | None:
    if split in (None, "all"):
        return None
    if split == DEFAULT:
        return source.splits[0] if source.official else None
    if split not in source.splits:
        choices = ", ".join((*source.splits, "all"))
        raise UsageError(f"{source.name} has no split {split!r}. Choose one of {choices}.")
    return split


def _not_here(source: Source, data_home: str | Path | None) -> str:
    folders = " or ".join(str(folder) for folder in data_folders(data_home))
    return (
        f"The corpus {source.name} is not on this machine: no {' and '.join(source.files)} in {folders}. "
        f"Try `widemargin corpus fetch {source.name}`, or set WIDEMARGIN_DATA to the folder that has it."
    )
