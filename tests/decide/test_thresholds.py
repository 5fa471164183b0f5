"""Thresholds against trying all of them, and what they do for the rare topics of Reuters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.reference import cuts as slow
from widemargin import LinearSVM, Vectorizer
from widemargin.decide import (
    assign_proportionally,
    best_f_thresholds,
    cost_thresholds,
    fbr_thresholds,
    shrunk_f_thresholds,
)
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.estimate.cross_validation import out_of_fold
from widemargin.estimate.held_out import leave_one_out
from widemargin.measure import contingency, f_measure, macro, micro


@st.composite
def tables(draw):
    """Scores with ties; every label has a positive example."""
    shape = draw(st.tuples(st.integers(1, 12), st.integers(1, 4)))
    scores = draw(hnp.arrays(np.float64, shape, elements=st.integers(-6, 6).map(lambda k: k / 4)))
    truth = draw(hnp.arrays(np.int8, shape, elements=st.sampled_from([-1, 1])))
    truth[draw(st.integers(0, shape[0] - 1))] = 1
    return scores, truth


@given(tables(), st.sampled_from([0.5, 1.0, 2.0]))
def test_no_threshold_has_a_better_f(table, beta):
    scores, truth = table
    for thresholds in (
        best_f_thresholds(scores, truth, beta=beta),
        shrunk_f_thresholds(scores, truth, beta=beta, strength=0),
    ):
        for k, threshold in enumerate(thresholds):
            values = [slow.f_value(scores[:, k], truth[:, k], t, beta) for t in slow.candidates(scores[:, k])]
            assert slow.f_value(scores[:, k], truth[:, k], threshold, beta) == pytest.approx(max(values))


@given(tables(), st.lists(st.integers(-2, 5), min_size=4, max_size=4))
def test_no_threshold_costs_less(table, costs):
    scores, truth = table
    costs = np.reshape(costs, (2, 2))
    for k, threshold in enumerate(cost_thresholds(scores, truth, costs)):
        values = [slow.cost_value(scores[:, k], truth[:, k], t, costs) for t in slow.candidates(scores[:, k])]
        assert slow.cost_value(scores[:, k], truth[:, k], threshold, costs) == min(values)


@given(tables(), st.floats(0, 50))
def test_labels_do_not_depend_on_their_order(table, strength):
    scores, truth = table
    forth = shrunk_f_thresholds(scores, truth, strength=strength)
    back = shrunk_f_thresholds(scores[:, ::-1], truth[:, ::-1], strength=strength)
    np.testing.assert_array_equal(forth, back[::-1])


def test_rare_labels_shrink_and_frequent_ones_do_not():
    generator = np.random.default_rng(0)
    truth = np.where(generator.random((1000, 3)) < [0.4, 0.4, 0.0], 1, -1)
    scores = truth + generator.normal(scale=0.7, size=truth.shape) + [0.0, 0.6, 0.0]
    # The first two need other thresholds; the third has one positive example, far down by chance.
    truth[0, 2], scores[0, 2] = 1, -1.5
    own, shrunk = best_f_thresholds(scores, truth), shrunk_f_thresholds(scores, truth)
    common = shrunk_f_thresholds(scores, truth, strength=1e9)
    assert np.ptp(common) < 0.05
    assert (np.abs(own - common) > [0.2, 0.2, 1.5]).all()
    np.testing.assert_allclose(shrunk[:2], own[:2], atol=0.05)
    assert abs(shrunk[2] - common[2]) < abs(own[2] - common[2]) / 2


def test_a_label_whose_scores_are_all_equal_is_not_assigned_to_every_document():
    """As by nearest neighbors, none of which has a rare label."""
    truth = np.where(np.arange(100)[:, None] < [40, 1], 1, -1)
    scores = np.column_stack([np.linspace(1, -1, 100), np.full(100, -1.0)])
    own, rare = shrunk_f_thresholds(scores, truth)
    assert own == best_f_thresholds(scores[:, 0], truth[:, 0])[0]
    assert -1 <= rare <= own + 0.05, "near the common threshold"
    assert best_f_thresholds(scores[:, 1], truth[:, 1]).tolist() == [-np.inf]
    everywhere = np.where(np.arange(100) < 99, 1, -1)[:, None]
    assert shrunk_f_thresholds(scores[:, 1:], everywhere).tolist() == [-np.inf], "where that is right"


def test_floors():
    scores = np.array([[3.0, 3.0], [2.0, 2.0], [1.0, 1.0], [0.0, 0.0], [-1.0, -1.0]])
    truth = np.array([[1, -1], [1, -1], [-1, -1], [-1, -1], [-1, 1]])
    assert fbr_thresholds(scores, truth, floor=0.5).tolist() == [1.5, 3.0]
    assert fbr_thresholds(scores, truth, floor=0.5, below="none").tolist() == [1.5, np.inf]
    assert fbr_thresholds(scores, truth, floor=0.0).tolist() == best_f_thresholds(scores, truth).tolist()


def test_labels_without_a_positive_example():
    scores, truth = np.array([[1.0, 1.0], [-1.0, 0.0]]), np.array([[1, -1], [-1, -1]])
    for thresholds in (best_f_thresholds, fbr_thresholds):
        with pytest.warns(DataWarning, match=r"1 of 2 labels \(column 1\)"):
            assert thresholds(scores, truth).tolist() == [0.0, np.inf]
    assert np.isfinite(shrunk_f_thresholds(scores, truth)[0])
    with pytest.warns(DataWarning, match="no positive example"):
        assert shrunk_f_thresholds(scores, -np.ones((2, 2))).tolist() == [np.inf, np.inf]


@given(tables(), st.floats(0, 1))
def test_shares(table, share):
    scores, _ = table
    signs = assign_proportionally(scores, share)
    assert ((signs > 0).sum(axis=0) == np.round(share * len(scores))).all()
    for k in range(scores.shape[1]):
        chosen, others = scores[signs[:, k] > 0, k], scores[signs[:, k] < 0, k]
        assert min(chosen, default=np.inf) >= max(others, default=-np.inf)


def test_what_makes_no_sense():
    with pytest.raises(UsageError, match="shape"):
        best_f_thresholds(np.zeros(3), np.ones(4))
    with pytest.raises(DataError, match="NaN"):
        best_f_thresholds(np.array([np.nan]), np.ones(1))
    with pytest.raises(DataError, match="no scores"):
        best_f_thresholds(np.zeros((0, 2)), np.zeros((0, 2)))
    with pytest.raises(UsageError, match="strength"):
        shrunk_f_thresholds(np.zeros(2), np.ones(2), strength=-1)
    with pytest.raises(UsageError, match="beta"):
        best_f_thresholds(np.zeros(2), np.ones(2), beta=-1)
    with pytest.raises(UsageError, match="below"):
        fbr_thresholds(np.zeros(2), np.ones(2), below="all")
    with pytest.raises(UsageError, match="cost matrix"):
        cost_thresholds(np.zeros(2), np.ones(2), [1, 2])
    with pytest.raises(UsageError, match=r"[Ss]hare"):
        assign_proportionally(np.zeros(2), 2.0)
    with pytest.raises(UsageError, match="one per label"):
        assign_proportionally(np.zeros((2, 3)), [0.5, 0.5])


@pytest.mark.needs_corpus("reuters21578")
@pytest.mark.filterwarnings("ignore::widemargin.errors.DataWarning")  # topics with fewer stories than folds
@pytest.mark.parametrize(
    "score",
    [out_of_fold, pytest.param(leave_one_out, marks=pytest.mark.slow)],
    ids=["folds", "leave-one-out"],
)
def test_reuters_90(corpus, score):
    """Chosen on training documents only, thresholds lift micro-F1 by 2 points and macro-F1 by 10."""
    stories = corpus("reuters21578")
    in_both = set.intersection(
        *({t for topics in part.labels for t in topics} for part in (stories.train, stories.test))
    )
    train, test = (
        [[t for t in topics if t in in_both] for topics in part.labels]
        for part in (stories.train, stories.test)
    )
    vectorizer = Vectorizer()
    X = vectorizer.fit_transform(stories.train.texts)
    svm = LinearSVM(balance=0).fit(X, train)
    held_out = score(svm, X, train)
    scores = svm.decision_function(vectorizer.transform(stories.test.texts))
    truth = svm.label_space_.encode(test)

    def measured(thresholds):
        table = contingency(truth, np.where(scores > thresholds, 1, -1))
        return micro(f_measure, table), macro(f_measure(table))

    before = measured(0.0)
    after = measured(shrunk_f_thresholds(held_out.scores, held_out.truth))
    assert after[0] >= before[0] + 0.02
    assert after[1] >= before[1] + 0.10
    # What shrinkage is there for: each label on its own ruins the micro-average.
    assert measured(best_f_thresholds(held_out.scores, held_out.truth))[0] < before[0]
