"""Collections in the format of the SMART system: a field begins with a line such as ``.I 2286`` or ``.W``.

RCV1-v2: the token files of the LYRL2004 split and the topics, from the on-line appendix of Lewis, Yang, Rose
and Li (JMLR 5, 2004). Ohsumed: the references of 1991, and a file of the MeSH tree for the categories.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from widemargin.documents.corpora.archives.members import Records, lines, streams

_FIELD = re.compile(r"^\.([A-Z])(?:\s+(.*))?$")
_TOKENS = re.compile(r"lyrl2004_tokens_(train|test_pt\d)\.dat")
_DISEASE = re.compile(r"C(0[1-9]|1\d|2[0-3])\b")


def tagged(found: Iterable[str]) -> Iterator[dict[str, str]]:
    """The fields of every document, each with its lines joined by blanks.

    Examples
    --------
    >>> list(tagged([".I 1", ".W", "recov recov", "excit", "", ".I 2", ".W", "text"]))
    [{'I': '1', 'W': 'recov recov excit'}, {'I': '2', 'W': 'text'}]
    """
    document: dict[str, str] = {}
    name = ""
    for line in found:
        if (field := _FIELD.match(line)) is not None:
            name, value = field.group(1), (field.group(2) or "").strip()
            if name == "I":
                if document:
                    yield document
                document = {}
            document[name] = value
        elif line.strip():
            if not document:
                raise ValueError(f"text before the first line .I: {line[:40]!r}")
            document[name] = f"{document[name]} {line.strip()}".strip()
    if document:
        yield document


def rcv1(path: Path) -> Records:
    """RCV1-v2: documents of scrambled stems, with their topics and all ancestors of these."""
    topics: defaultdict[str, list[str]] = defaultdict(list)
    for parts, file in streams(path):
        if parts[-1] == "rcv1-v2.topics.qrels":
            for number, line in enumerate(lines(parts[-1], file), 1):
                if line.strip():
                    fields = line.split()
                    if len(fields) != 3:
                        raise ValueError(f"rcv1-v2.topics.qrels, line {number}: expected 'TOPIC ID 1'")
                    topics[fields[1]].append(fields[0])
    if not topics:
        raise ValueError("no rcv1-v2.topics.qrels")
    test, train = 0, 0
    for parts, file in streams(path):
        if (side := _TOKENS.fullmatch(parts[-1])) is None:
            continue
        for document in tagged(lines(parts[-1], file)):
            in_train = side.group(1) == "train"
            train, test = train + in_train, test + (not in_train)
            yield {
                "id": document["I"],
                "split": "train" if in_train else "test",
                "part": side.group(1),
                "labels": sorted(topics[document["I"]]),
                "text": document.get("W", ""),
            }
    if not (train and test):
        raise ValueError("no lyrl2004_tokens_train.dat, or no lyrl2004_tokens_test_pt0.dat to pt3")


def ohsumed_1991(path: Path) -> Records:
    """The references of 1991 that have an abstract, with the disease categories of their MeSH headings.

    The archive or folder has ``ohsumed.91`` and a file of the MeSH tree, lines such as ``Asthma;C08.127``.
    """
    categories = _disease_categories(path)
    number = 0
    for parts, file in streams(path):
        if parts[-1] == "ohsumed.91":
            for document in tagged(lines(parts[-1], file)):
                if not document.get("W"):
                    continue
                headings = (each.partition("/")[0].strip(" *.") for each in document.get("M", "").split(";"))
                found = {category for name in headings for category in categories[name.lower()]}
                yield {
                    "id": document.get("U", document["I"]),
                    "place": number,
                    "labels": sorted(found),
                    "text": f"{document.get('T', '')}\n{document['W']}",
                }
                number += 1
    if not number:
        raise ValueError("no ohsumed.91 with abstracts")


def _disease_categories(path: Path) -> defaultdict[str, set[str]]:
    """The categories C01 to C23 of every heading of a MeSH tree, in lower case."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for parts, file in streams(path):
        if re.match(r"m(esh)?_?trees?", parts[-1], re.IGNORECASE):
            for line in lines(parts[-1], file):
                heading, _, place = line.rpartition(";")
                if heading and (category := _DISEASE.match(place.strip())) is not None:
                    found[heading.strip().lower()].add(category.group())
    if not found:
        raise ValueError("no MeSH tree, a file mtrees*.bin with lines such as Asthma;C08.127.108")
    return found
