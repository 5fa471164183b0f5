"""Loading a collection under one of its splits, and exporting it: JSON Lines, or SVM-light for vectors."""

from __future__ import annotations

from pathlib import Path

from widemargin._files import refuse_inputs
from widemargin.documents.collection import Collection, Vectors
from widemargin.documents.corpora.corpus import Corpus, Source
from widemargin.documents.corpora.home import DAMAGED, data_folders, described
from widemargin.documents.corpora.registry import find_files, find_source
from widemargin.documents.writing import write_jsonl
from widemargin.errors import DataError, MissingFileError, StorageError, UsageError, WidemarginError

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


def export_corpus(
    name: str, split: str | None = DEFAULT, directory: str | Path = ".", data_home: str | Path | None = None
) -> list[Path]:
    """Write ``train.jsonl`` and ``test.jsonl`` into `directory`, or ``all.jsonl`` where there is no split.

    Collections of vectors become ``.svm`` files. Returns the paths.
    """
    folder = Path(directory)
    source = find_source(name)
    ending = ".svm" if source.kind == "vectors" else ".jsonl"
    for stem in ("all", "train", "test"):
        refuse_inputs((folder / stem).with_suffix(ending), find_files(source, data_home) or ())
    corpus = load_corpus(name, split, data_home)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{folder}: cannot be created ({error.strerror}). Name another folder.") from error
    if corpus.split is None:
        return [_write(corpus.train, folder / "all")]
    return [_write(corpus.train, folder / "train"), _write(corpus.test, folder / "test")]


def _write(part: Collection | Vectors, stem: Path) -> Path:
    if isinstance(part, Vectors):
        from widemargin.documents.formats.svmlight import write_vectors

        path = stem.with_suffix(".svm")
        write_vectors(part, path)
    else:
        path = stem.with_suffix(".jsonl")
        write_jsonl(part, path)
    return path
