"""Which columns contain the text, the labels and the id: guessed by name, then by content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

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


LabelFrom = Literal["name", "folder"]


# The largest share of distinct values in a column of labels.
_REPEATING = 0.9
# With fewer records than these, labels may all differ.
_FEW = 20


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
    header: bool | None
    label_from: LabelFrom | None
    sheet: str | None
    split: str | None
    remembered: Mapping[str, Any]
    plain_text: bool
    ignore_labels: bool


@dataclass(frozen=True)
class Options:
    """How a source is read, checked; None leaves a choice to the reader.

    Attributes
    ----------
    format : "jsonl", "json", "csv", "tsv", "parquet", "excel", "folder" (every file is a document),
        "fasttext", "lines" (a document per line) or "text" (one document); guessed by name, then by content
    text, label, id : the columns or fields to read; guessed by name, then by content. In a table without a
        header they are numbers from "1". Several columns of `text` become one text, see
        :func:`~widemargin.documents.record.join_columns`
    time, group : the columns with the times and the groups of the documents, if they are needed
    label_delimiter : the separator of labels in one cell. A JSON list needs none
    encoding : by default UTF-8, or what the bytes look like if they are not, with a warning
    errors : "replace" or "strict": whether undecodable bytes are replaced and counted, or an error
    max_document : largest size of a document in bytes: a line, a record of a table, a cell or a file in a
        folder. A larger one is an error with its line; it is noticed before it fills the memory
    header : False if the first record of tables is a document; None if it is to be found out
    label_from : "name" or "folder": all documents of a file have the name of the file, or of the folder that
        it is in, as their label
    sheet : the sheet of an Excel workbook; by default the first one
    split : the split of a saved dataset
    remembered : how the training documents of a model were read; used where a source has such columns
    plain_text : a source whose name says nothing, and whose first line neither JSON nor the header of a known
        column, is plain text with a document per line
    ignore_labels : nothing is said about labels, since they are not used
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
    header: bool | None = None
    label_from: LabelFrom | None = None
    sheet: str | None = None
    split: str | None = None
    remembered: Mapping[str, Any] = field(default_factory=dict)
    plain_text: bool = False
    ignore_labels: bool = False

    def __post_init__(self) -> None:
        check_encoding(self.encoding, self.errors)
        check_limit(self.max_document)
        if len(set(self.texts)) < len(self.texts):
            raise UsageError(f"--text {' --text '.join(self.texts)}: name every column once.")
        if self.label_from not in (None, "name", "folder"):
            raise UsageError(f"--label-from {self.label_from}: choose name or folder.")
        if self.label_from is not None and self.label is not None:
            raise UsageError("Use either --label or --label-from.")
        if self.label_delimiter is None and self.remembered.get("label_delimiter"):
            object.__setattr__(self, "label_delimiter", self.remembered["label_delimiter"])

    @property
    def texts(self) -> tuple[str, ...]:
        """The named columns of the text; none if they are to be guessed."""
        return (self.text,) if isinstance(self.text, str) else tuple(self.text or ())

    @property
    def likely_encoding(self) -> str | None:
        """The encoding of bytes that are not UTF-8, as in training."""
        return self.remembered.get("encoding")

    @property
    def texts_before(self) -> tuple[str, ...]:
        """The columns of the text in training."""
        before = self.remembered.get("text") or ()
        return (before,) if isinstance(before, str) else tuple(before)

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
    """The chosen column names; several of `texts` become one text, after those of `beside`.

    `note` adds to the description; `width` is the number of columns of a table without a header.
    """

    texts: tuple[str, ...]
    label: str | None
    id: str | None
    time: str | None = None
    group: str | None = None
    note: str = ""
    width: int | None = None

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
        return f"text from {text}, {label}, {number}{time}{group}{self.note}"


