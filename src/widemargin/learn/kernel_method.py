"""What the parameters of a `KernelSVM` mean: whether they are any, and how the decomposition is to work."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from widemargin.errors import UsageError
from widemargin.learn.dual_problem import KERNELS, Method


def check_parameters(machine: Any) -> None:
    """Refuse what no machine can be trained with."""
    for name in ("C", "gamma", "degree", "tol", "power", "kappa", "cache"):
        value = getattr(machine, name)
        if not isinstance(value, Real) or not float(value) > 0:
            raise UsageError(f"{name}={value!r}: expected a positive number.")
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
            isinstance(machine.bias, Real) and 0 < float(machine.bias) < np.inf
        )
    if not known_bias:
        raise UsageError(
            f'bias={machine.bias!r}: expected "unregularized", "stabilized", a positive number, or None.'
        )
    if not isinstance(machine.max_iter, int | np.integer) or machine.max_iter < 1:
        raise UsageError(f"max_iter={machine.max_iter!r}: expected a positive integer.")
    if machine.working_set is not None and machine.working_set < 2:
        raise UsageError(f"working_set={machine.working_set!r}: a step needs at least two variables.")


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
        shrink_history=int(machine.shrink_history or default_history),
        shrink_threshold=float(machine.shrink_threshold),
        cache_megabytes=float(machine.cache),
        max_iter=int(machine.max_iter),
        seed=int(check_random_state(machine.random_state).randint(2**31 - 1)),
        n_jobs=machine.n_jobs,
        verbose=bool(machine.verbose),
    )
