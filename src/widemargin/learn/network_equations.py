"""The equations of a network of radial basis functions, K1 W = O, and what leaving out a document changes.

K1 (n, n + 1) is a symmetric positive semi-definite kernel matrix K with a column of ones at its right; O
(n, labels) holds +1 and -1. The weights W are those that minimize

    |K1 W - O|^2 + lambda |W|^2,

and for lambda = 0 the smallest of all W with the least |K1 W - O| (the limit of lambda -> 0). With N the
inverse of K1 K1' + lambda I, they are W = K1' C with C = N O. In one system of equations,

    [lambda I    K1] [C]   [O]
    [   K1'      -I] [W] = [0].

**Leaving out** document i removes the row i of K1 and also its column i, as the document is a center of the
network: row and column c_i of this system, and row and column w_i. Let T be the inverse of the system, and
T_i its 2 x 2 part at (c_i, w_i). By the formula for the inverse of a partitioned matrix, the solution without
these two is the full one minus T's columns (c_i, w_i) times t = inverse(T_i) (C_i, W_i), and the score of
document i by it is O_i - t_c. Written with

    N_i = [N]_ii,   A_i = [K1' N]_ii,   P_i = [I - K1' N K1]_ii

(T_i has N_i, A_i and -P_i), this is

    t_c = (P_i C_i + A_i W_i) / (P_i N_i + A_i^2),      t_w = -(N_i W_i - A_i C_i) / (P_i N_i + A_i^2).

All of it comes from one singular value decomposition K1 = U S Z', without differences of nearly equal
numbers: N_i sums U_il^2 / (S_l^2 + lambda), A_i sums U_il Z_il S_l / (S_l^2 + lambda), and P_i sums Z_il^2
lambda / (S_l^2 + lambda), where the last column of Z has S_l = 0. If K is regular and lambda = 0, the network
reproduces O, and the usual formula by the diagonal of the hat matrix would be 0/0; here N_i is not 0.

If lambda = 0 and K is singular (equal documents, for example), N has a part that grows like 1 / lambda: the
sum of U_il^2 over S_l = 0. Documents without such a part have finite N_i, A_i and P_i. For the others the
limits are t_c = [U0 U0' O]_i / [U0 U0']_ii and t_w = -(W_i - A_i t_c) / P_i, where U0 are those columns of U.
P_i is not 0 then: U0'K1 = 0 means U0'K = 0 and U0'1 = 0, so (U0, 0) is also in the null space of K1 on the
right.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# A document has a part in the null space if its row of U0 is longer than this; rounding leaves less than
# 1e-12.
_PART = 1e-8


class _Factors(NamedTuple):
    """Functions of the singular values: 1 / (S^2 + lambda), S / (S^2 + lambda), lambda / (S^2 + lambda) with
    a 1 for the last column of Z, and which of the first are infinite (0 is stored)."""

    inverse: Floats
    gain: Floats
    loss: Floats
    infinite: NDArray[np.bool_]


class NetworkEquations:
    """K1 W = O for any O and lambda, by one decomposition of K1.

    Parameters
    ----------
    K : (n, n) symmetric positive semi-definite

    Examples
    --------
    >>> equations = NetworkEquations(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> signs = np.array([[1.0], [-1.0]])
    >>> (equations.weights(signs, 0.0).ravel() + 0.0).round(6).tolist()
    [2.0, -2.0, 0.0]
    >>> equations.left_out(signs, 0.0).ravel().round(6).tolist()
    [-0.75, 0.75]
    """

    def __init__(self, K: Floats) -> None:
        n = len(K)
        self._U, S, Zt = scipy.linalg.svd(np.hstack([K, np.ones((n, 1))]), check_finite=False)
        self._Z = Zt.T
        self._rounding = S[0] * (n + 1) * np.finfo(np.float64).eps
        self._S = np.where(self._rounding < S, S, 0.0)

    def weights(self, signs: Floats, regularization: float) -> Floats:
        """W, (n + 1, labels); the last row holds the intercepts."""
        gain = self._factors(regularization).gain
        W: Floats = self._Z[:, :-1] @ (gain[:, None] * (self._U.T @ signs))
        return W

    def left_out(self, signs: Floats, regularization: float, change: Floats | None = None) -> Floats:
        """The score of every document by the weights without it.

        Parameters
        ----------
        signs : O, (n, labels)
        change : (n, n) if documents are not scored as they were in training, the change of their kernel
            values with all of them
        """
        factors = self._factors(regularization)
        U, Z = self._U, self._Z[: len(signs)]
        own = U.T @ signs
        C = U @ (factors.inverse[:, None] * own)
        W = Z[:, :-1] @ (factors.gain[:, None] * own)
        N = (np.square(U) @ factors.inverse)[:, None]
        A = ((U * Z[:, :-1]) @ factors.gain)[:, None]
        P = (np.square(Z) @ factors.loss)[:, None]
        below = P * N + A * A
        with np.errstate(divide="ignore", invalid="ignore"):  # where the limits below hold
            t_c, t_w = (P * C + A * W) / below, (A * C - N * W) / below
        U0 = U[:, factors.infinite]
        part = np.square(U0).sum(axis=1)
        limits = part > _PART**2
        t_c[limits] = (U0[limits] @ (U0.T @ signs)) / part[limits, None]
        t_w[limits] = (A[limits] * t_c[limits] - W[limits]) / P[limits]
        scores: Floats = signs - t_c
        if change is not None:
            turned = change @ Z
            scores += change @ W
            scores -= ((turned[:, :-1] * U) @ factors.gain)[:, None] * t_c
            scores += ((turned * Z) @ factors.loss)[:, None] * t_w
        return scores

    def _factors(self, regularization: float) -> _Factors:
        squares = np.square(self._S)
        if regularization > self._rounding**2:
            inverse = 1.0 / (squares + regularization)
            infinite = np.zeros(len(squares), dtype=bool)
            loss = regularization * inverse
        else:
            infinite = self._S == 0
            inverse = np.divide(1.0, squares, out=np.zeros_like(squares), where=~infinite)
            loss = infinite.astype(np.float64)
        return _Factors(inverse, self._S * inverse, np.append(loss, 1.0), infinite)
