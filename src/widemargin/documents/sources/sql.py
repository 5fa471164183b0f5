"""The result of a query: SQLite through the standard library, other databases with the extra ``sql``.

The password of a URL appears in no message, no description and no model file.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

from widemargin.documents.formats.columns import Columns, Options, choose_columns
from widemargin.documents.formats.tables.rows import check_names, documents_of
from widemargin.documents.limits import too_large
from widemargin.documents.record import Document
from widemargin.documents.sources.parts import SqlQuery
from widemargin.errors import DataError, MissingFileError, UsageError

_BATCH = 1000
_SAMPLE = 100


def open_query(source: SqlQuery, options: Options) -> tuple[Columns, Iterator[Document]]:
    """The chosen columns, and the documents, a batch of rows at a time."""
    _check(source)
    rows = _sqlite_rows(source) if source.database is not None else _other_rows(source)
    names = next(rows)
    check_names(names, str(source))
    first = _dicts(names, next(rows, []))
    columns = choose_columns(names, first[:_SAMPLE], options, str(source))

    def every_row() -> Iterator[dict[str, Any]]:
        yield from first
        for some in rows:
            yield from _dicts(names, some)

    return columns, documents_of(_measured(every_row(), source, options), columns, options, str(source))


def _check(source: SqlQuery) -> None:
    if "://" not in source.url:
        raise UsageError(
            "--sql: the first word must be the address of a database, such as sqlite:///tickets.db or "
            "postgresql://user@host/name, and the second one the query."
        )
    if not source.query.strip():
        raise UsageError('--sql: the query is empty. Pass one such as "select body, team from tickets".')


def _dicts(names: list[str], rows: list[Any]) -> list[dict[str, Any]]:
    return [dict(zip(names, row, strict=True)) for row in rows]


def _measured(rows: Iterator[dict[str, Any]], source: SqlQuery, options: Options) -> Iterator[dict[str, Any]]:
    """Rows with texts; a cell of bytes must be UTF-8, and none may be larger than a document may be."""
    limit = options.max_document
    for count, row in enumerate(rows, 1):
        for name, value in row.items():
            if isinstance(value, str | bytes) and len(value) > limit:
                raise too_large(f'{source}, row {count}, "{name}"', limit)
            if isinstance(value, bytes):
                row[name] = value.decode(errors="replace" if options.errors == "replace" else "strict")
        yield row


def _sqlite_rows(source: SqlQuery) -> Iterator[list[Any]]:
    """The names of the columns, then the rows in batches. The database is opened for reading only."""
    path = source.database
    assert path is not None
    if not path.is_file():
        raise MissingFileError(
            f"{source}: no such file {path}. Check the path; four slashes begin at the root."
        )
    with _explained(source, (sqlite3.Error, UnicodeDecodeError)):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        with contextlib.closing(connection):
            cursor = connection.execute(source.query)
            yield from _batches(cursor, source)


def _other_rows(source: SqlQuery) -> Iterator[list[Any]]:
    try:
        import sqlalchemy
    except ImportError:
        raise UsageError(
            f"{source}: reading from this database needs SQLAlchemy. Run `pip install widemargin[sql]` and "
            f"install the driver of the database, such as psycopg. sqlite:/// needs neither."
        ) from None
    with _explained(source, (sqlalchemy.exc.SQLAlchemyError, ImportError, ValueError, OSError)):
        engine = sqlalchemy.create_engine(_with_installed_driver(sqlalchemy.make_url(source.url)))
        # A cursor of the server: rows arrive in batches. Without parameters, % and : mean themselves.
        how: dict[str, Any] = {"stream_results": True, "yield_per": _BATCH, "no_parameters": True}
        if engine.dialect.name == "postgresql":
            how["postgresql_readonly"] = True
        try:
            with engine.connect().execution_options(**how) as connection:
                yield from _batches(connection.exec_driver_sql(source.query), source)
        finally:
            engine.dispose()


def _with_installed_driver(url: Any) -> Any:
    """The address, for PostgreSQL without a named driver with the one that is installed."""
    from importlib.util import find_spec

    if url.drivername in ("postgresql", "postgres"):
        driver = "psycopg2" if find_spec("psycopg2") or not find_spec("psycopg") else "psycopg"
        return url.set(drivername=f"postgresql+{driver}")
    return url


def _batches(result: Any, source: SqlQuery) -> Iterator[list[Any]]:
    if hasattr(result, "keys"):
        names = list(result.keys()) if result.returns_rows else []
    else:
        names = [column[0] for column in result.description or ()]
    if not names:
        raise UsageError(f'{source}: the statement returns no rows. Pass a query: "select ... from ...".')
    yield names
    while rows := result.fetchmany(_BATCH):
        yield rows


@contextlib.contextmanager
def _explained(source: SqlQuery, kinds: tuple[type[Exception], ...]) -> Iterator[None]:
    """Converts errors of a database to ours; the original is not chained, since it may show the password."""
    try:
        yield
    except (DataError, UsageError):
        raise
    except kinds as error:
        reason = source.without_secrets(str(getattr(error, "orig", None) or error))
        kind = DataError
        cure = "Check the query and the names in it."
        if isinstance(error, ImportError):
            kind, cure = UsageError, "Install the driver of this database, such as psycopg."  # type: ignore[assignment]
        elif type(error).__name__ in (
            "OperationalError",
            "InterfaceError",
            "ArgumentError",
            "NoSuchModuleError",
        ):
            cure = "Check the address, the user and the query."
        raise kind(f"{source}: {reason.rstrip('.')}. {cure}") from None
