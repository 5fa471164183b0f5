"""French novels and plays by author.

"french-prose", "french-cidre", both together ("french-novels"), and "french-plays". The label is the author.
Of several editions of one work the collection keeps one. There is no official split; "random" draws a third
for testing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from widemargin.documents.corpora.corpus import Source, labeled, random_side
from widemargin.documents.corpora.home import records
from widemargin.documents.record import Document


def distinct_works(paths: tuple[Path, ...]) -> Iterator[dict[str, Any]]:
    """Each work once: the edition that others duplicate, or the first where that one is in another file."""
    everything = [record for path in paths for record in records(path)]
    ids = {record["id"] for record in everything}
    seen: set[str] = set()
    for record in everything:
        original = record.get("duplicate_of")
        work = original or record["id"]
        if original not in ids and work not in seen:
            seen.add(work)
            yield record


def document(record: dict[str, Any]) -> Document:
    return Document(record["id"], record["text"], (record["author_id"],))


_FOLDER = "french_authors"
_ELTEC = "https://github.com/COST-ELTeC/ELTeC-fra and https://github.com/cligs/textbox"
_CIDRE = "the CIDRE corpus (Corpus for Idiolectal Research)"


def _source(
    name: str, title: str, files: tuple[str, ...], documents: int, classes: int, origin: str
) -> Source:
    return Source(
        name=name,
        title=title,
        files=tuple(f"{_FOLDER}/{file}.jsonl.xz" for file in files),
        documents=documents,
        classes=classes,
        origin=origin,
        load=labeled(random_side, document, distinct_works),
    )


SOURCES = (
    _source("french-prose", "French novels and novellas by author", ("french-prose",), 157, 80, _ELTEC),
    _source("french-cidre", "French novels of 11 authors", ("french-cidre",), 131, 11, _CIDRE),
    _source(
        "french-novels",
        "Both collections of French prose by author",
        ("french-prose", "french-cidre"),
        276,
        82,
        f"{_ELTEC}, {_CIDRE}",
    ),
    _source(
        "french-plays",
        "French plays by author",
        ("french-plays",),
        567,
        43,
        "https://github.com/cligs/theatreclassique",
    ),
)
