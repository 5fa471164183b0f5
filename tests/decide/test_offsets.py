"""Offsets of exclusive classes, against an exhaustive search and against every candidate of one class."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.class_costs import best_on_a_grid, decided, macro_f1
from widemargin.decide.goals import Goal
from widemargin.decide.offsets import f_offsets, proportional_offsets
from widemargin.errors import DataError, UsageError
from widemargin.measure import contingency, f_measure


@st.composite
def tasks(draw) -> tuple[np.ndarray, list[int]]:
    """Scores with ties, and the right class of every row; a class may have no example."""
    k, n = draw(st.integers(2, 4)), draw(st.integers(2, 9))
    cells = st.integers(-4, 4).map(lambda value: value / 2)
    scores = draw(st.lists(st.lists(cells, min_size=k, max_size=k), min_size=n, max_size=n))
    return np.array(scores), draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))


def signs(codes: list[int], k: int) -> np.ndarray:
    return np.where(np.eye(k)[codes] > 0, 1, -1)


def shares_missed(codes: list[int], found: list[int], k: int) -> int:
    return -sum(abs(codes.count(c) - found.count(c)) for c in range(k))


def random_task(n: int, k: int, seed: int = 0, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = rng.choice(k, n, p=rng.dirichlet(np.full(k, 2.0)))
    return 0.6 * signs(codes, k) + noise * rng.normal(size=(n, k)), codes


@settings(max_examples=60, deadline=None)
@given(tasks(), st.sampled_from([0.0, 3.0]))
def test_never_worse_than_none_and_no_class_alone_can_improve(task, strength):
    scores, codes = task
    k = scores.shape[1]
    offsets = f_offsets(scores, signs(codes, k), strength=strength)
    best = macro_f1(codes, decided(scores, offsets), k, strength)
    assert best >= macro_f1(codes, decided(scores, [0.0] * k), k, strength) - 1e-9
    # The ascent ends when a sweep over all classes gains less than a 10,000th.
    for c in range(k):
        for other in np.arange(-8.25, 8.5, 0.25):
            tried = offsets.copy()
            tried[c] = other
            assert macro_f1(codes, decided(scores, tried), k, strength) <= best * 1.0001 + 1e-9


@settings(max_examples=60, deadline=None)
@given(tasks())
def test_proportional_never_worse_than_none(task):
    scores, codes = task
    k = scores.shape[1]
    found = decided(scores, proportional_offsets(scores, signs(codes, k)))
    assert shares_missed(codes, found, k) >= shares_missed(codes, decided(scores, [0.0] * k), k)


def test_near_the_best_of_all_offsets():
    """Coordinate ascent may stop at a local optimum: over many small tasks it misses little."""
    missed, gained = [], []
    for seed in range(40):
        scores, codes = random_task(12, 3, seed)
        codes = codes.tolist()
        plain, found, best = (
            macro_f1(codes, decided(scores, [0.0] * 3), 3),
            macro_f1(codes, decided(scores, f_offsets(scores, signs(codes, 3))), 3),
            best_on_a_grid(
                scores, lambda chosen, codes=codes: macro_f1(codes, chosen, 3), np.arange(-4, 4.1, 0.2)
            )[0],
        )
        missed.append(best - found)
        gained.append(found - plain)
    assert np.mean(gained) > 0.05
    assert np.mean(missed) < 0.2 * np.mean(gained)


@pytest.mark.parametrize("strength", [0.0, 3.0])
def test_macro_f1_rises(strength):
    scores, codes = random_task(2000, 8)
    offsets = f_offsets(scores, signs(codes, 8), strength=strength)
    before, after = (
        np.nanmean(f_measure(contingency(signs(codes, 8), signs((scores + shift).argmax(axis=1), 8))))
        for shift in (0.0, offsets)
    )
    assert after > before + 0.02


def test_smoothing_keeps_rare_classes_from_deciding_for_many():
    """One example of a class, which scores below a hundred others."""
    rng = np.random.default_rng(0)
    codes = np.append(np.arange(200) % 2, 2)
    scores = np.hstack([2.0 * signs(codes, 3)[:, :2], rng.normal(size=(201, 1)) - 3])
    scores[-1] = [-1, -2, np.median(scores[:, 2])]
    counts = [
        np.count_nonzero((scores + f_offsets(scores, signs(codes, 3), strength=strength)).argmax(axis=1) == 2)
        for strength in (0.0, 3.0)
    ]
    assert counts[1] <= counts[0]
    right = (scores + f_offsets(scores, signs(codes, 3), strength=3.0)).argmax(axis=1) == codes
    assert right.mean() > 0.98


@pytest.mark.parametrize(("n", "k"), [(300, 3), (1000, 6), (3000, 12)])
def test_shares_are_those_of_the_truth(n, k):
    scores, codes = random_task(n, k, seed=k)
    found = (scores + proportional_offsets(scores, signs(codes, k))).argmax(axis=1)
    off, before = (
        np.abs(np.bincount(chosen, minlength=k) - np.bincount(codes, minlength=k)).sum()
        for chosen in (found, scores.argmax(axis=1))
    )
    assert before > 0.1 * n
    assert off <= 0.01 * n


def test_the_same_every_time():
    scores, codes = random_task(500, 5)
    for fit in (f_offsets, proportional_offsets):
        np.testing.assert_array_equal(fit(scores, signs(codes, 5)), fit(scores, signs(codes, 5)))


def test_scores_without_differences():
    codes = [0, 1, 2, 0]
    for fit in (f_offsets, proportional_offsets):
        assert np.isfinite(fit(np.zeros((4, 3)), signs(codes, 3))).all()


def test_what_is_refused():
    with pytest.raises(DataError, match="exactly one positive class"):
        f_offsets(np.zeros((2, 3)), np.array([[1, 1, -1], [-1, -1, 1]]))
    with pytest.raises(DataError, match="two classes or more"):
        proportional_offsets(np.zeros((2, 1)), np.ones((2, 1)))


def test_goals_of_exclusive_classes():
    scores, codes = random_task(600, 4)
    truth = signs(codes, 4)
    for name, expected in (
        ("f1", f_offsets(scores, truth, strength=3.0)),
        ("f1-per-label", f_offsets(scores, truth)),
        ("proportional", proportional_offsets(scores, truth)),
    ):
        np.testing.assert_array_equal(Goal.read(name).thresholds(scores, truth, exclusive=True), -expected)
    for name in ("precision:0.9", "recall:0.9", "cost:1,2"):
        with pytest.raises(UsageError, match="exclusive classes"):
            Goal.read(name).thresholds(scores, truth, exclusive=True)


def test_decisions_do_not_flatter():
    """Scores that say nothing: offsets fit the noise they were chosen on, and that alone."""
    fitted, honest, fresh = [], [], []
    goal = Goal.read("f1-per-label")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        codes, later = rng.integers(0, 4, (2, 80))
        scores, new = rng.normal(size=(2, 80, 4))
        limits = goal.thresholds(scores, signs(codes, 4), exclusive=True)
        for figures, truth, chosen in (
            (fitted, codes, (scores - limits).argmax(axis=1)),
            (honest, codes, goal.decisions(scores, signs(codes, 4), exclusive=True).argmax(axis=1)),
            (fresh, later, (new - limits).argmax(axis=1)),
        ):
            figures.append(macro_f1(truth.tolist(), chosen.tolist(), 4))
    assert np.mean(fitted) > np.mean(fresh) + 0.05
    assert np.mean(honest) < np.mean(fresh) + 0.3 * (np.mean(fitted) - np.mean(fresh))
