"""Trees of the core against C4.5 written out on dense data, and against examples computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import c45 as reference
from widemargin._arrays import canonical_csr
from widemargin.learn.trees.forest import Forest, Growing

NONE = np.zeros(0)


def flat(forest, tree=0):
    """(column, threshold, n, positive) of the nodes of one tree."""
    nodes = slice(*forest.begin[tree : tree + 2])
    parts = (forest.column, forest.threshold, forest.n, forest.positive)
    return [tuple(node) for node in zip(*(part[nodes].tolist() for part in parts), strict=True)]


def grown(X, positive, weights=NONE, n_jobs=1, **options):
    positive = np.asarray(positive).reshape(len(positive), -1)
    signs = np.where(positive, 1, -1).astype(np.int8)
    return Forest.grown(canonical_csr(sp.csr_array(X)), signs, weights, Growing(**options), n_jobs)


@st.composite
def tasks(draw):
    """Sparse values with ties and of both signs, binary and numeric columns, classes, weights."""
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.lists(st.sampled_from(["binary", "counts", "real", "signed"]), min_size=d, max_size=d))
    columns = []
    for kind in kinds:
        present = rng.random(n) < rng.choice([0.1, 0.3, 0.6, 1.0])
        values = {
            "binary": np.full(n, rng.choice([0.5, 1.0, -2.0])),
            "counts": rng.integers(1, 4, n).astype(float),
            "real": rng.random(n),
            "signed": rng.normal(size=n).round(draw(st.integers(0, 3))),
        }[kind]
        columns.append(np.where(present, values, 0.0))
    if draw(st.booleans()):  # the same twice: the first one is chosen
        columns.append(columns[0])
    X = np.column_stack(columns)
    positive = rng.random(n) < np.clip(draw(st.sampled_from([0.1, 0.5])) + 0.4 * (X[:, 0] > 0), 0, 1)
    return X.astype(draw(st.sampled_from([np.float32, np.float64]))), positive


@settings(max_examples=150)
@given(tasks(), st.sampled_from([1.0, 2.0, 5.0]), st.booleans(), st.booleans(), st.sampled_from([2, None]))
def test_the_same_tree_as_written_out(task, min_objects, gain_ratio, penalty, max_depth):
    X, positive = task
    options = {"min_objects": min_objects, "gain_ratio": gain_ratio, "penalty": penalty}
    tree = reference.grow(X.astype(float), positive, max_depth=max_depth or 10**6, **options)
    found = grown(X, positive, max_depth=max_depth, confidence=None, **options)
    assert flat(found) == tree.flat()
    assert [found.path(0, *row(X, i))[-1] for i in range(len(X))] == found.values(
        canonical_csr(sp.csr_array(X)), np.arange(len(found.n), dtype=float), 1
    )[:, 0].tolist()
    reference.prune(tree, 0.25)
    assert flat(grown(X, positive, max_depth=max_depth, **options)) == tree.flat()


def row(X, i):
    columns = np.flatnonzero(X[i])
    return columns, X[i, columns]


@settings(max_examples=100)
@given(tasks(), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 2.5]))
def test_weights(task, seed, min_objects):
    """Fractions as written out, whole numbers as repetitions; an example without weight is not there."""
    X, positive = task
    rng = np.random.default_rng(seed)
    fractions = rng.integers(0, 33, len(X)) / 8
    fractions[0] = 1.0
    found = grown(X, positive, fractions, min_objects=min_objects, confidence=None)
    assert flat(found) == reference.grow(X.astype(float), positive, fractions, min_objects=min_objects).flat()
    times = rng.integers(0, 4, len(X))
    times[0] = 1
    repeated = np.repeat(np.arange(len(X)), times)
    pruned = [
        grown(X, positive, times.astype(float), min_objects=min_objects),
        grown(X[repeated], positive[repeated], min_objects=min_objects),
        grown(X[repeated], positive[repeated], np.ones(len(repeated)), min_objects=min_objects),
    ]
    structure = [[node[:1] + node[2:] for node in flat(each)] for each in pruned]
    assert structure[0] == structure[1]  # thresholds are values of all examples, also of those without weight
    assert flat(pruned[1]) == flat(pruned[2])


def test_many_trees_at_once_are_the_same_as_one_at_a_time():
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 60), density=0.1, rng=rng, format="csr")
    positive = rng.random((300, 7)) < rng.random(7)
    weights, options = rng.random(300), {"confidence": None, "penalty": False}
    together = [grown(X, positive, weights, n_jobs=jobs, **options) for jobs in (1, 4)]
    for tree in range(7):
        alone = grown(X, positive[:, tree], weights, **options)
        assert flat(alone) == flat(together[0], tree) == flat(together[1], tree)
        assert len(flat(alone)) > 3


def test_unused_examples():
    """A sign of 0 leaves an example out of its tree."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (50, 4)).astype(float)
    signs = np.where(X[:, 1] > 1, 1, -1).astype(np.int8)[:, None]
    signs[::3] = 0
    used = np.flatnonzero(signs[:, 0])
    growing = Growing(confidence=None)
    some = Forest.grown(canonical_csr(X), signs, NONE, growing, 1)
    assert flat(some) == flat(Forest.grown(canonical_csr(X[used]), signs[used], NONE, growing, 1))


