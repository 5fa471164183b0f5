"""The constants of the bound as arrays; what they bound is tested with the learners, in estimate/."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from widemargin.errors import UsageError
from widemargin.measure import (
    contingency,
    error_rate,
    leave_one_out_risk,
    macro,
    micro,
    precision,
    precision_recall_average,
    recall,
    xi_alpha_table,
)

ALPHA, XI, NORMS = np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.0, 0.25]), np.array([4.0, 1.0, 2.0])


@pytest.mark.parametrize(
    ("options", "factors"),
    [
        ({"hyperplane": "unbiased"}, NORMS),
        ({"hyperplane": "unbiased", "risk_factor": 1.0}, 4.0),
        ({"hyperplane": "bias-feature", "bias_size": 3.0}, NORMS + 9),
        ({"hyperplane": "bias-feature", "bias_size": 3.0, "risk_factor": 1.0}, 13.0),
        # Without negative inner products: K(x, x) + max K.
        ({"hyperplane": "biased", "kernel_range": 4.0}, NORMS + 4),
        ({"hyperplane": "biased", "kernel_range": 4.0, "risk_factor": 2.0}, 8.0),
        ({"hyperplane": "biased", "kernel_range": 4.0, "risk_factor": 1.0}, 4.0),
        # With any: the farthest that two vectors of these lengths can be apart.
        ({"hyperplane": "biased"}, (np.sqrt(NORMS) + 2) ** 2),
        # A kernel from 3 to 4: distances of at most sqrt(2).
        ({"hyperplane": "biased", "kernel_range": 1.0}, NORMS - 2),
        ({"hyperplane": "stabilized", "bias_size": 3.0}, NORMS + 9),
        ({"hyperplane": "stabilized", "bias_size": 3.0, "kernel_range": 4.0, "risk_factor": 1.0}, 9.0),
    ],
)
def test_constants_of_each_hyperplane(options, factors):
    risk = leave_one_out_risk(ALPHA, XI, NORMS, **options)
    np.testing.assert_allclose(risk, ALPHA * factors + XI)


def test_unknown_names_and_unequal_shapes():
    with pytest.raises(UsageError, match='expected "unbiased"'):
        leave_one_out_risk(ALPHA, XI, NORMS, hyperplane="oblique")
    with pytest.raises(UsageError, match="one norm per example"):
        leave_one_out_risk(ALPHA, XI, NORMS[:2], hyperplane="unbiased")
    with pytest.raises(UsageError, match="signs"):
        xi_alpha_table(ALPHA, np.ones((3, 1)))


tables = st.tuples(st.integers(1, 12), st.integers(1, 4)).flatmap(
    lambda shape: st.tuples(
        hnp.arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.0, 0.3, 1.0, 2.0])),
        hnp.arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.0, 0.5, 1.0])),
        hnp.arrays(np.float64, shape[0], elements=st.floats(0, 3)),
        hnp.arrays(np.int8, shape, elements=st.sampled_from([-1, 1])),
    )
)


@given(tables, st.sampled_from(["unbiased", "bias-feature", "biased", "stabilized"]))
def test_sparse_is_dense(case, hyperplane):
    alpha, xi, norms, signs = case
    dense = leave_one_out_risk(alpha, xi, norms, hyperplane=hyperplane)
    sparse = leave_one_out_risk(sp.csc_array(alpha), sp.csc_array(xi), norms, hyperplane=hyperplane)
    assert sp.issparse(sparse)
    np.testing.assert_allclose(sparse.toarray(), dense)
    ours, theirs = (xi_alpha_table(risk, signs) for risk in (dense, sparse))
    for cell in ("true_positive", "false_positive", "false_negative", "true_negative"):
        np.testing.assert_array_equal(getattr(ours, cell), getattr(theirs, cell))


@given(tables)
def test_the_table_is_that_of_predictions_wrong_at_risk(case):
    alpha, xi, norms, signs = case
    risk = leave_one_out_risk(alpha, xi, norms, hyperplane="unbiased")
    table = xi_alpha_table(risk, signs)
    expected = contingency(signs, np.where(risk >= 1, -signs, signs))
    for cell in ("true_positive", "false_positive", "false_negative", "true_negative"):
        np.testing.assert_array_equal(getattr(table, cell), getattr(expected, cell))


def test_the_estimators_as_printed():
    """(5.24), (5.65), (5.87), (6.10), with d+- = 2 of 5 positive and d-+ = 1 of 5 negative examples."""
    risk, signs = np.array([2, 1, 0, 0, 0, 1, 0, 0, 0, 0.9]), np.repeat([1, -1], 5)
    table = xi_alpha_table(risk, signs)
    assert error_rate(table) == 3 / 10
    assert recall(table) == 1 - 2 / 5
    assert precision(table) == 3 / (3 + 1)
    assert precision_recall_average(table) == pytest.approx((0.6 + 0.75) / 2)
    both = xi_alpha_table(np.column_stack([risk, 0 * risk]), np.column_stack([signs, signs]))
    assert macro(recall(both)) == pytest.approx(0.8)
    assert micro(recall, both) == pytest.approx(8 / 10)


def test_the_edge_is_at_risk_however_it_was_rounded():
    assert xi_alpha_table(np.array([0.1 * 3 * (1 / 0.3) - 1e-15]), np.array([1])).false_negative == 1
