"""The one table of options: every argument and option of every verb, what it means and whom it is for.

The verbs (`widemargin.cli.commands`), their help and docs/cli.md are made from it.
"""

from __future__ import annotations

from widemargin.cli.options import few_labels, general, learners, online, streams, text, unlabeled
from widemargin.cli.options.option import REQUIRED, Option
from widemargin.cli.options.reading import READING, reading
from widemargin.cli.options.verbs.cluster import CLUSTER
from widemargin.cli.options.verbs.large import LARGE
from widemargin.cli.options.verbs.report import REPORT
from widemargin.cli.options.verbs.serve import SERVING
from widemargin.cli.options.verbs.split import SPLIT
from widemargin.cli.options.verbs.watching import WATCHING

__all__ = ["REQUIRED", "TABLE", "Option", "options_of", "panel_of", "reading"]

# The options by the panel of the help that lists them.
TABLE: dict[str, tuple[Option, ...]] = {
    "": SPLIT + REPORT + general.GENERAL + WATCHING + CLUSTER,
    "Reading": READING,
    "Text to vectors": text.TEXT,
    "Learning": learners.LEARNING + few_labels.FEW_LABELS,
    "Kernels (kernel-svm)": learners.KERNELS,
    "Naive Bayes (naive-bayes)": learners.NAIVE_BAYES,
    "Rocchio (rocchio)": learners.ROCCHIO,
    "Boosting (boosted-trees)": learners.BOOSTING,
    "Nearest neighbors (nearest-neighbors)": learners.NEIGHBORS,
    "Trees and rules (c45)": learners.C45,
    "Profiles (profiles)": learners.PROFILES,
    "Online learners": online.ONLINE_LEARNING,
    "Streams (online learners)": streams.STREAMS,
    "Large collections (linear-svm)": LARGE,
    "Label hierarchy": learners.HIERARCHY,
    "Unlabeled documents": unlabeled.UNLABELED,
    "Tuning and estimates": learners.ESTIMATES,
    "Serving": SERVING,
    "Simulation on labeled documents": general.SIMULATION,
}


def options_of(verb: str) -> dict[str, Option]:
    """The arguments and options of a verb, by their names in Python."""
    every = (option for panel in TABLE.values() for option in panel)
    return {option.name: option for option in every if verb in option.verbs.split()}


def panel_of(option: Option) -> str:
    return next(panel for panel, options in TABLE.items() if option in options)
