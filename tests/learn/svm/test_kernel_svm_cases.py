"""KernelSVM where problems are degenerate, labels come in other forms, or the input is wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from tests.reference.kernel_dual import gram, kkt_violation, primal_value
from widemargin import KernelSVM, LinearSVM
from widemargin.errors import DataError, UsageError

BLOBS = np.random.default_rng(5).normal(size=(90, 4)) + np.repeat(np.eye(3, 4) * 2.5, 30, axis=0)
THREE = np.repeat(["acq", "crude", "earn"], 30)


def test_hard_margin():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [4.0, 1.0]])
    y = np.array([-1, -1, 1, 1])
    model = KernelSVM(np.inf, kernel="linear", tol=1e-7).fit(X, y)
    # Between (1, 0) and (3, 0): w = (1, 0), b = -2, margin 1.
    np.testing.assert_allclose(model.decision_function(X), [-2, -1, 1, 2], atol=1e-5)
    assert model.margin_ == pytest.approx(1.0, rel=1e-5)
    assert model.stable_
    assert not model.bounded_.any()
    np.testing.assert_allclose(model.xi_, 0, atol=1e-5)
    assert model.objective_ == pytest.approx(0.5, rel=1e-5)
    linear = LinearSVM(np.inf, bias="unregularized", tol=1e-7, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(linear.coef_, [[1.0, 0.0]], atol=1e-5)
    assert linear.intercept_[0] == pytest.approx(-2, abs=1e-5)


@pytest.mark.parametrize("q", [2, 4, 10])
def test_hard_margin_equals_a_cost_that_nothing_reaches(q):
    y = np.where(THREE == "earn", 1, -1)
    hard = KernelSVM(np.inf, gamma=0.5, working_set=q, tol=1e-6).fit(BLOBS, y)
    C = 2 * hard.alpha_.max()
    soft = KernelSVM(C, gamma=0.5, working_set=q, tol=1e-6).fit(BLOBS, y)
    assert hard.objective_ == pytest.approx(soft.objective_, rel=1e-6, abs=1e-6 * 90 * C)
    np.testing.assert_allclose(hard.decision_function(BLOBS), soft.decision_function(BLOBS), atol=1e-3)
    assert (y * hard.decision_function(BLOBS) > 1 - 1e-4).all()


@pytest.mark.parametrize("bias", ["unregularized", None, 1.0])
def test_hard_margin_of_inseparable_classes_says_so(bias):
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    with pytest.warns(ConvergenceWarning, match="separable"):
        KernelSVM(np.inf, kernel="linear", bias=bias, max_iter=2000).fit(X, [1, -1, 1, -1])


def test_all_support_vectors_bounded():
    # The six opposite pairs cannot be told apart at this cost, and nothing is between the bounds.
    X = np.array([[-1.0], [1.0]])
    model = KernelSVM(0.01, kernel="linear", tol=1e-6).fit(X, [-1, 1])
    assert not model.stable_
    assert model.bounded_.all()
    assert abs(model.intercept_[0]) <= 1 - 0.02 + 1e-6
    assert model.objective_ == pytest.approx(0.5 * 0.02**2 + 0.01 * 2 * 0.98, rel=1e-6)
    steady = KernelSVM(0.01, kernel="linear", bias="stabilized", stabilizer_size=0.5, tol=1e-6).fit(
        X, [-1, 1]
    )
    assert steady.stable_, "one of the artificial examples is always between the bounds"
    assert steady.intercept_[0] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("q", [2, 10])
@pytest.mark.parametrize("C", [1.0, 1e6])
def test_duplicates_with_opposite_labels(kernel, q, C):
    rng = np.random.default_rng(0)
    half = rng.normal(size=(12, 3))
    X, y = np.vstack([half, half]), np.repeat([1.0, -1.0], 12)
    model = KernelSVM(C, kernel=kernel, working_set=q, tol=1e-4).fit(X, y)
    scores = model.decision_function(X)
    # w = 0, and any b between -1 and 1 costs as much.
    np.testing.assert_allclose(scores, scores[0], atol=1e-3)
    assert abs(scores[0]) <= 1 + 1e-3
    assert model.objective_ == pytest.approx(24 * C, rel=1e-6)
    K = gram(X, X, kernel)
    assert kkt_violation(K, y, model.alpha_, model.intercept_[0], np.full(24, C)) < 2e-4 + 1e-9 * C


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_huge_cost_on_inseparable_data_ends(kernel):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), np.where(rng.random(60) > 0.5, 1.0, -1.0)
    model = KernelSVM(1e5, kernel=kernel, working_set=30).fit(X, y)
    K = gram(X, X, kernel)
    assert kkt_violation(K, y, model.alpha_, model.intercept_[0], np.full(60, 1e5)) < 1.1e-3
    assert model.duality_gap_ < 1e-4 * model.objective_
    assert model.bounded_.sum() > 20
    if kernel == "rbf":  # LIBSVM does not end on the linear problem
        peer = SVC(C=1e5, gamma=0.1).fit(X, y)
        signed = np.zeros(60)
        signed[peer.support_] = peer.dual_coef_[0]
        theirs = primal_value(K, y, signed * y, peer.intercept_[0], np.full(60, 1e5))
        assert model.objective_ <= theirs


@pytest.mark.parametrize("bias", ["unregularized", None, 2.0, "stabilized"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "chi2"])
def test_zero_vectors(kernel, bias):
    X = sp.csr_array(np.array([[1.0, 0, 0], [0, 0, 0], [0, 2.0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 0]]))
    y = np.array([1, -1, -1, 1, -1, 1])
    model = KernelSVM(10.0, kernel=kernel, bias=bias).fit(X, y)
    scores = model.decision_function(X)
    assert np.isfinite(scores).all()
    assert scores[1] == scores[3] == scores[4]
    if bias is None and kernel == "linear":
        assert scores[1] == 0
        np.testing.assert_allclose(model.alpha_[[1, 3, 4]], 10.0)  # their loss is constant: at the bound
    nothing = KernelSVM(10.0, kernel=kernel, bias=bias).fit(sp.csr_array((4, 3)), [1, -1, 1, -1])
    assert np.isfinite(nothing.decision_function(X)).all()


def test_an_indefinite_kernel_ends_and_says_so():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 5)), np.where(rng.random(80) > 0.5, 1, -1)
    K = gram(X, X, "sigmoid", gamma=0.5, coef0=-1.0)
    assert np.linalg.eigvalsh(K).min() < -1, "the kernel does not test anything"
    for q in (2, 10):
        with pytest.warns((ConvergenceWarning, UserWarning), match="definite"):
            model = KernelSVM(
                10.0, kernel="sigmoid", gamma=0.5, coef0=-1.0, working_set=q, max_iter=20_000
            ).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        assert ((model.alpha_ >= 0) & (model.alpha_ <= 10)).all()
        assert abs(model.alpha_ @ y) < 1e-6


def test_a_gentle_sigmoid_kernel():
    y = np.where(THREE == "crude", 1, -1)
    kernel = {"gamma": 0.01, "coef0": 0.0}
    with pytest.warns(ConvergenceWarning, match="definite"):  # a little indefinite, as most of them are
        model = KernelSVM(5.0, kernel="sigmoid", tol=1e-5, **kernel).fit(BLOBS, y)
    theirs = SVC(C=5.0, kernel="sigmoid", tol=1e-5, **kernel).fit(BLOBS, y)
    np.testing.assert_allclose(model.decision_function(BLOBS), theirs.decision_function(BLOBS), atol=1e-3)


def test_one_class_is_a_clear_error():
    for bias in ("unregularized", None, "stabilized"):
        with pytest.raises(DataError, match="spam"):
            KernelSVM(bias=bias).fit(np.eye(3), ["spam"] * 3)
    with pytest.raises(DataError, match="spam"):
        LinearSVM(bias="unregularized").fit(np.eye(3), ["spam"] * 3)


def test_a_column_without_positive_examples():
    Y = np.array([[1, 0], [0, 0], [1, 0], [0, 0]])
    for model in (KernelSVM(), LinearSVM(bias="unregularized")):
        model.fit(np.eye(4), Y)
        assert (model.decision_function(np.eye(4))[:, 1] < 0).all()
        assert (model.predict(np.eye(4))[:, 1] == 0).all()


def test_weights_repeat_and_remove_examples():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 3)), np.where(rng.random(40) > 0.5, 1, -1)
    counts = np.arange(40) % 3
    repeated = np.repeat(np.arange(40), counts)
    weighted = KernelSVM(2.0, tol=1e-7).fit(X, y, counts)
    copies = KernelSVM(2.0, tol=1e-7).fit(X[repeated], y[repeated])
    assert weighted.objective_ == pytest.approx(copies.objective_, rel=1e-6)
    np.testing.assert_allclose(weighted.decision_function(X), copies.decision_function(X), atol=1e-4)
    assert (weighted.alpha_[counts == 0] == 0).all()


def test_class_weight():
    y = np.where(THREE == "earn", 1, 0)
    balanced = KernelSVM(tol=1e-6, class_weight="balanced").fit(BLOBS, y)
    as_weights = KernelSVM(tol=1e-6).fit(BLOBS, y, np.where(y == 1, 1.5, 0.75))
    assert balanced.objective_ == pytest.approx(as_weights.objective_, rel=1e-7)
    asymmetric = KernelSVM(0.01, class_weight={1: 5.0}).fit(BLOBS, y)
    assert asymmetric.alpha_[y == 0].max() == pytest.approx(0.01)
    assert asymmetric.alpha_[y == 1].max() == pytest.approx(0.05)
    with pytest.raises(UsageError, match="not a label of the training data"):
        KernelSVM(class_weight={"ham": 2.0}).fit(BLOBS, y)


def test_precomputed_gram():
    K = gram(BLOBS, BLOBS, "rbf", gamma=0.3)
    for y in (THREE, np.where(THREE == "acq", 1, 0)):
        direct = KernelSVM(4.0, gamma=0.3, tol=1e-6).fit(BLOBS, y)
        given = KernelSVM(4.0, kernel="precomputed", tol=1e-6).fit(K, y)
        np.testing.assert_allclose(
            given.decision_function(K[:7]), direct.decision_function(BLOBS[:7]), atol=1e-4
        )
        np.testing.assert_array_equal(given.predict(K), direct.predict(BLOBS))
    with pytest.raises((DataError, UsageError), match="expected a square matrix"):
        KernelSVM(kernel="precomputed").fit(K[:, :50], THREE)


def test_chi2_needs_counts():
    with pytest.raises((DataError, UsageError), match="Negative values"):
        KernelSVM(kernel="chi2").fit(BLOBS, THREE)


def test_one_against_the_rest():
    model = KernelSVM(4.0, gamma=0.3, tol=1e-6).fit(BLOBS, THREE)
    assert model.classes_.tolist() == ["acq", "crude", "earn"]
    assert model.alpha_.shape == model.xi_.shape == model.bounded_.shape == (90, 3)
    for column, label in enumerate(model.classes_):
        alone = KernelSVM(4.0, gamma=0.3, tol=1e-6).fit(BLOBS, np.where(label == THREE, 1, -1))
        np.testing.assert_allclose(
            model.decision_function(BLOBS)[:, column], alone.decision_function(BLOBS), atol=1e-4
        )
        assert model.objective_[column] == pytest.approx(alone.objective_, rel=1e-6)
        assert model.margin_[column] == pytest.approx(alone.margin_, rel=1e-4)
    winners = model.classes_[model.decision_function(BLOBS).argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(BLOBS), winners)


def pairwise(y):
    """The rules of all pairs, (a, b) -> the sign's winner, each trained on its own."""
    names = sorted(set(y))
    rules = {}
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            here = (y == a) | (y == b)
            rules[a, b] = KernelSVM(4.0, gamma=0.3, tol=1e-6).fit(BLOBS[here], y[here] == b)
    return names, rules


