"""Collections whose archives have one file for each document, or a few for all of them."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

from widemargin.documents.corpora.archives.members import Records, check_size, contents
from widemargin.documents.limits import MAX_DOCUMENT

_STORY = re.compile(r"<REUTERS\b([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_PAGES = re.compile(r"<dmoz_doc>(.*?)</dmoz_doc>", re.DOTALL)
_PAGE = re.compile(r"<dmoz_subdoc>(.*?)</dmoz_subdoc>", re.DOTALL)
_ATTRIBUTE = re.compile(r'([A-Z]+)="([^"]*)"')


def reuters(path: Path) -> Records:
    """The SGML files of Reuters-21578, in their order."""
    stories = {parts[-1]: content for parts, content in contents(path) if parts[-1].endswith(".sgm")}
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
    for parts, content in contents(path):
        if len(parts) == 3:
            side, group, number = parts
            text = content.decode("latin-1")
            yield {"id": f"{group}/{number}", "split": side.rpartition("-")[2], "label": group, "text": text}


def webkb(path: Path) -> Records:
    """``webkb/class/university/page``."""
    for parts, content in contents(path):
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
    for parts, content in contents(path):
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
    for parts, content in contents(path):
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
        check_size("SMSSpamCollection", archive.getinfo("SMSSpamCollection").file_size, MAX_DOCUMENT)
        lines = archive.read("SMSSpamCollection").decode("utf-8").split("\n")
    for number, line in enumerate(line.rstrip("\r") for line in lines if line.strip()):
        label, _, text = line.partition("\t")
        yield {"id": number, "label": label, "text": text}


def clinc150(path: Path) -> Records:
    """``data_full.json``: lists of [text, intent] by side."""
    check_size(path.name, path.stat().st_size, MAX_DOCUMENT)
    sides = json.loads(path.read_bytes())
    for side, requests in sides.items():
        for number, (text, label) in enumerate(requests):
            if not (isinstance(text, str) and isinstance(label, str)):
                raise ValueError(f"request {number} of {side} is not a pair of strings")
            yield {"id": f"{side}-{number}", "split": side, "label": label, "text": text}


def techtc(path: Path) -> Records:
    """TechTC-100: ``Exp_A_B/all_pos.txt`` and ``all_neg.txt``, web pages about two topics in each folder."""
    sides = {"all_pos.txt": "positive", "all_neg.txt": "negative"}
    found: dict[str, set[str]] = {}
    for parts, content in contents(path):
        if len(parts) < 2 or parts[-1] not in sides or not parts[-2].startswith("Exp_"):
            continue
        task, label = parts[-2], sides[parts[-1]]
        found.setdefault(task, set()).add(label)
        for number, document in enumerate(_PAGES.findall(content.decode("latin-1"))):
            pages = [page.strip() for page in _PAGE.findall(document)]
            yield {
                "id": f"{task}/{label}/{number}",
                "label": f"{task}/{label}",
                "text": "\n".join(pages) if pages else document.strip(),
            }
    if not found:
        raise ValueError("no folder Exp_A_B with all_pos.txt and all_neg.txt")
    for task, labels in found.items():
        if len(labels) < 2:
            raise ValueError(f"{task} has only the {min(labels)} pages")
