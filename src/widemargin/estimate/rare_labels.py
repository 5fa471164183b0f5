"""What rare labels lose when one of their few examples is held out.

A label with k examples is estimated by rules that have seen k - 1 of them (leave-one-out) or nine tenths
(ten folds), and used with a rule that has seen all k. For a label with five examples that is a different
rule. Over many samples of documents this evens out for counts: samples with more examples of a label are
better at it, and count it more often, so that accuracy and micro-averages need no correction. The recall of
one label, and with it macro-averages, stays too low.

How recall grows with examples is measured, and then extrapolated by one example: five folds, of which the
rules have seen four fifths of the examples, find fewer than the rules of the estimate do. The difference,
over all labels of about the same size together, gives the growth per logarithm of the number of examples,
which learning curves follow closely over so short a way. Negative examples are held out of many, so false
positives stay as they are.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataWarning
from widemargin.estimate.cross_validation import out_of_fold
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels, LabelSpace
from widemargin.measure.held_out_scores import HeldOutScores

Floats = NDArray[np.float64]

# With fewer examples a label has no rule in every fold; with more, one example is worth too little.
FEWEST, MOST = 4, 64
# Examples of rare labels without which the growth of recall would be a guess.
_ENOUGH = 30
_FOLDS = 5
_LOOSE = 0.01


def expected_gain(
    learner: Any,
    rows: TrainingRows,
    found: HeldOutScores,
    thresholds: Floats | None,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> Floats | None:
    """How many more examples of every label a rule finds that has learned from all of them.

    Parameters
    ----------
    learner : fitted on `rows`
    found : its held-out scores
    thresholds : (columns,) above which a label is assigned; None for 0

    Returns
    -------
    (columns,) expected numbers, 0 for labels that are not rare; None if there are too few rare labels
    """
    space, truth = rows.y.space_and_signs
    if space.kind != "multilabel" or not hasattr(learner, "left_out_scores"):
        return None
    examples = np.count_nonzero(truth > 0, axis=0)
    rare = np.flatnonzero((examples >= FEWEST) & (examples <= MOST))
    if examples[rare].sum() < _ENOUGH:
        return None
    k = examples[rare].astype(np.float64)
    some = Labels(LabelSpace("multilabel", space.classes[rare]), np.asfortranarray(truth[:, rare]))
    limits = 0.0 if thresholds is None else thresholds[rare]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        fewer = out_of_fold(
            _of_columns(learner, some.space, rare),
            rows.X,
            some,
            folds=_FOLDS,
            sample_weight=sample_weight,
            tol=max(getattr(learner, "tol", 0.0), _LOOSE),
            random_state=random_state,
            rows=rows,
        )
    positive = truth[:, rare] > 0
    hits = np.count_nonzero(positive & (found.scores[:, rare] > limits), axis=0)
    lost = hits - np.count_nonzero(positive & (fewer.scores > limits), axis=0)
    seen = k - 1 if found.folds is None else k * (1 - 1 / found.folds)
    gain = np.zeros(len(examples))
    way, rest = k * np.log(seen / (k * (1 - 1 / _FOLDS))), k * np.log(k / seen)
    for column in range(len(rare)):
        alike = (k >= k[column] / 2) & (k <= k[column] * 2)
        whole = float(way[alike].sum())
        growth = max(float(lost[alike].sum()) / whole, 0.0) if whole > 0 else 0.0
        gain[rare[column]] = min(growth * rest[column], k[column] - hits[column])
    return gain


def _of_columns(learner: Any, space: LabelSpace, columns: NDArray[np.intp]) -> Any:
    """A learner of some labels that begins at the solution of all."""
    model = copy.copy(learner)
    model.label_space_ = space
    alpha = getattr(learner, "alpha_", None)
    if alpha is not None:
        model.alpha_ = alpha[:, columns]
    if isinstance(getattr(learner, "class_weight", None), dict):
        names = set(space.classes.tolist())
        model.class_weight = {name: cost for name, cost in learner.class_weight.items() if name in names}
    return model
