"""`predict` and `evaluate` at other thresholds than those of the model."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import TICKETS, write_jsonl


@pytest.fixture(scope="module")
def task(tmp_path_factory, run):
    """A model of label sets, its documents, and the scores that it gives them."""
    folder = tmp_path_factory.mktemp("thresholds")
    data = write_jsonl(folder / "tickets.jsonl", TICKETS)
    model = folder / "sets.wm"
    assert (
        run("train", data, "-o", model, "--tune", "none", "--multilabel", "--estimate", "none").returncode
        == 0
    )
    rows = [json.loads(line) for line in run("predict", model, data, "--scores").stdout.splitlines()]
    return model, data, rows


def test_predict(here, task):
    model, data, rows = task
    scores = sorted(row["scores"]["billing"] for row in rows)
    middle = (scores[4] + scores[5]) / 2
    done = here("predict", model, data, "--thresholds", f"billing={middle}", "--thresholds", "network=never")
    assert done.returncode == 0, done.stderr
    for before, line in zip(rows, done.stdout.splitlines(), strict=True):
        labels = json.loads(line)["labels"]
        assert ("billing" in labels) == (before["scores"]["billing"] > middle)
        assert "network" not in labels
        assert ("hardware" in labels) == ("hardware" in before["labels"]), "others stay"


def test_a_file(here, task, tmp_path):
    model, data, rows = task
    file = tmp_path / "thresholds.json"
    file.write_text(json.dumps({"billing": "always", "network": 0.25}), encoding="utf-8")
    done = here("predict", model, data, "--thresholds", file)
    for before, line in zip(rows, done.stdout.splitlines(), strict=True):
        labels = json.loads(line)["labels"]
        assert "billing" in labels
        assert ("network" in labels) == (before["scores"]["network"] > 0.25)


def test_evaluate(here, task):
    model, data, _ = task
    done = here("evaluate", model, data, "--thresholds", "billing=never", "--json")
    assert done.returncode == 0, done.stderr
    by_label = {row["label"]: row for row in json.loads(done.stdout)["measured"]["labels"]}
    assert (by_label["billing"]["predicted"], by_label["billing"]["threshold"]) == (0, "never")
    shown = here("evaluate", model, data, "--thresholds", "billing=never").stdout
    assert "estimated" not in shown


def test_exclusive_classes(here, model, tickets):
    """A class with a very high threshold is never the best one, and another one is."""
    done = here("predict", model, tickets, "--thresholds", "billing=100")
    labels = [json.loads(line)["labels"] for line in done.stdout.splitlines()]
    assert all(len(found) == 1 and found != ["billing"] for found in labels)


@pytest.mark.parametrize(
    ("given", "says", "code"),
    [
        ("postage=1", "has no label 'postage'", 2),
        ("billing=high", "'high' is not a threshold", 2),
        ("billing=nan", "'nan' is not a threshold", 2),
        ("missing.json", "there is no such file", 66),
    ],
)
def test_mistakes(here, task, given, says, code):
    model, data, _ = task
    done = here("predict", model, data, "--thresholds", given)
    assert done.returncode == code
    assert says in done.stderr


@pytest.mark.parametrize("content", ["[1]", '{"billing": "high"}', '{"billing": true}', "{"])
def test_damaged_files(here, task, tmp_path, content):
    model, data, _ = task
    file = tmp_path / "thresholds.json"
    file.write_text(content, encoding="utf-8")
    done = here("predict", model, data, "--thresholds", file)
    assert done.returncode == 65
    assert "--thresholds" in done.stderr


def test_costs_and_exclusive_classes_refuse(here, model, tickets, tmp_path):
    costs = tmp_path / "costs.json"
    costs.write_text("{}", encoding="utf-8")
    done = here("predict", model, tickets, "--thresholds", "billing=1", "--costs", costs)
    assert (done.returncode, "either" in done.stderr) == (2, True)
    done = here("predict", model, tickets, "--thresholds", "billing=never")
    assert (done.returncode, "finite" in done.stderr) == (2, True)
