"""Files that verbs read completely, and checks of those that they write."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from widemargin.cli.output import bytes_in_words, counted, note
from widemargin.errors import MissingFileError, StorageError, UsageError, memory_for

_FEWER = "Read fewer documents, or train from a stream: train --stream --learner winnow."

if TYPE_CHECKING:
    from widemargin.classifier import Scorer
    from widemargin.documents.collection import Collection, Vectors


def read_all(source: str, quiet: bool, reading: dict[str, Any]) -> Collection | Vectors:
    """Every document of `source`, with a note on what was guessed and a progress bar."""
    from widemargin.documents.collection import Collection
    from widemargin.documents.formats.columns import Options
    from widemargin.documents.reading import guess_format, read_collection, read_documents
    from widemargin.progress import track

    reading["format"] = reading["format"] or guess_format(source)
    if reading["format"] == "svmlight":
        with memory_for(f"reading {source}", _file_size(source), _FEWER):
            return read_collection(source, **reading)
    reader = read_documents(source, **reading)
    note(reader.description, quiet)
    collection = Collection()
    try:
        for batch in track(reader.batches(), "Reading", size=len, enabled=False if quiet else None):
            collection.extend(batch)
    except MemoryError:
        read = f"{_file_size(source)}; stopped after {counted(len(collection), 'document')}"
        del collection  # makes room for the message
        with memory_for(f"reading {source}", read, _FEWER):
            raise
    collection.take_beside(Options(**reading))
    return collection


def columns_of_model(scorer: Scorer, reading: dict[str, Any], model: str | Path) -> dict[str, Any]:
    """How to read documents for a model: from the columns of its training, unless others are named."""
    known, named = scorer.representation.columns, reading["text"]
    if known is None:
        if named and len(named) > 1:
            raise UsageError(f"--text {' --text '.join(named)}: {model} takes one text. Name one column.")
        return reading
    if named and len(named) != len(known):
        raise UsageError(
            f"--text {' --text '.join(named)}: {model} was trained on the columns {', '.join(known)}. Name "
            f"{len(known)} columns in this order, or omit --text to read columns of these names."
        )
    return {**reading, "text": named or list(known)}


def _file_size(source: str) -> str:
    try:
        return f"a file of {bytes_in_words(os.path.getsize(source))}"
    except OSError:
        return "standard input"


def check_target(output: str | Path, inputs: Iterable[str | Path | None]) -> None:
    """Fail before the work rather than after it. Every verb that writes a file calls this first.

    `inputs` are all files and folders that the verb reads, "-" for standard input, None for one not given. An
    `output` that is one of them, under whatever name, is refused; "-" is standard output.
    """
    from widemargin._files import refuse_inputs

    if str(output) == "-":
        return
    refuse_inputs(output, _files_in(inputs))
    output = Path(output)
    if output.is_dir():
        example = output / "model.wm"
        raise StorageError(f"{output} is a folder. Give the name of a file to write, such as {example}.")
    if not output.parent.is_dir():
        raise MissingFileError(f"There is no folder {output.parent} for {output.name}. Create it first.")
    if (output.exists() and not output.is_file()) or not os.access(output.parent, os.W_OK):
        raise StorageError(f"{output} cannot be written. Name another file.")


def check_model(output: Path, inputs: Iterable[str | Path | None], *, force: bool) -> None:
    """As `check_target`, for a model: any other file at its place is kept unless `force` is given."""
    check_target(output, inputs)
    from widemargin.models import check_model_target

    check_model_target(output, force=force)


def _files_in(inputs: Iterable[str | Path | None]) -> Iterator[str | Path]:
    """The files that are read: those given, and the documents in folders."""
    from widemargin.documents.formats.folders import folder_documents

    for source in inputs:
        if source is None:
            continue
        if str(source) != "-" and Path(source).is_dir():
            yield from folder_documents(Path(source))
        else:
            yield source
