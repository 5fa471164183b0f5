"""``widemargin evaluate MODEL DATA``: how good a model is on labeled documents."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from widemargin.cli import estimates, options
from widemargin.cli.commands import Given, takes
from widemargin.cli.costs import costs_for, read_cost, show_cost
from widemargin.cli.files import columns_of_model, read_all
from widemargin.cli.inputs.sources import all_sources
from widemargin.cli.output import counted, print_json, say, show_table
from widemargin.cli.verbs.predict import at_thresholds, check_form, load_scorer
from widemargin.cli.watching.abstention import measured_abstention, show_abstention
from widemargin.errors import UsageError

if TYPE_CHECKING:
    from widemargin.classifier import Scorer
    from widemargin.documents.collection import Collection, Vectors
    from widemargin.measure import AverageCost, ClassCosts
    from widemargin.measure.quality import Quality
    from widemargin.measure.summary import Summary
    from widemargin.model_report.measuring import Measured

Levels = list[dict[str, Any]]
EXAMPLE = "Example: widemargin evaluate tickets.wm held-out.csv --text body --label team"


@takes("evaluate")
def run(given: Given) -> None:
    """Measure a model on labeled documents it has not seen.

    Accuracy; precision, recall and F1 of every label, and AUC unless labels are exclusive classes, with
    micro- and macro-averages, beside the F1 that was estimated in training. Unlabeled documents are left out.
    With costs between classes, those of --costs or of the model, the cost per document too.
    """
    from widemargin.classifier.checks.of_documents import check_documents
    from widemargin.cli.options.vector_rows import RowsForModel
    from widemargin.documents.collection import Vectors
    from widemargin.model_report.measuring import measure

    given.data = all_sources(given)
    scorer = at_thresholds(load_scorer(given.model, given.threads), given)
    given_rows = RowsForModel(scorer, given.vectors, given.model)
    reading = columns_of_model(scorer, options.reading(given), given.model)
    collection = read_all(given.data, given.quiet, reading)
    check_form(scorer, given.data, vectors=isinstance(collection, Vectors))
    if not isinstance(collection, Vectors):
        given_rows.pair(collection.texts)
        given_rows.finish()
        check_documents(scorer, collection.texts, strict=True)
    costs = model_costs(scorer) if given.costs is None else costs_for(given.costs, scorer.space)
    if given.abstain is not None and given.thresholds:
        raise UsageError(
            "--abstain goes by how the model decided documents left out of training. Omit --thresholds."
        )
    found_all = measure(scorer, collection, costs)
    summary, quality = found_all.summary, found_all.quality
    levels, cost = found_all.levels, found_all.cost
    abstained = None
    if given.abstain is not None:
        abstained = measured_abstention(scorer, collection, given.abstain, str(given.model))
    if given.json:
        found = as_json(summary, quality, scorer.summary, levels)
        found["seen_in_training"] = found_all.seen_as_json()
        if cost is not None:
            found["costs"] = cost.to_dict()
        if abstained is not None:
            found["abstain"] = abstained
        print_json({"model": str(given.model), "data": given.data.to_json(), **found})
    else:
        # Estimates are of the thresholds of training.
        expected = None if given.thresholds else estimates.read_quality(scorer.summary)
        show(summary, quality, expected, break_even=given.prbep)
        if cost is not None:
            show_cost(cost, read_cost(scorer.summary) if given.costs is None else None)
        if abstained is not None:
            show_abstention(abstained)
        if levels is not None:
            from widemargin.report.hierarchy import levels_table

            say()
            show_table(levels_table(levels, scorer.summary.get("levels", ())))
        show_seen(found_all)


def as_json(
    summary: Summary, quality: Quality, training: dict[str, Any], levels: Levels | None = None
) -> dict[str, Any]:
    """All that was measured, and what training had expected."""
    found = {**summary.to_dict(), "measured": quality.to_dict(), "estimated": training.get("estimates")}
    if levels is not None:
        found |= {"levels": levels, "estimated_levels": training.get("levels")}
    return found


def measured(
    scorer: Scorer, collection: Collection | Vectors, costs: ClassCosts | None = None
) -> tuple[Summary, Quality, Levels | None, AverageCost | None]:
    """The measures of a model on the labeled documents of `collection`, in a label hierarchy by level; with
    `costs` the average cost too."""
    from widemargin.model_report.measuring import measure

    found = measure(scorer, collection, costs)
    return found.summary, found.quality, found.levels, found.cost


def model_costs(scorer: Scorer) -> ClassCosts | None:
    """The costs that a model decides by."""
    from widemargin.measure import ClassCosts

    matrix = scorer.rule.costs
    return None if matrix is None else ClassCosts(tuple(scorer.space.classes.tolist()), matrix)


def show(summary: Summary, quality: Quality, estimated: Quality | None, *, break_even: bool = False) -> None:
    """The table of what was measured, and what it comes to in one line."""
    from widemargin.report.estimates import comparison_table

    say(estimates.heading(quality))
    show_table(comparison_table(summary, quality, estimated, break_even=break_even))
    share = "with exactly the right labels" if summary.kind == "multilabel" else "right"
    accuracy = quality.accuracy
    assert accuracy is not None
    line = (
        f"{100 * accuracy.value:.1f} % of {counted(summary.n, 'document')} {share} "
        f"({100 * accuracy.low:.1f}-{100 * accuracy.high:.1f})"
    )
    if summary.hamming_loss is not None:
        line += f"; Hamming loss {summary.hamming_loss:.4f}"
    if quality.auc is not None and not math.isnan(quality.auc.value):
        name = "mean AUC" if summary.kind == "multilabel" else "AUC"
        line += f"; {name} {quality.auc.value:.3f} ({quality.auc.low:.3f}-{quality.auc.high:.3f})"
    if estimated is not None and estimated.accuracy is not None:
        line += f"; estimated in training: {estimates.share_right(estimated.accuracy)}"
    say(line + ".")


def show_seen(found: Measured) -> None:
    """Which documents the model was trained on, and the figures without them."""
    if not found.seen:
        return
    from widemargin.report.tables import Column, Table

    n = found.summary.n
    say()
    if found.without is None:
        say(
            f"All {counted(n, 'document')} of the data are training documents of this model, so the "
            f"figures say nothing about new documents. Hold out documents before training: widemargin split."
        )
        return
    say(
        f"{found.seen:,} of {counted(n, 'document')} are training documents of this model (the same text). "
        f"Without them:"
    )
    rows = [("all", found.quality), ("without training documents", found.without[0])]
    columns = [Column("documents"), Column("number", "count"), Column("right", "figure")]
    columns += [Column("micro-F1", "figure"), Column("macro-F1", "figure")]
    table = [[name, q.n, q.accuracy, q.micro["f1"], q.macro["f1"]] for name, q in rows]
    show_table(Table("", columns, list(table)))
