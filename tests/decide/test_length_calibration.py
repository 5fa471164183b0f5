"""Probabilities that know the length of a text, and paths with a price for changes."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from widemargin import LinearSVM, ProfileClassifier, TextClassifier, Vectorizer
from widemargin.decide.length_calibration import LengthCalibration, fit_length_calibration
from widemargin.decide.segments import best_path
from widemargin.errors import UsageError


@pytest.mark.parametrize("n_classes", [2, 5])
def test_factor_and_exponent_are_found_again(n_classes):
    rng = np.random.default_rng(0)
    n, true = 30_000, LengthCalibration(0.7, 0.6, 0.05)
    lengths = rng.integers(20, 201, n)
    scores = rng.normal(0, 0.4, (n, n_classes))
    columns = scores[:, 1:] - scores[:, :1] if n_classes == 2 else scores
    p = true(columns, lengths)
    p = np.hstack([1 - p, p]) if n_classes == 2 else p
    np.testing.assert_allclose(p.sum(axis=1), 1)
    classes = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    found = fit_length_calibration(columns, lengths, classes)
    assert found.factor == pytest.approx(0.7, rel=0.25)
    assert found.exponent == pytest.approx(0.6, abs=0.08)
    assert found.noise == pytest.approx(0.05, abs=0.02)


def test_texts_without_errors_get_a_finite_factor():
    scores = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] * 10)
    found = fit_length_calibration(scores, np.full(30, 50), np.arange(30) % 3)
    assert 0.5 < found(scores, np.full(30, 50)).max() < 1


def test_scores_that_are_all_equal():
    found = fit_length_calibration(np.zeros((30, 3)), np.full(30, 50), np.arange(30) % 3)
    np.testing.assert_allclose(found(np.zeros((1, 3)), [9]), 1 / 3)


def test_lengths_are_required():
    with pytest.raises(UsageError, match="lengths"):
        LengthCalibration(1.0, 1.0)(np.zeros((2, 3)), None)
    with pytest.raises(UsageError, match="vectors"):
        TextClassifier(learner=LinearSVM(), calibration="length", tune=None, estimate=None).fit(
            np.eye(4), list("abab")
        )
    with pytest.raises(UsageError, match="exclusive"):
        TextClassifier(calibration="length", tune=None, estimate=None).fit(
            ["a b", "b c"] * 9, [["x"], ["x", "y"]] * 9
        )


@pytest.mark.parametrize("switch_cost", [0.0, 0.5, 2.0])
def test_the_best_path_against_all_paths(switch_cost):
    rng = np.random.default_rng(1)
    for _ in range(20):
        gains = rng.normal(size=(6, 3))

        def value(path, gains=gains):
            return gains[range(6), path].sum() - switch_cost * np.count_nonzero(np.diff(path))

        best = max(value(np.array(path)) for path in itertools.product(range(3), repeat=6))
        assert value(best_path(gains, switch_cost)) == pytest.approx(best)
    assert best_path(np.zeros((0, 3)), 1.0).tolist() == []
    assert best_path(np.zeros((4, 3)), 0.0).tolist() == [0, 0, 0, 0]


@pytest.mark.needs_corpus("lingua-sentences")
def test_held_out_strings_are_as_often_right_as_they_are_certain(tmp_path, corpus):
    """Of the answers called 90 % certain, 90 % are right: for strings of 20, 50 and 100 bytes."""
    found = corpus("lingua-sentences", None).train
    by_label = {}
    for text, (label,) in zip(found.texts, found.labels, strict=True):
        by_label.setdefault(label, []).append(text)
    records = [{"lang": label, "sentences": by_label[label]} for label in sorted(by_label)[:24]]
    texts = [(text, r["lang"]) for r in records for text in r["sentences"][:300]]
    vectorizer = Vectorizer(units="chars", ngram_range=(1, 4), weighting=None, min_count=2)
    model = TextClassifier(vectorizer, ProfileClassifier(unseen=0.1), calibration="length", estimate=None)
    model.fit(*map(list, zip(*texts, strict=True)))
    model.save(tmp_path / "m.wm")
    model = TextClassifier.load(tmp_path / "m.wm")
    rng = random.Random(0)
    for n in (20, 50, 100):
        strings, labels = [], []
        for record in records:
            for text in record["sentences"][300:700]:
                data = text.encode()
                if len(data) >= n:
                    start = rng.randrange(len(data) - n + 1)
                    strings.append(data[start : start + n].decode("utf-8", "ignore"))
                    labels.append(record["lang"])
        p = model.predict_proba(strings)
        top, right = p.max(axis=1), model.classes_[p.argmax(axis=1)] == np.array(labels)
        # On average, and for answers of about 90 %: within three standard errors and two percentage points.
        for some in (top >= 0, (top >= 0.8) & (top < 0.97), top >= 0.9):
            error = np.sqrt((top[some] * (1 - top[some])).mean() / some.sum())
            assert abs(right[some].mean() - top[some].mean()) < 0.02 + 3 * error, n
