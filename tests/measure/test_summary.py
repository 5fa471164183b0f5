"""The summary of a whole evaluation, against scikit-learn's report."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn import metrics

from widemargin.errors import UsageError
from widemargin.labels import Labels
from widemargin.measure import micro_prbep, prbep, summarize


def test_multiclass_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], size=60, p=[0.6, 0.3, 0.1])
    space, truth = Labels.of(y).space_and_signs
    scores = truth + 1.5 * rng.standard_normal(truth.shape)
    decided = space.decide(scores)
    report = metrics.classification_report(y, decided, output_dict=True)
    summary = summarize(space, truth, scores)
    assert (summary.kind, summary.n) == ("multiclass", 60)
    assert summary.accuracy == summary.micro.f1 == pytest.approx(report["accuracy"])
    assert summary.hamming_loss is None
    for row in summary.rows:
        theirs = report[row.label]
        assert (row.precision, row.recall, row.f1, row.support) == pytest.approx(
            (theirs["precision"], theirs["recall"], theirs["f1-score"], theirs["support"])
        )
        assert row.predicted == np.count_nonzero(decided == row.label)
    assert summary.macro.f1 == pytest.approx(report["macro avg"]["f1-score"])
    assert summary.confusion == metrics.confusion_matrix(y, decided).tolist()
    assert [row.prbep for row in summary.rows] == prbep(truth, scores).tolist()
    assert summary.notes == []


def test_binary_has_a_row_for_either_class():
    y = [0, 0, 0, 1, 1]
    space, truth = Labels.of(y).space_and_signs
    summary = summarize(space, truth, np.array([-1.0, -2.0, 0.5, 1.0, -0.1]))
    assert [(row.label, row.support, row.predicted) for row in summary.rows] == [(0, 3, 3), (1, 2, 2)]
    assert summary.rows[1].precision == summary.rows[1].recall == summary.rows[1].prbep == 0.5
    assert summary.accuracy == 0.6
    assert summary.confusion == [[2, 1], [1, 1]]


def test_multilabel_averages_and_notes():
    truth = np.array([[1, -1, -1], [1, 1, -1], [-1, -1, -1]])
    space = Labels.of(truth > 0).space
    scores = np.array([[1.0, -1.0, -1.0], [1.0, -1.0, 0.5], [-1.0, -1.0, -2.0]])
    summary = summarize(space, truth, scores)
    assert summary.accuracy == pytest.approx(2 / 3)
    assert summary.hamming_loss == pytest.approx(2 / 3)
    assert summary.confusion is None
    assert (summary.micro.precision, summary.micro.recall) == pytest.approx((2 / 3, 2 / 3))
    assert (summary.macro.precision, summary.macro.recall) == (0.5, 0.5)
    assert summary.micro.prbep == micro_prbep(truth, scores)
    assert np.isnan(summary.rows[2].f1)
    assert "1 of 3 labels has no example" in summary.notes[0]
    plain = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert plain["rows"][2]["f1"] is None
    assert plain["rows"][0]["label"] == 0


def test_labels_outside_the_task_are_errors():
    space = Labels.of(["a", "b", "c"]).space
    truth = space.encode(["a", "b", "z"], unknown="ignore")
    summary = summarize(space, truth, np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 1.0, 0]]))
    assert summary.accuracy == pytest.approx(2 / 3)
    assert summary.rows[1].precision == 0.5
    assert np.sum(summary.confusion) == 2
    assert any("1 of 3 examples have an unknown label" in note for note in summary.notes)


def test_decisions_can_be_given():
    space, truth = Labels.of([["a"], ["b"], ["a", "b"]]).space_and_signs
    never = -np.ones_like(truth)
    assert summarize(space, truth, truth * 1.0, predicted=never).micro.recall == 0.0


def test_bad_shapes_are_refused():
    space, truth = Labels.of(["a", "b", "c"]).space_and_signs
    with pytest.raises(UsageError, match="3 columns"):
        summarize(space, truth, np.zeros((3, 2)))
    with pytest.raises(UsageError, match="no examples"):
        summarize(space, truth[:0], np.zeros((0, 3)))
