"""Everyday tasks as a user types them: the commands, and the script that does the same with scikit-learn.

The peer is TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)) with LinearSVC and C by 5-fold grid search,
since our commands tune too. Every script prints the accuracy on the test documents in its last line.
"""

from __future__ import annotations

import csv
import json
import random
import sqlite3
import tarfile
import zipfile
from collections import defaultdict
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path

from widemargin.documents.demo import demo_corpus
from widemargin.documents.record import Document

_IMPORTS = """\
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
"""
_LEARN = """\
pipeline = make_pipeline(TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), LinearSVC())
model = GridSearchCV(pipeline, {"linearsvc__C": [0.1, 1, 10]}, cv=5)
model.fit(train["text"], train["label"])
"""
_SCORE = """\
print(model.score(test["text"], test["label"]))
"""
_TRAIN = "widemargin train {} -o model.wm --estimate none --quiet"
_EVALUATE = "widemargin evaluate model.wm {} --json --quiet"


@dataclass(frozen=True)
class Task:
    """What a user wants, the lines to type, and the lines of a script with scikit-learn."""

    name: str
    ours: str
    peer: str


def _learned(name: str, train: str, test: str, read: str, options: str = "") -> Task:
    commands = [_TRAIN.format(f"{train} {options}".strip()), _EVALUATE.format(test)]
    return Task(name, "\n".join(commands), _IMPORTS + read + _LEARN + _SCORE)


TASKS = {
    "zip": _learned(
        "a zipped CSV file",
        "train.zip",
        "test.zip",
        'train, test = pd.read_csv("train.zip"), pd.read_csv("test.zip")\n',
    ),
    "columns": _learned(
        "two text columns",
        "train.csv",
        "test.csv",
        """\
train, test = pd.read_csv("train.csv"), pd.read_csv("test.csv")
for part in (train, test):
    part["text"] = part["title"] + "\\n" + part["text"]
""",
        "--text title --text text",
    ),
    "headerless": _learned(
        "a CSV file without a header",
        "train-plain.csv",
        "test-plain.csv",
        """\
names = ["label", "text"]
train = pd.read_csv("train-plain.csv", header=None, names=names)
test = pd.read_csv("test-plain.csv", header=None, names=names)
""",
        "--no-header",
    ),
    "several": _learned(
        "several files",
        "part-1.csv part-2.csv",
        "test.csv",
        """\
train = pd.concat([pd.read_csv("part-1.csv"), pd.read_csv("part-2.csv")])
test = pd.read_csv("test.csv")
""",
    ),
    "json": _learned(
        "a JSON array",
        "train.json",
        "test.json",
        'train, test = pd.read_json("train.json"), pd.read_json("test.json")\n',
    ),
    "excel": _learned(
        "an Excel sheet",
        "train.xlsx",
        "test.xlsx",
        'train, test = pd.read_excel("train.xlsx"), pd.read_excel("test.xlsx")\n',
    ),
    "sql": _learned(
        "a query of a database",
        '--sql sqlite:///tickets.db "select text, label from train"',
        '--sql sqlite:///tickets.db "select text, label from test"',
        """\
import sqlite3
database = sqlite3.connect("tickets.db")
train = pd.read_sql("select text, label from train", database)
test = pd.read_sql("select text, label from test", database)
""",
    ),
    "folders": _learned(
        "a tar archive of class folders",
        "train.tar.gz",
        "test.tar.gz",
        """\
import tarfile
def read(name):
    with tarfile.open(name) as archive:
        members = [member for member in archive if member.isfile()]
        texts = [archive.extractfile(member).read().decode() for member in members]
    return pd.DataFrame({"text": texts, "label": [member.name.split("/")[0] for member in members]})
train, test = read("train.tar.gz"), read("test.tar.gz")
""",
    ),
    "files": _learned(
        "one file per class, a document per line",
        "train-classes",
        "test-classes",
        """\
from pathlib import Path
def read(folder):
    rows = [(line, file.stem) for file in Path(folder).iterdir() for line in file.read_text().splitlines()]
    return pd.DataFrame(rows, columns=["text", "label"])
train, test = read("train-classes"), read("test-classes")
""",
        "--format lines --label-from name",
    ),
    "split": Task(
        "one file: split it, train, measure",
        "widemargin split all.csv --test 0.333 -o parts --quiet\n"
        + _TRAIN.format("parts/train.jsonl")
        + "\n"
        + _EVALUATE.format("parts/test.jsonl"),
        _IMPORTS
        + """\
from sklearn.model_selection import train_test_split
all_rows = pd.read_csv("all.csv")
train, test = train_test_split(all_rows, test_size=0.333, stratify=all_rows["label"], random_state=0)
"""
        + _LEARN
        + _SCORE,
    ),
}


def prepare(folder: Path) -> None:
    """Write the demo corpus in every form that the tasks read."""
    documents = list(demo_corpus())
    random.Random(0).shuffle(documents)
    cut = 2 * len(documents) // 3
    _write_csv(folder / "all.csv", documents)
    database = sqlite3.connect(folder / "tickets.db")
    for name, part in (("train", documents[:cut]), ("test", documents[cut:])):
        _write_csv(folder / f"{name}.csv", part)
        rows = [{"id": d.id, "text": d.text, "label": _label(d)} for d in part]
        (folder / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
        with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(folder / f"{name}.csv", f"{name}.csv")
        with open(folder / f"{name}-plain.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows((row["label"], row["text"]) for row in rows)
        database.execute(f"create table {name} (text, label)")
        database.executemany(f"insert into {name} values (?, ?)", [(r["text"], r["label"]) for r in rows])
        _write_excel(folder / f"{name}.xlsx", rows)
        _write_folders(folder / f"{name}.tar.gz", part)
        _write_classes(folder / f"{name}-classes", part)
    database.commit()
    database.close()
    _write_csv(folder / "part-1.csv", documents[: cut // 2])
    _write_csv(folder / "part-2.csv", documents[cut // 2 : cut])


def _label(document: Document) -> str:
    assert document.labels is not None
    return document.labels[0]


def _write_csv(path: Path, documents: list[Document]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "title", "text", "label"])
        writer.writerows((d.id, d.id.rpartition(".")[2], d.text, _label(d)) for d in documents)


def _write_excel(path: Path, rows: list[dict[str, str]]) -> None:
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sheet = book.create_sheet("tickets")
    sheet.append(["text", "label"])
    for row in rows:
        sheet.append([row["text"], row["label"]])
    book.save(path)


def _write_folders(path: Path, documents: list[Document]) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for number, document in enumerate(documents):
            data = document.text.encode()
            member = tarfile.TarInfo(f"{_label(document)}/{number}.txt")
            member.size = len(data)
            archive.addfile(member, BytesIO(data))


def _write_classes(folder: Path, documents: list[Document]) -> None:
    lines: dict[str, StringIO] = defaultdict(StringIO)
    for document in documents:
        lines[_label(document)].write(" ".join(document.text.split()) + "\n")
    folder.mkdir()
    for label, text in lines.items():
        (folder / f"{label}.txt").write_text(text.getvalue(), encoding="utf-8")
