"""Rows divided among workers: the solution of one machine, with a gap that is what it says."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
import scipy.sparse as sp

from tests.reference.partitions import cocoa, gap
from widemargin import LinearSVM
from widemargin._arrays import canonical_csr
from widemargin.cluster.partitions import Partition, solve_partitions
from widemargin.learn.svm.by_blocks.solving import BlockOptions


class Here:
    """Tasks in this process: most tests need no worker, since tasks are pure functions."""

    def keep(self, value):
        return value

    def submit(self, function, *arguments):
        return function(*arguments)

    def results(self, values):
        return iter(values)


@pytest.fixture(scope="module")
def problem():
    generator = np.random.default_rng(5)
    X = sp.random_array((90, 40), density=0.2, rng=generator, dtype=np.float64).tocsr()
    truth = X @ generator.normal(size=(40, 3)) + 0.3 * generator.normal(size=(90, 3)) > 0.1
    return X, np.where(truth, 1, -1).astype(np.int8), generator.integers(1, 4, 90).astype(float)


def parts_of(problem, K, values=np.float64):
    X, signs, weights = problem
    cut = np.array_split(np.arange(len(signs)), K)
    return cut, [Partition(canonical_csr(X[some].astype(values)), signs[some], weights[some]) for some in cut]


def solved(tasks, problem, K, **options):
    cut, parts = parts_of(problem, K)
    futures = [tasks.keep(part) for part in parts]
    costs = np.array([1.0, 0.5, 2.0]), np.array([0.7, 0.5, 1.0])
    return costs, solve_partitions(
        tasks, futures, [len(some) for some in cut], 40, *costs, BlockOptions(**options)
    )


def as_one(problem, label, costs):
    X, signs, weights = problem
    rows = np.hstack([X.toarray(), np.ones((len(signs), 1))])
    each = np.where(signs[:, label] > 0, costs[0][label], costs[1][label]) * weights
    return rows, signs[:, label].astype(float), each


@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("squared", [False, True])
def test_the_gap_is_that_of_all_rows(problem, K, squared):
    costs, found = solved(Here(), problem, K, tol=1e-4, squared_loss=squared, max_iter=3000)
    assert found.converged.all()
    alphas = np.concatenate(found.alphas)
    for label in range(3):
        rows, signs, each = as_one(problem, label, costs)
        alpha = alphas[:, label]
        assert (alpha >= 0).all()
        assert squared or (alpha <= each).all()
        w = rows.T @ (alpha * signs)
        assert found.weights[label] == pytest.approx(w, abs=1e-12)
        primal, apart = gap(rows, signs, each, w, alpha, squared=squared)
        assert found.objective[label] == pytest.approx(primal, rel=1e-12)
        assert found.gap[label] == pytest.approx(apart, abs=1e-10 * primal)
        assert apart <= 1e-4 * primal


@pytest.mark.parametrize("squared", [False, True])
def test_agrees_with_one_machine_and_with_the_reference(problem, squared):
    costs, found = solved(Here(), problem, 3, tol=1e-9, squared_loss=squared, max_iter=20_000)
    X = problem[0]
    loss = "squared_hinge" if squared else "hinge"
    for label in range(3):
        rows, own, each = as_one(problem, label, costs)
        one = LinearSVM(C=1.0, tol=1e-10, max_iter=100_000, loss=loss)
        one.fit(X, own, sample_weight=each)
        assert found.weights[label, :-1] == pytest.approx(one.coef_.ravel(), abs=2e-4)
        parts = np.repeat(np.arange(3), [len(some) for some in parts_of(problem, 3)[0]])
        w, alpha = cocoa(rows, own, each, parts, rounds=100, squared=squared)
        primal, apart = gap(rows, own, each, w, alpha, squared=squared)
        assert apart < 0.1 * primal
        # The objective is strongly convex: half the squared distance to its minimum is at most the gap.
        assert np.linalg.norm(found.weights[label] - w) <= np.sqrt(2 * apart) + 1e-4


def test_a_killed_worker_changes_nothing(tasks, problem):
    _, expected = solved(Here(), problem, 3, tol=0.03)
    tasks.client.loop.call_later(
        0.3, os.kill, next(iter(tasks.client.run(os.getpid).values())), signal.SIGKILL
    )
    _, found = solved(tasks, problem, 3, tol=0.03)
    assert expected.converged.all()
    assert np.array_equal(found.weights, expected.weights)


def test_few_rounds_do_not_converge_and_say_so(problem):
    _, found = solved(Here(), problem, 3, tol=1e-12, max_iter=10)
    assert not found.converged.any()
    assert (found.rounds == 10).all()
    assert (found.gap > 0).all()
