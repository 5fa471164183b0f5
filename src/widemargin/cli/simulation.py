"""``widemargin label --simulate N``: the learning curve of few labels, as a table and a plot."""

from __future__ import annotations

from typing import Any

import numpy as np

from widemargin.classifier import TextClassifier
from widemargin.cli.commands import Given
from widemargin.cli.label_task import Task
from widemargin.cli.output import counted, note, print_json, show_table
from widemargin.documents.collection import Vectors
from widemargin.errors import DataError
from widemargin.estimate.curves.learning_curve import Draw, class_members, learning_curve
from widemargin.report.plots import Line, Panel, save_plot
from widemargin.report.tables import Column, Table

# The curve has at most so many sizes, each half of the next.
POINTS = 5


def run(task: Task, classifier: TextClassifier, given: Given) -> None:
    """Hide labels, predict them, and report how many are right."""
    unknown = len(task.wanted)
    if unknown:
        raise DataError(
            f"{task.source}: {counted(unknown, 'document')} of {len(task.labels):,} have no label. "
            f"--simulate needs all labels to compare with."
        )
    space = task.labels.space
    n_labels = class_members(*task.labels.space_and_signs).shape[1]
    sizes = curve_sizes(given.simulate, n_labels)
    found = task.documents
    X = found.X if isinstance(found, Vectors) else classifier.vectorizer.fit_transform(found.texts)
    draws = list(
        learning_curve(
            _quiet(classifier.learner),
            X,
            task.labels,
            sizes,
            given.repeat,
            random_state=given.seed,
            report=lambda stage: note(stage, given.quiet),
        )
    )
    right = "micro-F1" if space.kind == "multilabel" else "right labels"
    records = [record(size, [draw for draw in draws if draw.labeled == size]) for size in sizes]
    if given.plot is not None:
        save_plot(panels(records, right), given.plot, f"{task.source}: few labels")
        note(f"Plot in {given.plot}", given.quiet)
    if given.json:
        print_json(
            {"documents": len(task.labels), "repeats": given.repeat, "task": space.kind, "curve": records}
        )
    else:
        show_table(table(records, right, len(task.labels), given.repeat))


def _quiet(learner: Any) -> Any:
    """The learner without bars of its own, if it has any."""
    return learner.set_params(verbose=False) if "verbose" in learner.get_params() else learner


def curve_sizes(most: int, least: int) -> list[int]:
    """Halves of `most` down to an example of each label.

    Examples
    --------
    >>> curve_sizes(100, 4), curve_sizes(40, 29), curve_sizes(3, 29)
    ([6, 12, 25, 50, 100], [40], [3])
    """
    sizes = [most]
    while len(sizes) < POINTS and sizes[0] // 2 >= max(least, 2):
        sizes.insert(0, sizes[0] // 2)
    return sizes


def record(size: int, draws: list[Draw]) -> dict[str, Any]:
    """Means and standard deviations of the draws of one size."""
    found: dict[str, Any] = {"labels": size}
    for measure in ("right", "break_even"):
        sides = {}
        for rule in ("inductive", "transductive"):
            values = np.array([getattr(draw, f"{rule}_{measure}") for draw in draws])
            sides[rule] = values
            found[f"{rule}_{measure}"] = float(values.mean())
            found[f"{rule}_{measure}_deviation"] = float(values.std(ddof=1)) if len(values) > 1 else None
        found[f"gains_{measure}"] = int(np.count_nonzero(sides["transductive"] > sides["inductive"]))
    found["draws_with_alarm"] = sum(draw.alarms > 0 for draw in draws)
    return found


def table(records: list[dict[str, Any]], right: str, documents: int, repeats: int) -> Table:
    """One row per size, in percent."""
    columns = [Column("labels", "count")]
    for name in (right, "PRBEP"):
        columns += [
            Column(f"{name}: inductive", "percent"),
            Column("+-", "percent"),
            Column("transductive", "percent"),
            Column("+-", "percent"),
        ]
    columns += [Column("PRBEP better in"), Column("alarm in")]
    rows = [
        [
            found["labels"],
            *(
                found[f"{rule}_{measure}{what}"]
                for measure in ("right", "break_even")
                for rule in ("inductive", "transductive")
                for what in ("", "_deviation")
            ),
            f"{found['gains_break_even']}/{repeats}",
            f"{found['draws_with_alarm']}/{repeats}",
        ]
        for found in records
    ]
    notes = [
        f"Means over {repeats} random draws from {counted(documents, 'document')} and their standard "
        f"deviations, measured on the documents whose labels were hidden.",
        "Each label has at least one example. PRBEP: macro-averaged precision/recall break-even point.",
    ]
    return Table("", columns, list(rows), notes=notes)


def panels(records: list[dict[str, Any]], right: str) -> list[Panel]:
    """The two measures against the number of labels."""
    sizes = [found["labels"] for found in records]
    return [
        Panel(
            title,
            "labeled documents",
            f"{title} (%)",
            [
                Line(rule, sizes, [100 * found[f"{rule}_{measure}"] for found in records])
                for rule in ("inductive", "transductive")
            ],
        )
        for title, measure in ((right, "right"), ("PRBEP", "break_even"))
    ]
