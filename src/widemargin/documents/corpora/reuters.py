"""Two collections of newswire stories with the topics that Reuters gave them: Reuters-21578 and RCV1-v2.

Reuters-21578, Distribution 1.0, has stories of 1987. The splits are those of the collection's own README:
ModApte ("modapte"), ModLewis ("modlewis") and ModHayes ("modhayes"). A document in none of the topics has the
labels ``()``: it counts as a negative example.

RCV1-v2 has stories of 1996 and 1997 as scrambled stems, which is all that may be distributed. Its split is
LYRL2004 ("lyrl2004"); its test part comes in four files, of which "lyrl2004-pt0" takes the first. Topics have
their ancestors with them.
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


def rcv1_part(record: dict[str, Any], split: str | None) -> str | None:
    """The same for RCV1-v2."""
    if split == "lyrl2004-pt0" and record["part"] not in ("train", "test_pt0"):
        return None
    return "train" if record["part"] == "train" else "test"


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
    Source(
        name="rcv1-v2",
        title="RCV1-v2: newswire by topic, as stems",
        files=("rcv1/rcv1-v2.jsonl.xz",),
        splits=("lyrl2004", "lyrl2004-pt0"),
        documents=804_414,
        classes=103,
        origin="http://www.jmlr.org/papers/volume5/lewis04a/lyrl2004_rcv1v2_README.htm",
        load=labeled(rcv1_part),
    ),
)
