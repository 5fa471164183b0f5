"""What the parameters of a `KernelSVM` mean: whether they are any, and how the decomposition is to work."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from widemargin._arrays import LARGEST, number
from widemargin.errors import UsageError
from widemargin.learn.dual_problem import KERNELS, MOST_ITERATIONS, SMALLEST_TOL, Kernel, Method


def check_parameters(machine: Any) -> None:
    """Refuse what no machine can be trained with."""
    if np.inf != machine.C:
        number("C", machine.C, above=0)
    Kernel("", machine.gamma, machine.degree, machine.coef0, machine.power).check()
    number("tol", machine.tol, least=SMALLEST_TOL)
    number("kappa", machine.kappa, above=0)
    number("cache", machine.cache, above=0)
    number("shrink_threshold", machine.shrink_threshold, least=0)
    choices = {
        "kernel": tuple(KERNELS),
        "scheme": ("one-vs-rest", "votes", "dag"),
        "selection": ("auto", "steepest", "second-order", "random"),
    }
    for name, known in choices.items():
        if getattr(machine, name) not in known:
            raise UsageError(f"{name}={getattr(machine, name)!r}: expected one of {', '.join(known)}.")
    if isinstance(machine.bias, str):
        known_bias = machine.bias in ("unregularized", "stabilized")
    else:
        known_bias = machine.bias is None or (
            isinstance(machine.bias, Real) and 0 < float(machine.bias) <= LARGEST
        )
    if not known_bias:
        raise UsageError(
            f'bias={machine.bias!r}: expected "unregularized", "stabilized", a positive number up to '
            f"{LARGEST:g}, or None."
        )
    for name in ("max_iter", "shrink_history"):
        value = getattr(machine, name)
        if not (name == "shrink_history" and value is None) and (
            not isinstance(value, int | np.integer) or value < 1
        ):
            raise UsageError(f"{name}={value!r}: expected a positive integer.")
    if machine.working_set is not None and not (
        isinstance(machine.working_set, int | np.integer) and machine.working_set >= 2
    ):
        raise UsageError(
            f"working_set={machine.working_set!r}: expected an integer; a step needs at least two variables."
        )


def method_of(machine: Any) -> Method:
    """How the dual problem is solved: as the parameters say, and where they do not, as suits the kernel."""
    linear = machine.kernel == "linear"
    selection = machine.selection
    if selection == "auto":
        pairs_only = not linear and machine.working_set in (None, 2) and isinstance(machine.bias, str)
        selection = "second-order" if pairs_only else "steepest"
    if selection == "second-order" and machine.working_set not in (None, 2):
        raise UsageError(
            f'selection="second-order" moves pairs: working_set={machine.working_set} must be 2.'
        )
    default_size = 2 if selection == "second-order" else (None if linear else 10)
    default_history = 10 if linear else (1000 if selection == "second-order" else 100)
    return Method(
        tol=float(machine.tol),
        working_set=default_size if machine.working_set is None else int(machine.working_set),
        selection=selection,
        shrinking=bool(machine.shrinking),
        shrink_history=min(int(machine.shrink_history or default_history), MOST_ITERATIONS),
        shrink_threshold=float(machine.shrink_threshold),
        cache_megabytes=float(machine.cache),
        max_iter=int(machine.max_iter),
        seed=int(check_random_state(machine.random_state).randint(2**31 - 1)),
        n_jobs=machine.n_jobs,
        verbose=bool(machine.verbose),
    )
