"""Probabilities of exclusive classes from scores and the lengths of the texts.

The scores of a profile are means over n-grams, so that the same score is worth more for a longer text. The
probabilities of K classes are (1 - noise) softmax(factor length^exponent score) + noise / K, where the length
is in bytes. The three numbers are fitted by maximum likelihood on held-out texts of different lengths:
temperature scaling (Guo, Pleiss, Sun and Weinberger, On Calibration of Modern Neural Networks, ICML 2017)
with a temperature for every length. Without the noise, a few texts with a wrong label would make all long
texts look uncertain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._stored import Stored
from widemargin.errors import UsageError

Floats = NDArray[np.float64]

# An exponent outside these limits would let the certainty of a long text depend on its length alone.
_EXPONENTS = (0.0, 2.0)
# Where a handful of errors would decide on the exponent, it stays near the usual one: a normal prior.
_USUAL_EXPONENT, _SPREAD = 0.5, 0.1


@dataclass(frozen=True)
class LengthCalibration:
    """Call with scores (n, columns) and lengths in bytes (n,).

    One column of scores is that of the second of two classes; otherwise there is one per class. The result
    has the same shape.

    Examples
    --------
    >>> LengthCalibration(0.5, 1.0)(np.array([[0.2], [0.2]]), np.array([10, 100])).round(2).tolist()
    [[0.73], [1.0]]
    """

    factor: float
    exponent: float
    noise: float = 0.0

    def __call__(self, scores: Any, lengths: Any) -> Floats:
        values: Floats = np.asarray(scores, dtype=np.float64)
        if lengths is None:
            raise UsageError("These probabilities depend on the lengths of the texts. Pass texts.")
        power = np.maximum(np.asarray(lengths, dtype=np.float64), 1.0) ** self.exponent
        logits = self.factor * power[:, None] * values
        if values.shape[1] == 1:
            logits = np.hstack([np.zeros_like(logits), logits])
        found: Floats = np.exp(logits - logits.max(axis=1, keepdims=True))
        found *= (1 - self.noise) / found.sum(axis=1, keepdims=True)
        found += self.noise / found.shape[1]
        return found[:, 1:] if values.shape[1] == 1 else found

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays for a model file."""
        return {name: np.array([getattr(self, name)]) for name in ("factor", "exponent", "noise")}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], n_columns: int) -> LengthCalibration:
        """Restore from the result of `to_arrays`; the same for any number of columns."""
        stored = Stored({}, arrays)
        factor = stored.array("factor", (1,), least=0, most=1e100)
        exponent = stored.array("exponent", (1,), least=_EXPONENTS[0], most=_EXPONENTS[1])
        noise = stored.array("noise", (1,), least=0, most=1)
        return cls(float(factor[0]), float(exponent[0]), float(noise[0]))


def fit_length_calibration(scores: Any, lengths: Any, classes: Any) -> LengthCalibration:
    """Fit factor, exponent and noise to held-out scores.

    Parameters
    ----------
    scores : (n, columns) as above
    lengths : (n,) in bytes
    classes : (n,) the right class of every text, from 0

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> lengths, classes = rng.integers(20, 200, 4000), rng.integers(0, 2, 4000)
    >>> scores = (2 * classes - 1) * 0.02 + rng.normal(0, 0.2, 4000) / np.sqrt(lengths)
    >>> found = fit_length_calibration(scores[:, None], lengths, classes)
    >>> found.factor > 0 and 0.5 < found.exponent < 1.5  # the likelihood ratio grows with the length
    True
    """
    from scipy.optimize import minimize

    values = np.asarray(scores, dtype=np.float64)
    if values.shape[1] == 1:
        values = np.hstack([np.zeros_like(values), values])
    logs = np.log(np.maximum(np.asarray(lengths, dtype=np.float64), 1.0))
    n = len(values)
    values = values - values.max(axis=1, keepdims=True)
    middle = float(logs.mean())
    size = max(float(-values.mean()), 1e-300)  # so that the factor is about 1
    right = values[np.arange(n), classes]

    def loss(parameters: Floats) -> tuple[float, Floats]:
        slopes = np.exp(parameters[0] + parameters[1] * (logs - middle)) / size
        noise = math.exp(parameters[2])
        p = np.exp(slopes[:, None] * values)
        total = p.sum(axis=1)
        p_right = np.exp(slopes * right) / total
        q = (1 - noise) * p_right + noise / values.shape[1]
        by_slope = -(1 - noise) * slopes * p_right * (right - (p * values).sum(axis=1) / total) / q
        by_noise = noise * (p_right - 1 / values.shape[1]) / q
        gradient = [by_slope.sum(), (by_slope * (logs - middle)).sum(), by_noise.sum()]
        off = (parameters[1] - _USUAL_EXPONENT) / _SPREAD
        gradient[1] += off / _SPREAD
        return -float(np.log(q).mean()) + off * off / 2 / n, np.array(gradient) / n

    # One text of all might be wrong, even if none is (Laplace's rule).
    least = math.log(1 / (n + 2))
    limits = [(-20.0, 20.0), _EXPONENTS, (least, math.log(0.5))]
    start = np.array([0.0, 0.5, max(math.log(0.01), least)])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=limits).x
    exponent = float(np.clip(found[1], *_EXPONENTS))
    factor = math.exp(float(found[0]) - exponent * middle) / size
    return LengthCalibration(factor, exponent, math.exp(float(found[2])))
