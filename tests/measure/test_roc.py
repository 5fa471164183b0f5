"""Areas under ROC curves, against scikit-learn, also where scores tie."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from widemargin.errors import UsageError
from widemargin.labels import Labels
from widemargin.measure import contingency
from widemargin.measure.quality import Quality, quality
from widemargin.measure.rankings.roc import auc_figures, roc_auc
from widemargin.measure.summary import summarize


@settings(max_examples=300, deadline=None)
@given(
    pairs=st.lists(
        st.tuples(st.booleans(), st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6))), min_size=1
    )
)
def test_as_scikit_learn(pairs):
    positive, scores = np.array([p for p, _ in pairs]), np.array([s for _, s in pairs])
    found = roc_auc(np.where(positive, 1, -1), scores)
    if positive.all() or not positive.any():
        assert math.isnan(found)
    else:
        assert found == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_averages_as_scikit_learn(seed):
    """Micro- and macro-averages over labels, in the summary and in the quality of the same scores."""
    generator = np.random.default_rng(seed)
    matrix = generator.random((30, 4)) < 0.4
    matrix[0], matrix[1] = True, False
    scores = (generator.integers(-3, 4, (30, 4)) + matrix).astype(float)
    labels = Labels.of(matrix.astype(int))
    summary = summarize(labels.space, labels.signs, scores)
    assert summary.macro.auc == pytest.approx(roc_auc_score(matrix, scores, average="macro"))
    assert summary.micro.auc == pytest.approx(roc_auc_score(matrix, scores, average="micro"))
    each = roc_auc_score(matrix, scores, average=None)
    assert [row.auc for row in summary.rows] == pytest.approx(each.tolist())
    chosen = labels.space.choose(scores)
    found = quality(
        labels.space,
        contingency(labels.signs, chosen),
        kind="measured",
        method="test documents",
        ranking=(labels.signs, scores),
    )
    assert found.auc.value == pytest.approx(summary.macro.auc, abs=1e-6)
    assert [row.auc.value for row in found.labels] == pytest.approx(each.tolist(), abs=1e-6)
    for figure in (found.auc, *(row.auc for row in found.labels)):
        assert 0 <= figure.low <= figure.value <= figure.high <= 1
    assert Quality.from_dict(found.to_dict()) == found
    wider = found.on_test_set(10)
    assert wider.auc.low <= found.auc.low
    assert wider.auc.high >= found.auc.high


def test_intervals_cover():
    """The 95 % intervals contain the true area in about that share of samples; macro-averages too, although
    all labels are on the same documents."""
    generator = np.random.default_rng(0)
    true = 0.5 * (1 + math.erf(1 / 2))  # of two normal distributions with means 1 apart
    inside, inside_macro, rounds = 0, 0, 400
    for _ in range(rounds):
        truth = np.where(generator.random(120) < 0.3, 1, -1)
        noise = generator.normal(size=120)  # shared by the labels, which makes them dependent
        scores = np.column_stack([(truth > 0) + noise for _ in range(3)])
        found = auc_figures(np.column_stack([truth] * 3), scores, "measured")
        inside += found.labels[0].low <= true <= found.labels[0].high
        inside_macro += found.macro.low <= true <= found.macro.high
    assert 0.92 * rounds <= inside <= 0.985 * rounds
    assert inside_macro == inside


def test_perfect_rankings_are_not_certain():
    found = auc_figures(np.array([[1], [1], [-1]]), np.array([[2.0], [1.0], [0.0]]), "measured").labels[0]
    assert found.value == 1
    assert found.low < 0.2
    assert found.high == 1
    reverse = auc_figures(np.array([[1], [-1]]), np.array([[0.0], [1.0]]), "measured").labels[0]
    assert (reverse.value, reverse.low) == (0, 0)
    assert reverse.high > 0.8


def test_binary_and_exclusive_classes():
    labels = Labels.of(["a", "b", "a", "b"])
    scores = np.array([[-1.0], [0.5], [0.6], [2.0]])
    how = {"kind": "measured", "method": "test documents"}
    table = contingency(labels.signs, labels.space.choose(scores))
    found = quality(labels.space, table, ranking=(labels.signs, scores), **how)
    assert [row.auc.value for row in found.labels] == [0.75, 0.75]
    assert found.auc.value == 0.75
    assert quality(labels.space, table, **how).auc is None
    three = Labels.of(["a", "b", "c"])
    table = contingency(three.signs, three.signs)
    assert quality(three.space, table, ranking=(three.signs, np.eye(3)), **how).auc is None


def test_unknown_cells_are_left_out():
    truth, scores = np.array([1, 0, -1, 0]), np.array([0.2, 5.0, 0.1, -5.0])
    assert roc_auc(truth, scores) == 1


def test_bad_input():
    with pytest.raises(UsageError, match="shape"):
        roc_auc(np.array([1, -1]), np.array([0.5]))
    with pytest.raises(UsageError, match="NaN"):
        roc_auc(np.array([1, -1]), np.array([0.5, np.nan]))
