"""Machines on rows that are read in blocks: the same as in memory, with a gap that holds."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learn.svm.by_blocks.rows_in_memory import RowsInMemory
from widemargin import LinearSVM
from widemargin.learn.svm.by_blocks import solving
from widemargin.learn.svm.by_blocks.coded_alphas import label_signs
from widemargin.learn.svm.by_blocks.scoring import scores_by_blocks
from widemargin.learn.svm.by_blocks.solving import BlockOptions, solve_by_blocks


def dense(coef):
    return coef.toarray() if sp.issparse(coef) else coef


def collection(seed, n=60, d=30, n_labels=4, double=False):
    """Sparse rows of length 1, a few empty, and label sets that they explain in part."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, d)) * (rng.random((n, d)) < 0.2)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    X = X / np.where(norms > 0, norms, 1)
    truth = rng.standard_normal((d, n_labels))
    has = X @ truth + 0.3 * rng.standard_normal((n, n_labels)) > 0.2
    has[0], has[1] = True, False  # every label has both
    labels = [np.flatnonzero(row).tolist() for row in has]
    return sp.csr_array(X.astype(np.float64 if double else np.float32)), labels, has


def solved(source, n_labels, C=1.0, options=None, columns=None, **how):
    columns = np.arange(n_labels, dtype=np.int32) if columns is None else np.asarray(columns, dtype=np.int32)
    costs = np.full(len(columns), C)
    return solve_by_blocks(
        source, columns, costs, costs, options or BlockOptions(), n_all_labels=n_labels, **how
    )


@pytest.fixture
def small_visits(monkeypatch):
    """Several visits in a pass, though the collection is small."""
    monkeypatch.setattr(solving, "_ENTRIES", 100)
    monkeypatch.setattr(solving, "_ROWS", 16)
    monkeypatch.setattr(solving, "_VISITS", 0)
    monkeypatch.setattr(solving, "_VISITED_BY_GROUP", 0)


@pytest.mark.usefixtures("small_visits")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bias", [1.0, None])
@pytest.mark.parametrize("n_labels", [1, 2, 5, 19])
@pytest.mark.parametrize("weighted", [False, True])
def test_same_as_in_memory(loss, bias, n_labels, weighted):
    X, labels, has = collection(3, n=80, n_labels=n_labels, double=weighted)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], 80) if weighted else None
    model = LinearSVM(C=2.0, loss=loss, bias=bias, tol=1e-14, max_iter=20000, balance=0)
    model.fit(X, has.astype(int)[:, 0] if n_labels == 1 else has.astype(int), weights)
    options = BlockOptions(bias or 0.0, loss == "squared_hinge", tol=1e-14, max_iter=20000, seed=5)
    found = solved(RowsInMemory(X, labels, weights=weights), n_labels, 2.0, options)
    assert found.converged.all()
    np.testing.assert_allclose(dense(found.coef), model.coef_, atol=1e-6)
    np.testing.assert_allclose(found.intercept, model.intercept_, atol=1e-6)
    np.testing.assert_allclose(found.objective, model.objective_, rtol=1e-9)


@pytest.mark.usefixtures("small_visits")
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 70),
    n_labels=st.integers(1, 6),
    size=st.integers(1, 80),
    C=st.sampled_from([0.01, 1.0, 30.0]),
    tol=st.sampled_from([0.1, 1e-3, 1e-6]),
    squared=st.booleans(),
)
def test_gap_holds(seed, n, n_labels, size, C, tol, squared):
    """Objective and gap, computed again from the alphas in double precision."""
    X, labels, has = collection(seed, n=n, n_labels=n_labels)
    source = RowsInMemory(X, labels, size)
    found = solved(source, n_labels, C, BlockOptions(squared_loss=squared, tol=tol, max_iter=5000))
    assert found.converged.all()
    alphas = np.vstack([found.alphas.of(source, block) for block in range(len(source.first_rows) - 1)])
    y = np.where(has, 1.0, -1.0)
    assert alphas.shape == y.shape
    assert (alphas >= 0).all()
    rows = np.hstack([X.toarray().astype(np.float64), np.ones((n, 1))])
    w = (alphas * y).T @ rows
    np.testing.assert_allclose(w[:, :-1], dense(found.coef), atol=1e-9)
    np.testing.assert_allclose(w[:, -1], found.intercept, atol=1e-9)
    slacks = np.maximum(0, 1 - y * (rows @ w.T))
    loss = C * (slacks**2 if squared else slacks).sum(axis=0)
    primal = 0.5 * (w**2).sum(axis=1) + loss
    dual = alphas.sum(axis=0) - 0.5 * (w**2).sum(axis=1)
    if squared:
        dual -= (alphas**2).sum(axis=0) / (4 * C)
    else:
        assert (alphas <= C).all()
    np.testing.assert_allclose(found.objective, primal, rtol=1e-9)
    assert (primal - dual <= tol * primal + 1e-9 * primal).all()
    np.testing.assert_allclose(found.gap, primal - dual, atol=1e-9 * primal.max())


