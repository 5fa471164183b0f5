"""Binary learners <-> SVM-light's model files (documents/formats/svmlight_model.py).

SVM-light's decision function is ``sum_i alpha_i y_i K(x_i, x) - b``, ours the same with ``intercept_ = -b``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import canonical_csr
from widemargin.documents.formats.svmlight_model import SvmLightModel
from widemargin.errors import UsageError
from widemargin.labels import LabelSpace
from widemargin.learn.svm.kernel_svm import KernelSVM
from widemargin.learn.svm.linear_svm import LinearSVM

if TYPE_CHECKING:
    from collections.abc import Sequence


def to_svmlight(learner: KernelSVM | LinearSVM, label: Any = None) -> SvmLightModel:
    """One binary decision function of a fitted learner as a model of SVM-light.

    A `LinearSVM` becomes one support vector, its weights, with the factor 1. SVM-light holds the values of
    vectors in single precision, so its scores differ in the seventh digit.

    Parameters
    ----------
    learner : a fitted KernelSVM or LinearSVM
    label : a label, optional
        The label that becomes SVM-light's +1. Required for several labels; the default for two classes is the
        second.

    Examples
    --------
    >>> learner = LinearSVM(C=10).fit(np.array([[0.0, 1.0], [2.0, 0.0]]), ["ham", "spam"])
    >>> model = to_svmlight(learner)
    >>> model.kernel, model.n_documents, len(model.coefficients)
    ('linear', 2, 1)
    >>> bool(model.threshold == -learner.intercept_[0])
    True
    """
    check_is_fitted(learner, "label_space_")
    if not isinstance(learner, LinearSVM | KernelSVM):
        raise UsageError(
            f"SVM-light has no model for a {type(learner).__name__}. Train a LinearSVM or a KernelSVM, or "
            f"keep the model in this library's own format."
        )
    column, sign = _rule(learner, label)
    threshold = -sign * float(learner.intercept_[column])
    n_documents = len(learner.alpha_) if hasattr(learner, "alpha_") else 0
    if isinstance(learner, LinearSVM):
        weights = sp.csr_array(sign * learner.coef_[[column], :])
        return SvmLightModel("linear", np.ones(1), weights, threshold, n_documents=n_documents)
    parameters = _kernel_parameters(learner)
    coefficients = sign * np.asarray(learner.dual_coef_[column], dtype=np.float64)
    supports = np.flatnonzero(coefficients)
    vectors = sp.csr_array(learner.support_vectors_)[supports]
    return SvmLightModel(
        learner.kernel, coefficients[supports], vectors, threshold, n_documents=n_documents, **parameters
    )


def from_svmlight(model: SvmLightModel, classes: Sequence[Any] = (-1, 1)) -> KernelSVM | LinearSVM:
    """A learner with the same scores and decisions as `svm_classify`.

    Parameters
    ----------
    model : the result of :func:`~widemargin.documents.formats.svmlight_model.read_svmlight_model`
    classes : the labels for SVM-light's -1 and +1, in sorted order

    Returns
    -------
    LinearSVM for a linear kernel, otherwise KernelSVM
    """
    first, second = classes
    if not first < second:
        raise UsageError(f"classes={tuple(classes)!r}: expected two labels in sorted order, -1's first.")
    space = LabelSpace("binary", np.array([first, second]))
    X = model.support_vectors
    if model.kernel == "linear":
        linear = LinearSVM(bias="unregularized")
        weights = model.coefficients @ X.astype(np.float64)
        linear.label_space_, linear.n_features_in_ = space, model.n_features
        linear.coef_, linear.intercept_ = weights.reshape(-1, 1).T, np.array([-model.threshold])
        return linear
    if model.kernel == "custom":
        raise UsageError(
            "The model has a user-defined kernel (-t 4), which is not stored in the file. "
            "Train with one of the kernels 0 to 3."
        )
    parameters: dict[str, Any] = {"gamma": model.gamma}
    if model.kernel in ("poly", "sigmoid"):
        parameters = {"gamma": model.scale, "coef0": model.offset, "degree": model.degree}
    csr = canonical_csr(X)
    config = {
        "parameters": {"kernel": model.kernel, **parameters},
        "labels": space.to_dict(),
        "n_features": model.n_features,
    }
    arrays = {
        "dual_coef": np.ascontiguousarray(model.coefficients[None, :]),
        "intercept": np.array([-model.threshold]),
        "support_data": csr.data,
        "support_indices": csr.indices,
        "support_indptr": csr.indptr,
    }
    return KernelSVM.from_state(config, arrays)


def _rule(learner: KernelSVM | LinearSVM, label: Any) -> tuple[int, float]:
    """The column of scores of `label`, and whether its sign is reversed."""
    space = learner.label_space_
    if space.kind == "multiclass" and getattr(learner, "scheme", "one-vs-rest") != "one-vs-rest":
        raise UsageError(
            "An SVM-light model has one decision function, but this learner has one for every pair of "
            "classes. "
            'Train with scheme="one-vs-rest".'
        )
    classes = space.classes.tolist()
    if label is None:
        if space.n_columns != 1:
            raise UsageError(
                f"An SVM-light model has one decision function, but this learner has one for each of "
                f"{len(classes)} labels. Pass one of them."
            )
        return 0, 1.0
    label = label.item() if isinstance(label, np.generic) else label
    if label not in classes:
        shown = ", ".join(map(repr, classes[:10])) + (", ..." if len(classes) > 10 else "")
        raise UsageError(f"The learner has no label {label!r}. Its labels are {shown}.")
    if space.kind == "binary":
        return 0, 1.0 if label == classes[1] else -1.0
    return classes.index(label), 1.0


def _kernel_parameters(learner: KernelSVM) -> dict[str, Any]:
    """The parameters of the kernel by SVM-light's names."""
    if learner.kernel not in ("linear", "poly", "rbf", "sigmoid"):
        raise UsageError(
            f"SVM-light has no kernel {learner.kernel}. Train with linear, poly, rbf or sigmoid, or keep the "
            f"model in this library's own format."
        )
    if learner.kernel == "linear":
        return {}
    if learner.kernel == "rbf":
        return {"gamma": float(learner.gamma)}
    parameters: dict[str, Any] = {"scale": float(learner.gamma), "offset": float(learner.coef0)}
    if learner.kernel == "poly":
        if float(learner.degree) != int(learner.degree):
            raise UsageError(f"SVM-light requires an integer degree, but this is {learner.degree}.")
        parameters["degree"] = int(learner.degree)
    return parameters
