"""Options that several verbs share, under one name and with one meaning everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.", show_default=False)]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No notes and no progress bars.", show_default=False)
]
Debug = Annotated[bool, typer.Option("--debug", help="Show a traceback on errors.", show_default=False)]
Threads = Annotated[
    int | None,
    typer.Option("--threads", metavar="N", min=1, help="Native threads.", show_default="all cores"),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Where random choices start.")]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace an existing file that is not a model.", show_default=False),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file that `train` wrote, or one of SVM-light's.")
]
DataSource = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="JSONL, CSV, TSV, Parquet, SVM-light or fastText (also .gz, .xz, .zst), a folder of class "
        "folders, or - for stdin.",
    ),
]
Text = Annotated[
    str | None,
    typer.Option("--text", metavar="COL", help="The column with the text.", show_default="guessed"),
]
Label = Annotated[
    str | None,
    typer.Option("--label", metavar="COL", help="The column with the labels.", show_default="guessed"),
]
Id = Annotated[
    str | None, typer.Option("--id", metavar="COL", help="The column with the ids.", show_default="guessed")
]
LabelDelimiter = Annotated[
    str | None,
    typer.Option(
        "--label-delimiter", metavar="D", help="What separates several labels in a cell.", show_default="none"
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="F",
        help="jsonl, csv, tsv, parquet, folder, svmlight or fasttext.",
        show_default="guessed",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding", metavar="E", help="The encoding of the file.", show_default="UTF-8 or guessed"
    ),
]
Errors = Annotated[
    str,
    typer.Option(
        "--errors", metavar="replace|strict", help="Replace and count bytes that are no text, or stop there."
    ),
]
MaxDocument = Annotated[
    str,
    typer.Option(
        "--max-document",
        metavar="SIZE",
        help="Refuse a document that is larger (a line, a record, a cell or a file), such as 500kB or 2GB.",
    ),
]
MAX_DOCUMENT = "128MB"  # the readers' own limit
Multilabel = Annotated[
    bool,
    typer.Option(
        "--multilabel",
        help="A document may get any number of labels, even if each has one here.",
        show_default=False,
    ),
]
Scores = Annotated[bool, typer.Option("--scores", help="Add the score of every label.", show_default=False)]
KeepText = Annotated[
    bool, typer.Option("--keep-text", help="Add the text of the document.", show_default=False)
]

SafeCsv = Annotated[
    bool,
    typer.Option(
        "--safe-csv",
        help="In .csv and .tsv output, put ' before cells that a spreadsheet would run as formulas: those "
        "that begin with =, +, -, @, a tab or a line end. Numbers are left as they are.",
        show_default=False,
    ),
]


def reading(
    format: str | None,
    text: str | None,
    label: str | None,
    id: str | None,
    label_delimiter: str | None,
    encoding: str | None,
    errors: str,
    max_document: str,
) -> dict[str, Any]:
    """The arguments of the readers."""
    from widemargin.documents.limits import parse_size

    return {
        "format": format,
        "text": text,
        "label": label,
        "id": id,
        "label_delimiter": label_delimiter,
        "encoding": encoding,
        "errors": errors,
        "max_document": parse_size(max_document, "--max-document"),
    }
