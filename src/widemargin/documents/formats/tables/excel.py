"""Excel workbooks (.xlsx), with the extra ``excel`` (openpyxl, which reads a sheet row by row)."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from widemargin.documents.formats.columns import Columns, Options, choose_columns
from widemargin.documents.formats.tables.header import check_header, has_header, numbered
from widemargin.documents.formats.tables.rows import documents_of
from widemargin.documents.limits import exceeds, too_large
from widemargin.documents.record import Document
from widemargin.documents.sources.archives import Expansion, converted
from widemargin.documents.sources.files import File
from widemargin.errors import DataError, UsageError

_SAMPLE = 1000


def open_excel(file: File, options: Options) -> tuple[str, Columns, Iterator[Document]]:
    """Which sheet is read, the chosen columns, and the documents row by row."""
    try:
        import openpyxl
    except ImportError as error:
        raise UsageError(
            f"{file.name}: reading Excel needs openpyxl. Run `pip install widemargin[excel]`, or save the "
            f"table as .csv."
        ) from error
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(file.seekable())
        # By its name, openpyxl would refuse a workbook without the usual ending.
        source = stack.enter_context(open(place, "rb")) if isinstance(place, str) else place
        with _explained(file.name), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about styles and other extras
            _check_size(source, file.name)
            book = openpyxl.load_workbook(source, read_only=True, data_only=True)
        stack.callback(book.close)
        sheet, which = _choose_sheet(book, file.name, options)
        where = f"{file.name}, sheet {sheet.title}"
        rows = _rows(sheet, where, options)
        sample = list(itertools.islice(rows, _SAMPLE + 1))
        if not sample:
            raise DataError(f"{where}: is empty. Expected a header, then one row for each document.")
        first = sample[0][1]
        headed = has_header(first, options)
        names = _names(first) if headed else numbered(max(len(cells) for _, cells in sample))
        if headed:
            check_header(names, options, f"{where}, row {sample.pop(0)[0]}")
        records = list(_records(names, sample, where))
        columns = choose_columns(names, records, options, where, headed=headed)
        every = itertools.chain(records, _records(names, rows, where))
        about = "" if headed else ", without a header"
        documents = documents_of(every, columns, options, where)
        return f"{which}{about}", columns, _closing(documents, stack.pop_all())


def _closing(documents: Iterator[Document], opened: contextlib.ExitStack) -> Iterator[Document]:
    with opened:
        yield from documents


def _check_size(source: IO[bytes], name: str) -> None:
    """Refuse a workbook that unpacks to far more than it holds: its strings are all read at once."""
    with zipfile.ZipFile(source) as book:
        members = book.infolist()
        packed = sum(member.compress_size for member in members)
        Expansion(name, packed).add(sum(member.file_size for member in members))
    source.seek(0)


def _choose_sheet(book: Any, name: str, options: Options) -> tuple[Any, str]:
    """The sheet to read, and what is said of it."""
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if not sheets:
        raise DataError(f"{name}: has no sheet with cells. Save the table in one.")
    wanted = options.sheet
    if wanted is not None and wanted not in sheets:
        raise UsageError(f"--sheet {wanted}: the sheets of {name} are {', '.join(sheets)}.")
    before = options.remembered.get("sheet")
    chosen = wanted or (before if before in sheets else next(iter(sheets)))
    others = [title for title in sheets if title != chosen]
    more = f" (others: {', '.join(others)}; --sheet chooses)" if others and wanted is None else ""
    return sheets[chosen], f"Excel, sheet {chosen}{more}"


def _rows(sheet: Any, where: str, options: Options) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, as texts up to the last cell, with their numbers."""
    # The size that a workbook states may be wrong.
    sheet.reset_dimensions()
    with _explained(where):
        for count, row in enumerate(sheet.iter_rows(values_only=True), 1):
            cells = [_as_text(cell) for cell in row]
            while cells and not cells[-1]:
                cells.pop()
            if any(exceeds(cell, options.max_document) for cell in cells):
                raise too_large(f"{where}, row {count}", options.max_document)
            if cells:
                yield count, cells


def _records(
    names: Sequence[str], rows: Iterable[tuple[int, list[str]]], where: str
) -> Iterator[dict[str, Any]]:
    for count, cells in rows:
        if len(cells) > len(names):
            raise DataError(
                f"{where}, row {count}: {len(cells)} cells, but the table has {len(names)} columns. Name "
                f"every column in the first row, or remove what stands beside the table."
            )
        yield dict(itertools.zip_longest(names, cells, fillvalue=""))


def _as_text(cell: Any) -> str:
    """A cell as CSV would have it.

    >>> [_as_text(cell) for cell in (None, 3.0, 2.5, True, "a", datetime.datetime(2024, 5, 1))]
    ['', '3', '2.5', 'true', 'a', '2024-05-01']
    """
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ").removesuffix(" 00:00:00")
    return str(cell)


def _names(first: Sequence[str]) -> list[str]:
    """The names of columns; one without a name gets its number."""
    return [cell.strip() or str(place) for place, cell in enumerate(first, 1)]


def _explained(name: str) -> contextlib.AbstractContextManager[None]:
    """Converts openpyxl's errors, which may be of any kind for a damaged workbook."""
    return converted(name, _damaged)


def _damaged(name: str, error: Exception) -> DataError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return DataError(
        f"{name}: not an .xlsx workbook, or damaged ({reason[:200]}). Save it again as .xlsx or .csv."
    )
