"""A learning curve beyond the documents at hand: F1 at other sizes, and how many labels reach a target.

The error 1 - F1 of a label falls as an inverse power of the number m of training documents, to a rest that no
number of documents removes:

    1 - F1(m) = e (alpha + (1 - alpha) (m / n)^-c),    e: error at n documents, 0 <= alpha <= 1, c > 0

A few sizes, measured on a few hundred documents, do not determine three numbers. So all curves that fit are
kept, each with its weight: alpha and c are drawn from a prior, e and the weight follow from the measured F1
and its covariance over samples of documents. Intervals are quantiles over these curves. They contain the
chance of which documents were labeled and the uncertainty of the extrapolation; the further ahead, the wider.

The prior (c around 0.5, a rest that is mostly small) was chosen on quarters of collections, where it had to
predict the halves (`benchmarks/extrapolation.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from widemargin.estimate.curves.growth import Growth
from widemargin.measure.intervals import Figure

Floats = NDArray[np.float64]
CONFIDENCE = 0.9
FEWEST = 10  # examples of a label without which its curve says nothing
REACH = 16  # times as many documents as there are: what an extrapolation may speak of
_CURVES = 4000
_EXPONENT, _EXPONENT_SPREAD = 0.5, 0.5  # median of c and standard deviation of its logarithm
_REST = (0.5, 1.5)  # alpha follows this beta distribution
# Variance of an F1 because of the documents that a rule happened to learn from, and of what is no power law,
# as a share of the variance of as many coin flips as there are examples.
_OTHER = 0.25


@dataclass(frozen=True)
class Needed:
    """How many labeled documents a target needs, these included.

    Attributes
    ----------
    target : the F1 to reach
    verdict : "reached" (probably already), "within reach" (`documents` is the number), "out of reach" (more
        than :data:`REACH` times as many documents would probably not do), or "not enough to say"
    documents : the number; None unless the verdict is "within reach"
    low, high : the interval of the number; `high` is None where it is beyond reach
    """

    target: float
    verdict: Literal["reached", "within reach", "out of reach", "not enough to say"]
    documents: int | None = None
    low: int | None = None
    high: int | None = None

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


class Extrapolation:
    """The curves of one label that fit what was measured.

    Examples
    --------
    >>> sizes = np.array([100, 200, 400, 800])
    >>> f1 = 1 - 0.4 * (sizes / 100) ** -0.5
    >>> curve = Extrapolation(sizes, f1, np.full((4, 4), 1e-4), examples=900, documents=900)
    >>> bool(curve.at(1600).low < 0.9 < curve.at(1600).high), bool(curve.at(1600).value > curve.at(800).value)
    (True, True)
    >>> curve.needed(0.9).verdict, curve.needed(0.8).verdict
    ('within reach', 'reached')
    """

    def __init__(
        self, sizes: Any, f1: Any, covariance: Any, *, examples: int, documents: int, random_state: int = 0
    ) -> None:
        """Fit curves to F1 measured at `sizes` training documents.

        Parameters
        ----------
        covariance : (sizes, sizes) of `f1` over samples of documents
        examples : documents with the label
        documents : all that F1 was measured on
        """
        self.sizes = np.asarray(sizes, dtype=np.float64)
        self.f1 = np.asarray(f1, dtype=np.float64)
        self.examples, self.documents = int(examples), int(documents)
        self._covariance = np.asarray(covariance, dtype=np.float64)
        p = (self.examples * self.f1[-1] + 1) / (self.examples + 2)
        self._other = _OTHER * p * (1 - p) / self.examples
        self._total = self._covariance + (self._other + 1e-9) * np.eye(len(self.f1))
        generator = np.random.default_rng(random_state)
        self._c = np.exp(generator.normal(math.log(_EXPONENT), _EXPONENT_SPREAD, _CURVES))
        self._alpha = generator.beta(*_REST, _CURVES)
        shape = self._shape(self.sizes)
        weighted = np.linalg.solve(self._total, shape.T).T
        # Given its shape, the error of a curve is normal, and so is the probability of what was measured.
        precision = np.einsum("sj,sj->s", weighted, shape)
        evidence = weighted @ (1 - self.f1)
        mean, deviation = evidence / precision, 1 / np.sqrt(precision)
        self._e = np.clip(mean + deviation * generator.standard_normal(_CURVES), 1e-9, 1.0)
        log_weight = 0.5 * mean * evidence + np.log(deviation)
        weight = np.exp(log_weight - log_weight.max())
        self._weight = weight / weight.sum()
        self._noise = generator.standard_normal(_CURVES)

    @classmethod
    def of(cls, growth: Growth, column: int) -> Extrapolation | None:
        """The curves of one label; None where there are too few examples for any."""
        examples = int(growth.examples[column])
        if min(examples, growth.documents - examples) < FEWEST:
            return None
        return cls(
            growth.sizes,
            growth.f1[:, column],
            growth.covariance[column],
            examples=examples,
            documents=growth.documents,
        )

    def at(self, size: float) -> Figure:
        """F1 on new documents, after training on `size` documents."""
        return self._interval(self._curves(size) + math.sqrt(self._other) * self._noise)

    def measured_again(self, ratio: float) -> Figure:
        """The F1 that is measured in the same way on `ratio` times as many documents, these among them.

        The documents at hand count again, with what they have by chance, so this is known better than the F1
        on new documents.
        """
        ahead = self._curves(ratio * self.sizes[-1])
        chance = self.f1 - (1 - self._e[:, None] * self._shape(self.sizes))
        last = self._covariance[-1]
        gain = np.linalg.solve(self._total, last) / ratio
        variance = max(last[-1] / ratio - float(gain @ last) / ratio, 0.0) + self._other
        return self._interval(ahead + chance @ gain + math.sqrt(variance) * self._noise)

    def needed(self, target: float) -> Needed:
        """How many labeled documents, of the same mixture of labels, reach the F1 `target`."""
        left = ((1 - target) / self._e - self._alpha) / (1 - self._alpha)
        with np.errstate(divide="ignore", over="ignore"):
            size = np.where(left > 0, np.maximum(left, 1e-300) ** (-1 / self._c), np.inf) * self.sizes[-1]
        low, middle, high = _quantiles(size, self._weight, (0.05, 0.5, 0.95))
        most = REACH * self.documents
        if middle <= self.documents:
            return Needed(target, "reached")
        if low > most:
            return Needed(target, "out of reach")
        beyond = None if high > most else round(high)
        if middle > most or (beyond is None and low <= self.documents):
            return Needed(target, "not enough to say", low=round(low), high=beyond)
        return Needed(target, "within reach", round(middle), round(max(low, self.documents)), beyond)

    def _shape(self, sizes: Any) -> Floats:
        """(curves, sizes) the error at these sizes, as a multiple of that at the largest measured one."""
        ratio = np.atleast_1d(np.asarray(sizes, dtype=np.float64)) / self.sizes[-1]
        rest = self._alpha[:, None]
        made: Floats = rest + (1 - rest) * ratio[None, :] ** -self._c[:, None]
        return made

    def _curves(self, size: float) -> Floats:
        made: Floats = 1 - self._e * self._shape(size)[:, 0]
        return made

    def _interval(self, values: Floats) -> Figure:
        tail = (1 - CONFIDENCE) / 2
        low, middle, high = _quantiles(np.clip(values, 0, 1), self._weight, (tail, 0.5, 1 - tail))
        return Figure(middle, low, high, "estimate")


def _quantiles(values: Floats, weights: Floats, shares: tuple[float, ...]) -> list[float]:
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    places = np.minimum(np.searchsorted(below, shares), len(values) - 1)
    return [float(values[order[place]]) for place in places]
