"""Ohsumed: the medical abstracts of 1991 in the 23 disease categories of MeSH.

Two splits: "distribution", as the files are distributed (6,286 / 7,643), which sorted document numbers as
strings, and "by-id" (7,065 / 6,864), the first and the second half in order of the numbers, nearer to the
literature's "first 10,000 for training, second 10,000 for testing". Abstracts in none of the 23
categories are not part of the distribution.

"ohsumed-1991" is made from the original references and a MeSH tree: all abstracts of the year, also those in
none of the categories. Its split "first-20000" is that of the literature; "rest" takes the first 10,000 for
training and all others for testing.
"""

from __future__ import annotations

from widemargin.documents.corpora.corpus import Record, Source, labeled, own_side

_FIRST_OF_SECOND_HALF = 10_000


def side(record: Record, split: str | None) -> str | None:
    if split == "by-id":
        return "train" if int(record["id"]) < _FIRST_OF_SECOND_HALF else "test"
    return own_side(record, split)


def side_by_place(record: Record, split: str | None) -> str | None:
    """By the order in the file, which is that of time."""
    place = int(record["place"])
    if place < _FIRST_OF_SECOND_HALF:
        return "train"
    return "test" if split == "rest" or place < 2 * _FIRST_OF_SECOND_HALF else None


SOURCES = (
    Source(
        name="ohsumed",
        title="Ohsumed: medical abstracts by disease",
        files=("ohsumed/ohsumed-first-20000-docs.jsonl.xz",),
        splits=("distribution", "by-id"),
        documents=13_929,
        classes=23,
        origin="https://disi.unitn.it/moschitti/corpora.htm",
        load=labeled(side),
    ),
    Source(
        name="ohsumed-1991",
        title="Ohsumed: all abstracts of 1991, with and without a disease category",
        files=("ohsumed/ohsumed-1991.jsonl.xz",),
        splits=("first-20000", "rest"),
        documents=50_216,
        classes=23,
        origin="https://dmice.ohsu.edu/hersh/ohsumed/",
        load=labeled(side_by_place),
    ),
)
