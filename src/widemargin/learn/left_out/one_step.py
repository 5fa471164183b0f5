"""Leave-one-out scores by one Newton step: the score without an example, as long as nobody changes sides.

When an example t leaves, the support vectors between their bounds ("free") keep their margins, and all others
their alphas, until one of them meets a bound. As far as that goes, the margin of t falls by alpha_t times

    S_t = 1 / (P^-1)_tt - d_t                for a free t,
    S_t = K_tt - k_t' P^-1 k_t               for a t at its upper bound,

with P = K_FF + diag(d) over the free ones, k_t the kernel values between them and t, and d the diagonal of
the squared hinge, 0 for the hinge: the span rule (Chapelle, Vapnik, "Model selection for support vector
machines", NIPS 1999). An unregularized threshold is one more row and column of ones.

One factorization for each label gives all its scores. Exact ones need further steps where somebody does meet
a bound (left_out/solution_path.hpp): on samples of seven collections they are 0.003 to 0.03 away, on average
over the support vectors (benchmarks/left_out_cost.py).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from threadpoolctl import threadpool_limits

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
# The kernel values between some examples and others.
Values = Callable[[Rows, Rows], Floats]

# Free examples of one label, whose matrix takes 200 MB; and for each feature. Where free examples span the
# space, none of the others moves the rule before one of them changes sides, and the step tells nothing.
MOST_FREE, MOST_FOR_A_FEATURE = 5000, 0.5
# Units of work for three free examples; for two and one at its bound; for two rows and a value of a row; for
# a label and a value of the data; and for a label. Fitted to the CPU time of 14 cases of six collections,
# 1,000 to 8,000 documents, where predictions are 0.5 to 1.4 times what it takes.
_FACTORS = (0.006, 0.02, 0.07, 6.0, 1.8e6)
_AT_BOUND = 1e-9
# Relative to the mean of the diagonal: for examples that are equal, or more than there are features.
_RIDGE = 1e-6
_AT_ONCE = 512


def falls(
    values: Values, own: Floats, diagonal: Floats, alpha: Floats, upper: Floats, *, equality: bool
) -> Floats:
    """By how much the margin of every example falls when it leaves, by one step.

    The same on any number of cores: LAPACK gets one, since it sums in another order on two.

    Parameters
    ----------
    values : the kernel, with the square of a bias feature
    own : (n,) the same of each example with itself
    diagonal : (n,) the d of each example
    alpha, upper : (n,) the solution and its upper bounds
    equality : whether there is an unregularized threshold

    Examples
    --------
    >>> x, alpha = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), np.array([1.0, 0.5, 0.0])
    >>> own, none = (x**2).sum(axis=1), np.zeros(3)
    >>> falls(lambda a, b: x[a] @ x[b].T, own, none, alpha, np.ones(3), equality=False).round(2).tolist()
    [0.5, 1.0, 0.0]
    """
    fall = np.zeros(len(alpha))
    is_bound = (alpha > 0) & (alpha >= upper * (1 - _AT_BOUND))
    free, bound = np.flatnonzero((alpha > 0) & ~is_bound), np.flatnonzero(is_bound)
    if not len(free):
        # Without a threshold nothing else moves; an unregularized one has nothing that holds it.
        fall[bound] = np.inf if equality else alpha[bound] * own[bound]
        return fall
    with threadpool_limits(1):
        fall[free], fall[bound] = _spans(values, own, diagonal, free, bound, equality=equality)
    return alpha * fall


def _spans(
    values: Values, own: Floats, diagonal: Floats, free: Rows, bound: Rows, *, equality: bool
) -> tuple[Floats, Floats]:
    """S of the free examples and of those at their upper bounds."""
    # Symmetric, so the transposed view is the same matrix in the order of Fortran.
    P = values(free, free).T
    factor = _factor(P, diagonal[free])
    ones = lapack.dtrtrs(factor, np.ones((len(free), 1)), lower=1)[0] if equality else None
    at_bound = own[bound]
    for first in range(0, len(bound), _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        half = lapack.dtrtrs(factor, values(free, bound[some]), lower=1)[0]
        at_bound[some] -= np.einsum("ij,ij->j", half, half)
        if ones is not None:
            at_bound[some] += (1 - half.T @ ones[:, 0]) ** 2 / float(np.sum(ones**2))
    inverse, _ = lapack.dtrtri(factor, lower=1, overwrite_c=1)
    norms = np.einsum("ij,ij->j", inverse, inverse)
    if ones is not None:
        norms -= (ones[:, 0] @ inverse) ** 2 / float(np.sum(ones**2))
    with np.errstate(divide="ignore"):
        between = 1 / np.maximum(norms, 0.0) - diagonal[free]
    return np.maximum(between, 0.0), np.maximum(at_bound, 0.0)


def clipped(margins: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Margins within what is proven, and how far from the true ones they may be."""
    inside = np.clip(margins, low, high)
    return inside, np.maximum(high - inside, inside - low)


def step_work(
    free: NDArray[np.int64], bound: NDArray[np.int64], n: int, n_values: int, n_features: float
) -> float:
    """What the scores of all labels are predicted to take, in units of :mod:`widemargin._work`.

    Parameters
    ----------
    free, bound : (labels,) how many support vectors are between their bounds, and at the upper one
    n, n_values : rows and values of the data
    n_features : dimensions of the kernel's space

    Examples
    --------
    >>> step_work(np.array([10]), np.array([0]), 100, 500, 1000)
    1803041.0
    """
    if free.max(initial=0) > min(MOST_FREE, MOST_FOR_A_FEATURE * n_features):
        return np.inf
    sizes, row = free.astype(np.float64), n_values / max(n, 1)
    terms = [np.sum(sizes**3), np.sum(sizes**2 * bound), row * np.sum(sizes * (sizes + bound))]
    return float(np.dot([*terms, n_values * len(sizes), len(sizes)], _FACTORS))


def _factor(P: Floats, diagonal: Floats) -> Floats:
    """The lower Cholesky factor of P + diag(d) in the memory of P, with a larger ridge if it needs one."""
    own = P.diagonal() + diagonal
    ridge = _RIDGE * max(float(own.mean()), 1e-300)
    while True:
        np.fill_diagonal(P, own + ridge)
        factor, failed = lapack.dpotrf(P, lower=1, clean=0, overwrite_a=1)
        if not failed:
            break
        # What is above the diagonal is still there.
        above = np.triu(P, 1)
        P = np.asfortranarray(above + above.T)
        ridge *= 10
    for column in range(1, len(factor)):
        factor[:column, column] = 0.0
    return np.asarray(factor)
