"""Documents that are left undecided: the promised error holds, and few documents like training are lost."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin.decide.abstain.observing import decision_probability, observe
from widemargin.decide.abstain.rejection import LOW, UNKNOWN, UNLIKE, Asked, Rejection
from widemargin.decide.calibration import Platt
from widemargin.decide.rule import DecisionRule
from widemargin.errors import DataWarning, UsageError
from widemargin.labels import Labels
from widemargin.monitor.observed import Observed
from widemargin.monitor.profile import LeftOutProfile


def drawn(rng, n):
    """Documents whose decisions are the more often right the more confident they are."""
    confidence = rng.exponential(1.0, n)
    right = rng.random(n) < 1 - 0.4 * np.exp(-2 * confidence)
    seen = Observed(
        confidence=confidence,
        score=confidence,
        nearness=rng.normal(size=n) + confidence,
        unknown=rng.beta(1, 8, n),
        no_terms=rng.random(n) < 0.001,
    )
    return seen, right


@pytest.mark.filterwarnings("ignore::widemargin.errors.DataWarning")  # some samples promise nothing
@pytest.mark.parametrize("error", [0.05, 0.1])
def test_the_promised_error_is_broken_no_more_often_than_stated(error):
    """The true error among decided documents, over many training samples."""
    new, right = drawn(np.random.default_rng(1), 100_000)
    broken, kept, samples = 0, [], 100
    for sample in range(samples):
        profile = LeftOutProfile.of(*drawn(np.random.default_rng([2, sample]), 600))
        rule = Rejection.of(error, profile)
        decided = ~rule.rejected(new).astype(bool)
        broken += decided.any() and (~right[decided]).mean() > error
        kept.append(decided.mean())
    # 5 % of 100, and what chance adds with a probability of 0.1 %.
    assert broken <= 13
    assert np.median(kept) > 0.3


def test_few_documents_like_those_of_training_are_unlike_them():
    new, _ = drawn(np.random.default_rng(1), 100_000)
    lost = []
    for sample in range(40):
        profile = LeftOutProfile.of(*drawn(np.random.default_rng([3, sample]), 500))
        rule = Rejection.of(0.2, profile)
        lost.append((rule.rejected(new) == UNLIKE).mean())
    assert 0.002 < np.mean(lost) <= 0.0105


def test_documents_from_elsewhere_are_rejected_for_a_reason():
    rule = Rejection.of(0.1, LeftOutProfile.of(*drawn(np.random.default_rng(0), 1000)))
    strange = Observed(
        confidence=np.array([9.0, 9.0, 9.0, 0.0, 9.0]),
        nearness=np.array([9.0, -9.0, 9.0, 9.0, 9.0]),
        unknown=np.array([0.0, 0.0, 1.0, 0.0, 1.0]),
        no_terms=np.array([False, False, False, False, True]),
    )
    assert rule.rejected(strange).tolist() == [None, UNLIKE, UNLIKE, LOW, UNKNOWN]


def test_optimism_makes_the_rule_stricter():
    seen, right = drawn(np.random.default_rng(0), 2000)
    plain = Rejection.of(0.08, LeftOutProfile.of(seen, right))
    corrected = Rejection.of(0.08, LeftOutProfile.of(seen, right, optimism=0.05))
    assert corrected.kept < plain.kept


def test_an_error_that_cannot_be_promised_is_told():
    seen, right = drawn(np.random.default_rng(0), 50)
    with pytest.warns(DataWarning, match="cannot be promised"):
        rule = Rejection.of(0.001, LeftOutProfile.of(seen, right))
    assert all(rule.rejected(seen))
    assert rule.kept == 0
    assert rule.error is None


def test_without_held_out_scores_nothing_is_promised():
    seen = Observed(unknown=np.zeros(10), no_terms=np.zeros(10, dtype=bool))
    for profile in (None, LeftOutProfile.of(seen)):
        with pytest.raises(UsageError, match="--estimate"):
            Rejection.of(0.05, profile)
    rule = Rejection.of("confidence:0.9", None)
    assert rule.rejected(seen, np.linspace(0, 1, 10)).tolist() == [LOW] * 9 + [None]
    with pytest.raises(UsageError, match="probabilities"):
        rule.rejected(seen)


@pytest.mark.parametrize(
    "value", [0, 1, 1.5, "x", "confidence:2", "error:0.1", ":0.1", True, "confidence", "nan"]
)
def test_what_makes_no_sense_is_refused(value):
    with pytest.raises(UsageError, match="abstain="):
        Asked.read(value)


def test_what_was_asked_for_is_read_from_its_words():
    for value in (0.05, "0.05", "confidence:0.8"):
        asked = Asked.read(value)
        assert Asked.read(str(asked)) == asked == Asked.read(asked)


def test_confidence_of_label_sets_is_that_of_the_nearest_threshold():
    rule = DecisionRule(Labels.of([["a"], ["b"], []]).space, np.array([0.5, 0.0]))
    seen = observe(rule, np.array([[0.6, -3.0], [2.0, 2.0]]))
    assert seen.confidence.round(6).tolist() == [0.1, 1.5]
    assert seen.decided.tolist() == [[True, False], [True, True]]
    assert seen.nearness is None


def test_confidence_of_two_classes_is_the_same_on_both_sides():
    rule = DecisionRule(Labels.of(["ham", "spam"]).space)
    seen = observe(rule, np.array([-2.0, 2.0, 0.1]), unknown=np.array([0.0, 0.0, 1.0]))
    assert seen.confidence.tolist() == [4.0, 4.0, 0.0]


def test_probabilities_of_decisions():
    platt = Platt(np.ones(2), np.zeros(2))
    rule = DecisionRule(Labels.of([["a"], ["b"], []]).space, None, platt)
    scores = np.array([[1.0, -1.0], [0.0, 5.0]])
    chance = 1 / (1 + np.exp(-np.array([1.0, 0.0, 5.0])))
    assert decision_probability(rule, scores) == pytest.approx([chance[0] ** 2, chance[1] * chance[2]])
