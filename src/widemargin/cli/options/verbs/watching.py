"""Options of what is left undecided and of drift."""

from __future__ import annotations

from pathlib import Path

from widemargin.cli.options.option import Option

WATCHING = (
    Option(
        "--abstain ERROR",
        "Leave documents undecided: 0.05 promises at most 5 % errors among the others, with 95 % confidence; "
        "confidence:0.8 decides with a probability of at least 0.8 (train with --calibrate). Documents "
        "without known terms, or unlike those of training, are left undecided too.",
        "predict",
        shown="all documents are decided",
        common=True,
    ),
    Option(
        "--abstain ERROR",
        "Also print how many documents `predict --abstain` decides, and how many of these wrongly.",
        "evaluate",
        shown="off",
        common=True,
    ),
    Option(
        "--monitor FILE",
        "Count labels, scores and unknown terms in FILE, over all runs, and warn when they differ from those "
        "of training by more than chance. See inspect --drift.",
        "predict",
        Path,
        shown="off",
        common=True,
    ),
    Option(
        "--drift FILE", "Show only what `predict --monitor FILE` has counted.", "inspect", Path, shown="off"
    ),
)
