"""Options of reading documents, and the arguments of the readers that they become."""

from __future__ import annotations

from typing import Any

from widemargin.cli.options.option import Option

_READERS = "train label compare predict evaluate identify diagnose report split"
_LABELED = "train label compare evaluate diagnose report split"

READING = (
    Option(
        "--text COL",
        "The column with the text (may be repeated: a text of several columns, such as title and body).",
        _READERS,
        list[str],
        shown="guessed",
        common=True,
    ),
    Option("--label COL", "The column with the labels.", _LABELED, shown="guessed", common=True),
    Option(
        "--id COL",
        "The column with the ids.",
        "train label predict evaluate identify diagnose report split",
        shown="guessed",
    ),
    Option(
        "--time COL",
        "The column with the time of each document, ISO dates or numbers: --tune then trains on earlier and "
        "measures on later documents. Documents without one count as the earliest.",
        "train",
        shown="candidates are compared on random splits",
    ),
    Option(
        "--label-delimiter D",
        "What separates several labels in a cell.",
        _LABELED,
        shown="none",
    ),
    Option(
        "--format F",
        "jsonl, json, csv, tsv, parquet, excel, svmlight, fasttext, lines (plain text, a document per line), "
        "text (one document) or folder (every file is a document).",
        _READERS,
        shown="guessed",
    ),
    Option(
        "--no-header",
        "The first record of a table is a document. Columns have numbers: --text 2 --label 1.",
        _READERS,
        bool,
    ),
    Option(
        "--label-from name|folder",
        "Every document of a file has the same label: the name of the file without its ending (spam.txt, "
        "ham.txt), or the folder it is in.",
        _LABELED,
        shown="a column, or class folders",
    ),
    Option("--sheet NAME", "The sheet of an Excel workbook.", _READERS, shown="the first one"),
    Option(
        "--split NAME",
        "The split of a Hugging Face dataset that save_to_disk wrote.",
        _READERS,
        shown="the only one",
    ),
    Option(
        "--sql URL QUERY",
        'Read the rows of a query instead of a file: --sql sqlite:///tickets.db "select body, team from '
        'tickets". Databases other than SQLite need widemargin[sql] and their driver.',
        _READERS,
        tuple[str, str],
        shown="none",
    ),
    Option("--encoding E", "The encoding of the file.", _READERS, shown="UTF-8 or guessed"),
    Option(
        "--errors replace|strict",
        "What to do with undecodable bytes: replace and count them, or stop.",
        _READERS,
        default="replace",
    ),
    Option(
        "--max-document SIZE",
        "The largest document to accept (a line, a record, a cell or a file), such as 500kB or 2GB.",
        f"{_READERS} explain",
        default="128MB",
    ),
    Option(
        "--multilabel",
        "A document may have any number of labels, even if every training document has one.",
        "train label compare diagnose",
        bool,
        common=True,
    ),
)


def reading(given: Any) -> dict[str, Any]:
    """The arguments of the readers."""
    from widemargin.documents.limits import parse_size

    names = ("format", "text", "label", "id", "time", "label_delimiter", "encoding", "errors")
    found = {name: getattr(given, name, None) for name in (*names, "label_from", "sheet", "split")}
    found["header"] = False if given.no_header else None
    return {**found, "max_document": parse_size(given.max_document, "--max-document")}
