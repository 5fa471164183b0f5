"""--learner average-of: trained on blocks, estimated by folds, saved, used, explained, and refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from widemargin import AverageOf, TextClassifier

WORDS = {"grain": "wheat corn harvest crop", "money": "bank rate loan profit", "fuel": "oil gas barrel well"}


@pytest.fixture(scope="module")
def articles(tmp_path_factory):
    """60 documents with one label, or two."""
    generator = np.random.default_rng(0)
    lines = []
    for _ in range(60):
        labels = sorted(generator.choice(list(WORDS), size=generator.integers(1, 3), replace=False))
        words = [*" ".join(WORDS[label] for label in labels).split(), "the", "of", "and"]
        lines.append({"text": " ".join(generator.choice(words, size=8)), "labels": labels})
    path = tmp_path_factory.mktemp("articles") / "articles.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("blocks", [(), ("--blocks", "words,bigrams:0.5,chars:0.5")])
def test_trained_estimated_saved_and_used(here, articles, tmp_path, blocks):
    model = tmp_path / "m.wm"
    done = here("train", articles, "-o", model, "--learner", "average-of", *blocks, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["estimates"]["method"] == "k-fold"
    learner = TextClassifier.load(model).learner_
    assert isinstance(learner, AverageOf)
    assert [type(member).__name__ for member in learner.members_] == ["LabelWeightedSVM", "LinearSVM"]
    narrow, wide = (ranges[-1][1] for ranges in learner.ranges_)
    assert (narrow < wide) == bool(blocks)
    lines = [json.loads(line) for line in articles.read_text(encoding="utf-8").splitlines()]
    rows = [json.loads(line) for line in here("predict", model, articles, "-q").stdout.splitlines()]
    assert sum(row["labels"] == line["labels"] for row, line in zip(rows, lines, strict=True)) > 50
    shown = here("inspect", model).stdout
    assert "average-of" in shown
    assert "wheat" in here("inspect", model, "--label", "grain").stdout
    found = json.loads(here("explain", model, "corn and oil", "--label", "grain", "--json").stdout)
    total = found["bias"] + sum(part["value"] for part in found["contributions"])
    assert total == pytest.approx(found["score"], abs=1e-5)
    assert here("evaluate", model, articles, "--json").returncode == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--estimate", "leave-one-out"), "Use k-fold"),
        (("--estimate", "xi-alpha"), "Use k-fold"),
        (("--C", "2"), "--C does not apply to average-of"),
        (("--balance", "0.2"), "--balance does not apply to average-of"),
    ],
)
def test_wrong_options_are_refused(here, articles, tmp_path, options, message):
    done = here("train", articles, "-o", tmp_path / "m.wm", "--learner", "average-of", *options)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
