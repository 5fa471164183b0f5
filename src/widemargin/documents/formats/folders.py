"""A folder of class folders: each file is a document, the folder it is in is its label."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from widemargin.documents.encoding import Decoder
from widemargin.documents.formats.columns import Options
from widemargin.documents.limits import too_large
from widemargin.documents.opening import ByteSource
from widemargin.documents.record import Document
from widemargin.documents.wording import counted
from widemargin.errors import DataError, DataWarning, StorageError


def open_folder(folder: Path, options: Options) -> tuple[str, Iterator[Document]]:
    """A description, and the documents in the order of their paths.

    Folders inside a class folder are searched too; hidden files are not. Without class folders, the files in
    `folder` itself are unlabeled documents.
    """
    classes, files = _entries(folder)
    if not classes and not files:
        raise DataError(f"{folder}: is empty. Expected a folder for each class, with one file per document.")
    if not classes:
        return (
            f"folder without class folders: {counted(len(files), 'file')}, no labels, file names as ids",
            _documents(folder, [(name, None) for name in files], options),
        )
    if files:
        warnings.warn(
            f"{folder}: omitted {counted(len(files), 'file')} outside of the class folders ({files[0]}). "
            f"Move documents into a class folder.",
            DataWarning,
            stacklevel=2,
        )
    shown = ", ".join(classes[:5]) + (", ..." if len(classes) > 5 else "")
    return (
        f"folder of {counted(len(classes), 'class folder')} ({shown}), paths as ids",
        _documents(folder, _files_of(folder, classes), options),
    )


def folder_documents(folder: Path) -> Iterator[Path]:
    """The files that `open_folder` reads, without opening them."""
    classes, files = _entries(folder)
    inside = _files_of(folder, classes) if classes else ((name, None) for name in files)
    return (folder / path for path, _ in inside)


def _entries(folder: Path) -> tuple[list[str], list[str]]:
    """The names of the folders and of the files in `folder`, without hidden ones, sorted."""
    try:
        entries = sorted(entry for entry in os.listdir(folder) if not entry.startswith("."))
    except OSError as error:
        raise StorageError(f"{folder}: cannot be read ({error.strerror}). Check its permissions.") from error
    classes = [entry for entry in entries if (folder / entry).is_dir()]
    return classes, [entry for entry in entries if (folder / entry).is_file()]


def _files_of(folder: Path, classes: list[str]) -> Iterator[tuple[str, str | None]]:
    """Relative paths with their class."""
    for label in classes:
        for parent, inside, names in os.walk(folder / label):
            inside[:] = sorted(name for name in inside if not name.startswith("."))
            for name in sorted(names):
                if not name.startswith("."):
                    yield (Path(parent) / name).relative_to(folder).as_posix(), label


def _documents(
    folder: Path,
    files: Iterator[tuple[str, str | None]] | list[tuple[str, str | None]],
    options: Options,
) -> Iterator[Document]:
    # One warning for the folder instead of one for each file.
    encodings: Counter[str] = Counter()
    replaced = nuls = 0
    for path, label in files:
        source = ByteSource(folder / path)
        decoder = Decoder(source.name, options.encoding, options.errors)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            with contextlib.closing(source):
                parts = [decoder.decode(chunk) for chunk in _limited(source, options.max_document)]
            text = "".join(parts) + decoder.decode(b"", final=True)
        if decoder.guessed:
            encodings[str(decoder.encoding)] += 1
        replaced += decoder.replaced
        nuls += decoder.nuls
        yield Document(path, text, None if label is None else (label,))
    if encodings or replaced or nuls:
        warnings.warn(_summary(folder, encodings, replaced, nuls), DataWarning, stacklevel=2)


def _limited(source: ByteSource, max_document: int) -> Iterator[bytes]:
    """The bytes of a file, up to the limit of one document."""
    size = 0
    for chunk in source.chunks():
        size += len(chunk)
        if size > max_document:
            raise too_large(source.name, max_document)
        yield chunk


def _summary(folder: Path, encodings: Counter[str], replaced: int, nuls: int) -> str:
    what = []
    if encodings:
        named = ", ".join(f"{count} as {encoding}" for encoding, count in encodings.most_common())
        files = counted(sum(encodings.values()), "file")
        what.append(f"read {files} that are not UTF-8 in guessed encodings ({named})")
    if replaced:
        what.append(f"{counted(replaced, 'invalid byte')} became U+FFFD")
    if nuls:
        what.append(f"{counted(nuls, 'NUL character')} became blank")
    return f"{folder}: {'; '.join(what)}. Pass --encoding to choose another."
