"""Linear support vector machines: all labels of a task in one call (core/linear/dual_cd.hpp)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

import widemargin._core as _core
from widemargin._arrays import Csr, checked_csr, is_sparse
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import (
    AT_LEAST_0,
    COUNT,
    POSITIVE,
    POSITIVE_OR_INFINITE,
    SIZE_OF_BIAS,
    at_least,
    check_declared,
    check_parameters,
    each_of,
    either,
    one_of,
    parameter,
    require_finite,
)
from widemargin._threads import thread_count
from widemargin.errors import UsageError
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.costs import BALANCE, Balance, sample_weights, training_costs, upper_bounds
from widemargin.learn.kernels import Kernel
from widemargin.learn.left_out.machines import LeavesOut
from widemargin.learn.linear_model import LinearModel
from widemargin.learn.linear_problem import linear_problem, train_linear
from widemargin.learn.svm.dual_problem import SMALLEST_TOL, Method, solve_dual
from widemargin.learn.svm.left_out.linear import left_out_linear, linear_cost
from widemargin.progress import watch

# Labels whose weights are dense at a time if the result is sparse.
_LABELS_AT_ONCE = 64


@dataclass(eq=False, repr=False)
class LinearSVM(LeavesOut, LinearModel):
    """Soft-margin linear SVM, one against the rest for several labels.

    Minimizes ``1/2 w.w + sum_i C_i xi_i`` (hinge) or ``sum_i C_i xi_i^2`` (squared hinge) by dual
    coordinate descent, for all labels together on several threads.

    Parameters
    ----------
    C : cost of a margin error; ``numpy.inf`` for the hard margin; a list of finite costs has one for each
        label, in the order of `classes_`
    loss : "hinge" or "squared_hinge"
    bias : size of the constant feature whose weight is the intercept, regularized like the others; None for
        hyperplanes through the origin; "unregularized" for the biased hyperplane of the thesis, solved like a
        :class:`~widemargin.KernelSVM` (hinge loss only)
    class_weight : "balanced" gives the positive and the negative examples of each label the same total
        cost; a dict multiplies the cost of a label's positive examples (binary: of each class)
    balance : positive examples cost ``C (n-/n+)^balance``, by the numbers (or total weights) of the examples
        without and with the label: from 0, the same cost for all, to 1, the same total cost for both sides.
        "auto" is 0.15 for label sets, and 0 for exclusive classes or beside a `class_weight`
    tol : stop when the duality gap is at most `tol` times the objective (``stop="gap"``), or when the
        projected gradients lie within an interval of this length (``stop="gradient"``, as in LIBLINEAR); for
        ``bias="unregularized"`` the largest violation of an optimality condition
    max_iter : maximum number of passes per label
    warm_start : start from the last solution if it has the right shape
    sparse_coef : keep `coef_`, `alpha_` and `xi_` as sparse arrays, for thousands of labels
    random_state : random seed of the order in which examples are visited
    n_jobs : number of threads, None for all cores; the result does not depend on it
    verbose : show a progress bar when stderr is a terminal

    Attributes
    ----------
    coef_ : (labels, features); one row for a binary task
    intercept_ : (labels,)
    alpha_, xi_ : dual variables and slacks of the training examples: (n,) binary, else (n, labels)
    objective_, duality_gap_, n_iter_ : primal objective, duality gap and number of passes, for each label
    label_space_ : the labels and their form
    classes_ : all labels

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0, 1], [1, 1], [3, 0], [4, 1]])
    >>> model = LinearSVM(C=10).fit(X, ["ham", "ham", "spam", "spam"])
    >>> model.predict(np.array([[5, 0], [0, 0]])).tolist()
    ['spam', 'ham']
    """

    C: float | Sequence[float] = parameter(1.0, either(POSITIVE_OR_INFINITE, each_of(POSITIVE)))
    _: KW_ONLY
    loss: Literal["hinge", "squared_hinge"] = parameter("hinge", one_of("hinge", "squared_hinge"))
    bias: float | Literal["unregularized"] | None = parameter(
        1.0, either(SIZE_OF_BIAS, one_of("unregularized"))
    )
    class_weight: Literal["balanced"] | dict[Any, float] | None = None
    balance: Balance = parameter("auto", BALANCE)
    tol: float = parameter(1e-3, AT_LEAST_0)
    stop: Literal["gap", "gradient"] = parameter("gap", one_of("gap", "gradient"))
    max_iter: int = parameter(1000, COUNT)
    warm_start: bool = False
    sparse_coef: bool = False
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: bool = False

    costs_per_label: ClassVar[bool] = True
    _leave_out = left_out_linear
    _left_out_cost = linear_cost

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVM:
        """Train on documents and their labels.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in any form that :mod:`widemargin.labels` accepts
        sample_weight : (n,) factors on the costs of the examples
        """
        self._check_parameters()
        csr = checked_csr(self, X, first=True)
        space, signs = Labels.of(y, csr.n_rows).space_and_signs
        weights = sample_weights(sample_weight, csr.n_rows)
        costs = training_costs(self, space, signs, weights)
        start = self._start(csr.n_rows, space) if self.warm_start else None
        solve = self._solve_biased if isinstance(self.bias, str) else self._solve
        solve(space, csr, signs, costs, weights, start)
        return self

    def path(self, X: Any, y: Any, Cs: Iterable[float], sample_weight: Any = None) -> list[LinearSVM]:
        """One fitted model for each C, each started from the previous solution (best in increasing order).

        Examples
        --------
        >>> import numpy as np
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
        >>> [round(model.objective_, 3) for model in LinearSVM(tol=1e-6).path(X, y, [0.1, 1])]
        [0.38, 3.25]
        """
        models: list[LinearSVM] = []
        for C in Cs:
            model: LinearSVM = clone(self).set_params(C=C)
            if models:
                model.warm_start = True
                model.alpha_ = models[-1].alpha_
                model.label_space_ = models[-1].label_space_
            models.append(model.fit(X, y, sample_weight))
            model.warm_start = self.warm_start
        return models

    def _check_parameters(self) -> None:
        check_declared(self)
        unregularized = isinstance(self.bias, str)
        if unregularized and self.loss != "hinge":
            raise UsageError('bias="unregularized" requires loss="hinge".')
        if np.isinf(float(np.max(self.C))) and self.loss != "hinge":
            raise UsageError('C=inf (the hard margin) requires loss="hinge".')

    def _start(self, n: int, space: LabelSpace) -> Any:
        """The last solution, (labels, n), if there is one for the same labels and number of examples."""
        alpha = getattr(self, "alpha_", None)
        if alpha is None or getattr(self, "label_space_", None) != space:
            return None
        by_label = alpha.T if alpha.ndim == 2 else alpha[None, :]
        return by_label if by_label.shape == (space.n_columns, n) else None

    def _solve(
        self,
        space: LabelSpace,
        csr: Csr,
        signs: NDArray[np.int8],
        costs: tuple[NDArray[np.float64], NDArray[np.float64]],
        weights: NDArray[np.float64],
        start: Any,
    ) -> None:
        n_labels = signs.shape[1]
        options = _core.LinearSvmOptions(
            bias=0.0 if self.bias is None else float(self.bias),
            squared_loss=self.loss == "squared_hinge",
            stop_on_gap=self.stop == "gap",
            tol=float(self.tol),
            max_passes=int(self.max_iter),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )
        labels_done = np.zeros(1, np.int64)
        chunk = _LABELS_AT_ONCE if self.sparse_coef else n_labels
        parts: list[tuple[Any, ...]] = []
        found: list[tuple[NDArray[Any], ...]] = []
        with watch(
            labels_done, "Training", total=n_labels, unit="labels", enabled=None if self.verbose else False
        ):
            for first in range(0, n_labels, chunk):
                some = slice(first, min(first + chunk, n_labels))
                begin = None if start is None else _dense(start[some])
                problem = linear_problem(signs[:, some].T, (costs[0][some], costs[1][some]), weights, begin)
                part = train_linear(csr, problem, options, thread_count(self.n_jobs), labels_done)
                dense = part.coef.T, part.alpha, part.xi
                parts.append(tuple(sp.csr_array(each) for each in dense) if self.sparse_coef else dense)
                found.append((part.intercept, part.objective, part.gap, part.passes, part.converged))
        intercept, objective, gap, passes, converged = map(np.concatenate, zip(*found, strict=True))
        self._keep(space, csr, parts, intercept, objective, gap, passes)
        if not converged.all():
            self._warn(objective, gap, converged)

    def _solve_biased(
        self,
        space: LabelSpace,
        csr: Csr,
        signs: NDArray[np.int8],
        costs: tuple[NDArray[np.float64], NDArray[np.float64]],
        weights: NDArray[np.float64],
        start: Any,
    ) -> None:
        """The hyperplane with an unregularized threshold: OP 11 with its equality constraint."""
        signs = np.ascontiguousarray(signs.T)
        upper = upper_bounds(signs, costs, weights)
        check_parameters(self, tol=at_least(SMALLEST_TOL))
        method = Method(
            tol=float(self.tol),
            working_set=None,
            selection="steepest",
            shrinking=True,
            shrink_history=10,
            shrink_threshold=0.0,
            cache_megabytes=1.0,
            max_iter=min(int(self.max_iter) * csr.n_rows, 2**62),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        begin = None if start is None else _dense(start)
        solution = solve_dual(csr, None, Kernel("linear"), signs, upper, method, equality=True, start=begin)
        signed = solution.alpha * signs
        xi = np.maximum(0.0, 1.0 - signs * (solution.s + solution.intercept[:, None]))
        ww = (signed * solution.s).sum(axis=1)
        objective = 0.5 * ww + (np.where(np.isfinite(upper), upper, 0.0) * xi).sum(axis=1)
        gap = np.maximum(objective - (solution.alpha.sum(axis=1) - 0.5 * ww), 0.0)
        X = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=(csr.n_rows, csr.n_columns))
        coef: Any = X.T @ signed.T
        parts: tuple[Any, Any, Any] = (np.ascontiguousarray(coef).T, solution.alpha, xi)
        if self.sparse_coef:
            parts = (sp.csr_array(parts[0]), sp.csr_array(parts[1]), sp.csr_array(xi))
        self._keep(space, csr, [parts], solution.intercept, objective, gap, solution.iterations)
        if not solution.converged.all():
            self._warn(objective, gap, solution.converged.astype(np.uint8))

    def _keep(
        self,
        space: LabelSpace,
        csr: Csr,
        parts: list[tuple[Any, ...]],
        intercept: NDArray[np.float64],
        objective: NDArray[np.float64],
        gap: NDArray[np.float64],
        passes: NDArray[Any],
    ) -> None:
        if self.sparse_coef:
            coef, alpha, xi = (sp.csr_array(sp.vstack(column)) for column in zip(*parts, strict=True))
        else:
            ((coef, alpha, xi),) = parts
        require_finite(self, csr, coef_=coef, intercept_=intercept, alpha_=alpha, xi_=xi)
        if np.isfinite(float(np.max(self.C))):  # a hard margin that does not exist has an infinite objective
            require_finite(self, csr, objective_=objective, duality_gap_=gap)
        self.label_space_ = space
        self.coef_, self.intercept_ = coef, intercept
        binary = space.kind == "binary"
        self.alpha_, self.xi_ = (_dense(alpha)[0], _dense(xi)[0]) if binary else (alpha.T, xi.T)
        self.objective_: Any = float(objective[0]) if binary else objective
        self.duality_gap_: Any = float(gap[0]) if binary else gap
        self.n_iter_ = int(passes[0]) if binary else passes

    def _warn(
        self, objective: NDArray[np.float64], gap: NDArray[np.float64], converged: NDArray[np.uint8]
    ) -> None:
        names = self.label_space_.column_names[converged == 0].tolist()
        finite = (converged == 0) & np.isfinite(gap)
        worst = float(np.max(gap[finite] / objective[finite], initial=0.0))
        if np.isinf(float(np.max(self.C))):
            cure = "The classes may not be separable: pass a finite C."
        else:
            cure = "Raise max_iter or tol, or lower C."
        warnings.warn(
            f"{len(names)} of {len(converged)} labels ({', '.join(map(repr, names[:3]))}"
            f"{', ...' if len(names) > 3 else ''}) did not converge in {self.max_iter} passes; the largest "
            f"duality gap is {f'{worst:.2g} of the objective' if finite.any() else 'infinite'}. {cure}",
            ConvergenceWarning,
            stacklevel=5,
        )


def _dense(matrix: Any) -> NDArray[np.float64]:
    return np.ascontiguousarray(matrix.toarray() if is_sparse(matrix) else matrix, dtype=np.float64)
