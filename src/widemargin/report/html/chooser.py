"""Precision and recall at all thresholds, and the form that chooses one."""

from __future__ import annotations

from typing import Any

import numpy as np

from widemargin._printable import printable
from widemargin.report.contents import ModelReport, Tradeoff
from widemargin.report.html.charts import SERIES, Chart, Curve
from widemargin.report.html.elements import paragraph, tag
from widemargin.report.html.escaping import escaped

_POINTS = 60  # of a drawn line
_WAYS = (
    ("now", "as the model decides"),
    ("f1", "best F1"),
    ("precision", "precision of at least"),
    ("recall", "recall of at least"),
    ("cost", "lowest cost"),
    ("curve", "a point of the curve"),
)


def curves(found: ModelReport) -> str:
    """The chart of all categories; the most frequent ones have colors."""
    drawn = [(j, part.tradeoff) for j, part in enumerate(found.categories) if part.tradeoff is not None]
    drawn = [(j, one) for j, one in drawn if one.positives and one.hits]
    if not drawn:
        return ""
    frequent = sorted(drawn, key=lambda pair: -pair[1].positives)[:SERIES]
    colors = {j: k for k, (j, _) in enumerate(frequent)}
    drawn.sort(key=lambda pair: pair[0] in colors)  # colored lines above the others
    lines = [
        Curve(_short(found.labels[j]), *_points(one), key=f"pr-{j}", color=colors.get(j)) for j, one in drawn
    ]
    lines.sort(key=lambda line: line.color is not None)
    best = ", ".join(
        f"{_short(found.labels[j])} {100 * (found.categories[j].break_even or 0):.0f} %" for j, _ in frequent
    )
    chart = Chart(
        "pr",
        "Precision and recall",
        f"Precision against recall of {len(drawn)} categories at all thresholds, on the test "
        f"documents. Where "
        f"precision equals recall: {best}.",
        "recall %",
        "precision %",
        lines,
        y_limits=(0.0, 1.02),
        x_limits=(0.0, 1.02),
    )
    gray = " Gray lines are the other categories; choose one to see it." if len(drawn) > SERIES else ""
    return chart.figure(f"Each line is a category, each point a threshold.{gray}")


def _points(one: Tradeoff) -> tuple[list[float], list[float]]:
    hits, given = np.array(one.hits, dtype=float), np.array(one.given, dtype=float)
    rows = np.unique(np.linspace(0, len(hits) - 1, _POINTS).round().astype(int))
    recall, precision = hits[rows] / one.positives, hits[rows] / given[rows]
    return [0.0, *recall.round(4).tolist()], [float(precision[0].round(4)), *precision.round(4).tolist()]


def _short(label: str) -> str:
    return label if len(label) <= 40 else label[:37] + "..."


def chooser(found: ModelReport) -> str:
    """The form; the script fills it."""
    if found.thresholds_apply:
        return paragraph(found.thresholds_apply, "missing")
    options = "".join(
        f'<option value="{j}">{escaped(_short(part.label))}</option>'
        for j, part in sorted(enumerate(found.categories), key=lambda pair: pair[1].label.casefold())
        if part.tradeoff is not None
    )
    ways = "".join(f'<option value="{key}">{escaped(words)}</option>' for key, words in _WAYS)
    fields = [
        f'<p><label for="choose-category">Category</label> <select '
        f'id="choose-category">{options}</select></p>',
        f'<p><label for="choose-way">Decide by</label> <select id="choose-way">{ways}</select></p>',
        '<p data-way="precision recall"><label for="choose-target">Target %</label> '
        '<input id="choose-target" type="number" min="1" max="99.9" step="0.1" value="90"></p>',
        '<p data-way="cost"><label for="choose-alarm">Cost of a false assignment</label> '
        '<input id="choose-alarm" type="number" min="0" step="any" value="1"></p>',
        '<p data-way="cost"><label for="choose-miss">Cost of a missed document</label> '
        '<input id="choose-miss" type="number" min="0" step="any" value="5"></p>',
        '<p data-way="curve"><label for="choose-point">From few assignments to many</label> '
        '<input id="choose-point" type="range" min="0" max="1" step="1" value="0"></p>',
    ]
    form = tag("form", "".join(fields), id="chooser", class_="needs-script")
    result = (
        '<div id="chosen" class="needs-script" aria-live="polite"></div>'
        '<div class="needs-script command"><h3>The command</h3>'
        '<p id="command-words"></p><pre tabindex="0" aria-label="Command"><code id="command"></code></pre>'
        '<p><button type="button" id="copy">Copy the command</button> '
        '<button type="button" id="download">Save as thresholds.json</button> '
        '<button type="button" id="forget">Back to the model’s thresholds</button> '
        '<output id="copied" aria-live="polite"></output></p></div>'
    )
    words = (
        "Choose a category and what matters for it. The figures are those of the test documents, "
        "recomputed here; "
        "a threshold that was chosen on the same documents looks a little better than it is."
    )
    if found.task == "multiclass":
        words += " Classes compete: the figures hold if the threshold of this class alone is changed."
    elif found.task == "binary":
        words += " Both classes share one threshold."
    without = '<p class="only-without-script missing">Choosing thresholds needs JavaScript.</p>'
    promise = ""
    if found.task != "multiclass":
        promise = paragraph(
            "For a precision or recall that holds for new documents with 95 % confidence, train with "
            "--thresholds "
            "precision:0.9 or recall:0.9.",
            "note",
        )
    return paragraph(words) + without + form + result + promise


def chooser_data(found: ModelReport) -> dict[str, Any]:
    """What the script needs: counts at all useful thresholds."""
    if found.thresholds_apply or found.tested is None:
        return {}
    rows: list[dict[str, Any]] = []
    for part in found.categories:
        one = part.tradeoff
        assert one is not None
        rows.append(
            {
                "t": one.thresholds,
                "h": one.hits,
                "g": one.given,
                "p": one.positives,
                "now": [_finite(one.now), one.now_hits, one.now_given],
            }
        )
    names = [str(label) for label in found.raw_labels]
    return {
        "task": found.task,
        "documents": found.tested.documents,
        "model": found.name,
        "tradeoffs": rows,
        "labels": [printable(name) for name in found.labels],
        # The command takes them as they are; those with control characters go into a file.
        "names": names,
        "plain": [printable(name) == name for name in names],
    }


def _finite(value: float | None) -> float | str | None:
    if value is None or np.isfinite(value):
        return value
    return "never" if value > 0 else "always"
