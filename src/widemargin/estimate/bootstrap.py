"""Bootstrap estimates of the errors of a trained rule: joachims (5.11) to (5.13), and the .632+ rule.

A bootstrap sample draws as many examples as there are, with replacement. A rule that is learned from it makes
fewer errors on the sample than on all examples; the mean difference over many samples is the optimism of the
training error, which is added to it (5.13). The printed (5.11) counts differences where it should count
matches, divides by n where it should divide by the size of the sample, and (5.12) and (5.13) do not average
and have the sign reversed.

Of a rule that learns its training examples by heart, as most rules of text do, this estimate is too good:
63 % of the examples are in a sample, and contribute nothing. The .632+ rule (Efron and Tibshirani,
*Improvements on Cross-Validation: The .632+ Bootstrap Method*, JASA 1997) therefore weighs the training error
against the error on examples outside of the samples, and gives the more weight to these the more the rule
fits by heart.

Errors on examples with a label and on those without it are estimated apart, so that there are precision and
recall too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import UsageError
from widemargin.estimate.cross_validation import scores_of_rule, warn_of_weak_labels
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels
from widemargin.learn.costs import weights_for
from widemargin.measure.contingency import Contingency
from widemargin.progress import track

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]
Correction = Literal["optimism", "632+"]
SAMPLES = 25


@dataclass(frozen=True, eq=False)
class BootstrapErrors:
    """Expected errors of a rule, learned from all examples, on as many new ones.

    Attributes
    ----------
    table : one entry per column; expected numbers, not whole ones
    right : expected number of documents whose label, or set of labels, is right
    samples : number of bootstrap samples
    training_error : share of documents whose label or set of labels is wrong in training
    """

    table: Contingency
    right: float
    samples: int
    training_error: float


def bootstrap(
    learner: Any,
    X: Any,
    y: Any,
    *,
    correction: Correction = "optimism",
    samples: int = SAMPLES,
    choose: Callable[[Floats], Signs] | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    verbose: bool = False,
    rows: TrainingRows | None = None,
) -> BootstrapErrors:
    """Estimate the errors of `learner`, fitted on `X` and `y`, by the bootstrap.

    Parameters
    ----------
    correction : "optimism", (5.13): the training errors and their optimism; "632+": the .632+ rule
    samples : number of bootstrap samples, each of which costs a training
    choose : decisions as signs (n, columns) from scores; those of the label space by default
    random_state : seed of the samples
    rows : how `X` was made. Vocabulary, weights and features are made again from the documents of each
        sample, each counted once.
    learner, sample_weight, verbose : as for :func:`~widemargin.estimate.cross_validation.out_of_fold`

    Examples
    --------
    >>> from widemargin import LinearSVM
    >>> X, y = np.array([[0.0], [0.2], [1.4], [1.0], [2.2], [2.4]]), list("aaabbb")
    >>> found = bootstrap(LinearSVM().fit(X, y), X, y)
    >>> found.right < 6 * (1 - found.training_error)
    True
    """
    if correction not in ("optimism", "632+"):
        raise UsageError(f"correction={correction!r}: expected 'optimism' or '632+'.")
    if isinstance(samples, bool) or not isinstance(samples, int | np.integer) or samples < 1:
        raise UsageError(f"samples={samples!r}: expected a whole number of at least 1.")
    y = Labels.of(y, X.shape[0], space=learner.label_space_)
    space, truth = y.space_and_signs
    choose = space.choose if choose is None else choose
    weights_for(learner, sample_weight)
    warn_of_weak_labels(space, truth)
    all_of_them = np.full(len(truth), True)
    trained = _wrong(np.asarray(learner.decision_function(X)).reshape(truth.shape), truth, choose)
    of_samples = _Sums(truth)
    draws = np.random.default_rng(random_state)
    for _ in track(range(samples), "Bootstrap", unit="samples", enabled=None if verbose else False):
        times = np.bincount(draws.integers(len(truth), size=len(truth)), minlength=len(truth))
        told, made = (learner, X) if rows is None else rows.told_without(learner, times == 0)
        scores = scores_of_rule(told, made, y, times, all_of_them, sample_weight)
        of_samples.add(_wrong(scores, truth, choose), times)
    positive = np.hstack([truth > 0, np.full((len(truth), 1), True)])
    sizes = np.vstack([positive.sum(axis=0), (~positive).sum(axis=0)])
    once = np.vstack([(trained & positive).sum(axis=0), (trained & ~positive).sum(axis=0)])
    if correction == "optimism":
        errors = once + of_samples.optimism / samples
    else:
        errors = _weighed(once, of_samples, sizes)
    errors = np.clip(errors, 0, sizes)
    missed, alarms = errors[:, :-1]
    positives, negatives = sizes[:, :-1]
    # The wrong documents of exclusive classes are those that their own class misses.
    wrong = {"binary": missed.sum() + alarms.sum(), "multiclass": missed.sum(), "multilabel": errors[0, -1]}
    return BootstrapErrors(
        Contingency(positives - missed, alarms, missed, negatives - alarms),
        float(len(truth) - wrong[space.kind]),
        int(samples),
        float(once[0, -1] / len(truth)),
    )


class _Sums:
    """Errors of the rules of all samples; the last column is about whole documents, all of them positive.

    Attributes
    ----------
    optimism : (2, columns + 1) errors on positive and negative examples, less those on drawn ones
    outside : the same of examples that were not drawn
    left : how many these were
    """

    def __init__(self, truth: Signs) -> None:
        self._positive = np.hstack([truth > 0, np.full((len(truth), 1), True)])
        shape = (2, truth.shape[1] + 1)
        self.optimism, self.outside, self.left = np.zeros(shape), np.zeros(shape), np.zeros(shape)

    def add(self, wrong: NDArray[np.bool_], times: NDArray[np.int64]) -> None:
        """Count the errors of one rule, (n, columns + 1), learned from examples `times` times."""
        not_drawn = (times == 0)[:, None]
        for sign, own in enumerate((self._positive, ~self._positive)):
            self.optimism[sign] += (1 - times) @ (wrong & own)
            self.outside[sign] += (wrong & own & not_drawn).sum(axis=0)
            self.left[sign] += (own & not_drawn).sum(axis=0)


def _wrong(scores: Floats, truth: Signs, choose: Callable[[Floats], Signs]) -> NDArray[np.bool_]:
    """Wrong decisions (n, columns + 1); the last column says whether any label of a document is wrong."""
    wrong = choose(scores) != truth
    return np.hstack([wrong, wrong.any(axis=1)[:, None]])


def _weighed(once: Floats, of_samples: _Sums, sizes: NDArray[np.int64]) -> Floats:
    """Errors by the .632+ rule, from those in training and those outside of samples."""
    n = sizes.sum(axis=0)
    seen, left_out = of_samples.outside, of_samples.left
    outside = sizes * np.divide(seen, left_out, out=np.zeros(once.shape), where=left_out > 0)
    trained, left = once.sum(axis=0) / n, outside.sum(axis=0) / n
    # The error if labels said nothing about documents: the decisions and the labels meet by chance.
    positive = sizes[0] / n
    chosen = (sizes[0] - outside[0] + outside[1]) / n
    by_chance = positive * (1 - chosen) + (1 - positive) * chosen
    by_chance[-1] = 1.0  # two sets of labels are hardly ever the same by chance
    worst = np.minimum(left, by_chance)
    outside *= np.divide(worst, left, out=np.ones(len(n)), where=left > 0)
    overfitting = np.divide(worst - trained, by_chance - trained, out=np.zeros(len(n)), where=worst > trained)
    weight = 0.632 / (1 - 0.368 * overfitting)
    weighed: Floats = (1 - weight) * once + weight * outside
    return weighed
