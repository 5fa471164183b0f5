"""WebKB, "4 universities": pages of computer science departments by what they are for.

Splits leave one university out: "cornell" tests on Cornell's pages and trains on all others, with the four
classes of the literature (course, faculty, project, student); "cornell-7" keeps all seven classes. The text
is the page without its HTTP header and HTML tags. "raw-7" has the files as they are, all seven classes and no
test part.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from widemargin.documents.corpora.corpus import Parts, Record, Source, labeled
from widemargin.documents.record import Document

UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")
FOUR_CLASSES = ("course", "faculty", "project", "student")

_BLANK_LINE = re.compile(r"\r?\n\r?\n")
_MARKUP = re.compile(
    r"<!--.*?-->"  # before tags: a comment may contain them
    r"|<(script|style)\b.*?</\1\s*>"
    r"|<[a-z/!?][^<>]*>?",
    re.IGNORECASE | re.DOTALL,
)


def plain_text(raw: str) -> str:
    """The words of a page: without its HTTP header, comments, scripts and tags, with its entities decoded.

    >>> plain_text("Server: x\\n\\n<html><b>R&amp;D</b> lab<!-- old -->").split()
    ['R&D', 'lab']
    """
    page = raw
    # A few pages have no header, and one that begins with a tag has none.
    if not raw.lstrip().startswith("<") and (end := _BLANK_LINE.search(raw)):
        page = raw[end.end() :]
    return html.unescape(_MARKUP.sub(" ", page)).replace("\0", " ").strip()


def document(record: dict[str, Any]) -> Document:
    return Document(record["id"], plain_text(record["raw"]), (record["label"],))


def file_as_it_is(record: dict[str, Any]) -> Document:
    return Document(record["id"], record["raw"], (record["label"],))


def load(paths: tuple[Path, ...], split: str | None) -> Parts:
    university, _, all_classes = (split or "").partition("-")

    def side(record: Record, split: str | None) -> str | None:
        if not all_classes and record["label"] not in FOUR_CLASSES:
            return None
        return "test" if record["university"] == university else "train"

    return labeled(side, file_as_it_is if university == "raw" else document)(paths, split)


SOURCES = (
    Source(
        name="webkb",
        title="WebKB, 4 universities: web pages by function",
        files=("webkb/webkb-4universities.jsonl.xz",),
        splits=(*UNIVERSITIES, *(f"{name}-7" for name in UNIVERSITIES), "raw-7"),
        documents=8_282,
        classes=7,
        origin="https://www.cs.cmu.edu/afs/cs.cmu.edu/project/theo-20/www/data/",
        load=load,
    ),
)
