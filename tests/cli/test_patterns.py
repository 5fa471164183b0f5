"""Regular expressions of words on the command line."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import write_jsonl

RECORDS = [
    {"id": str(i), "text": text, "labels": [label]}
    for i, (text, label) in enumerate(
        [
            ("<p>wheat-price up</p> A1 B2", "grain"),
            ("<p>corn-price down</p> A1", "grain"),
            ("<b>bank rate</b> B2 C3", "money"),
            ("<b>bank profit</b> C3", "money"),
        ]
        * 5
    )
]
HOW = ("--token-pattern", "[a-z]+(?:-[a-z]+)*", "--ignore-pattern", "<[^>]*>")


@pytest.fixture
def data(tmp_path):
    return write_jsonl(tmp_path / "data.jsonl", RECORDS)


def test_train(here, data, tmp_path):
    done = here("train", data, "-o", tmp_path / "m.wm", *HOW, "--tune", "none", "--json")
    assert done.returncode == 0, done.stderr
    line = json.loads(here("explain", tmp_path / "m.wm", "<p>Wheat-price up", "--json").stdout)
    assert [part["text"] for part in line["contributions"]] == ["Wheat-price", "up"]


def test_streams(here, data, tmp_path):
    done = here("train", data, "-o", tmp_path / "m.wm", *HOW, "--stream")
    assert done.returncode == 0, done.stderr
    line = json.loads(here("explain", tmp_path / "m.wm", "<p>Wheat-price up", "--json").stdout)
    assert [part["text"] for part in line["contributions"]] == ["Wheat-price", "up"]


def test_label(here, data, tmp_path):
    model = tmp_path / "m.wm"
    done = here("label", data, data, "-o", tmp_path / "out.jsonl", *HOW, "--model", model, "-q")
    assert done.returncode == 0, done.stderr
    line = json.loads(here("explain", model, "<p>Wheat-price", "--json").stdout)
    assert {part["text"] for part in line["contributions"]} == {"Wheat-price"}


def test_compare(here, data):
    found = json.loads(here("compare", data, "--learners", "linear-svm", *HOW, "--json", "-q").stdout)
    assert found["rows"][0]["status"] == "measured"
    assert "--token-pattern '[a-z]+(?:-[a-z]+)*'" in found["command"]
    assert "--ignore-pattern '<[^>]*>'" in found["command"]


def test_refused(here, data, tmp_path):
    done = here("train", data, "-o", tmp_path / "m.wm", "--token-pattern", "a(?=b)")
    assert done.returncode == 2
    assert "--token-pattern='a(?=b)' has a look-around" in " ".join(done.stderr.split())
