"""Files that are documents: each is one, and the class folder that it is in is its label."""

from __future__ import annotations

import contextlib
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence

from widemargin.documents.encoding import Decoder
from widemargin.documents.formats.columns import Options
from widemargin.documents.limits import too_large
from widemargin.documents.record import Document
from widemargin.documents.sources.byte_source import ByteSource
from widemargin.documents.sources.files import File
from widemargin.documents.sources.parts import FileDocuments
from widemargin.documents.wording import counted
from widemargin.errors import DataError, DataWarning


def open_file_documents(source: FileDocuments, options: Options) -> tuple[str, Iterator[Document]]:
    """A description, and the documents in the order of their paths (of a .tar, in their order there).

    Folders inside a class folder are searched too. Without class folders, all files are unlabeled documents.
    """
    inside = [file for file in source.files if "/" in file.path]
    beside = [file.path for file in source.files if "/" not in file.path]
    kind = "archive" if source.archive else "folder"
    if not source.files:
        raise DataError(
            f"{source.name}: has no documents. Expected a folder for each class, with one file per document."
        )
    if not inside:
        return (
            f"{kind} without class folders: {counted(len(beside), 'file')}, no labels, file names as ids",
            _documents(source.name, source.files, options, labeled=False),
        )
    if beside:
        warnings.warn(
            f"{source.name}: omitted {counted(len(beside), 'file')} outside of the class folders "
            f"({beside[0]}). Move documents into a class folder.",
            DataWarning,
            stacklevel=2,
        )
    classes = list(dict.fromkeys(sorted(file.folder for file in inside)))
    shown = ", ".join(classes[:5]) + (", ..." if len(classes) > 5 else "")
    return (
        f"{kind} of {counted(len(classes), 'class folder')} ({shown}), paths as ids",
        _documents(source.name, inside, options, labeled=True),
    )


def _documents(name: str, files: Sequence[File], options: Options, *, labeled: bool) -> Iterator[Document]:
    # One warning for the folder instead of one for each file.
    encodings: Counter[str] = Counter()
    replaced = nuls = 0
    for file in files:
        source = ByteSource(file)
        decoder = Decoder(source.name, options.encoding, options.errors, options.likely_encoding)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            with contextlib.closing(source):
                parts = [decoder.decode(chunk) for chunk in _limited(source, options.max_document)]
            text = "".join(parts) + decoder.decode(b"", final=True)
        if decoder.guessed:
            encodings[str(decoder.encoding)] += 1
        replaced += decoder.replaced
        nuls += decoder.nuls
        yield Document(file.path, text, (file.folder,) if labeled else None)
    if encodings or replaced or nuls:
        warnings.warn(_summary(name, encodings, replaced, nuls), DataWarning, stacklevel=2)


def _limited(source: ByteSource, max_document: int) -> Iterator[bytes]:
    """The bytes of a file, up to the limit of one document."""
    size = 0
    for chunk in source.chunks():
        size += len(chunk)
        if size > max_document:
            raise too_large(source.name, max_document)
        yield chunk


def _summary(name: str, encodings: Counter[str], replaced: int, nuls: int) -> str:
    what = []
    if encodings:
        named = ", ".join(f"{count} as {encoding}" for encoding, count in encodings.most_common())
        files = counted(sum(encodings.values()), "file")
        what.append(f"read {files} that are not UTF-8 in guessed encodings ({named})")
    if replaced:
        what.append(f"{counted(replaced, 'invalid byte')} became U+FFFD")
    if nuls:
        what.append(f"{counted(nuls, 'NUL character')} became blank")
    return f"{name}: {'; '.join(what)}. Pass --encoding to choose another."
