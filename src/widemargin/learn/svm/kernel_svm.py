"""Support vector machines with any kernel, by SVM-light's decomposition (core/kernel/decomposition.hpp)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from widemargin._arrays import Csr, canonical_csr
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import (
    AT_LEAST_0,
    COUNT,
    POSITIVE,
    POSITIVE_OR_INFINITE,
    SIZE_OF_BIAS,
    Expected,
    either,
    one_of,
    or_none,
    parameter,
)
from widemargin.decide.votes import pairs
from widemargin.errors import UsageError
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.costs import (
    BALANCE,
    Balance,
    sample_weights,
    times_weights,
    training_costs,
    upper_bounds,
)
from widemargin.learn.kernel_definiteness import is_semidefinite_by_parameters, warn_of_indefinite
from widemargin.learn.kernels import KERNELS
from widemargin.learn.left_out.machines import LeavesOut
from widemargin.learn.svm.dual_problem import MOST_ITERATIONS, DualSolution, Method, solve_dual
from widemargin.learn.svm.left_out.kernel import left_out_kernel
from widemargin.learn.svm.support_vectors import SupportVectorModel

Floats = NDArray[np.float64]

_ROUNDING = 1e-12
_WORKING_SET = Expected(
    "an integer from 2 (a step needs two variables) to 2**63", lambda value: COUNT.holds(value) and value >= 2
)
# Stack level of the caller of `fit`, so that a warning names its line.
_CALLER = 5


@dataclass(eq=False, repr=False)
class KernelSVM(LeavesOut, SupportVectorModel):
    """Soft-margin support vector machine with a kernel.

    Solves the dual (thesis, OP 4, 6 and 7) for all labels over shared rows of the kernel matrix.

    Parameters
    ----------
    C : cost of a margin error; ``numpy.inf`` for the hard margin
    kernel : "linear", "poly" ``(gamma x.z + coef0)^degree``, "rbf" ``exp(-gamma |x - z|^2)``, "sigmoid"
        ``tanh(gamma x.z + coef0)``, "chi2" ``exp(-gamma chi2(x, z)^power)`` with ``chi2 = 2 sum (x - z)^2 /
        (x + z)`` for data without negative values, or "precomputed": X is the kernel matrix
    gamma, degree, coef0, power : parameters of the kernels
    bias : "unregularized" for the biased hyperplane of the thesis; None for hyperplanes through the origin; a
        positive number for a bias feature of that size; "stabilized" for OP 5 and 6, which always have an
        unbounded support vector
    stabilizer_size : length of the two artificial examples of the stabilized hyperplane
    class_weight, balance : as for :class:`~widemargin.LinearSVM`
    scheme : "one-vs-rest", or one machine per pair of classes with a majority vote ("votes") or a decision
        DAG ("dag")
    tol : largest violation of an optimality condition (8.32)-(8.34), at least 1e-12
    working_set : variables per step (q); None chooses
    selection : "steepest" feasible direction, "second-order" (pairs), "random" replacement; "auto" chooses
    shrinking : remove examples that stay at a bound
    shrink_history, shrink_threshold : for this many iterations (h; None chooses), by more than this
    cache : megabytes for rows of the kernel matrix; if all rows fit, all labels share them. Leave-one-out
        uses up to twice as much
    max_iter : maximum number of iterations per label; an iteration with many steps inside its working set
        counts as several. Training also ends, with a warning, if rounding prevents further progress
    warm_start : start from the last solution if it has the right shape
    random_state, n_jobs, verbose : as for :class:`~widemargin.LinearSVM`

    Attributes
    ----------
    alpha_, xi_, bounded_ : dual variables, slacks, and whether an example is at its upper bound: (n,) for a
        binary task, otherwise (n, columns)
    selections_ : how often each example was in a working set, in the same shape
    support_, support_vectors_, dual_coef_ : support vectors of any column, their rows, and y * alpha
        (columns, supports)
    intercept_ : (columns,)
    coef_ : (columns, features), for the linear kernel only
    n_support_, objective_, duality_gap_, margin_, stable_, violation_, n_iter_ : for each column: number of
        support vectors, primal objective, duality gap, 1 / ||w||, whether there is an unbounded support
        vector, largest violation of (8.32)-(8.34), iterations
    R2_ : the largest K(x, x)
    n_kernel_rows_ : number of computed rows of the kernel matrix

    Examples
    --------
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), ["same", "same", "other", "other"]
    >>> model = KernelSVM(C=10, kernel="rbf", gamma=1.0).fit(X, y)
    >>> model.predict(X).tolist()
    ['same', 'same', 'other', 'other']
    """

    C: float = parameter(1.0, POSITIVE_OR_INFINITE)
    _: KW_ONLY
    kernel: Literal["linear", "poly", "rbf", "sigmoid", "chi2", "precomputed"] = parameter(
        "rbf", one_of(*KERNELS)
    )
    power: float = parameter(1.0, POSITIVE)
    bias: float | Literal["unregularized", "stabilized"] | None = parameter(
        "unregularized", either(SIZE_OF_BIAS, one_of("unregularized", "stabilized"))
    )
    stabilizer_size: float = parameter(1.0, POSITIVE)
    balance: Balance = parameter("auto", BALANCE)
    scheme: Literal["one-vs-rest", "votes", "dag"] = parameter(
        "one-vs-rest", one_of("one-vs-rest", "votes", "dag")
    )
    working_set: int | None = parameter(None, or_none(_WORKING_SET))
    selection: Literal["auto", "steepest", "second-order", "random"] = parameter(
        "auto", one_of("auto", "steepest", "second-order", "random")
    )
    shrinking: bool = True
    shrink_history: int | None = parameter(None, or_none(COUNT))
    shrink_threshold: float = parameter(0.0, AT_LEAST_0)
    cache: float = parameter(200, POSITIVE)
    max_iter: int = parameter(10_000_000, COUNT)
    warm_start: bool = False

    _leave_out = left_out_kernel

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelSVM:
        """Train on documents and their labels.

        Parameters
        ----------
        X : sparse or dense matrix (n, features), or the kernel matrix (n, n)
        y : labels in any form that :mod:`widemargin.labels` accepts
        sample_weight : (n,) factors on the costs of the examples
        """
        start = getattr(self, "alpha_", None) if self.warm_start else None
        self._fit_together([self], X, y, sample_weight, start)
        return self

    def path(self, X: Any, y: Any, Cs: Iterable[float], sample_weight: Any = None) -> list[KernelSVM]:
        """One fitted model for each C; all share the rows of the kernel matrix.

        Examples
        --------
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
        >>> [machine.C for machine in KernelSVM().path(X, y, [0.1, 1.0])]
        [0.1, 1.0]
        """
        machines: list[KernelSVM] = [clone(self).set_params(C=C) for C in Cs]
        self._fit_together(machines, X, y, sample_weight, None)
        return machines

    def _fit_together(
        self, machines: list[KernelSVM], X: Any, y: Any, sample_weight: Any, start: Any
    ) -> None:
        """Fit models that differ only in C, with shared kernel values."""
        if not machines:
            raise UsageError("There is no C to fit. Pass at least one.")
        for machine in machines:
            machine._check_parameters()
            method = _method_of(machine)
            valid = machine._validate(X, reset=True)
        X = valid
        space, signs = Labels.of(y, X.shape[0]).space_and_signs
        weights = sample_weights(sample_weight, X.shape[0])
        columns = [machine._columns(space, signs, weights) for machine in machines]
        gram = np.ascontiguousarray(X, dtype=np.float64) if self.kernel == "precomputed" else None
        csr = canonical_csr(sp.csr_array((X.shape[0], 1)) if gram is not None else X)
        n_columns = len(columns[0][0])
        solution = solve_dual(
            csr,
            gram,
            self._kernel,
            np.vstack([part for part, _ in columns]),
            np.vstack([part for _, part in columns]),
            method,
            equality=isinstance(self.bias, str),
            offset=float(self.bias) ** 2 if isinstance(self.bias, Real) else 0.0,
            kappa=float(self.stabilizer_size) if self.bias == "stabilized" else 0.0,
            start=self._start(start, columns[0][0].shape, space),
        )
        for k, machine in enumerate(machines):
            part = solution.of(slice(k * n_columns, (k + 1) * n_columns))
            machine.label_space_ = space
            machine._keep(X, csr, gram, *columns[k], part)
            if not part.converged.all():
                _warn_of_violation(machine, part)
            rows = None if gram is not None else machine.support_vectors_
            warn_of_indefinite(machine._kernel, rows, machine.support_, gram, stacklevel=_CALLER)

    def _columns(
        self, space: LabelSpace, signs: NDArray[np.int8], weights: Floats
    ) -> tuple[NDArray[np.int8], Floats]:
        """The signs and the upper bounds of every machine, (columns, n)."""
        positive, negative = training_costs(self, space, signs, weights)
        by_label = np.ascontiguousarray(signs.T)
        if self.scheme == "one-vs-rest" or space.kind == "binary":
            upper = upper_bounds(by_label, (positive, negative), weights)
        else:
            if space.kind == "multilabel":
                raise UsageError(
                    f'scheme="{self.scheme}" requires one class per document, but these may have several '
                    f'labels. Use scheme="one-vs-rest".'
                )
            own_cost = np.where(by_label > 0, positive[:, None], 0.0)
            pairwise = pairs(len(space.classes))
            # Examples of neither class of a pair have the upper bound 0.
            upper = times_weights(np.stack([own_cost[a] + own_cost[b] for a, b in pairwise]), weights)
            by_label = np.stack([by_label[b] for _, b in pairwise])
        return np.ascontiguousarray(by_label), np.ascontiguousarray(upper, dtype=np.float64)

    def _start(self, alpha: Any, shape: tuple[int, ...], space: LabelSpace) -> Floats | None:
        """The last solution, (columns, n), if there is one for the same labels and number of examples."""
        if alpha is None or getattr(self, "label_space_", None) != space:
            return None
        by_column = np.ascontiguousarray(np.atleast_2d(alpha.T))
        return by_column if by_column.shape == shape else None

    def _keep(
        self,
        X: Any,
        csr: Csr,
        gram: Floats | None,
        signs: NDArray[np.int8],
        upper: Floats,
        solution: DualSolution,
    ) -> None:
        alpha, y = solution.alpha, signs.astype(np.float64)
        signed = alpha * y
        b = solution.intercept
        if isinstance(self.bias, Real):
            b = float(self.bias) ** 2 * signed.sum(axis=1)
        takes_part = upper > 0
        margins = y * (solution.s + (solution.intercept[:, None] if isinstance(self.bias, str) else 0.0))
        xi = np.where(takes_part, np.maximum(0.0, 1.0 - margins), 0.0)
        artificial = solution.artificial
        ww = (signed * solution.s).sum(axis=1) + float(self.stabilizer_size) ** 2 * (artificial**2).sum(
            axis=1
        )
        loss = np.where(np.isfinite(upper), upper, 0.0) * xi
        objective = 0.5 * ww + loss.sum(axis=1)
        dual = alpha.sum(axis=1) + artificial.sum(axis=1) - 0.5 * ww
        self.support_ = np.flatnonzero((alpha > 0).any(axis=0))
        self.dual_coef_ = signed[:, self.support_]
        self.intercept_ = b
        self.n_kernel_rows_ = solution.kernel_rows
        if gram is None:
            norms = np.zeros(csr.n_rows)
            np.add.at(
                norms, np.repeat(np.arange(csr.n_rows), np.diff(csr.indptr)), csr.data.astype(float) ** 2
            )
            self.R2_ = self._kernel.largest(norms)
            self.support_vectors_ = sp.csr_array(X)[self.support_]
            self._set_coef()
        else:
            self.R2_ = float(gram.diagonal().max(initial=0.0))
        # Tolerance for rounding at the bound.
        bounded = takes_part & (alpha >= upper * (1 - _ROUNDING))
        unbounded = (alpha > upper.clip(max=1.0) * _ROUNDING) & ~bounded
        per_column = {
            "n_support_": np.count_nonzero(alpha > 0, axis=1),
            "objective_": objective,
            "duality_gap_": np.maximum(objective - dual, 0.0),
            "margin_": 1.0 / np.sqrt(np.maximum(ww, np.finfo(float).tiny)),
            "stable_": unbounded.any(axis=1) | (self.bias == "stabilized"),
            "violation_": solution.violation,
            "n_iter_": np.maximum(solution.iterations, 1),
        }
        binary = self.label_space_.kind == "binary"
        for name, values in per_column.items():
            setattr(self, name, values[0].item() if binary else values)
        tables = {"alpha_": alpha, "xi_": xi, "bounded_": bounded, "selections_": solution.selections}
        for name, table in tables.items():
            setattr(self, name, table[0].copy() if binary else table.T)


def _method_of(machine: KernelSVM) -> Method:
    """How the dual problem is solved; defaults depend on the kernel."""
    linear = machine.kernel == "linear"
    selection = machine.selection
    if selection == "auto":
        pairs_only = not linear and machine.working_set in (None, 2) and isinstance(machine.bias, str)
        selection = "second-order" if pairs_only else "steepest"
    if selection == "second-order" and machine.working_set not in (None, 2):
        raise UsageError(
            f'selection="second-order" moves pairs: working_set={machine.working_set} must be 2.'
        )
    default_size = 2 if selection == "second-order" else (None if linear else 10)
    default_history = 10 if linear else (1000 if selection == "second-order" else 100)
    return Method(
        tol=float(machine.tol),
        working_set=default_size if machine.working_set is None else int(machine.working_set),
        selection=selection,
        shrinking=bool(machine.shrinking),
        shrink_history=min(int(machine.shrink_history or default_history), MOST_ITERATIONS),
        shrink_threshold=float(machine.shrink_threshold),
        cache_megabytes=float(machine.cache),
        max_iter=int(machine.max_iter),
        seed=int(check_random_state(machine.random_state).randint(2**31 - 1)),
        n_jobs=machine.n_jobs,
        verbose=bool(machine.verbose),
    )


def _warn_of_violation(machine: KernelSVM, solution: DualSolution) -> None:
    """Warn that some machines did not converge."""
    cure = "Raise max_iter or tol, or lower C."
    if np.isinf(machine.C):
        cure = "The classes may not be separable: pass a finite C."
    elif not is_semidefinite_by_parameters(machine._kernel):
        cure += " This kernel may be indefinite, and then there is no global solution to converge to."
    worst = float(solution.violation[~solution.converged].max())
    failed = np.count_nonzero(~solution.converged)
    warnings.warn(
        f"{failed} of {len(solution.converged)} machines did not converge; the largest "
        f"violation of an optimality condition is {worst:.2g}. {cure}",
        ConvergenceWarning,
        stacklevel=_CALLER,
    )
