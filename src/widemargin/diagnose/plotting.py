"""Plots of a diagnosis: learning curves with what is expected beyond, and what more documents would bring."""

from __future__ import annotations

from widemargin.diagnose.diagnosis import Diagnosis
from widemargin.report.plots import Line, Panel

_CURVES = 6


def panels(found: Diagnosis) -> list[Panel]:
    """Learning curves of the largest labels that do not reach the target, and F1 of all labels."""
    enough = [one for one in found.categories if one.now is not None and one.doubled is not None]
    open_ones = [one for one in enough if one.needed is not None and one.needed.verdict != "reached"]
    shown = sorted(open_ones or enough, key=lambda one: -one.examples)[:_CURVES]
    lines = []
    for one in shown:
        assert one.now is not None
        assert one.doubled is not None
        sizes, values = zip(*one.curve, strict=True)
        lines.append(Line(str(one.label), sizes, values))
        ends = (one.now, one.doubled)
        lines.append(
            Line(
                "_",  # no entry in the legend
                (found.documents, 2 * found.documents),
                tuple(end.value for end in ends),
                expected=True,
                low=tuple(end.low for end in ends),
                high=tuple(end.high for end in ends),
            )
        )
    curves = Panel("Learning curves, and what is expected (90 %)", "training documents", "F1", lines)
    ranks = list(range(1, len(enough) + 1))
    now = [one.now.value for one in enough if one.now is not None]
    doubled = [one.doubled.value for one in enough if one.doubled is not None]
    labels = Panel(
        "Labels",
        "labels, hardest first",
        "F1",
        [Line("with all documents", ranks, now), Line("with twice as many", ranks, doubled)],
    )
    return [curves, labels]
