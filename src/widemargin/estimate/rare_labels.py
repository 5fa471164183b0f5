"""What rare labels lose when one of their few examples is held out.

A label with k examples is estimated by rules that have seen k - 1 of them (leave-one-out) or nine tenths
(ten folds), and used with a rule that has seen all k. For a label with five examples that is a different
rule. Over many samples of documents this evens out for counts: samples with more examples of a label are
better at it, and count it more often, so that accuracy and micro-averages need no correction. The recall of
one label, and with it macro-averages, stays too low.

How recall grows with examples is measured, and then extrapolated to all examples: folds, of which the rules
have seen a known part of the examples, find fewer than the rules of the estimate do. The difference, over all
labels of about the same size together, gives the growth per logarithm of the number of examples, which
learning curves follow closely over so short a way.

**Label sets.** Five folds are compared with the estimate. Negative examples are held out of many, so false
positives stay as they are.

**Exclusive classes** compete, and leaving out one document weakens its own class alone. With few examples in
every class it then loses to others that the final model, and even folds, which weaken all classes alike,
would not let win. So the growth is that from two folds to five, extrapolated from there. What one class
gains, others no longer get by mistake (:func:`widemargin.measure.quality.quality`).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataWarning
from widemargin.estimate.cross_validation import out_of_fold
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels, LabelSpace
from widemargin.measure.held_out_scores import HeldOutScores

Floats = NDArray[np.float64]
Choose = Callable[[Floats], NDArray[np.int8]]

# With fewer examples a label has no rule in every fold; with more, one example is worth too little.
FEWEST, MOST = 4, 64
# The same of exclusive classes.
_FEWEST_OF_CLASS, _MOST_OF_CLASS = 2, 20
# Examples of rare labels without which the growth of recall would be a guess.
_ENOUGH = 30
_FOLDS, _FEWER_FOLDS = 5, 2
_LOOSE = 0.01


def expected_gain(
    learner: Any,
    rows: TrainingRows,
    found: HeldOutScores,
    thresholds: Floats | None,
    sample_weight: Any = None,
    random_state: Any = 0,
    choose: Choose | None = None,
) -> Floats | None:
    """How many more examples of every label a rule finds that has learned from all of them.

    Parameters
    ----------
    learner : fitted on `rows`
    found : its held-out scores
    thresholds : (columns,) above which a label is assigned; None for 0
    choose : decides exclusive classes: signs from scores; the largest score by default

    Returns
    -------
    (columns,) expected numbers, 0 for labels that are not rare; None if there are too few rare labels
    """
    space, truth = rows.y.space_and_signs
    if space.kind == "binary" or not hasattr(learner, "left_out_scores"):
        return None
    examples = np.count_nonzero(truth > 0, axis=0)
    exclusive = space.kind == "multiclass"
    fewest, most = (_FEWEST_OF_CLASS, _MOST_OF_CLASS) if exclusive else (FEWEST, MOST)
    rare = np.flatnonzero((examples >= fewest) & (examples <= most))
    if examples[rare].sum() < _ENOUGH:
        return None

    def again(columns: NDArray[np.intp], folds: int) -> HeldOutScores:
        some = Labels(LabelSpace(space.kind, space.classes[columns]), np.asfortranarray(truth[:, columns]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            return out_of_fold(
                _of_columns(learner, some.space, columns),
                rows.X,
                some,
                folds=folds,
                sample_weight=sample_weight,
                tol=max(getattr(learner, "tol", 0.0), _LOOSE),
                random_state=random_state,
                rows=rows,
            )

    gain = np.zeros(len(examples))
    if exclusive:
        every = np.arange(len(examples))
        more, fewer = (again(every, folds) for folds in (_FOLDS, _FEWER_FOLDS))
        gain[rare] = _gain_of_classes(choose or space.choose, truth, rare, found, more, fewer)
    else:
        gain[rare] = _gain_of_labels(truth, rare, found, again(rare, _FOLDS), thresholds)
    return gain


def _gain_of_labels(
    truth: Any, rare: NDArray[np.intp], found: HeldOutScores, fewer: HeldOutScores, thresholds: Floats | None
) -> Floats:
    positive, limits = truth[:, rare] > 0, 0.0 if thresholds is None else thresholds[rare]
    k = np.count_nonzero(positive, axis=0).astype(np.float64)
    hits = np.count_nonzero(positive & (found.scores[:, rare] > limits), axis=0)
    lost = hits - np.count_nonzero(positive & (fewer.scores > limits), axis=0)
    seen = k - 1 if found.folds is None else k * (1 - 1 / found.folds)
    way, rest = k * np.log(seen / (k * (1 - 1 / _FOLDS))), k * np.log(k / seen)
    gain = [growth * left for growth, left in zip(_growth(k, lost, way), rest, strict=True)]
    return np.asarray(np.minimum(gain, k - hits))


def _gain_of_classes(
    choose: Choose,
    truth: Any,
    rare: NDArray[np.intp],
    found: HeldOutScores,
    more: HeldOutScores,
    fewer: HeldOutScores,
) -> Floats:
    positive = truth[:, rare] > 0
    k = np.count_nonzero(positive, axis=0).astype(np.float64)
    hits, hits_more, hits_fewer = (
        np.count_nonzero(positive & (choose(part.scores)[:, rare] > 0), axis=0)
        for part in (found, more, fewer)
    )
    seen_more, seen_fewer = (_seen(positive, part.fold) for part in (more, fewer))
    way, rest = k * np.log(seen_more / seen_fewer), k * np.log(1 / seen_more)
    expected = hits_more + _growth(k, hits_more - hits_fewer, way) * rest
    gain = np.zeros(len(k))
    for column, size in enumerate(k):
        alike = _alike(k, size)
        gain[column] = size * (expected - hits)[alike].sum() / k[alike].sum()
    return np.clip(gain, 0.0, k - hits)


def _seen(positive: NDArray[np.bool_], fold: Any) -> Floats:
    """Which part of the examples of a label the rule of one of them has seen, on average."""
    inside = np.stack([np.count_nonzero(positive[fold == f], axis=0) for f in range(int(fold.max()) + 1)])
    k = inside.sum(axis=0)
    return np.asarray(np.maximum(1 - (inside**2).sum(axis=0) / k**2, 1 / k))


def _growth(k: Floats, lost: NDArray[Any], way: Floats) -> Floats:
    """Examples found per logarithm of the number of examples, by all labels of about the same size."""
    growth = np.zeros(len(k))
    for column, size in enumerate(k):
        alike = _alike(k, size)
        whole = float(way[alike].sum())
        growth[column] = max(float(lost[alike].sum()) / whole, 0.0) if whole > 0 else 0.0
    return growth


def _alike(k: Floats, size: float) -> NDArray[np.bool_]:
    return np.asarray((k >= size / 2) & (k <= size * 2))


def _of_columns(learner: Any, space: LabelSpace, columns: NDArray[np.intp]) -> Any:
    """A learner of some labels that begins at the solution of all."""
    model = copy.copy(learner)
    model.label_space_ = space
    alpha = getattr(learner, "alpha_", None)
    if alpha is not None:
        model.alpha_ = alpha[:, columns]
    if np.ndim(getattr(learner, "C", 0.0)) == 1:
        model.C = [learner.C[column] for column in columns.tolist()]
    if isinstance(getattr(learner, "class_weight", None), dict):
        names = set(space.classes.tolist())
        model.class_weight = {name: cost for name, cost in learner.class_weight.items() if name in names}
    return model
