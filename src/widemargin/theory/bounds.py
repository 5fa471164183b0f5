"""Bounds on the error of a trained rule: Theorem 1 of joachims, and those of its sections 5.1 and 5.2.

Theorem 1 and the share of support vectors are about support vector machines, and about expectations over
training sets. The bounds of 5.1 hold with a confidence 1 - eta for a single rule: of Vapnik and Chervonenkis
for the training error of any rule from a class of rules, of Hoeffding for the error on documents that were
held out. Theorems 6 and 8 say how far leave-one-out errors may be from true ones.
"""

from __future__ import annotations

import math

from widemargin.errors import UsageError


def soft_margin_bound(
    squared_norm: float, loss: float, n: int, *, C: float, R2: float, biased: bool = False
) -> float:
    """Theorem 1, with the training set of `n` examples in place of the expectation.

    ::

        (rho R^2/delta^2 + rho C R^2 sum xi) / n        for C >= 1 / (rho R^2)
        (rho R^2/delta^2 + (rho C R^2 + 1) sum xi) / n  for smaller C

    The leave-one-out error is at most this number. The expected error after training on n - 1 examples is at
    most its expectation over training sets of n examples. In (4.4) and (4.13) the factor of the second loss
    is misprinted; this is the one of the proof.

    Parameters
    ----------
    squared_norm : w.w = 1/delta^2; with a bias feature, its weight included
    loss : the sum of all slacks xi
    n : number of training examples
    C : cost of a unit of loss
    R2 : max K - min K over training examples for biased hyperplanes, otherwise max K(x, x)
    biased : whether the threshold is free (rho = 2, for stable hyperplanes), not 0 or a feature (rho = 1)

    Examples
    --------
    >>> soft_margin_bound(0.2331, 0.0, 3958, C=1000, R2=1899.7)
    0.1118...
    """
    if n < 1 or not squared_norm >= 0 or not loss >= 0 or not R2 >= 0 or not C > 0:
        raise UsageError(
            f"squared_norm={squared_norm!r}, loss={loss!r}, n={n!r}, C={C!r}, R2={R2!r}: expected numbers "
            f"that are not negative, and at least one example."
        )
    rho = 2 if biased else 1
    # A hard margin has no loss, whatever its C.
    of_loss = rho * C * R2 * loss if loss else 0.0
    if C * rho * R2 < 1:
        of_loss += loss
    return (rho * R2 * squared_norm + of_loss) / n


def margin_vc_dimension(squared_norm: float, R2: float, n_features: float = math.inf) -> float:
    """Lemma 1: the VC dimension of hyperplanes with a margin, ``min(R^2/delta^2, features) + 1``.

    (3.10) misprints R^2/delta^2. The margin is that of rules fixed before the data is seen, so with the
    margin of a trained rule this is a comparison, not a bound.

    Examples
    --------
    >>> margin_vc_dimension(4.0, 2.5), margin_vc_dimension(4.0, 2.5, 3)
    (11, 4)
    """
    return min(math.floor(R2 * squared_norm), n_features) + 1


def vc_bound(training_error: float, n: int, dimension: float, eta: float = 0.05) -> float:
    """The bound of Vapnik and Chervonenkis: the error with confidence 1 - eta, infinite if n < dimension.

    (5.5), which misprints what (5.4) solves to: ``2 sqrt((d (ln(n/d) + 1) - ln(eta/6)) / (n - 1))``.

    Parameters
    ----------
    training_error : share of wrong training examples
    n : number of training examples
    dimension : VC dimension of the rules to choose from; features + 1 for hyperplanes
    eta : chance that the bound does not hold

    Examples
    --------
    >>> round(vc_bound(0.0, 10_000, 11), 3)
    0.191
    """
    _check(training_error, eta)
    if n < 2 or not dimension >= 1:
        raise UsageError(
            f"n={n!r}, dimension={dimension!r}: expected two examples and a dimension of at least 1."
        )
    if dimension > n:
        return math.inf
    exponent = dimension * (math.log(n / dimension) + 1) - math.log(eta / 6)
    return training_error + 2 * math.sqrt(exponent / (n - 1))


def hoeffding_bound(held_out_error: float, k: int, eta: float = 0.05) -> float:
    """Hoeffding's bound (5.10): the error with confidence 1 - eta, from the error on `k` held-out documents.

    :func:`~widemargin.measure.intervals.clopper_pearson` is exact, and smaller.

    Examples
    --------
    >>> round(hoeffding_bound(0.1, 1000), 3)
    0.143
    """
    _check(held_out_error, eta)
    if k < 1:
        raise UsageError(f"k={k!r}: expected at least one held-out document.")
    return held_out_error + math.sqrt(math.log(2 / eta) / (2 * k))


def support_vector_bound(n_support: int, n: int) -> float:
    """Vapnik's second bound (4.2.1): the share of training examples that are support vectors.

    An example that is none leaves the hyperplane as it is, and on the right side, when it is left out. So the
    leave-one-out error is at most this number, and the expected error after training on n - 1 examples at
    most its expectation. Of biased hyperplanes this is true if they are stable.

    Examples
    --------
    >>> support_vector_bound(1200, 9603)
    0.1249...
    """
    if n < 1 or not 0 <= n_support <= n:
        raise UsageError(f"{n_support!r} support vectors of {n!r} examples: expected at most n, and n >= 1.")
    return n_support / n


def leave_one_out_variance(n: int, disagreement: float) -> float:
    """Theorem 6: a bound on the expected squared distance of leave-one-out error and true error.

    ``1/n + 6 Pr(h_n(x) != h_n-1(x))``, for rules that do not depend on the order of their n examples.

    Parameters
    ----------
    disagreement : the chance that the rules of all examples and of all but one decide a new example
        differently

    Examples
    --------
    >>> round(leave_one_out_variance(1000, 0.0005), 4)
    0.004
    """
    if n < 1 or not 0 <= disagreement <= 1:
        raise UsageError(f"n={n!r}, disagreement={disagreement!r}: expected an example, and a probability.")
    return 1 / n + 6 * disagreement


def leave_one_out_deviation(n: int, dimension: float, eta: float = 0.05) -> float:
    """Theorem 8: how far the leave-one-out error may be from the true error, with confidence 1 - eta.

    For rules with the lowest training error in a class of this VC dimension:
    ``(8 / eta) sqrt((d + 1) (ln(9n/d) + 2) / n)``. It is loose: below 1 only for millions of examples.

    Examples
    --------
    >>> round(leave_one_out_deviation(10_000_000, 1, 0.05), 2)
    0.32
    """
    if n < 1 or not dimension >= 1 or not 0 < eta < 1:
        raise UsageError(
            f"n={n!r}, dimension={dimension!r}, eta={eta!r}: expected an example, a dimension of at least 1 "
            f"and a probability."
        )
    if dimension > n:
        return math.inf
    return 8 / eta * math.sqrt((dimension + 1) * (math.log(9 * n / dimension) + 2) / n)


def _check(error: float, eta: float) -> None:
    if not 0 <= error <= 1:
        raise UsageError(f"An error rate of {error!r}: expected a share between 0 and 1.")
    if not 0 < eta < 1:
        raise UsageError(f"eta={eta!r}: expected a probability between 0 and 1.")
