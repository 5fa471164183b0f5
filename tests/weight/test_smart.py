"""SMART weights against the formulas of the book, written out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp

from widemargin import Vectorizer
from widemargin.errors import UsageError
from widemargin.weight.smart import collection_factors, weigh

COUNTS = np.array([[3, 0, 1, 0, 7], [1, 1, 1, 0, 0], [0, 0, 2, 0, 0], [0, 0, 0, 0, 0], [1, 0, 4, 0, 300]])
N_DOCUMENTS = 9
FREQUENCIES = np.array([3, 1, 9, 0, 6])


def document(letter: str, tf: int, most: int) -> float:
    if tf == 0:
        return 0.0
    return {
        "b": 1.0,
        "t": float(tf),
        "n": 0.5 + 0.5 * tf / most,
        "l": 1 + math.log(tf),
        "s": math.sqrt(tf),
    }[letter]


def collection(letter: str, df: int) -> float:
    if letter == "x":
        return 1.0
    if df == 0:
        return 0.0
    if letter in "ft":
        return math.log(N_DOCUMENTS / df)
    return math.log((N_DOCUMENTS - df) / df) if df < N_DOCUMENTS else 0.0


def normalized(letter: str, row: list[float]) -> list[float]:
    size = {"x": 1.0, "c": math.sqrt(sum(x * x for x in row)), "a": sum(abs(x) for x in row)}[letter]
    return [x / size if size else 0.0 for x in row]


@pytest.mark.parametrize(
    "scheme", ["".join(letters) for letters in itertools.product("btnls", "xftnp", "xca")]
)
def test_every_triple(scheme):
    expected = []
    for row in COUNTS.tolist():
        weights = [
            document(scheme[0], tf, max(row)) * collection(scheme[1], df)
            for tf, df in zip(row, FREQUENCIES.tolist(), strict=True)
        ]
        expected.append(normalized(scheme[2], weights))
    found = weigh(sp.csr_array(COUNTS), scheme, FREQUENCIES, N_DOCUMENTS)
    assert found.dtype == np.float32
    assert np.isfinite(found.data).all()
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-6)


def test_the_thesis_equations():
    # (2.11), (2.12), (2.13) on one document of two terms.
    counts = sp.csr_array([[3, 4]])
    np.testing.assert_allclose(weigh(counts, "bxc").toarray(), [[0.5**0.5, 0.5**0.5]], rtol=1e-6)
    np.testing.assert_allclose(weigh(counts, "txc").toarray(), [[0.6, 0.8]], rtol=1e-6)
    found = weigh(counts, "tfc", np.array([1, 5]), 10)
    a, b = 3 * math.log(10), 4 * math.log(2)
    np.testing.assert_allclose(found.toarray(), [[a / math.hypot(a, b), b / math.hypot(a, b)]], rtol=1e-6)


def test_frequencies_come_from_the_counts_if_not_given():
    counts = sp.csr_array(COUNTS)
    own = (COUNTS > 0).sum(axis=0)
    assert (weigh(counts, "tfc") != weigh(counts, "tfc", own, len(COUNTS))).nnz == 0


def test_the_counts_do_not_change():
    counts = sp.csr_array(COUNTS)
    before = counts.copy()
    weigh(counts, "ltc")
    assert (counts != before).nnz == 0


def test_threads_change_nothing():
    counts = sp.random_array((3000, 50), density=0.4, rng=np.random.default_rng(0), format="csr")
    counts.data = np.ceil(counts.data * 90).astype(np.int32)
    one, many = (weigh(counts, "nfa", n_threads=n) for n in (1, 4))
    assert np.array_equal(one.data, many.data)


def test_probabilistic_frequencies_can_be_negative():
    factors = collection_factors("tpx", np.array([6]), 9)
    assert factors is not None
    assert factors[0] == pytest.approx(math.log(3 / 6))


@pytest.mark.parametrize("name", ["", "tf", "tfcc", "zfc", "tzc", "tfz", "TFC", None, 3])
def test_unknown_schemes_are_refused(name):
    with pytest.raises(UsageError, match=r"b, t, n, l, s .* x, f, t, n, p .* x, c, a"):
        weigh(sp.csr_array(COUNTS), name)


def test_factors_must_fit():
    with pytest.raises(UsageError, match="2 collection factors for a matrix of 5 columns"):
        weigh(sp.csr_array(COUNTS), "tfc", np.array([1, 2]), 9)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 1.3])
def test_the_power_of_document_frequencies(power):
    for letter, scheme in (("f", "lfx"), ("p", "lpx")):
        found = weigh(sp.csr_array(COUNTS), scheme, FREQUENCIES, N_DOCUMENTS, idf_power=power).toarray()
        for (row, column), tf in np.ndenumerate(COUNTS):
            factor = collection(letter, int(FREQUENCIES[column]))
            expected = document("l", int(tf), 1) * math.copysign(abs(factor) ** power, factor) * (factor != 0)
            assert found[row, column] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("power", [-1, float("nan"), 11, "1", True, None])
def test_powers_are_checked(power):
    with pytest.raises(UsageError, match="idf_power"):
        Vectorizer(idf_power=power).fit(["corn"])
    with pytest.raises(UsageError, match="idf_power"):
        Vectorizer().fit(["corn"]).reweighted("ltc", power)
