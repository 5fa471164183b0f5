"""Xi-alpha estimates of a fitted support vector machine: a bound on its leave-one-out error for free."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import canonical_csr, row_squares
from widemargin.errors import UsageError
from widemargin.labels import Labels
from widemargin.learn.kernels import Kernel
from widemargin.learn.svm.kernel_svm import KernelSVM
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.measure.contingency import Contingency
from widemargin.measure.xi_alpha import Hyperplane, leave_one_out_risk, xi_alpha_table

Floats = NDArray[np.float64]


def xi_alpha_of(learner: LinearSVM | KernelSVM, X: Any, y: Any, *, risk_factor: float | None = None) -> Contingency:
    """The xi-alpha table of every label, see :mod:`widemargin.measure.xi_alpha`.

    A bound for every hyperplane but the biased one, which has to be stable with and without the example.

    Parameters
    ----------
    learner : fitted on `X` and `y`, with whatever weights of examples
    risk_factor : None for the theorem; 1 for the rule of the thesis for biased hyperplanes on text

    Examples
    --------
    >>> X, y = np.array([[3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]]), [1, 1, 0, 0, 0]
    >>> table = xi_alpha_of(LinearSVM(C=0.1).fit(X, y), X, y)
    >>> int(table.true_positive), int(table.false_negative), int(table.false_positive)
    (1, 1, 2)
    """
    risk = risk_of(learner, X, risk_factor=risk_factor)
    signs = Labels.of(y, space=learner.label_space_).signs
    return xi_alpha_table(risk, signs[:, 0] if risk.ndim == 1 else signs)


def risk_of(learner: LinearSVM | KernelSVM, X: Any, *, risk_factor: float | None = None) -> Any:
    """The leave-one-out risk of every training example, in the shape of the learner's `alpha_`."""
    if not isinstance(learner, LinearSVM | KernelSVM):
        raise UsageError(
            f"{type(learner).__name__} has no xi-alpha estimate: that needs the dual variables of a "
            f"LinearSVM or a KernelSVM. Use leave-one-out or cross-validation."
        )
    if not hasattr(learner, "alpha_"):
        raise UsageError(
            "The dual variables are not there: only a learner that was just fitted has them, "
            "not one that was loaded from a file."
        )
    if isinstance(learner, KernelSVM):
        if learner.scheme != "one-vs-rest" and learner.label_space_.kind != "binary":
            raise UsageError(
                f'scheme="{learner.scheme}": a vote over pairs of classes has no xi-alpha estimate. Use '
                f'scheme="one-vs-rest", or leave-one-out.'
            )
        kernel = learner._kernel
        bias_size = float(learner.stabilizer_size)
    else:
        kernel, bias_size = Kernel("linear"), 1.0
    if learner.alpha_.shape[0] != X.shape[0]:
        raise UsageError(
            f"The learner was fitted on {learner.alpha_.shape[0]} examples, and X has {X.shape[0]} rows. "
            f"Pass the matrix that it was fitted on."
        )
    hyperplane: Hyperplane = "unbiased"
    if learner.bias == "unregularized":
        hyperplane = "biased"
    elif learner.bias == "stabilized":
        hyperplane = "stabilized"
    elif isinstance(learner.bias, Real):
        hyperplane, bias_size = "bias-feature", float(learner.bias)
    norms, spread = kernel_range(kernel, X)
    return leave_one_out_risk(
        learner.alpha_,
        learner.xi_,
        norms,
        hyperplane=hyperplane,
        bias_size=bias_size,
        kernel_range=spread,
        risk_factor=risk_factor,
    )


def kernel_range(kernel: Kernel, X: Any) -> tuple[Floats, float]:
    """K(x, x) of every row, and a bound on R_Delta^2 = max K - min K that one pass over the data gives.

    The exact minimum would cost all pairs. Rows without negative values have inner products of at least 0,
    and are never farther apart than at a right angle.

    Examples
    --------
    >>> norms, spread = kernel_range(Kernel("linear"), np.array([[1.0, 0.0], [0.0, 2.0]]))
    >>> norms.tolist(), kernel_range
    ([1.0, 4.0], 4.0)
    >>> kernel_range(Kernel("linear"), np.array([[1.0, 0.0], [0.0, -2.0]]))[1]
    8.0
    """
    if kernel.name == "precomputed":
        gram = np.asarray(X, dtype=np.float64)
        return gram.diagonal().copy(), float(gram.max() - gram.min())
    csr = canonical_csr(X)
    squares = row_squares(csr)
    largest = float(squares.max(initial=0.0))
    least = 0.0 if csr.data.min(initial=0.0) >= 0 else -largest
    if kernel.name == "linear":
        return squares, largest - least
    if kernel.name == "rbf":
        return np.ones(csr.n_rows), 1 - float(np.exp(-kernel.gamma * 2 * (largest - least)))
    if kernel.name == "chi2":
        return np.ones(csr.n_rows), 1.0
    if kernel.name == "sigmoid":
        norms = np.tanh(kernel.gamma * squares + kernel.coef0)
        return norms, float(
            np.tanh(kernel.gamma * largest + kernel.coef0) - np.tanh(kernel.gamma * least + kernel.coef0)
        )
    # A polynomial over an interval: largest at an end, least at an end or where it is 0.
    ends = np.array([kernel.gamma * value + kernel.coef0 for value in (least, largest)])
    norms = (kernel.gamma * squares + kernel.coef0) ** kernel.degree
    powers = ends**kernel.degree
    lowest = 0.0 if ends[0] < 0 < ends[1] and not (powers < 0).any() else powers.min()
    return norms, float(powers.max() - lowest)
