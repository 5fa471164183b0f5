"""Papers use the published collections where these are on the machine, and say so."""

from __future__ import annotations

import json
import lzma
import subprocess
import sys

import pytest

from widemargin.papers.dasgupta import figures_3, figures_5
from widemargin.papers.joachims.random_splits import ohsumed_pool
from widemargin.papers.joachims.text_tasks import ohsumed, ohsumed_documents

WORDS = {"positive": "river stone water bridge", "negative": "engine wheel motor brake"}


def silent(line):
    pass


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("WIDEMARGIN_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def put(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def test_small_tasks_are_those_of_techtc(home):
    put(
        home / "techtc/techtc100.jsonl.xz",
        [
            {
                "id": f"{task}/{side}/{i}",
                "label": f"{task}/{side}",
                "text": f"{words} word{i % 3} other{i % 4} common",
            }
            for task in ("Exp_1_2", "Exp_3_4")
            for side, words in WORDS.items()
            for i in range(10)
        ],
    )
    found = figures_3.run(silent, "3", tasks=2, splits=1, samples=1, sizes=[4])
    assert found.notes[0] == figures_3.TECHTC
    assert not any("newsgroups" in note for note in found.notes)
    assert found.cell("micro-F1: 4", "IG").ours > 90


def test_reuters_is_rcv1(home):
    topics = {"positive": ["GCAT"], "negative": ["CCAT", "C11"]}
    put(
        home / "rcv1/rcv1-v2.jsonl.xz",
        [
            {
                "id": str(i),
                "split": "train" if part == "train" else "test",
                "part": part,
                "labels": topics[side],
                "text": f"{WORDS[side]} stem{i % 3}",
            }
            for part, count in (("train", 12), ("test_pt0", 6), ("test_pt1", 3))
            for i in range(count)
            for side in WORDS
        ],
    )
    (task,) = figures_5.rcv1_task(silent)
    assert task.X_train.shape[0] == 24
    assert task.truth.shape == (12, 3)
    assert task.learn(0.1).micro_f1 == 1


def test_ohsumed_is_the_complete_collection(home):
    put(
        home / "ohsumed/ohsumed-1991.jsonl.xz",
        [
            {
                "id": str(90_000 - i),
                "place": i if i < 8 else 9_992 + i,
                "labels": [["C23", "C14"], ["C04", "C10"], ["C20"], []][i % 4],
                "text": f"title{i}\n{list(WORDS.values())[i % 2]}",
            }
            for i in range(16)
        ],
    )
    documents = ohsumed_documents(silent)
    assert (len(documents.train), len(documents.test)) == (8, 8)
    assert () in documents.train.labels  # abstracts in none of the categories
    assert "complete collection of 1991: 8 training and 8 test" in documents.notes[0]
    task = ohsumed(silent)
    assert task.X_train.shape[0] == 8
    assert documents.notes[0] in task.notes
    assert ohsumed(silent, split=None).X_train.shape[0] == 16
    assert documents.notes[0] in ohsumed_pool(silent).notes


@pytest.mark.parametrize("damaged", [False, True])
def test_on_the_command_line(home, damaged):
    folder = home / "given" / "Exp_1_2"
    folder.mkdir(parents=True)
    page = "<dmoz_doc>\nid=0\n<dmoz_subdoc>\nSome text\n</dmoz_subdoc>\n</dmoz_doc>\n"
    (folder / "all_pos.txt").write_text(page)
    if not damaged:
        (folder / "all_neg.txt").write_text(page)
    command = [sys.executable, "-m", "widemargin", "corpus", "fetch", "techtc100", "--archive"]
    done = subprocess.run([*command, str(home / "given")], capture_output=True, text=True, check=False)
    assert done.returncode == (65 if damaged else 0), done.stderr
    if damaged:
        assert "Exp_1_2 has only the positive pages" in done.stderr
    assert (home / "cache/widemargin/corpora/techtc/techtc100.jsonl.xz").exists() != damaged
