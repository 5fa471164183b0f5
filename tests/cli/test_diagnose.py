"""`widemargin diagnose`: what it prints, what it refuses, and what every option does."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import TICKETS, write_jsonl

WORDS = ["again", "since monday", "after lunch", "in the office", "at home", "all day", "with every user"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The tickets in seven variants each, one of them twice with another label."""
    records = [
        {"id": f"{ticket['id']}-{i}", "text": f"{ticket['text']} {words}", "labels": ticket["labels"]}
        for ticket in TICKETS
        for i, words in enumerate(WORDS)
    ]
    records.append({**records[0], "id": "again", "labels": ["network"]})
    return write_jsonl(tmp_path_factory.mktemp("tickets") / "tickets.jsonl", records)


@pytest.fixture(scope="module")
def test_set(data):
    records = [json.loads(line) for line in data.read_text().splitlines()]
    some = [{"id": "leak", "text": records[3]["text"], "labels": records[3]["labels"]}]
    some += [{"id": f"new{i}", "text": f"something else about item {i}", "labels": None} for i in range(5)]
    return write_jsonl(data.with_name("test.jsonl"), some)


def test_text(run, data, test_set):
    done = run("diagnose", data, test_set)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("127 documents, 3 labels (one label per document)")
    assert "What to do next:" in lines
    assert "  1. Remove 1 test document with a copy among the training documents (1 exact)." in done.stdout
    assert "Settle the labels of 1 group of copies that have different labels (2 documents)." in done.stdout
    assert "t0-0, again" in done.stdout
    assert "Labels, hardest first" in done.stdout
    assert "words mark this category" in done.stdout
    assert "Seconds: read" in done.stderr


def test_json(run, data, test_set):
    done = run("diagnose", data, test_set, "--json", "--quiet", "--debug", "--threads", "1", "--seed", "3")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["documents"], found["test_documents"], found["copies"]["leaked_exact"]) == (127, 6, 1)
    assert [len(one["curve"]) for one in found["categories"]] == [4, 4, 4]
    assert found["drift"]["found"] in (True, False)
    again = json.loads(run("diagnose", data, test_set, "--json", "-q", "--seed", "3").stdout)
    other = json.loads(run("diagnose", data, test_set, "--json", "-q", "--seed", "4").stdout)
    for one in (found, again, other):
        one.pop("seconds")
    assert again == found, "the same for any number of threads"
    assert other["categories"] != found["categories"]


def test_target(here, data):
    easy = json.loads(here("diagnose", data, "--json", "--target", "0.5").stdout)
    assert {one["needed"]["verdict"] for one in easy["categories"]} == {"reached"}
    hard = json.loads(here("diagnose", data, "--json", "--target", "0.999").stdout)
    assert all(one["needed"]["target"] == 0.999 for one in hard["categories"])
    assert {one["needed"]["verdict"] for one in hard["categories"]} != {"reached"}


@pytest.mark.parametrize("wrong", ["0", "1", "90"])
def test_a_target_that_is_no_f1(here, data, wrong):
    done = here("diagnose", data, "--target", wrong)
    assert done.returncode == 2
    assert "between 0 and 1" in done.stderr


def test_top_and_describe(here, data):
    done = here("diagnose", data, "--top", "1", "--describe", "network", "--describe", "billing")
    assert done.returncode == 0
    assert "2 more labels: --top 3" in done.stdout
    assert "network: 43 of 127 documents" in done.stdout
    assert "billing: 42 of 127 documents" in done.stdout
    assert "hardware: " not in done.stdout
    done = here("diagnose", data, "--describe", "nothing")
    assert done.returncode == 2
    assert "there is no such label" in done.stderr


def test_plot(here, data, tmp_path):
    pytest.importorskip("matplotlib")
    assert here("diagnose", data, "--plot", tmp_path / "curves.svg").returncode == 0
    assert b"Learning curves" in (tmp_path / "curves.svg").read_bytes()
    assert here("diagnose", data, "--plot", tmp_path / "curves.doc").returncode == 2


class TestReading:
    def test_multilabel(self, here, data):
        found = json.loads(here("diagnose", data, "--multilabel", "--json").stdout)
        assert found["task"] == "multilabel"

    def test_standard_input(self, run, data):
        done = run("diagnose", "-", "--format", "jsonl", "--json", stdin=data.read_text())
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["documents"] == 127
        assert run("diagnose", "-", "-").returncode == 2


class TestBadInput:
    @pytest.mark.parametrize(
        ("records", "message"),
        [
            ([{"id": "a", "text": "x y", "labels": ["one"]}] * 3, "one class"),
            ([{"id": "a", "text": "x y", "labels": None}] * 3, "has a label"),
            ([{"id": "a", "text": "!", "labels": [label]} for label in ("one", "two")], "no terms"),
        ],
    )
    def test_documents(self, here, tmp_path, records, message):
        path = write_jsonl(tmp_path / "bad.jsonl", records)
        done = here("diagnose", path)
        assert (done.returncode, done.stdout) == (65, "")
        assert "bad.jsonl" in done.stderr
        assert message in done.stderr

    def test_vectors(self, here, tmp_path):
        path = tmp_path / "data.svm"
        path.write_text("1 1:1\n-1 2:1\n")
        done = here("diagnose", path)
        assert done.returncode == 65
        assert "holds vectors" in done.stderr

    def test_missing_and_empty(self, here, data, tmp_path):
        assert here("diagnose", tmp_path / "nothing.jsonl").returncode == 66
        assert here("diagnose", data, tmp_path / "nothing.jsonl").returncode == 66
        (tmp_path / "empty.jsonl").touch()
        assert here("diagnose", data, tmp_path / "empty.jsonl").returncode == 65

    def test_few_documents(self, here, tickets):
        done = here("diagnose", tickets)
        assert done.returncode == 0
        assert done.stdout.count("not enough to say") >= 3
