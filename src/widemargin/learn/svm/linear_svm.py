"""Linear support vector machines: all labels of a task in one call (core/linear/)."""

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
from widemargin._arrays import Csr, checked_csr
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import (
    AT_LEAST_0,
    COUNT,
    POSITIVE,
    POSITIVE_OR_INFINITE,
    SIZE_OF_BIAS,
    check_declared,
    each_of,
    either,
    one_of,
    parameter,
    require_finite,
)
from widemargin._threads import thread_count
from widemargin.errors import UsageError
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.costs import BALANCE, Balance, sample_weights, training_costs
from widemargin.learn.left_out.machines import LeavesOut
from widemargin.learn.linear_model import LinearModel
from widemargin.learn.linear_problem import linear_problem, train_linear
from widemargin.learn.svm.left_out.linear import left_out_linear, linear_cost
from widemargin.learn.svm.linear.l1_penalty import check_l1, l1_start, solve_l1
from widemargin.learn.svm.linear.linear_solution import LinearSolution, dense
from widemargin.learn.svm.linear.multivariate import MULTIVARIATE, check_multivariate, solve_multivariate
from widemargin.learn.svm.linear.unregularized_bias import solve_unregularized
from widemargin.progress import watch

# What a warm start begins at.
_STARTS = ("alpha_", "coef_", "intercept_", "label_space_")
# Labels whose weights are dense at a time if the result is sparse.
_LABELS_AT_ONCE = 64


