"""Rare labels lose an example when it is held out: what they would find with it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from widemargin import LinearSVM
from widemargin.estimate.held_out import held_out
from widemargin.estimate.rare_labels import MOST, expected_gain
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels


def sample(n, seed, labels=12, words=150):
    """Label sets of which a few words of each label speak, some labels far rarer than others."""
    generator = np.random.default_rng(seed)
    share = np.linspace(0.008, 0.06, labels)
    Y = (generator.random((n, labels)) < share).astype(int)
    X = (generator.random((n, words)) < 0.06).astype(float)
    for label in range(labels):
        own = np.arange(label * 8, label * 8 + 8)
        X[:, own] += Y[:, [label]] * (generator.random((n, 8)) < 0.3)
    length = np.sqrt((X**2).sum(axis=1, keepdims=True))
    return sp.csr_array(X / np.maximum(length, 1)), Y


@pytest.mark.filterwarnings("ignore::widemargin.errors.DataWarning")
@pytest.mark.parametrize("method", ["leave-one-out", "k-fold"])
def test_recall_with_the_gain_is_nearer_to_new_documents(method):
    """Averaged over samples, the recall of rare labels is too low, and less so with the gain."""
    X_new, Y_new = sample(20_000, 999)
    plain, gained = [], []
    for seed in range(30):
        X, Y = sample(500, seed)
        rows = TrainingRows(X, Labels.of(Y))
        model = LinearSVM(C=10).fit(X, rows.y)
        found = held_out(model, X, rows.y, method=method)
        gain = expected_gain(model, rows, found, None)
        k = Y.sum(axis=0)
        rare = (k >= 4) & (k <= MOST)
        hits = ((Y > 0) & (found.scores > 0)).sum(axis=0)
        new = ((Y_new > 0) & (model.decision_function(X_new) > 0)).sum(axis=0) / Y_new.sum(axis=0)
        plain.append(np.mean((hits / np.maximum(k, 1) - new)[rare]))
        gained.append(np.mean(((hits + gain) / np.maximum(k, 1) - new)[rare]))
        assert (gain >= 0).all()
        assert (gain[~rare] == 0).all()
        assert (hits + gain <= k).all()
    assert np.mean(plain) < -0.008
    assert abs(np.mean(gained)) < abs(np.mean(plain))


def exclusive(n, seed, classes=40, words=240):
    """One class each, of which a few words speak."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, classes, n)
    X = (generator.random((n, words)) < 0.04).astype(float)
    for label in range(classes):
        X[:, label * 6 : label * 6 + 6] += (y == label)[:, None] * (generator.random((n, 6)) < 0.25)
    length = np.sqrt((X**2).sum(axis=1, keepdims=True))
    return sp.csr_array(X / np.maximum(length, 1)), y


@pytest.mark.filterwarnings("ignore::widemargin.errors.DataWarning")
@pytest.mark.parametrize("method", ["leave-one-out", "k-fold"])
def test_exclusive_classes_with_few_examples(method):
    """Leaving out a document weakens its class alone, so that others win more often than on new documents."""
    X_new, y_new = exclusive(10_000, 999)
    plain, gained = [], []
    for seed in range(12):
        X, y = exclusive(260, seed)
        rows = TrainingRows(X, Labels.of(y))
        space, signs = rows.y.space_and_signs
        model = LinearSVM().fit(X, rows.y)
        found = held_out(model, X, rows.y, method=method)
        gain = expected_gain(model, rows, found, None)
        k = np.count_nonzero(signs > 0, axis=0)
        hits = np.count_nonzero((signs > 0) & (space.choose(found.scores) > 0), axis=0)
        truth = y_new[:, None] == space.classes
        new = (truth & (space.choose(model.decision_function(X_new)) > 0)).sum(axis=0) / truth.sum(axis=0)
        plain.append(np.mean(hits / k - new))
        gained.append(np.mean((hits + gain) / k - new))
        assert (gain >= 0).all()
        assert (hits + gain <= k).all()
    assert np.mean(plain) < -0.02
    assert abs(np.mean(gained)) < 0.5 * abs(np.mean(plain))


def test_only_several_labels_with_enough_rare_examples_have_one():
    X, Y = sample(300, 0)
    y = np.where(Y[:, -1] > 0, "a", "b")
    rows = TrainingRows(X, Labels.of(y))
    model = LinearSVM().fit(X, y)
    found = held_out(model, X, y, method="leave-one-out")
    assert expected_gain(model, rows, found, None) is None
    rows = TrainingRows(X, Labels.of(Y[:, :2]))
    model = LinearSVM().fit(X, rows.y)
    assert expected_gain(model, rows, held_out(model, X, rows.y, method="k-fold"), None) is None
