"""Several classes searched together: sizes, shares, and the labeling against all labelings of tiny tasks."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import joint_transduction as reference
from widemargin import TransductiveSVM
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.learn.svm.class_shares import completed_shares, estimated_shares
from widemargin.learn.svm.class_sizes import assigned, sizes_of

pytestmark = pytest.mark.filterwarnings("ignore:.*do not trust this labeling:widemargin.errors.DataWarning")


@st.composite
def assignments(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, k = draw(st.integers(1, 30)), draw(st.integers(2, 6))
    sizes = np.bincount(
        rng.choice(k, n, p=rng.dirichlet(np.full(k, draw(st.sampled_from([0.3, 5.0]))))), minlength=k
    )
    costs = rng.normal(size=(n, k))
    if draw(st.booleans()):  # many documents with the same costs
        costs = np.round(costs)
    if draw(st.booleans()):
        costs[: n // 2] = costs[0]
    return costs, sizes


@given(assignments())
@settings(max_examples=200)
def test_assignments_have_their_sizes_and_the_least_cost(task):
    costs, sizes = task
    place = assigned(costs, sizes)
    assert np.bincount(place, minlength=len(sizes)).tolist() == sizes.tolist()
    total = costs[np.arange(len(place)), place].sum()
    assert total == pytest.approx(reference.least_cost(costs, sizes), abs=1e-9)


def test_identical_documents_move_together():
    place = assigned(np.tile([0.0, 1.0, 2.0], (30_000, 1)), [10_000, 5_000, 15_000])
    assert np.bincount(place).tolist() == [10_000, 5_000, 15_000]


def test_sizes_that_do_not_add_up_are_refused():
    with pytest.raises(UsageError, match="do not add up"):
        assigned(np.zeros((3, 2)), [1, 1])
    assert assigned(np.zeros((0, 2)), [0, 0]).tolist() == []


@given(st.lists(st.floats(0.01, 10), min_size=2, max_size=8), st.integers(0, 200))
def test_sizes_are_the_nearest_whole_numbers(shares, n):
    sizes = sizes_of(shares, n)
    assert sizes.sum() == n
    assert (np.abs(sizes - np.array(shares) / sum(shares) * n) < 1).all()


@st.composite
def scored(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    k = draw(st.integers(2, 5))
    codes = np.concatenate([np.arange(k), rng.integers(k, size=draw(st.integers(0, 12)))])
    truth = rng.choice(k, 60, p=rng.dirichlet(np.ones(k)))
    gap = draw(st.sampled_from([0.5, 2.0]))
    made = [rng.normal(size=(len(part), k)) + gap * np.eye(k)[part] for part in (codes, truth)]
    alone = np.bincount(codes, minlength=k)[codes] == 1
    made[0][alone] = np.nan
    return made[0], codes, made[1]


@given(scored())
def test_shares_are_those_of_the_turns_written_out(task):
    found = estimated_shares(*task)
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found, reference.shares(*task), rtol=1e-6)


def test_known_shares_stay():
    found = completed_shares(np.array([0.1, 0.3, 0.6]), {2: 0.2})
    np.testing.assert_allclose(found, [0.2, 0.6, 0.2])
    np.testing.assert_allclose(completed_shares(np.array([0.5, 0.5]), {0: 0.9, 1: 0.9}), [0.5, 0.5])


def clouds(seed=0, sizes=(60, 30, 10), gap=2.5, labeled=3, width=4):
    """Clouds of different sizes around orthogonal centers, the first documents of each labeled."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(truth), width)) + gap * np.eye(len(sizes), width)[truth]
    y = np.full(len(truth), -1)
    for k in range(len(sizes)):
        y[np.flatnonzero(truth == k)[:labeled]] = k
    return X, y, truth


def fit(X, y, **options):
    return TransductiveSVM(**{"unlabeled": -1, "on_alarm": "ignore", **options}).fit(X, y)


@given(st.integers(0, 2**31), st.sampled_from([0.5, 3.0]), st.sampled_from(["linear", "rbf"]))
@settings(max_examples=15)
def test_the_objective_is_that_of_its_labels_and_not_below_the_best(seed, gap, kernel):
    X, y, _ = clouds(seed, sizes=(4, 3, 3), gap=gap, labeled=1, width=3)
    C, weight = 2.0, 0.5 * 3 / 7
    model = fit(X, y, C=C, positives=[3 / 7, 2 / 7, 2 / 7], kernel=kernel, tol=1e-8)
    K = reference.kernel_dual.gram(X, X, kernel, gamma=model.gamma)
    upper = np.where(y < 0, C * weight, C)
    codes = y.copy()
    every = []
    for labeling in reference.labelings(7, [3, 2, 2]):
        codes[y < 0] = labeling
        every.append(reference.objective(K, codes, upper, 3))
    # alpha_ belongs to the labels of the search; its objective is one of those of all labelings.
    ours = model.objective_.sum()
    assert ours >= min(every) - 1e-4 * abs(min(every))
    assert np.abs(np.array(every) - ours).min() <= 1e-4 * ours
    if gap == 3.0:
        assert ours <= np.quantile(every, 0.05) + 1e-6


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_every_document_is_in_one_class_and_classes_have_their_shares(kernel):
    X, y, truth = clouds(gap=4.0)
    model = fit(X, y, positives={0: 57 / 91, 1: 27 / 91, 2: 7 / 91}, kernel=kernel)
    found = np.asarray(model.transduction_)
    assert np.array_equal(found[y >= 0], y[y >= 0])
    assert np.bincount(found[y < 0]).tolist() == model.positives_.tolist() == [57, 27, 7]
    assert (found == truth).mean() > 0.9
    np.testing.assert_allclose(model.shares_, [57 / 91, 27 / 91, 7 / 91])