FOUR = np.where(np.arange(90) % 30 < 8, "grain", THREE)


def test_pairs_vote():
    names, rules = pairwise(FOUR)
    votes = {name: np.zeros(90) for name in names}
    for (a, b), rule in rules.items():
        for_b = rule.decision_function(BLOBS) > 0
        votes[a] += ~for_b
        votes[b] += for_b
    table = np.column_stack([votes[name] for name in names])
    clear = (table == table.max(axis=1, keepdims=True)).sum(axis=1) == 1
    assert clear.sum() > 60
    model = KernelSVM(4.0, gamma=0.3, tol=1e-6, scheme="votes").fit(BLOBS, FOUR)
    expected = np.array(names)[table.argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(BLOBS)[clear], expected[clear])
    assert model.machine_scores(BLOBS).shape == (90, 6)
    assert model.decision_function(BLOBS).shape == (90, 4)
    theirs = SVC(C=4.0, gamma=0.3, tol=1e-6).fit(BLOBS, FOUR)
    np.testing.assert_array_equal(theirs.predict(BLOBS)[clear], expected[clear])


def test_pairs_in_the_order_of_the_graph():
    names, rules = pairwise(FOUR)
    model = KernelSVM(4.0, gamma=0.3, tol=1e-6, scheme="dag").fit(BLOBS, FOUR)
    for i, predicted in enumerate(model.predict(BLOBS)):
        left = list(names)
        while len(left) > 1:
            last_wins = rules[left[0], left[-1]].decision_function(BLOBS[[i]])[0] > 0
            left = left[1:] if last_wins else left[:-1]
        assert predicted == left[0]


