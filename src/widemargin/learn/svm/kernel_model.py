"""Scoring by any kernel, for learners that compute their own dual variables.

Linear rules are scored by their weights; those of the other kernels are left to a `KernelSVM` that gets the
support vectors without having been trained, and whose state is saved in place of weights.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import checked_matrix
from widemargin._stored import Stored
from widemargin.learn.kernel_rows import row_arrays
from widemargin.learn.kernels import Kernel
from widemargin.learn.label_model import Arrays, State
from widemargin.learn.linear_model import LinearModel
from widemargin.learn.svm.kernel_svm import KernelSVM
from widemargin.learn.svm.support_vectors import KernelParameters, summed

Floats = NDArray[np.float64]

KERNELS = ("linear", "poly", "rbf", "sigmoid", "chi2")


class KernelModel(KernelParameters, LinearModel):
    """Base of learners with a `kernel`. They set `label_space_`, `intercept_` and then `_set_rule`.

    Attributes
    ----------
    machine_ : the KernelSVM that scores documents, unless the kernel is linear
    """

    kernel: Any
    # Those of :class:`~widemargin.learn.kernels.Kernel`, in its order.
    _of_kernel: ClassVar[tuple[str, ...]] = ("kernel", "gamma", "degree", "coef0")

    @property
    def _kernel(self) -> Kernel:
        return Kernel(*(getattr(self, name) for name in self._of_kernel))

    def _set_rule(self, rows: sp.csr_array, signed: Floats) -> None:
        """Store the weights or support vectors; `signed` (columns, n) is alpha times the label of every
        row."""
        if self.kernel == "linear":
            self.coef_ = summed(signed, rows)
            return
        support = np.flatnonzero(signed.any(axis=0))
        dual_coef = np.ascontiguousarray(signed[:, support])
        arrays = row_arrays(dual_coef, self.intercept_, rows[support])
        state = {"labels": self.label_space_.to_dict(), "n_features": self.n_features_in_}
        self.machine_ = self._machine_of(state, arrays)

    def _machine_of(self, state: dict[str, Any], arrays: Arrays) -> KernelSVM:
        """The machine that scores by the support vectors in `arrays`."""
        parameters = {name: getattr(self, name) for name in self._of_kernel}
        return KernelSVM.from_state({**state, "parameters": parameters}, arrays)

    def decision_function(self, X: Any) -> Floats:
        """Scores of the documents: (n,) for a binary task, otherwise (n, labels)."""
        check_is_fitted(self, "label_space_")
        if self.kernel == "linear":
            return super().decision_function(X)
        self.machine_.n_jobs = self.n_jobs
        return self.machine_.decision_function(checked_matrix(self, X, first=False))

    def get_state(self) -> State:
        """The state for prediction: a configuration for JSON, and arrays."""
        check_is_fitted(self, "label_space_")
        if self.kernel == "linear":
            return super().get_state()
        machine, arrays = self.machine_.get_state()
        return {**machine, "parameters": self.get_params()}, arrays

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        """A fitted learner from the result of `get_state`, without its training documents."""
        stored = Stored(config, arrays)
        learner: Self = stored.estimator(cls)
        if learner.kernel == "linear":
            learner._read_weights(stored)
            return learner
        machine = learner.machine_ = learner._machine_of(config, arrays)
        learner.label_space_, learner.n_features_in_ = machine.label_space_, machine.n_features_in_
        learner.intercept_ = machine.intercept_
        return learner

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.kernel == "chi2"
        return tags
