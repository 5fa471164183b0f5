"""A model on labeled documents: truth, scores and decisions, and the figures that they come to."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.classifier.scorer import Scorer
from widemargin.documents.collection import Collection, Vectors
from widemargin.documents.wording import counted
from widemargin.errors import DataError, DataWarning
from widemargin.labels import Labels, labeled_rows
from widemargin.labels.truth import truth_of
from widemargin.measure.class_costs import AverageCost, ClassCosts, average_cost
from widemargin.measure.contingency import contingency
from widemargin.measure.levels import by_level
from widemargin.measure.quality import Quality, quality
from widemargin.measure.summary import Summary, summarize

Signs = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Measured:
    """A model on the labeled documents of a collection.

    Attributes
    ----------
    collection : the documents with labels
    truth, chosen : signs (n, columns)
    scores : of the model, as `Scorer.scores` gives them
    levels : figures by level of a label hierarchy, or None
    cost : by costs between classes, or None
    seen : how many documents are training documents of the model too, None if that is not known
    without : the figures without these; None if there are none of them, or no others
    """

    scorer: Scorer
    collection: Collection | Vectors
    truth: Signs
    scores: NDArray[Any]
    chosen: Signs
    quality: Quality
    summary: Summary
    levels: list[dict[str, Any]] | None
    cost: AverageCost | None
    seen: int | None = None
    without: tuple[Quality, Summary] | None = None

    def seen_as_json(self) -> dict[str, Any] | None:
        """The training documents among those measured, and the figures without them."""
        if self.seen is None:
            return None
        found: dict[str, Any] = {"documents": self.seen}
        if self.without is not None:
            quality, summary = self.without
            found["without"] = {**summary.to_dict(), "measured": quality.to_dict()}
        return found

    def by_class(self, signs: NDArray[Any]) -> NDArray[Any]:
        """One column per class; of two classes, the first has the second's with the sign turned."""
        return np.hstack([-signs, signs]) if self.scorer.space.kind == "binary" else signs


def measure(scorer: Scorer, collection: Collection | Vectors, costs: ClassCosts | None = None) -> Measured:
    """Measure a model on the labeled documents of `collection`.

    Raises
    ------
    DataError
        No document has a label.
    """
    kept = labeled_rows(collection.labels)
    if not kept:
        raise DataError(
            f"None of the {len(collection)} documents has a label. Evaluate on labeled documents."
        )
    if len(kept) < len(collection):
        missing = counted(len(collection) - len(kept), "document")
        warnings.warn(f"left out {missing} without a label.", DataWarning, stacklevel=2)
        collection = collection.subset(kept)
    space, rule = scorer.space, scorer.rule
    tree = None if rule.hierarchy is None else rule.hierarchy.tree
    truth, scores = truth_of(collection.labels, space, tree), scorer.scores(collection)
    chosen = rule.choose(scores, scorer.lengths(collection))
    levels = None if tree is None else [level.to_dict() for level in by_level(tree, truth, chosen)]
    cost = None
    if costs is not None:
        # An unknown label has no column, so no cost.
        known = (truth > 0).any(axis=1) | (space.kind == "binary")
        codes, by_rule_codes, plain = (
            Labels(space, signs).codes for signs in (truth, chosen, space.choose(scores))
        )
        by_rule = rule.costs is not None or rule.thresholds is not None
        cost = average_cost(
            costs, np.where(known, codes, -1), by_rule_codes, by_scores=plain if by_rule else None
        )
    decided = truth, scores, chosen
    found, summary = _figures(scorer, *decided)
    seen = without = None
    if scorer.record.hashes is not None:
        copies = scorer.seen(collection)
        seen = int(np.count_nonzero(copies))
        if 0 < seen < len(copies):
            without = _figures(scorer, *(values[~copies] for values in decided))
    return Measured(scorer, collection, *decided, found, summary, levels, cost, seen, without)


def _figures(scorer: Scorer, truth: Signs, scores: NDArray[Any], chosen: Signs) -> tuple[Quality, Summary]:
    found = quality(
        scorer.space,
        contingency(truth, chosen),
        kind="measured",
        method="test documents",
        right=int(np.count_nonzero((truth == chosen).all(axis=1))),
        thresholds=scorer.rule.shown_thresholds,
        ranking=(truth, scores),
    )
    return found, summarize(scorer.space, truth, scores, chosen)
