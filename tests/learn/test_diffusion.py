"""Labels handed on from document to document, against the dense solution of the equations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin import TransductiveSVM
from widemargin.learn.diffusion import SHARE, diffused_ranking


def dense_ranking(X, signs):
    """D^-1/2 (1 - a) (I - a S)^-1 Y by elimination."""
    similar = X @ X.T
    sums = similar.sum(axis=1)
    root = np.where(sums > 0, 1 / np.sqrt(np.where(sums > 0, sums, 1)), 0)
    S = root[:, None] * similar * root
    Y = np.column_stack(
        [np.where(y > 0, 1 / (y > 0).sum(), np.where(y < 0, -1 / (y < 0).sum(), 0)) for y in signs.T]
    )
    F = (1 - SHARE) * np.linalg.solve(np.eye(len(X)) - SHARE * S, Y)
    return (root[:, None] * F).T


@given(st.integers(0, 2**31), st.integers(4, 30), st.integers(1, 12), st.integers(1, 3))
@settings(max_examples=40)
def test_it_solves_the_equations(seed, n, n_features, n_columns):
    rng = np.random.default_rng(seed)
    X = rng.random((n, n_features)) * (rng.random((n, n_features)) < 0.4)
    signs = rng.integers(-1, 2, (n, n_columns)).astype(np.int8)
    signs[0], signs[1] = 1, -1
    expected = dense_ranking(X, signs)
    found = diffused_ranking(sp.csr_array(X), signs)
    assert found == pytest.approx(expected, abs=SHARE**20 * np.abs(expected).max() + 1e-12)


def test_a_chain_of_words_reaches_documents_that_share_none():
    X = np.zeros((8, 7))
    for row in range(4):
        X[row, row : row + 2] = 1
        X[row + 4, [5, 6]] = 1
    signs = np.zeros((8, 1), np.int8)
    signs[0], signs[4] = 1, -1
    scores = diffused_ranking(sp.csr_array(X), signs)[0]
    assert (np.diff(scores[:4]) < 0).all()
    assert (scores[:4] > 0).all()
    assert (scores[4:] < 0).all()


def test_negative_values_begin_with_the_inductive_machine():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))
    y = np.where(np.arange(40) % 2, 1, -1)
    y[6:] = 0
    diffused, inductive = (
        TransductiveSVM(unlabeled=0, on_alarm="ignore", **options).fit(X, y)
        for options in ({"start": "diffusion"}, {"start": "inductive"})
    )
    assert np.array_equal(diffused.scores_, inductive.scores_)
