"""Random samples of features that preserve least-squares solutions: dasgupta 3 and 6.2.

Feature i has a probability p_i and is kept with the chance min(1, r p_i). A kept feature is divided by the
root of that chance, in training and in new documents, so that inner products are unbiased. With A the
features x documents matrix (the transposed X) the probabilities are

- subspace sampling: the squared lengths of the rows of U_k, the top k left singular vectors, over k (22);
- ridge sampling (dasgupta 7): the same over all of U, where direction j has the weight
  sigma_j^2 / (sigma_j^2 + lambda), what the regularization lambda leaves of it;
- weighted sampling: the squared lengths of the rows of A over their sum (23);
- uniform sampling: 1 / n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import canonical_csr, checked_csr, is_sparse, times
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import (
    AT_LEAST_0,
    POSITIVE_OR_INFINITE,
    check_declared,
    one_of,
    parameter,
    require_finite,
)
from widemargin._stored import Stored
from widemargin._threads import thread_count
from widemargin.errors import DataError, UsageError
from widemargin.features.kept_columns import stored_chances, stored_columns
from widemargin.features.svd import COLUMNS_AT_ONCE, EXACT, short_side_vectors

Floats = NDArray[np.float64]


# Singular vectors of large matrices for ridge sampling; the other directions count as equally long.
_TOP = 300
_FEATURES = POSITIVE_OR_INFINITE._replace(words="a positive number of features")


class Subspace(NamedTuple):
    """Squared lengths of the rows of U_k (features,), the singular values, and the rank k."""

    leverages: Floats
    singular_values: Floats
    rank: int


def leverage_scores(X: Any, rank: int | float | None = None, random_state: Any = 0) -> Subspace:
    """The leverage of each feature in the span of the top singular vectors.

    Parameters
    ----------
    X : sparse or dense matrix (documents, features)
    rank : number of singular vectors; a float is the share of the squared Frobenius norm to keep; None means
        the full rank
    random_state : seed of the randomized algorithm that is used for large matrices

    Examples
    --------
    >>> found = leverage_scores(np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 1.0]]), 1)
    >>> found.leverages.round(6).tolist(), found.singular_values.round(4).tolist(), found.rank
    ([1.0, 0.0, 0.0], [3.0, 1.4142], 1)
    """
    if rank is not None and (isinstance(rank, bool) or not isinstance(rank, Real) or not rank > 0):
        raise UsageError(
            f"rank={rank!r}: expected a number of singular vectors, a share of the spectrum, or None."
        )
    if rank is not None and not isinstance(rank, Integral) and float(rank) > 1:
        raise UsageError(f"rank={rank!r}: a share of the spectrum is at most 1.0.")
    A = canonical_csr(X).matrix.astype(np.float64, copy=False)
    values, vectors = short_side_vectors(A, int(rank) if isinstance(rank, Integral) else None, random_state)
    wanted = len(values)
    if isinstance(rank, Integral):
        wanted = min(int(rank), wanted)
    elif rank is not None:
        held = np.cumsum(values**2) / (values**2).sum()
        wanted = min(int(np.searchsorted(held, float(rank) - 1e-12)) + 1, wanted)
    leverages = np.zeros(A.shape[1])
    for _, part in _feature_vectors(A, values, vectors, wanted):
        leverages += np.square(part).sum(axis=1)
    return Subspace(leverages, values, wanted)


def ridge_leverage_scores(
    X: Any, regularization: float, rank: int | None = None, random_state: Any = 0
) -> Floats:
    """The leverage of each feature, of directions as far as the regularization does not cut them off.

    ``sum over j of U_ij^2 sigma_j^2 / (sigma_j^2 + lambda)`` is the diagonal of A (A'A + lambda I)^-1 A'. For
    lambda near 0 it is the leverage, for a large lambda the squared length of the feature over lambda. The
    sum over features is the effective dimension of the regularized problem.

    Parameters
    ----------
    X : sparse or dense matrix (documents, features)
    regularization : lambda
    rank : number of singular vectors. What is outside of them counts as if its directions were equally long.
        None takes all of them if there are at most 1,500 documents or features, and otherwise 300, in a
        fraction of the time.
    random_state : seed of the randomized algorithm that is used for large matrices

    Examples
    --------
    >>> ridge_leverage_scores(np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 1.0]]), 1.0).round(4).tolist()
    [0.9, 0.3333, 0.3333]
    """
    A = canonical_csr(X).matrix.astype(np.float64, copy=False)
    if rank is None and min(A.shape) > EXACT:
        rank = _TOP
    values, vectors = short_side_vectors(A, rank, random_state)
    wanted = len(values) if rank is None else min(rank, len(values))
    found = np.zeros(A.shape[1])
    outside = np.asarray(A.power(2).sum(axis=0)).reshape(-1)
    for some, part in _feature_vectors(A, values, vectors, wanted):
        squares, lengths = np.square(part), np.square(values[some])
        found += squares @ (lengths / (lengths + regularization))
        outside -= squares @ lengths
    if rank is not None and wanted < min(A.shape):
        outside = np.maximum(outside, 0.0)
        found += outside / (outside.sum() / (min(A.shape) - wanted) + regularization)
    return found


def _feature_vectors(
    A: sp.csr_array, values: Floats, vectors: Floats, wanted: int
) -> Iterator[tuple[slice, Floats]]:
    """The first `wanted` columns of U (features, k), some at a time, from the vectors of the shorter side."""
    transposed, n_threads = canonical_csr(A.T), thread_count(None)
    for first in range(0, wanted, COLUMNS_AT_ONCE):
        some = slice(first, min(first + COLUMNS_AT_ONCE, wanted))
        short = vectors[:, some]
        yield some, short if A.shape[0] > A.shape[1] else times(transposed, short / values[some], n_threads)


def weighted_probabilities(X: Any) -> Floats:
    """Probabilities in proportion to the squared lengths of the columns (23)."""
    squares = np.asarray(canonical_csr(X).matrix.astype(np.float64).power(2).sum(axis=0)).reshape(-1)
    total = float(squares.sum())
    if total == 0:
        raise DataError("Every feature is 0 in every document: there is nothing to sample.")
    return np.asarray(squares / total)


def keep_probabilities(probabilities: Floats, rate: float) -> Floats:
    """The chance of each feature to be kept: min(1, rate p_i).

    Examples
    --------
    >>> keep_probabilities(np.array([0.75, 0.25]), 2).tolist()
    [1.0, 0.5]
    """
    return np.asarray(np.minimum(1.0, rate * probabilities))


def rate_for(probabilities: Floats, expected: float) -> float:
    """The rate that keeps `expected` features on average; infinite if there are no more.

    Examples
    --------
    >>> round(rate_for(np.array([0.75, 0.25]), 1.5), 6)
    2.0
    """
    positive = np.sort(probabilities[probabilities > 0])[::-1]
    if expected >= len(positive):
        return np.inf
    # If the m most likely features are certain, the rate is (expected - m) / (probability of the others).
    left = expected - np.arange(len(positive))
    rest = np.cumsum(positive[::-1])[::-1]
    rates = left / rest
    return float(rates[np.flatnonzero(rates * positive <= 1)[0]])


def hellinger_distance(first: Floats, second: Floats) -> float:
    """The Hellinger distance sqrt(sum (sqrt p_i - sqrt q_i)^2) of two distributions (dasgupta 6.3.2).

    Examples
    --------
    >>> hellinger_distance(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    1.4142135623730951
    """
    return float(np.linalg.norm(np.sqrt(first) - np.sqrt(second)))


@dataclass(eq=False, repr=False)
class SampleFeatures(SelectorMixin, BaseEstimator):
    """Keep a random sample of the features, rescaled so that inner products are unbiased.

    Parameters
    ----------
    n_features : upper bound on the expected number of kept features; a large number keeps all
    sampling : "subspace", "ridge", "weighted" or "uniform"
    rank : for subspace sampling, the number of singular vectors; a float is the share of the squared
        Frobenius norm to keep; None means the full rank
    regularization : for ridge sampling, the lambda of the least squares to come
    random_state : random seed

    Attributes
    ----------
    probabilities_ : (features,) the sampling distribution
    keep_probabilities_ : (features,) the probability that each feature is kept
    expected_, n_kept_ : expected and actual number of kept features
    rank_ : number of singular vectors used, or None

    Examples
    --------
    >>> X = np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]])
    >>> sample = SampleFeatures(100).fit(X)
    >>> sample.n_kept_, sample.transform(X).tolist()
    (3, [[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]])
    """

    n_features: int = parameter(1000, _FEATURES)
    _: KW_ONLY
    sampling: Literal["subspace", "ridge", "weighted", "uniform"] = parameter(
        "subspace", one_of("subspace", "ridge", "weighted", "uniform")
    )
    rank: int | float | None = None
    regularization: float = parameter(1.0, AT_LEAST_0)
    random_state: Any = 0

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the probabilities and draw the sample; `y` is ignored."""
        self._check_parameters()
        if self.rank is not None and self.sampling != "subspace":
            raise UsageError(f"rank={self.rank!r} applies only to subspace sampling. Omit it.")
        csr = checked_csr(self, X, first=True)
        X = csr.matrix
        random = check_random_state(self.random_state)
        self.rank_: int | None = None
        if self.sampling == "subspace":
            found = leverage_scores(X, self.rank, random)
            self.probabilities_, self.rank_ = (
                found.leverages / found.leverages.sum(),
                found.rank,
            )
        elif self.sampling == "ridge":
            ridge = ridge_leverage_scores(X, self.regularization, random_state=random)
            self.probabilities_ = ridge / ridge.sum()
        elif self.sampling == "weighted":
            self.probabilities_ = weighted_probabilities(X)
        else:
            self.probabilities_ = np.full(X.shape[1], 1 / X.shape[1])
        require_finite(self, csr, probabilities_=self.probabilities_)
        return self.draw(random)

    def draw(self, random_state: Any) -> Self:
        """Draw another sample from the same probabilities."""
        check_is_fitted(self, "probabilities_")
        chances = keep_probabilities(self.probabilities_, float(self.n_features))
        kept = check_random_state(random_state).random_sample(len(chances)) < chances
        if not kept.any():
            raise DataError(
                f"None of {len(kept)} features was kept; {chances.sum():.3g} were expected. Raise n_features."
            )
        self.keep_probabilities_, self._kept = chances, kept
        self.expected_, self.n_kept_ = float(chances.sum()), int(kept.sum())
        return self

    @property
    def factors(self) -> Floats:
        """The factor on each kept feature."""
        check_is_fitted(self, "keep_probabilities_")
        return np.asarray(1 / np.sqrt(self.keep_probabilities_[self._kept]))

    def transform(self, X: Any) -> Any:
        """The kept features, each divided by the root of its chance."""
        X = checked_csr(self, X, first=False).matrix if is_sparse(X) else X
        return _scaled(super().transform(X), self.factors)

    def inverse_transform(self, X: Any) -> Any:
        """The kept features in their original columns and scale; all others are 0."""
        return X @ self._places(1 / self.factors)

    def spread(self, coef: Floats) -> sp.csr_array:
        """Turn weights (labels, kept features) of sampled documents into weights of the original
        documents."""
        return sp.csr_array(sp.csr_array(coef) @ self._places(self.factors))

    def _places(self, factors: Floats) -> sp.csr_array:
        """A matrix (kept features, features) that restores the original columns, times `factors`."""
        columns = np.flatnonzero(self._kept)
        shape = len(columns), self.n_features_in_
        return sp.csr_array((factors, (np.arange(len(columns)), columns)), shape=shape)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "keep_probabilities_")
        return np.asarray(self._kept)

    def _check_parameters(self) -> None:
        check_declared(self)

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state for :meth:`from_state`: a configuration for JSON, and arrays."""
        check_is_fitted(self, "keep_probabilities_")
        kept = np.flatnonzero(self._kept)
        config = {
            "parameters": self.get_params(),
            "n_features": self.n_features_in_,
            "expected": self.expected_,
            "rank": self.rank_,
        }
        return config, {
            "columns": kept.astype(np.int32),
            "scores": self.probabilities_[kept],
            "chances": self.keep_probabilities_[kept],
        }

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """A fitted sample from the result of `get_state`; the probabilities of dropped features are
        unknown."""
        stored = Stored(config, arrays)
        self: Self = stored.estimator(cls)
        self.n_features_in_, columns = stored_columns(stored)
        self.expected_ = stored.number("expected", least=0)
        self.rank_ = None if stored.value("rank") is None else stored.integer("rank")
        scores = stored.array("scores", columns.shape, least=0, most=1)
        chances = stored_chances(stored, columns)
        self._kept = np.zeros(self.n_features_in_, dtype=bool)
        self._kept[columns] = True
        self.probabilities_ = np.full(self.n_features_in_, np.nan)
        self.keep_probabilities_ = np.full(self.n_features_in_, np.nan)
        self.probabilities_[columns], self.keep_probabilities_[columns] = scores, chances
        self.n_kept_ = len(columns)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.non_deterministic = False
        return tags


def _scaled(X: Any, factors: Floats) -> Any:
    if is_sparse(X):
        return sp.csr_array(X.multiply(factors[None, :].astype(X.dtype)))
    return X * factors.astype(X.dtype) if X.dtype.kind == "f" else X * factors
