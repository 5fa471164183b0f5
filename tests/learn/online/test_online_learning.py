"""Documents one by one or in batches, labels that turn up late, models that are put away and go on."""

from __future__ import annotations

import json
import signal
from itertools import count, pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from tests.learn.online.test_mistake_driven import text_like
from widemargin import (
    Arow,
    BalancedWinnow,
    BalancedWinnowPlus,
    DualSVM,
    LargeMarginWinnow,
    Perceptron,
    PositiveWinnow,
    TextClassifier,
    Vectorizer,
    Winnow,
)
from widemargin.errors import DataError, UsageError
from widemargin.labels.growing import receive
from widemargin.learn.online.mistake_driven import MistakeDriven

LEARNERS = [
    Arow(),
    Arow(rivals=None, forgetting=0.1),
    Perceptron(),
    Perceptron("threshold", document_length=15, threshold_range=(0.9, 1.1)),
    Perceptron(average="averaged"),
    Perceptron(average="voted"),
    PositiveWinnow(document_length=15, normalize=False),
    PositiveWinnow(normalize=True),
    PositiveWinnow(document_length=15, link="first-sight", average="averaged", normalize=False),
    BalancedWinnow(document_length=15),
    BalancedWinnow(document_length=15, link="first-sight", average="voted"),
    BalancedWinnowPlus(document_length=15),
    Winnow(eta=0.2),
    Winnow(normalize=True, eta=0.2, average="averaged"),
    LargeMarginWinnow(),
    LargeMarginWinnow(normalize=True, eta=0.1),
    DualSVM(),
]


def name(learner):
    return str(learner).replace(" ", "").replace("\n", "")


def stream(seed=0, n=120):
    """Documents with one label each, whose classes turn up one after the other."""
    X, Y = text_like(n=n, d=200, labels=4, seed=seed)
    y = np.array(["delta", "alpha", "charlie", "bravo"])[Y.argmax(axis=1)]
    y[:10] = "delta"
    return X, y


def pieces(n, sizes):
    starts = np.cumsum([0, *sizes])
    return [slice(a, min(b, n)) for a, b in pairwise(starts) if a < n]


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_one_document_at_a_time_is_the_same_as_batches(learner):
    X, y = stream()
    at_once, one_by_one, in_batches = (type(learner)(**learner.get_params()) for _ in range(3))
    at_once.partial_fit(X, y)
    for i in range(len(y)):
        one_by_one.partial_fit(X[[i]], y[[i]])
    for part in pieces(len(y), [7, 1, 30, 2, 80]):
        in_batches.partial_fit(X[part], y[part])
    for other in (one_by_one, in_batches):
        assert other.classes_.tolist() == at_once.classes_.tolist() == ["alpha", "bravo", "charlie", "delta"]
        np.testing.assert_array_equal(other.decision_function(X), at_once.decision_function(X))
        assert (other.documents_seen_, other.documents_wrong_) == (
            at_once.documents_seen_,
            at_once.documents_wrong_,
        )
        if isinstance(learner, MistakeDriven):
            np.testing.assert_array_equal(other.mistakes_, at_once.mistakes_)
    assert at_once.documents_seen_ == len(y)
    assert 0 < at_once.documents_wrong_ < len(y)


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_a_model_that_was_put_away_goes_on_as_if_it_had_not_stopped(learner, tmp_path):
    X, y = stream()
    learner = type(learner)(**learner.get_params())
    half = len(y) // 2
    texts = TextClassifier(learner=learner, tune=None, estimate=None)
    texts.learner_ = learner.partial_fit(X[:half], y[:half])
    config, arrays = learner.get_state()
    back = type(learner).from_state(
        json.loads(json.dumps(config)), {key: np.array(value) for key, value in arrays.items()}
    )
    np.testing.assert_array_equal(back.decision_function(X), learner.decision_function(X))
    for model in (learner, back):
        model.partial_fit(X[half:], y[half:])
    np.testing.assert_array_equal(back.decision_function(X), learner.decision_function(X))
    assert back.documents_wrong_ == learner.documents_wrong_
    assert json.dumps(back.get_state()[0]) == json.dumps(learner.get_state()[0])


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_saved_in_a_classifier_it_decides_as_before(learner, tmp_path):
    texts = ["wheat and corn harvest", "the bank cut its rate", "corn exports rose", "bank profits fell"] * 3
    labels = ["grain", "money", "grain", "money"] * 3
    classifier = TextClassifier(Vectorizer(), learner, estimate=None).fit(texts, labels)
    classifier.save(tmp_path / "model")
    again = TextClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(texts), classifier.decision_function(texts))
    X = classifier.vectorizer_.transform(texts)
    np.testing.assert_allclose(
        classifier.decision_function(texts), classifier.learner_.decision_function(X), atol=1e-9
    )
    if classifier.has_weights:
        found = classifier.explain(texts[0])
        assert found.bias + sum(part.value for part in found.contributions) == pytest.approx(found.score)


