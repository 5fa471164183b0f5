"""Files that verbs read completely, and checks of those that they write."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from widemargin.cli.output import bytes_in_words, counted, note
from widemargin.errors import MissingFileError, StorageError, UsageError, memory_for

_FEWER = "Read fewer documents, or train from disk (--memory 2GB) or from a stream (--stream)."

if TYPE_CHECKING:
    from widemargin.classifier import Scorer, TextClassifier
    from widemargin.cli.inputs.sources import Sources
    from widemargin.documents.collection import Collection, Vectors
    from widemargin.documents.reader import DocumentReader
    from widemargin.documents.sources.finding import Source


def read_all(source: Source | Sources, quiet: bool, reading: dict[str, Any]) -> Collection | Vectors:
    """Every document of `source`, with a note on what was guessed and a progress bar."""
    from widemargin.documents.collection import Collection
    from widemargin.documents.formats.columns import Options
    from widemargin.documents.reading import open_sources
    from widemargin.progress import track

    opened = open_sources(source, **reading)
    if opened.holds_vectors:
        with memory_for(f"reading {opened.name}", _file_size(source), _FEWER):
            return opened.vectors()
    reader = opened.reader()
    note(reader.description, quiet)
    collection = Collection(reading=reader.reading)
    try:
        for batch in track(reader.batches(), "Reading", size=len, enabled=False if quiet else None):
            collection.extend(batch)
    except MemoryError:
        read = f"{_file_size(source)}; stopped after {counted(len(collection), 'document')}"
        del collection  # makes room for the message
        with memory_for(f"reading {opened.name}", read, _FEWER):
            raise
    collection.take_beside(Options(**reading))
    return collection


def columns_of_model(scorer: Scorer, reading: dict[str, Any], model: str | Path) -> dict[str, Any]:
    """How to read documents for a model: as in its training, unless options say otherwise."""
    known, named = scorer.representation.columns, reading["text"]
    reading = {**reading, "remembered": scorer.record.reading or {}}
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


def without_labels(reading: dict[str, Any]) -> dict[str, Any]:
    """How to read documents whose labels are not used."""
    return {**reading, "label": None, "label_delimiter": None, "label_from": None, "ignore_labels": True}


def remember_reading(classifier: TextClassifier, documents: Collection | Vectors | DocumentReader) -> None:
    """Let a trained model remember how its documents were read."""
    from dataclasses import replace

    reading = getattr(documents, "reading", None)
    if reading:
        classifier.record_ = replace(classifier.record_, reading=reading)


def _file_size(source: Source | Sources) -> str:
    from widemargin.cli.inputs.sources import flat
    from widemargin.documents.sources.finding import files_on_disk

    try:
        sizes = [os.path.getsize(file) for file in files_on_disk(flat([source]))]
        if not sizes:
            return "elsewhere"
        return f"{'a file' if len(sizes) == 1 else 'files'} of {bytes_in_words(sum(sizes))}"
    except OSError:
        return "standard input"


def check_target(output: str | Path, inputs: Iterable[Any]) -> None:
    """Fail before the work rather than after it. Every verb that writes a file calls this first.

    `inputs` is all that the verb reads: files, patterns, folders, archives and queries, "-" for standard
    input, None for one not given. An `output` that is one of them, under whatever name, is refused; "-" is
    standard output.
    """
    from widemargin._files import refuse_inputs, refuse_url

    if str(output) == "-":
        return
    refuse_url(output)
    from widemargin.cli.inputs.sources import flat
    from widemargin.documents.sources.finding import files_on_disk

    refuse_inputs(output, files_on_disk(flat(inputs)))
    output = Path(output)
    if output.is_dir():
        example = output / "model.wm"
        raise StorageError(f"{output} is a folder. Give the name of a file to write, such as {example}.")
    if not output.parent.is_dir():
        raise MissingFileError(f"There is no folder {output.parent} for {output.name}. Create it first.")
    if (output.exists() and not output.is_file()) or not os.access(output.parent, os.W_OK):
        raise StorageError(f"{output} cannot be written. Name another file.")


def check_model(output: Path, inputs: Iterable[Any], *, force: bool) -> None:
    """As `check_target`, for a model: any other file at its place is kept unless `force` is given."""
    check_target(output, inputs)
    from widemargin.models import check_model_target

    check_model_target(output, force=force)
