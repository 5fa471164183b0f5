"""The transductive machine against exhaustive search, a slow Figure 9.1, and what must hold of any answer."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.reference import kernel_dual, transduction
from widemargin import KernelSVM, TransductiveSVM
from widemargin.errors import DataError, DataWarning, UsageError

pytestmark = pytest.mark.filterwarnings("ignore:.*do not trust this labeling:widemargin.errors.DataWarning")


@st.composite
def tiny_tasks(draw):
    """Two overlapping clouds, two to four labeled points, four to seven unlabeled ones."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n_labeled, k = draw(st.integers(2, 4)), draw(st.integers(4, 7))
    truth = np.where(np.arange(n_labeled + k) % 2, 1, -1)
    X = rng.standard_normal((n_labeled + k, 3)) + draw(st.sampled_from([0.0, 0.7, 2.0])) * truth[:, None]
    signs = truth.copy()
    signs[n_labeled:] = 0
    return X, signs, draw(st.integers(1, k - 1)), draw(st.sampled_from([0.1, 1.0, 5.0]))


def fit(X, signs, num_plus, C, **options):
    options = {"tol": 1e-7, "on_alarm": "ignore", "unlabeled": 0, "C_unlabeled": C, **options}
    return TransductiveSVM(C, positives=int(num_plus), **options).fit(X, signs)


def blobs(n=60, seed=0, gap=1.5, n_labeled=6):
    rng = np.random.default_rng(seed)
    truth = np.where(np.arange(n) % 3 == 0, 1, -1)
    X = rng.standard_normal((n, 5)) + gap * truth[:, None] * np.array([1, 0.5, 0, 0, 0])
    signs = truth.copy()
    signs[n_labeled:] = 0
    return X, signs, truth


@given(tiny_tasks(), st.sampled_from(["multiple", "single"]))
@settings(max_examples=25)
def test_no_labeling_is_better_than_the_best_of_all(task, switching):
    X, signs, num_plus, C = task
    model = fit(X, signs, num_plus, C, switching=switching)
    best, _ = transduction.best_labeling(X @ X.T, signs, C, C, num_plus)
    assert model.objective_[0] >= best * (1 - 1e-5)
    found = model.transduction_.astype(float)
    value, *_ = transduction.labeled_problem(X @ X.T, found, np.full(len(X), C))
    assert model.objective_[0] == pytest.approx(value, rel=1e-5)
    assert (found[signs == 0] > 0).sum() == num_plus
    assert (found[signs != 0] == signs[signs != 0]).all()


@pytest.mark.parametrize("first_costs", ["balanced", "published"])
def test_single_switching_is_the_published_search(first_costs):
    # Without an unbounded support vector b may be anything in an interval, and then paths part.
    same = 0
    for seed in range(12):
        X, signs, _ = blobs(n=16, seed=seed, n_labeled=5, gap=0.8)
        model = fit(X, signs, 4, 2.0, switching="single", first_costs=first_costs)
        value, labels, _ = transduction.figure_9_1(
            X @ X.T, signs, 2.0, 2.0, 4, balanced=first_costs == "balanced"
        )
        if (model.transduction_ == labels).all():
            same += 1
            assert model.objective_[0] == pytest.approx(value, rel=1e-5)
    assert same >= 10