def test_progressive_validation_decides_before_it_learns():
    X, y = stream()
    model, wrong = BalancedWinnow(document_length=15), 0
    for i in range(len(y)):
        wrong += i == 0 or y[i] != model.predict(X[[i]])[0]
        model.partial_fit(X[[i]], y[[i]])
    assert model.documents_wrong_ == wrong


def test_progressive_validation_of_label_sets_and_two_classes():
    X, Y = text_like(n=80, d=100, labels=3)
    model, wrong = Perceptron(eta=0.5), 0  # sums are exact: no rounding at 0
    for i in range(len(Y)):
        if i:
            wrong += (model.predict(X[[i]]) != Y[[i]]).any()
        else:
            wrong += Y[0].any()
        model.partial_fit(X[[i]], Y[[i]])
    assert model.documents_wrong_ == wrong
    y = Y[:, 0]
    model = Perceptron().partial_fit(X, y, classes=[0, 1])
    assert model.decision_function(X).shape == (80,)
    first_pass = Perceptron(max_iter=1).fit(X, y)
    np.testing.assert_array_equal(model.coef_, first_pass.coef_)


def test_label_sets_grow():
    X, _ = text_like(n=4)
    model = BalancedWinnow(document_length=15)
    model.partial_fit(X[:2], [["wheat"], []])
    assert model.classes_.tolist() == ["wheat"]
    model.partial_fit(X[2:], [["grain", "wheat"], ["corn"]])
    assert model.classes_.tolist() == ["corn", "grain", "wheat"]
    assert model.decision_function(X).shape == (4, 3)
    assert all(isinstance(labels, tuple) for labels in model.predict(X))


def test_classes_that_are_named_are_there_from_the_first_document():
    X, y = stream()
    names = ["alpha", "bravo", "charlie", "delta"]
    model = Perceptron().partial_fit(X[:5], y[:5], classes=names)
    assert model.classes_.tolist() == names
    with pytest.raises(UsageError, match="first call"):
        model.partial_fit(X[5:], y[5:], classes=[*names, "echo"])


def test_two_named_classes_are_a_binary_task_and_stay_two():
    X, _ = text_like(n=4)
    model = Perceptron().partial_fit(X, ["ham", "ham", "spam", "ham"], classes=["ham", "spam"])
    with pytest.raises(DataError, match="'eggs' is not among the 2 labels"):
        model.partial_fit(X, ["ham", "eggs", "spam", "ham"])
    with pytest.raises(UsageError, match="one label"):
        Perceptron().partial_fit(X, ["ham"] * 4, classes=["ham"])