@pytest.mark.usefixtures("small_visits")
@pytest.mark.parametrize("squared", [False, True])
def test_labels_are_independent(squared):
    """The same bits for other threads, memory and labels beside a label."""
    X, labels, _ = collection(8, n=90, n_labels=20)
    source, options = RowsInMemory(X, labels), BlockOptions(squared_loss=squared)
    alone = [solved(source, 20, options=options, columns=[label]) for label in (0, 7, 19)]
    first = solved(source, 20, options=options)
    some = [{"memory": memory, "n_threads": 2} for memory in range(10_000, 30_000, 2_000)]
    for how in ({"n_threads": 3}, {"memory": 1}, *some, {"memory": 10**6}):
        other = solved(source, 20, options=options, **how)
        np.testing.assert_array_equal(dense(other.coef), dense(first.coef))
        np.testing.assert_array_equal(other.intercept, first.intercept)
        assert all(map(np.array_equal, other.alphas.between, first.alphas.between))
    for label, one in zip((0, 7, 19), alone, strict=True):
        np.testing.assert_array_equal(dense(one.coef)[0], dense(first.coef)[label])
        assert one.passes[0] == first.passes[label]


@pytest.mark.usefixtures("small_visits")
@pytest.mark.parametrize("double", [False, True])
def test_what_has_room_is_read_once(double):
    """The less room, the more is read again."""
    X, labels, _ = collection(8, n=90, n_labels=20, double=double)
    read: list[int] = []

    class Watched(RowsInMemory):
        def rows_of(self, wanted, n_threads):
            read.extend(len(which) for _, which in wanted)
            return super().rows_of(wanted, n_threads)

    source = Watched(X, labels)
    counts = []
    for memory in (None, 10**6, *range(30_000, 10_000, -1_000), 1):
        read.clear()
        solved(source, 20, memory=memory)
        counts.append(sum(read) - 90)  # without those of the survey
    assert counts[0] == counts[1] == 90
    assert max(counts) == counts[-1] > 90
    assert any(90 < count < counts[-1] for count in counts)  # some blocks are kept


@pytest.mark.usefixtures("small_visits")
@pytest.mark.parametrize("n_labels", [1, 4])
@pytest.mark.parametrize("squared", [False, True])
def test_rows_left_out(n_labels, squared):
    """As if they were not there, from the alphas of all rows as from none."""
    X, labels, _ = collection(4, n=70, n_labels=n_labels)
    out = np.random.default_rng(2).random(70) < 0.3
    out[:2] = False
    source = RowsInMemory(X, labels)

    def left_out(block):
        return out[slice(*source.first_rows[block : block + 2])]

    options = BlockOptions(squared_loss=squared, tol=1e-11, max_iter=20000)
    kept = [labels[i] for i in np.flatnonzero(~out)]
    expected = solved(RowsInMemory(X[~out], kept), n_labels, 3.0, options)
    whole = solved(source, n_labels, 3.0, options)
    for start in (None, whole.alphas):
        found = solved(source, n_labels, 3.0, options, left_out=left_out, start=start)
        np.testing.assert_allclose(dense(found.coef), dense(expected.coef), atol=1e-5)
        np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-8)


def test_warm_start_is_short():
    X, labels, _ = collection(5, n=200, n_labels=5)
    source = RowsInMemory(X, labels, 20)
    cold = solved(source, 5, options=BlockOptions(tol=1e-4))
    again = solved(source, 5, options=BlockOptions(tol=1e-3), start=cold.alphas)
    assert again.passes.max() == 0
    np.testing.assert_allclose(dense(again.coef), dense(cold.coef), atol=1e-6)


def test_alphas_take_two_bits():
    X, labels, _ = collection(6, n=400, n_labels=3)
    source = RowsInMemory(X, labels, 50)
    found = solved(source, 3, C=0.05)
    between = sum(len(values) for values in found.alphas.between)
    assert found.alphas.n_bytes == 3 * 100 + 8 * between
    assert between < 3 * 400


def test_limit_of_passes():
    X, labels, _ = collection(7, n=60, n_labels=4)
    found = solved(RowsInMemory(X, labels), 4, 100.0, BlockOptions(tol=1e-12, max_iter=3))
    assert not found.converged.any()
    assert (found.passes >= 3).all()


def test_scores():
    X, labels, has = collection(9, n=40, n_labels=3)
    source = RowsInMemory(X, labels, 9)
    found = solved(source, 3)
    scores = np.vstack([each for _, each in scores_by_blocks(source, found.coef, found.intercept, 1)])
    np.testing.assert_allclose(scores, X @ dense(found.coef).T + found.intercept, atol=1e-6)
    signs = np.vstack(
        [label_signs(source, block, np.arange(3)) for block in range(len(source.first_rows) - 1)]
    )
    np.testing.assert_array_equal(signs, np.where(has, 1, -1))
