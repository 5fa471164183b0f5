"""``widemargin explain MODEL TEXT``: which words make the decision."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from widemargin.cli.commands import Given, takes
from widemargin.cli.output import print_json, say, say_styled, show_table
from widemargin.cli.verbs.inspect import chosen_labels
from widemargin.cli.verbs.predict import load_scorer
from widemargin.documents.record import SEPARATOR
from widemargin.errors import DataError, MissingFileError, StorageError, UsageError

if TYPE_CHECKING:
    from widemargin.classifier.explanation import Explanation
    from widemargin.learn.neighbors.nearest_neighbors import Voter
    from widemargin.report.tables import Table

EXAMPLE = 'Example: widemargin explain tickets.wm "My invoice shows the wrong amount"'


@takes("explain")
def run(given: Given) -> None:
    """Show how much each word of a text contributes to its score. Contributions and bias add up to the score.

    For nearest neighbors, also list the training documents that voted, numbered from 0 in the order of
    training.

    A text of several columns is a JSON object, such as {"title": "...", "body": "..."}.

    In a terminal, words for the label are green and words against it red.
    """
    from widemargin.cli.options.vector_rows import RowsForModel
    from widemargin.documents.limits import parse_size

    if (given.text is None) == (given.file is None):
        raise UsageError("Give either the text, or - for stdin, or --file F.")
    scorer = load_scorer(given.model)
    if scorer.takes_vectors:
        raise DataError(
            f"{given.model} was trained on vectors, so it has no words to explain. Train on texts."
        )
    given_rows = RowsForModel(scorer, given.vectors, given.model)
    content = _read(given.text, given.file, parse_size(given.max_document, "--max-document"))
    wanted = None
    if given.label is not None:
        (wanted,) = chosen_labels([given.label], scorer.space.classes.tolist())
    if scorer.representation.columns is not None:
        content = _in_columns(content, scorer.representation.columns, str(given.model))
    given_rows.pair([content])
    given_rows.finish()
    explanation = scorer.explain(content, wanted)
    if given.json:
        print_json(explanation.to_dict())
    else:
        show(content, explanation, given.terms)


def _in_columns(content: str, columns: tuple[str, ...], model: str) -> str:
    """A text of several columns, given as a JSON object; any other text is the first column."""
    from widemargin.documents.record import join_columns

    try:
        record = json.loads(content)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        return join_columns([content])
    if not set(record) & set(columns):
        raise DataError(
            f"The object has no column of {model}. Its columns are {', '.join(columns)}: pass "
            f'{{"{columns[0]}": "..."}}.'
        )
    values = [record.get(name) for name in columns]
    for name, value in zip(columns, values, strict=True):
        if not isinstance(value, str | None):
            raise DataError(f'"{name}" in the object is not a string. Pass a string, or omit it.')
    return join_columns(values)


def show(text: str, explanation: Explanation, terms: int) -> None:
    """The colored text, then the terms with their contributions."""
    from widemargin.report.tables import Column, Table

    title = f"{explanation.label}: score {explanation.score:+.4f}"
    if explanation.threshold is not None:
        title += f", threshold {explanation.threshold:+.4f}"
    if explanation.expected_cost is not None:
        title += f", expected cost {explanation.expected_cost:.4g}"
    say_styled((title, "bold"))
    say()
    if explanation.path is not None:
        steps: list[list[Any]] = [[step.condition, step.value, step.score] for step in explanation.path]
        weight, score = Column("weight", "decimal", 4), Column("score", "difference", 4)
        show_table(Table("", [Column("condition"), weight, score], list(steps)))
        say()
    say_styled(*colored(text, explanation))
    say()
    found = explanation.by_term()
    rows: list[list[Any]] = [[term, count, value] for term, value, count in found[:terms]]
    if len(found) > terms:
        rest = found[terms:]
        rows.append([f"({len(rest)} more)", sum(c for _, _, c in rest), sum(v for _, v, _ in rest)])
    rows.append(["(bias)", None, explanation.bias])
    columns = [Column("term"), Column("times", "count"), Column("contribution", "difference", 4)]
    footer: list[Any] = [["sum: the score", None, explanation.score]]
    blocks = {part.term: part.block for part in explanation.contributions if part.block is not None}
    if blocks:
        columns.insert(1, Column("block"))
        for row in (*rows, *footer):
            row.insert(1, blocks.get(row[0], ""))
    show_table(Table("", columns, list(rows), footer=footer))
    if explanation.voters is not None:
        say()
        show_table(voters_table(explanation.voters))


def voters_table(voters: list[Voter]) -> Table:
    """One row per training document that voted, the nearest first."""
    from widemargin.report.tables import Column, Table

    rows = [
        [str(voter.document), " ".join(map(str, voter.labels)), voter.cosine, voter.share] for voter in voters
    ]
    columns = [Column("training document"), Column("labels"), Column("cosine", "decimal", 4)]
    return Table("", [*columns, Column("share of the votes", "decimal", 4)], list(rows))


def colored(text: str, explanation: Explanation) -> list[tuple[str, str]]:
    """The text in pieces, each with the color of what the terms over it add up to."""
    from widemargin.report.pieces import pieces

    spans = [(start, end, part.value) for part in explanation.contributions for start, end in part.spans]
    result: list[tuple[str, str]] = []
    for piece in pieces(len(text), spans):
        # Columns of a text stand below each other.
        written = text[piece.start : piece.end].replace(SEPARATOR, "\n")
        style = "green" if piece.strength > 0 else "red" if piece.strength < 0 else ""
        if result and result[-1][1] == style:
            written = result.pop()[0] + written
        result.append((written, style))
    return result


def _read(text: str | None, file: Path | None, max_document: int) -> str:
    if text is not None and text != "-":
        return text
    from widemargin.documents.limits import too_large

    if file is None and sys.stdin is None:
        raise DataError("stdin is closed. Give the text, or --file F.")
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if file is None else file.open("rb") as source:
            data = source.read(max_document + 1)
    except FileNotFoundError as error:
        raise MissingFileError(f"There is no file {file}. Check the name.") from error
    except OSError as error:
        raise StorageError(f"{file} could not be read: {error.strerror}.") from error
    place = "stdin" if file is None else str(file)
    if len(data) > max_document:
        raise too_large(place, max_document)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{place}, byte {error.start}: not UTF-8. Convert the text to UTF-8 first."
        ) from error
