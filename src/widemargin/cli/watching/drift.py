"""``inspect MODEL --drift FILE``: what a drift monitor has seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from widemargin.cli.output import counted, print_json, say, show_table
from widemargin.cli.watching.watch import monitor_of

# Labels that are listed, those that changed most.
_MOST = 20


def show_drift(model: Path, file: Path, json: bool) -> None:
    """Counts and shares beside those of training, and the alarms."""
    from widemargin.classifier import Scorer
    from widemargin.report.tables import Column, Table

    monitor = monitor_of(Scorer.load(model), model, file)
    found = monitor.to_dict()
    if json:
        print_json({"model": str(model), "drift": str(file), **found})
        return
    rows: list[Sequence[Any]] = []
    for group in monitor.reference.groups:
        part = [row for row in found["shares"] if row["group"] == group]
        if group == "labels":
            part = sorted(part, key=lambda row: -abs((row["found"] or 0.0) - row["expected"]))[:_MOST]
        rows += [
            [group, row["name"], 100 * row["expected"], 100 * (row["found"] or 0.0), row["documents"]]
            for row in part
        ]
    columns = [
        Column("property"),
        Column(""),
        Column("training, %", "decimal", 1),
        Column("now, %", "decimal", 1),
        Column("documents", "count"),
    ]
    show_table(Table(f"{counted(monitor.seen, 'document')} since {file} was begun", columns, rows))
    for alarm in monitor.alarms[:10]:
        say(alarm.sentence)
    if monitor.n_alarms > 10:
        say(f"... and {monitor.n_alarms - 10:,} more alarms.")
    if monitor.n_alarms:
        say("Drift: label some of the new documents, evaluate the model on them, and train again.")
    else:
        say(f"No drift beyond chance; the probability of any false alarm is at most {monitor.level:.0%}.")
