"""Mistake bounds and margin terms of the Perceptron and the Winnow families (Zhang, sections 2 and 3).

Weights and documents include the constant feature, if there is one. A rule with negative weights stands, for
the Winnow family, for the positive weights ``max(w, 0)`` and ``max(-w, 0)`` of [x, -x].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin._arrays import is_sparse
from widemargin.errors import DataError, UsageError

Floats = NDArray[np.float64]


class MistakeBound(NamedTuple):
    """The most mistakes that Winnow makes with the rate `eta`."""

    mistakes: float
    eta: float


@dataclass(frozen=True)
class MarginTerms:
    """What Theorem 3.1 or 3.2 adds up, without its unspecified constant and its confidence.

    Attributes
    ----------
    margin : gamma
    below : k / n, the share of the documents whose margin is less than gamma
    size : a, the 2-norm (Theorem 3.1) or the 1-norm (3.2) of the weights
    radius : b, the largest 2-norm or the largest value of a document
    entropy : c, relative to the prior; 0 in Theorem 3.1
    complexity : what stands under the root beside the constant,
        ``b^2 (a^2 + a c) ln(n a b / gamma + 2) / (gamma^2 n)``
    """

    margin: float
    below: float
    size: float
    radius: float
    entropy: float
    complexity: float


def perceptron_mistakes(X: Any, y: Any, w: Any) -> float:
    """The most mistakes of the Perceptron on documents that `w` separates: ``(|w| max |x| / min y w.x)^2``.

    The print of the paper lacks the y.

    Examples
    --------
    >>> perceptron_mistakes(np.array([[3.0, 0.0], [0.0, 4.0]]), [1, -1], [1.0, -1.0])
    3.5555555555555554
    """
    margins, w = _margins(X, y, w)
    return float(w @ w) * _largest_norm(X) ** 2 / _smallest(margins) ** 2


def winnow_mistakes(X: Any, y: Any, w: Any, *, mu: Any = 1.0, positive: bool = False) -> MistakeBound:
    """The most mistakes of Winnow (balanced unless `positive`) on documents that `w` separates, and its eta.

    Parameters
    ----------
    X, y : documents (n, features) and signs
    w : weights that separate them; their scale does not matter
    mu : what the weights of Winnow start with, a number or one for each feature

    Examples
    --------
    >>> winnow_mistakes(np.eye(4), [1, 1, 1, -1], [1.0, 1.0, 1.0, -1.0])
    MistakeBound(mistakes=22.18..., eta=0.25)
    """
    margins, w = _margins(X, y, w)
    delta, radius = _smallest(margins), _largest_value(X)
    size, entropy = _size_and_entropy(w, mu, positive)
    return MistakeBound(2 * size * entropy * radius**2 / delta**2, delta / (size * radius**2))


def two_norm_terms(X: Any, y: Any, w: Any, margin: float = 1.0) -> MarginTerms:
    """The terms of Theorem 3.1, for rules of small 2-norm (Perceptron and SVM)."""
    margins, w = _margins(X, y, w)
    return _terms(margins, margin, float(np.sqrt(w @ w)), _largest_norm(X), 0.0)


def entropy_terms(
    X: Any, y: Any, w: Any, margin: float = 1.0, *, mu: Any = 1.0, positive: bool = False
) -> MarginTerms:
    """The terms of Theorem 3.2, for rules of small 1-norm and entropy (the Winnows)."""
    margins, w = _margins(X, y, w)
    size, entropy = _size_and_entropy(w, mu, positive)
    return _terms(margins, margin, size, _largest_value(X), entropy)


def terms_of(learner: Any, X: Any, y: Any, margin: float = 1.0) -> list[tuple[MarginTerms, MarginTerms]]:
    """Both theorems' terms for every label of a trained linear rule.

    Parameters
    ----------
    learner : with `coef_`, `intercept_` and `label_space_`; the intercept counts as the weight of a constant
        feature of size 1, and the prior as even
    X, y : documents and labels as in training

    Examples
    --------
    >>> from widemargin.learn.online.large_margin_winnow import LargeMarginWinnow
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1]]), [0, 0, 1]
    >>> two, one = terms_of(LargeMarginWinnow(C=10).fit(X, y), X, y, margin=0.9)[0]
    >>> two.below, one.size > two.size
    (0.0, True)
    """
    ones: Any = np.ones((X.shape[0], 1))
    wide: Any = sp.hstack([sp.csr_array(X), ones], format="csr") if is_sparse(X) else np.hstack([X, ones])
    signs = learner.label_space_.encode(y)
    found = []
    for k, intercept in enumerate(learner.intercept_):
        weights: Any = learner.coef_[[k], :]
        w = np.append(weights.toarray() if is_sparse(weights) else weights, intercept)
        found.append(
            (two_norm_terms(wide, signs[:, k], w, margin), entropy_terms(wide, signs[:, k], w, margin))
        )
    return found


def _terms(margins: Floats, margin: float, size: float, radius: float, entropy: float) -> MarginTerms:
    if not margin > 0:
        raise UsageError(f"margin={margin!r}: expected a positive number.")
    n = len(margins)
    logarithm = np.log(n * size * radius / margin + 2)
    complexity = radius**2 * (size**2 + size * entropy) * logarithm / (margin**2 * n)
    below = float(np.count_nonzero(margins < margin)) / n
    return MarginTerms(float(margin), below, size, radius, entropy, float(complexity))


def _margins(X: Any, y: Any, w: Any) -> tuple[Floats, Floats]:
    w = np.asarray(w, dtype=np.float64)
    X = X if is_sparse(X) else np.asarray(X, dtype=np.float64)
    return np.asarray(y, dtype=np.float64) * np.asarray(X @ w), w


def _smallest(margins: Floats) -> float:
    smallest = float(margins.min())
    if not smallest > 0:
        raise DataError(
            f"The weights do not separate the documents (the smallest margin is {smallest:.3g}): mistake "
            f"bounds are for separable documents. Use entropy_terms or two_norm_terms."
        )
    return smallest


def _largest_norm(X: Any) -> float:
    squares: Any = (X.multiply(X) if is_sparse(X) else np.square(X)).sum(axis=1)
    return float(np.sqrt(np.max(squares)))


def _largest_value(X: Any) -> float:
    return float(abs(X).max())


def _size_and_entropy(w: Floats, mu: Any, positive: bool) -> tuple[float, float]:
    """|w|_1 and sum_j w_j ln(w_j |mu|_1 / (mu_j |w|_1)) of the positive weights."""
    prior = np.broadcast_to(np.asarray(mu, dtype=np.float64), w.shape)
    if not (prior > 0).all():
        raise UsageError("mu holds a number that is not positive: every weight starts with something.")
    if positive and (w < 0).any():
        raise DataError("Some weights are negative: leave out positive=True.")
    if not positive:
        w, prior = np.concatenate([np.maximum(w, 0), np.maximum(-w, 0)]), np.concatenate([prior, prior])
    size = float(w.sum())
    used = w > 0
    ratios = w[used] * prior.sum() / (prior[used] * size)
    return size, float((w[used] * np.log(ratios)).sum())
