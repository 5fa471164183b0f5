"""Multi-class support vector machines in one problem (core/multiclass/multiclass_dual.hpp)."""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

import widemargin._core as _core
from widemargin._arrays import Csr, canonical_csr, checked_csr
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import COUNT, POSITIVE, SIZE_OF_BIAS, one_of, parameter, require_finite
from widemargin._threads import thread_count
from widemargin.errors import UsageError
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.costs import class_costs, sample_weights, times_weights
from widemargin.learn.kernel_definiteness import is_semidefinite_by_parameters, warn_of_indefinite
from widemargin.learn.kernels import KERNELS, refused_values
from widemargin.learn.svm.dual_problem import cache_bytes
from widemargin.learn.svm.kernel_model import KernelModel
from widemargin.learn.svm.kernel_svm import KernelSVM
from widemargin.learn.svm.support_vectors import checked_rows
from widemargin.progress import watch_values

Floats = NDArray[np.float64]

# Stack level of the caller of `fit`, so that a warning names its line.
_CALLER = 5


@dataclass(eq=False, repr=False)
class MulticlassSVM(KernelModel):
    """Soft-margin SVM that learns all classes together, instead of each against the rest.

    Minimizes ``1/2 sum_m w_m.w_m + sum_i C_i xi_i`` over one weight vector per class. The error of a class m
    other than the right one, y, is ``1 + (w_m - w_y).x``. In the formulation of Crammer and Singer (2001)
    ``xi_i`` is the largest of these errors, in that of Weston and Watkins (1999) the sum of the positive
    ones. The document on n-gram distributions (teytaud) takes its multi-class machine from Guermeur et al.;
    these two formulations are our reading of it. Thresholds are regularized here, and the margin is 1 in
    both.

    Two classes give the binary SVM with twice the cost. Documents with several labels need a
    :class:`~widemargin.LinearSVM`.

    Parameters
    ----------
    C : cost of a margin error
    formulation : "crammer-singer" or "weston-watkins"
    kernel, gamma, degree, coef0, power : as for :class:`~widemargin.KernelSVM`; "linear" by default
    bias : size of the constant feature whose weights are the intercepts, regularized like the others; None
        for none
    class_weight : "balanced" gives all classes the same total cost; a dict multiplies the cost of errors on
        documents of a class
    tol : stop when the duality gap is at most `tol` times the objective
    cache : megabytes for rows of the kernel matrix
    max_iter : maximum number of passes over the examples that are not yet at their optimum
    random_state : random seed of the order in which examples are visited
    n_jobs : number of threads for kernel values and scores, None for all cores; the result does not depend on
        it
    verbose : show the progress when stderr is a terminal

    Attributes
    ----------
    coef_, intercept_ : (classes, features) and (classes,), one row for two classes; `coef_` for the linear
        kernel only
    alpha_ : (n, classes) dual variables: class m has the weights ``sum_i alpha_[i, m] x_i``
    xi_ : (n,) slacks
    support_ : the examples with dual variables other than 0
    objective_, duality_gap_, n_iter_ : primal objective, duality gap and number of passes
    n_kernel_rows_ : number of computed rows of the kernel matrix; 0 for the linear kernel
    label_space_ : the labels and their form
    classes_ : all labels

    Examples
    --------
    >>> X = np.array([[0, 1], [1, 3], [3, 0], [4, 1], [-3, -2], [-4, -4]])
    >>> model = MulticlassSVM().fit(X, ["news", "news", "mail", "mail", "code", "code"])
    >>> model.predict(np.array([[0, 4], [5, 0], [-2, -3]])).tolist()
    ['news', 'mail', 'code']
    """

    C: float = parameter(1.0, POSITIVE)
    _: KW_ONLY
    formulation: Literal["crammer-singer", "weston-watkins"] = parameter(
        "crammer-singer", one_of("crammer-singer", "weston-watkins")
    )
    kernel: Literal["linear", "poly", "rbf", "sigmoid", "chi2", "precomputed"] = parameter(
        "linear", one_of(*KERNELS)
    )
    power: float = parameter(1.0, POSITIVE)
    bias: float | None = parameter(1.0, SIZE_OF_BIAS)
    cache: float = parameter(200, POSITIVE)
    max_iter: int = parameter(5000, COUNT)

    _of_kernel: ClassVar[tuple[str, ...]] = ("kernel", "gamma", "degree", "coef0", "power")

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MulticlassSVM:
        """Train on documents and their labels.

        Parameters
        ----------
        X : sparse or dense matrix (n, features), or the kernel matrix (n, n)
        y : one label per document
        sample_weight : (n,) factors on the costs of the examples
        """
        self._check_parameters()
        linear = self.kernel == "linear"
        rows = checked_csr(self, X, first=True) if linear else checked_rows(self, X, first=True)
        n = rows.n_rows if isinstance(rows, Csr) else rows.shape[0]
        labels = Labels.of(y, n)
        space, signs = labels.space_and_signs
        if space.kind == "multilabel":
            raise UsageError(
                "A MulticlassSVM requires one class per document, but these may have several labels. Use a "
                "LinearSVM, which decides each label separately (--learner linear-svm)."
            )
        weights = sample_weights(sample_weight, n)
        classes = labels.codes
        per_class = class_costs(self.C, self.class_weight, space, signs, weights)
        costs = times_weights(per_class[classes], weights)
        if linear:
            self._solve_linear(space, rows, classes, costs)
        else:
            self._solve_kernel(space, rows, classes, costs)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Scores of the documents: (n,) for a binary task, otherwise (n, labels)."""
        if self.kernel == "precomputed" and hasattr(self, "machine_"):
            return self.machine_.decision_function(X)
        return super().decision_function(X)

    def _options(self) -> dict[str, Any]:
        """What the core takes for every kernel."""
        return {
            "bias": 0.0 if self.bias is None else float(self.bias),
            "each_class": self.formulation == "weston-watkins",
            "tol": float(self.tol),
            "max_passes": int(self.max_iter),
            "seed": int(check_random_state(self.random_state).randint(2**31 - 1)),
        }

    def _watched(self, results: Any) -> contextlib.AbstractContextManager[None]:
        return watch_values(results.progress, _describe) if self.verbose else contextlib.nullcontext()

    def _solve_linear(self, space: LabelSpace, csr: Csr, classes: NDArray[np.int64], costs: Floats) -> None:
        problem = _core.MulticlassProblem(classes=classes, costs=costs)
        results = _core.LinearClassesResults.zeros(
            examples=csr.n_rows, classes=len(space.classes), columns=csr.n_columns
        )
        with self._watched(results):
            _core.train_linear_classes(
                csr.native(), problem, _core.MulticlassOptions(**self._options()), results
            )
        coef, intercept = results.coef, results.intercept
        if space.kind == "binary":
            coef, intercept = coef[:, 1:] - coef[:, :1], intercept[1:] - intercept[:1]
        require_finite(self, csr, coef_=coef, intercept_=intercept)
        self.label_space_ = space
        self.coef_, self.intercept_ = coef.T, intercept
        self.n_kernel_rows_ = 0
        self._keep(csr, results)

    def _solve_kernel(self, space: LabelSpace, X: Any, classes: NDArray[np.int64], costs: Floats) -> None:
        gram = np.ascontiguousarray(X, dtype=np.float64) if self.kernel == "precomputed" else None
        csr = canonical_csr(sp.csr_array((X.shape[0], 1)) if gram is not None else X)
        options = self._options()
        offset, single = options["bias"] ** 2, False
        if gram is None:
            self._kernel.refuse_overflow(csr, offset)
            single = self._kernel.precision(csr, offset, self.n_jobs) is np.float32
        problem = _core.MulticlassProblem(classes=classes, costs=costs, gram=gram)
        results = _core.KernelClassesResults.zeros(examples=csr.n_rows, classes=len(space.classes))
        method = _core.KernelClassesOptions(
            **options, single_precision=single, cache_bytes=cache_bytes(float(self.cache))
        )
        with self._watched(results), refused_values():
            self.n_kernel_rows_ = _core.train_kernel_classes(
                csr.native(), self._kernel.native(offset), problem, method, results, thread_count(self.n_jobs)
            )
        signed = np.ascontiguousarray(results.alpha.T)
        if space.kind == "binary":
            signed = signed[1:] - signed[:1]
        self.label_space_ = space
        self.intercept_ = offset * signed.sum(axis=1)
        require_finite(self, None if gram is not None else csr, alpha_=signed, intercept_=self.intercept_)
        self._keep(csr, results)
        rows = None
        if gram is None:
            self._set_rule(sp.csr_array(X), signed)
            rows = self.machine_.support_vectors_
        else:
            self._set_precomputed(signed)
        warn_of_indefinite(self._kernel, rows, self.support_, gram, stacklevel=_CALLER)

    def _set_precomputed(self, signed: Floats) -> None:
        machine = self.machine_ = KernelSVM(kernel="precomputed")
        machine.label_space_, machine.n_features_in_ = self.label_space_, self.n_features_in_
        machine.support_, machine.intercept_ = self.support_, self.intercept_
        machine.dual_coef_ = signed[:, self.support_]

    def _keep(self, csr: Csr, results: Any) -> None:
        """The attributes of every kernel, and a warning unless the machine converged."""
        self.alpha_, self.xi_ = results.alpha, results.xi
        self.support_ = np.flatnonzero(self.alpha_.any(axis=1))
        self.objective_, self.duality_gap_ = float(results.objective[0]), float(results.gap[0])
        self.n_iter_ = max(int(results.passes[0]), 1)
        require_finite(
            self, csr, alpha_=self.alpha_, objective_=self.objective_, duality_gap_=self.duality_gap_
        )
        if results.converged[0]:
            return
        cure = "Raise max_iter or tol, or lower C."
        if not is_semidefinite_by_parameters(self._kernel):
            cure += " This kernel may be indefinite, and then there is no global solution to converge to."
        warnings.warn(
            f"MulticlassSVM did not converge in {self.n_iter_} passes; the duality gap is "
            f"{self.duality_gap_ / abs(self.objective_):.2g} of the objective. {cure}",
            ConvergenceWarning,
            stacklevel=_CALLER,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.classifier_tags.multi_label = False
        return tags


def _describe(progress: Floats) -> str:
    gap, active, passes = progress
    return f"duality gap {gap:.3g} of the objective, {int(active):,} active examples, pass {int(passes):,}"
