"""Tests for a failed transductive labeling (joachims, 7.5), from the solution alone.

If the unlabeled examples are labeled correctly, both kinds of examples come from the same distribution. Then
the shares of possible leave-one-out errors, ``alpha R^2 + xi >= 1``, among labeled and unlabeled examples
differ only by chance: over all examples (7.8), the positive (7.9) and the negative ones (7.10). The
probability of a difference at least as large as the observed one follows from the hypergeometric
distribution. This requires the same cost of errors on both kinds.

With few labeled examples these tests miss most failures on text. Another sign needs no labels: a hyperplane
in a gap between the wrong classes has few unlabeled examples near it, too few for a real boundary. So the
alarm also fires if few of them are support vectors. That share depends on the collection and on C:
`LEAST_SUPPORT` was chosen on samples of 17 labeled training documents of Reuters-21578, C = C* = 20. It is a
heuristic, and other collections may need another value; ``benchmarks/alarm.py`` measures how often the alarm
is right on other documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from widemargin.errors import UsageError

# Tolerance for rounding: an example on the edge is at risk.
_ROUNDING = 1e-9
# Share of support vectors among the unlabeled examples below which the alarm fires.
LEAST_SUPPORT = 0.06
_WHOM = {
    "all": "the labeled examples",
    "positive": "the labeled positive examples",
    "negative": "the labeled negative examples",
}


@dataclass(frozen=True)
class Shares:
    """The numbers of labeled and unlabeled examples at risk, and the p-value of their difference.

    `p_value` is the probability of shares at least as different as these (7.11).
    """

    labeled_at_risk: int
    labeled: int
    unlabeled_at_risk: int
    unlabeled: int
    p_value: float


@dataclass(frozen=True)
class Alarm:
    """The result of the tests.

    Attributes
    ----------
    shares : of "all" (7.8), "positive" (7.9) and "negative" examples (7.10), if there is anything to compare
    support : the share of the unlabeled examples that are support vectors
    fired : whether a p-value is at most `level`, or the support below `least_support`
    sentence : the result in words
    """

    shares: dict[str, Shares]
    level: float
    support: float
    least_support: float
    fired: bool
    sentence: str

    @property
    def p_values(self) -> dict[str, float]:
        """The p-value of every test."""
        return {name: shares.p_value for name, shares in self.shares.items()}


def share_test(labeled_at_risk: int, labeled: int, unlabeled_at_risk: int, unlabeled: int) -> float:
    """The probability that two shares differ by chance at least as much as these (7.11).

    Examples
    --------
    >>> round(share_test(9, 10, 3, 15), 4)
    0.001
    """
    counts = (labeled_at_risk, labeled, unlabeled_at_risk, unlabeled)
    if not (0 <= labeled_at_risk <= labeled and 0 <= unlabeled_at_risk <= unlabeled):
        raise UsageError(f"{counts}: expected counts between 0 and the number of examples.")
    if labeled == 0 or unlabeled == 0:
        return 1.0
    at_risk = labeled_at_risk + unlabeled_at_risk
    possible = np.arange(max(0, at_risk - unlabeled), min(labeled, at_risk) + 1)
    difference = np.abs(possible / labeled - (at_risk - possible) / unlabeled)
    observed = abs(labeled_at_risk / labeled - unlabeled_at_risk / unlabeled)
    chance = hypergeom.pmf(possible, labeled + unlabeled, at_risk, labeled)
    return float(min(chance[difference >= observed * (1 - _ROUNDING)].sum(), 1.0))


def transduction_alarm(
    alpha: Any,
    xi: Any,
    signs: Any,
    unlabeled: Any,
    *,
    kernel_range: float = 1.0,
    level: float = 0.01,
    least_support: float = 0.0,
    tests: Sequence[str] = ("all", "positive", "negative"),
) -> Alarm:
    """Run tests (7.8)-(7.10) for one transductive SVM, and check its share of support vectors.

    Parameters
    ----------
    alpha, xi : dual variables and slacks of all examples, (n,)
    signs : given or inferred labels, (n,)
    unlabeled : true for examples whose label was inferred, (n,)
    kernel_range : largest minus smallest value of the kernel
    level : the alarm fires if one of the tests has a p-value of at most `level`
    least_support : the alarm fires if the share of support vectors among the unlabeled examples is smaller
    tests : the tests to run. Where labeled examples are a number per class and not a sample of all, only
        those of a single class hold

    Examples
    --------
    >>> alarm = transduction_alarm([9, 9, 9, 0, 0, 0, 0, 0], np.zeros(8), [1, 1, -1, 1, 1, -1, -1, -1],
    ...                            [False] * 3 + [True] * 5, level=0.05)
    >>> print(alarm.sentence)
    The labeled examples sit unusually close to the boundary compared with the rest (p = 0.018): do not trust this labeling.
    """  # noqa: E501  (the sentence is one line)
    at_risk = np.asarray(alpha) * kernel_range + np.asarray(xi) >= 1 - _ROUNDING
    unlabeled, positive = np.asarray(unlabeled, dtype=bool), np.asarray(signs) > 0
    if not (at_risk.shape == unlabeled.shape == positive.shape and at_risk.ndim == 1):
        raise UsageError("alpha, xi, signs and unlabeled need one value per example.")
    groups = {"all": np.ones(len(positive), dtype=bool), "positive": positive, "negative": ~positive}
    shares = {name: _shares(at_risk, unlabeled, groups[name]) for name in tests}
    shares = {name: share for name, share in shares.items() if share.labeled and share.unlabeled}
    worst = min(shares, key=lambda name: shares[name].p_value, default=None)
    unlikely = worst is not None and shares[worst].p_value <= level
    support = float(np.mean(np.asarray(alpha)[unlabeled] > 0)) if unlabeled.any() else 1.0
    sentence = _sentence(worst, shares, unlikely)
    if support < least_support:
        found = f"few of the other documents are at the boundary ({support:.1%}), too few for a real one"
        sentence = (
            sentence.replace(": do not trust", f", and {found}: do not trust")
            if unlikely
            else f"{found[0].upper()}{found[1:]}: do not trust this labeling."
        )
    fired = bool(unlikely or support < least_support)
    return Alarm(shares, level, support, least_support, fired, sentence)


def _shares(at_risk: NDArray[np.bool_], unlabeled: NDArray[np.bool_], group: NDArray[np.bool_]) -> Shares:
    counts = [
        int(np.count_nonzero(some & group))
        for some in (at_risk & ~unlabeled, ~unlabeled, at_risk & unlabeled, unlabeled)
    ]
    return Shares(counts[0], counts[1], counts[2], counts[3], share_test(*counts))


def _sentence(worst: str | None, shares: dict[str, Shares], fired: bool) -> str:
    if worst is None:
        return "There are no unlabeled examples to compare with."
    share = shares[worst]
    if not fired:
        return (
            f"The labeled examples sit as close to the boundary as the rest (p = {share.p_value:.2g}): "
            f"nothing speaks against this labeling."
        )
    closer = share.labeled_at_risk / share.labeled > share.unlabeled_at_risk / share.unlabeled
    whom = _WHOM[worst]
    return (
        f"{whom[0].upper()}{whom[1:]} sit unusually {'close to' if closer else 'far from'} the boundary "
        f"compared with the rest (p = {share.p_value:.2g}): do not trust this labeling."
    )
