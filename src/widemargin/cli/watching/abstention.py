"""``evaluate --abstain``: how many documents are decided, and how many of these wrongly."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from widemargin.cli.output import counted, say

if TYPE_CHECKING:
    from widemargin.classifier import Scorer
    from widemargin.documents.collection import Collection, Vectors


def measured_abstention(
    scorer: Scorer, collection: Collection | Vectors, asked: str, model: str
) -> dict[str, Any]:
    """What becomes of the labeled documents of `collection`, for JSON."""
    import warnings

    import numpy as np

    from widemargin.errors import DataWarning
    from widemargin.labels import labeled_rows
    from widemargin.labels.truth import truth_of
    from widemargin.measure.intervals import clopper_pearson

    rejection = scorer.rejection(asked, f"--abstain: {model}")
    collection = collection.subset(labeled_rows(collection.labels))
    rule = scorer.rule
    scores, seen = scorer.observe(collection)
    why = scorer.rejected(rejection, collection, scores, seen)
    kept = ~why.astype(bool)
    tree = None if rule.hierarchy is None else rule.hierarchy.tree
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # told before
        truth = truth_of(collection.labels, scorer.space, tree)
    names = set(map(str, scorer.space.classes.tolist()))
    known = np.array([all(str(label) in names for label in labels or ()) for labels in collection.labels])
    known |= tree is not None
    right = (truth == rule.choose(scores, scorer.lengths(collection))).all(axis=1) & known
    decided, wrong = int(kept.sum()), int((kept & ~right & known).sum())
    of_known = int((kept & known).sum())
    low, high = (float(end) for end in clopper_pearson(wrong, max(of_known, 1)))
    found = {
        **rejection.to_dict(),
        "documents": len(kept),
        "decided": decided,
        "kept": decided / len(kept),
        "wrong": wrong,
        "error": {"value": wrong / of_known if of_known else None, "low": low, "high": high},
        "error_of_all": float((~right[known]).mean()) if known.any() else None,
        "abstained": dict(Counter(why[~kept].tolist())),
    }
    if not known.all():
        strange = int((~known).sum())
        left = int((~known & ~kept).sum())
        found["unknown_labels"] = {"documents": strange, "abstained": left, "recall": left / strange}
    return found


def show_abstention(found: dict[str, Any]) -> None:
    """The same in words."""
    reasons = ", ".join(f"{number:,} {reason}" for reason, number in found["abstained"].items())
    say(
        f"Abstaining ({found['asked']}): {found['decided']:,} of {counted(found['documents'], 'document')} "
        f"decided ({100 * found['kept']:.1f} %){'; ' + reasons if reasons else ''}."
    )
    error = found["error"]
    if error["value"] is not None:
        promised = found["promised_error"]
        line = (
            f"Of these, {100 * error['value']:.1f} % are wrong ({100 * error['low']:.1f}-"
            f"{100 * error['high']:.1f}); {100 * found['error_of_all']:.1f} % without abstaining"
        )
        say(line + ("." if promised is None else f"; promised: at most {100 * promised:g} %."))
    strange = found.get("unknown_labels")
    if strange is not None:
        say(
            f"{counted(strange['documents'], 'document')} with labels that the model does not know: "
            f"{strange['abstained']:,} left undecided ({100 * strange['recall']:.1f} %)."
        )
