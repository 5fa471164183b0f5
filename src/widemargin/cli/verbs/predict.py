"""``widemargin predict MODEL DATA``: labels for documents, in their order, as they are read."""

from __future__ import annotations

import csv
import io
import itertools
import json as json_format
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from widemargin._printable import printable_json
from widemargin.cli import options
from widemargin.cli.files import check_target
from widemargin.cli.output import counted, machine_output, note, print_json
from widemargin.errors import UsageError

if TYPE_CHECKING:
    from widemargin.classifier import TextClassifier
    from widemargin.documents.record import Document

EXAMPLE = "Example: widemargin predict tickets.wm new.csv --text body --scores -o labeled.jsonl"

CHUNK_DOCUMENTS = 2000
CHUNK_CHARACTERS = 4_000_000
# A slow source, such as a pipe that somebody types into, gets its answers without waiting for a whole piece.
CHUNK_SECONDS = 0.5

Row = dict[str, Any]


def run(
    model: options.ModelFile,
    data: options.DataSource,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="OUT", help="A .jsonl, .csv or .tsv file to write; - is stdout (JSONL)."
        ),
    ] = "-",
    scores: options.Scores = False,
    proba: Annotated[
        bool,
        typer.Option(
            "--proba",
            help="Add the probability of every label (of a model trained with --calibrate).",
            show_default=False,
        ),
    ] = False,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", metavar="K", min=1, help="Add the K best labels with their scores.", show_default="off"
        ),
    ] = None,
    keep_text: options.KeepText = False,
    safe_csv: options.SafeCsv = False,
    text: options.Text = None,
    id: options.Id = None,
    format: options.Format = None,
    encoding: options.Encoding = None,
    errors: options.Errors = "replace",
    max_document: options.MaxDocument = options.MAX_DOCUMENT,
    threads: options.Threads = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Label documents with a trained model.

    Each document gives one JSON object on a line, {"id": ..., "labels": [...]}, in the order of the input.
    Documents are read, labeled and written in pieces, so that the input may be of any length. With --output
    and --json, stdout gets one object that says what was done.
    """
    write = writer_for(output, top, safe_csv)
    check_target(output, [model, data])
    classifier = load_classifier(model, threads)
    if proba and classifier.calibration is None:
        raise UsageError(
            f"--proba: {model} gives scores only. Train with --calibrate platt for probabilities."
        )
    start = time.perf_counter()
    reading = options.reading(format, text, None, id, None, encoding, errors, max_document)
    pieces = predictions(
        classifier, data, quiet, reading, every_score=scores, proba=proba, top=top, keep_text=keep_text
    )
    if output == "-":
        write(machine_output(), pieces)
        return
    from widemargin._files import replacing

    with replacing(output) as file:
        written = write(file, pieces)
    seconds = time.perf_counter() - start
    if json:
        print_json({"output": output, "documents": written, "seconds": round(seconds, 4)})
    else:
        note(f"Labeled {counted(written, 'document')} in {seconds:.2f} s.", quiet)


def predictions(
    classifier: TextClassifier,
    source: str,
    quiet: bool,
    reading: dict[str, Any],
    *,
    every_score: bool = False,
    proba: bool = False,
    top: int | None = None,
    keep_text: bool = False,
) -> Iterator[list[Row]]:
    """One row a document, a piece of the input at a time: its id and labels, and what else was asked for."""
    names = classifier.classes_.tolist()
    for ids, features, texts in _pieces(classifier, source, quiet, reading):
        scores = classifier.decision_function(features)
        columns = _by_label(classifier, scores) if every_score or top else None
        chances = classifier.rule_.probabilities(scores).round(6).tolist() if proba else None
        rows = []
        for place, (identifier, labels) in enumerate(zip(ids, _decisions(classifier, scores), strict=True)):
            row: Row = {"id": identifier}
            if keep_text and texts is not None:
                row["text"] = texts[place]
            row["labels"] = labels
            if columns is not None:
                found = [round(value, 6) for value in columns[place].tolist()]
                if every_score:
                    row["scores"] = dict(zip(map(str, names), found, strict=True))
                if top:
                    best = sorted(range(len(found)), key=lambda j: (-found[j], j))[:top]
                    row["top"] = [{"label": names[j], "score": found[j]} for j in best]
                    if chances is not None:
                        row["top"] = [
                            {**entry, "probability": chances[place][j]}
                            for entry, j in zip(row["top"], best, strict=True)
                        ]
            if chances is not None:
                row["probabilities"] = dict(zip(map(str, names), chances[place], strict=True))
            rows.append(row)
        yield rows


def load_classifier(path: Path, threads: int | None = None) -> TextClassifier:
    """The classifier in a model file (or SVM-light's), which may use so many threads from now on."""
    from widemargin.documents.formats.svmlight_model import is_svmlight_model
    from widemargin.models import load_model

    model = None if is_svmlight_model(path) else load_model(path)
    # Only now, so that a mistake in the name is told at once.
    from widemargin.classifier import TextClassifier

    classifier = TextClassifier.load(path) if model is None else TextClassifier.from_model(model, str(path))
    for part in (classifier.vectorizer_, classifier.learner_):
        if part is not None:
            part.n_jobs = threads
    return classifier


def _pieces(
    classifier: TextClassifier, source: str, quiet: bool, reading: dict[str, Any]
) -> Iterator[tuple[list[str], Any, list[str] | None]]:
    """Ids, what the classifier takes, and the texts, a piece of the input at a time."""
    from widemargin.documents.collection import Vectors
    from widemargin.documents.reading import guess_format, read_collection, read_documents
    from widemargin.progress import track

    reading["format"] = reading["format"] or guess_format(source)
    if reading["format"] == "svmlight":
        vectors = read_collection(source, **reading)
        assert isinstance(vectors, Vectors)
        check_form(classifier, source, vectors=True)
        yield vectors.ids, vectors, None
        return
    check_form(classifier, source, vectors=False)
    reader = read_documents(source, **reading)
    note(reader.description, quiet)
    for piece in _chunks(track(reader, "Labeling", enabled=False if quiet else None)):
        texts = [document.text for document in piece]
        yield [document.id for document in piece], texts, texts


def check_form(classifier: TextClassifier, source: str, *, vectors: bool) -> None:
    """Refuse texts for a model of vectors and the other way round."""
    from widemargin.errors import DataError

    if vectors != (classifier.vectorizer_ is None):
        has, wants = ("vectors", "texts") if vectors else ("texts", "vectors")
        raise DataError(
            f"{source} holds {has}, but the model was trained on {wants}. Pass {wants}, or train on {has}."
        )


def _chunks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    piece: list[Document] = []
    characters, begun = 0, 0.0
    for document in documents:
        if not piece:
            begun = time.monotonic()
        piece.append(document)
        characters += len(document.text)
        if (
            len(piece) >= CHUNK_DOCUMENTS
            or characters >= CHUNK_CHARACTERS
            or time.monotonic() - begun >= CHUNK_SECONDS
        ):
            yield piece
            piece, characters = [], 0
    if piece:
        yield piece


def _by_label(classifier: TextClassifier, scores: Any) -> Any:
    """One column of scores a label; of two classes, the first has the second's score with the sign turned."""
    import numpy as np

    if classifier.label_space_.kind == "binary":
        column = np.asarray(scores).reshape(-1, 1)
        return np.hstack([-column, column])
    return np.asarray(scores)


def _decisions(classifier: TextClassifier, scores: Any) -> list[list[Any]]:
    """The labels of each document as a list, whatever form the labels had in training."""
    names = classifier.classes_.tolist()
    space, thresholds = classifier.label_space_, classifier.thresholds_
    if space.kind == "multilabel":
        return [[names[j] for j in row.nonzero()[0].tolist()] for row in space.choose(scores, thresholds) > 0]
    return [[label] for label in space.decide(scores, thresholds).tolist()]


def writer_for(
    output: str, top: int | None, safe_csv: bool = False
) -> Callable[[BinaryIO, Iterable[list[Row]]], int]:
    """What writes pieces of rows in the format that the name of `output` asks for, and counts them."""
    suffix = "" if output == "-" else Path(output).suffix.lower()
    if safe_csv and suffix not in (".csv", ".tsv"):
        raise UsageError("--safe-csv is for tables. Write a .csv or .tsv file with --output.")
    if suffix in (".jsonl", ".ndjson", ".json", ""):
        return _write_jsonl
    if suffix not in (".csv", ".tsv"):
        raise UsageError(f"--output {output}: predictions are written as .jsonl, .csv or .tsv.")
    if top:
        raise UsageError("--top gives a list a document, which a table cannot hold. Write a .jsonl file.")
    return lambda file, pieces: _write_table(file, pieces, "\t" if suffix == ".tsv" else ",", safe_csv)


def _write_jsonl(file: BinaryIO, pieces: Iterable[list[Row]]) -> int:
    written = 0
    for rows in pieces:
        for row in rows:
            # Escaped, control characters neither drive a terminal nor fail to be written.
            line = printable_json(json_format.dumps(row, ensure_ascii=False))
            file.write(line.encode() + b"\n")
        written += len(rows)
        file.flush()  # somebody may be waiting at the other end of a pipe
    return written


def _write_table(file: BinaryIO, pieces: Iterable[list[Row]], delimiter: str, safe_csv: bool = False) -> int:
    """A table with one row a document; no label or several are a JSON list in their cell."""
    written = 0
    text = io.TextIOWrapper(file, "utf-8", errors="backslashreplace", newline="")
    table = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    quoted = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)

    def write(cells: list[Any]) -> None:
        cells = _no_formulas(cells) if safe_csv else cells
        # Left to itself, the module quotes a line feed only; a lone carriage return ends a line too.
        several = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (quoted if several else table).writerow(cells)

    for row in itertools.chain.from_iterable(pieces):
        columns = [(f"score {label}", value) for label, value in row.get("scores", {}).items()]
        columns += [(f"probability {label}", value) for label, value in row.get("probabilities", {}).items()]
        columns = [(name, row[name]) for name in ("score", "certainty") if name in row] + columns
        words = [row["text"]] if "text" in row else []
        if not written:
            write(["id", *["text"] * len(words), "labels", *(name for name, _ in columns)])
        labels = row["labels"]
        alone = len(labels) == 1 and not str(labels[0]).startswith("[")
        cell = labels[0] if alone else json_format.dumps(labels, ensure_ascii=False)
        write([row["id"], *words, cell, *(value for _, value in columns)])
        written += 1
    text.flush()
    text.detach()  # the caller closes the file
    return written


def _no_formulas(cells: list[Any]) -> list[Any]:
    """The cells of a row, none of which a spreadsheet takes for a formula.

    Examples
    --------
    >>> _no_formulas(["=1+2", "spam", -0.5])
    ["'=1+2", 'spam', -0.5]
    """
    marks = ("=", "+", "-", "@", "\t", "\r", "\n")
    return [f"'{cell}" if isinstance(cell, str) and cell.startswith(marks) else cell for cell in cells]