def misled(seed, n=40):
    """Two clouds far apart, and four labeled points that tell them apart along another axis."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    X[:, 0] += np.where(np.arange(n) % 2, 3, -3)
    signs = np.zeros(n, dtype=int)
    signs[:4] = [1, -1, 1, -1]
    X[:4, 0], X[:4, 1] = 0, 3 * signs[:4]
    return X, signs


@given(
    st.integers(0, 2**31),
    st.sampled_from([("rbf", None), ("rbf", 1.0), ("poly", None), ("linear", 1.0)]),
    st.sampled_from(["multiple", "single"]),
    st.sampled_from([12, 18]),
)
@example(0, ("rbf", 1.0), "multiple", 18)  # ten switches, two at once among them
@settings(max_examples=12)
def test_with_any_kernel_and_any_number_of_pairs_it_is_the_slow_search(seed, machine, switching, num_plus):
    """Without an unregularized threshold every solution is unique, and so is the path of the search."""
    kernel, bias = machine
    X, signs = misled(seed)
    K = kernel_dual.gram(X, X, kernel, degree=2) + (bias or 0.0) ** 2
    model = fit(X, signs, num_plus, 2.0, kernel=kernel, degree=2, bias=bias, switching=switching, tol=1e-9)
    value, labels, switches = transduction.figure_9_1(
        K, signs, 2.0, 2.0, num_plus, many=switching == "multiple", biased=False
    )
    assert model.n_switches_[0] == switches
    np.testing.assert_array_equal(model.transduction_, labels)
    assert model.objective_[0] == pytest.approx(value, rel=1e-6)


def test_a_support_vector_without_a_slack_keeps_its_label():
    """Its slack is 0 but for rounding, which once decided that it was exchanged (Figure 9.1: xi > 0)."""
    X, signs, _ = blobs(n=20, seed=178, n_labeled=4, gap=0.3)
    options = {"kernel": "poly", "gamma": 0.3, "degree": 2, "bias": None}
    K = kernel_dual.gram(X, X, "poly", gamma=0.3, degree=2)
    expected = transduction.figure_9_1(K, signs, 2.0, 2.0, 3, many=True, biased=False)
    assert expected[2] == 0
    for tol in (1e-3, 1e-6, 1e-9):
        model = fit(X, signs, 3, 2.0, tol=tol, **options)
        assert model.n_switches_[0] == 0
        assert model.objective_[0] == pytest.approx(expected[0], abs=2.0 * len(X) * tol)


def test_the_search_finds_the_best_labeling_of_most_small_tasks():
    better = equal = 0
    for seed in range(15):
        X, signs, _ = blobs(n=12, seed=seed, n_labeled=4)
        best, _ = transduction.best_labeling(X @ X.T, signs, 2.0, 2.0, 3)
        inductive = fit(X, signs, 3, 2.0, C_unlabeled=0.0)
        start, *_ = transduction.labeled_problem(
            X @ X.T, inductive.transduction_.astype(float), np.full(len(X), 2.0)
        )
        found = fit(X, signs, 3, 2.0).objective_[0]
        equal += found <= best * (1 + 1e-4)
        better += found <= start * (1 + 1e-4)
    assert equal >= 10
    assert better == 15


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("switching", ["multiple", "single"])
def test_the_objective_never_rises_within_a_level(kernel, switching):
    X, signs, _ = blobs(gap=0.4)
    model = fit(X, signs, 15, 3.0, kernel=kernel, switching=switching, tol=1e-3)
    assert model.n_switches_[0] > 0
    levels = model.levels_[0]
    for level in levels:
        assert level.objective <= level.first_objective
        assert (level.objective < level.first_objective) == (level.switches > 0)
    assert [level.C_minus for level in levels] == sorted(level.C_minus for level in levels)
    assert levels[-1].C_minus == levels[-1].C_plus == 3.0
    assert levels[-1].objective == pytest.approx(model.objective_[0])


@pytest.mark.parametrize("switching", ["single", "multiple"])
@pytest.mark.parametrize("seed", [1, 2])
def test_switches_lead_from_the_inductive_labels_to_the_last_ones(seed, switching):
    X, signs, _ = blobs(80, seed, gap=0.4)
    model = fit(X, signs, 25, 5.0, switching=switching)
    (pairs,) = model.switches_
    assert pairs.shape == (model.n_switches_[0], 2)
    assert len(pairs) > 0
    unlabeled = np.flatnonzero(signs == 0)
    ranked = unlabeled[np.argsort(-model.inductive_[unlabeled, 0], kind="stable")]
    labels = signs.copy()
    labels[ranked[:25]], labels[ranked[25:]] = 1, -1
    for negative, positive in pairs:
        assert (labels[negative], labels[positive]) == (1, -1)
        labels[[negative, positive]] = -1, 1
    np.testing.assert_array_equal(labels, model.transduction_)


@pytest.mark.parametrize(("first_costs", "ratio"), [("published", 15 / 39), ("balanced", 39 / 15)])
def test_costs_begin_in_the_ratio_of_the_classes_and_double(first_costs, ratio):
    X, signs, _ = blobs()
    first, second, *_ = fit(X, signs, 15, 3.0, first_costs=first_costs).levels_[0]
    assert first.C_minus == pytest.approx(1e-5)
    assert first.C_plus == pytest.approx(1e-5 * ratio)
    assert (second.C_minus, second.C_plus) == (2 * first.C_minus, 2 * first.C_plus)


def test_by_default_the_unlabeled_documents_cost_half_as_much_together():
    X, signs, _ = blobs()  # 6 labeled ones, 54 others
    free = fit(X, signs, 15, 3.0, C_unlabeled=None)
    assert free.levels_[0][-1].C_minus == pytest.approx(3.0 * 6 / 54 / 2)
    assert np.array_equal(free.scores_, fit(X, signs, 15, 3.0, C_unlabeled=3.0 * 6 / 54 / 2).scores_)
    few = np.r_[0:6, 6, 7]  # two unlabeled ones: not more than labeled ones
    assert fit(X[few], signs[few], 1, 3.0, C_unlabeled=None).levels_[0][-1].C_plus == 3.0


@pytest.mark.parametrize("cost", [1e-9, 1e-3])
def test_costs_of_next_to_nothing_are_reached_from_less(cost):
    X, signs, _ = blobs()
    levels = fit(X, signs, 15, 3.0, C_unlabeled=cost).levels_[0]
    assert levels[0].C_minus <= 0.01 * cost
    assert levels[-1].C_minus == levels[-1].C_plus == cost


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_alarm_looks_at_the_machine_with_equal_costs(kernel):
    X, signs, _ = blobs(gap=0.4)
    # A power of two below C, so that both climb by the same levels.
    below = fit(X, signs, 27, 2.0, C_unlabeled=0.125, kernel=kernel, tol=1e-9, first_costs="published")
    at_par = fit(X, signs, 27, 2.0, kernel=kernel, tol=1e-9, first_costs="published")
    assert below.levels_[0][-1].C_minus == 0.125
    assert below.alarm_[0].shares == at_par.alarm_[0].shares
    assert below.alarm_[0].support == at_par.alarm_[0].support
    assert not np.allclose(below.alpha_, at_par.alpha_)
    assert fit(X, signs, 27, 2.0, C_unlabeled=0.0, kernel=kernel).alarm_ == [None]
    silent = fit(X, signs, 27, 2.0, C_unlabeled=0.125, kernel=kernel, tol=1e-9, first_costs="published",
                 alarm_level=0)  # fmt: skip
    assert silent.alarm_ == [None]
    assert np.array_equal(silent.scores_, below.scores_)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("bias", ["unregularized", None, 1.0])
def test_without_costs_it_is_the_inductive_machine(kernel, bias):
    X, signs, _ = blobs()
    labeled = signs != 0
    inductive = KernelSVM(2.0, kernel=kernel, bias=bias, tol=1e-8).fit(X[labeled], signs[labeled])
    model = fit(X, signs, 15, 2.0, C_unlabeled=0.0, kernel=kernel, bias=bias, tol=1e-8)
    expected = inductive.decision_function(X)
    assert model.scores_[:, 0] == pytest.approx(expected, abs=1e-6)
    assert model.inductive_[:, 0] == pytest.approx(expected, abs=1e-6)
    assert model.decision_function(X) == pytest.approx(expected, abs=1e-6)
    chosen = np.flatnonzero(~labeled)[np.argsort(-expected[~labeled])[:15]]
    assert set(np.flatnonzero((model.transduction_ > 0) & ~labeled)) == set(chosen)


@pytest.mark.parametrize("cache", [400, 1e-3], ids=["kernel matrix", "weight vector or few rows"])
@pytest.mark.parametrize(("kernel", "bias"), [("linear", "unregularized"), ("rbf", "unregularized"),
                                              ("linear", 1.0), ("rbf", None)])  # fmt: skip
def test_the_answer_is_a_machine_on_the_labels_it_found(kernel, bias, cache):
    X, signs, _ = blobs(gap=0.7)
    model = fit(X, signs, 20, 3.0, kernel=kernel, bias=bias, cache=cache, C_unlabeled=1.5, gamma=0.2)
    y, alpha = model.transduction_.astype(float), model.alpha_[:, 0]
    upper = np.where(signs == 0, 1.5, 3.0)
    K = kernel_dual.gram(X, X, kernel, gamma=0.2)
    if bias == 1.0:
        K = K + 1.0
    biased = bias == "unregularized"
    b = model.intercept_[0] if biased else 0.0
    assert kernel_dual.kkt_violation(K, y, alpha, b, upper, biased) < 1e-5
    assert model.objective_[0] == pytest.approx(kernel_dual.primal_value(K, y, alpha, b, upper))
    assert model.duality_gap_[0] < 1e-4 * model.objective_[0]
    assert model.decision_function(X) == pytest.approx(model.scores_[:, 0], abs=1e-8)
    slacks = np.where(signs == 0, model.xi_[:, 0], 0.0)
    worst = [slacks[(y > 0)].max(), slacks[y < 0].max()]
    assert min(worst) <= 1e-7 or sum(worst) <= 2 + 1e-5


def test_the_order_of_documents_does_not_matter():
    X, signs, _ = blobs(gap=0.3, n=80)
    X[50] = X[51]
    X[60:64] = 0  # ties
    order = np.random.default_rng(1).permutation(len(X))
    model, other = (fit(X[o], signs[o], 20, 3.0, tol=1e-3) for o in (np.arange(len(X)), order))
    assert np.array_equal(model.scores_[order], other.scores_)
    assert np.array_equal(model.coef_, other.coef_)


def test_threads_do_not_matter():
    X, _, _ = blobs(n=90)
    Y = (X[:, :4] > 0.3).astype(float)
    Y[10:] = np.nan
    one, two = (TransductiveSVM(2.0, n_jobs=jobs, on_alarm="ignore").fit(X, Y) for jobs in (1, 2))
    assert np.array_equal(one.scores_, two.scores_)
    assert one.levels_ == two.levels_


def test_forms_of_labels_and_marks_give_the_same_answer():
    X, signs, _ = blobs()
    expected = fit(X, signs, 15, 3.0, unlabeled=0)
    text = [{0: None, 1: "yes", -1: "no"}[sign] for sign in signs.tolist()]
    numbers = np.where(signs == 0, np.nan, signs > 0)
    semi = np.where(signs == 0, -1, signs > 0)
    for y, unlabeled in ((text, None), (np.array(text, object), None), (numbers, None), (semi, -1)):
        model = fit(X, y, 15, 3.0, unlabeled=unlabeled)
        assert np.array_equal(model.scores_, expected.scores_)
        assert np.array_equal(model.unlabeled_, signs == 0)
    assert set(fit(X, text, 15, 3.0, unlabeled=None).transduction_) == {"yes", "no"}


def test_several_labels_at_once_are_each_as_alone():
    X, _, _ = blobs(n=70)
    Y = (X[:, :3] > 0.3).astype(float)
    Y[:12, 0] = np.arange(12) % 2
    Y[12:] = np.nan
    together = TransductiveSVM(2.0, on_alarm="ignore").fit(X, Y)
    assert together.transduction_.shape == (70, 3)
    assert np.isin(together.transduction_, (0, 1)).all()
    sets = [None if np.isnan(row[0]) else [f"t{j}" for j in np.flatnonzero(row)] for row in Y]
    as_sets = TransductiveSVM(2.0, on_alarm="ignore").fit(X, sets)
    sparse = sp.csr_array(Y)
    as_sparse = TransductiveSVM(2.0, on_alarm="ignore").fit(sp.csr_array(X), sparse)
    assert np.array_equal(as_sets.scores_, together.scores_)
    assert np.array_equal(as_sparse.scores_, together.scores_)
    assert [len(row) for row in as_sets.transduction_] == together.transduction_.sum(axis=1).tolist()
    for column in range(3):
        alone = TransductiveSVM(2.0, positives="labeled", on_alarm="ignore").fit(X, Y[:, column])
        assert np.array_equal(alone.scores_[:, 0], together.scores_[:, column])


def test_classes_get_one_label_each():
    rng = np.random.default_rng(3)
    centers = np.eye(3) * 4
    truth = np.arange(90) % 3
    X = rng.standard_normal((90, 3)) + centers[truth]
    y = np.where(np.arange(90) < 6, truth, -1)
    model = TransductiveSVM(1.0, unlabeled=-1, positives=[28, 28, 28]).fit(X, y)
    assert (model.transduction_ == truth).mean() > 0.9
    assert model.positives_.tolist() == [28, 28, 28]


def test_unlabeled_documents_help_where_words_go_together():
    rng = np.random.default_rng(5)
    truth = np.where(np.arange(200) % 2, 1, -1)
    words = np.where(truth[:, None] > 0, 0, 40) + rng.integers(0, 40, (200, 8))
    words = np.where(rng.random((200, 8)) < 0.15, rng.integers(0, 80, (200, 8)), words)
    X = np.zeros((200, 80))
    np.add.at(X, (np.arange(200)[:, None], words), 1.0)
    signs = truth.copy()
    signs[2:] = 0  # one document a class, which shares no word with many of the others
    model = fit(X, signs, 99, 1.0)
    right = (model.transduction_ == truth)[2:].mean()
    assert right > (np.sign(model.inductive_[:, 0]) == truth)[2:].mean() + 0.1
    assert right > 0.95


def test_everything_labeled_is_the_inductive_machine_with_a_warning():
    X, _, truth = blobs()
    with pytest.warns(DataWarning, match="Every document is labeled"):
        model = TransductiveSVM(2.0, tol=1e-8).fit(X, truth)
    inductive = KernelSVM(2.0, kernel="linear", tol=1e-8).fit(X, truth)
    assert model.scores_[:, 0] == pytest.approx(inductive.decision_function(X), abs=1e-6)
    assert model.alarm_ == [None]


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (["a", None, None], {}, "one class"),
        ([None, None, None], {}, "None of the 3 documents has a label"),
        (["a", "b", None], {"positives": 0}, "at least one has to be positive"),
        (["a", "b", None], {"positives": 1}, "at least one has to be positive"),
        (["a", "b", None], {"positives": 1.5}, "a share between 0 and 1"),
        (["a", "b", None], {"positives": {"c": 1}}, "'c', which is not a label"),
        (["a", "b", None], {"positives": [1, 1]}, "2 values for 1 labels"),
        ([[1, 0], [1, 1], [np.nan, np.nan]], {}, "no negative labeled document of 0"),
        ([[0, 0], [0, 1], [np.nan, np.nan]], {}, "no positive labeled document of 0"),
        (np.array([[1, 0], [0, 1], [0, 0]]), {"unlabeled": 0}, "indicator matrices hold"),
        (["a", "b", None], {"C_unlabeled": -1}, "at least 0"),
        (["a", "b", None], {"alarm_level": 1.5}, "a probability"),
        (["a", "b", None], {"switching": "some"}, '"multiple" or "single"'),
        (["a", "b", None], {"C": np.inf}, "positive number"),
        (["a", "b", None], {"bias": "stabilized"}, "unregularized"),
    ],
)
def test_what_cannot_be_learned_is_refused(y, options, message):
    with pytest.raises((DataError, UsageError), match=message):
        TransductiveSVM(**options).fit(np.eye(3), y)


@pytest.mark.parametrize("flip", [1, -1])
@pytest.mark.parametrize("C_unlabeled", [None, 0.0])
def test_one_unlabeled_document_is_labeled_as_the_inductive_machine_decides(C_unlabeled, flip):
    X, _, truth = blobs(n=30, gap=3.0)
    for hidden in (0, 1):  # a third of the documents are positive: a share of one document says nothing
        signs = flip * truth
        signs[hidden] = 0
        model = TransductiveSVM(unlabeled=0, on_alarm="ignore", C_unlabeled=C_unlabeled).fit(X, signs)
        assert model.transduction_[hidden] == np.sign(model.inductive_[hidden, 0]) == flip * truth[hidden]
        assert model.positives_.tolist() == [flip * truth[hidden] > 0]
        assert model.xi_[hidden, 0] < 1


def test_the_guard_takes_the_inductive_rule():
    X, signs, _ = blobs(gap=0.3)
    options = {"alarm_level": 1.0, "positives": 20, "unlabeled": 0, "C": 5.0}  # at this level it always fires
    with pytest.warns(DataWarning, match="do not trust this labeling"):
        free = TransductiveSVM(**options).fit(X, signs)
    guarded = TransductiveSVM(on_alarm="inductive", **options).fit(X, signs)
    assert guarded.fell_back_.tolist() == [True]
    assert not free.fell_back_.any()
    assert np.array_equal(guarded.scores_, guarded.inductive_)
    assert guarded.decision_function(X) == pytest.approx(guarded.inductive_[:, 0])
    assert np.array_equal(guarded.inductive_, free.inductive_)
    assert (guarded.transduction_[signs == 0] > 0).sum() == 20
    with pytest.raises(DataError, match="Label more documents"):
        TransductiveSVM(on_alarm="error", **options).fit(X, signs)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_rule_survives_its_state(kernel):
    X, signs, _ = blobs()
    model = fit(X, signs, 15, 3.0, kernel=kernel)
    config, arrays = model.get_state()
    again = TransductiveSVM.from_state(json.loads(json.dumps(config)), arrays)
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.get_params() == model.get_params()
    assert again.get_state()[0] == config
