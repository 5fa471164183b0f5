"""What crosses the boundary to the compiled core: few arguments, structs that are filled by keyword."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import widemargin
import widemargin._core as _core
from widemargin._arrays import canonical_csr
from widemargin.learn.linear_problem import linear_problem, train_linear

MOST_ARGUMENTS = 8
SOURCES = Path(widemargin.__file__).parent


def bound_functions() -> Iterator[tuple[str, Any]]:
    for name, value in vars(_core).items():
        members = vars(value).items() if inspect.isclass(value) else [("", value)]
        for member, function in members:
            if hasattr(function, "__nb_signature__"):
                yield f"{name}.{member}".strip("."), function


def parameters(signature: str) -> list[str]:
    """The parameters in a signature, whose types may have commas of their own.

    >>> parameters("def f(self, a: tuple[int, int], *, b: dict = {}) -> list[int]")
    ['self', 'a: tuple[int, int]', '*', 'b: dict = {}']
    """
    found, depth = [""], 0
    for character in signature[signature.index("(") :]:
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            break
        if depth == 1 and character == ",":
            found.append("")
        elif depth > 1 or character != "(":
            found[-1] += character
    return [each.strip() for each in found if each.strip()]


def test_no_binding_takes_many_arguments():
    counts = {
        f"{name}: {signature}": len(parameters(signature))
        for name, function in bound_functions()
        for signature, *_ in function.__nb_signature__
    }
    assert len(counts) > 50
    assert max(counts.values()) > 4
    assert [signature for signature, count in counts.items() if count > MOST_ARGUMENTS] == []


def test_callers_name_fields_that_structs_have():
    """Keywords fill structs, of which the type checker knows nothing."""
    structs = {name: value for name, value in vars(_core).items() if inspect.isclass(value)}
    named = []
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            struct = called.removeprefix("_core.")
            if called != struct and struct in structs:
                named += [(struct, keyword.arg) for keyword in node.keywords]
    fields = [(struct, field) for struct, field in named if field and struct != "TextRule"]
    assert len(fields) > 80
    assert [each for each in fields if not hasattr(structs[each[0]], each[1])] == []


OPTIONS = {
    "bias": 1.0, "squared_loss": False, "stop_on_gap": True, "tol": 0.1, "max_passes": 9, "seed": 0,
}  # fmt: skip


def test_a_field_that_is_missing_or_unknown_is_an_error():
    assert _core.LinearSvmOptions(**OPTIONS).tol == 0.1
    with pytest.raises(TypeError, match="missing: tol"):
        _core.LinearSvmOptions(**{name: value for name, value in OPTIONS.items() if name != "tol"})
    with pytest.raises(AttributeError, match="tolerance"):
        _core.LinearSvmOptions(**OPTIONS, tolerance=0.1)
    with pytest.raises(TypeError):
        _core.LinearSvmOptions(**{**OPTIONS, "seed": "none"})


def test_arrays_are_never_converted():
    signs, cost = np.ones((1, 3), np.int8), np.ones(1)
    problem = _core.LinearProblem(signs=signs, cost_positive=cost, cost_negative=cost)
    assert problem.signs is signs
    for wrong in (signs.astype(np.int64), np.ones((3, 2), np.int8).T, signs[0]):
        with pytest.raises(TypeError, match="array"):
            _core.LinearProblem(signs=wrong, cost_positive=cost, cost_negative=cost)
    read_only = np.zeros(1, np.int64)
    read_only.flags.writeable = False
    with pytest.raises(TypeError):
        _core.MistakeResults.zeros(labels=1, passes=read_only)
    csr = canonical_csr(np.eye(3))
    with pytest.raises(TypeError):
        _core.Csr(csr.indptr.astype(np.int32), csr.indices, csr.data, 3)  # type: ignore[call-overload]


def test_read_only_inputs_and_optional_arrays():
    csr = canonical_csr(np.eye(3))
    signs, cost = np.array([[1, -1, 1]], np.int8), np.ones(1)
    for array in (csr.indptr, csr.indices, csr.data, signs, cost):
        array.flags.writeable = False
    options = _core.LinearSvmOptions(**OPTIONS)
    alphas = [
        train_linear(csr, linear_problem(signs, (cost, cost), weights), options, 1).alpha
        for weights in (np.zeros(0), np.ones(3))
    ]
    assert alphas[0].any()
    np.testing.assert_array_equal(alphas[0], alphas[1])
    assert _core.LinearProblem(signs=signs, cost_positive=cost, cost_negative=cost, start=None).start is None


def test_arrays_have_to_fit_each_other():
    csr, cost = canonical_csr(np.eye(3)), np.ones(1)
    options = _core.LinearSvmOptions(**OPTIONS)
    signs = np.ones((1, 3), np.int8)
    with pytest.raises(ValueError, match="signs has 1 x 2 places; expected 1 x 3"):
        train_linear(csr, linear_problem(signs[:, :2], (cost, cost), np.zeros(0)), options, 1)
    with pytest.raises(ValueError, match="cost_positive has 2 places; expected 1"):
        train_linear(csr, linear_problem(signs, (np.ones(2), cost), np.zeros(0)), options, 1)
    with pytest.raises(ValueError, match="sample_weights has 2 places; expected 3"):
        train_linear(csr, linear_problem(signs, (cost, cost), np.ones(2)), options, 1)


def test_structs_keep_their_arrays_alive():
    csr = canonical_csr(np.eye(3)).native()
    scores = np.empty((3, 1))
    _core.score_rows(csr, np.ones((3, 1)), np.zeros(1), scores, 1)
    np.testing.assert_array_equal(scores, 1.0)
