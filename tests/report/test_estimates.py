"""Tables of estimates, of what was measured beside them, and of suspected labels."""

from __future__ import annotations

import numpy as np

from widemargin.labels import Labels, LabelSpace
from widemargin.measure import contingency, summarize
from widemargin.measure.contingency import Contingency
from widemargin.measure.quality import quality
from widemargin.report.estimates import comparison_table, quality_table, suspects_table


def several(n: int, kind: str = "estimate", **more):
    space = LabelSpace("multilabel", np.array([f"label {j}" for j in range(n)]))
    hits = np.arange(1, n + 1)
    table = Contingency(hits, hits // 4, hits // 5, 1000 - hits - hits // 4 - hits // 5)
    return quality(space, table, kind=kind, method="leave-one-out", **more)


def test_quality():
    lines = quality_table(several(3, thresholds=np.array([0.5, np.inf, -0.25]))).plain().splitlines()
    names = ["label", "examples", "precision", "recall", "F1", "threshold", "how", "sure"]
    assert lines[0].split() == names
    assert lines[1].startswith("label 2 ")
    assert lines[1].split()[2:] == ["3", "100.0", "(29-100)", "100.0", "(29-100)", *lines[1].split()[7:]]
    assert "-0.250" in lines[1]
    assert "never" in lines[2]
    assert lines[3].endswith("none: one example only")
    assert lines[4].startswith("micro-average")
    assert lines[5].startswith("macro-average")


def test_long_lists_are_shortened_in_words():
    plain = quality_table(several(50), most=10).plain()
    assert "label 49" in plain
    assert "label 30" not in plain
    low = sum(row.sure in ("low", "none") for row in several(50).labels[:40])
    assert f"... and 40 labels with fewer examples, {low} of which have figures that are not sure" in plain
    assert "threshold" not in plain


def test_bounds_say_at_least():
    plain = quality_table(several(9, "bound")).plain()
    assert ">= 100.0" in plain
    assert "(" not in plain
    assert "bound" in plain


def test_measured_beside_estimated():
    space, truth = Labels.of(["a", "b", "c"] * 20).space_and_signs
    chosen = truth.copy()
    chosen[0] = [-1, 1, -1]
    found = quality(space, contingency(truth, chosen), kind="measured", method="test documents", right=59)
    summary = summarize(space, truth, chosen.astype(float))
    lines = comparison_table(summary, found, found).plain().splitlines()
    assert lines[0].split()[-2:] == ["estimated:", "F1"]
    assert lines[2].count("97.6 (") == 2
    alone = comparison_table(summary, found, None).plain()
    assert "estimated" not in alone
    assert len(comparison_table(summary, found, None).records()) == 5
    assert comparison_table(summary, found, None).records()[0]["F1"]["kind"] == "measured"


def test_suspects():
    found = [
        {"document": "d1", "given": "a", "suggested": None, "score": -1.5, "margin": 1.5},
        {"document": 7, "given": None, "suggested": "b", "score": 1.25, "margin": 1.25},
    ]
    lines = suspects_table(found, "cross-validation").plain().splitlines()
    assert lines[0].split() == ["document", "has", "label", "cross-validation", "suggests", "score", "margin"]
    assert lines[1].split() == ["d1", "a", "(not", "this", "label)", "-1.50", "1.50"]
    assert lines[2].split() == ["7", "(not", "given)", "b", "+1.25", "1.25"]