@pytest.mark.parametrize("scheme", ["votes", "dag"])
def test_pairs_of_label_sets_make_no_sense(scheme):
    with pytest.raises((DataError, UsageError), match="one-vs-rest"):
        KernelSVM(scheme=scheme).fit(BLOBS[:4], [("a", "b"), ("a",), (), ("b",)])


def test_forms_of_labels():
    sets = [("grain", "wheat")] * 3 + [("grain",)] * 3 + [()] * 3
    X = BLOBS[[0, 1, 2, 30, 31, 32, 60, 61, 62]]
    model = KernelSVM(1e4, gamma=0.5).fit(X, sets)
    assert model.predict(X) == sets
    assert model.decision_function(X).shape == (9, 2)
    indicator = KernelSVM(1e4, gamma=0.5).fit(X, [[1, 1]] * 3 + [[1, 0]] * 3 + [[0, 0]] * 3)
    np.testing.assert_array_equal(indicator.alpha_, model.alpha_)
    binary = KernelSVM(1e4, gamma=0.5).fit(X, ["spam"] * 3 + ["ham"] * 6)
    assert binary.decision_function(X).shape == (9,)
    assert binary.alpha_.shape == (9,)
    assert isinstance(binary.objective_, float)
    assert binary.predict(X).tolist() == ["spam"] * 3 + ["ham"] * 6