def choose_columns(
    names: Sequence[str],
    sample: Sequence[Mapping[str, object]],
    options: Options,
    where: str,
    *,
    headed: bool = True,
) -> Columns:
    """Choose among `names`; if no name suggests the text, by the `sample` records.

    Without a header (`headed`), the longest strings are the text, and a column of few values has the labels.

    >>> choose_columns(["Ticket-ID", "body", "team"], [], Options(), "tickets.csv, line 1").describe()
    'text from "body", labels from "team", ids from "Ticket-ID"'
    """
    wanted_texts = (("text", name) for name in options.texts)
    others = (("label", options.label), ("id", options.id), ("time", options.time), ("group", options.group))
    for flag, wanted in (*wanted_texts, *others):
        if wanted is not None and wanted not in names:
            raise DataError(_missing(flag, wanted, names, where))
    free = [name for name in names if name not in options.named]
    before = options.remembered
    texts = options.texts or tuple(name for name in options.texts_before if name in free)
    note = ""
    if not options.texts and len(texts) < len(options.texts_before):
        texts = ()
        note = "; the model was trained on " + " and ".join(f'"{name}"' for name in options.texts_before)
    free = [name for name in free if name not in texts]
    label = options.label or (before.get("label") if before.get("label") in free else None)
    label = label or _by_name(free, LABEL_NAMES)
    number = options.id or (before.get("id") if before.get("id") in free else None)
    number = number or _by_name(free, ID_NAMES)
    if not texts:
        text = _by_name(free, TEXT_NAMES)
        if text is None:
            text = _longest([name for name in free if name not in (label, number)], sample)
        if text is None:
            columns = ", ".join(names)
            raise DataError(
                f"{where}: no column contains text; columns are {columns}. Choose one with --text."
            )
        texts = (text,)
    if label is None and not headed:
        label = _few_values([name for name in free if name not in (*texts, number)], sample)
    if options.label_from is not None:
        label = None
    return Columns(texts, label, number, options.time, options.group, note, None if headed else len(names))


def plain_name(name: str) -> str:
    """A name as it is compared.

    >>> plain_name("Ticket-ID ")
    'ticketid'
    """
    return name.strip().casefold().translate({ord(mark): None for mark in " -_"})


def _given(*names: str | None) -> tuple[str, ...]:
    return tuple(name for name in names if name is not None)


def _by_name(names: Sequence[str], known: Sequence[str]) -> str | None:
    plain: dict[str, str] = {}
    for name in names:
        plain.setdefault(plain_name(name), name)
    return next((plain[name] for name in known if name in plain), None)


def _longest(names: Sequence[str], sample: Sequence[Mapping[str, object]]) -> str | None:
    """The column with the longest strings in the sample."""
    lengths = {
        name: sum(len(value) for record in sample if isinstance(value := record.get(name), str))
        for name in names
    }
    best = max(lengths, key=lambda name: lengths[name], default=None)
    return best if best is not None and (lengths[best] > 0 or len(names) == 1) else None


def _few_values(names: Sequence[str], sample: Sequence[Mapping[str, object]]) -> str | None:
    """The column whose values repeat most; with too few records to tell, the only one that is left.

    A sample of long documents has few records, so that most of many labels occur once in it.
    """
    distinct: dict[str, float] = {}
    for name in names:
        found = [str(value) for record in sample if (value := record.get(name))]
        distinct[name] = len(set(found)) / len(found) if found else 1.0
    best = min(names, key=lambda name: distinct[name], default=None)
    if best is not None and distinct[best] <= _REPEATING:
        return best
    if len(names) == 1 and len(sample) < _FEW:
        values = [str(record.get(names[0]) or "") for record in sample]
        if not all(value.isdecimal() for value in values) or len(set(values)) < len(values):
            return names[0]
    return None


def _missing(flag: str, wanted: str, names: Sequence[str], where: str) -> str:
    known = {"text": TEXT_NAMES, "label": LABEL_NAMES, "id": ID_NAMES, "time": TIME_NAMES}
    near = _by_name(names, known.get(flag, GROUP_NAMES))
    cure = f" Pass --{flag} {near}." if near else f" Pass one of them with --{flag}."
    return f'{where}: no column "{wanted}"; columns are {", ".join(names)}.{cure}'
