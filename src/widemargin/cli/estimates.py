"""What training reports on the command line: which estimate, the tables, and the sentences around them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from widemargin.cli.costs import read_cost, show_cost
from widemargin.cli.output import counted, say, show_table
from widemargin.errors import UsageError

if TYPE_CHECKING:
    from widemargin.measure.intervals import Figure
    from widemargin.measure.quality import Quality

# The most rows at the end of a training run.
LABELS_SHOWN = 20
CANDIDATES_SHOWN = 5


WORDS = {
    "leave-one-out": "leave-one-out",
    "one-step": "approximate leave-one-out",
    "k-fold": "cross-validation",
    "hold-out": "hold-out testing",
    "bootstrap": "the bootstrap",
    "bootstrap-632": "the .632+ bootstrap",
}


def tuning_effort(text: str) -> str | float | None:
    """What `tune` of a classifier is to be.

    Examples
    --------
    >>> tuning_effort("fast"), tuning_effort("none"), tuning_effort("2.5s")
    ('fast', None, 2.5)
    """
    if text in ("none", "fast", "full"):
        return None if text == "none" else text
    try:
        seconds = float(text.removesuffix("s")) if text.endswith("s") else 0.0
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise UsageError(f"--tune {text}: expected none, fast, full or seconds, such as 10s.")
    return seconds


def automatic_or_none(wanted: str | None) -> str | None:
    """A setting of a classifier: "auto" if the option is missing, None for the word "none".

    Examples
    --------
    >>> automatic_or_none(None), automatic_or_none("f1"), automatic_or_none("none")
    ('auto', 'f1', None)
    """
    if wanted is None:
        return "auto"
    return None if wanted.lower() == "none" else wanted


def show_expected(
    summary: dict[str, Any], most: int | None = LABELS_SHOWN, test_size: int | None = None
) -> None:
    """The best candidates of tuning and the estimates, as far as a training run has them.

    Parameters
    ----------
    test_size : number of documents of a test set whose figures are predicted
    """
    from widemargin.report.tuning import tuning_table

    if "tuning" in summary:
        tuning = summary["tuning"]
        say()
        say(f"Chosen from {counted(len(tuning['candidates']), 'candidate')} ({tuning['effort']}):")
        show_table(tuning_table(tuning, most=CANDIDATES_SHOWN))
    quality = read_quality(summary)
    if quality is not None:
        say()
        one = summary.get("hierarchy", {}).get("one_path", summary["task"] != "multilabel")
        _show_quality(quality, several_labels=not one, most=most)
        if "levels" in summary:
            from widemargin.report.hierarchy import levels_table

            say()
            note = "By level, macro-averages are not corrected for rare labels."
            show_table(levels_table(summary["levels"], notes=[note]))
        if test_size is not None:
            say(on_test_set(quality, test_size))
    cost = read_cost(summary)
    if cost is not None:
        show_cost(cost)


def on_test_set(quality: Quality, size: int) -> str:
    """What a test set of this size would show, in one sentence."""
    seen = quality.on_test_set(size)
    figures = {"micro-F1": seen.micro["f1"], "macro-F1": seen.macro["f1"]}
    if seen.accuracy is not None:
        figures = {"accuracy": seen.accuracy, **figures}
    shares = [
        f"{name} {100 * figure.low:.1f}-{100 * figure.high:.1f} %"
        for name, figure in figures.items()
        if not math.isnan(figure.value)
    ]
    share = f"{100 * quality.confidence:g} %"
    return f"{share} of test sets of {counted(size, 'document')} like these would show {', '.join(shares)}."


def expected_on_test_set(summary: dict[str, Any], size: int | None) -> dict[str, Any]:
    """The same for JSON; empty if it was not asked for, or there are no estimates."""
    quality = read_quality(summary)
    if size is None or quality is None:
        return {}
    return {"estimates_on_test_set": {"documents": size, **quality.on_test_set(size).to_dict()}}


def read_quality(summary: dict[str, Any]) -> Quality | None:
    """The estimates in a summary of training, if there are any."""
    from widemargin.measure.quality import Quality

    return Quality.from_dict(summary["estimates"]) if summary.get("estimates") else None


def heading(quality: Quality) -> str:
    """Where the figures of a table come from.

    Every table says which of the three kinds its figures are: bounds, estimates, or measured.
    """
    share = f"{100 * quality.confidence:g} % intervals in brackets"
    if quality.kind == "bound":
        return "Bounds from training (xi-alpha): leave-one-out would be at least as good."
    if quality.kind == "estimate":
        return f"Estimated from the training documents by {WORDS[quality.method]}; {share}."
    return f"Measured on {counted(quality.n, 'document')}; {share}."


def _show_quality(quality: Quality, *, several_labels: bool, most: int | None) -> None:
    """The table of the figures, and what they come to in one line."""
    from widemargin.report.estimates import quality_table

    say(heading(quality))
    show_table(quality_table(quality, most=most))
    if quality.accuracy is not None:
        what = "all labels of a document right" if several_labels else "the right label"
        say(f"Expect {what} for {share_right(quality.accuracy)} of new documents like these.")


def share_right(figure: Figure) -> str:
    """A share with its interval.

    Examples
    --------
    >>> from widemargin.measure.intervals import Figure
    >>> share_right(Figure(0.856, 0.839, 0.8721, "estimate"))
    '85.6 % (83.9-87.2)'
    """
    return f"{100 * figure.value:.1f} % ({100 * figure.low:.1f}-{100 * figure.high:.1f})"
