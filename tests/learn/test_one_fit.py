"""Two threads that fit one object: one of them is told, and the model is that of the other."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from sklearn.base import clone

from tests.learn.online.test_mistake_driven import text_like
from widemargin import (
    C45,
    Arow,
    AverageOf,
    BalancedWinnow,
    BoostedTrees,
    ChiSquareNetwork,
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
    ProfileClassifier,
    RegularizedLeastSquares,
    Rocchio,
    SelectFeatures,
    SelfTraining,
    SemiSupervisedBayes,
    TextClassifier,
    TransductiveSVM,
    Vectorizer,
)
from widemargin._one_fit import _fitting, one_fit_at_a_time, require_not_fitting
from widemargin.errors import UsageError

LEARNERS = [
    LargeMarginWinnow(max_iter=20),
    DualSVM(max_iter=100),
    BalancedWinnow(),
    Arow(max_iter=50),
    Perceptron(average="averaged"),
    LogisticRegression(tol=1e-8),
    LinearSVM(tol=1e-8),
    AverageOf([(None, LabelWeightedSVM(tol=1e-8)), (slice(1, None), LinearSVM())]),
    LabelWeightedSVM(tol=1e-8),
    LinearSVM(tol=1e-8, penalty="l1"),
    LinearSVM(loss="prbep"),
    RegularizedLeastSquares(solver="iterative", tol=1e-9),
    Rocchio(),
    C45(),
    NaiveBayes(),
    NearestNeighbors(),
    SelfTraining(),
    SemiSupervisedBayes(),
    BoostedTrees(10),
    BoostedTrees(10, base="stumps"),
    ProfileClassifier(),
    ChiSquareNetwork(),
    MulticlassSVM(),
    MulticlassSVM(kernel="rbf"),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_results_of_two_threads_never_mix(learner):
    X, Y = text_like(n=300, d=200)
    tasks = [Y[:, 0], 1 - Y[:, 1]]
    expected = [clone(learner).fit(X, y).decision_function(X) for y in tasks]
    for _ in range(5):
        shared, refused = clone(learner), []
        barrier = threading.Barrier(2)

        def run(y, shared=shared, barrier=barrier, refused=refused):
            barrier.wait()
            try:
                shared.fit(X, y)
            except UsageError as error:
                refused.append(str(error))

        threads = [threading.Thread(target=run, args=(y,)) for y in tasks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all("Another thread is fitting this" in words for words in refused)
        assert len(refused) < 2
        found = shared.decision_function(X)
        assert any(np.array_equal(found, scores) for scores in expected)
    assert not _fitting


class SlowLabels(list):
    """Labels that are being read until `go_on` is set."""

    def __init__(self, labels):
        super().__init__(labels)
        self.entered, self.go_on = threading.Event(), threading.Event()

    def __len__(self):
        self.entered.set()
        self.go_on.wait(30)
        return super().__len__()


@pytest.mark.parametrize(
    "estimator",
    [
        *LEARNERS,
        KernelSVM(),
        TransductiveSVM(),
        SelectFeatures("chi2", n_features=3),
        TextClassifier(tune=None, estimate=None),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore")
def test_every_estimator_refuses_a_second_thread(estimator):
    texts = isinstance(estimator, TextClassifier)
    data = ["wheat corn", "oil gas"] * 20 if texts else text_like(n=40, d=30)[0]
    labels, shared = [0, 1] * 20, clone(estimator)
    slow = SlowLabels(labels)
    thread = threading.Thread(target=lambda: shared.fit(data, slow))
    thread.start()
    assert slow.entered.wait(30)
    try:
        with pytest.raises(UsageError, match="Another thread is fitting"):
            shared.fit(data, labels)
    finally:
        slow.go_on.set()
        thread.join()
    shared.fit(data, labels)  # the other one has ended
    assert not _fitting


def test_the_vectorizer_refuses_a_second_thread():
    entered, go_on = threading.Event(), threading.Event()

    def slowly():
        yield "wheat corn"
        entered.set()
        go_on.wait(30)
        yield "oil"

    shared = Vectorizer()
    thread = threading.Thread(target=lambda: shared.fit(slowly()))
    thread.start()
    assert entered.wait(30)
    try:
        with pytest.raises(UsageError, match="Another thread is fitting this Vectorizer"):
            shared.fit(["gas"])
    finally:
        go_on.set()
        thread.join()
    assert list(shared.vocabulary_) == ["corn", "oil", "wheat"]


def test_calls_within_a_call_and_after_an_error_are_allowed():
    class Learner:
        @one_fit_at_a_time
        def fit(self, depth):
            require_not_fitting(self)
            if depth == 0:
                raise ZeroDivisionError
            return self.fit(depth - 1)

    learner = Learner()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            learner.fit(3)
    assert not _fitting
