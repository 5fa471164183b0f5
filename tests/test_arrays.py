"""The gate to the core: a damaged matrix is refused in words, wherever it comes in."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import widemargin._core as _core
from widemargin import (
    C45,
    Arow,
    AverageOf,
    BalancedWinnow,
    BalancedWinnowPlus,
    BoostedTrees,
    DualSVM,
    KernelSVM,
    LabelWeightedSVM,
    LargeMarginWinnow,
    LinearSVM,
    LogisticRegression,
    MulticlassSVM,
    NaiveBayes,
    NearestNeighbors,
    Perceptron,
    PositiveWinnow,
    ProfileClassifier,
    RegularizedLeastSquares,
    Rocchio,
    SampledLeastSquares,
    SelectFeatures,
    SelfTraining,
    SemiSupervisedBayes,
    TextClassifier,
    TransductiveSVM,
    Winnow,
)
from widemargin._arrays import canonical_csr, row_squares, times
from widemargin.errors import DataError
from widemargin.estimate.held_out import leave_one_out
from widemargin.features.clusters import TermClusters
from widemargin.features.label_clusters import LabelClusters
from widemargin.features.lsi import LatentSemanticIndexing
from widemargin.features.sampling import SampleFeatures, leverage_scores, weighted_probabilities
from widemargin.features.svd import top_singular_vectors

LEARNERS = [
    LogisticRegression(),
    LinearSVM(),
    LinearSVM(bias="unregularized"),
    LinearSVM(sparse_coef=True),
    AverageOf(),
    LabelWeightedSVM(),
    LinearSVM(penalty="l1"),
    LinearSVM(loss="f1"),
    KernelSVM(kernel="rbf"),
    MulticlassSVM(),
    TransductiveSVM(),
    TransductiveSVM(kernel="rbf"),
    RegularizedLeastSquares(),
    RegularizedLeastSquares(solver="iterative"),
    SampledLeastSquares(3, sampling="weighted"),
    Arow(),
    Perceptron(),
    Perceptron("threshold"),
    Perceptron(average="voted"),
    PositiveWinnow(normalize=True),
    BalancedWinnow(),
    BalancedWinnowPlus(),
    Winnow(),
    LargeMarginWinnow(),
    DualSVM(),
    Rocchio(),
    C45(),
    C45(output="rules"),
    NaiveBayes(),
    NearestNeighbors(),
    SelfTraining(),
    SemiSupervisedBayes(),
    BoostedTrees(10),
    BoostedTrees(10, base="stumps"),
    ProfileClassifier(),
    TextClassifier(learner=Perceptron(), tune=None, estimate=None),
]
TRANSFORMERS = [
    SelectFeatures("df", n_features=2),
    SelectFeatures("chi2", n_features=2),
    SampleFeatures(100, sampling="weighted"),
    SampleFeatures(100),
    LatentSemanticIndexing(2),
    TermClusters(2),
    LabelClusters(2),
]
ROWS = np.array([[1.0, 2, 0, 0], [0, 1, 0, 3], [1, 0, 1, 0], [0, 0, 2, 1]])
LABELS = [0, 1, 0, 1]


def column_too_large(X):
    X.indices[0] = 10**8


def column_below_0(X):
    X.indices[2] = -1


def pointers_fall(X):
    X.indptr[1] = X.indptr[2] + 1


def pointers_begin_late(X):
    X.indptr[0] = 1


def pointers_end_late(X):
    X.indptr[-1] = 10**6


def pointers_are_short(X):
    X.indptr = X.indptr[:-1]


def values_are_short(X):
    X.data = X.data[:-1]


DAMAGES = [
    column_too_large,
    column_below_0,
    pointers_fall,
    pointers_begin_late,
    pointers_end_late,
    pointers_are_short,
    values_are_short,
]


def damaged(damage, form=sp.csr_array):
    X = form(ROWS)
    assert X.has_canonical_format  # SciPy keeps saying so
    damage(X)
    return X


def name(value):
    return getattr(value, "__name__", str(value))


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix], ids=name)
@pytest.mark.parametrize("damage", DAMAGES, ids=name)
def test_what_is_damaged_is_refused(damage, form):
    with pytest.raises(DataError, match="build the matrix again"):
        canonical_csr(damaged(damage, form))


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array], ids=name)
@pytest.mark.parametrize("damage", [column_too_large, pointers_fall, values_are_short], ids=name)
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.filterwarnings("ignore:Every document is labeled")
def test_no_learner_reads_a_damaged_matrix(learner, damage, form):
    learner = clone(learner)
    with pytest.raises(DataError):
        learner.fit(damaged(damage, form), LABELS)
    learner.fit(sp.csr_array(ROWS), LABELS)
    for method in ("predict", "decision_function"):
        with pytest.raises(DataError):
            getattr(learner, method)(damaged(damage, form))
    if hasattr(learner, "partial_fit"):
        with pytest.raises(DataError):
            learner.partial_fit(damaged(damage, form), LABELS)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array], ids=name)
@pytest.mark.parametrize("damage", [column_too_large, pointers_fall, values_are_short], ids=name)
@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=str)
def test_no_transformer_reads_a_damaged_matrix(transformer, damage, form):
    with pytest.raises(DataError):
        transformer.fit(damaged(damage, form), LABELS)
    transformer.fit(sp.csr_array(ROWS), LABELS)
    with pytest.raises(DataError):
        transformer.transform(damaged(damage, form))


@pytest.mark.parametrize("learner", [LinearSVM(), LinearSVM(bias="unregularized"), KernelSVM()], ids=str)
def test_leaving_one_out_reads_no_damaged_matrix(learner):
    learner.fit(ROWS, LABELS)
    with pytest.raises(DataError):
        leave_one_out(learner, damaged(column_too_large), LABELS)
    with pytest.raises(DataError):
        RegularizedLeastSquares().fit(ROWS, LABELS).left_out_scores(damaged(column_too_large), LABELS)


@pytest.mark.parametrize(
    "function",
    [
        lambda X: top_singular_vectors(X, 2),
        leverage_scores,
        weighted_probabilities,
        lambda X: row_squares(canonical_csr(X)),
        lambda X: times(canonical_csr(X), np.eye(4), 1),
    ],
)
def test_no_function_reads_a_damaged_matrix(function):
    with pytest.raises(DataError):
        function(damaged(column_too_large))


def test_coordinates_are_checked_before_they_are_converted():
    X = sp.coo_array(ROWS)
    X.coords[1][0] = 10**8
    with pytest.raises(DataError, match="columns"):
        canonical_csr(X)


def test_column_numbers_of_64_bits_are_not_cut_to_32():
    X = sp.csr_array(ROWS)
    X.indices = X.indices.astype(np.int64)
    X.indices[0] = 2**32
    with pytest.raises(DataError, match="4294967296"):
        canonical_csr(X)


@pytest.mark.parametrize(("value", "words"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_what_is_not_finite_is_named_with_its_place(value, words):
    X = sp.csr_array(ROWS)
    X[2, 2] = value
    with pytest.raises(DataError, match=f"contains {words}: row 2, column 2"):
        canonical_csr(X)


@given(st.data())
def test_unordered_rows_are_ordered_and_added_up_and_nothing_else_changes(data):
    """Whatever order and duplicates a sound matrix has, the gate gives the sums of NumPy."""
    n, d = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 5))
    rows = data.draw(st.lists(st.lists(st.integers(0, d - 1), max_size=6), min_size=n, max_size=n))
    indices = np.array([j for row in rows for j in row], dtype=np.int32)
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int32)
    values = np.arange(1.0, len(indices) + 1)
    X = sp.csr_array((values, indices, indptr), shape=(n, d))
    X.has_sorted_indices = X.has_canonical_format = True  # a lie
    expected = np.zeros((n, d))
    np.add.at(expected, (np.repeat(np.arange(n), np.diff(indptr)), indices), values)
    before = indices.copy()
    found = canonical_csr(X)
    np.testing.assert_array_equal(found.matrix.toarray(), expected)
    for i in range(n):
        assert (np.diff(found.indices[found.indptr[i] : found.indptr[i + 1]]) > 0).all()
    np.testing.assert_array_equal(X.indices, before)


@given(st.lists(st.integers(-2, 6), max_size=8), st.lists(st.integers(-1, 9), min_size=1, max_size=6))
def test_the_core_tells_damaged_unordered_and_canonical_matrices_apart(indices, indptr):
    d = 4
    sound = indptr[0] == 0 and indptr[-1] == len(indices) and indptr == sorted(indptr)
    sound = sound and all(0 <= j < d for j in indices)
    rises = sound and all(
        indices[k] < indices[k + 1] for i, j in itertools.pairwise(indptr) for k in range(i, j - 1)
    )
    state = 0 if rises else 1 if sound else 2
    arrays = np.array(indptr, dtype=np.int64), np.array(indices, dtype=np.int32)
    assert _core.check_csr(*arrays, np.ones(len(indices)), d)[0] == state


def test_bindings_refuse_arrays_that_do_not_fit_each_other():
    csr = canonical_csr(ROWS)
    score, rows = _core.score_rows, csr.native()
    with pytest.raises(ValueError, match="weights has 4 x 1 places; expected 4 x 2"):
        score(rows, np.ones((4, 1)), np.zeros(2), np.empty((4, 1)), 1)
    with pytest.raises(ValueError, match="scores has 3 x 1 places; expected 4 x 1"):
        score(rows, np.ones((4, 1)), np.zeros(1), np.empty((3, 1)), 1)
    with pytest.raises(ValueError, match="do not fit each other"):
        csr._replace(indices=csr.indices[:-1]).native()
    with pytest.raises(ValueError, match="threads"):
        score(rows, np.ones((4, 1)), np.zeros(1), np.empty((4, 1)), 0)
