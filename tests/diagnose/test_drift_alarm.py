"""The drift alarm: its estimates, false alarms on streams without a change, and changes that it finds."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from widemargin import LinearSVM
from widemargin.diagnose.drift_alarm import BATCHES, DriftAlarm
from widemargin.errors import UsageError
from widemargin.estimate.xi_alpha import xi_alpha_of


def stream(n, seed, change=None, topics=4, words=15):
    """Documents of topics with words of their own, and noise; relevant is the first topic, after a `change`
    the second."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(topics, size=n)
    X = (rng.random((n, topics * words + 40)) < 0.06).astype(np.float64)
    for k in range(topics):
        own = np.flatnonzero(topic == k)
        X[np.ix_(own, range(k * words, (k + 1) * words))] = rng.random((len(own), words)) < 0.25
    wanted = np.where(np.arange(n) < (n if change is None else change), 0, 1)
    labels = [("relevant",) if topic[i] == wanted[i] else ("other",) for i in range(n)]
    return sp.csr_array(X), labels


def unit(X):
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).reshape(-1, 1)
    return sp.csr_array(X / np.maximum(lengths, 1e-300))


def test_estimates_and_p_values_are_those_of_the_definition():
    X, labels = stream(300, 0)
    check = DriftAlarm(300).add(X, labels)[-1]
    assert [window.documents for window in check.windows] == [300, 240, 120, 60]
    y = np.array([known == ("relevant",) for known in labels])
    rows, risks = unit(X), []
    for window in check.windows:
        part, signs = rows[300 - window.documents :], y[300 - window.documents :]
        machine = LinearSVM(bias=0.3, tol=1e-8).fit(part, signs)
        risks.append(machine.left_out_risk(part) >= 1)
        assert window.estimate == pytest.approx(risks[-1][-60:].mean(), abs=2 / 60)  # rounding at the edge
        table = xi_alpha_of(machine, part, signs)
        assert int(table.false_negative + table.false_positive) == (machine.left_out_risk(part) >= 1).sum()
    for window, risk in zip(check.windows[1:], risks[1:], strict=True):
        whole = risks[0][-len(risk) :]
        better, worse = int((whole & ~risk).sum()), int((risk & ~whole).sum())
        p_value = binomtest(better, better + worse, alternative="greater").pvalue if better + worse else 1.0
        assert window.p_value == pytest.approx(min(1.0, 3 * p_value), rel=0.5, abs=0.2)
    assert check.chosen in [window.documents for window in check.windows]
    least = min(window.estimate for window in check.windows)
    assert check.chosen == next(w.documents for w in check.windows if w.estimate == least)


@given(st.lists(st.integers(1, 97), min_size=1, max_size=12))
@settings(max_examples=10, deadline=None)
def test_it_does_not_matter_how_the_stream_is_cut(cuts):
    X, labels = stream(500, 1, 300)
    whole, parts = DriftAlarm(200), DriftAlarm(200)
    expected, found, start = whole.add(X, labels), [], 0
    for size in [*cuts, 500]:
        found += parts.add(X[start : start + size], labels[start : start + size])
        start += size
    assert found == expected
    assert parts.alarms == whole.alarms


def test_streams_without_a_change_rarely_alarm():
    """Twenty streams, 380 checks: at a rate of one false alarm in a hundred streams, two are unlikely."""
    alarms = checks = 0
    for seed in range(20):
        alarm = DriftAlarm(400)
        checks += len(alarm.add(*stream(1000, 100 + seed)))
        alarms += len(alarm.alarms)
    assert checks > 300
    assert alarms <= 1


def test_a_change_of_the_concept_is_found_within_a_few_batches():
    late, places = [], []
    for seed in range(12):
        alarm = DriftAlarm(600)
        alarm.add(*stream(1500, 200 + seed, change=900))
        assert all(check.seen > 900 for check in alarm.alarms)
        late += [(check.seen - 900) / 60 for check in alarm.alarms[:1]]
        places += [check.changed_at for check in alarm.alarms[:1]]
    assert len(late) >= 11, "streams with an alarm"
    assert np.mean(late) <= 3, "batches until the alarm"
    assert max(abs(place - 900) for place in places) <= 120


def test_forgotten_documents_are_forgotten():
    alarm = DriftAlarm(400)
    X, labels = stream(1400, 5, change=700)
    checks = alarm.add(X, labels)
    fired = [check for check in checks if check.fired]
    assert fired == alarm.alarms
    after = next(check for check in checks if check.seen > fired[-1].seen)
    assert after.windows[0].documents == fired[-1].seen - fired[-1].changed_at + 40
    assert "changed at about document" in fired[0].sentence
    assert "no change found" in checks[0].sentence
    assert checks[-1].windows[0].documents == 400, "the window has grown again"


def test_memory_is_bounded_by_the_window():
    alarm = DriftAlarm(100)
    for seed in range(20):
        alarm.add(*stream(100, seed))
        assert sum(rows.shape[0] for rows in alarm._rows) <= 10 * BATCHES
        assert alarm.seen == 100 * (seed + 1)


def test_several_labels_and_labels_that_come_and_go():
    X, labels = stream(600, 8, topics=3)
    several = [(*known, "even") if i % 2 else known for i, known in enumerate(labels)]
    several[:200] = [() for _ in range(200)]
    alarm = DriftAlarm(200)
    checks = alarm.add(X, several)
    assert len(checks) == 600 // 20 - 2
    alone = DriftAlarm(200)
    assert not any(check.fired for check in alone.add(X, [("same",)] * 600))


def test_empty_documents_and_threads():
    X, labels = stream(300, 9)
    X = sp.csr_array(sp.vstack([X, sp.csr_array((100, X.shape[1]))], format="csr"))
    labels = labels + [("other",)] * 50 + [("relevant",)] * 50
    assert DriftAlarm(200, n_jobs=1).add(X, labels) == DriftAlarm(200, n_jobs=2).add(X, labels)


def test_what_is_refused():
    with pytest.raises(UsageError, match="at least 100"):
        DriftAlarm(99)
    with pytest.raises(UsageError, match="level=0"):
        DriftAlarm(level=0)
    with pytest.raises(UsageError, match="3 documents and labels of 2"):
        DriftAlarm().add(np.eye(3), [("a",), ("b",)])
