"""Does a transductive labelling look right? The tests of joachims, 7.5, on what the machine says by itself.

If the unlabelled examples were labelled correctly, labelled and unlabelled ones would be drawn from the same
source, and the shares of both that could be leave-one-out errors, ``alpha R^2 + xi >= 1``, would differ by
chance only: over all examples (7.8), over the positive (7.9) and over the negative ones (7.10). How likely a
difference as large as the observed one is follows from the hypergeometric distribution.

These tests see a few labelled examples only and miss most failures on text. Two other signs need no labels.
The unlabelled examples stand in an order that has little to do with the one in which the inductive rule put
them, because the hyperplane has found a gap between other classes than the wanted ones; and few examples lie
at that gap, which is too clean for a real boundary. So the alarm is also raised when

    trust = rank correlation of both orders + 0.4 ln(share of unlabelled examples that are support vectors)

is low. Weight and threshold come from twelve samples of 17 labelled documents of Reuters-21578, ten topics
each (half of them with other training documents as unlabelled ones, half with the test documents);
``benchmarks/alarm.py`` measures on other samples. There is no theory behind the threshold, and another
collection may want another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom, spearmanr

from widemargin.errors import UsageError

# An example on the very edge is at risk, however its alpha was rounded.
_ROUNDING = 1e-9
# Below it, the alarm is raised.
LEAST_TRUST = -0.75
_WEIGHT_OF_SUPPORT = 0.4
_WHOM = {
    "all": "the labelled examples",
    "positive": "the labelled positive examples",
    "negative": "the labelled negative examples",
}


@dataclass(frozen=True)
class Shares:
    """How many of the labelled and of the unlabelled examples are at risk, and how likely that is by chance.

    `p_value` is the probability of shares at least as different as these (7.11).
    """

    labelled_at_risk: int
    labelled: int
    unlabelled_at_risk: int
    unlabelled: int
    p_value: float


@dataclass(frozen=True)
class Alarm:
    """What the tests found.

    Attributes
    ----------
    shares : of "all" (7.8), "positive" (7.9) and "negative" examples (7.10), those with somebody to compare
    agreement : the rank correlation of inductive and transductive scores of the unlabelled examples
    support : the share of the unlabelled examples that are support vectors
    trust : what the module makes of both; infinite where no scores were given
    fired : whether a p-value is at most `level`, or the trust below `least_trust`
    sentence : the finding in words
    """

    shares: dict[str, Shares]
    level: float
    agreement: float
    support: float
    least_trust: float
    fired: bool
    sentence: str

    @property
    def trust(self) -> float:
        """How far the labelling may be trusted by its order and its boundary."""
        return trust(self.agreement, self.support)

    @property
    def p_values(self) -> dict[str, float]:
        """The p-value of every test."""
        return {name: shares.p_value for name, shares in self.shares.items()}


def share_test(labelled_at_risk: int, labelled: int, unlabelled_at_risk: int, unlabelled: int) -> float:
    """How likely chance makes two shares differ as much as these, or more (7.11).

    Examples
    --------
    >>> round(share_test(9, 10, 3, 15), 4)
    0.001
    """
    counts = (labelled_at_risk, labelled, unlabelled_at_risk, unlabelled)
    if not (0 <= labelled_at_risk <= labelled and 0 <= unlabelled_at_risk <= unlabelled):
        raise UsageError(f"{counts}: expected counts between 0 and the number of examples.")
    if labelled == 0 or unlabelled == 0:
        return 1.0
    at_risk = labelled_at_risk + unlabelled_at_risk
    possible = np.arange(max(0, at_risk - unlabelled), min(labelled, at_risk) + 1)
    difference = np.abs(possible / labelled - (at_risk - possible) / unlabelled)
    observed = abs(labelled_at_risk / labelled - unlabelled_at_risk / unlabelled)
    chance = hypergeom.pmf(possible, labelled + unlabelled, at_risk, labelled)
    return float(min(chance[difference >= observed * (1 - _ROUNDING)].sum(), 1.0))


def transduction_alarm(
    alpha: Any,
    xi: Any,
    signs: Any,
    unlabelled: Any,
    *,
    R2: float = 1.0,
    level: float = 0.01,
    scores: Any = None,
    inductive: Any = None,
    least_trust: float = LEAST_TRUST,
) -> Alarm:
    """Test (7.8)-(7.10) for one transductive machine, and compare it with the inductive one.

    Parameters
    ----------
    alpha, xi : dual variables and slacks of all examples, (n,)
    signs : their labels, given or found: positive or not, (n,)
    unlabelled : whose labels were found, (n,)
    R2 : largest minus smallest value of the kernel
    level : the alarm is raised when one of the tests has a p-value of at most `level`
    scores, inductive : scores of all examples by the transductive and by the inductive rule, (n,)
    least_trust : the alarm is raised when the trust (see the module) is below this

    Examples
    --------
    >>> alarm = transduction_alarm([9, 9, 9, 0, 0, 0, 0, 0], np.zeros(8), [1, 1, -1, 1, 1, -1, -1, -1],
    ...                            [False] * 3 + [True] * 5, level=0.05)
    >>> print(alarm.sentence)
    The labelled examples sit unusually close to the boundary compared with the rest (p = 0.018): do not trust this labelling.
    """  # noqa: E501  (the sentence is one line)
    at_risk = np.asarray(alpha) * R2 + np.asarray(xi) >= 1 - _ROUNDING
    unlabelled, positive = np.asarray(unlabelled, dtype=bool), np.asarray(signs) > 0
    if not (at_risk.shape == unlabelled.shape == positive.shape and at_risk.ndim == 1):
        raise UsageError("alpha, xi, signs and unlabelled need one value an example each.")
    groups = {"all": np.ones(len(positive), dtype=bool), "positive": positive, "negative": ~positive}
    shares = {name: _shares(at_risk, unlabelled, group) for name, group in groups.items()}
    shares = {name: share for name, share in shares.items() if share.labelled and share.unlabelled}
    worst = min(shares, key=lambda name: shares[name].p_value, default=None)
    unlikely = worst is not None and shares[worst].p_value <= level
    agreement, support = math.inf, 1.0
    if scores is not None and inductive is not None and np.count_nonzero(unlabelled) > 1:
        agreement = _rank_correlation(np.asarray(scores)[unlabelled], np.asarray(inductive)[unlabelled])
        support = float(np.mean(np.asarray(alpha)[unlabelled] > 0))
    strange = trust(agreement, support) < least_trust
    sentence = _sentence(worst, shares, unlikely)
    if strange:
        found = (
            f"the documents are in another order than the labelled examples alone would put them in (rank "
            f"correlation {agreement:.2f}), with few of them at the boundary ({support:.1%})"
        )
        sentence = (
            sentence.replace(": do not trust", f", and {found}: do not trust")
            if unlikely
            else f"{found[0].upper()}{found[1:]}: do not trust this labelling."
        )
    return Alarm(shares, level, agreement, support, least_trust, bool(unlikely or strange), sentence)


def trust(agreement: float, support: float) -> float:
    """What rank correlation and share of support vectors say together about a labelling.

    Examples
    --------
    >>> round(trust(0.8, 0.1), 2), round(trust(0.3, 0.03), 2)
    (-0.12, -1.1)
    """
    return agreement + _WEIGHT_OF_SUPPORT * math.log(support) if support > 0 else -math.inf


def _rank_correlation(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Spearman's; 1 where one of the two does not order anything."""
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 1.0
    return float(spearmanr(a, b).statistic)


def _shares(at_risk: NDArray[np.bool_], unlabelled: NDArray[np.bool_], group: NDArray[np.bool_]) -> Shares:
    counts = [
        int(np.count_nonzero(some & group))
        for some in (at_risk & ~unlabelled, ~unlabelled, at_risk & unlabelled, unlabelled)
    ]
    return Shares(counts[0], counts[1], counts[2], counts[3], share_test(*counts))


def _sentence(worst: str | None, shares: dict[str, Shares], fired: bool) -> str:
    if worst is None:
        return "There is nobody to compare the labelled examples with."
    share = shares[worst]
    if not fired:
        return (
            f"The labelled examples sit as close to the boundary as the rest (p = {share.p_value:.2g}): "
            f"nothing speaks against this labelling."
        )
    closer = share.labelled_at_risk / share.labelled > share.unlabelled_at_risk / share.unlabelled
    whom = _WHOM[worst]
    return (
        f"{whom[0].upper()}{whom[1:]} sit unusually {'close to' if closer else 'far from'} the boundary "
        f"compared with the rest (p = {share.p_value:.2g}): do not trust this labelling."
    )
