"""Littlestone's Winnow with complements (updates="all"), the filtering range, and sums of kept features."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import event, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tests.learn.online.test_mistake_driven import counts, text_like
from tests.reference import winnow as reference
from widemargin import BalancedWinnow, BalancedWinnowPlus, Perceptron, PositiveWinnow, TextClassifier
from widemargin.errors import DataError, UsageError

# ------------------------------------------------------------------ updates="all"


@st.composite
def binary(draw):
    """Binary documents with 1, 2, 4 or 8 features, so that theta / n and sums are exact."""
    n, d = draw(st.integers(2, 12)), draw(st.sampled_from([1, 2, 4, 8]))
    row = st.lists(st.integers(0, 1), min_size=d, max_size=d)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=float)
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)))
    y[0], y[1] = 1.0, -1.0
    return X, y


@settings(max_examples=150)
@given(binary(), st.sampled_from([None, (0.5, 2.0)]), st.integers(1, 12))
def test_complements_bit_for_bit(problem, around, passes):
    X, y = problem
    low, high = around or (1.0, 1.0)
    w, wrong = reference.complement_winnow(X, y, 1.0, 2.0, 0.5, low, high, passes)
    model = BalancedWinnow(2.0, 0.5, updates="all", threshold_range=around, max_iter=passes).fit(X, y)
    d = X.shape[1]
    np.testing.assert_array_equal(model.coef_[0], w[:d] - w[d:])
    assert model.intercept_[0] == w[d:].sum() - 1
    assert (model.mistakes_, model.n_iter_) == (sum(wrong), len(wrong))
    np.testing.assert_array_equal(
        model.decision_function(X), np.hstack([X, 1 - X]) @ w - 1, err_msg="the score over 2n features"
    )


@settings(max_examples=60)
@given(binary(), st.integers(1, 11))
def test_complements_do_not_depend_on_batches_or_on_when_features_come(problem, cut):
    X, y = problem
    cut = min(cut, len(y) - 1)
    learner = BalancedWinnow(2.0, 0.5, updates="all")
    whole = clone(learner).partial_fit(X, y, classes=[-1.0, 1.0])
    parts = clone(learner).partial_fit(X[:cut], y[:cut], classes=[-1.0, 1.0]).partial_fit(X[cut:], y[cut:])
    np.testing.assert_array_equal(parts.coef_, whole.coef_)
    np.testing.assert_array_equal(parts.intercept_, whole.intercept_)
    # A feature that comes later was absent until then.
    early = np.hstack([X[:cut], np.zeros((cut, 2))])
    late = np.hstack([X[cut:], np.ones((len(y) - cut, 2))])
    grown = clone(learner).partial_fit(X[:cut], y[:cut], classes=[-1.0, 1.0])
    share = grown._even_share()
    grown.grow(X.shape[1] + 2).partial_fit(late, y[cut:])
    known = clone(learner).partial_fit(early, y[:cut], classes=[-1.0, 1.0])
    if cut == 1 or known._even_share() == share:
        return  # the share is that of the features at the start
    w, _ = reference.positive_winnow(
        np.hstack([X[:cut], 1 - X[:cut]]), y[:cut], share, 2.0, 0.5, 1.0, 1.0, passes=1
    )
    d = X.shape[1]
    # What a complement that was active in every mistake has by now.
    rises = clone(learner).partial_fit(X[:cut], y[:cut], classes=[-1.0, 1.0])._columns["unseen"][0]
    plus, minus = np.append(w[:d], [share] * 2), np.append(w[d:], [rises] * 2)
    for x, sign in zip(late, y[cut:], strict=True):
        score = plus @ x + minus @ (1 - x)
        if (sign > 0 and score <= 1) or (sign < 0 and score >= 1):
            factor = 2.0 if sign > 0 else 0.5
            plus[x > 0] *= factor
            minus[x == 0] *= factor
    np.testing.assert_array_equal(grown.coef_[0], plus - minus)
    assert grown.intercept_[0] == minus.sum() - 1


def test_complements_of_many_labels_threads_and_files(tmp_path):
    X, Y = text_like()
    learner = BalancedWinnow(1.1, 0.9, updates="all", max_iter=10)
    one, three = (learner.set_params(n_jobs=jobs).fit(X, Y).coef_.copy() for jobs in (1, 3))
    np.testing.assert_array_equal(one, three)
    alone = BalancedWinnow(1.1, 0.9, updates="all", max_iter=10).fit(X, Y[:, 7])
    np.testing.assert_allclose(alone.coef_[0], one[7], rtol=1e-12, atol=1e-15)
    classifier = TextClassifier(learner=learner, tune=None, estimate=None).fit(X, Y)
    path = tmp_path / "all.wm"
    classifier.save(path)
    loaded = TextClassifier.load(path)
    np.testing.assert_array_equal(loaded.decision_function(X), classifier.decision_function(X))
    for model in (classifier, loaded):
        model.partial_fit(X[:30], Y[:30])
    np.testing.assert_array_equal(loaded.decision_function(X), classifier.decision_function(X))


def test_complements_learn_what_absence_means():
    X = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]])
    model = BalancedWinnow(1.5, 0.7, updates="all").fit(X, [0, 0, 1, 1])  # the first feature is absent
    assert model.predict(X).tolist() == [0, 0, 1, 1]
    assert model.coef_[0].argmin() == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"document_length": 3.0}, "document_length does not apply"),
        ({"discard_below": 0.1}, "discard_below does not apply"),
        ({"link": "first-sight"}, "link does not apply.*link='all'"),
        ({"average": "averaged"}, "average does not apply"),
        ({"updates": "some"}, 'expected "active" or "all"'),
    ],
)
def test_what_complements_cannot_do_is_refused(given, words):
    with pytest.raises(UsageError, match=words):
        BalancedWinnow(**({"updates": "all"} | given)).fit(np.eye(2), [0, 1])


def test_complements_are_for_binary_documents():
    X = sp.csr_array(np.array([[1.0, 0.0], [0.0, 3.0]]))
    with pytest.raises(
        DataError, match=r"binary documents, and X holds 3 in row 1, column 1.*--weighting bxx"
    ):
        BalancedWinnow(updates="all").fit(X, [0, 1])
    with pytest.raises(UsageError, match="discard_below=None"):
        BalancedWinnowPlus(updates="all").fit(np.eye(2), [0, 1])
    plus = BalancedWinnowPlus(updates="all", discard_below=None).fit(np.eye(2), [0, 1])
    assert plus.predict(np.eye(2)).tolist() == [0, 1]


# ------------------------------------------------------------------ filtering range


@settings(max_examples=100)
@given(
    counts(),
    st.sampled_from([(-0.5, 0.5), (0.0, 1.0), (-4.0, 0.0)]),
    st.booleans(),
    st.sampled_from([0.3, 1.0]),
)
def test_features_within_a_given_range_are_discarded(problem, around, balanced, below):
    X, y = problem
    cls = BalancedWinnow if balanced else partial(PositiveWinnow, normalize=False)
    model = cls(2.0, 0.5, document_length=4, discard_below=below, max_iter=8, filtering_range=around)
    model.fit(X, y)
    _, rule, wrong, gone = reference.discarding_winnow(
        X, y, 0.25, 2.0, 0.5, 1.0, 1.0, below, 8, balanced=balanced, around=around
    )
    np.testing.assert_array_equal(model.coef_[0], rule)
    assert model.mistakes_ == sum(wrong)
    assert model.n_discarded_.tolist() == [gone.sum()]
    event(f"{gone.sum()} discarded")


def test_a_range_near_zero_discards_other_features_than_one_near_the_start():
    X, Y = text_like(labels=3)
    start = BalancedWinnow(1.5, 0.6, discard_below=1.0, max_iter=30).fit(X, Y)
    zero = BalancedWinnow(1.5, 0.6, discard_below=1.0, max_iter=30, filtering_range=(-0.5, 0.5)).fit(X, Y)
    assert (start.n_discarded_ != zero.n_discarded_).any()
    assert (zero.n_discarded_ > 0).all()


@pytest.mark.parametrize("form", ["bias", "threshold"])
def test_the_range_of_a_perceptron_is_in_steps_or_in_starting_weights(form):
    X, y = np.array([[1.0, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]]), [1, 0, 1, 0]
    given = {"discard_below": 1.0, "max_iter": 20}
    usual = Perceptron(form, eta=0.1, **given).fit(X, y)
    wide = Perceptron(form, eta=0.1, filtering_range=(-1e3, 1e3), **given).fit(X, y)
    assert wide.n_discarded_.tolist() == [4]
    assert usual.n_discarded_[0] < 4
    if form == "bias":  # one step from 0 is one eta
        same = Perceptron(form, eta=0.1, filtering_range=(-1, 1), **given).fit(X, y)
        np.testing.assert_array_equal(same.coef_, usual.coef_)


@pytest.mark.parametrize("wrong", [(0.5, -0.5), (1.0,), "zero", None, (0, np.nan)])
def test_what_is_no_range_is_refused(wrong):
    with pytest.raises(UsageError, match="filtering_range"):
        BalancedWinnow(discard_below=0.1, filtering_range=wrong).fit(np.eye(2), [0, 1])


# ------------------------------------------------------------------ sums of kept features


@settings(max_examples=120)
@given(counts(), st.sampled_from([0.3, 0.6, 1.0]), st.integers(2, 10), st.sampled_from(["start", (0.0, 0.5)]))
def test_discarded_features_leave_the_sum(problem, below, passes, around):
    X, y = problem
    model = PositiveWinnow(2.0, 0.5, normalize=True, normalize_by="kept", discard_below=below)
    model.set_params(max_iter=passes, filtering_range=around).fit(X, y)
    _, rule, wrong, gone = reference.discarding_winnow(
        X, y, 1.0, 2.0, 0.5, 1.0, 1.0, below, passes, balanced=False, normalize="kept", around=around
    )
    assert model.mistakes_ == sum(wrong)
    assert model.n_discarded_.tolist() == [gone.sum()]
    kept = X[:, ~gone]
    sums = kept.sum(axis=1)
    expected = np.divide(kept @ rule[~gone], sums, out=np.zeros(len(X)), where=sums > 0) - 1
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-12)
    event(f"{gone.sum()} discarded")


def test_a_model_of_kept_sums_is_stored_continued_and_has_no_weights(tmp_path):
    X, Y = text_like(labels=5)
    learner = PositiveWinnow(1.5, 0.6, normalize=True, normalize_by="kept", discard_below=0.5, max_iter=20)
    one, three = (clone(learner).set_params(n_jobs=jobs).fit(X, Y).decision_function(X) for jobs in (1, 3))
    np.testing.assert_array_equal(one, three)
    classifier = TextClassifier(learner=learner, tune=None, estimate=None).fit(X, Y)
    assert (classifier.learner_.n_discarded_ > 0).all()
    assert not hasattr(classifier.learner_, "coef_")
    path = tmp_path / "kept.wm"
    classifier.save(path)
    loaded = TextClassifier.load(path)
    np.testing.assert_array_equal(loaded.decision_function(X), one)
    for model in (classifier, loaded):
        model.partial_fit(X[:30], Y[:30])
    np.testing.assert_array_equal(loaded.decision_function(X), classifier.decision_function(X))
    with pytest.raises(UsageError, match="no term weights"):
        classifier.top_terms(0)


def test_without_discarding_kept_sums_are_all():
    X, Y = text_like(labels=3)
    given = {"normalize": True, "max_iter": 5}
    every = PositiveWinnow(**given).fit(X, Y)
    kept = PositiveWinnow(normalize_by="kept", **given).fit(X, Y)
    np.testing.assert_array_equal(kept.coef_, every.coef_)


def test_kept_sums_need_a_sum_and_no_average():
    with pytest.raises(UsageError, match="requires normalize=True"):
        PositiveWinnow(normalize=False, normalize_by="kept").fit(np.eye(2), [0, 1])
    with pytest.raises(UsageError, match="average='voted' does not apply"):
        PositiveWinnow(normalize=True, normalize_by="kept", discard_below=0.1, average="voted").fit(
            np.eye(2), [0, 1]
        )
