"""Options of `split`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from widemargin.cli.options.option import Option


def _split(spelling: str, help: str, kind: Any = str, default: Any = None, **more: Any) -> Option:
    return Option(spelling, help, "split", kind, default, **more)


SPLIT = (
    _split("[DATA]...", "One or more files, folders, archives or patterns, as for `train`.", list[str]),
    _split(
        "--test SIZE",
        "Size of the test part: a fraction of the labeled documents, such as 0.2, or a number, such as 500.",
        default="0.2",
        common=True,
    ),
    _split("--dev SIZE", "Size of a third part, to tune on, as for --test.", shown="none", common=True),
    _split(
        "--output -o DIR",
        "The folder to write train.jsonl, test.jsonl and dev.jsonl to. It is created if there is none.",
        Path,
        common=True,
    ),
    _split("--train FILE", "The file for the training part, instead of --output.", Path, common=True),
    _split("--test-file FILE", "The file for the test part, instead of --output.", Path, common=True),
    _split("--dev-file FILE", "The file for the third part, instead of --output.", Path),
    _split("--force", "Replace existing files.", bool, common=True),
    _split(
        "--group COL",
        "Documents with the same value in this column, such as a customer, stay in one part.",
        shown="none",
        common=True,
    ),
    _split(
        "--time COL",
        "The column with the time of each document, ISO dates or numbers: the latest documents are the test "
        "part. Documents without one count as the earliest.",
        shown="parts are random, with the same shares of every label",
        common=True,
    ),
    _split(
        "--near-duplicates together|ignore",
        "Whether documents that are nearly the same stay in one part.",
        default="together",
        common=True,
    ),
)
