"""What leave-one-out is predicted to take: counted, not measured."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from widemargin import KernelSVM, LinearSVM
from widemargin._work import RATE


def clouds(n=300, classes=4, seed=0):
    generator = np.random.default_rng(seed)
    X = sp.random(n, 200, density=0.05, random_state=generator, format="csr", dtype=np.float32)
    y = (X @ generator.normal(size=(200, classes)) + 0.1 * generator.normal(size=(n, classes))).argmax(axis=1)
    return X, y


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bias", [None, 1.0])
def test_same_at_any_number_of_threads_and_in_any_form(loss, bias):
    X, y = clouds()
    costs = {
        LinearSVM(loss=loss, bias=bias, n_jobs=n_jobs, sparse_coef=sparse).fit(X, y).left_out_cost(X).work
        for n_jobs in (1, 2)
        for sparse in (False, True)
    }
    assert len(costs) == 1
    assert 0 < costs.pop() < np.inf


def test_noise_costs_more():
    X, y = clouds()
    shuffled = np.random.default_rng(0).permutation(y)
    clean, noisy = (LinearSVM(10.0).fit(X, labels).left_out_cost(X) for labels in (y, shuffled))
    assert noisy.work > 1.2 * clean.work
    assert noisy.seconds == noisy.work / RATE


def test_counts_are_close_to_what_is_trained_again():
    X, y = clouds()
    model = LinearSVM(1.0).fit(X, y == 0)
    predicted = int(model.left_out_cost(X).why.split()[0].replace(",", ""))
    assert predicted == pytest.approx(model.left_out_scores(X, y == 0).retrained.sum(), rel=0.2, abs=5)


@pytest.mark.parametrize(
    "learner", [LinearSVM(bias="unregularized"), LinearSVM(np.inf), KernelSVM()], ids=repr
)
def test_every_machine_has_a_finite_cost(learner):
    X, _ = clouds(n=60, classes=3)
    assert 0 < learner.fit(X, (X[:, [0]].toarray() > 0).ravel()).left_out_cost(X).work < np.inf


def test_machines_that_cannot_have_an_infinite_one():
    X, y = clouds(n=60)
    assert np.isinf(LinearSVM().fit(X, y).left_out_cost(X[:50]).work)
