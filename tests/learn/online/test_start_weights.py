"""A prior vector: Zhang's Winnows with one starting weight per feature, or per term."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tests.learn.online.test_dual_updates import problems
from tests.learn.online.test_mistake_driven import text_like
from tests.reference import winnow as reference
from widemargin import LargeMarginWinnow, TextClassifier, Vectorizer, Winnow
from widemargin.errors import DataWarning, UsageError

LEARNERS = [
    Winnow(eta=0.3),
    Winnow(eta=0.3, normalize=True, total_weight=3.0, average="averaged"),
    Winnow(eta=0.3, balanced=False),
    LargeMarginWinnow(C=5.0),
    LargeMarginWinnow(C=5.0, normalize=True, total_weight=3.0),
    LargeMarginWinnow(C=5.0, balanced=False),
    LargeMarginWinnow(C=5.0, normalize=True, balanced=False, total_weight=3.0),
]


def prior_of(d):
    return np.linspace(0.05, 0.4, d)


def whole_prior(prior, bias, balanced):
    """The prior of every column that the reference sees: the constant feature has the mean."""
    prior = prior if bias is None else np.append(prior, prior.mean())
    return np.concatenate([prior, prior]) if balanced else prior


def joined(w, balanced):
    return w[: len(w) // 2] - w[len(w) // 2 :] if balanced else w


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([None, 1.0]), st.sampled_from([None, 0.7, 3.0]), st.booleans())
def test_winnow_starts_at_the_prior(seed, bias, W, balanced):
    rng = np.random.default_rng(seed)  # no ties: rounding would decide them
    X, y = rng.normal(size=(20, 5)), np.where(np.arange(20) % 3 == 0, 1.0, -1.0)
    full = X if bias is None else reference.with_constant(X, bias)
    full = reference.embedded(full) if balanced else full
    prior = prior_of(5)
    mu = whole_prior(prior, bias, balanced)
    w, wrong = reference.winnow(full, y, 0.3, mu, W, passes=12, halves=balanced)
    model = Winnow(
        normalize=W is not None, eta=0.3, total_weight=W, bias=bias, balanced=balanced, max_iter=12
    ).set_params(start_weight=prior)
    model.fit(X, y)
    assert model.mistakes_ == sum(wrong)
    rule = np.append(model.coef_[0], model.intercept_ * bool(bias))
    w = joined(w, balanced)
    np.testing.assert_allclose(rule[: len(w)], w, rtol=1e-9, atol=1e-15)


@settings(max_examples=60)
@given(problems(), st.sampled_from([None, 2.0]), st.integers(1, 5), st.booleans())
def test_fixed_steps_of_the_large_margin_winnow(problem, W, passes, balanced):
    X, y = problem
    prior = prior_of(X.shape[1])
    full = reference.with_constant(X)
    full = reference.embedded(full) if balanced else full
    mu = whole_prior(prior, 1.0, balanced)
    rule = reference.unnormalized(mu) if W is None else reference.normalized(mu, W)
    alpha, w = reference.large_margin(full, y, np.full(len(y), 2.0), 0.1, rule, passes)
    model = LargeMarginWinnow(
        2.0, normalize=W is not None, eta=0.1, start_weight=prior, total_weight=W, max_iter=passes
    ).set_params(balanced=balanced)
    model.fit(X, y)
    np.testing.assert_allclose(model.alpha_, alpha, rtol=1e-9, atol=1e-12)
    found = np.append(model.coef_[0], model.intercept_)
    np.testing.assert_allclose(found, joined(w, balanced), rtol=1e-9, atol=1e-12)


@settings(max_examples=40)
@given(problems(), st.sampled_from([0.1, 1.0, 5.0]), st.sampled_from([None, 0.5, 4.0]))
def test_newton_steps_reach_what_a_generic_solver_reaches(problem, C, W):
    X, y = problem
    prior = prior_of(X.shape[1])
    model = LargeMarginWinnow(
        C, normalize=W is not None, start_weight=prior, total_weight=W, max_iter=20_000, tol=1e-9
    ).fit(X, y)
    full = reference.embedded(reference.with_constant(X))
    mu = whole_prior(prior, 1.0, balanced=True)
    best = reference.best_dual(full, y, np.full(len(y), C), mu, W)
    assert model.objective_ == pytest.approx(best, rel=1e-5, abs=1e-5)


@settings(max_examples=40, deadline=None)
@given(problems(), st.sampled_from([None, 40.0]))
def test_the_hard_margin_is_nearest_to_the_prior(problem, W):
    X, y = problem
    prior = prior_of(X.shape[1])
    full = reference.embedded(reference.with_constant(X))
    mu = whole_prior(prior, 1.0, balanced=True)
    best = reference.hard_margin(full, y, mu, W)
    if best is None:
        return
    model = LargeMarginWinnow(np.inf, normalize=W is not None, total_weight=W, tol=1e-6, max_iter=20_000)
    model.set_params(start_weight=prior).fit(X, y)
    if model.smallest_margin_ >= 1 - 1e-6:
        entropy = (best * (np.log(best / mu) - 1)).sum()
        assert model.objective_ == pytest.approx(entropy, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("learner", LEARNERS)
def test_equal_weights_are_one_weight(learner):
    X, Y = text_like(values="real")
    learner = clone(learner).set_params(max_iter=15)
    one = learner.set_params(start_weight=0.25).fit(X, Y).coef_.copy()
    each = learner.set_params(start_weight=np.full(X.shape[1], 0.25)).fit(X, Y).coef_
    np.testing.assert_allclose(each, one, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("learner", LEARNERS)
def test_threads_batches_and_new_features_do_not_change_a_model(learner):
    X, Y = text_like(values="real")
    prior = np.random.default_rng(0).uniform(0.01, 0.3, X.shape[1])
    learner = clone(learner).set_params(max_iter=15, start_weight=prior)
    one, three = (learner.set_params(n_jobs=jobs).fit(X, Y).coef_.copy() for jobs in (1, 3))
    np.testing.assert_array_equal(one, three)
    whole = clone(learner).partial_fit(X, Y)
    parts = clone(learner)
    for k in range(0, X.shape[0], 37):
        parts.partial_fit(X[k : k + 37], Y[k : k + 37])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9, atol=1e-13)
    # Later features start at the mean, and so the same as if they had been there with the mean.
    wide = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], X.shape[1] + 3))
    known = clone(learner).set_params(start_weight=np.append(prior, [prior.mean()] * 3))
    if not learner.normalize:  # otherwise the sum of all weights depends on when features come
        np.testing.assert_allclose(
            known.partial_fit(wide, Y).coef_,
            clone(learner)
            .partial_fit(X[:50], Y[:50])
            .grow(X.shape[1] + 3)
            .partial_fit(wide[50:], Y[50:])
            .coef_,
            rtol=1e-9,
            atol=1e-13,
        )


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_prior_is_stored_and_learning_goes_on(learner):
    X, Y = text_like()
    prior = np.random.default_rng(0).uniform(0.01, 0.3, X.shape[1])
    learner = clone(learner).set_params(start_weight=prior).partial_fit(X[:100], Y[:100])
    loaded = type(learner).from_state(*learner.get_state())
    np.testing.assert_array_equal(loaded.start_weight, prior)
    np.testing.assert_array_equal(loaded.coef_, learner.coef_)
    for model in (learner, loaded):
        model.partial_fit(X[100:], Y[100:])
    np.testing.assert_array_equal(loaded.coef_, learner.coef_)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (np.ones(3), "has 3 numbers, but X has 2 features"),
        ([1.0, -1.0], "start_weight=.*expected a positive number"),
        (np.ones((2, 1)), "expected a positive number"),
        ([], "expected a positive number"),
        ([0.1, np.nan], "expected a positive number"),
        ({"corn": 0.0}, "expected a positive number"),
        ({"corn": 1.0}, "needs a vocabulary"),
        ("corn", "expected a positive number"),
    ],
)
@pytest.mark.parametrize("learner", [Winnow(), LargeMarginWinnow()])
def test_what_is_no_prior_is_refused(learner, start, words):
    with pytest.raises(UsageError, match=words):
        clone(learner).set_params(start_weight=start).fit(np.eye(2), [0, 1])


def test_votes_of_positive_weights_need_one_start():
    with pytest.raises(UsageError, match="the same start_weight"):
        Winnow(balanced=False, average="voted", start_weight=[0.1, 0.2]).fit(np.eye(2), [0, 1])


TEXTS = ["corn and wheat", "bank rate", "wheat harvest", "the bank"] * 5
TOPICS = ["grain", "money", "grain", "money"] * 5


def test_terms_of_a_classifier_have_their_weights(tmp_path):
    by_term = {"wheat": 0.5, "bank": 0.2, "oil": 1.0}
    classifier = TextClassifier(
        Vectorizer(weighting="bxx"), LargeMarginWinnow(start_weight=by_term), estimate=None
    )
    with pytest.warns(DataWarning, match=r"1 of 3 terms are not in the vocabulary and are ignored \('oil'\)"):
        classifier.fit(TEXTS, TOPICS)
    terms = classifier.vectorizer_.get_feature_names_out().tolist()
    expected = [by_term.get(term, 0.01) for term in terms]
    np.testing.assert_array_equal(classifier.learner_.start_weight, expected)
    assert classifier.learner.start_weight is by_term  # the given learner stays as it was
    same = LargeMarginWinnow(start_weight=expected).fit(classifier.vectorizer_.transform(TEXTS), TOPICS)
    np.testing.assert_array_equal(same.coef_, classifier.learner_.coef_)
    path = tmp_path / "prior.wm"
    classifier.save(path)
    np.testing.assert_array_equal(TextClassifier.load(path).learner_.start_weight, expected)


@pytest.mark.filterwarnings("ignore:start_weight")
def test_terms_that_no_vocabulary_has_are_refused():
    vectorizer = Vectorizer(weighting="bxx")
    for learner, words in (
        (Winnow(start_weight={"oil": 1.0}), "none of its 1 terms, such as 'oil'"),
        (Winnow(start_weight={"oil": -1.0}), "expected a positive number"),
    ):
        with pytest.raises(UsageError, match=words):
            TextClassifier(vectorizer, learner, estimate=None).fit(TEXTS, TOPICS)
    by_term = Winnow(start_weight={"corn": 1.0})
    with pytest.raises(UsageError, match="hashed"):
        TextClassifier(Vectorizer(n_hashed=64, weighting="bxx"), by_term, estimate=None).fit(TEXTS, TOPICS)
    with pytest.raises(UsageError, match="needs a vocabulary"):
        TextClassifier(vectorizer, by_term, estimate=None).partial_fit(TEXTS, TOPICS)
    with pytest.raises(UsageError, match="tune=None"):
        TextClassifier(vectorizer, by_term, tune="fast", estimate=None).fit(TEXTS, TOPICS)


def test_a_damaged_prior_is_refused():
    from widemargin.errors import DataError

    config, arrays = LargeMarginWinnow(start_weight=[0.1, 0.2]).fit(np.eye(2), [0, 1]).get_state()
    for damaged in (np.ones(3), np.array([0.1, -0.1])):
        with pytest.raises(DataError):
            LargeMarginWinnow.from_state(config, arrays | {"start_weights": damaged})
