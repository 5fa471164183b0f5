"""Mistake bounds and margin terms of the Perceptron and the Winnow families (Zhang, sections 2 and 3).

Weights and documents include the constant feature, if there is one. For the Winnow family, weights w of any
sign stand for the positive weights ``max(w, 0)`` and ``max(-w, 0)`` of [x, -x].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin._arrays import is_sparse
from widemargin.errors import DataError, UsageError
from widemargin.labels import Labels

Floats = NDArray[np.float64]


class MistakeBound(NamedTuple):
    """An upper bound on the mistakes of Winnow, and the rate `eta` for it."""

    mistakes: float
    eta: float


@dataclass(frozen=True)
class MarginTerms:
    """The terms of Theorem 3.1 or 3.2, without the unspecified constant and the confidence.

    Attributes
    ----------
    margin : gamma
    below : k / n, the share of documents with a margin below gamma
    size : a, the 2-norm (Theorem 3.1) or the 1-norm (3.2) of the weights
    radius : b, the largest 2-norm or the largest value of a document
    entropy : c, relative to the prior; 0 in Theorem 3.1
    complexity : the term under the root,
        ``b^2 (a^2 + a c) ln(n a b / gamma + 2) / (gamma^2 n)``
    excess : what the theorem adds to `below`
    """

    margin: float
    below: float
    size: float
    radius: float
    entropy: float
    complexity: float

    @property
    def excess(self) -> float:
        """The root of `complexity`, of order 1/sqrt(n); or, if no document is below the margin, `complexity`
        itself, of order 1/n: the bound for separable documents has no root (text after Theorem 3.1)."""
        return self.complexity if self.below == 0 else float(np.sqrt(self.complexity))


def perceptron_mistakes(X: Any, y: Any, weights: Any) -> float:
    """The most mistakes that the Perceptron makes on documents that `weights` separate.

    That is ``(|w| max |x| / min y w.x)^2``; the y is missing in the paper.

    Examples
    --------
    >>> perceptron_mistakes(np.array([[3.0, 0.0], [0.0, 4.0]]), [1, -1], [1.0, -1.0])
    3.5555555555555554
    """
    margins, weights = _margins(X, y, weights)
    return float(weights @ weights) * _largest_norm(X) ** 2 / _smallest(margins) ** 2


def winnow_mistakes(
    X: Any, y: Any, weights: Any, *, start_weight: Any = 1.0, positive: bool = False
) -> MistakeBound:
    """The most mistakes that Winnow makes on documents that `weights` separate, and the rate eta for it.

    Winnow is balanced unless `positive` is true.

    Parameters
    ----------
    X, y : documents (n, features) and signs
    weights : weights that separate them; their scale does not matter
    start_weight : starting weight of Winnow, one number or one per feature

    Examples
    --------
    >>> winnow_mistakes(np.eye(4), [1, 1, 1, -1], [1.0, 1.0, 1.0, -1.0])
    MistakeBound(mistakes=22.18..., eta=0.25)
    """
    margins, weights = _margins(X, y, weights)
    delta, radius = _smallest(margins), _largest_value(X)
    size, entropy = _size_and_entropy(weights, start_weight, positive)
    return MistakeBound(2 * size * entropy * radius**2 / delta**2, delta / (size * radius**2))


def two_norm_terms(X: Any, y: Any, weights: Any, margin: float | None = 1.0) -> MarginTerms:
    """The terms of Theorem 3.1, for rules of small 2-norm (Perceptron and SVM).

    Parameters
    ----------
    X, y : documents (n, features) and signs
    weights : of the rule
    margin : gamma; None for the smallest margin of a document, if the weights separate them

    Examples
    --------
    >>> terms = two_norm_terms(np.eye(2), [1, -1], [2.0, -3.0], margin=None)
    >>> terms.margin, terms.below, terms.excess == terms.complexity
    (2.0, 0.0, True)
    """
    margins, weights = _margins(X, y, weights)
    return _terms(margins, margin, float(np.sqrt(weights @ weights)), _largest_norm(X), 0.0)


def entropy_terms(
    X: Any,
    y: Any,
    weights: Any,
    margin: float | None = 1.0,
    *,
    start_weight: Any = 1.0,
    positive: bool = False,
) -> MarginTerms:
    """The terms of Theorem 3.2, for rules of small 1-norm and entropy (the Winnows).

    Parameters
    ----------
    X, y, weights, margin : as in :func:`two_norm_terms`
    start_weight, positive : as in :func:`winnow_mistakes`
    """
    margins, weights = _margins(X, y, weights)
    size, entropy = _size_and_entropy(weights, start_weight, positive)
    return _terms(margins, margin, size, _largest_value(X), entropy)


def terms_of(learner: Any, X: Any, y: Any, margin: float = 1.0) -> list[tuple[MarginTerms, MarginTerms]]:
    """The terms of both theorems for every label of a trained linear model.

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
    signs = Labels.of(y, space=learner.label_space_).signs
    found = []
    for k, intercept in enumerate(learner.intercept_):
        weights: Any = learner.coef_[[k], :]
        w = np.append(weights.toarray() if is_sparse(weights) else weights, intercept)
        found.append(
            (two_norm_terms(wide, signs[:, k], w, margin), entropy_terms(wide, signs[:, k], w, margin))
        )
    return found


def _terms(margins: Floats, margin: float | None, size: float, radius: float, entropy: float) -> MarginTerms:
    margin = _smallest(margins) if margin is None else margin
    if not margin > 0:
        raise UsageError(f"margin={margin!r}: expected a positive number.")
    n = len(margins)
    logarithm = np.log(n * size * radius / margin + 2)
    complexity = radius**2 * (size**2 + size * entropy) * logarithm / (margin**2 * n)
    below = float(np.count_nonzero(margins < margin)) / n
    return MarginTerms(float(margin), below, size, radius, entropy, float(complexity))


def _margins(X: Any, y: Any, weights: Any) -> tuple[Floats, Floats]:
    weights = np.asarray(weights, dtype=np.float64)
    X = X if is_sparse(X) else np.asarray(X, dtype=np.float64)
    return np.asarray(y, dtype=np.float64) * np.asarray(X @ weights), weights


def _smallest(margins: Floats) -> float:
    smallest = float(margins.min())
    if not smallest > 0:
        raise DataError(
            f"The weights do not separate the documents (the smallest margin is {smallest:.3g}): mistake "
            f"bounds are for separable documents. Use entropy_terms or two_norm_terms with a margin."
        )
    return smallest


def _largest_norm(X: Any) -> float:
    squares: Any = (X.multiply(X) if is_sparse(X) else np.square(X)).sum(axis=1)
    return float(np.sqrt(np.max(squares)))


def _largest_value(X: Any) -> float:
    return float(abs(X).max())


def _size_and_entropy(weights: Floats, start_weight: Any, positive: bool) -> tuple[float, float]:
    """|w|_1 and sum_j w_j ln(w_j |mu|_1 / (mu_j |w|_1)) of the positive weights."""
    prior = np.broadcast_to(np.asarray(start_weight, dtype=np.float64), weights.shape)
    if not (prior > 0).all():
        raise UsageError("start_weight holds a number that is not positive.")
    if positive and (weights < 0).any():
        raise DataError("Some weights are negative. Omit positive=True.")
    if not positive:
        weights = np.concatenate([np.maximum(weights, 0), np.maximum(-weights, 0)])
        prior = np.concatenate([prior, prior])
    size = float(weights.sum())
    used = weights > 0
    ratios = weights[used] * prior.sum() / (prior[used] * size)
    return size, float((weights[used] * np.log(ratios)).sum())
