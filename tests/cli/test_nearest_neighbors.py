"""``--learner nearest-neighbors``: its options, its model file and its explanations."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import TICKETS
from widemargin import TextClassifier


@pytest.mark.parametrize("vote", ["weighted", "equal"])
def test_trained_estimated_saved_and_used(here, tickets, tmp_path, vote):
    model = tmp_path / "near.wm"
    options = ("--learner", "nearest-neighbors", "--neighbors", "3", "--vote", vote)
    done = here("train", tickets, "-o", model, *options, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["estimates"]["method"] == "leave-one-out"
    rows = [json.loads(line) for line in here("predict", model, tickets, "-q").stdout.splitlines()]
    assert [row["labels"] for row in rows] == [ticket["labels"] for ticket in TICKETS]
    shown = here("inspect", model).stdout
    assert "nearest-neighbors" in shown
    assert "n_neighbors=3" in shown
    assert f"vote={vote}" in shown
    assert f"keeps        {len(TICKETS)} documents, " in shown
    learner = TextClassifier.load(model).learner_
    assert (learner.n_neighbors, learner.vote) == (3, vote)


def test_explanations_list_the_voters(here, tickets, tmp_path):
    model = tmp_path / "near.wm"
    assert here("train", tickets, "-o", model, "--learner", "nearest-neighbors").returncode == 0
    found = json.loads(here("explain", model, "my invoice", "--json").stdout)
    assert found["label"] == "billing"
    total = found["bias"] + sum(part["value"] for part in found["contributions"])
    assert total == pytest.approx(found["score"], abs=1e-5)
    first = found["voters"][0]
    assert first["labels"] == TICKETS[first["document"]]["labels"] == ["billing"]
    assert sum(voter["share"] for voter in found["voters"]) == pytest.approx(1)
    cosines = [voter["cosine"] for voter in found["voters"]]
    assert cosines == sorted(cosines, reverse=True)
    shown = here("explain", model, "my invoice").stdout
    assert "training document" in shown
    assert f"{cosines[0]:.4f}" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--learner", "nearest-neighbors", "--C", "1"), "--C does not apply to nearest-neighbors"),
        (
            ("--learner", "nearest-neighbors", "--neighbors", "1000"),
            f"n_neighbors=1000, but there are only {len(TICKETS)} training documents. Pass at most",
        ),
        (("--neighbors", "3"), "It is for --learner nearest-neighbors or profiles."),
        (("--learner", "profiles", "--vote", "equal"), "--vote does not apply to profiles"),
        (("--learner", "nearest-neighbors", "--vote", "loud"), "'loud' is not one of"),
    ],
)
def test_wrong_options_are_refused(here, tickets, tmp_path, options, message):
    done = here("train", tickets, "-o", tmp_path / "m.wm", *options)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