def test_estimated_shares_beat_those_of_equally_many_labels():
    right = {"estimated": [], "labeled": []}
    for seed in range(5):
        X, y, truth = clouds(seed, sizes=(160, 30, 10), labeled=4)
        for name, positives in (("estimated", None), ("labeled", "labeled")):
            model = fit(X, y, positives=positives)
            right[name].append((np.asarray(model.transduction_) == truth)[y < 0].mean())
    assert np.mean(right["estimated"]) > np.mean(right["labeled"]) + 0.15


def test_shares_wrong_by_half_cost_at_most_what_moves():
    # A class that is given half of its share too much takes so many documents of the others, no more.
    for seed in range(5):
        X, y, truth = clouds(seed, sizes=(60, 60, 60), gap=5.0, labeled=4)
        hidden = y < 0
        right = {}
        for name, positives in (("true", [1 / 3, 1 / 3, 1 / 3]), ("wrong", [1 / 2, 1 / 4, 1 / 4])):
            found = np.asarray(fit(X, y, positives=positives).transduction_)
            right[name] = (found == truth)[hidden].mean()
        assert right["true"] > 0.97
        assert right["true"] - right["wrong"] <= 1 / 6 + 0.02


@given(st.integers(0, 2**31), st.randoms(use_true_random=False))
@settings(max_examples=10)
def test_the_order_of_documents_does_not_matter(seed, random):
    X, y, _ = clouds(seed, sizes=(12, 8, 6))
    order = np.array(random.sample(range(len(y)), len(y)))
    one, two = fit(X, y), fit(X[order], y[order])
    assert np.array_equal(np.asarray(one.transduction_)[order], two.transduction_)


def test_threads_and_sparse_rows_do_not_matter():
    X, y, _ = clouds(3, sizes=(400, 300, 300), width=40)
    models = [fit(X, y, n_jobs=jobs) for jobs in (1, 2)] + [fit(sp.csr_array(X), y)]
    for other in models[1:]:
        assert np.array_equal(models[0].scores_, other.scores_)
        assert np.array_equal(models[0].transduction_, other.transduction_)


def test_large_problems_are_as_good_as_exact_ones(monkeypatch):
    X, y, truth = clouds(1, sizes=(300, 200, 100), width=30, gap=5.0)
    exact = fit(X, y)
    monkeypatch.setattr("widemargin.learn.svm.joint_search._SMALL", 0)
    rough = fit(X, y)
    for model in (exact, rough):
        assert (np.asarray(model.transduction_) == truth).mean() > 0.9
    assert (np.asarray(exact.transduction_) == rough.transduction_).mean() > 0.95


def test_classes_can_be_separate():
    X, y, truth = clouds()
    model = fit(X, y, classes="separate", positives=[57, 27, 7])
    assert model.positives_.tolist() == [57, 27, 7]
    assert (
        any(len(pairs) for pairs in model.switches_)
        or (np.asarray(model.transduction_) == truth).mean() > 0.8
    )


def test_the_alarm_sees_a_class_that_is_elsewhere():
    X, y, _ = clouds(0, sizes=(200, 200, 200), gap=4.0, labeled=40)
    assert not any(alarm.fired for alarm in fit(X, y).alarm_)
    # Labels of two classes are exchanged for some of the labeled documents.
    swapped = y.copy()
    first, second = (np.flatnonzero(y == k)[:16] for k in (0, 1))
    swapped[first], swapped[second] = 1, 0
    model = fit(X, swapped)
    assert any(alarm.fired for alarm in model.alarm_)
    with pytest.warns(DataWarning, match="do not trust"):
        fit(X, swapped, on_alarm="warn")
    with pytest.raises(DataError, match="Label more documents"):
        fit(X, swapped, on_alarm="error")
    back = fit(X, swapped, on_alarm="inductive")
    fired = np.array([alarm.fired for alarm in model.alarm_])
    assert np.array_equal(back.fell_back_, fired)
    assert np.array_equal(back.scores_[:, fired], back.inductive_[:, fired])
    assert np.bincount(np.asarray(back.transduction_)[swapped < 0]).tolist() == back.positives_.tolist()


def test_documents_without_a_shared_word_get_the_shares():
    # A pool in another language: every score is the intercept, so that only the sizes decide.
    X = np.zeros((33, 6))
    X[[0, 1, 2], [0, 1, 2]] = 1
    X[3:, 3:] = np.random.default_rng(0).random((30, 3))
    y = np.full(33, -1)
    y[:3] = [0, 1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit(X, y, positives=[0.5, 0.3, 0.2])
    assert np.bincount(np.asarray(model.transduction_)[3:]).tolist() == [15, 9, 6]
    assert np.isfinite(fit(X, y).scores_).all()


def test_few_documents():
    X, y, _ = clouds(0, sizes=(2, 1, 1), labeled=1)  # one is unlabeled: the inductive SVM decides
    model = fit(X, y)
    assert model.transduction_[y < 0][0] == model.inductive_[y < 0].argmax()
    X, y, _ = clouds(0, sizes=(2, 2, 1), labeled=1)
    assert len(fit(X, y).transduction_) == 5
    with pytest.raises(DataError, match="one class"):
        fit(X, np.where(y == 0, 0, -1))
    with pytest.raises(UsageError, match="not a label"):
        fit(X, y, positives={"x": 0.5})
    with pytest.raises(UsageError, match="positives='half'"):
        fit(X, y, positives="half")
