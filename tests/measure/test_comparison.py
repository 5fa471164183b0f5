"""Every two of several methods, with p-values corrected for all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin.errors import UsageError
from widemargin.measure import (
    compare_decisions,
    error_rate,
    holm,
    macro_t_test,
    micro_sign_test,
    randomization_test,
)


def methods(generator, qualities, n=200, labels=5):
    truth = generator.random((n, labels)) < 0.3
    return truth, {name: truth ^ (generator.random(truth.shape) > q) for name, q in qualities.items()}


@pytest.mark.parametrize("test", [micro_sign_test, macro_t_test])
def test_pairs_are_those_of_the_test_after_holm(test):
    truth, decisions = methods(np.random.default_rng(0), {"a": 0.9, "b": 0.85, "c": 0.6})
    found = compare_decisions(truth, decisions, test=test)
    expected = [test(truth, decisions[x], decisions[y]) for x, y in ("ab", "ac", "bc")]
    assert [(pair.first, pair.second) for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [pair.result for pair in found.pairs] == expected
    assert [pair.corrected for pair in found.pairs] == holm([each.p_value for each in expected]).tolist()


def test_who_is_worse():
    truth, decisions = methods(np.random.default_rng(1), {"weak": 0.6, "best": 0.9})
    good = decisions["best"].copy()
    good[:3, 0] = ~truth[:3, 0]  # at most three more errors: p is at least 1/4
    decisions["good"] = good
    assert (good != truth).sum() > (decisions["best"] != truth).sum()
    options = {"measure": error_rate, "lower_is_better": True, "seed": 3, "samples": 999}
    found = compare_decisions(truth, decisions, **options)
    assert found.pairs[0].result == randomization_test(truth, decisions["weak"], decisions["best"], **options)
    assert (found.pairs[0].better, found.pairs[0].worse) == ("best", "weak")
    assert found.worse_than("best", level=0.01) == ["weak"]
    assert found.pairs[2].better == "best"
    assert found.worse_than("weak") == []
    assert found.worse_than("best", level=0.0) == []
    with pytest.raises(UsageError, match=r"'none' was not compared\. Choose from: weak, best, good\."):
        found.worse_than("none")


def test_the_best_of_many_equally_good_methods_is_seldom_significant():
    """Without the correction one of the ten pairs would be in a fifth to a third of all rounds."""
    generator = np.random.default_rng(2)
    corrected, plain = [], []
    for _ in range(600):
        truth, decisions = methods(generator, dict.fromkeys("abcde", 0.8), n=100)
        pairs = compare_decisions(truth, decisions, test=micro_sign_test).pairs
        corrected.append(min(pair.corrected for pair in pairs) <= 0.05)
        plain.append(min(pair.result.p_value for pair in pairs) <= 0.05)
    assert np.mean(plain) > 0.15
    assert np.mean(corrected) <= 0.06


def test_invalid_input():
    with pytest.raises(UsageError, match="at least two methods, but got 1"):
        compare_decisions([1, -1], {"one": [1, 1]})
    with pytest.raises(UsageError, match=r"decisions of short have shape \(1,\), but the truth has \(2,\)"):
        compare_decisions([1, -1], {"one": [1, 1], "short": [1]})
