"""Whatever needs a fitted estimator says so with scikit-learn's own error."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

import widemargin
from widemargin import TextClassifier

PUBLIC = [getattr(widemargin, name) for name in widemargin.__all__]
ESTIMATORS: list[Any] = [
    *(cls() for cls in PUBLIC if inspect.isclass(cls) and issubclass(cls, BaseEstimator)),
    TextClassifier(calibration="platt", tune=None, estimate=None),
]
X = np.eye(4)
ARGUMENTS = {
    "y": [0, 1, 0, 1],
    "texts": ["a", "b", "c", "d"],
    "text": "a",
    "path": "never-written.wm",
    "counts": sp.csr_array(X),
    "n_features": 5,
    "weighting": "tfc",
    "regularizations": [1.0],
}
# Those that fit, or read and change parameters, and those that look at their arguments alone.
NEED_NO_FIT = {"get_params", "set_params", "get_metadata_routing", "set_output", "path", "as_scored"}
NEED_NO_FIT |= {"uses_labels", "documents_to_begin", "needs_terms", "with_terms", "needs_absent_terms"}
NEED_NO_FIT |= {"with_blocks", "no_left_out", "has_vectors", "given_", "explicit_of_parts", "given_parts"}
NEED_NO_FIT |= {"scheme"}


def members(estimator: Any) -> list[str]:
    found = []
    for name, member in inspect.getmembers(type(estimator)):
        static = inspect.getattr_static(type(estimator), name)
        if name.startswith(("_", "fit", "partial_fit", "set_")) or name in NEED_NO_FIT:
            continue
        if isinstance(static, classmethod | staticmethod) or not (
            callable(member) or isinstance(member, property)
        ):
            continue
        if name in ("left_out_scores", "path_left_out") and not hasattr(estimator, "sampling"):
            continue
        found.append(name)
    return found


CASES = [
    pytest.param(estimator, name, id=f"{estimator}.{name}")
    for estimator in ESTIMATORS
    for name in members(estimator)
    if not (name == "predict_proba" and getattr(estimator, "calibration", 1) is None)
]


@pytest.mark.parametrize(("estimator", "name"), CASES)
def test_what_needs_a_fit_says_so(estimator, name):
    with pytest.raises(NotFittedError):
        use(estimator, name)


def use(estimator: Any, name: str) -> None:
    """Read a property, which raises at once, or call a method with what it needs."""
    member = getattr(estimator, name)
    needed = [
        parameter.name
        for parameter in inspect.signature(member).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    member(*(ARGUMENTS.get(parameter, X) for parameter in needed))


def test_the_list_is_not_empty():
    """Guards the guard: it covers the methods that people call."""
    called = {(type(case.values[0]).__name__, case.values[1]) for case in CASES}
    for name in ("predict", "predict_proba", "score", "explain", "save", "decision_function", "classes_"):
        assert ("TextClassifier", name) in called
    assert ("SelectFeatures", "transform") in called
    assert ("LinearSVM", "get_state") in called
