"""Kernels exp(-d^power / sigma2) of the dissimilarities, for SVMs (Teytaud and Jalam, section 3).

"chi2" and "cosine" give positive semi-definite kernels: chi2 is negative definite on histograms, and the
exponential of the cosine is a series of kernels. "kl", "kl-all", "ct" and "chi2-asymmetric" are not
symmetric. Here d is the mean of both directions, and the kernel matrix can have negative eigenvalues;
``KernelSVM`` says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr, csr_with_value_check
from widemargin._parameters import POSITIVE
from widemargin.errors import DataError, UsageError
from widemargin.learn.profiles.dissimilarities import DIRECTIONS, Dissimilarity, Profiles

SYMMETRIC = ("chi2", "cosine")
KERNELS = (*SYMMETRIC, "kl", "kl-all", "ct", "chi2-asymmetric")


def profile_kernel(
    X: Any,
    Z: Any = None,
    *,
    dissimilarity: str = "chi2",
    sigma2: float = 1.0,
    power: float = 1.0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """The kernel between rows of counts X and Z, for ``KernelSVM(kernel="precomputed")``.

    Parameters
    ----------
    X : sparse or dense matrix (n, n-grams) of counts
    Z : the training rows, if they are not X
    dissimilarity : {"chi2", "cosine", "kl", "kl-all", "ct", "chi2-asymmetric"}
    sigma2, power : the kernel is exp(-d^power / sigma2)

    Examples
    --------
    >>> from widemargin import KernelSVM
    >>> X, y = np.array([[3, 1, 0], [4, 0, 1], [0, 2, 5], [1, 1, 6]]), ["a", "a", "b", "b"]
    >>> K = profile_kernel(X, dissimilarity="kl")
    >>> KernelSVM(kernel="precomputed").fit(K, y).predict(profile_kernel([[5, 1, 1]], X)).tolist()
    ['a']
    """
    if dissimilarity not in KERNELS:
        raise UsageError(f"dissimilarity={dissimilarity!r}: expected one of {', '.join(KERNELS)}.")
    for name, value in (("sigma2", sigma2), ("power", power)):
        if not POSITIVE.holds(value):
            raise UsageError(f"{name}={value!r}: expected {POSITIVE.words}.")
    rows = _counts(X, "X")
    others = rows if Z is None else _counts(Z, "Z")
    if rows.n_columns != others.n_columns:
        raise DataError(f"X has {rows.n_columns} columns, but Z has {others.n_columns}.")
    directions = DIRECTIONS[:1] if dissimilarity in SYMMETRIC else DIRECTIONS
    found = np.zeros((rows.n_rows, others.n_rows))
    for direction in directions:
        found += Profiles(others, Dissimilarity(dissimilarity, direction)).between(rows, n_jobs)
    np.maximum(found / len(directions), 0.0, out=found)  # rounding may leave less than 0
    kernel: NDArray[np.float64] = np.exp(-(found**power) / sigma2)
    if Z is None:
        kernel = (kernel + kernel.T) / 2  # equal but for rounding
    return kernel


def _counts(X: Any, name: str) -> Csr:
    csr, found = csr_with_value_check(X)
    if found.least < 0:
        raise DataError(f"{name} holds {found.least:g}. Pass counts, which are not negative.")
    if found.n_nonzero < len(csr.data):
        matrix = csr.matrix.copy()
        matrix.eliminate_zeros()
        csr = csr_with_value_check(matrix)[0]
    return csr._replace(data=csr.data.astype(np.float64, copy=False))
