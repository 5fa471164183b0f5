"""Arow against a few lines of NumPy, over batches and threads, saved and resumed, in changing streams."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from tests.learn.online.test_mistake_driven import text_like
from tests.reference.arow import arow
from widemargin import Arow
from widemargin.errors import DataError, UsageError


@st.composite
def problems(draw, labels):
    n, d = draw(st.integers(2, 10)), draw(st.integers(1, 5))
    value = st.one_of(st.just(0), st.integers(-4, 4)).map(lambda v: v / 4)
    X = np.array(draw(st.lists(st.lists(value, min_size=d, max_size=d), min_size=n, max_size=n)))
    classes = np.array(draw(st.lists(st.integers(0, labels - 1), min_size=n, max_size=n)))
    return X, classes


def full(X, bias):
    return X if bias is None else np.hstack([X, np.full((len(X), 1), bias)])


def check(model, X, Y, bias):
    """Compare with the reference, unless rounding decides whether a label learns."""
    w, precision, close = arow(full(X, bias), Y, model.r, model.forgetting, passes=model.max_iter)
    assume(close > 1e-9)
    event(f"forgetting {model.forgetting > 0}, passes {model.max_iter}")
    d = X.shape[1]
    np.testing.assert_allclose(model.coef_, w[:, :d], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.variance_, 1 / precision[:, :d], rtol=1e-9, atol=1e-12)
    expected = np.zeros(len(w)) if bias is None else bias * w[:, d]
    np.testing.assert_allclose(model.intercept_, expected, rtol=1e-9, atol=1e-12)


SETTINGS = {
    "r": st.sampled_from([0.1, 0.5, 3.0]),
    "bias": st.sampled_from([None, 0.3, 2.0]),
    "forgetting": st.sampled_from([0.0, 0.3]),
    "passes": st.integers(1, 3),
}


@settings(max_examples=150)
@given(problems(2), *SETTINGS.values())
def test_two_classes(problem, r, bias, forgetting, passes):
    X, classes = problem
    classes[:2] = 0, 1
    model = Arow(r, bias=bias, forgetting=forgetting, max_iter=passes, shuffle=False)
    model.fit(X, classes)
    check(model, X, np.where(classes == 1, 1.0, -1.0)[:, None], bias)


@settings(max_examples=150)
@given(problems(4), st.sampled_from([None, 0.25, 1.0]), *SETTINGS.values())
def test_several_classes(problem, rivals, r, bias, forgetting, passes):
    X, classes = problem
    assume(len(set(classes)) > 2)
    model = Arow(r, bias=bias, forgetting=forgetting, rivals=rivals, max_iter=passes, shuffle=False)
    model.fit(X, classes)
    Y = np.where(classes[:, None] == np.unique(classes), 1.0, -1.0)
    # As if there were one more class, of no document, with which new labels start.
    Y = np.hstack([Y, -np.ones((len(Y), 1))])
    w, _, close = arow(full(X, bias), Y, r, forgetting, np.inf if rivals is None else rivals, passes=passes)
    assume(close > 1e-9)
    np.testing.assert_allclose(model.coef_, w[:-1, : X.shape[1]], rtol=1e-9, atol=1e-12)


@settings(max_examples=100)
@given(problems(2**3), *SETTINGS.values())
def test_label_sets(problem, r, bias, forgetting, passes):
    X, classes = problem
    classes[:2] = 0, 7
    Y = (classes[:, None] >> np.arange(3)) & 1
    model = Arow(r, bias=bias, forgetting=forgetting, max_iter=passes, shuffle=False).fit(X, Y)
    check(model, X, 2.0 * Y - 1, bias)


def stream(n=300, labels=37, seed=0):
    """Documents with one label each, and some features that come late."""
    X, Y = text_like(n, 200, labels, seed)
    return X, (Y + np.random.default_rng(seed).random(Y.shape)).argmax(axis=1)


@pytest.mark.parametrize("rivals", [None, 0.5])
@pytest.mark.parametrize("forgetting", [0.0, 0.1])
def test_batches_threads_and_the_time_when_labels_become_known_change_nothing(rivals, forgetting):
    X, y = stream()
    once = Arow(rivals=rivals, forgetting=forgetting, n_jobs=1).partial_fit(X, y)
    for n_jobs, size, classes in ((2, 1, None), (4, 7, None), (1, 100, None), (2, 50, np.unique(y))):
        model = Arow(rivals=rivals, forgetting=forgetting, n_jobs=n_jobs)
        for begin in range(0, len(y), size):
            part = slice(begin, begin + size)
            model.partial_fit(X[part], y[part], classes if begin == 0 else None)
        np.testing.assert_array_equal(model.coef_, once.coef_)
        np.testing.assert_array_equal(model.intercept_, once.intercept_)
        np.testing.assert_array_equal(model.variance_, once.variance_)
        np.testing.assert_array_equal(model.updates_, once.updates_)
        if classes is None:  # a label that nobody knows yet is wrong
            assert model.documents_wrong_ == once.documents_wrong_


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_a_label_learns_as_if_it_were_alone(n_jobs):
    X, Y = text_like(300, 200, 37)
    together = Arow(n_jobs=n_jobs, max_iter=3).fit(X, Y)
    for label in (0, 17, 36):
        alone = Arow(max_iter=3).fit(X, Y[:, label])
        np.testing.assert_array_equal(alone.coef_[0], together.coef_[label])
        assert alone.updates_ == together.updates_[label]
    assert together.n_iter_ == 3


@pytest.mark.parametrize("bias", [None, 1.0])
@pytest.mark.parametrize("forgetting", [0.0, 0.05])
def test_saved_and_resumed_to_the_bit(forgetting, bias):
    X, y = stream()
    once, stopped = Arow(forgetting=forgetting, bias=bias), Arow(forgetting=forgetting, bias=bias)
    for begin in range(0, len(y), 60):
        part = slice(begin, begin + 60)
        once.partial_fit(X[part], y[part])
        stopped.partial_fit(X[part], y[part])
        config, arrays = stopped.get_state()
        stopped = Arow.from_state(json.loads(json.dumps(config)), arrays)
    for name in ("coef_", "intercept_", "variance_", "updates_", "documents_seen_", "documents_wrong_"):
        np.testing.assert_array_equal(getattr(stopped, name), getattr(once, name))
    np.testing.assert_array_equal(stopped.decision_function(X), once.decision_function(X))
    (_, saved), (_, again) = stopped.get_state(), once.get_state()
    for name, values in saved.items():  # also what is saved does not tell where the stream was cut
        np.testing.assert_array_equal(values, again[name])


def test_only_features_of_documents_take_memory():
    X = sp.csr_array(([1.0, 1.0], ([0, 1], [5, 9_999_999])), shape=(2, 10_000_000))
    model = Arow().partial_fit(X, ["a", "b"])
    assert sum(values.nbytes for values in model._cells.values()) < 1000
    assert sp.issparse(model.coef_)
    assert model.predict(X).tolist() == ["a", "b"]
    _, arrays = model.get_state()
    assert arrays["features"].tolist() == [5, 9_999_999]


def test_sparse_and_dense_weights_are_the_same(monkeypatch):
    X, y = stream()
    dense = Arow().fit(X, y)
    monkeypatch.setattr("widemargin.learn.online.arow._MOST_DENSE", 100)
    few = Arow().fit(X, y)
    assert sp.issparse(few.coef_)
    np.testing.assert_array_equal(few.coef_.toarray(), dense.coef_)
    expected = X @ dense.coef_.T + dense.intercept_
    np.testing.assert_allclose(few.decision_function(X), expected, atol=1e-12)


def test_more_features():
    X, y = stream()
    model = Arow().partial_fit(X[:150, :120], y[:150]).grow(200)
    model.partial_fit(X[150:], y[150:])
    zeros = sp.hstack([X[:150, :120], sp.csr_array((150, 80))]).tocsr()
    other = Arow().partial_fit(zeros, y[:150]).partial_fit(X[150:], y[150:])
    np.testing.assert_array_equal(model.coef_, other.coef_)
    with pytest.raises(UsageError, match="cannot have fewer"):
        model.grow(10)


def topics(n, change, seed, labels=5, words=40):
    """A stream in which, from document `change` on, every label has the topic of another."""
    rng = np.random.default_rng(seed)
    y = rng.integers(labels, size=n)
    topic = np.where(np.arange(n) < change, y, (y + 1) % labels)
    X = np.zeros((n, labels * words + 200))
    for row, own in zip(X, topic, strict=True):
        np.add.at(row, own * words + rng.integers(words, size=8), 1)
        np.add.at(row, labels * words + rng.integers(200, size=12), 1)
    X = np.log1p(X)
    return sp.csr_array(X / np.linalg.norm(X, axis=1, keepdims=True)), y


def wrong_in(model, X, y, size):
    """The share of documents of each part that was predicted wrongly."""
    shares, before = [], 0
    for begin in range(0, len(y), size):
        model.partial_fit(X[begin : begin + size], y[begin : begin + size])
        shares.append((model.documents_wrong_ - before) / size)
        before = model.documents_wrong_
    return np.array(shares)


# docs/pipeline.md has these numbers.
@pytest.mark.parametrize(("forgetting", "documents"), [(0.0, 200), (0.1, 100)])
@pytest.mark.parametrize("seed", range(3))
def test_a_sudden_change_of_all_topics_is_learned_within_some_documents(forgetting, documents, seed):
    X, y = topics(4000, 3000, seed)
    shares = wrong_in(Arow(forgetting=forgetting), X, y, 50)
    assert shares[20:60].mean() < 0.02
    assert shares[60] > 0.5  # the change is one
    assert shares[60 + documents // 50 :].max() <= 0.1
    assert shares[60 + documents // 50 :].mean() < 0.02


def test_forgetting_shortens_the_recovery():
    X, y = topics(3400, 3000, 0)
    kept = wrong_in(Arow(), X, y, 200)[15]
    assert wrong_in(Arow(forgetting=0.1), X, y, 200)[15] < 0.75 * kept


class TestBadInput:
    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("r", 0, "at least 1e-12"),
            ("r", float("nan"), "at least 1e-12"),
            ("forgetting", 1.0, "from 0 up to, not including, 1"),
            ("forgetting", -0.1, "from 0 up to, not including, 1"),
            ("rivals", 0, "a positive number"),
            ("bias", -1, "a positive number"),
        ],
    )
    def test_parameters(self, name, value, words):
        with pytest.raises(UsageError, match=words):
            Arow(**{name: value}).fit([[1.0], [0.0]], [0, 1])

    def test_no_documents(self):
        with pytest.raises(ValueError, match="0 sample"):
            Arow().fit(np.zeros((0, 2)), [])

    def test_not_a_number(self):
        model = Arow().partial_fit([[1.0]], ["a"])
        with pytest.raises(DataError, match=r"NaN|nan|finite"):
            model.partial_fit([[np.nan]], ["a"])
        assert model.documents_seen_ == 1

    def test_one_label_so_far(self):
        model = Arow().partial_fit([[1.0, 0.0]], ["a"])
        assert model.predict([[0.0, 1.0]]).tolist() == ["a"]
        assert model.partial_fit([[0.0, 1.0]], ["b"]).predict([[0.0, 1.0]]).tolist() == ["b"]

    def test_empty_documents(self):
        model = Arow().partial_fit(sp.csr_array((4, 3)), ["a", "a", "a", "b"])
        assert model.predict(np.zeros((1, 3))).tolist() == ["a"]
        model = Arow(bias=None).partial_fit(sp.csr_array((2, 3)), ["a", "b"])
        assert model.decision_function(np.zeros((1, 3))).tolist() == [[0.0, 0.0]]

    def test_a_state_that_does_not_fit(self):
        config, arrays = Arow().partial_fit(np.eye(3), ["a", "b", "c"]).get_state()
        for name, values in (
            ("features", arrays["features"][::-1]),
            ("features", arrays["features"] + 1),
            ("cells_information", -arrays["cells_information"]),
        ):
            with pytest.raises(DataError):
                Arow.from_state(config, {**arrays, name: np.ascontiguousarray(values)})
