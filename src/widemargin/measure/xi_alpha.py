"""Xi-alpha estimators: which training examples may be leave-one-out errors, read off the solution.

joachims 5.2. For every example t,

    y_t f_without_t(x_t)  >=  1 - (alpha_t D_t^2 + xi_t),

so an example whose *risk* alpha_t D_t^2 + xi_t is below 1 is classified correctly by the model trained
without it. Counting all others as errors gives an error rate that is at least the leave-one-out error.

The constant. Let V(a) be the best dual value with alpha_t held at a. V is concave, V(0) belongs to the
problem without t, V'(a) = 1 - y_t f_a(x_t), and V''(a) is minus the squared distance between x_t and what
the equality constraint lets the unbounded support vectors put in its place. Hence V'(0) - V'(alpha_t) <=
alpha_t D_t^2 for any D_t that is never less than this distance, while V'(alpha_t) <= xi_t.

- unbiased: nothing takes its place; D_t^2 = K(x_t, x_t).
- bias feature of size B: D_t^2 = K(x_t, x_t) + B^2.
- biased: the affine hull of the unbounded support vectors, no farther away than the farthest example;
  D_t^2 = K(x_t, x_t) + max K - 2 min K, and never more than (||x_t|| + R)^2. Lemma 4 rounds the first up to
  2 R_Delta^2 with R_Delta^2 = max K - min K (shifting the kernel so that min K = 0 changes no distance).
  V' is continuous only while there is an unbounded support vector. With one cost for all examples there is
  one whenever 0 < a < C, so it is enough that the full and the left-out problem are stable; if one of
  them is not, this is not a bound.
- stabilized (OP 5 and 6): one of the two artificial examples, orthogonal to everything, of length kappa and
  without an upper bound, is always there; D_t^2 = K(x_t, x_t) + kappa^2, and the problem is always stable.

Squared hinge: it is the hard margin over K(x_i, x_j) + [i = j] / (2 C_i), in which alpha_t D_t^2 has the
additional alpha_t / (2 C_t), and that is xi_t. The diagonal does not affect the score of a left-out example,
so alpha_t D_t^2 + xi_t holds there as well.

The bounds hold for the exact solution; they weaken with the distance at which a solver stops from it.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import is_sparse
from widemargin.errors import UsageError
from widemargin.measure.contingency import Contingency

Hyperplane = Literal["unbiased", "bias-feature", "biased", "stabilized"]

# An example on the very edge is at risk, however its alpha was rounded.
_ROUNDING = 1e-9


def leave_one_out_risk(
    alpha: Any,
    xi: Any,
    squared_norms: Any,
    *,
    hyperplane: Hyperplane,
    bias_size: float = 1.0,
    kernel_range: float | None = None,
    risk_factor: float | None = None,
) -> Any:
    """The risk of every example, which can be a leave-one-out error only if its risk is at least 1.

    Parameters
    ----------
    alpha, xi : (n,) or (n, labels), arrays or sparse: dual variables and slacks at the solution
    squared_norms : (n,) K(x, x), without a bias feature
    bias_size : the size of the bias feature, or the length kappa of the stabilized hyperplane's examples
    kernel_range : R_Delta^2 = max K - min K over all pairs, or an upper bound: the largest K(x, x) if no K is
        negative, as for bags of words. None means 2 max K(x, x), which is always an upper bound
    risk_factor : None for the constant of the theorem. A number gives Definition 9, ``risk_factor alpha
        R_Delta^2 + xi``, the same for all examples. 1 works well for biased hyperplanes on text (thesis), but
        is not a bound

    Returns
    -------
    as `alpha`: sparse for sparse

    Examples
    --------
    >>> alpha, xi = np.array([0.0, 0.4, 1.0]), np.array([0.0, 0.0, 0.3])
    >>> leave_one_out_risk(alpha, xi, np.ones(3), hyperplane="unbiased").tolist()
    [0.0, 0.4, 1.3]
    >>> leave_one_out_risk(alpha, xi, np.ones(3), hyperplane="biased", kernel_range=1.0).tolist()
    [0.0, 0.8, 2.3]
    """
    norms = np.asarray(squared_norms, dtype=np.float64)
    if norms.shape != alpha.shape[:1] or alpha.shape != xi.shape:
        raise UsageError(
            f"There are {norms.shape} squared norms for alpha of shape {alpha.shape} and xi of {xi.shape}; "
            f"expected one norm per example, and equal shapes."
        )
    largest = float(norms.max(initial=0.0))
    spread = 2 * largest if kernel_range is None else float(kernel_range)
    if hyperplane == "unbiased":
        factors, overall = norms, largest
    elif hyperplane == "bias-feature":
        factors, overall = norms + bias_size**2, largest + bias_size**2
    elif hyperplane == "stabilized":
        # The kernel with the artificial examples in it is 0 between them and all others.
        factors, overall = norms + bias_size**2, max(spread, bias_size**2)
    elif hyperplane == "biased":
        # max K - 2 min K = 2 R_Delta^2 - max K; negative norms are an indefinite kernel's.
        farthest = (np.sqrt(norms.clip(min=0)) + np.sqrt(max(largest, 0.0))) ** 2
        factors, overall = np.minimum(norms + 2 * spread - largest, farthest), spread
    else:
        raise UsageError(
            f'hyperplane={hyperplane!r}: expected "unbiased", "bias-feature", "biased" or "stabilized".'
        )
    if risk_factor is not None:
        factors = np.full(len(norms), risk_factor * overall)
    if is_sparse(alpha):
        import scipy.sparse as sp

        return sp.csr_array(sp.diags_array(factors) @ alpha + xi)
    risk = alpha.T * factors
    risk += xi.T
    return risk.T


def xi_alpha_table(risk: Any, signs: NDArray[Any]) -> Contingency:
    """Contingency tables in which every example at risk counts as an error.

    `error_rate`, `precision`, `recall`, `f_measure` and `precision_recall_average` of them are the xi-alpha
    estimators (Definitions 9 to 13), and `micro` and `macro` their averages. Chapter 5 writes d+- for the
    errors on positive examples, which are the false negatives f-+ of Definition 1.

    Parameters
    ----------
    risk : (n,) or (n, labels), of :func:`leave_one_out_risk`
    signs : of the same shape, positive where an example is in the class

    Examples
    --------
    >>> table = xi_alpha_table(np.array([0.0, 1.2, 0.3, 1.0]), np.array([1, 1, -1, -1]))
    >>> int(table.false_negative), int(table.false_positive)
    (1, 1)
    """
    if risk.shape != signs.shape:
        raise UsageError(f"The risks have shape {risk.shape} and the signs {signs.shape}.")
    positive = (np.asarray(signs) > 0).reshape(len(signs), -1)
    n_labels, n_positive = positive.shape[1], np.count_nonzero(positive, axis=0)
    if is_sparse(risk):
        entries = risk.tocoo()
        at_risk = entries.data >= 1 - _ROUNDING
        columns, rows = entries.col[at_risk], entries.row[at_risk]
    else:
        # One flat search: over two dimensions it takes several times as long.
        by_label = np.ascontiguousarray(np.atleast_2d(risk.T))
        columns, rows = np.divmod(np.flatnonzero(by_label >= 1 - _ROUNDING), by_label.shape[1])
    missing = positive[rows, columns]
    missed = np.bincount(columns[missing], minlength=n_labels)
    wrong = np.bincount(columns[~missing], minlength=n_labels)
    cells = (n_positive - missed, wrong, missed, len(positive) - n_positive - wrong)
    return Contingency(*(cell.reshape(risk.shape[1:]) for cell in cells))
