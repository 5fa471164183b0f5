"""TCat-concepts: the printed margins, the hyperplane behind them, and what is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import hard_margin
from widemargin.errors import UsageError
from widemargin.theory import TCatConcept, ZipfLaw

HIGH, LOW = (40, 40, 50), (30, 30, 30000)


def medium_and_low(more, fewer):
    """Words of medium and low frequency that occur `more` often in the one class, `fewer` in the other."""
    return [triple for f in (500, 7500) for triple in ((more, fewer, f), (fewer, more, f), (15, 15, 2 * f))]


# Joachims, 4.2, 4.4 and 7.3.2.
PRINTED = {
    "4.17": (
        [(20, 20, 100), (4, 1, 200), (1, 4, 200), (5, 5, 600), (9, 1, 3000), (1, 9, 3000), (10, 10, 4000)],
        30.15**-0.5,
    ),
    "hf": ([(16, 4, 10), (4, 16, 10), (20, 20, 30), (30, 30, 2000), LOW], 2.68),
    "mf": ([HIGH, (12, 3, 500), (3, 12, 500), (15, 15, 1000), LOW], 0.28),
    "lf": ([HIGH, (30, 30, 2000), (12, 3, 7500), (3, 12, 7500), (15, 15, 15000)], 0.07),
    "ld": ([HIGH, *medium_and_low(9, 6)], 0.09),
    "md": ([HIGH, *medium_and_low(12, 3)], 0.29),
    "hd": ([HIGH, *medium_and_low(15, 0)], 0.48),
    "lr": ([HIGH, (3, 0, 100), (0, 3, 100), (27, 27, 1800), LOW], 0.21),
    "mr": ([HIGH, (15, 0, 500), (0, 15, 500), (15, 15, 1000), LOW], 0.47),
    "hr": ([HIGH, (30, 0, 1000), (0, 30, 1000), LOW], 0.67),
    "7.7": ([(1, 0, 1), (0, 1, 1), (4, 4, 8)], 0.5**0.5),
}


@pytest.mark.parametrize("name", PRINTED)
def test_printed_margins(name):
    sets, printed = PRINTED[name]
    # "Greater than", with two digits.
    assert printed - 5e-5 <= TCatConcept(sets).margin_bound() < printed + 0.01


@pytest.mark.parametrize(
    ("sets", "printed"),
    [
        (
            [
                (77, 29, 98),
                (4, 21, 52),
                (16, 2, 431),
                (1, 12, 341),
                (9, 1, 5045),
                (1, 21, 24276),
                (169, 191, 8116),
            ],
            0.2331,
        ),
        (
            [
                (33, 2, 65),
                (32, 65, 152),
                (2, 1, 171),
                (3, 21, 974),
                (3, 1, 3455),
                (1, 10, 17020),
                (78, 52, 5821),
            ],
            0.1802,
        ),
        (
            [(2, 1, 10), (1, 4, 22), (2, 1, 92), (1, 2, 94), (5, 1, 4080), (1, 10, 20922), (197, 190, 13459)],
            7.4123,
        ),
    ],
)
def test_printed_inverse_margins_of_three_categories(sets, printed):
    assert TCatConcept(sets).margin_bound() ** -2 == pytest.approx(printed, rel=2e-3)


concepts = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(3, 6)), min_size=1, max_size=4
).map(TCatConcept)


@given(concepts, st.integers(0, 2**31), st.booleans())
def test_documents_are_as_described(concept, seed, distinct):
    X, y = concept.sample(4, 3, distinct=distinct, random_state=seed)
    assert y.tolist() == [1] * 4 + [-1] * 3
    dense, first = X.toarray(), 0
    for p, n, f in concept.sets:
        assert dense[:, first : first + f].sum(axis=1).tolist() == [p] * 4 + [n] * 3
        first += f
    assert first == concept.n_words == X.shape[1]
    if distinct:
        assert dense.max(initial=0) <= 1
    again, _ = concept.sample(4, 3, distinct=distinct, random_state=seed)
    assert (again != X).nnz == 0


@given(concepts, st.integers(0, 2**31))
def test_no_sample_has_a_smaller_margin(concept, seed):
    if concept.margin_bound() < 1e-3:
        return
    X, y = concept.sample(4, 4, random_state=seed)
    np.testing.assert_allclose(y * (X @ concept.separator()), 1.0, rtol=1e-6)
    assert np.linalg.norm(concept.separator()) ** -1 == pytest.approx(concept.margin_bound())
    assert hard_margin.inverse_margin(X.toarray().astype(float), y) <= concept.margin_bound() ** -2 * (
        1 + 1e-6
    )


def test_every_vector_that_fits_is_equally_likely():
    X, _ = TCatConcept([(2, 0, 4)]).sample(6000, 0, distinct=True, random_state=0)
    _, counts = np.unique(X.toarray(), axis=0, return_counts=True)
    assert len(counts) == 6
    assert abs(counts - 1000).max() < 150


@pytest.mark.parametrize(
    ("sets", "message"),
    [([], "at least one set"), ([(1, -1, 3)], r"\[1 : -1 : 3\]"), ([(1, 1, 0)], "at least one")],
)
def test_what_is_no_concept(sets, message):
    with pytest.raises(UsageError, match=message):
        TCatConcept(sets)


def test_what_cannot_be_drawn_or_separated():
    with pytest.raises(UsageError, match="cannot have 4 of 3 different words"):
        TCatConcept([(4, 1, 3)]).sample(1, 1, distinct=True)
    alike = TCatConcept([(2, 2, 5)])
    assert alike.margin_bound() == 0
    with pytest.raises(UsageError, match="distinguishes the two classes"):
        alike.separator()


class TestNoise:
    def test_labels_are_flipped_at_the_given_rate(self):
        clean = TCatConcept([(3, 1, 20), (1, 3, 20)]).sample(3000, 1000, random_state=3)
        noisy = TCatConcept([(3, 1, 20), (1, 3, 20)]).sample(3000, 1000, label_noise=0.2, random_state=3)
        assert (clean[0] != noisy[0]).nnz == 0
        assert abs((clean[1] != noisy[1]).mean() - 0.2) < 0.02

    def test_replaced_words_keep_the_length_and_move_towards_the_average(self):
        concept = TCatConcept([(30, 10, 20), (10, 30, 20), (20, 20, 50)])
        X, y = concept.sample(2000, 2000, attribute_noise=0.3, random_state=0)
        dense = X.toarray()
        assert (dense.sum(axis=1) == 60).all()
        first = dense[:, :20].sum(axis=1)
        assert len(np.unique(first)) > 5
        # 0.7 of 30 stay, and 0.3 of 60 words are drawn anew, a third of them from this set.
        assert first[y > 0].mean() == pytest.approx(0.7 * 30 + 0.3 * 60 / 3, abs=0.2)
        assert first[y < 0].mean() == pytest.approx(0.7 * 10 + 0.3 * 60 / 3, abs=0.2)

    def test_lengths_follow_zipfs_law_and_keep_the_composition(self):
        X, _ = TCatConcept([(3, 1, 9), (2, 4, 9)]).sample(
            4000, 0, longest=6, length_exponent=1.5, random_state=0
        )
        dense = X.toarray()
        times = dense[:, :9].sum(axis=1) // 3
        np.testing.assert_array_equal(dense[:, :9].sum(axis=1), 3 * times)
        np.testing.assert_array_equal(dense[:, 9:].sum(axis=1), 2 * times)
        shares = np.bincount(times, minlength=7)[1:] / 4000
        expected = np.arange(1, 7) ** -1.5
        np.testing.assert_allclose(shares, expected / expected.sum(), atol=0.03)

    def test_words_of_a_set_follow_a_law(self):
        law = ZipfLaw(1, 2, 1.2)
        X, _ = TCatConcept([(50, 0, 30)]).sample(4000, 0, word_law=law, random_state=0)
        found = np.asarray(X.sum(axis=0)).ravel() / X.sum()
        expected = law.frequencies(np.arange(1, 31))
        np.testing.assert_allclose(found, expected / expected.sum(), atol=0.003)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"attribute_noise": 1.5}, "attribute_noise=1.5"),
            ({"label_noise": -0.1}, "label_noise=-0.1"),
            ({"longest": 0}, "longest=0"),
            ({"distinct": True, "word_law": ZipfLaw(1, 1, 1)}, "either distinct or word_law"),
        ],
    )
    def test_bad_options(self, options, message):
        with pytest.raises(UsageError, match=message):
            TCatConcept([(1, 0, 5), (0, 1, 5)]).sample(1, 1, **options)

    def test_fractions_cannot_be_drawn(self):
        with pytest.raises(UsageError, match=r"concept.rounded\(\)"):
            TCatConcept([(1.5, 0, 5)]).sample(1, 1)


@given(
    st.lists(st.tuples(st.floats(0, 30), st.floats(0, 30), st.integers(1, 9)), min_size=1, max_size=5).map(
        TCatConcept
    )
)
def test_rounding_keeps_lengths(concept):
    rounded = concept.rounded()
    for exact, whole in zip(concept.lengths(), rounded.lengths(), strict=True):
        assert abs(whole - exact) <= 0.5 + 1e-6
    for (p, n, f), (q, m, g) in zip(concept.sets, rounded.sets, strict=True):
        assert abs(p - q) < 1
        assert abs(n - m) < 1
        assert f == g
