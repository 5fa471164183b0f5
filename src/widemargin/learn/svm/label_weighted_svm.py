"""Linear SVMs in which every label weights the terms for itself (core/linear/label_weighted.hpp)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
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
    PROBABILITY,
    SIZE_OF_BIAS,
    each_of,
    either,
    parameter,
    require_finite,
)
from widemargin._stored import Stored
from widemargin._threads import thread_count
from widemargin.features.label_factors import squared_factors
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.costs import BALANCE, Balance, sample_weights, training_costs
from widemargin.learn.label_model import Arrays, RowModel, State
from widemargin.learn.linear_model import coef_arrays
from widemargin.learn.linear_problem import linear_problem
from widemargin.learn.svm.label_weights import LabelWeights
from widemargin.progress import watch

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class LabelWeightedSVM(RowModel, LabelWeights):
    """Linear SVM, one against the rest, whose labels see terms by how well these separate their documents.

    Every label multiplies each term by a factor that follows from its bi-normal separation
    (:mod:`widemargin.features.label_factors`) and scales documents to length 1 again. On the result it is a
    :class:`~widemargin.LinearSVM` with the hinge loss: ``1/2 w.w + sum_i C_i xi_i``. All labels are trained
    together from one matrix. Better for label sets with rare labels, where a few terms tell most; worse for
    exclusive classes.

    Parameters
    ----------
    C : cost of a margin error; ``numpy.inf`` for the hard margin; a list of finite costs has one for each
        label, in the order of `classes_`
    mix : share of the separation in the factors, from 0, a LinearSVM on documents of length 1, to 1
    bias : size of the constant feature whose weight is the intercept; it has no factor and is regularized
        like the others; None for hyperplanes through the origin
    class_weight, balance : as for :class:`~widemargin.LinearSVM`
    tol : stop when the duality gap is at most `tol` times the objective
    max_iter : maximum number of passes per label
    warm_start : start from the last solution if it has the right shape
    random_state : random seed of the order in which examples are visited
    n_jobs : number of threads, None for all cores; the result does not depend on it
    verbose : show a progress bar when stderr is a terminal

    Attributes
    ----------
    term_weights_ : v, (labels, features); one row for a binary task. The score of a document x is
        ``sum_j x_j v_j / sqrt(sum_j x_j^2 f_j^2) + b``
    squared_factors_ : f^2, (labels, features)
    intercept_ : b, (labels,)
    alpha_, xi_ : dual variables and slacks of the training examples: (n,) binary, else (n, labels)
    objective_, duality_gap_, n_iter_ : primal objective, duality gap and number of passes, for each label
    label_space_ : the labels and their form
    classes_ : all labels

    Examples
    --------
    >>> X = np.array([[0, 1, 1], [0, 1, 0], [3, 0, 1], [4, 1, 0]])
    >>> model = LabelWeightedSVM(C=10).fit(X, ["ham", "ham", "spam", "spam"])
    >>> model.predict(np.array([[5, 0, 1], [0, 1, 1]])).tolist()
    ['spam', 'ham']
    >>> np.sqrt(model.squared_factors_).round(2)
    array([[1.3, 1. , 0.7]], dtype=float32)
    """

    C: float | Sequence[float] = parameter(1.0, either(POSITIVE_OR_INFINITE, each_of(POSITIVE)))
    _: KW_ONLY
    mix: float = parameter(0.3, PROBABILITY)
    bias: float | None = parameter(1.0, SIZE_OF_BIAS)
    class_weight: Literal["balanced"] | dict[Any, float] | None = None
    balance: Balance = parameter("auto", BALANCE)
    tol: float = parameter(1e-3, AT_LEAST_0)
    max_iter: int = parameter(1000, COUNT)
    warm_start: bool = False
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: bool = False

    costs_per_label: ClassVar[bool] = True
    no_left_out: ClassVar[str] = (
        "The factors of a LabelWeightedSVM are made of the labels of all documents, also of the one that is "
        "left out. Use k-fold, which makes them again in every fold."
    )

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LabelWeightedSVM:
        """Train on documents and their labels.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in any form that :mod:`widemargin.labels` accepts
        sample_weight : (n,) factors on the costs of the examples, and how often each counts in the rates of
            terms
        """
        self._check_parameters()
        csr = checked_csr(self, X, first=True)
        space, signs = Labels.of(y, csr.n_rows).space_and_signs
        weights = sample_weights(sample_weight, csr.n_rows)
        costs = training_costs(self, space, signs, weights)
        start = self._start(csr.n_rows, space) if self.warm_start else None
        options = _core.LinearSvmOptions(
            bias=0.0 if self.bias is None else float(self.bias),
            squared_loss=False,
            stop_on_gap=True,
            tol=float(self.tol),
            max_passes=int(self.max_iter),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )
        n_labels, n_threads = signs.shape[1], thread_count(self.n_jobs)
        factors = squared_factors(csr, signs, weights, float(self.mix), self.n_jobs)
        found = _core.LinearSvmResults.zeros(labels=n_labels, examples=csr.n_rows, columns=csr.n_columns)
        shown = None if self.verbose else False
        with watch(found.labels_done, "Training", total=n_labels, unit="labels", enabled=shown):
            problem = linear_problem(signs.T, costs, weights, start)
            _core.train_label_weighted_svm(csr.native(), problem, factors, options, found, n_threads)
        self._keep(space, csr, factors, found)
        if not found.converged.all():
            self._warn(found)
        return self

    def get_state(self) -> State:
        """The state for prediction: a configuration for JSON, and arrays."""
        config = self._described() | {"sparse_coef": False}
        arrays: Arrays = {
            "intercept": self.intercept_,
            "squared_factors": np.ascontiguousarray(self.squared_factors_.T),
            **coef_arrays(self.term_weights_),
        }
        return config, arrays

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        """A fitted learner from the result of `get_state`, without its dual variables."""
        stored = Stored(config, arrays)
        learner: Self = stored.estimator(cls)
        learner._read_weights(stored)
        return learner

    def _start(self, n: int, space: LabelSpace) -> Floats | None:
        """The last solution, (labels, n), if there is one for the same labels and number of examples."""
        alpha = getattr(self, "alpha_", None)
        if alpha is None or getattr(self, "label_space_", None) != space:
            return None
        by_label = np.ascontiguousarray(alpha.T if alpha.ndim == 2 else alpha[None, :])
        return by_label if by_label.shape == (space.n_columns, n) else None

    def _keep(
        self, space: LabelSpace, csr: Csr, factors: NDArray[np.float32], found: _core.LinearSvmResults
    ) -> None:
        v, alpha, xi = found.coef.T, found.alpha, found.xi
        require_finite(self, csr, term_weights_=v, intercept_=found.intercept, alpha_=alpha, xi_=xi)
        if np.isfinite(float(np.max(self.C))):  # a hard margin that does not exist has an infinite objective
            require_finite(self, csr, objective_=found.objective, duality_gap_=found.gap)
        self.label_space_ = space
        self.term_weights_, self.squared_factors_, self.intercept_ = v, factors.T, found.intercept
        binary = space.kind == "binary"
        self.alpha_: Floats = alpha[0] if binary else alpha.T
        self.xi_: Floats = xi[0] if binary else xi.T
        self.objective_: Any = float(found.objective[0]) if binary else found.objective
        self.duality_gap_: Any = float(found.gap[0]) if binary else found.gap
        self.n_iter_ = int(found.passes[0]) if binary else found.passes

    def _warn(self, found: _core.LinearSvmResults) -> None:
        names = self.label_space_.column_names[found.converged == 0].tolist()
        finite = (found.converged == 0) & np.isfinite(found.gap)
        worst = float(np.max(found.gap[finite] / found.objective[finite], initial=0.0))
        cure = "Raise max_iter or tol, or lower C."
        if np.isinf(float(np.max(self.C))):
            cure = "The classes may not be separable: pass a finite C."
        warnings.warn(
            f"{len(names)} of {len(found.converged)} labels ({', '.join(map(repr, names[:3]))}"
            f"{', ...' if len(names) > 3 else ''}) did not converge in {self.max_iter} passes; the largest "
            f"duality gap is {f'{worst:.2g} of the objective' if finite.any() else 'infinite'}. {cure}",
            ConvergenceWarning,
            stacklevel=4,
        )
