"""Which columns contain the text, the labels and the id: guessed by name, then by content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from widemargin.documents.encoding import Errors, check_encoding
from widemargin.documents.limits import MAX_DOCUMENT, check_limit
from widemargin.errors import DataError, UsageError

# In order of preference; compared without regard to case, blanks, hyphens and underscores.
TEXT_NAMES = (
    *("text", "body", "content", "message", "document", "review", "abstract", "question", "description"),
    *(
        "sentence",
        "comment",
        "utterance",
        "tweet",
        "post",
        "article",
        "summary",
        "query",
        "reviewtext",
        "input",
    ),
)
LABEL_NAMES = (
    *(
        "labels",
        "label",
        "category",
        "categories",
        "class",
        "classes",
        "topic",
        "topics",
        "target",
        "targets",
    ),
    *(
        "tags",
        "tag",
        "team",
        "intent",
        "sentiment",
        "genre",
        "department",
        "queue",
        "lang",
        "language",
        "author",
    ),
)
GROUP_NAMES = ("group", "groupid", "customer", "customerid", "user", "userid", "thread", "session", "source")
TIME_NAMES = ("time", "date", "datetime", "timestamp", "when", "created", "year")
ID_NAMES = ("id", "newid", "docid", "documentid", "uid", "uuid", "guid", "key", "ticketid", "messageid")


class ReadOptions(TypedDict, total=False):
    """The keyword arguments of the readers, as in :class:`Options`."""

    format: str | None
    text: str | Sequence[str] | None
    label: str | None
    id: str | None
    time: str | None
    group: str | None
    label_delimiter: str | None
    encoding: str | None
    errors: Errors
    max_document: int


@dataclass(frozen=True)
class Options:
    """How a source is read, checked; None leaves a choice to the reader.

    Attributes
    ----------
    format : "jsonl", "json", "csv", "tsv", "parquet", "folder" or "fasttext"; guessed by name, then by
        content. "lines" (a document per line) and "text" (one document) are never guessed
    text, label, id : the columns or fields to read; guessed by name, then by content. In a table without a
        header they are numbers from "1". Several columns of `text` become one text, see
        :func:`~widemargin.documents.record.join_columns`
    time, group : the columns with the times and the groups of the documents, if they are needed
    label_delimiter : the separator of labels in one cell. A JSON list needs none
    encoding : by default UTF-8, or what the bytes look like if they are not, with a warning
    errors : "replace" or "strict": whether undecodable bytes are replaced and counted, or an error
    max_document : largest size of a document in bytes: a line, a record of a table, a cell or a file in a
        folder. A larger one is an error with its line; it is noticed before it fills the memory
    """

    format: str | None = None
    text: str | Sequence[str] | None = None
    label: str | None = None
    id: str | None = None
    time: str | None = None
    group: str | None = None
    label_delimiter: str | None = None
    encoding: str | None = None
    errors: Errors = "replace"
    max_document: int = MAX_DOCUMENT

    def __post_init__(self) -> None:
        check_encoding(self.encoding, self.errors)
        check_limit(self.max_document)
        if len(set(self.texts)) < len(self.texts):
            raise UsageError(f"--text {' --text '.join(self.texts)}: name every column once.")

    @property
    def texts(self) -> tuple[str, ...]:
        """The named columns of the text; none if they are to be guessed."""
        return (self.text,) if isinstance(self.text, str) else tuple(self.text or ())

    @property
    def named(self) -> tuple[str, ...]:
        """All named columns."""
        return (*self.texts, *_given(self.label, self.id), *self.beside)

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that are read before the text, in this order: the time and the group, if named."""
        return _given(self.time, self.group)


@dataclass(frozen=True)
class Columns:
    """The chosen column names; several of `texts` become one text, after those of `beside`."""

    texts: tuple[str, ...]
    label: str | None
    id: str | None
    time: str | None = None
    group: str | None = None

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns before the text."""
        return _given(self.time, self.group)

    @property
    def joined(self) -> tuple[str, ...]:
        """The columns that are read as one text."""
        return (*self.beside, *self.texts)

    def describe(self) -> str:
        """Which columns are read, as a clause."""
        text = " and ".join(f'"{name}"' for name in self.texts)
        label = f'labels from "{self.label}"' if self.label else "no labels"
        number = f'ids from "{self.id}"' if self.id else "record numbers as ids"
        time = f', times from "{self.time}"' if self.time else ""
        group = f', groups from "{self.group}"' if self.group else ""
        return f"text from {text}, {label}, {number}{time}{group}"


def choose_columns(
    names: Sequence[str], sample: Sequence[Mapping[str, object]], options: Options, where: str
) -> Columns:
    """Choose among `names`; if no name suggests the text, by the `sample` records.

    >>> choose_columns(["Ticket-ID", "body", "team"], [], Options(), "tickets.csv, line 1").describe()
    'text from "body", labels from "team", ids from "Ticket-ID"'
    """
    wanted_texts = (("text", name) for name in options.texts)
    others = (("label", options.label), ("id", options.id), ("time", options.time), ("group", options.group))
    for flag, wanted in (*wanted_texts, *others):
        if wanted is not None and wanted not in names:
            raise DataError(_missing(flag, wanted, names, where))
    free = [name for name in names if name not in options.named]
    label = options.label or _by_name(free, LABEL_NAMES)
    number = options.id or _by_name(free, ID_NAMES)
    if options.texts:
        return Columns(options.texts, label, number, options.time, options.group)
    text = _by_name(free, TEXT_NAMES)
    if text is None:
        text = _longest([name for name in free if name not in (label, number)], sample)
    if text is None:
        columns = ", ".join(names)
        raise DataError(f"{where}: no column contains text; columns are {columns}. Choose one with --text.")
    return Columns((text,), label, number, options.time, options.group)


def _given(*names: str | None) -> tuple[str, ...]:
    return tuple(name for name in names if name is not None)


def _by_name(names: Sequence[str], known: Sequence[str]) -> str | None:
    plain: dict[str, str] = {}
    for name in names:
        plain.setdefault(name.casefold().translate({ord(mark): None for mark in " -_"}), name)
    return next((plain[name] for name in known if name in plain), None)


def _longest(names: Sequence[str], sample: Sequence[Mapping[str, object]]) -> str | None:
    """The column with the longest strings in the sample."""
    lengths = {
        name: sum(len(value) for record in sample if isinstance(value := record.get(name), str))
        for name in names
    }
    best = max(lengths, key=lambda name: lengths[name], default=None)
    return best if best is not None and (lengths[best] > 0 or len(names) == 1) else None


def _missing(flag: str, wanted: str, names: Sequence[str], where: str) -> str:
    known = {"text": TEXT_NAMES, "label": LABEL_NAMES, "id": ID_NAMES, "time": TIME_NAMES}
    near = _by_name(names, known.get(flag, GROUP_NAMES))
    cure = f" Pass --{flag} {near}." if near else f" Pass one of them with --{flag}."
    return f'{where}: no column "{wanted}"; columns are {", ".join(names)}.{cure}'
