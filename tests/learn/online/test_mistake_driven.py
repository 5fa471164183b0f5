"""Perceptron and the Winnows against a few lines of NumPy each."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.reference import winnow as reference
from widemargin import BalancedWinnow, BalancedWinnowPlus, Perceptron, PositiveWinnow, Winnow
from widemargin._arrays import canonical_csr
from widemargin.errors import DataError, UsageError


@st.composite
def counts(draw, lowest=0):
    """Small documents of integers, so that sums are exact in any order, and their signs."""
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 6))
    row = st.lists(st.integers(lowest, 3), min_size=d, max_size=d)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=float)
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)))
    y[0], y[1] = 1.0, -1.0
    return X, y


def text_like(n=200, d=300, labels=19, seed=0, values="binary"):
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, density=0.05, format="csr", random_state=rng, dtype=np.float64)
    if values == "binary":
        X.data[:] = 1.0
    Y = (X @ rng.normal(size=(d, labels)) + rng.normal(scale=0.3, size=(n, labels)) > 1.0).astype(int)
    return sp.csr_array(X), Y


@settings(max_examples=150)
@given(counts(lowest=-3), st.sampled_from([None, 2.0]), st.integers(1, 8))
def test_perceptron_bit_for_bit(problem, bias, passes):
    X, y = problem
    padded = X if bias is None else reference.with_constant(X, bias)
    w, wrong = reference.perceptron(padded, y, 0.5, passes)
    model = Perceptron(eta=0.5, bias=bias, max_iter=passes).fit(X, y)
    d = X.shape[1]
    np.testing.assert_array_equal(model.coef_[0], w[:d])
    assert model.intercept_[0] == (0 if bias is None else bias * w[d])
    assert (model.mistakes_, model.n_iter_) == (sum(wrong), len(wrong))


@settings(max_examples=150)
@given(counts(), st.sampled_from([None, (0.5, 2.0)]), st.integers(1, 8))
def test_perceptron_of_dagan_bit_for_bit(problem, around, passes):
    X, y = problem
    low, high = around or (1.0, 1.0)
    w, wrong = reference.dagan_perceptron(X, y, 0.25, 0.125, low, high, passes)
    model = Perceptron("threshold", eta=0.125, document_length=4, threshold_range=around, max_iter=passes)
    model.fit(X, y)
    np.testing.assert_array_equal(model.coef_[0], w)
    assert model.intercept_[0] == -1
    assert (model.mistakes_, model.n_iter_) == (sum(wrong), len(wrong))


@settings(max_examples=150)
@given(counts(), st.sampled_from([None, (0.5, 2.0)]), st.integers(1, 8))
def test_positive_winnow_bit_for_bit(problem, around, passes):
    X, y = problem
    low, high = around or (1.0, 1.0)
    w, wrong = reference.positive_winnow(X, y, 0.25, 2.0, 0.5, low, high, passes)
    model = PositiveWinnow(
        2.0, 0.5, document_length=4, threshold_range=around, max_iter=passes, normalize=False
    ).fit(X, y)
    np.testing.assert_array_equal(model.coef_[0], w)
    assert (model.mistakes_, model.n_iter_) == (sum(wrong), len(wrong))


@settings(max_examples=150)
@given(counts(), st.sampled_from([None, (0.5, 2.0)]), st.integers(1, 8))
def test_balanced_winnow_bit_for_bit(problem, around, passes):
    X, y = problem
    low, high = around or (1.0, 1.0)
    w, wrong = reference.balanced_winnow(X, y, 0.25, 2.0, 0.5, low, high, passes)
    model = BalancedWinnow(2.0, 0.5, document_length=4, threshold_range=around, max_iter=passes).fit(X, y)
    np.testing.assert_array_equal(model.coef_[0], w)
    assert (model.mistakes_, model.n_iter_) == (sum(wrong), len(wrong))


@settings(max_examples=100)
@given(counts())
def test_normalized_strength_divides_by_the_sum_and_starts_at_the_threshold(problem):
    X, y = problem
    sums = X.sum(axis=1, keepdims=True)
    scaled = np.divide(X, sums, out=np.zeros_like(X), where=sums > 0)
    w, wrong = reference.positive_winnow(X, y, 1.0, 2.0, 0.5, 1.0, 1.0, 6, normalize=True)
    model = PositiveWinnow(2.0, 0.5, normalize=True, max_iter=6).fit(X, y)
    np.testing.assert_array_equal(model.coef_[0], w)
    assert model.mistakes_ == sum(wrong)
    np.testing.assert_allclose(model.decision_function(X), scaled @ model.coef_[0] - 1, atol=1e-12)


@settings(max_examples=100)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.01, 0.3, 1.0]),
    st.sampled_from([None, 1.0]),
    st.sampled_from([None, 0.7, 3.0]),
)
def test_winnow_balanced_by_embedding_is_the_explicit_one(seed, eta, bias, W):
    rng = np.random.default_rng(seed)  # no ties: rounding would decide them
    X, y = rng.normal(size=(20, 5)), np.where(np.arange(20) % 3 == 0, 1.0, -1.0)
    padded = X if bias is None else reference.with_constant(X, bias)
    w, wrong = reference.winnow(reference.embedded(padded), y, eta, 0.01, W, passes=12, halves=True)
    model = Winnow(normalize=W is not None, eta=eta, total_weight=W, bias=bias, max_iter=12).fit(X, y)
    assert model.mistakes_ == sum(wrong)
    w = w[: len(w) // 2] - w[len(w) // 2 :]
    np.testing.assert_allclose(
        np.append(model.coef_[0], model.intercept_ * bool(bias))[: len(w)], w, rtol=1e-9, atol=1e-15
    )


@settings(max_examples=60)
@given(counts(), st.sampled_from([0.1, 1.0]))
def test_winnow_with_positive_weights(problem, eta):
    X, y = problem
    w, wrong = reference.winnow(X, y, eta, 0.5, passes=5)
    model = Winnow(eta=eta, start_weight=0.5, balanced=False, bias=None, max_iter=5).fit(X, y)
    assert model.mistakes_ == sum(wrong)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-12)


def test_normalized_and_unnormalized_winnow_make_the_same_mistakes():
    X, Y = text_like(values="real")
    plain, scaled = (
        Winnow(normalize=normalize, eta=0.05, max_iter=20).fit(X, Y) for normalize in (False, True)
    )
    np.testing.assert_array_equal(plain.mistakes_, scaled.mistakes_)
    assert plain.mistakes_.min() > 0
    sizes = np.abs(scaled.coef_).sum(axis=1) / np.abs(plain.coef_).sum(axis=1)
    np.testing.assert_allclose(scaled.coef_, plain.coef_ * sizes[:, None], rtol=1e-9)


@pytest.mark.parametrize("normalize", [False, True])
def test_the_normalizer_kept_in_small_steps_is_the_sum(normalize):
    X, Y = text_like(values="real")
    model = Winnow(normalize=normalize, eta=0.3, start_weight=0.02, max_iter=30).fit(X, Y)
    v = model._cells["logs"]
    sizes = 2 * 0.02 * np.cosh(v).sum(axis=0)
    np.testing.assert_allclose(model._columns["normalizer"], sizes, rtol=1e-11)
    if normalize:
        w = np.vstack([model.coef_.T, model.intercept_])
        np.testing.assert_allclose(w, 2 * 0.02 * np.sinh(v) * (2 * 0.02 * 301) / sizes, rtol=1e-10)


@settings(max_examples=100)
@given(counts(lowest=-3), st.integers(1, 4))
def test_averaged_weights_are_the_average_after_every_document(problem, passes):
    X, y = problem
    w, total, n = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0
    for _ in range(passes):
        wrong = 0
        for x, sign in zip(X, y, strict=True):
            if sign * (w @ x) <= 0:
                w, wrong = w + 0.5 * sign * x, wrong + 1
            total, n = total + w, n + 1
        if wrong == 0:
            break
    model = Perceptron(eta=0.5, bias=None, average="averaged", max_iter=passes).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], total / n, rtol=1e-12, atol=1e-12)


def test_averages_of_normalized_winnow():
    X, Y = text_like(n=60, d=40, labels=1, values="real")
    y = 2 * Y[:, 0] - 1
    rules = []
    for upto in range(1, len(y) + 1):
        batch = Winnow(normalize=True, eta=0.4, max_iter=1).partial_fit(X[:upto], y[:upto], classes=[-1, 1])
        rules.append(np.append(batch.coef_[0], batch.intercept_))
    model = Winnow(normalize=True, eta=0.4, average="averaged").partial_fit(X, y, classes=[-1, 1])
    np.testing.assert_allclose(
        np.append(model.coef_[0], model.intercept_), np.mean(rules, axis=0), rtol=1e-9, atol=1e-14
    )


@settings(max_examples=60)
@given(counts(lowest=-3), st.integers(1, 3))
def test_votes_are_those_of_all_rules(problem, passes):
    X, y = problem
    padded = reference.with_constant(X)
    w, votes, n = np.zeros(padded.shape[1]), np.zeros(len(X)), 0
    for _ in range(passes):
        wrong = 0
        for x, sign in zip(padded, y, strict=True):
            if sign * (w @ x) <= 0:
                w, wrong = w + 0.5 * sign * x, wrong + 1
            votes, n = votes + np.where(padded @ w > 0, 1, -1), n + 1
        if wrong == 0:
            break
    model = Perceptron(eta=0.5, average="voted", max_iter=passes).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), votes / n, atol=1e-12)
    assert not hasattr(model, "coef_")


def test_features_are_linked_by_the_first_positive_document():
    X = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1], [0, 0, 1, 1]], dtype=float)
    y = np.array([1, 0, 1, 0])
    model = PositiveWinnow(2.0, 0.5, document_length=2, link="first-sight", max_iter=1, normalize=False).fit(
        X, y
    )
    # 1: links 0 and 1, scores 1, promoted. 2: feature 2 stays out, score 1, demoted. 3: links 3; 1 + 0.5 > 1.
    assert model.coef_[0].tolist() == [1.0, 0.5, 0.0, 0.5]
    additive = Perceptron("threshold", eta=0.25, document_length=2, link="first-sight", max_iter=1).fit(X, y)
    assert additive.coef_[0].tolist() == [0.75, 0.75, 0.0, 0.5]
    everything = PositiveWinnow(2.0, 0.5, document_length=2, max_iter=1, normalize=False).fit(X, y)
    assert everything.coef_[0, 2] != 0


@st.composite
def squares(draw):
    """Documents of square counts, so that their roots are exact, and several labels."""
    X, y = draw(counts())
    more = draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=3 * len(y), max_size=3 * len(y)))
    return X**2, np.column_stack([y, np.reshape(more, (len(y), 3))])


BELOW = st.sampled_from([0.1, 0.4, 0.8, 1.0])


@settings(max_examples=100)
@given(counts(), st.sampled_from([None, (0.5, 2.0)]), st.sampled_from([1, 2, 3, 6, 12]), BELOW, st.booleans())
def test_positive_winnow_that_discards_bit_for_bit(problem, around, passes, below, normalize):
    X, y = problem
    low, high = around or (1.0, 1.0)
    given = {"threshold_range": around, "normalize": normalize, "discard_below": below, "max_iter": passes}
    model = PositiveWinnow(2.0, 0.5, document_length=4, **given).fit(X, y)
    _, w, wrong, gone = reference.discarding_winnow(
        X, y, 1.0 if normalize else 0.25, 2.0, 0.5, low, high, below, passes, balanced=False,
        normalize=normalize,
    )  # fmt: skip
    np.testing.assert_array_equal(model.coef_[0], w)
    assert model.n_discarded_.tolist() == [gone.sum()]
    assert (model.mistakes_, model.n_iter_) == (sum(wrong), len(wrong))


@settings(max_examples=100)
@given(squares(), st.sampled_from([1, 2, 3, 6, 12]), BELOW, st.sampled_from([None, "averaged", "voted"]))
def test_balanced_winnow_plus_bit_for_bit(problem, passes, below, average):
    """Square roots, the threshold range and discarding together, several labels at once."""
    X, Y = problem
    model = BalancedWinnowPlus(
        2.0, 0.5, threshold_range=(0.5, 2.0), document_length=4, discard_below=below, average=average,
        max_iter=passes,
    ).fit(X, (Y > 0).astype(int))  # fmt: skip
    for k, y in enumerate(Y.T):
        rules, w, wrong, gone = reference.discarding_winnow(
            np.sqrt(X), y, 0.25, 2.0, 0.5, 0.5, 2.0, below, passes, balanced=True
        )
        assert model.n_discarded_[k] == gone.sum()
        assert (model.mistakes_[k], model.n_iter_[k]) == (sum(wrong), len(wrong))
        scores = np.sqrt(X) @ rules.T - 1.0
        if average == "voted":
            expected = np.where(scores > 0, 1, -1).mean(axis=1)
        elif average == "averaged":
            expected = scores.mean(axis=1)
        else:
            np.testing.assert_array_equal(model.coef_[k], w)
            expected = np.sqrt(X) @ w - 1.0
        np.testing.assert_allclose(model.decision_function(X)[:, k], expected, rtol=1e-12, atol=1e-12)


def test_features_within_one_step_of_their_start_are_discarded():
    X, Y = text_like(n=300, d=200)
    X.data[:] = 1.0
    kept = BalancedWinnow(1.2, 0.8, threshold_range=(0.9, 1.1), max_iter=40).fit(X, Y)
    model = BalancedWinnowPlus(1.2, 0.8, discard_below=1.0, max_iter=40).fit(X, Y)
    first = BalancedWinnow(1.2, 0.8, threshold_range=(0.9, 1.1), max_iter=1).fit(X, Y)
    share = 1.0 / (X.nnz / X.shape[0])
    low, high = share * (2 * 0.8 - 1.2), share * (2 * 1.2 - 0.8)
    inside = (first.coef_ >= low - 1e-15) & (first.coef_ <= high + 1e-15)
    np.testing.assert_array_equal(model.coef_ == 0, inside)
    np.testing.assert_array_equal(model.n_discarded_, inside.sum(axis=1))
    assert 0 < inside.mean() < 1
    assert not (kept.coef_ == 0).any()
    assert (kept.n_discarded_ == 0).all()


def test_what_normalized_winnow_discards_goes_back_to_its_start():
    X, Y = text_like(n=300, d=200)
    X.data[:] = 1.0
    given = {"normalize": True, "threshold_range": (0.9, 1.1)}
    model = PositiveWinnow(1.2, 0.8, discard_below=1.0, max_iter=40, **given).fit(X, Y)
    first = PositiveWinnow(1.2, 0.8, max_iter=1, **given).fit(X, Y)
    inside = (first.coef_ >= 0.8 - 1e-15) & (first.coef_ <= 1.2 + 1e-15)
    np.testing.assert_array_equal(model.n_discarded_, inside.sum(axis=1))
    assert 0 < inside.mean() < 1
    assert (model.coef_[inside] == 1.0).all()
    # A document of nothing but such features is at the threshold.
    only = inside[0].astype(float)[None]
    np.testing.assert_allclose(model.decision_function(only)[0, 0], 0.0, atol=1e-12)


@pytest.mark.parametrize("average", [None, "voted"])
def test_balanced_winnow_plus_takes_the_square_roots_itself(average):
    X, Y = text_like(n=200, d=100, labels=3, values="real")
    counts = X.copy()
    counts.data = np.ceil(counts.data * 5)
    roots = counts.sqrt()
    given = {"discard_below": 0.5, "average": average, "max_iter": 5}
    model = BalancedWinnowPlus(**given).fit(counts, Y)
    other = BalancedWinnowPlus(strength="given", **given).fit(roots, Y)
    for other_form in (counts, counts.toarray()):
        np.testing.assert_array_equal(model.decision_function(other_form), other.decision_function(roots))
    np.testing.assert_array_equal(model.as_scored(canonical_csr(counts)).matrix.toarray(), roots.toarray())
    with pytest.raises(DataError, match="Negative values"):
        model.decision_function(-counts)
    one_by_one = BalancedWinnowPlus(document_length=5, average=average)
    for i in range(len(Y)):
        one_by_one.partial_fit(counts[[i]], Y[[i]])
    at_once = BalancedWinnowPlus(strength="given", document_length=5, average=average).partial_fit(roots, Y)
    np.testing.assert_array_equal(one_by_one.decision_function(counts), at_once.decision_function(roots))


def test_learning_goes_on_after_discarding():
    X, Y = text_like(n=300, d=200)
    model = BalancedWinnow(1.2, 0.8, discard_below=1e-9, max_iter=200).fit(X, Y)
    plain = BalancedWinnow(1.2, 0.8, max_iter=200).fit(X, Y)
    done = (model.n_iter_ < 200) & (plain.n_iter_ < 200)
    assert done.any()
    assert (model.n_discarded_[done] > 0).all()
    assert (model.n_iter_[done] > plain.n_iter_[done]).all()
    wrong = (model.decision_function(X) > 0) != (Y > 0)
    assert not wrong[:, done].any()


@pytest.mark.parametrize("average", [None, "averaged", "voted"])
def test_discarding_waits_until_mistakes_are_few(average):
    X, Y = text_like(n=300, d=200)
    y = Y[:, 0].copy()
    y[::5] = 1 - y[::5]  # no rule is right everywhere
    plain = BalancedWinnow(1.2, 0.8, average=average, max_iter=30).fit(X, y)
    assert plain.n_iter_ == 30, "a pass without mistakes: this does not test what it says"
    never = BalancedWinnow(1.2, 0.8, average=average, max_iter=30, discard_below=1e-9).fit(X, y)
    assert never.n_discarded_[0] == 0
    np.testing.assert_array_equal(plain.decision_function(X), never.decision_function(X))
    often = BalancedWinnow(1.2, 0.8, average=average, max_iter=30, discard_below=0.5).fit(X, y)
    assert often.n_discarded_[0] > 0


def test_labels_threads_and_types_do_not_change_a_model():
    X, Y = text_like(values="real")
    alone = [Winnow(eta=0.1).fit(X, Y[:, k]) for k in range(Y.shape[1])]
    first, *others = (Winnow(eta=0.1, n_jobs=threads).fit(X, Y) for threads in (1, 2, 3))
    for together in others:
        np.testing.assert_array_equal(together.coef_, first.coef_)
    for k, one in enumerate(alone):
        np.testing.assert_allclose(first.coef_[k], one.coef_[0], rtol=1e-9, atol=1e-14)
    single = Winnow(eta=0.1).fit(X.astype(np.float32), Y)
    assert np.corrcoef(single.coef_.ravel(), first.coef_.ravel())[0, 1] > 0.999


def test_shuffled_passes_depend_on_the_seed_alone():
    X, Y = text_like()
    one, same, other = (
        BalancedWinnow(shuffle=True, random_state=seed, n_jobs=jobs, max_iter=3).fit(X, Y)
        for seed, jobs in ((1, 1), (1, 2), (2, 1))
    )
    np.testing.assert_array_equal(one.coef_, same.coef_)
    assert (one.coef_ != other.coef_).any()
    once, in_order = (BalancedWinnow(shuffle=shuffle, max_iter=1).fit(X, Y) for shuffle in (True, False))
    assert (once.coef_ != in_order.coef_).any()


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([False, True]))
@example(23908, True)
def test_mistakes_stay_below_the_bound_on_separable_documents(seed, normalize):
    from widemargin.theory.mistakes import perceptron_mistakes, winnow_mistakes

    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (60, 30)).astype(float)
    target = np.zeros(30)
    target[:3] = rng.normal(size=3) + 0.1
    scores = X @ target
    X, y = X[np.abs(scores) > 0.05], np.sign(scores[np.abs(scores) > 0.05])
    if len(set(y)) < 2:
        return
    bound = winnow_mistakes(X, y, target, start_weight=0.01)
    model = Winnow(normalize=normalize, eta=bound.eta, bias=None, max_iter=100_000).fit(X, y)
    assert model.mistakes_ <= bound.mistakes
    # Binary documents can score 0 exactly: rounding decides such a tie, in training and again in the rule,
    # whose weights are scaled when normalized.
    sure = np.abs(model.decision_function(X)) > 1e-13 * (X @ np.abs(model.coef_).ravel())
    assert (model.predict(X) == y)[sure].all()
    model = Perceptron(eta=0.1, bias=None, max_iter=100_000).fit(X, y)
    assert model.mistakes_ <= perceptron_mistakes(X, y, target)


@pytest.mark.parametrize(
    "learner", [PositiveWinnow(normalize=False), BalancedWinnow(), Perceptron("threshold")]
)
def test_negative_strengths_are_refused(learner):
    with pytest.raises(DataError, match="Negative values"):
        learner.fit(np.array([[1.0, -1.0], [0.0, 1.0]]), [0, 1])


@pytest.mark.parametrize(
    "learner",
    [
        PositiveWinnow(promotion=1.0, normalize=False),
        PositiveWinnow(demotion=1.0, normalize=False),
        BalancedWinnow(demotion=-0.5),
        BalancedWinnow(promotion=np.inf),
        BalancedWinnow(threshold=0),
        BalancedWinnow(threshold_range=(1.1, 1.2)),
        BalancedWinnow(discard_below=2),
        BalancedWinnow(link="some"),
        BalancedWinnowPlus(strength="root"),
        Perceptron(eta=0),
        Perceptron(form="other"),
        Perceptron(average="mean"),
        Perceptron(link="first-sight"),
        Perceptron(bias=-1),
        Winnow(start_weight=0),
        Winnow(total_weight=-1),
        Winnow(max_iter=0),
    ],
)
def test_rates_out_of_range_are_refused(learner):
    with pytest.raises(UsageError, match=r"expected|apply only|does not contain"):
        learner.fit(np.eye(2), [0, 1])


@pytest.mark.parametrize(
    ("learner", "first", "then"),
    [
        (PositiveWinnow(1e100, 0.5, normalize=False), (1e-6, 1), (1e-300, 1)),
        (BalancedWinnow(1e100, 1e-100), (1e-6, 1), (1e-300, 1)),
        (Winnow(eta=1000.0, bias=None), (1e-6, 1), (1.0, 0)),
        (Winnow(normalize=True, eta=1000.0, bias=None), (1e-6, 1), (1.0, 0)),
    ],
)
def test_weights_driven_to_infinity_are_an_error_and_leave_the_model_alone(learner, first, then):
    def learn(strength, label):
        learner.partial_fit(np.array([[strength, 0.0], [strength, 0.0]]), [label, label], classes=[0, 1])

    learn(*first)
    X = np.eye(2)
    before = learner.decision_function(X)
    assert np.isfinite(before).all()
    with pytest.raises(DataError, match="The weights of 1 overflow"):
        learn(*then)
    np.testing.assert_array_equal(learner.decision_function(X), before)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "learner", [Perceptron(), Perceptron(average="voted"), Winnow(), Winnow(normalize=True, eta=2.0)]
)
def test_values_that_are_not_finite_are_refused_wherever_they_stand(learner, bad):
    X, Y = text_like(n=30, d=40, labels=5)
    for row, labels in ((0, Y), (17, Y[:, 0]), (29, Y)):
        spoilt = X.copy()
        spoilt.data[spoilt.indptr[row]] = bad
        for passes in (1, 50):
            with pytest.raises(ValueError, match="Input X contains"):
                type(learner)(**learner.get_params()).set_params(max_iter=passes).fit(spoilt, labels)


def test_a_factor_that_vanishes_comes_back():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), [0, 1]
    model = PositiveWinnow(1.5, 1e-90, threshold=1e-99, max_iter=2, normalize=False).fit(
        np.array([[9.0, 0.0], [0.0, 9.0]]), y
    )
    for _ in range(3):
        model.partial_fit(X[:1] * 1e100, [0])
    assert (model.coef_ > 0).all()
