"""Multi-class duals as dense quadratic programs, written out variable by variable and solved by SciPy.

Variables u_im for every example i and every class m other than its own. Maximize
``sum u - 1/2 sum_m w_m.w_m`` with ``alpha_im = -u_im``, ``alpha_iy = sum_m u_im`` and
``w_m = sum_i alpha_im x_i``, where ``0 <= u_im`` and
``sum_m u_im <= C_i`` (Crammer-Singer) or ``u_im <= C_i`` (Weston-Watkins).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import LinearConstraint, minimize


def slacks(scores, y, each_class):
    """xi of every example, from scores (n, classes) and numbers of classes."""
    errors = 1.0 + scores - scores[np.arange(len(y)), y][:, None]
    errors[np.arange(len(y)), y] = 0.0
    return np.maximum(errors, 0).sum(axis=1) if each_class else errors.max(axis=1)


def primal(K, y, alpha, costs, each_class):
    """P of the weights that alpha (n, classes) combines, by the kernel matrix."""
    scores = K @ alpha
    return 0.5 * (alpha * scores).sum() + costs @ slacks(scores, y, each_class)


def dual(K, y, alpha):
    """D of feasible alpha."""
    given = alpha[np.arange(len(y)), y].sum()
    return given - 0.5 * (alpha * (K @ alpha)).sum()


def infeasibility(y, alpha, costs, each_class):
    """By how much alpha breaks a constraint."""
    others = -alpha.copy()
    others[np.arange(len(y)), y] = 0.0
    most = others.max(axis=1) if each_class else others.sum(axis=1)
    return max(-others.min(), (most - costs).max(), np.abs(alpha.sum(axis=1)).max())


def solve(K, y, n_classes, costs, each_class):
    """The optimal alpha, (n, classes), of a small problem."""
    n = len(y)
    pairs = [(i, m) for i in range(n) for m in range(n_classes) if m != y[i]]
    # alpha = A u, one row for each alpha_im.
    A = np.zeros((n * n_classes, len(pairs)))
    for column, (i, m) in enumerate(pairs):
        A[i * n_classes + m, column] = -1.0
        A[i * n_classes + y[i], column] = 1.0
    Q = A.T @ np.kron(K, np.eye(n_classes)) @ A
    upper = np.array([costs[i] for i, _ in pairs])
    constraints = []
    if not each_class:
        sums = np.array([[float(i == row) for i, _ in pairs] for row in range(n)])
        constraints = [LinearConstraint(sums, -np.inf, costs)]
    u = 0.5 * upper / n_classes
    for _ in range(3):  # starting again from an answer costs nothing at this size
        u = minimize(
            lambda u: (0.5 * u @ Q @ u - u.sum(), Q @ u - 1.0),
            u,
            jac=True,
            bounds=[(0.0, cost) for cost in upper],
            constraints=constraints,
            method="SLSQP",
            options={"maxiter": 2000, "ftol": 1e-15},
        ).x
    u = np.clip(u, 0.0, upper)
    return (A @ u).reshape(n, n_classes)
