"""Theorems 2 to 4 on drawn documents, intervals of words, and the effect of weights."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import hard_margin
from widemargin import LinearSVM
from widemargin.errors import DataError, UsageError
from widemargin.theory import TCatConcept, ZipfLaw
from widemargin.theory.tcat import (
    IntervalConcept,
    advise_weighting,
    cost_for_noise,
    documents_needed,
    error_bound,
    interval_concept,
    length_factor,
    measured_noise,
    weighted_margin,
)

# Printed in the thesis: (4.45), (4.19), (4.20), with R^2, n and the numerator of the bound.
COURSE = TCatConcept(
    [(77, 29, 98), (4, 21, 52), (16, 2, 431), (1, 12, 341), (9, 1, 5045), (1, 21, 24276), (169, 191, 8116)]
)
EARN = TCatConcept(
    [(33, 2, 65), (32, 65, 152), (2, 1, 171), (3, 21, 974), (3, 1, 3455), (1, 10, 17020), (78, 52, 5821)]
)
PATHOLOGY = TCatConcept(
    [(2, 1, 10), (1, 4, 22), (2, 1, 92), (1, 2, 94), (5, 1, 4080), (1, 10, 20922), (197, 190, 13459)]
)
SMALL = TCatConcept([(6, 2, 30), (2, 6, 30), (4, 4, 20)])


@pytest.mark.parametrize(
    ("concept", "R2", "n", "numerator", "percent"),
    [
        (COURSE, 1899.7, 3957, 443, 11.2),
        (EARN, 762.9, 9603, 138, 1.5),
        (PATHOLOGY, 1275.8, 10_000, 9457, 94.5),
    ],
)
def test_printed_bounds(concept, R2, n, numerator, percent):
    bound = error_bound(concept, n, R2)
    assert np.ceil(bound * (n + 1) - 0.6) == pytest.approx(numerator, abs=1)
    # "Less than", with one digit.
    assert 100 * bound == pytest.approx(percent, abs=0.1)
    assert error_bound(concept, n, R2, biased=True) == pytest.approx(2 * bound)


def errors(concept, n, seeds, options, C=None, biased=False):
    """Errors on fresh documents after training on n, R^2 over all documents, and noise per set."""
    found, radius, noise = [], 0.0, []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        positive = int(rng.binomial(n, 0.5))
        X, y = concept.sample(positive, n - positive, random_state=rng, **options)
        test_X, test_y = concept.sample(300, 300, random_state=rng, **options)
        if len(np.unique(y)) < 2:
            # A rule from documents of one class says that class.
            found.append(float(np.mean(test_y != y[0])))
            continue
        cost = C if C is not None else cost_for_noise(options_radius(concept, options), biased=biased)
        bias = "unregularized" if biased else None
        rule = LinearSVM(C=cost, bias=bias, tol=1e-6, n_jobs=1).fit(X.astype(np.float64), y)
        found.append(float(np.mean(np.where(rule.decision_function(test_X) > 0, 1, -1) != test_y)))
        for part in (X, test_X):
            radius = max(radius, float(part.multiply(part).sum(axis=1).max()))
        clean = {key: value for key, value in options.items() if key != "label_noise"}
        again, signs = concept.sample(200, 200, random_state=seed, **clean)
        noise.append(measured_noise(concept, again, signs))
    return np.array(found), radius, np.mean(noise, axis=0)


def options_radius(concept, options):
    X, _ = concept.sample(500, 500, random_state=99, **options)
    return float(X.multiply(X).sum(axis=1).max())


SEEDS = range(40)


@pytest.mark.parametrize("n", [8, 20, 60])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("concept", [SMALL, TCatConcept([(9, 1, 30), (1, 9, 30)])])
def test_theorem_2_holds_on_average(concept, n, biased):
    found, radius, _ = errors(concept, n, SEEDS, {}, C=1e4, biased=biased)
    assert found.mean() <= error_bound(concept, n, radius, biased=biased)


def test_theorem_2_says_something():
    concept = TCatConcept([(9, 1, 30), (1, 9, 30)])
    found, radius, _ = errors(concept, 400, range(5), {}, C=1e4)
    assert found.mean() <= error_bound(concept, 400, radius) < 0.1


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.3])
def test_theorem_3_holds_on_average(rate):
    options = {"attribute_noise": rate}
    found, _, noise = errors(SMALL, 60, SEEDS, options)
    bound = error_bound(SMALL, 60, options_radius(SMALL, options), attribute_noise=noise)
    assert found.mean() <= bound
    assert bound > error_bound(SMALL, 60, options_radius(SMALL, options))


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.2])
def test_theorem_4_holds_on_average(rate):
    options = {"label_noise": rate}
    found, _, _ = errors(SMALL, 60, SEEDS, options)
    radius = options_radius(SMALL, options)
    assert found.mean() <= error_bound(SMALL, 60, radius, label_noise=rate)
    extra = error_bound(SMALL, 60, radius, label_noise=rate) - error_bound(SMALL, 60, radius)
    assert extra == pytest.approx(4 * rate)


def test_both_kinds_of_noise_and_lengths_by_zipfs_law():
    options = {"label_noise": 0.05, "attribute_noise": 0.05, "longest": 3, "word_law": ZipfLaw(1, 5, 1.2)}
    found, _, _ = errors(SMALL, 60, range(20), options)
    X, y = SMALL.sample(400, 400, random_state=5, **{**options, "label_noise": 0.0})
    bound = error_bound(
        SMALL,
        60,
        options_radius(SMALL, options),
        attribute_noise=measured_noise(SMALL, X, y),
        label_noise=0.05,
    )
    assert found.mean() <= bound


def test_noise_counts_only_what_speaks_against_a_document():
    concept = TCatConcept([(2, 0, 3), (0, 2, 3), (1, 1, 2)])
    better = np.array([[3, 0, 0, 0, 0, 0, 1, 0], [0, 0, 0, 3, 0, 0, 0, 1]])
    assert measured_noise(concept, better, [1, -1]).tolist() == [0, 0, 0]
    worse = np.array([[1, 0, 0, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 0, 0, 1]])
    assert measured_noise(concept, worse, [1, -1]).tolist() == [1, 1, 0]
    with pytest.raises(UsageError, match="one column per word"):
        measured_noise(concept, worse[:, :4], [1, -1])


def test_how_many_documents_a_bound_takes():
    n = documents_needed(SMALL, 0.05, 41.3)
    assert error_bound(SMALL, n, 41.3) <= 0.05 < error_bound(SMALL, n - 1, 41.3)
    assert np.isinf(documents_needed(TCatConcept([(2, 2, 9)]), 0.1, 5.0))
    assert documents_needed(SMALL, 0.05, 41.3, biased=True) == pytest.approx(2 * n, abs=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: error_bound(SMALL, -1, 9.0), "n=-1"),
        (lambda: error_bound(SMALL, 5, 0.0), "R2=0.0"),
        (lambda: error_bound(SMALL, 5, 9.0, label_noise=2), "label_noise=2"),
        (lambda: error_bound(SMALL, 5, 9.0, attribute_noise=[1]), "3 numbers"),
        (lambda: documents_needed(SMALL, 0, 9.0), "error=0"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(UsageError, match=message):
        call()


class TestIntervals:
    sets = st.tuples(
        st.integers(0, 4), st.integers(0, 3), st.integers(0, 4), st.integers(0, 3), st.integers(3, 6)
    )
    concepts = st.lists(sets, min_size=1, max_size=4).map(
        lambda found: IntervalConcept([((p, p + q), (n, n + m), f) for p, q, n, m, f in found])
    )

    @staticmethod
    def slow(concept):
        """The margin of all documents at the ends of the intervals, words of a set having the same weight."""
        rows, y = [], []
        for side, sign in ((0, 1), (1, -1)):
            for ends in product((0, 1), repeat=len(concept.sets)):
                rows.append([s[side][end] / s[2] ** 0.5 for s, end in zip(concept.sets, ends, strict=True)])
                y.append(sign)
        return hard_margin.inverse_margin(np.array(rows), np.array(y)) ** -0.5

    @given(concepts)
    @settings(max_examples=60)
    def test_the_margin_is_that_of_the_quadratic_program(self, concept):
        bound = concept.margin_bound()
        if bound < 0.05:
            return
        assert bound == pytest.approx(self.slow(concept), rel=1e-5)
        weights = concept.set_weights()
        p, n, f = (np.array([one[k] for one in concept.sets], dtype=float) for k in range(3))
        worst_positive = np.where(weights > 0, p[:, 0], p[:, 1]) @ weights
        worst_negative = np.where(weights > 0, n[:, 1], n[:, 0]) @ weights
        assert worst_positive >= 1 - 1e-5
        assert worst_negative <= -1 + 1e-5
        assert (f @ weights**2) ** -0.5 == pytest.approx(bound, rel=1e-5)

    @given(
        st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 50)), min_size=1, max_size=4)
    )
    def test_without_width_it_is_lemma_2(self, sets):
        exact = TCatConcept(sets).margin_bound()
        assert IntervalConcept([((p, p), (n, n), f) for p, n, f in sets]).margin_bound() == pytest.approx(
            exact, abs=1e-6
        )

    @given(st.integers(0, 2**31))
    @settings(max_examples=30)
    def test_no_documents_within_have_a_smaller_margin(self, seed):
        X, y = TCatConcept([(9, 1, 8), (1, 9, 8)]).sample(5, 5, attribute_noise=0.15, random_state=seed)
        found = interval_concept(X, y, [8, 8])
        assert found.contains(X, y).all()
        bound = found.margin_bound()
        if bound > 1e-3:
            assert hard_margin.inverse_margin(X.toarray().astype(float), y) <= bound**-2 * (1 + 1e-6)

    def test_some_documents_may_be_outside(self):
        X, y = TCatConcept([(9, 1, 8), (1, 9, 8)]).sample(500, 500, attribute_noise=0.2, random_state=0)
        all_of_them, most = interval_concept(X, y, [8, 8]), interval_concept(X, y, [8, 8], outside=0.1)
        assert most.margin_bound() > all_of_them.margin_bound()
        assert 0.75 < most.contains(X, y).mean() < 1

    def test_bad_intervals(self):
        with pytest.raises(UsageError, match="5-3"):
            IntervalConcept([((5, 3), (0, 1), 4)])
        with pytest.raises(UsageError, match="at least one set"):
            IntervalConcept([])
        with pytest.raises(UsageError, match="overlap"):
            IntervalConcept([((0, 5), (0, 5), 4)]).set_weights()
        with pytest.raises(DataError, match="one class"):
            interval_concept(np.ones((3, 2)), [1, 1, 1], [2])
        with pytest.raises(UsageError, match="2 columns"):
            interval_concept(np.ones((2, 2)), [1, -1], [3])


class TestWeighting:
    HF = TCatConcept([(16, 4, 10), (4, 16, 10), (20, 20, 30), (30, 30, 2000), (30, 30, 30000)])
    LF = TCatConcept([(40, 40, 50), (30, 30, 2000), (12, 3, 7500), (3, 12, 7500), (15, 15, 15000)])

    def test_printed_effects(self):
        assert length_factor(self.LF, [1, 1, 2, 2, 2]) == pytest.approx(1.9)
        assert length_factor(self.HF, [1, 1, 1, 1, 2]) == pytest.approx(1.9)
        assert 1.94 <= weighted_margin(self.HF, [1, 1, 1, 1, 2]) < 1.95
        # The thesis prints 0.09; its own numbers give this.
        assert 0.106 <= weighted_margin(self.LF, [1, 1, 2, 2, 2]) < 0.107
        assert weighted_margin(self.LF, [1] * 5) == pytest.approx(self.LF.margin_bound())

    def test_advice_for_rare_and_for_frequent_words(self):
        rare = TCatConcept([(40, 40, 50), (6, 1, 800), (1, 6, 800)])
        frequent = TCatConcept([(16, 4, 10), (4, 16, 10), (20, 20, 800)])
        for concept, expected in ((rare, "tfc"), (frequent, "txc")):
            X, y = concept.sample(300, 300, random_state=0)
            (found,) = advise_weighting(X, y)
            assert found.best == expected
            assert found.inverse_margins[expected] == min(found.inverse_margins.values())

    def test_too_few_documents(self):
        X, y = SMALL.sample(5, 300, random_state=0)
        (found,) = advise_weighting(X, y)
        assert found.best is None

    def test_bad_arguments(self):
        with pytest.raises(UsageError, match=r"unit length\. Use txc"):
            advise_weighting(np.ones((2, 2)), [1, 0], schemes=["txx"])
        with pytest.raises(UsageError, match="2 factors for 3 sets"):
            length_factor(SMALL, [1, 2])
