"""The summary that `train` prints."""

from __future__ import annotations

import shlex
from typing import Any

from widemargin._memory import size_in_words
from widemargin.cli import estimates, unlabeled
from widemargin.cli.output import bytes_in_words, counted, say, seconds_in_words

# Rules of a label hierarchy.
WORDS = {"bottom-up": "bottom-up", "top-down": "top-down", "max-sum": "by the largest sum"}


def show(summary: dict[str, Any], test_size: int | None = None) -> None:
    """Print the summary, with the figures that a test set of `test_size` documents would show."""
    say(*summary_in_words(summary))
    estimates.show_expected(summary, test_size=test_size)
    found = len(summary.get("suspects", ()))
    if found:
        say(
            f"{counted(found, 'label')} of training documents {'looks' if found == 1 else 'look'} wrong: "
            f"widemargin inspect {shlex.quote(summary['model'])} --suspects 20"
        )
    say(f"Wrote {summary['model']} ({bytes_in_words(summary['bytes'])}).")


def summary_in_words(summary: dict[str, Any]) -> list[str]:
    """What was learned, and how long it took."""
    kinds = {
        "binary": "two classes",
        "multiclass": f"{summary['labels']:,} classes",
        "multilabel": f"{counted(summary['labels'], 'label')} (any number per document)",
    }
    tree = summary.get("hierarchy")
    if tree is not None:
        paths = "one path per document" if tree["one_path"] else "any number per document"
        kinds["multilabel"] = (
            f"{counted(tree['labels'], 'label')} in {counted(tree['levels'], 'level')} ({paths}, decided "
            f"{WORDS[tree['rule']]})"
        )
    before = f" of {summary['terms_before']:,}" if "terms_before" in summary else ""
    lines = [
        f"Learned {kinds[summary['task']]} from {counted(summary['documents'], 'document')} "
        f"and {counted(summary['terms'], 'term')}{before}.",
        f"Seconds: {seconds_in_words(summary['seconds'])}.",
    ]
    if "memory" in summary:
        lines.append(_memory_in_words(summary["memory"]))
    if "pool" in summary:
        lines.insert(1, f"Unlabeled: {unlabeled.in_words(summary['pool'])}.")
    if summary.get("objective") and "duality_gap" in summary:
        share = 100 * summary["duality_gap"] / abs(summary["objective"])
        lines.append(f"Objective {summary['objective']:.6g}, within {share:.2g} % of the optimum.")
    return lines


def _memory_in_words(memory: dict[str, Any]) -> str:
    """How much memory and disk a training took."""
    peak = "" if memory["peak"] is None else f" at most {size_in_words(memory['peak'])} of memory and"
    return f"Trained from disk with{peak} {size_in_words(memory['scratch'])} of temporary files."
