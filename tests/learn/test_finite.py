"""Finite numbers in, finite numbers out, or an error that names the row, column or parameter."""

from __future__ import annotations

import contextlib
import inspect
import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from widemargin import (
    C45,
    Arow,
    AverageOf,
    BalancedWinnow,
    BalancedWinnowPlus,
    BoostedTrees,
    ChiSquareNetwork,
    DualSVM,
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
    Winnow,
)
from widemargin._arrays import canonical_csr
from widemargin._parameters import all_finite, require_finite
from widemargin.errors import DataError, UsageError
from widemargin.features.clusters import TermClusters
from widemargin.features.label_clusters import LabelClusters
from widemargin.features.lsi import LatentSemanticIndexing
from widemargin.features.sampling import SampleFeatures

LEARNERS = [
    LogisticRegression(),
    LinearSVM(),
    LinearSVM(loss="squared_hinge"),
    LinearSVM(C=np.inf),
    LinearSVM(bias="unregularized"),
    LinearSVM(sparse_coef=True),
    AverageOf(),
    LabelWeightedSVM(),
    LabelWeightedSVM(mix=1.0),
    LabelWeightedSVM(bias=None),
    LinearSVM(penalty="l1"),
    LinearSVM(loss="prbep"),
    LinearSVM(loss="f1"),
    RegularizedLeastSquares(),
    RegularizedLeastSquares(solver="iterative"),
    RegularizedLeastSquares(solver="primal", bias="unregularized"),
    RegularizedLeastSquares(0.0),
    SampledLeastSquares(3),
    SampledLeastSquares(3, sampling="weighted"),
    Arow(),
    Arow(forgetting=0.1, max_iter=5),
    Perceptron(),
    Perceptron("threshold"),
    Perceptron(average="averaged"),
    Perceptron(average="voted"),
    PositiveWinnow(normalize=False),
    PositiveWinnow(normalize=True),
    BalancedWinnow(),
    BalancedWinnowPlus(),
    Winnow(),
    Winnow(normalize=True),
    LargeMarginWinnow(),
    LargeMarginWinnow(normalize=True),
    DualSVM(),
    DualSVM(eta=0.1),
    Rocchio(),
    Rocchio("auto"),
    SelfTraining(),
    SemiSupervisedBayes(),
    SemiSupervisedBayes(event_model="bernoulli"),
    C45(),
    C45(None, output="rules"),
    NaiveBayes(),
    NaiveBayes(event_model="bernoulli"),
    NaiveBayes(event_model="complement"),
    BoostedTrees(10),
    BoostedTrees(10, base="stumps", committees="shared", votes="abstaining"),
    BoostedTrees(10, base="stumps"),
    BoostedTrees(10, votes="discrete"),
    NearestNeighbors(),
    NearestNeighbors(2, vote="equal"),
    ProfileClassifier(),
    ProfileClassifier("chi2-asymmetric", gather=1, n_neighbors=2),
    MulticlassSVM(),
    MulticlassSVM(formulation="weston-watkins"),
    MulticlassSVM(kernel="rbf"),
    MulticlassSVM(kernel="poly", formulation="weston-watkins"),
    ChiSquareNetwork(),
    ChiSquareNetwork(power=0.5, regularization=1.0),
    SelectFeatures("chi2"),
    SampleFeatures(3),
    SampleFeatures(3, sampling="weighted"),
    LatentSemanticIndexing(2),
    TermClusters(2),
    LabelClusters(2),
]
ROWS = np.array([[1.0, 2, 0, 0], [0, 1, 0, 3], [1, 0, 1, 0], [0, 0, 2, 1], [3, 0, 1, 1], [0, 2, 1, 0]])
LABELS = [0, 1, 2, 0, 1, 2]
EXTREMES = [0.0, -1.0, 1e308, 1e200, 1e-200, 1e-308, 5e-324, float("inf"), -float("inf"), float("nan"), 2**70]


def name(value):
    return re.sub(r"\s", "", str(value))


