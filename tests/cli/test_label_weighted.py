"""--learner label-weighted-svm: trained, estimated by folds, saved, used, explained, and refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from widemargin import LabelWeightedSVM, TextClassifier

WORDS = {"grain": "wheat corn harvest crop", "money": "bank rate loan profit", "fuel": "oil gas barrel well"}


@pytest.fixture(scope="module")
def articles(tmp_path_factory):
    """60 documents with one label, or two."""
    generator = np.random.default_rng(0)
    lines = []
    for _ in range(60):
        labels = sorted(generator.choice(list(WORDS), size=generator.integers(1, 3), replace=False))
        words = [*" ".join(WORDS[label] for label in labels).split(), "the", "of", "and"]
        text = " ".join(generator.choice(words, size=8))
        lines.append({"text": text, "labels": labels})
    path = tmp_path_factory.mktemp("articles") / "articles.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def train(here, articles, model, *options):
    done = here("train", articles, "-o", model, "--learner", "label-weighted-svm", *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_trained_estimated_saved_and_used(here, articles, tmp_path):
    model = tmp_path / "m.wm"
    found = json.loads(train(here, articles, model, "--json"))
    assert found["estimates"]["method"] == "k-fold"
    lines = [json.loads(line) for line in articles.read_text(encoding="utf-8").splitlines()]
    rows = [json.loads(line) for line in here("predict", model, articles, "-q").stdout.splitlines()]
    right = sum(row["labels"] == line["labels"] for row, line in zip(rows, lines, strict=True))
    assert right > 50
    assert isinstance(TextClassifier.load(model).learner_, LabelWeightedSVM)
    shown = here("inspect", model).stdout
    assert "label-weighted-svm" in shown
    assert "terms for it" in shown
    assert "wheat" in here("inspect", model, "--label", "grain").stdout
    found = json.loads(here("explain", model, "corn and oil", "--label", "grain", "--json").stdout)
    total = found["bias"] + sum(part["value"] for part in found["contributions"])
    assert total == pytest.approx(found["score"], abs=1e-5)
    assert max(found["contributions"], key=lambda part: part["value"])["term"] == "corn"
    assert here("evaluate", model, articles, "--json").returncode == 0


def test_the_mix_is_that_of_the_factors(here, articles, tmp_path):
    train(here, articles, tmp_path / "m.wm", "--mix", "0", "--estimate", "none")
    assert (TextClassifier.load(tmp_path / "m.wm").learner_.squared_factors_ == 1).all()
    train(here, articles, tmp_path / "n.wm", "--mix", "0.9", "--C", "2", "--estimate", "none")
    learner = TextClassifier.load(tmp_path / "n.wm").learner_
    assert (learner.mix, learner.C) == (0.9, 2.0)
    assert (learner.squared_factors_ < 0.9).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--estimate", "leave-one-out"), "Use k-fold"),
        (("--estimate", "one-step"), "Use k-fold"),
        (("--estimate", "xi-alpha"), "Use k-fold"),
        (("--mix", "2"), "mix=2.0: expected a"),
        (("--bias", "unregularized"), "--bias unregularized: label-weighted-svm takes a size, such as 1"),
        (("--loss", "hinge"), "--loss does not apply to label-weighted-svm"),
    ],
)
def test_wrong_options_are_refused(here, articles, tmp_path, options, message):
    done = here("train", articles, "-o", tmp_path / "m.wm", "--learner", "label-weighted-svm", *options)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


def test_the_mix_is_for_this_learner_only(here, articles, tmp_path):
    done = here("train", articles, "-o", tmp_path / "m.wm", "--mix", "0.3")
    assert done.returncode == 2
    assert "--mix does not apply to linear-svm. It is for --learner label-weighted-svm." in " ".join(
        done.stderr.split()
    )


def test_svm_light_has_no_such_model(here, tmp_path):
    vectors = tmp_path / "vectors.dat"
    vectors.write_text("".join(f"{1 if i % 2 else -1} {1 + i % 2}:1 3:{i % 3 + 1}\n" for i in range(12)))
    train(here, vectors, tmp_path / "m.wm", "--estimate", "none")
    done = here("inspect", tmp_path / "m.wm", "--export-svmlight", tmp_path / "model")
    assert done.returncode == 2
    assert "SVM-light has no model for a LabelWeightedSVM" in " ".join(done.stderr.split())
