"""The drift alarm: seldom false, soon right, and the same after a state was written and read."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin._stored import Stored
from widemargin.errors import DataError, UsageError
from widemargin.monitor.drift_monitor import BLOCK, DriftMonitor
from widemargin.monitor.observed import Observed
from widemargin.monitor.reference import GROUPS, MOST_LABELS, TOLERANCES, Reference

CLASSES = 20
EVEN = np.full(CLASSES, 1 / CLASSES)


def documents(rng, n, shares=EVEN, *, shift=0.0, unknown=9.0, no_terms=0.002):
    """What a model sees of documents with these shares of classes."""
    code = rng.choice(len(shares), size=n, p=shares)
    score, share = rng.normal(shift, 1, n), rng.beta(1, unknown, n)
    decided = np.eye(len(shares), dtype=bool)[code]
    without = rng.random(n) < no_terms
    return Observed(decided=decided, score=score, confidence=score, unknown=share, no_terms=without)


@pytest.fixture(scope="module")
def reference():
    return Reference.of(documents(np.random.default_rng(0), 4000))


def changed(factors):
    shares = EVEN * factors
    return shares / shares.sum()


def test_all_shares_of_the_level_sum_to_at_most_one():
    """Of 40 lengths and a million tests of each, bounded by the integral beyond."""
    i = np.arange(1, 1_000_001)
    of_tests = (1 / (2 * i * (1 + np.log(i)) ** 2)).sum() + 1 / (2 * (1 + np.log(1e6)))
    of_lengths = sum(1 / ((s + 1) * (s + 2)) for s in range(40)) + 1 / 41
    assert of_tests * of_lengths <= 1


def test_false_alarms_are_rare(monkeypatch):
    """Months of 30,000 documents, by binned draws; without any tolerance, so that nothing hides errors."""
    for group in GROUPS:
        monkeypatch.setitem(TOLERANCES, group, 1.0)
    level, months, alarms = 0.25, 30, 0  # a high level, so that few months are enough
    for month in range(months):
        rng = np.random.default_rng([1, month])
        shares = rng.dirichlet(np.full(6, 2.0))
        monitor = DriftMonitor(Reference.of(documents(rng, 1500, shares)), level=level)
        monitor.update(documents(rng, 8000, shares))
        alarms += bool(monitor.alarms)
    assert alarms <= level * months


@pytest.mark.parametrize(
    ("change", "group"),
    [
        ({"shares": changed(np.where(np.arange(CLASSES) < 10, 0.3, 1.0))}, "labels"),
        ({"shares": changed(np.where(np.arange(CLASSES) < 2, 4.0, 1.0))}, "labels"),
        ({"shift": -0.7}, "scores"),
        ({"unknown": 3.0}, "unknown terms"),
        ({"no_terms": 0.05}, "no known terms"),
    ],
)
def test_a_planted_change_is_seen_within_1000_documents(reference, change, group):
    for seed in range(3):
        rng = np.random.default_rng([2, seed])
        monitor = DriftMonitor(reference)
        assert monitor.update(documents(rng, 10_100)) == []
        new = monitor.update(documents(rng, 1000, **change))
        assert group in {finding.group for finding in new}
        first = new[0]
        assert first.seen - 10_100 <= 1000
        assert first.documents % BLOCK == 0
        assert first.p_value <= 0.01
        assert f"{first.seen:,}" in first.sentence


def test_the_finding_says_what_changed(reference):
    rng = np.random.default_rng(3)
    names = [f"topic {j}" for j in range(CLASSES)]
    monitor = DriftMonitor(reference, names)
    shares = changed(np.where(np.arange(CLASSES) == 7, 8.0, 1.0))
    (finding,) = (new for new in monitor.update(documents(rng, 500, shares))[:1])
    assert finding.name == "topic 7"
    assert finding.expected == pytest.approx(1 / CLASSES, abs=0.02)
    assert finding.found == pytest.approx(shares[7], abs=0.06)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 700), min_size=1, max_size=6), st.integers(0, 5))
def test_batches_and_states_change_nothing(sizes, cut):
    """One update, several, and several with the state through JSON after one of them."""
    reference = Reference.of(documents(np.random.default_rng(0), 1000))
    every = documents(np.random.default_rng(1), sum(sizes), changed(1 + np.arange(CLASSES)))
    whole, parts = DriftMonitor(reference), DriftMonitor(reference)
    whole.update(every)
    start = 0
    for place, size in enumerate(sizes):
        parts.update(every.part(start, start + size))
        start += size
        if place == cut:
            parts = DriftMonitor.from_state(reference, json.loads(json.dumps(parts.state())))
    assert parts.state() == whole.state()
    assert parts.to_dict() == whole.to_dict()


def test_label_sets_are_watched_one_label_at_a_time():
    rng = np.random.default_rng(4)
    before = Observed(decided=rng.random((3000, 4)) < [0.3, 0.3, 0.05, 0.05])
    reference = Reference.of(before)
    assert not reference.exclusive
    monitor = DriftMonitor(reference, list("abcd"))
    new = monitor.update(Observed(decided=rng.random((1000, 4)) < [0.3, 0.3, 0.05, 0.3]))
    assert new[0].name == "d"


def test_two_classes_are_one_share():
    rng = np.random.default_rng(5)
    reference = Reference.of(Observed(decided=rng.random((3000, 1)) < 0.2))
    assert reference.names(["spam"]) == {"labels": ["spam"]}


def test_of_very_many_labels_the_rare_ones_are_counted_together():
    decided = np.eye(MOST_LABELS + 50, dtype=bool)[np.r_[: MOST_LABELS + 50, :MOST_LABELS]]
    reference = Reference.of(Observed(decided=decided))
    assert reference.labels.tolist() == list(range(MOST_LABELS))
    assert reference.label_counts[-2:].tolist() == [50, 0]
    assert reference.exclusive


def test_a_reference_is_read_as_it_was_written(reference):
    config, arrays = reference.get_state()
    again = Reference.from_state(Stored(json.loads(json.dumps(config)), arrays), CLASSES)
    assert again.names(list(range(CLASSES))) == reference.names(list(range(CLASSES)))
    for group, (counts, n) in reference.counts.items():
        assert again.counts[group][0].tolist() == counts.tolist()
        assert again.counts[group][1] == n


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("label_counts", np.array([1, 2])),
        ("label_counts", np.full(CLASSES + 1, -1)),
        ("labels", np.arange(CLASSES) + 1),
        ("score_limits", np.array([2.0, 1.0])),
        ("score_limits", np.array([np.nan])),
        ("unknown_counts", np.array([10**9])),
        ("n_labels", 3),
        ("exclusive", "yes"),
        ("no_terms", 10**9),
    ],
)
def test_a_damaged_reference_is_refused(reference, name, value):
    config, arrays = reference.get_state()
    (config if name in config else arrays)[name] = value
    with pytest.raises(DataError):
        Reference.from_state(Stored(config, arrays), CLASSES)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("version", 2),
        ("level", 0),
        ("seen", -1),
        ("seen", 10),
        ("in_block", BLOCK),
        ("total", {"labels": []}),
        ("total", None),
        ("tests", [1, 1]),
        ("tests", ["a"]),
        ("waiting", []),
        ("n_alarms", 5),
        ("alarms", [{}]),
    ],
)
def test_a_damaged_state_is_refused(reference, name, value):
    monitor = DriftMonitor(reference)
    monitor.update(documents(np.random.default_rng(0), 600))
    with pytest.raises(DataError):
        DriftMonitor.from_state(reference, {**monitor.state(), name: value})


def test_what_cannot_be_watched_is_refused(reference):
    with pytest.raises(UsageError, match="level"):
        DriftMonitor(reference, level=1.0)
    with pytest.raises(UsageError, match="nothing to compare"):
        DriftMonitor(Reference.of(Observed()))
    with pytest.raises(UsageError, match="observed without"):
        DriftMonitor(reference).update(Observed(score=np.zeros(5)))
    with pytest.raises(UsageError, match="column per label"):
        DriftMonitor(reference).update(documents(np.random.default_rng(0), 5, np.array([0.5, 0.5])))