def fitted_or_refused(estimator, X, y):
    """Fit, score and transform: an error of ours, or finite numbers everywhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator.fit(X, y)
            results = dict(vars(estimator))
            for method in ("decision_function", "transform"):
                if hasattr(estimator, method):
                    results[method] = getattr(estimator, method)(X)
            for attribute in ("coef_", "intercept_"):
                with contextlib.suppress(AttributeError):
                    results[attribute] = getattr(estimator, attribute)
        except (UsageError, DataError) as error:
            return str(error)
    hard = getattr(estimator, "C", 1.0) == np.inf
    for attribute, value in results.items():
        if attribute in estimator.get_params() or (hard and attribute in ("objective_", "duality_gap_")):
            continue  # an infinite objective says that there is no hard margin
        values = value.data if sp.issparse(value) else value
        if isinstance(values, float | np.ndarray) and np.asarray(values).dtype.kind == "f":
            assert np.isfinite(values).all(), f"{attribute} of {estimator} on {X.max()}"
    return None


@pytest.mark.parametrize("size", [1e308, 1e200, 1e160, 1e99, 1e-99, 1e-160, 1e-200, 1e-308], ids=str)
@pytest.mark.parametrize("whole", [True, False], ids=["all values", "one value"])
@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_values_of_any_size(learner, whole, size):
    X = ROWS * min(size, 5e307) if whole else ROWS.copy()
    X[1, 3] = size
    error = fitted_or_refused(clone(learner), sp.csr_array(X), LABELS)
    if size > 1e100:
        assert error is not None
        assert re.search(r"row \d, column \d", error), error


def parameters():
    for learner in LEARNERS:
        for parameter in inspect.signature(type(learner)).parameters:
            if isinstance(getattr(learner, parameter), float | int | None) and parameter not in (
                "random_state",
                "n_jobs",
                "verbose",
                "warm_start",
                "sparse_coef",
                "shuffle",
                "normalize",
                "normalize",
                "balanced",
                "unit_length",
                "class_weight",
                "unlabeled",  # a mark: any value, NaN too
            ):
                yield pytest.param(learner, parameter, id=f"{name(learner)}-{parameter}")


@pytest.mark.parametrize(("learner", "parameter"), parameters())
def test_parameters_of_any_size(learner, parameter):
    for value in EXTREMES:
        estimator = clone(learner).set_params(**{parameter: value})
        if "max_iter" in estimator.get_params() and parameter != "max_iter":
            estimator.set_params(max_iter=20)
        error = fitted_or_refused(estimator, ROWS, LABELS)
        if value != value:
            assert error is not None
        if error is not None:
            assert parameter in error, error


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -1.0, 1e300])
@pytest.mark.parametrize("learner", [LinearSVM(), RegularizedLeastSquares(), DualSVM()], ids=name)
def test_weights_of_classes_and_examples_are_finite(learner, weight):
    with pytest.raises(UsageError, match="class_weight"):
        clone(learner).set_params(class_weight={1: weight}).fit(ROWS, LABELS)
    with pytest.raises(DataError, match=r"sample_weight\[2\]"):
        clone(learner).fit(ROWS, LABELS, sample_weight=[1, 1, weight, 1, 1, 1])


@pytest.mark.parametrize("class_weight", [{0: 0.0}, {1: 0.0}, {0: 0.0, 1: 0.0}])
@pytest.mark.parametrize("bias", [None, 1.0, "unregularized"])
def test_a_hard_margin_without_one_class_has_a_finite_cost(class_weight, bias):
    model = LinearSVM(C=np.inf, class_weight=class_weight, bias=bias)
    if bias == "unregularized":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(ROWS[:4], [0, 1, 0, 1])
    else:
        model.fit(ROWS[:4], [0, 1, 0, 1])
        margins = model.decision_function(ROWS[:4]) * [-1, 1, -1, 1]
        counted = [k for k, label in enumerate([0, 1, 0, 1]) if class_weight.get(label, 1.0) > 0]
        assert (margins[counted] >= 1 - 1e-2).all()
        assert np.isfinite([model.objective_, model.duality_gap_]).all()
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.alpha_).all()


def test_scores_that_overflow_are_refused_with_their_cause():
    model = LinearSVM().fit(ROWS, LABELS)
    model.coef_[0, 3] = 1e300
    with pytest.raises(DataError, match=r"X holds 1e\+99 in row 4, column 3"):
        model.decision_function(np.where(np.arange(24).reshape(6, 4) == 19, 1e99, 0.0))


def test_the_cause_is_the_most_extreme_value_or_parameter():
    X = canonical_csr(ROWS)
    with pytest.raises(DataError, match="eta=1e-60"):
        require_finite(Perceptron(eta=1e-60), X, coef_=np.array([np.nan]))
    big = canonical_csr(np.where(ROWS == 3, 1e80, ROWS))
    with pytest.raises(DataError, match=r"X holds 1e\+80 in row 1, column 3"):
        require_finite(Perceptron(eta=1e-60), big, coef_=np.array([np.nan]))
    with pytest.raises(DataError, match="less extreme parameters"):
        require_finite(Perceptron(), X, coef_=np.array([np.inf, -np.inf]))
    require_finite(Perceptron(), X, coef_=np.array([1e308, 1e308]), alpha_=None)
    assert not all_finite(np.array([np.inf, -np.inf]))
