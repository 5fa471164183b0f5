"""The demo corpus changes with the releases it is made of: these tests assert relations, not digits."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from widemargin.documents import demo
from widemargin.documents.demo_areas import AREAS

PROBE = """
import json, sys, time
from widemargin.documents.demo import demo_corpus
start = time.perf_counter()
corpus = demo_corpus()
seconds = time.perf_counter() - start
with open(sys.argv[1], "w") as file:
    json.dump({"seconds": seconds, "ids": corpus.ids, "modules": list(sys.modules)}, file)
"""


def run(code, *arguments, flags=(), seed="0"):
    return subprocess.run(
        [sys.executable, *flags, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """What a fresh interpreter does and prints while it collects the corpus."""
    path = tmp_path_factory.mktemp("demo") / "probe.json"
    process = run(PROBE, path, flags=["-W", "always"])
    assert process.returncode == 0, process.stderr
    return process, json.loads(path.read_text())


def test_several_thousand_documents_in_about_25_areas():
    corpus = demo.demo_corpus()
    assert 3_500 <= len(corpus) <= 7_000
    counts = corpus.label_counts()
    assert 22 <= len(counts) <= 30
    assert set(counts) <= set(AREAS)
    assert min(counts.values()) >= 40
    assert max(counts.values()) <= demo.MAX_PER_AREA
    assert all(len(labels) == 1 for labels in corpus.labels)


def test_texts_are_distinct_and_long_enough_and_ids_are_names():
    corpus = demo.demo_corpus()
    assert len(set(corpus.texts)) == len(set(corpus.ids)) == len(corpus)
    assert min(map(len, corpus.texts)) >= demo.MIN_CHARACTERS
    by_id = dict(zip(corpus.ids, zip(corpus.texts, corpus.labels, strict=True), strict=True))
    text, labels = by_id["zipfile.ZipFile.extractall"]
    assert labels == ("compression",)
    assert "archive" in text
    assert any(name.startswith("scipy.stats.") for name in corpus.ids)


def test_every_run_collects_the_same(fresh, tmp_path):
    # Compared with a second interpreter, since the test runner replaces a few functions in its own.
    run(PROBE, tmp_path / "again.json", seed="1")
    assert json.loads((tmp_path / "again.json").read_text())["ids"] == fresh[1]["ids"]


def test_it_is_collected_quietly_and_quickly(fresh):
    process, probe = fresh
    assert process.stdout == ""
    assert process.stderr == ""
    assert probe["seconds"] < 15  # two or three on an idle machine


def test_nothing_with_side_effects_is_imported(fresh):
    _, probe = fresh
    roots = {name.partition(".")[0] for name in probe["modules"]}
    assert not roots & {"this", "antigravity", "turtle", "tkinter", "idlelib", "test", "readline"}


def test_stripped_docstrings_are_explained():
    process = run(
        "from widemargin.documents.demo import demo_corpus\n"
        "from widemargin.errors import DataError\n"
        "try:\n    demo_corpus()\nexcept DataError as error:\n    print(error)\n",
        flags=["-OO"],
    )
    assert "-OO" in process.stdout
    assert "strips" in process.stdout


def test_modules_that_a_platform_lacks_are_skipped(monkeypatch):
    monkeypatch.setattr(demo, "AREAS", {"text": ("no_such_module", "textwrap")})
    assert demo.demo_corpus().ids[0].startswith("textwrap.")
