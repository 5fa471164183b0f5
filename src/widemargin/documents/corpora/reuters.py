"""Reuters-21578, Distribution 1.0: newswire stories of 1987 with the topics that Reuters gave them.

The splits are those of the collection's own README: ModApte ("modapte"), ModLewis ("modlewis") and ModHayes
("modhayes"). A document in none of the topics has the labels ``()``: it counts as a negative example.
"""

from __future__ import annotations

import re
from typing import Any

from widemargin.documents.corpora.corpus import Source, labeled
from widemargin.documents.record import Document

_TAG = re.compile(r"</?[A-Z][A-Z0-9]*>")
_CONTROL = re.compile(r"&#(?:[0-9]|[12][0-9]|3[01]|127);")


def decode(sgml: str) -> str:
    """The text of SGML content, without tags and control characters, with its entities decoded.

    >>> decode("<TITLE>ATT &lt;T>, Q&amp;A</TITLE> Reuter &#3;")
    'ATT <T>, Q&A Reuter '
    """
    # The ampersand last: "&amp;lt;" stands for the four characters "&lt;".
    text = _CONTROL.sub("", _TAG.sub("", sgml))
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def document(record: dict[str, Any]) -> Document:
    """A record of the distribution as a document: its title, then its body.

    The few without a BODY tag (headlines only, unprocessed telegrams) give what their TEXT tag holds.
    """
    if record["body"] is None:
        text = decode(record["text_raw"]).strip()
    else:
        text = f"{decode(record['title'] or '').strip()}\n{decode(record['body'])}".strip()
    # One story lists a topic twice.
    return Document(str(record["newid"]), text, tuple(dict.fromkeys(record["topics"])))


def part(record: dict[str, Any], split: str | None) -> str | None:
    """On which side of `split` a record is: "train", "test", or None where the split leaves it out."""
    if split == "modhayes":
        return {"TRAINING-SET": "train", "PUBLISHED-TESTSET": "test"}.get(record["cgisplit"])
    used = ("YES",) if split == "modapte" else ("YES", "NO")
    if record["topics_attr"] not in used:
        return None
    return {"TRAIN": "train", "TEST": "test"}.get(record["lewissplit"])


SOURCES = (
    Source(
        name="reuters21578",
        title="Reuters-21578: newswire by topic",
        files=("reuters21578/reuters21578.jsonl.xz",),
        splits=("modapte", "modlewis", "modhayes"),
        documents=21_578,
        classes=120,
        origin="https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.html",
        load=labeled(part, document),
    ),
)