def test_the_play_example():
    """Quinlan's 14 days (1993, table 2.1): the gain and the ratio of his test of windy, by hand."""
    windy = np.array([1, 1, 0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0], dtype=bool)
    play = np.array([1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1], dtype=bool)
    ones = np.ones(14)
    assert reference.information([9, 5]) == pytest.approx(0.940, abs=5e-4)
    assert reference.gain(play, ones, ~windy) == pytest.approx(0.048, abs=5e-4)  # 6 of 8 and 3 of 6
    assert reference.information([8, 6]) == pytest.approx(0.985, abs=5e-4)
    forest = grown(windy[:, None].astype(float), play, max_depth=1, confidence=None)
    assert flat(forest) == [(0, 0.0, 14.0, 9.0), (-1, 0.0, 8.0, 6.0), (-1, 0.0, 6.0, 3.0)]


def test_the_best_ratio_among_splits_of_average_gain():
    """A rare perfect term has the greater ratio, but gains less than the average."""
    positive = np.array([1] * 8 + [0] * 8, dtype=bool)
    common = np.array([1] * 6 + [0] * 8 + [1] * 2)  # 6 of 8 positive examples, 2 of 8 negative ones
    rare = np.array([1] * 2 + [0] * 14)
    X = np.column_stack([rare, common]).astype(float)
    gains = [reference.gain(positive, np.ones(16), column == 0) for column in X.T]
    assert gains[0] < np.mean(gains) < gains[1]
    assert flat(grown(X, positive, max_depth=1, confidence=None))[0][0] == 1
    # With a third term that gains little, the average falls below the rare term's gain.
    X = np.column_stack([X, np.array([1, 0] * 7 + [1, 1])])
    sizes = [[(column == 0).sum(), (column > 0).sum()] for column in X.T]
    gains = [reference.gain(positive, np.ones(16), column == 0) for column in X.T]
    ratios = [gain / reference.information(size) for gain, size in zip(gains, sizes, strict=True)]
    assert np.mean(gains) < gains[0]
    assert ratios[1] < ratios[0]
    assert flat(grown(X, positive, max_depth=1, confidence=None))[0][0] == 0


@pytest.mark.parametrize(
    ("errors", "n", "published"), [(0, 6, 0.206), (0, 9, 0.143), (0, 1, 0.750), (1, 16, 0.157)]
)
def test_upper_error_rates_of_the_book(errors, n, published):
    """Quinlan (1993), 4.2. His program approximates the limit of (1, 16), whose exact value is 0.159."""
    assert reference.upper_error_rate(errors, n, 0.25) == pytest.approx(published, abs=3e-3)
