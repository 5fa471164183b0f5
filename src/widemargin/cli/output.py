"""How verbs print: results on stdout, notes on stderr, one object with ``--json``.

Everything that a verb prints passes through here, and nowhere else: what people read has its control
characters escaped, what programs read is escaped by its own format.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from widemargin._printable import printable, printable_json

if TYPE_CHECKING:
    from widemargin.report.tables import Table


class Stages:
    """The seconds of each stage of a run, in their order.

    Examples
    --------
    >>> stages = Stages()
    >>> with stages.stage("read"):
    ...     pass
    >>> list(stages.seconds)
    ['read']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 4)


def note(text: str, quiet: bool) -> None:
    """Something worth knowing that is not the result."""
    if not quiet:
        complain(text)


def say(*lines: object) -> None:
    """Results for people on stdout, a line each; without any, a blank line."""
    print("\n".join(map(printable, lines)))


def complain(*lines: object) -> None:
    """Errors, warnings and notes on stderr, a line each."""
    print("\n".join(map(printable, lines)), file=sys.stderr, flush=True)


def complain_as_is(text: str) -> None:
    """Text with line ends of its own on stderr: a traceback."""
    print(printable(text, keep="\n"), file=sys.stderr, flush=True)


def say_help(text: str) -> None:
    """Help that typer has laid out, colors included."""
    print(text)


def machine_output() -> BinaryIO:
    """Stdout for documents in a format of their own (JSON Lines), which escapes what it has to."""
    return sys.stdout.buffer


def print_json(value: Any) -> None:
    """One JSON object on a line of its own; NaN and infinity, which JSON lacks, as null."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(printable_json(json.dumps(_finite(value), ensure_ascii=not unicode, allow_nan=False)))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    if isinstance(value, float) and not (abs(value) < float("inf")):
        return None
    return value


def say_styled(*pieces: tuple[str, str]) -> None:
    """Text with its style, piece by piece, with colors on a terminal that has them; line ends are kept."""
    from rich.console import Console
    from rich.text import Text

    # Never markup: a label or a document may hold brackets.
    shown = Text()
    for text, style in pieces:
        shown.append(printable(text.replace("\r\n", "\n"), keep="\n\t"), style=style)
    Console(highlight=False, soft_wrap=True).print(shown)


def show_table(table: Table) -> None:
    """A table with rules and wrapping on a terminal, otherwise aligned text that programs can split."""
    import dataclasses

    short = dataclasses.replace(
        table,
        title=printable(table.title),
        columns=[dataclasses.replace(column, name=printable(column.name)) for column in table.columns],
        notes=[printable(note) for note in table.notes],
        rows=[[_shown(value) for value in row] for row in table.rows],
        footer=[[_shown(value) for value in row] for row in table.footer],
    )
    if sys.stdout.isatty():
        from rich.console import Console

        Console(highlight=False).print(short.rich())
    else:
        print(short.plain())


def _shown(value: Any) -> Any:
    return printable(shortened(value)) if isinstance(value, str) else value


def shortened(text: Any, length: int = 100) -> str:
    """At most `length` characters: a label may be as long as a page.

    Examples
    --------
    >>> shortened("a label", 6)
    'a l...'
    """
    words = str(text)
    return words if len(words) <= length else words[: length - 3] + "..."


def bytes_in_words(size: int) -> str:
    """A file's size for people.

    Examples
    --------
    >>> bytes_in_words(999), bytes_in_words(2_345_678)
    ('999 bytes', '2.3 MB')
    """
    if size < 1000:
        return f"{size} bytes"
    power = 1 if size < 1e6 else 2 if size < 1e9 else 3
    return f"{size / 1000**power:.1f} {'kMG'[power - 1]}B"


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "label"), counted(12345, "document")
    ('1 label', '12,345 documents')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def seconds_in_words(seconds: dict[str, float]) -> str:
    """The stages of a run on one line.

    Examples
    --------
    >>> seconds_in_words({"read": 0.25, "learn": 12.0})
    'read 0.25 s, learn 12.0 s'
    """
    return ", ".join(f"{stage} {spent:.{2 if spent < 10 else 1}f} s" for stage, spent in seconds.items())
