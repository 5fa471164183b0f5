"""Figures with intervals: the measures' own values, intervals that hold them, and words that fit."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widemargin.labels import Labels, LabelSpace
from widemargin.measure import contingency, error_rate, f_measure, macro, micro, precision, recall, summarize
from widemargin.measure.contingency import Contingency
from widemargin.measure.intervals import clopper_pearson
from widemargin.measure.quality import Quality, quality

LABELS = LabelSpace("multilabel", np.array(["a", "b", "c"]))


def table(*rows: tuple[int, int, int, int]) -> Contingency:
    return Contingency(*map(np.array, zip(*rows, strict=True)))


def judged(space, found: Contingency, kind="estimate", **more) -> Quality:
    return quality(space, found, kind=kind, method="leave-one-out", **more)


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 40)] * 3), min_size=3, max_size=3),
    kind=st.sampled_from(["estimate", "measured", "bound"]),
)
def test_values_are_the_measures_and_lie_in_their_intervals(rows, kind):
    found = table(*((tp, fp, fn, 150 - tp - fp - fn) for tp, fp, fn in rows))
    result = judged(LABELS, found, kind)
    measures = {"precision": precision, "recall": recall, "f1": f_measure, "error": error_rate}
    for name, measure in measures.items():
        values = measure(found)
        for row, value in zip(result.labels, values, strict=True):
            figure = row.figures[name]
            np.testing.assert_allclose(figure.value, value, atol=1e-6)
            assert figure.kind == kind
            assert math.isnan(value) or 0 <= figure.low <= figure.value <= figure.high <= 1
        np.testing.assert_allclose(result.micro[name].value, micro(measure, found), atol=1e-6)
        average = result.macro[name]
        if kind != "estimate" or name in ("recall", "error"):  # the others are corrected for few examples
            np.testing.assert_allclose(average.value, macro(values), atol=1e-6)
        assert math.isnan(average.value) or 0 <= average.low <= average.value <= average.high <= 1
    assert [row.examples for row in result.labels] == found.positives.tolist()
    assert [row.predicted for row in result.labels] == found.predicted.tolist()


def test_shares_have_the_interval_of_clopper_and_pearson():
    row = judged(LABELS, table((30, 10, 20, 40), (1, 0, 1, 98), (0, 0, 0, 100))).labels[0]
    for name, (successes, trials) in {"precision": (30, 40), "recall": (30, 50), "error": (30, 100)}.items():
        low, high = clopper_pearson(successes, trials)
        assert (row.figures[name].low, row.figures[name].high) == pytest.approx(
            (float(low), float(high)), abs=1e-6
        )


def test_a_bound_is_open_towards_the_better_end():
    row = judged(LABELS, table((30, 10, 20, 40), (1, 0, 1, 98), (0, 0, 0, 100)), "bound").labels[0]
    for name in ("precision", "recall", "f1"):
        assert row.figures[name].low < row.figures[name].value < row.figures[name].high == 1
    assert row.figures["error"].low == 0 < row.figures["error"].value < row.figures["error"].high
    assert row.sure == "bound"


def test_how_sure():
    rows = judged(
        LabelSpace("multilabel", np.arange(6)),
        table(
            (900, 50, 50, 1000),
            (40, 5, 5, 1950),
            (2, 0, 0, 1998),
            (1, 0, 0, 1999),
            (0, 3, 0, 1997),
            (2000, 0, 0, 0),
        ),
    ).labels
    assert [row.sure for row in rows] == ["good", "fair", "low", "none", "none", "low"]
    assert [row.weak for row in rows] == [
        None,
        None,
        None,
        "one example only",
        "no example",
        "every document has it",
    ]
    weak = judged(LABELS, table(*[(900, 50, 50, 1000)] * 3), weak={1: "unstable"}).labels
    assert [row.sure for row in weak] == ["good", "low", "good"]
    assert weak[1].weak == "unstable"


def test_two_classes_are_both_labels():
    space, truth = Labels.of(["ham"] * 6 + ["spam"] * 4).space_and_signs
    chosen = truth.copy()
    chosen[0] = 1
    result = judged(space, contingency(truth, chosen), right=9, thresholds=np.array([0.25]))
    summary = summarize(space, truth, chosen.astype(float))
    for row, expected in zip(result.labels, summary.rows, strict=True):
        assert row.label == expected.label
        assert (row.examples, row.predicted) == (expected.support, expected.predicted)
        assert row.figures["f1"].value == pytest.approx(expected.f1, abs=1e-6)
    assert [row.threshold for row in result.labels] == [-0.25, 0.25]
    assert result.accuracy.value == 0.9
    assert result.micro["f1"].value == pytest.approx(summary.micro.f1)


def test_thresholds_that_no_score_reaches_have_words():
    limits = np.array([np.inf, -np.inf, 0.123456789])
    rows = judged(LABELS, table(*[(9, 5, 5, 10)] * 3), thresholds=limits).labels
    assert [row.threshold for row in rows] == ["never", "always", 0.123457]
    assert judged(LABELS, table(*[(9, 5, 5, 10)] * 3)).labels[0].threshold is None


def test_json_and_back():
    found = table((30, 10, 20, 40), (1, 0, 1, 98), (0, 0, 0, 100))
    result = judged(LABELS, found, right=70, thresholds=np.array([0.1, np.inf, 0]), notes=["a note"])
    text = json.dumps(result.to_dict(), allow_nan=False)
    again = Quality.from_dict(json.loads(text))
    assert json.dumps(again.to_dict()) == text
    assert math.isnan(again.labels[2].figures["recall"].value)
    assert again.labels[:2] == result.labels[:2]


def test_thousands_of_labels_do_not_take_a_thousand_draws_each(monkeypatch):
    import widemargin.measure.quality as module

    asked = []
    interval = module.bootstrap_interval

    def watched(measure, found, **options):
        asked.append(options["samples"] * np.size(found.n))
        return interval(measure, found, **options)

    monkeypatch.setattr(module, "bootstrap_interval", watched)
    judged(LabelSpace("multilabel", np.arange(5000)), table(*[(9, 5, 5, 100)] * 5000))
    assert max(asked) <= 1_000_000
