"""``train --stream --drift-alarm N``: what it prints, and when."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cli.conftest import WORDS


def lines(n: int, change: int | None) -> str:
    """Tickets that are urgent if they are about billing, after the change if they are about networks."""
    rng = np.random.default_rng(0)
    names, made = list(WORDS), []
    for i in range(n):
        area = names[rng.integers(3)]
        urgent = area == ("billing" if change is None or i < change else "network")
        text = ", ".join(rng.choice(WORDS[area], 2))
        label = "urgent" if urgent else "later"
        made.append(json.dumps({"id": str(i), "text": text, "labels": [label]}) + "\n")
    return "".join(made)


ARGUMENTS = ("train", "-", "--stream", "--learner", "balanced-winnow", "--hashed", "4096")


def test_a_change_is_reported_at_once_and_at_the_end(run, tmp_path):
    done = run(*ARGUMENTS, "-o", tmp_path / "m.wm", "--drift-alarm", "200", stdin=lines(800, 500))
    assert done.returncode == 0, done.stderr
    assert "The documents changed at about document" in done.stderr
    assert "The documents changed at about document" in done.stdout


def test_json_lists_the_alarms(run, tmp_path):
    done = run(*ARGUMENTS, "-o", tmp_path / "m.wm", "--drift-alarm", "200", "--json", stdin=lines(800, 500))
    assert done.returncode == 0, done.stderr
    drift = json.loads(done.stdout)["drift"]
    assert drift["window"] == 200
    first = drift["alarms"][0]
    assert first["fired"]
    assert abs(first["changed_at"] - 500) <= 80
    assert 500 < first["seen"] <= 600
    assert first["windows"][0]["documents"] > first["chosen"]


def test_without_a_change_there_is_no_alarm(run, tmp_path):
    done = run(*ARGUMENTS, "-o", tmp_path / "m.wm", "--drift-alarm", "200", stdin=lines(800, None))
    assert done.returncode == 0, done.stderr
    assert "The drift alarm found no change." in done.stdout
    assert "changed at" not in done.stderr


def test_the_model_is_the_same_with_the_alarm(run, tmp_path):
    for name, more in (("a", ()), ("b", ("--drift-alarm", "100"))):
        assert run(*ARGUMENTS, "-o", tmp_path / name, *more, "-q", stdin=lines(400, 200)).returncode == 0
    from widemargin import TextClassifier

    first, second = (TextClassifier.load(tmp_path / name).learner_.coef_ for name in ("a", "b"))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--learner", "perceptron", "--drift-alarm", "200"], "need --stream"),
        (["--drift-alarm", "200"], "--drift-alarm does not apply to linear-svm"),
        (["--stream", "--learner", "perceptron", "--drift-alarm", "50"], "100"),
        (["--stream", "--learner", "perceptron", "--drift-alarm", "many"], "valid integer"),
    ],
)
def test_what_is_refused(run, tickets, tmp_path, options, words):
    done = run("train", tickets, "-o", tmp_path / "m.wm", *options)
    assert done.returncode == 2
    assert words in done.stderr