@pytest.mark.parametrize("scheme", ["one-vs-rest", "votes", "dag"])
@pytest.mark.parametrize("bias", ["unregularized", None, 1.5, "stabilized"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_state_round_trip(scheme, bias, kernel):
    X = sp.csr_array(BLOBS)
    for y in (FOUR, FOUR == "grain"):
        model = KernelSVM(4.0, kernel=kernel, bias=bias, scheme=scheme).fit(X, y)
        config, arrays = model.get_state()
        restored = KernelSVM.from_state(json.loads(json.dumps(config)), arrays)
        np.testing.assert_array_equal(restored.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(restored.predict(X), model.predict(X))
        assert restored.get_params() == model.get_params()


def test_a_precomputed_kernel_has_nothing_to_save():
    model = KernelSVM(kernel="precomputed").fit(gram(BLOBS, BLOBS, "rbf"), THREE)
    with pytest.raises(UsageError, match="no support vectors to save"):
        model.get_state()


def test_no_convergence_is_said():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = KernelSVM(100.0, max_iter=3, tol=1e-6).fit(BLOBS, THREE == "earn")
    assert model.n_iter_ <= 3
    assert model.violation_ > 1e-6
    assert model.duality_gap_ > 0


def test_the_kernel_rows_of_a_large_cache_are_computed_once():
    once = KernelSVM(1e3, gamma=0.3).fit(BLOBS, THREE)
    assert np.sum(once.n_kernel_rows_) <= 90
    starved = KernelSVM(1e3, gamma=0.3, cache=0.001, shrinking=False).fit(BLOBS, THREE)
    assert np.sum(starved.n_kernel_rows_) > 90


def test_selections_are_counted():
    y = THREE == "earn"
    for q, selection in ((2, "second-order"), (2, "steepest"), (10, "steepest")):
        model = KernelSVM(10.0, gamma=0.3, working_set=q, selection=selection).fit(BLOBS, y)
        assert model.selections_.shape == model.alpha_.shape
        assert (model.selections_[model.alpha_ > 0] > 0).all(), "what has moved was selected"
        assert 2 <= model.selections_.sum() <= q * model.n_iter_
    pairs = KernelSVM(10.0, gamma=0.3, working_set=2).fit(BLOBS, y)
    assert pairs.selections_.sum() == 2 * pairs.n_iter_
    both = KernelSVM(10.0, gamma=0.3, working_set=2).fit(BLOBS, np.column_stack([y, ~y]))
    assert both.selections_.shape == (len(BLOBS), 2)
    np.testing.assert_array_equal(both.selections_[:, 0], pairs.selections_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C=0: expected a positive number"),
        ({"C": "1"}, "C='1'"),
        ({"C": float("nan")}, "C=nan"),
        ({"kernel": "laplace"}, "kernel='laplace'"),
        ({"gamma": 0}, "gamma=0"),
        ({"gamma": -1.0}, "gamma=-1.0"),
        ({"kernel": "poly", "degree": 0}, "degree=0"),
        ({"bias": 0}, "bias=0"),
        ({"bias": "free"}, "bias='free'"),
        ({"bias": "stabilized", "stabilizer_size": 0}, "stabilizer_size=0"),
        ({"scheme": "tournament"}, "scheme='tournament'"),
        ({"working_set": 1}, "working_set=1"),
        ({"selection": "best"}, "selection='best'"),
        ({"selection": "second-order", "working_set": 4}, "working_set=4"),
        ({"cache": 0}, "cache=0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": 0}, "tol=0"),
        ({"class_weight": "heavy"}, 'expected "balanced"'),
        ({"class_weight": {1: -2.0}}, "weight that is negative"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(UsageError, match=message):
        KernelSVM(**parameters).fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1, -1, 1, 1], "negative"), ([0, 0, 0, 0], "nothing to learn"), ([1, 2], "shape")],
)
def test_bad_sample_weights(weights, message):
    with pytest.raises((DataError, UsageError), match=message):
        KernelSVM().fit(np.eye(4), [0, 1, 0, 1], weights)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_large_linear_machine_starts_near_its_solution_and_ends_at_it(weighted):
    """From 1,000 examples on, the solution with a bias feature is where the biased machine begins."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 6))
    y = np.where(X @ rng.normal(size=6) + rng.normal(size=1200) > 1.0, 1, -1)
    weights = rng.uniform(0.5, 2.0, size=1200) if weighted else None
    ours = KernelSVM(0.5, kernel="linear", tol=1e-6).fit(X, y, weights)
    theirs = SVC(C=0.5, kernel="linear", tol=1e-8).fit(X, y, weights)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    assert ours.duality_gap_ <= 1e-4 * ours.objective_
