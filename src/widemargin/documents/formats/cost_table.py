"""Files of costs between classes, for :class:`widemargin.measure.ClassCosts`.

Three forms, as CSV (also with semicolons), TSV or JSON:

- a matrix: the header names the decisions, the first cell of each line the truth;
- a list with the columns ``truth,decision,cost``;
- JSON: ``{"ham": {"spam": 10}, "spam": {"ham": 1}}``, truth first, or a list of objects with the keys
  ``truth``, ``decision`` and ``cost``.

Right decisions cost nothing unless the file says so.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from widemargin.errors import DataError, MissingFileError, StorageError

Table = dict[str, dict[str, float]]
_LIST = ("truth", "decision", "cost")
_FORMS = "Expected a matrix with the decisions in its header, or the columns truth,decision,cost."


def read_cost_table(path: str | os.PathLike[str]) -> Table:
    """The costs of a file, by truth and decision; which classes and numbers make sense is not checked.

    Raises
    ------
    DataError
        A cell is missing or not a number, or a class or pair is named twice.
    """
    name = os.fspath(path)
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise MissingFileError(f"{name}: no such file. Check the path.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{name}, byte {error.start}: not UTF-8. Save the costs as UTF-8.") from error
    except OSError as error:
        raise StorageError(f"{name} could not be read: {error.strerror}.") from error
    if not text.strip():
        raise DataError(f"{name}: is empty. {_FORMS}")
    if text.lstrip()[0] in "{[":
        return _of_json(text, name)
    lines = _lines(text, name)
    line, header = next(lines)
    if sorted(cell.lower() for cell in header) == sorted(_LIST):
        order = [[cell.lower() for cell in header].index(column) for column in _LIST]
        return _of_list(lines, order, name)
    return _of_matrix(lines, header, line, name)


def _lines(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of every line that is not blank, with its number."""
    first = next(line for line in io.StringIO(text) if line.strip())
    delimiter = max(("\t", ",", ";"), key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        raise DataError(f"{name}, line {reader.line_num}: {error}. Check the quotes.") from error


def _of_matrix(lines: Iterator[tuple[int, list[str]]], header: list[str], line: int, name: str) -> Table:
    decisions = header[1:]
    if not decisions:
        raise DataError(f"{name}, line {line}: there is one column only. {_FORMS}")
    for decision in decisions:
        if decisions.count(decision) > 1:
            raise DataError(f"{name}, line {line}: two columns are called {decision!r}. Remove one.")
        if not decision:
            raise DataError(f"{name}, line {line}: a column has no name. {_FORMS}")
    found: Table = {}
    for number, row in lines:
        where = f"{name}, line {number}"
        if len(row) != len(header):
            raise DataError(
                f"{where}: {len(row)} cells where the header has {len(header)}. Write the truth, then a cost "
                f"for each of {', '.join(decisions[:5])}{', ...' if len(decisions) > 5 else ''}."
            )
        truth = row[0]
        if truth in found:
            raise DataError(f"{where}: a second line for {truth!r}. Remove one.")
        found[truth] = {
            decision: _number(cell, f"{where}, column {decision}")
            for decision, cell in zip(decisions, row[1:], strict=True)
            if cell or decision != truth
        }
    return found


def _of_list(lines: Iterator[tuple[int, list[str]]], order: list[int], name: str) -> Table:
    found: Table = {}
    for number, row in lines:
        where = f"{name}, line {number}"
        if len(row) != len(_LIST):
            raise DataError(f"{where}: {len(row)} cells; expected {', '.join(_LIST)}.")
        truth, decision, cell = (row[k] for k in order)
        _add(found, truth, decision, _number(cell, where), where)
    return _with_all_rows(found)


def _of_json(text: str, name: str) -> Table:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise DataError(f"{name}: {twice!r} is named twice. Remove one.")
        return found

    try:
        costs = json.loads(text, object_pairs_hook=once)
    except DataError:
        raise
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name}: is not valid JSON ({error}). Correct it.") from error
    if isinstance(costs, dict):
        for truth, row in costs.items():
            if not isinstance(row, dict):
                example = '{"ham": {"spam": 10}, "spam": {"ham": 1}}'
                raise DataError(f"{name}: {truth!r} has no costs of decisions. Expected {example}.")
        return {
            truth: {key: _number(cost, f"{name}, {truth}, {key}") for key, cost in row.items()}
            for truth, row in costs.items()
        }
    found: Table = {}
    for place, entry in enumerate(costs, 1):
        where = f"{name}, entry {place}"
        if not isinstance(entry, dict) or set(entry) != set(_LIST):
            raise DataError(f"{where}: expected an object with the keys {', '.join(_LIST)}.")
        truth, decision, cost = (entry[key] for key in _LIST)
        _add(found, str(truth), str(decision), _number(cost, where), where)
    return _with_all_rows(found)


def _add(found: Table, truth: str, decision: str, cost: float, where: str) -> None:
    row = found.setdefault(truth, {})
    if decision in row:
        raise DataError(f"{where}: a second cost for deciding {decision!r} for {truth!r}. Remove one.")
    row[decision] = cost


def _with_all_rows(found: Table) -> Table:
    """With a row for every decision, so that a missing cost is found by the names of its two classes."""
    for row in list(found.values()):
        for decision in row:
            found.setdefault(decision, {})
    return found


def _number(cell: Any, where: str) -> float:
    try:
        if isinstance(cell, bool):
            raise TypeError
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        shown = repr(cell) if cell != "" else "an empty cell"
        raise DataError(f"{where}: {shown} is not a number. Write costs such as 2.5.") from None
