"""Averages of label sets vary as documents do: against the bootstrap over documents."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin.measure import contingency, f_measure, macro, precision, recall
from widemargin.measure.contingency import Contingency, error_rate
from widemargin.measure.dependence import dependence

MEASURES = {"precision": precision, "recall": recall, "f1": f_measure, "error": error_rate}


def decisions(n, seed, together):
    """Truth and decisions of six labels; `together`: the share of documents with all right or wrong."""
    generator = np.random.default_rng(seed)
    truth = np.where(generator.random((n, 6)) < 0.3, 1, -1).astype(np.int8)
    each, all_labels = generator.random((n, 6)) < 0.8, generator.random((n, 1)) < 0.8
    right = np.where(generator.random((n, 1)) < together, all_labels, each)
    return truth, np.where(right, truth, -truth).astype(np.int8)


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("together", [0.0, 0.5, 1.0])
def test_factor_is_what_resampling_documents_shows(together, average):
    truth, chosen = decisions(800, 1, together)
    factors = dependence(truth, chosen, average)
    generator = np.random.default_rng(0)
    found = {name: ([], []) for name in MEASURES}
    for _ in range(600):
        rows = generator.integers(len(truth), size=len(truth))
        whole = contingency(truth[rows], chosen[rows])
        cells = generator.integers(len(truth), size=truth.shape)  # labels by themselves
        alone = contingency(np.take_along_axis(truth, cells, 0), np.take_along_axis(chosen, cells, 0))
        for name, measure in MEASURES.items():
            for table, values in zip((whole, alone), found[name], strict=True):
                values.append(measure(table.merged()) if average == "micro" else macro(measure(table)))
    for name, (by_documents, by_labels) in found.items():
        ratio = np.std(by_documents) / np.std(by_labels)
        assert factors[name] == pytest.approx(max(ratio, 1.0), rel=0.12)


def test_one_label_or_no_error_has_nothing_to_widen():
    truth, chosen = decisions(50, 0, 0.5)
    assert set(dependence(truth[:, :1], chosen[:, :1], "macro").values()) == {1.0}
    assert set(dependence(truth, truth, "micro").values()) == {1.0}


def test_chunks_do_not_matter(monkeypatch):
    truth, chosen = decisions(300, 2, 0.5)
    whole = dependence(truth, chosen, "macro")
    monkeypatch.setattr("widemargin.measure.dependence._AT_ONCE", 50)
    assert dependence(truth, chosen, "macro") == pytest.approx(whole)


def test_estimates_of_macro_averages_are_not_biased_by_few_examples():
    """Simulated: labels of 5 to 20 examples; the mean over samples is nearer to the truth when corrected."""
    from widemargin.measure.intervals import macro_estimate

    generator = np.random.default_rng(3)
    examples, n = np.array([5, 5, 8, 8, 12, 20]), 500
    share = np.array([0.3, 0.5, 0.4, 0.6, 0.7, 0.8])
    alarms = np.array([1.0, 2, 1, 3, 2, 4]) / (n - examples)
    true = f_measure(
        Contingency(examples * share, alarms * (n - examples), examples * (1 - share), n - examples)
    ).mean()
    plain, corrected, inside = [], [], 0
    for _ in range(1000):
        hits, false = generator.binomial(examples, share), generator.binomial(n - examples, alarms)
        table = Contingency(hits, false, examples - hits, n - examples - false)
        plain.append(np.mean(f_measure(table)))
        value, low, high = macro_estimate(f_measure, table, samples=100)
        corrected.append(value)
        inside += low <= true <= high
    assert np.mean(plain) - true < -0.006
    assert abs(np.mean(corrected) - true) < 0.75 * abs(np.mean(plain) - true)
    assert inside / 1000 > 0.86  # labels of five examples; quality() widens it
