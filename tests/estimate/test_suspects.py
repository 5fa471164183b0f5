"""Wrong labels are found, and what merely looks like one is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widemargin import LinearSVM
from widemargin.estimate.cross_validation import out_of_fold
from widemargin.estimate.suspects import FEWEST, LARGE, MOST, suspects
from widemargin.labels import Labels


def clouds(n: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """k well separated clouds, and the number of each point's own."""
    rng = np.random.default_rng(seed)
    own = np.arange(n) % k
    return 4 * np.eye(k)[own] + rng.normal(size=(n, k)), own


@pytest.mark.parametrize("k", [2, 4])
def test_planted_errors_come_first_with_the_right_suggestion(k):
    X, own = clouds(200, k)
    names = [f"d{i}" for i in range(200)]
    y = own.copy()
    wrong = [3, 50, 111, 160]
    y[wrong] = (own[wrong] + 1) % k
    space, truth = Labels.of(y).space_and_signs
    scores = out_of_fold(LinearSVM(), X, y).scores
    found = suspects(space, scores, truth, names)
    assert {s.document for s in found[:4]} == {f"d{i}" for i in wrong}
    for suspect in found[:4]:
        i = int(suspect.document[1:])
        assert (suspect.given, suspect.suggested) == (y[i], own[i])
        assert suspect.score < 0
    margins = [s.margin for s in found]
    assert margins == sorted(margins, reverse=True)
    assert min(margins) >= LARGE


def test_label_sets_have_labels_too_many_and_too_few():
    X, own = clouds(90, 3)
    sets = [{"abc"[i]} for i in own]
    sets[0] = {"a", "b"}
    sets[1] = set()
    space, truth = Labels.of(sets).space_and_signs
    scores = out_of_fold(LinearSVM(), X, sets).scores
    found = {(s.document, s.given, s.suggested) for s in suspects(space, scores, truth, list(range(90)))}
    assert (0, "b", None) in found
    assert (1, None, "b") in found
    assert len(found) <= 4


def test_rare_labels_are_no_suspects():
    """Whoever carries a label that nobody else has is contradicted, which says nothing."""
    scores = np.full((30, 2), -1.0)
    scores[:15, 0] = 1.0
    y = np.full((30, 2), 0)
    y[:15, 0] = 1
    y[: FEWEST - 1, 1] = 1
    space, truth = Labels.of(y).space_and_signs
    assert suspects(space, scores, truth, list(range(30))) == []
    y[:FEWEST, 1] = 1
    space, truth = Labels.of(y).space_and_signs
    assert len(suspects(space, scores, truth, list(range(30)))) == FEWEST


def test_many_are_cut_and_plain_values():
    rng = np.random.default_rng(0)
    y = np.arange(2 * MOST + 50) % 2
    space, truth = Labels.of(y).space_and_signs
    found = suspects(space, -3.0 * truth + rng.normal(size=truth.shape) / 9, truth, list(range(len(y))))
    assert len(found) == MOST
    assert found[0].to_dict().keys() == {"document", "given", "suggested", "score", "margin"}
    assert type(found[0].given) is int


@given(seed=st.integers(0, 10**6), k=st.integers(3, 5))
def test_no_other_document_is_contradicted_more(seed, k):
    rng = np.random.default_rng(seed)
    y = np.arange(40) % k
    space, truth = Labels.of(y).space_and_signs
    scores = 2 * rng.normal(size=(40, k))
    found = suspects(space, scores, truth, list(range(40)))
    expected = {}
    for i in range(40):
        rivals = [(scores[i, j] - scores[i, y[i]], j) for j in range(k) if j != y[i]]
        ahead, rival = max(rivals)
        if ahead >= LARGE:
            expected[i] = rival
    assert {s.document: s.suggested for s in found} == expected
