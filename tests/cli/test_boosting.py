"""Boosting on the command line."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import TICKETS
from widemargin import BoostedTrees, TextClassifier
from widemargin.tune.learners import text_options


@pytest.mark.parametrize("committees", ["per-label", "shared"])
@pytest.mark.parametrize("votes", ["real", "abstaining", "discrete"])
def test_trained_estimated_saved_and_used(here, tickets, tmp_path, committees, votes):
    model = tmp_path / "boosted.wm"
    options = ("--learner", "boosted-trees", "--base", "stumps", "--rounds", "20")
    options += ("--committees", committees, "--votes", votes)
    done = here("train", tickets, "-o", model, *options, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["estimates"]["method"] == "k-fold"
    learner = TextClassifier.load(model).learner_
    assert (learner.n_estimators, learner.committees, learner.votes) == (20, committees, votes)
    rows = [json.loads(line) for line in here("predict", model, tickets, "-q").stdout.splitlines()]
    assert [row["labels"] for row in rows] == [ticket["labels"] for ticket in TICKETS]
    shown = here("inspect", model).stdout
    assert "boosted-trees" in shown
    assert f"votes={votes}" in shown
    assert "terms for it" in shown
    found = json.loads(here("explain", model, TICKETS[0]["text"], "--json").stdout)
    total = found["bias"] + sum(part["value"] for part in found["contributions"])
    assert total == pytest.approx(found["score"], abs=1e-9)
    assert any(part["value"] != 0 for part in found["contributions"])


@pytest.mark.parametrize("votes", ["real", "discrete"])
def test_trees(here, tickets, tmp_path, votes):
    model = tmp_path / "boosted.wm"
    options = ("--learner", "boosted-trees", "--base", "trees", "--votes", votes, "--max-depth", "3")
    done = here("train", tickets, "-o", model, *options, "--json")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in here("predict", model, tickets, "-q").stdout.splitlines()]
    assert [row["labels"] for row in rows] == [ticket["labels"] for ticket in TICKETS]
    shown = here("inspect", model).stdout
    assert "base=trees" in shown
    assert "max_depth=3" in shown
    done = here("explain", model, TICKETS[0]["text"])
    assert done.returncode == 2
    assert "Boost stumps" in " ".join(done.stderr.split())


def test_terms_are_binary():
    assert text_options("boosted-trees") == BoostedTrees.text_options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--learner", "boosted-trees", "--C", "1"), "--C does not apply to boosted-trees"),
        (("--learner", "boosted-trees", "--rounds", "0"), "greater than or equal to 1"),
        (("--learner", "boosted-trees", "--votes", "abstaining"), 'votes="abstaining" is for stumps'),
        (("--learner", "boosted-trees", "--committees", "shared"), 'committees="shared" is for stumps'),
        (("--learner", "boosted-trees", "--votes", "loud"), "'loud' is not one of"),
        (("--rounds", "5"), "--rounds does not apply to linear-svm. It is for --learner boosted-trees."),
    ],
)
def test_wrong_options_are_refused(here, tickets, tmp_path, options, message):
    done = here("train", tickets, "-o", tmp_path / "m.wm", *options)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
