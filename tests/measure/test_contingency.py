"""Tables and the measures of one, against scikit-learn and against hand counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import metrics

from widemargin.errors import UsageError
from widemargin.measure import (
    Contingency,
    confusion,
    contingency,
    cost,
    error_rate,
    f_measure,
    hamming_loss,
    macro,
    micro,
    precision,
    recall,
)


def signs(rows, columns):
    return hnp.arrays(np.int8, (rows, columns), elements=st.sampled_from([-1, 1]))


# scikit-learn reads a single column as a binary task.
two_matrices = st.tuples(st.integers(1, 12), st.integers(2, 4)).flatmap(
    lambda shape: st.tuples(signs(*shape), signs(*shape))
)

#                           f++ f+- f-+ f--
EXAMPLE = Contingency(*map(np.array, (6, 2, 3, 9)))


def test_the_four_cells_are_prediction_then_truth():
    table = contingency(np.array([1, 1, 1, -1, -1, -1]), np.array([1, 1, -1, 1, -1, -1]))
    assert (table.true_positive, table.false_positive, table.false_negative, table.true_negative) == (
        2,
        1,
        1,
        2,
    )
    assert (table.positives, table.predicted, table.n) == (3, 3, 6)


def test_measures_by_hand():
    assert error_rate(EXAMPLE) == 5 / 20
    assert precision(EXAMPLE) == 6 / 8
    assert recall(EXAMPLE) == 6 / 9
    assert f_measure(EXAMPLE) == pytest.approx(2 * 0.75 * (2 / 3) / (0.75 + 2 / 3))
    # beta = 2 weighs recall, the lower of the two here, more: the misprinted formula gives 1.76.
    assert f_measure(EXAMPLE, beta=2) == pytest.approx(5 * 0.75 * (2 / 3) / (4 * 0.75 + 2 / 3))
    assert f_measure(EXAMPLE, beta=0) == precision(EXAMPLE)


def test_costs_are_laid_out_as_the_table():
    assert cost(EXAMPLE, [[0, 1], [1, 0]]) == error_rate(EXAMPLE)
    assert cost(EXAMPLE, [[0, 1], [10, 0]]) == (2 + 30) / 20
    assert cost(EXAMPLE, [[-1, 0], [0, 0]]) == -6 / 20
    with pytest.raises(UsageError, match=r"\(4,\)"):
        cost(EXAMPLE, [0, 1, 1, 0])


@given(two_matrices)
def test_agreement_with_scikit_learn(matrices):
    truth, predicted = matrices
    table = contingency(truth, predicted)
    cells = metrics.multilabel_confusion_matrix(truth > 0, predicted > 0)
    np.testing.assert_array_equal(table.true_negative, cells[:, 0, 0])
    np.testing.assert_array_equal(table.false_positive, cells[:, 0, 1])
    np.testing.assert_array_equal(table.false_negative, cells[:, 1, 0])
    np.testing.assert_array_equal(table.true_positive, cells[:, 1, 1])
    labels = truth.shape[1]
    hamming = metrics.hamming_loss(truth > 0, predicted > 0)
    assert hamming_loss(table) == pytest.approx(hamming * labels)

    defined = (truth > 0).any(axis=0)
    for ours, theirs, options in [
        (precision, metrics.precision_score, {}),
        (recall, metrics.recall_score, {}),
        (f_measure, metrics.f1_score, {}),
        (lambda table: f_measure(table, 0.5), metrics.fbeta_score, {"beta": 0.5}),
    ]:
        options = {**options, "zero_division": 0.0}
        each = theirs(truth > 0, predicted > 0, average=None, **options)
        np.testing.assert_allclose(ours(table), np.where(defined, each, np.nan))
        if defined.any():
            assert macro(ours(table)) == pytest.approx(each[defined].mean())
            assert micro(ours, table) == pytest.approx(
                theirs(truth > 0, predicted > 0, average="micro", **options)
            )


def test_nothing_predicted_has_precision_zero_and_nothing_to_find_is_undefined():
    table = contingency(np.array([[1, -1], [1, -1], [-1, -1]]), np.array([[-1, -1], [-1, 1], [-1, -1]]))
    for measure in (precision, recall, f_measure):
        np.testing.assert_array_equal(measure(table), [0.0, np.nan])
        assert macro(measure(table)) == 0.0
    # The false positive of the empty category counts in micro.
    full = contingency(np.array([[1, -1], [1, -1]]), np.array([[1, -1], [1, 1]]))
    assert micro(precision, full) == 2 / 3
    assert macro(precision(full)) == 1.0
    assert np.isnan(macro(np.array([np.nan])))


def test_a_negative_beta_and_unequal_shapes_are_refused():
    with pytest.raises(UsageError, match="beta"):
        f_measure(EXAMPLE, beta=-1)
    with pytest.raises(UsageError, match="shape"):
        contingency(np.ones(3), np.ones(4))


@given(
    st.integers(2, 5).flatmap(
        lambda k: st.tuples(st.just(k), st.lists(st.tuples(st.integers(0, k - 1), st.integers(0, k - 1))))
    )
)
def test_confusion_agrees_with_scikit_learn(case):
    k, pairs = case
    truth, predicted = np.array(pairs, dtype=int).reshape(-1, 2).T
    expected = np.zeros((k, k), dtype=int)
    if len(truth):
        expected = metrics.confusion_matrix(truth, predicted, labels=range(k))
    np.testing.assert_array_equal(confusion(truth, predicted, k), expected)
