"""Does a transductive labeling look right? The tests of joachims, 7.5, on what the machine says by itself.

If the unlabeled examples were labeled correctly, labeled and unlabeled ones would be drawn from the same
source, and the shares of both that could be leave-one-out errors, ``alpha R^2 + xi >= 1``, would differ by
chance only: over all examples (7.8), over the positive (7.9) and over the negative ones (7.10). How likely a
difference as large as the observed one is follows from the hypergeometric distribution. All this is so where
an error costs the same on both.

These tests see a few labeled examples only and miss most failures on text. Another sign needs no labels: a
hyperplane that has found a gap between other classes than the wanted ones has few unlabeled examples at it,
which is too clean for a real boundary. So the alarm may also be raised when few of them are support vectors.
That share depends on the collection and on C: `LEAST_SUPPORT` was chosen on samples of 17 labeled documents
among training documents of Reuters-21578, C = C* = 20. There is no theory behind it, and another collection
may want another; ``benchmarks/alarm.py`` measures how often the alarm is right on other documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from widemargin.errors import UsageError

# An example on the very edge is at risk, however its alpha was rounded.
_ROUNDING = 1e-9
# Of the unlabeled examples; below it the alarm is raised.
LEAST_SUPPORT = 0.06
_WHOM = {
    "all": "the labeled examples",
    "positive": "the labeled positive examples",
    "negative": "the labeled negative examples",
}


@dataclass(frozen=True)
class Shares:
    """How many of the labeled and of the unlabeled examples are at risk, and how likely that is by chance.

    `p_value` is the probability of shares at least as different as these (7.11).
    """

    labeled_at_risk: int
    labeled: int
    unlabeled_at_risk: int
    unlabeled: int
    p_value: float


@dataclass(frozen=True)
class Alarm:
    """What the tests found.

    Attributes
    ----------
    shares : of "all" (7.8), "positive" (7.9) and "negative" examples (7.10), those with somebody to compare
    support : the share of the unlabeled examples that are support vectors
    fired : whether a p-value is at most `level`, or the support below `least_support`
    sentence : the finding in words
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
    """How likely chance makes two shares differ as much as these, or more (7.11).

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
) -> Alarm:
    """Test (7.8)-(7.10) for one transductive machine, and look at how many examples lie at its boundary.

    Parameters
    ----------
    alpha, xi : dual variables and slacks of all examples, (n,)
    signs : their labels, given or found: positive or not, (n,)
    unlabeled : whose labels were found, (n,)
    kernel_range : largest minus smallest value of the kernel
    level : the alarm is raised when one of the tests has a p-value of at most `level`
    least_support : the alarm is raised when a smaller share of the unlabeled examples are support vectors

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
        raise UsageError("alpha, xi, signs and unlabeled need one value an example each.")
    groups = {"all": np.ones(len(positive), dtype=bool), "positive": positive, "negative": ~positive}
    shares = {name: _shares(at_risk, unlabeled, group) for name, group in groups.items()}
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
        return "There is nobody to compare the labeled examples with."
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