def test_the_first_row_of_a_new_label_is_where_it_begins():
    batch = receive(receive(None, [3, 1]).space, [1, 2, 3, 2])
    assert batch.space.classes.tolist() == [1, 2, 3]
    assert batch.first_row.tolist() == [0, 1, 0]
    assert batch.kept.tolist() == [0, 2]
    assert batch.new.tolist() == [False, True, False]
    with pytest.raises(DataError, match="empty"):
        receive(None, [])
    with pytest.raises(DataError, match="one label per row"):
        receive(receive(None, [["a"], ["b"]], None).space, ["a", "b"])


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_room_for_more_features(learner):
    X, y = stream()
    narrow, wide = (type(learner)(**learner.get_params()) for _ in range(2))
    zeros = sp.csr_array((X.shape[0], 50))
    more = sp.csr_array(sp.hstack([X, zeros]))
    narrow.partial_fit(X[:60], y[:60])
    with pytest.raises(ValueError, match="250 features"):
        narrow.partial_fit(more[60:], y[60:])
    with pytest.raises(UsageError, match="cannot have fewer"):
        narrow.grow(10)
    narrow.grow(250).partial_fit(more[60:], y[60:])
    wide.partial_fit(more[:60], y[:60]).partial_fit(more[60:], y[60:])
    # LM-NWin's and normalized Winnow's total weight is that of the features: they differ where it counts.
    if not getattr(learner, "normalize", False):
        np.testing.assert_array_equal(narrow.decision_function(more), wide.decision_function(more))
    assert np.isfinite(narrow.decision_function(more)).all()


def test_a_failed_batch_changes_nothing():
    X, y = stream()
    model = LargeMarginWinnow(C=1e6, eta=1e5, start_weight=1.0, bias=None)
    model.partial_fit(X[:1] * 1e-9, y[:1])
    before = model.decision_function(X)
    with pytest.raises(DataError, match="overflow"):
        model.partial_fit(X[:20] * 100, y[:20])
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_an_interrupted_batch_changes_nothing():
    X, Y = text_like(n=3000, labels=64)
    X, Y = sp.csr_array(sp.vstack([X] * 20)), np.vstack([Y] * 20)
    model = BalancedWinnow(document_length=15).partial_fit(X[:10], Y[:10])

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            [model.partial_fit(X, Y) for _ in count()]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    seen = set(model._columns["seen"].tolist())
    assert len(seen) == 1
    assert (seen.pop() - 10) % X.shape[0] == 0
    plus, minus = np.moveaxis(model._cells["parts"], 2, 0)
    np.testing.assert_array_equal(model._cells["weights"], plus - minus)


@pytest.mark.parametrize("learner", [Perceptron(), BalancedWinnow(), Winnow(eta=0.2)], ids=name)
def test_weights_that_somebody_keeps_outlive_the_next_fit(learner):
    X, Y = text_like(n=60, d=3000, labels=12)  # large enough for memory that is used again
    weights, expected = [], []
    for part in (slice(0, 30), slice(30, 60), slice(0, 60)):
        weights.append(learner.fit(X[part], Y[part]).coef_)
        expected.append(weights[-1].copy())
    for kept, copy in zip(weights, expected, strict=True):
        np.testing.assert_array_equal(kept, copy)
    again = type(learner)(**learner.get_params()).fit(X[:30], Y[:30])
    np.testing.assert_array_equal(again.coef_, expected[0])


def test_balanced_classes_need_all_documents():
    X, y = stream()
    with pytest.raises(UsageError, match="needs all documents"):
        DualSVM(class_weight="balanced").partial_fit(X, y)


@pytest.mark.parametrize("damage", ["shape", "infinite", "place"])
def test_a_damaged_state_is_refused(damage):
    X, y = stream()
    config, arrays = BalancedWinnow().partial_fit(X[:3], y[:3]).get_state()
    arrays = {key: np.array(value) for key, value in arrays.items()}
    if damage == "shape":
        arrays["column_seen"] = arrays["column_seen"][:-1]
    elif damage == "infinite":
        arrays["values_weights"][0] = np.inf
    else:
        arrays["changed_weights"][0] = 10**9
    with pytest.raises(DataError, match=r"shape|finite|expected 0 to"):
        BalancedWinnow.from_state(config, arrays)


@pytest.mark.parametrize("cls", [Winnow, LargeMarginWinnow])
def test_normalized_weights_leave_documents_as_they_are(cls):
    """`normalize` of these learners scales weights; that of `PositiveWinnow` scales documents."""
    X = np.random.default_rng(3).random((40, 6)) * 5
    y = np.where(X[:, 0] > X[:, 1], 1, -1)
    model = cls(normalize=True).fit(X, y)
    expected = (X @ model.coef_.T + model.intercept_).ravel()
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9)
