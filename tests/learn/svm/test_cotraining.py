"""Labelings of maximum margin follow what co-occurs: joachims 7.3.1 (Figure 7.2) and 7.6.2 (Theorem 14)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from tests.reference import hard_margin
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.learn.svm.transductive import TransductiveSVM

# nuclear, physics, atom, parsley, basil, salt, and
FIGURE_7_2 = np.array(
    [
        [1, 0, 0, 0, 0, 0, 1],
        [1, 1, 1, 0, 0, 0, 1],
        [0, 0, 1, 0, 0, 0, 1],
        [0, 0, 0, 1, 1, 0, 1],
        [0, 0, 0, 1, 0, 1, 1],
        [0, 0, 0, 0, 1, 1, 1],
    ],
    dtype=float,
)
A, B = 1.0, -1.0


def by_the_library(bias):
    """w.w of the hard margin as the library trains it."""

    def margin(X, y):
        model = LinearSVM(C=np.inf, bias=bias, tol=1e-6).fit(sp.csr_array(X), y)
        return float((model.coef_**2).sum())

    return margin


@pytest.mark.parametrize(
    "margin", [hard_margin.inverse_margin, by_the_library(None), by_the_library("unregularized")]
)
def test_figure_7_2(margin):
    """D1 is in A and D6 in B; of the 16 labelings of the others one has the largest margin."""
    best = hard_margin.best_labelings(FIGURE_7_2, [A, 0, 0, 0, 0, B], margin)
    assert best.tolist() == [[A, A, A, B, B, B]]


@pytest.mark.parametrize("C", [1.0, 1000.0])
@pytest.mark.parametrize("bias", ["unregularized", None, 1.0])
def test_the_search_finds_figure_7_2(C, bias):
    model = TransductiveSVM(C, bias=bias, on_alarm="ignore")
    model.fit(FIGURE_7_2, ["A", None, None, None, None, "B"])
    assert model.transduction_.tolist() == ["A", "A", "A", "B", "B", "B"]


@st.composite
def rote_problems(draw):
    """Pairs of points (one of X1, one of X2), the connected component of each, and which labels are known."""
    pairs = draw(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=8, unique=True)
    )
    X = np.zeros((len(pairs), 8))
    for row, (first, second) in enumerate(pairs):
        X[row, [first, 4 + second]] = 1
    _, component = connected_components(X @ X.T)
    truth = draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=8, max_size=8))
    shown = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    known = np.where(shown, np.array(truth)[component], 0.0)
    return X, component, known


@settings(max_examples=60)
@given(rote_problems())
def test_theorem_14(problem):
    """Labelings of maximum margin are uniform in each component, with its label where one is known."""
    X, component, known = problem
    best = list(hard_margin.best_labelings(X, known))
    assert best
    for y in best:
        for part in range(component.max() + 1):
            signs = set(y[component == part].tolist())
            assert len(signs) == 1
            given_here = set(known[component == part].tolist()) - {0.0}
            assert not given_here or signs == given_here


def test_the_yardstick_is_the_best_hyperplane():
    """On a tree of pairs, all of one class: 1/2 for every point."""
    pairs = [(0, 3), (1, 2), (3, 1), (0, 1), (0, 2), (1, 0), (2, 2)]
    X = np.zeros((len(pairs), 8))
    for row, (first, second) in enumerate(pairs):
        X[row, [first, 4 + second]] = 1
    assert hard_margin.inverse_margin(X, np.ones(len(pairs))) == pytest.approx(2.0)


@settings(max_examples=60)
@given(rote_problems())
def test_theorem_13(problem):
    """R^2/delta^2 is at most the number of points in each of X1 and X2, here 4."""
    X, _, known = problem
    margins = [hard_margin.inverse_margin(X, y) for y in hard_margin.labelings(known)]
    assert 2 * min(margins) <= 4 + 1e-6
