"""Models that score by a kernel and support vectors: scoring, deciding, saving and loading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from widemargin._arrays import canonical_csr, checked_matrix
from widemargin._parameters import FINITE, POSITIVE, at_least, parameter, require_finite
from widemargin._stored import Stored
from widemargin.decide.votes import class_scores, pairs
from widemargin.errors import DataError, UsageError
from widemargin.learn.kernel_rows import kernel_scores, refuse_negative, row_arrays
from widemargin.learn.kernels import Kernel
from widemargin.learn.label_model import Arrays, LabelModel, State
from widemargin.learn.svm.dual_problem import SMALLEST_TOL

Floats = NDArray[np.float64]

# Support vectors that a model from a file is tested on.
_ROWS_TRIED = 10


@dataclass(eq=False, repr=False, kw_only=True)
class KernelParameters:
    """The parameters of every learner with a kernel, as in :class:`~widemargin.KernelSVM`."""

    gamma: float = parameter(0.1, POSITIVE)
    degree: float = parameter(3, POSITIVE)
    coef0: float = parameter(1.0, FINITE)
    class_weight: Literal["balanced"] | dict[Any, float] | None = None
    tol: float = parameter(1e-3, at_least(SMALLEST_TOL))
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: bool = False


class SupportVectorModel(KernelParameters, LabelModel):
    """Base class of kernel machines.

    Subclasses set `label_space_`, `n_features_in_`, `support_vectors_`, `dual_coef_` and `intercept_`, then
    call `_set_coef`.
    """

    intercept_: Floats
    dual_coef_: Floats
    support_: NDArray[np.intp]
    support_vectors_: Any
    coef_: Any
    kernel: Literal["linear", "poly", "rbf", "sigmoid", "chi2", "precomputed"]
    power: float
    scheme: Literal["one-vs-rest", "votes", "dag"]

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
        """Scores of every binary machine, (n, columns): one column per label, or per pair of classes."""
        check_is_fitted(self, "label_space_")
        X = self._validate(X, reset=False)
        if self.kernel == "precomputed":
            scores = np.asarray(X, dtype=np.float64)[:, self.support_] @ self.dual_coef_.T
        elif self.kernel == "linear":
            scores = np.asarray(X @ self.coef_.T)
        else:
            self._kernel.refuse_overflow(canonical_csr(X))
            scores = kernel_scores(self._kernel, X, self.support_vectors_, self.dual_coef_, self.n_jobs)
        result: Floats = scores + self.intercept_
        require_finite(self, None, scores=result)
        return result

    def get_state(self) -> State:
        """The state for prediction: a configuration for JSON, and arrays."""
        check_is_fitted(self, "label_space_")
        if self.kernel == "precomputed":
            raise UsageError("A model on a precomputed kernel has no support vectors to save.")
        return self._described(), row_arrays(self.dual_coef_, self.intercept_, self.support_vectors_)

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        """A fitted learner from the result of `get_state`, without what only training needs."""
        stored = Stored(config, arrays)
        learner = cls._from_description(stored)
        if learner.kernel == "precomputed":
            raise DataError("'parameters.kernel' in manifest.json is 'precomputed', which has no documents")
        space = learner.label_space_
        n_columns = space.n_columns
        if learner.scheme != "one-vs-rest" and space.kind == "multiclass":
            n_columns = len(pairs(len(space.classes)))
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
        """Raise an error if a model from a file cannot score its own support vectors."""
        rows = self.support_vectors_[:_ROWS_TRIED]
        if rows.shape[0]:
            with np.errstate(over="ignore", invalid="ignore"):
                scores = self.machine_scores(rows)
            if not np.isfinite(scores).all():
                raise DataError(
                    f"'parameters' in manifest.json and the support vectors in arrays.safetensors give "
                    f"scores that are not finite (kernel {self.kernel})"
                )

    @property
    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, self.gamma, self.degree, self.coef0, self.power)

    def _validate(self, X: Any, reset: bool) -> Any:
        return checked_rows(self, X, first=reset)

    def _set_coef(self) -> None:
        if self.kernel == "linear":
            self.coef_ = summed(self.dual_coef_, self.support_vectors_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.positive_only = self.kernel == "chi2"
        tags.classifier_tags.multi_label = self.scheme == "one-vs-rest"
        return tags


def checked_rows(model: Any, X: Any, *, first: bool) -> Any:
    """`X` as a `model` with a `kernel` takes it: rows of features, or of the kernel matrix."""
    if model.kernel == "precomputed":
        X = validate_data(model, X, dtype=np.float64, reset=first)
        if first and X.shape[0] != X.shape[1]:
            raise DataError(f"The kernel matrix has shape {X.shape}; expected a square matrix.")
        return X
    X = checked_matrix(model, X, first=first)
    if model.kernel == "chi2":
        refuse_negative(X)
    return X


def summed(signed: Floats, rows: sp.csr_array) -> Floats:
    """The weights: rows times their signed dual variables (columns, n), added up."""
    weights = sp.csr_array(signed) @ rows.astype(np.float64)
    # Features x columns in memory, the order in which documents are scored.
    return np.ascontiguousarray(weights.toarray().T).T
