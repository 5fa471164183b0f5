"""Costs between classes on the command line: the file of --costs, and sentences about what decisions cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from widemargin.cli.output import say, shortened
from widemargin.errors import UsageError

if TYPE_CHECKING:
    from widemargin.cli.commands import Given
    from widemargin.labels import LabelSpace
    from widemargin.measure import AverageCost, ClassCosts

_PAIRS_SHOWN = 5


def read_costs(given: Given) -> ClassCosts:
    """The costs in the file of --costs, for training."""
    from widemargin.measure import ClassCosts

    if given.calibrate == "none":
        raise UsageError(
            "--costs decides by probabilities. Use platt or isotonic instead of --calibrate none."
        )
    if given.thresholds not in (None, "none"):
        raise UsageError("Use either --thresholds or --costs.")
    return ClassCosts.read(given.costs)


def costs_for(path: Path, space: LabelSpace) -> ClassCosts:
    """The costs in a file, in the order of the classes of a model."""
    from widemargin.decide.rule import check_exclusive
    from widemargin.measure import ClassCosts

    check_exclusive(space)
    return ClassCosts.of(ClassCosts.read(path), space.classes.tolist())


def read_cost(summary: dict[str, Any]) -> AverageCost | None:
    """The expected cost in a summary of training, if there is one."""
    from widemargin.measure import AverageCost

    return AverageCost.from_dict(summary["costs"]) if summary.get("costs") else None


def show_cost(found: AverageCost, estimated: AverageCost | None = None) -> None:
    """What decisions cost, what others would cost, and which errors cost most."""
    say(*cost_in_words(found, estimated))


def cost_in_words(found: AverageCost, estimated: AverageCost | None = None) -> list[str]:
    """The same as lines.

    Examples
    --------
    >>> from widemargin.measure import ClassCosts, average_cost
    >>> costs = ClassCosts.of({"ham": {"spam": 10}, "spam": {"ham": 1}})
    >>> print(*cost_in_words(average_cost(costs, [0] * 8 + [1] * 8, [0] * 10 + [1] * 6)), sep="\\n")
    Cost per document 0.125 (0.0665-1.56); always ham: 0.5.
    Costliest: spam taken for ham: 2 documents, cost 2.
    """
    expected = found.average.kind == "estimate"
    line = f"{'Expected cost' if expected else 'Cost'} per document {_figure(found)}"
    if found.by_scores is not None:
        line += f"; by the largest score: {found.by_scores:.3g}"
    line += f"; always {shortened(str(found.always_class), 30)}: {found.always:.3g}"
    if estimated is not None:
        line += f"; estimated in training: {_figure(estimated)}"
    lines = [f"{line}."]
    pairs = [
        f"{shortened(str(pair.truth), 30)} taken for {shortened(str(pair.decision), 30)}: "
        f"{pair.documents:,} document{'' if pair.documents == 1 else 's'}, cost {pair.cost:.4g}"
        for pair in found.costliest[:_PAIRS_SHOWN]
    ]
    if pairs:
        lines.append(f"Costliest: {'; '.join(pairs)}.")
    return lines + found.notes


def _figure(found: AverageCost) -> str:
    figure = found.average
    return f"{figure.value:.3g} ({figure.low:.3g}-{figure.high:.3g})"
