"""Support vector machines with any kernel, by SVM-light's decomposition (core/kernel/decomposition.hpp)."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from widemargin._arrays import Csr, canonical_csr, checked_matrix
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import require_finite
from widemargin._stored import Stored
from widemargin.decide.votes import class_scores, pairs
from widemargin.errors import DataError, UsageError
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.costs import label_costs, sample_weights, times_weights, upper_bounds
from widemargin.learn.kernels import Kernel
from widemargin.learn.svm.dual_problem import DualSolution, solve_dual
from widemargin.learn.svm.kernel_method import check_machine, method_of
from widemargin.learn.svm.kernel_warnings import warn_of_indefinite_kernel, warn_of_violation

Floats = NDArray[np.float64]

# Kernel values between new documents and support vectors that are in memory at one time.
_VALUES_AT_ONCE = 8_000_000
_ROUNDING = 1e-12
# Support vectors that a rule from a file has to score.
_ROWS_TRIED = 10


class KernelSVM(ClassifierMixin, BaseEstimator):
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
    class_weight : as for :class:`~widemargin.LinearSVM`
    scheme : "one-vs-rest", or a machine for every pair of classes with a majority vote ("votes") or in the
        order of a decision DAG ("dag")
    tol : by how much an optimality condition (8.32)-(8.34) may be violated, at least 1e-12
    working_set : variables in a step (q); None chooses
    selection : "steepest" feasible direction, "second-order" (pairs), "random" replacement; "auto" chooses
    shrinking : leave out examples whose multipliers were positive for long
    shrink_history, shrink_threshold : for how many iterations (h; None chooses), and by how much
    cache : megabytes for rows of the kernel matrix; when all rows fit, all labels share them. Leave-one-out
        keeps as much, and at most as much again for the paths along which examples leave
    max_iter : most iterations of one label. An iteration that takes many steps inside its working set counts
        as several. Training also ends, with a warning, when double precision leaves nothing to gain
    warm_start : start from the last solution when it fits the new data
    random_state, n_jobs, verbose : as for :class:`~widemargin.LinearSVM`

    Attributes
    ----------
    alpha_, xi_, bounded_ : dual variables, slacks, and who is at the upper bound: (n,) for a binary task,
        otherwise (n, columns)
    support_, support_vectors_, dual_coef_ : examples that support any column, their rows, y * alpha of them
        (columns, supports)
    intercept_ : (columns,)
    coef_ : (columns, features), for the linear kernel only
    n_support_, objective_, duality_gap_, margin_, stable_, violation_, n_iter_ : of each column: support
        vectors, primal objective, its distance from the dual one, 1 / ||w||, whether there is an unbounded
        support vector, what is left of (8.32)-(8.34), iterations
    R2_ : the largest K(x, x)
    n_kernel_rows_ : rows of the kernel matrix that were computed

    Examples
    --------
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), ["same", "same", "other", "other"]
    >>> model = KernelSVM(C=10, kernel="rbf", gamma=1.0).fit(X, y)
    >>> model.predict(X).tolist()
    ['same', 'same', 'other', 'other']
    """

    label_space_: LabelSpace
    alpha_: Any
    intercept_: Floats

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Literal["linear", "poly", "rbf", "sigmoid", "chi2", "precomputed"] = "rbf",
        gamma: float = 0.1,
        degree: float = 3,
        coef0: float = 1.0,
        power: float = 1.0,
        bias: float | Literal["unregularized", "stabilized"] | None = "unregularized",
        stabilizer_size: float = 1.0,
        class_weight: Literal["balanced"] | dict[Any, float] | None = None,
        scheme: Literal["one-vs-rest", "votes", "dag"] = "one-vs-rest",
        tol: float = 1e-3,
        working_set: int | None = None,
        selection: Literal["auto", "steepest", "second-order", "random"] = "auto",
        shrinking: bool = True,
        shrink_history: int | None = None,
        shrink_threshold: float = 0.0,
        cache: float = 200,
        max_iter: int = 10_000_000,
        warm_start: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.power = power
        self.bias = bias
        self.stabilizer_size = stabilizer_size
        self.class_weight = class_weight
        self.scheme = scheme
        self.tol = tol
        self.working_set = working_set
        self.selection = selection
        self.shrinking = shrinking
        self.shrink_history = shrink_history
        self.shrink_threshold = shrink_threshold
        self.cache = cache
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def classes_(self) -> NDArray[Any]:
        """All labels, sorted."""
        check_is_fitted(self, "label_space_")
        return self.label_space_.classes

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelSVM:
        """Learn from documents and their labels.

        Parameters
        ----------
        X : sparse or dense matrix (n, features), or the kernel matrix (n, n)
        y : labels in any form that :mod:`widemargin.labels` takes
        sample_weight : (n,) factors on the costs of the examples
        """
        start = getattr(self, "alpha_", None) if self.warm_start else None
        self._fit_together([self], X, y, sample_weight, start)
        return self

    def path(self, X: Any, y: Any, Cs: Iterable[float], sample_weight: Any = None) -> list[KernelSVM]:
        """One fitted machine for each C, all over the same rows of the kernel matrix.

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
        """Fit machines that differ in C only, sharing what the kernel costs."""
        if not machines:
            raise UsageError("There is no C to fit. Pass at least one.")
        for machine in machines:
            check_machine(machine)
            method = method_of(machine)
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
                warn_of_violation(machine, part)
            warn_of_indefinite_kernel(machine, gram)

    def decision_function(self, X: Any) -> Floats:
        """Scores: (n,) for a binary task, otherwise (n, labels).

        In a pairwise scheme they are :func:`~widemargin.decide.votes.class_scores` of `machine_scores`.
        """
        scores = self.machine_scores(X)
        if self.label_space_.kind == "binary":
            return scores[:, 0]
        if self.scheme == "one-vs-rest":
            return scores
        return class_scores(scores, len(self.classes_), self.scheme)

    def machine_scores(self, X: Any) -> Floats:
        """What every machine says, (n, columns): a column a label, or a pair of classes."""
        check_is_fitted(self, "label_space_")
        X = self._validate(X, reset=False)
        if self.kernel == "precomputed":
            scores = np.asarray(X, dtype=np.float64)[:, self.support_] @ self.dual_coef_.T
        elif self.kernel == "linear":
            scores = np.asarray(X @ self.coef_.T)
        else:
            self._kernel.refuse_overflow(canonical_csr(X))
            supports = canonical_csr(self.support_vectors_)
            rows = max(_VALUES_AT_ONCE // max(supports.n_rows, 1), 1)
            parts = [
                self._kernel.between(canonical_csr(X[first : first + rows]), supports, self.n_jobs)
                @ self.dual_coef_.T
                for first in range(0, X.shape[0], rows)
            ]
            scores = np.vstack(parts)
        result: Floats = scores + self.intercept_
        require_finite(self, None, scores=result)
        return result

    def predict(self, X: Any) -> Any:
        """Labels of the documents, in the form in which `fit` got them."""
        scores = self.decision_function(X)
        return self.label_space_.decide(scores)

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What is needed to score and to decide: a configuration for JSON, and arrays."""
        check_is_fitted(self, "label_space_")
        if self.kernel == "precomputed":
            raise UsageError("A machine on a precomputed kernel has no documents to save.")
        config = {
            "parameters": self.get_params(),
            "labels": self.label_space_.to_dict(),
            "n_features": self.n_features_in_,
        }
        supports = canonical_csr(self.support_vectors_)
        arrays = {
            "dual_coef": self.dual_coef_,
            "intercept": self.intercept_,
            "support_data": supports.data,
            "support_indices": supports.indices,
            "support_indptr": supports.indptr,
        }
        return config, arrays

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> KernelSVM:
        """The fitted learner that `get_state` described, without what only training needs."""
        stored = Stored(config, arrays)
        learner: KernelSVM = stored.estimator(cls)
        if learner.kernel == "precomputed":
            raise DataError("'parameters.kernel' in manifest.json is 'precomputed', which has no documents")
        space = learner.label_space_ = LabelSpace.from_dict(stored.value("labels"))
        n_columns = space.n_columns
        if learner.scheme != "one-vs-rest" and space.kind == "multiclass":
            n_columns = len(pairs(len(space.classes)))
        learner.n_features_in_ = stored.integer("n_features")
        learner.dual_coef_ = stored.array("dual_coef", (n_columns, None))
        learner.intercept_ = stored.array("intercept", (n_columns,))
        shape = (learner.dual_coef_.shape[1], learner.n_features_in_)
        learner.support_vectors_ = stored.csr("support", shape, np.float32, np.float64).matrix
        if learner.kernel == "chi2":
            stored.array("support_data", (None,), np.float32, np.float64, least=0)
        if learner.kernel == "linear":
            stored.check_room("n_features", learner.n_features_in_, n_columns)
        learner._set_coef()
        learner._check_scores()
        return learner

    def _check_scores(self) -> None:
        """Refuse a rule from a file that does not even score its own support vectors."""
        rows = self.support_vectors_[:_ROWS_TRIED]
        if rows.shape[0]:
            with np.errstate(over="ignore", invalid="ignore"):
                scores = self.machine_scores(rows)
            if not np.isfinite(scores).all():
                raise DataError(
                    f"'parameters' in manifest.json and the support vectors in arrays.safetensors give "
                    f"scores that are not finite (kernel {self.kernel})"
                )

    def _check_parameters(self) -> None:
        check_machine(self)

    @property
    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, self.gamma, self.degree, self.coef0, self.power)

    def _validate(self, X: Any, reset: bool) -> Any:
        if self.kernel == "precomputed":
            X = validate_data(self, X, dtype=np.float64, reset=reset)
            if reset and X.shape[0] != X.shape[1]:
                raise DataError(f"The kernel matrix has shape {X.shape}; expected as many columns as rows.")
            return X
        X = checked_matrix(self, X, first=reset)
        if self.kernel == "chi2" and X.min() < 0:
            raise DataError("The chi2 kernel takes counts or frequencies: there are negative values in X.")
        return X

    def _columns(
        self, space: LabelSpace, signs: NDArray[np.int8], weights: Floats
    ) -> tuple[NDArray[np.int8], Floats]:
        """The signs and the upper bounds of every machine, (columns, n)."""
        positive, negative = label_costs(self.C, self.class_weight, space, signs, weights)
        by_label = np.ascontiguousarray(signs.T)
        if self.scheme == "one-vs-rest" or space.kind == "binary":
            upper = upper_bounds(by_label, (positive, negative), weights)
        else:
            if space.kind == "multilabel":
                raise UsageError(
                    f'scheme="{self.scheme}" tells classes apart, and these documents may have several '
                    f'labels. Use scheme="one-vs-rest".'
                )
            own_cost = np.where(by_label > 0, positive[:, None], 0.0)
            pairwise = pairs(len(space.classes))
            # Who belongs to neither class of a pair has the upper bound 0 and takes no part.
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
        # What a rounded sum keeps from its bound is at the bound.
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
        for name, table in (("alpha_", alpha), ("xi_", xi), ("bounded_", bounded)):
            setattr(self, name, table[0].copy() if binary else table.T)

    def _set_coef(self) -> None:
        if self.kernel == "linear":
            weights = sp.csr_array(self.dual_coef_) @ self.support_vectors_.astype(np.float64)
            # Features x columns in memory, as documents are scored.
            self.coef_ = np.ascontiguousarray(weights.toarray().T).T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.positive_only = self.kernel == "chi2"
        tags.classifier_tags.multi_label = self.scheme == "one-vs-rest"
        return tags
