"""Convert the official archives of the collections to the records that the loaders read.

Every function takes the path of a downloaded file and yields records. Nothing is unpacked to the disk.
"""

from __future__ import annotations

import json
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from widemargin.documents.limits import MAX_DOCUMENT

Records = Iterator[dict[str, Any]]
# Larger than any collection; such a file is not one of them.
_MOST = 4_000_000_000

_STORY = re.compile(r"<REUTERS\b([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(r'([A-Z]+)="([^"]*)"')


def _files(path: Path) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """The files in a tar archive: the parts of their path, and their bytes."""
    size = 0
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile() and (file := archive.extractfile(member)) is not None:
                size += member.size
                _check_size(member.name, member.size, MAX_DOCUMENT)
                _check_size("the whole archive", size, _MOST)
                yield tuple(part for part in member.name.split("/") if part not in ("", ".")), file.read()


def _check_size(name: str, size: int, most: int) -> None:
    if size > most:
        raise ValueError(f"{name} has {size:,} bytes, more than {most:,}")


def reuters(path: Path) -> Records:
    """The SGML files of Reuters-21578, in their order."""
    stories = {parts[-1]: content for parts, content in _files(path) if parts[-1].endswith(".sgm")}
    for name in sorted(stories):
        # ASCII but for one byte.
        for attributes, story in _STORY.findall(stories[name].decode("latin-1")):
            yield _reuters_record(dict(_ATTRIBUTE.findall(attributes)), story)


def _reuters_record(attributes: dict[str, str], story: str) -> dict[str, Any]:
    def inside(tag: str) -> str | None:
        found = re.search(rf"<{tag}(?: [^>]*)?>(.*?)</{tag}>", story, re.DOTALL)
        return found.group(1) if found else None

    body = inside("BODY")
    return {
        "newid": int(attributes["NEWID"]),
        "lewissplit": attributes["LEWISSPLIT"],
        "cgisplit": attributes["CGISPLIT"],
        "topics_attr": attributes["TOPICS"],
        "topics": re.findall(r"<D>(.*?)</D>", inside("TOPICS") or ""),
        "title": inside("TITLE"),
        "body": body,
        "text_raw": None if body is not None else inside("TEXT"),
    }


def newsgroups(path: Path) -> Records:
    """``20news-bydate-train/group/number`` and the same with ``test``."""
    for parts, content in _files(path):
        if len(parts) == 3:
            side, group, number = parts
            text = content.decode("latin-1")
            yield {"id": f"{group}/{number}", "split": side.rpartition("-")[2], "label": group, "text": text}


def webkb(path: Path) -> Records:
    """``webkb/class/university/page``."""
    for parts, content in _files(path):
        if len(parts) == 4:
            _, label, university, page = parts
            yield {
                "id": f"{label}/{university}/{page}",
                "label": label,
                "university": university,
                "raw": content.decode("latin-1"),
            }


def ohsumed(path: Path) -> Records:
    """``ohsumed-first-20000-docs/training/C01/number``: a file for each category of a document."""
    documents: dict[tuple[str, str], dict[str, Any]] = {}
    for parts, content in _files(path):
        if len(parts) == 4 and parts[1] in ("training", "test"):
            _, side, category, number = parts
            record = documents.setdefault(
                (side, number),
                {
                    "id": number,
                    "split": "train" if side == "training" else "test",
                    "labels": [],
                    "text": content.decode("latin-1"),
                },
            )
            record["labels"].append(category)
    for key in sorted(documents, key=lambda key: (key[0] != "training", key[1])):
        documents[key]["labels"].sort()
        yield documents[key]


def imdb(path: Path) -> Records:
    """``aclImdb/train/pos/number_rating.txt`` and so on, without the unlabeled reviews."""
    for parts, content in _files(path):
        if len(parts) == 4 and parts[1] in ("train", "test") and parts[2] in ("pos", "neg"):
            _, side, label, name = parts
            yield {
                "id": f"{side}/{label}/{name}",
                "split": side,
                "label": label,
                "text": content.decode("utf-8"),
            }


def imdb_part(path: Path) -> Records:
    """The first 2,500 reviews of each class and side, by their numbers."""
    for record in imdb(path):
        if int(record["id"].rpartition("/")[2].partition("_")[0]) < 2_500:
            yield record


def sms_spam(path: Path) -> Records:
    """``SMSSpamCollection`` in a zip: label, tab, message."""
    with zipfile.ZipFile(path) as archive:
        _check_size("SMSSpamCollection", archive.getinfo("SMSSpamCollection").file_size, MAX_DOCUMENT)
        lines = archive.read("SMSSpamCollection").decode("utf-8").split("\n")
    for number, line in enumerate(line.rstrip("\r") for line in lines if line.strip()):
        label, _, text = line.partition("\t")
        yield {"id": number, "label": label, "text": text}


def clinc150(path: Path) -> Records:
    """``data_full.json``: lists of [text, intent] by side."""
    _check_size(path.name, path.stat().st_size, MAX_DOCUMENT)
    sides = json.loads(path.read_bytes())
    for side, requests in sides.items():
        for number, (text, label) in enumerate(requests):
            if not (isinstance(text, str) and isinstance(label, str)):
                raise ValueError(f"request {number} of {side} is not a pair of strings")
            yield {"id": f"{side}-{number}", "split": side, "label": label, "text": text}