@dataclass(eq=False, repr=False)
class LinearSVM(LeavesOut, LinearModel):
    """Soft-margin linear SVM, one against the rest for several labels.

    Minimizes ``1/2 w.w + sum_i C_i xi_i`` (hinge) or ``sum_i C_i xi_i^2`` (squared hinge) by dual
    coordinate descent, for all labels together on several threads. ``penalty="l1"`` minimizes
    ``sum_j |w_j| + sum_i C_i xi_i^2`` instead: most weights are zero, so models are small. ``loss="prbep"``
    and ``"f1"`` bound the loss in these measures of all examples together (SVM-perf), one machine per label.

    Parameters
    ----------
    C : cost of a margin error, with "prbep" and "f1" of about one error; ``numpy.inf`` for the hard margin; a
        list of finite costs has one for each label, in the order of `classes_`
    loss : "hinge" or "squared_hinge"; "prbep" or "f1", for the precision/recall breakeven point or F1 of
        every label (no `class_weight`; `balance` does not apply; a `sample_weight` is a number of copies; no
        leave-one-out); "auto" is the hinge, and the squared hinge with ``penalty="l1"``
    penalty : "l2", or "l1" for few weights (squared hinge only; no leave-one-out, estimates are by folds)
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
    sparse_coef : keep `coef_`, `alpha_` and `xi_` as sparse arrays, for thousands of labels; saved models
        store weights without zeros in any case, if that is smaller
    random_state : random seed of the order in which examples are visited
    n_jobs : number of threads, None for all cores; the result does not depend on it
    verbose : show a progress bar when stderr is a terminal

    Attributes
    ----------
    coef_ : (labels, features); one row for a binary task
    intercept_ : (labels,)
    alpha_, xi_ : dual variables and slacks of the training examples: (n,) binary, else (n, labels); only
        with ``penalty="l2"`` and the hinge or its square
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
    loss: Literal["auto", "hinge", "squared_hinge", "prbep", "f1"] = parameter(
        "auto", one_of("auto", "hinge", "squared_hinge", "prbep", "f1")
    )
    penalty: Literal["l2", "l1"] = parameter("l2", one_of("l2", "l1"))
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
        start = self._start(csr, space) if self.warm_start else None
        solve = self._solver()
        found = solve(self, csr, signs, costs, weights, start)
        self._keep(space, csr, found)
        if not found.converged.all():
            self._warn(found)
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
                for name in _STARTS:
                    setattr(model, name, getattr(models[-1], name, None))
            models.append(model.fit(X, y, sample_weight))
            model.warm_start = self.warm_start
        return models

    def _check_parameters(self) -> None:
        check_declared(self)
        if self.loss in MULTIVARIATE:
            check_multivariate(self)
        elif self.penalty == "l1":
            check_l1(self)
        is_hinge = self.penalty == "l2" and self.loss in ("auto", "hinge")
        if isinstance(self.bias, str) and not is_hinge:
            raise UsageError('bias="unregularized" requires loss="hinge".')
        if np.isinf(float(np.max(self.C))) and not is_hinge:
            raise UsageError('C=inf (the hard margin) requires loss="hinge" and penalty="l2".')

    @property
    def no_left_out(self) -> str:
        """Why examples cannot be left out one at a time; without this attribute they can."""
        is_measure = self.loss in MULTIVARIATE
        if self.penalty == "l2" and not is_measure:
            raise AttributeError("no_left_out")
        which = f'loss="{self.loss}"' if is_measure else 'penalty="l1"'
        return (
            f"LinearSVM({which}) has no dual variable for each document, so none can be left out. Use k-fold."
        )

    def _solver(self) -> Any:
        """What finds the solution: a function of the learner, the data, their costs and a start."""
        if self.loss in MULTIVARIATE:
            return solve_multivariate
        if self.penalty == "l1":
            return solve_l1
        return solve_unregularized if isinstance(self.bias, str) else _solve_l2

    def _start(self, csr: Csr, space: LabelSpace) -> Any:
        """The last solution, if there is one for the same labels and number of examples or features."""
        if getattr(self, "label_space_", None) != space:
            return None
        if self.penalty == "l1":
            coef = getattr(self, "coef_", None)
            same = coef is not None and coef.shape == (space.n_columns, csr.n_columns)
            return l1_start(self) if same else None
        alpha = getattr(self, "alpha_", None)
        if alpha is None:
            return None
        by_label = alpha.T if alpha.ndim == 2 else alpha[None, :]
        return by_label if by_label.shape == (space.n_columns, csr.n_rows) else None

    def _keep(self, space: LabelSpace, csr: Csr, found: LinearSolution) -> None:
        require_finite(
            self, csr, coef_=found.coef, intercept_=found.intercept, alpha_=found.alpha, xi_=found.xi
        )
        if np.isfinite(float(np.max(self.C))):  # a hard margin that does not exist has an infinite objective
            require_finite(self, csr, objective_=found.objective, duality_gap_=found.gap)
        self.label_space_ = space
        self.coef_, self.intercept_ = found.coef, found.intercept
        binary = space.kind == "binary"
        for name, values in (("alpha_", found.alpha), ("xi_", found.xi)):
            if values is not None:
                setattr(self, name, dense(values)[0] if binary else values.T)
            elif hasattr(self, name):  # of a fit with other parameters
                delattr(self, name)
        self.objective_: Any = float(found.objective[0]) if binary else found.objective
        self.duality_gap_: Any = float(found.gap[0]) if binary else found.gap
        self.n_iter_ = int(found.passes[0]) if binary else found.passes

    def _warn(self, found: LinearSolution) -> None:
        objective, gap, converged = found.objective, found.gap, found.converged
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
            stacklevel=4,
        )


def _solve_l2(
    learner: LinearSVM,
    csr: Csr,
    signs: NDArray[np.int8],
    costs: tuple[NDArray[np.float64], NDArray[np.float64]],
    weights: NDArray[np.float64],
    start: Any,
) -> LinearSolution:
    """The machines of all labels by dual coordinate descent (core/linear/dual_cd.hpp)."""
    n_labels = signs.shape[1]
    options = _core.LinearSvmOptions(
        bias=0.0 if learner.bias is None else float(learner.bias),
        squared_loss=learner.loss == "squared_hinge",
        stop_on_gap=learner.stop == "gap",
        tol=float(learner.tol),
        max_passes=int(learner.max_iter),
        seed=int(check_random_state(learner.random_state).randint(2**31 - 1)),
    )
    labels_done = np.zeros(1, np.int64)
    chunk = _LABELS_AT_ONCE if learner.sparse_coef else n_labels
    parts: list[tuple[Any, ...]] = []
    found: list[tuple[NDArray[Any], ...]] = []
    with watch(
        labels_done, "Training", total=n_labels, unit="labels", enabled=None if learner.verbose else False
    ):
        for first in range(0, n_labels, chunk):
            some = slice(first, min(first + chunk, n_labels))
            begin = None if start is None else dense(start[some])
            problem = linear_problem(signs[:, some].T, (costs[0][some], costs[1][some]), weights, begin)
            part = train_linear(csr, problem, options, thread_count(learner.n_jobs), labels_done)
            made = part.coef.T, part.alpha, part.xi
            parts.append(tuple(sp.csr_array(each) for each in made) if learner.sparse_coef else made)
            found.append((part.intercept, part.objective, part.gap, part.passes, part.converged))
    if learner.sparse_coef:
        coef, alpha, xi = (sp.csr_array(sp.vstack(column)) for column in zip(*parts, strict=True))
    else:
        ((coef, alpha, xi),) = parts
    joined = LinearSolution(coef, *map(np.concatenate, zip(*found, strict=True)))
    return joined._replace(alpha=alpha, xi=xi)
