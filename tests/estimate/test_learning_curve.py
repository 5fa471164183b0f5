"""What labels are worth: who is drawn, and how good both rules are on the others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widemargin.errors import DataError, UsageError
from widemargin.estimate.curves.learning_curve import class_members, covering, learning_curve
from widemargin.labels import Labels
from widemargin.learn.svm.transductive import TransductiveSVM
from widemargin.theory import TCatConcept

EASY = TCatConcept([(3, 0, 20), (0, 3, 20), (6, 6, 60)])


@given(st.integers(1, 5), st.integers(6, 30), st.integers(0, 2**31))
def test_training_sets_have_every_label_and_grow(labels, n, seed):
    rng = np.random.default_rng(seed)
    member = rng.random((n, labels)) < 0.3
    member[rng.permutation(n)[:labels], np.arange(labels)] = True
    order = rng.permutation(n)
    for size in range(labels, n):
        chosen = covering(member, order, size)
        assert len(set(chosen.tolist())) == len(chosen) == size
        assert member[chosen].any(axis=0).all()
        assert set(chosen.tolist()) < set(covering(member, order, size + 1).tolist())


def test_of_two_classes_both_are_there():
    space, signs = Labels.of(["ham", "spam", "ham"]).space_and_signs
    assert class_members(space, signs).tolist() == [[True, False], [False, True], [True, False]]


def as_classes(signs):
    return ["yes" if sign > 0 else "no" for sign in signs]


def as_sets(signs):
    return [("yes",) if sign > 0 else () for sign in signs]


@pytest.mark.parametrize("form", [as_classes, as_sets])
def test_more_labels_help_and_the_others_help_more(form):
    X, signs = EASY.sample(60, 60, random_state=1)
    learner = TransductiveSVM(20.0, positives=0.5, on_alarm="ignore")
    draws = list(learning_curve(learner, X.astype(float), form(signs), (4, 32), repeats=4))
    assert [draw.labeled for draw in draws] == [4, 32] * 4
    few, many = ([draw for draw in draws if draw.labeled == size] for size in (4, 32))

    def mean(draws, name):
        return np.mean([getattr(draw, name) for draw in draws])

    for measure in ("right", "break_even"):
        assert mean(many, f"inductive_{measure}") > mean(few, f"inductive_{measure}")
        assert mean(few, f"transductive_{measure}") > mean(few, f"inductive_{measure}")
    again = list(learning_curve(learner, X.astype(float), form(signs), (4, 32), repeats=1))
    assert again == draws[:2], "the same seed, the same draws"


def test_sizes_that_cannot_be():
    X, signs = EASY.sample(5, 5)
    for sizes, error, message in (
        ((1,), UsageError, "an example of each of 2 labels"),
        ((4, 10), DataError, "leave none to test on"),
    ):
        with pytest.raises(error, match=message):
            next(learning_curve(TransductiveSVM(), X.astype(float), as_classes(signs), sizes, 1))
