"""Intervals cover the truth as often as they say, over simulated tables."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from widemargin.errors import UsageError
from widemargin.measure import (
    Contingency,
    Figure,
    bootstrap_interval,
    clopper_pearson,
    error_rate,
    f_measure,
    macro,
    precision_recall_average,
)


@given(st.integers(0, 40), st.integers(0, 40), st.floats(0.5, 0.999))
def test_clopper_pearson_ends_where_the_tails_are(k, more, confidence):
    """The definition: at either end what was seen, or more extreme, has half of what is left."""
    n = k + more
    low, high = clopper_pearson(k, n, confidence)
    tail = (1 - confidence) / 2
    if k == 0:
        assert low == 0
    else:
        assert binom.sf(k - 1, n, low) == pytest.approx(tail, rel=1e-6)
    if k == n:
        assert high == 1
    else:
        assert binom.cdf(k, n, high) == pytest.approx(tail, rel=1e-6)


@pytest.mark.parametrize("n", [1, 7, 50])
@pytest.mark.parametrize("share", [0.0, 0.03, 0.4, 0.9, 1.0])
def test_clopper_pearson_covers(n, share):
    """Exactly, over all outcomes: never less than the stated confidence."""
    k = np.arange(n + 1)
    low, high = clopper_pearson(k, np.full(n + 1, n), 0.9)
    assert binom.pmf(k, n, share)[(low <= share) & (share <= high)].sum() >= 0.9


def outcomes(precision, recall, positives, n):
    """Probabilities of the four outcomes of a label."""
    hit = positives / n * recall
    false = hit * (1 - precision) / precision
    return np.array([hit, false, positives / n - hit, 1 - positives / n - false])


def drawn(probabilities, n, times, seed):
    """Tables of a label, those in which it has a positive example."""
    cells = np.random.default_rng(seed).multinomial(n, probabilities, size=times)
    return Contingency(*cells[cells[:, 0] + cells[:, 2] > 0].T)


@pytest.mark.parametrize("measure", [f_measure, precision_recall_average])
@pytest.mark.parametrize("positives", [2, 10, 100])
@pytest.mark.parametrize(("precision", "recall"), [(0.9, 0.9), (0.9, 0.4), (0.6, 0.7), (0.99, 0.99)])
def test_bootstrap_covers(measure, positives, precision, recall):
    probabilities = outcomes(precision, recall, positives, 5000)
    table = drawn(probabilities, 5000, 1000, seed=positives)
    low, high = bootstrap_interval(measure, table, samples=400)
    truth = measure(Contingency(*probabilities))
    # It is no bound: 90 % at the worst for 95 %, less what 1,000 tables and 400 draws leave to chance.
    assert ((low <= truth) & (truth <= high)).mean() > 0.88


def test_averages_cover():
    positives = np.geomspace(20, 2000, 30)
    each = [outcomes(0.9, min(0.95, 0.15 * np.log(p)), p, 10_000) for p in positives]
    truth = Contingency(*np.transpose(each))
    true_macro, true_micro = macro(f_measure(truth)), f_measure(truth.merged())
    generator, covered = np.random.default_rng(0), np.zeros(2)
    for _ in range(200):
        table = Contingency(*np.transpose([generator.multinomial(10_000, p) for p in each]))
        for k, (average, value) in enumerate([("macro", true_macro), ("micro", true_micro)]):
            low, high = bootstrap_interval(f_measure, table, average=average, samples=200)
            covered[k] += low <= value <= high
    assert (covered >= 0.88 * 200).all()


counts = st.integers(0, 30)


@given(st.lists(st.tuples(counts, counts, counts, counts), min_size=1, max_size=4), st.floats(0.5, 0.9))
def test_intervals_are_nested_and_contain_the_figure(cells, confidence):
    table = Contingency(*np.array(cells).T)
    figure = f_measure(table)
    for average in (None, "micro", "macro"):
        value = {"micro": f_measure(table.merged()), "macro": macro(figure)}.get(average, figure)
        narrow = bootstrap_interval(f_measure, table, average=average, confidence=confidence, samples=50)
        wide = bootstrap_interval(f_measure, table, average=average, confidence=0.95, samples=50)
        for low, high in (narrow, wide):
            defined = ~np.isnan(value)
            assert np.shape(low) == np.shape(value)
            np.testing.assert_array_equal(np.isnan(low), ~defined)
            assert (np.asarray(low)[defined] <= np.asarray(value)[defined] + 1e-12).all()
            assert (np.asarray(high)[defined] >= np.asarray(value)[defined] - 1e-12).all()
        assert not (narrow[0] < wide[0]).any()
        assert not (narrow[1] > wide[1]).any()
    k, n = table.true_positive, table.positives
    narrow, wide = clopper_pearson(k, n, confidence), clopper_pearson(k, n, 0.95)
    assert (wide[0] <= narrow[0]).all()
    assert (wide[1] >= narrow[1]).all()


def test_one_right_example_is_no_proof():
    low, high = bootstrap_interval(f_measure, Contingency(*map(np.array, (1, 0, 0, 999))))
    assert low < 0.5
    assert high == 1.0
    low, high = bootstrap_interval(f_measure, Contingency(*map(np.array, (0, 0, 1, 999))))
    assert low == 0.0
    assert high > 0.5


def test_same_seed_same_interval_and_any_measure():
    table = Contingency(*map(np.array, ([8, 3], [2, 0], [1, 4], [89, 93])))
    first, again = (bootstrap_interval(error_rate, table, seed=7) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, bootstrap_interval(error_rate, table, seed=8))
    # Many labels are drawn in groups; a label's interval hardly depends on its neighbors.
    many = Contingency(*(np.tile(cell, 300) for cell in map(np.array, ([8], [2], [1], [89]))))
    low, _ = bootstrap_interval(f_measure, many)
    assert np.ptp(low) < 0.1


def test_a_figure_in_json():
    figure = Figure(np.float64(0.5), np.nan, 1.0, "bound")
    assert json.loads(json.dumps(figure.to_dict())) == {"value": 0.5, "low": None, "high": 1, "kind": "bound"}


def test_what_makes_no_sense():
    table = Contingency(*map(np.array, (1, 0, 0, 1)))
    with pytest.raises(UsageError, match="between 0 and 1"):
        bootstrap_interval(f_measure, table, confidence=95)
    with pytest.raises(UsageError, match="Successes must be"):
        clopper_pearson(3, 2)
    with pytest.raises(UsageError, match="average"):
        bootstrap_interval(f_measure, table, average="mean")
    with pytest.raises(UsageError, match="samples"):
        bootstrap_interval(f_measure, table, samples=0)
