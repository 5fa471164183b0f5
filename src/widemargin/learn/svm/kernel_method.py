"""What the parameters of a `KernelSVM` mean: whether they are any, and how the decomposition is to work."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state

from widemargin._parameters import (
    AT_LEAST_0,
    COUNT,
    POSITIVE,
    POSITIVE_OR_INFINITE,
    SIZE_OF_BIAS,
    Expected,
    at_least,
    check_parameters,
    either,
    one_of,
    or_none,
)
from widemargin.errors import UsageError
from widemargin.learn.kernels import KERNELS
from widemargin.learn.svm.dual_problem import MOST_ITERATIONS, SMALLEST_TOL, Method

_WORKING_SET = Expected(
    "an integer from 2 (a step needs two variables) to 2**63", lambda value: COUNT.holds(value) and value >= 2
)


def check_machine(machine: Any) -> None:
    """Refuse what no machine can be trained with."""
    machine._kernel.check()
    check_parameters(
        machine,
        C=POSITIVE_OR_INFINITE,
        kernel=one_of(*KERNELS),
        bias=either(SIZE_OF_BIAS, one_of("unregularized", "stabilized")),
        stabilizer_size=POSITIVE,
        scheme=one_of("one-vs-rest", "votes", "dag"),
        tol=at_least(SMALLEST_TOL),
        working_set=or_none(_WORKING_SET),
        selection=one_of("auto", "steepest", "second-order", "random"),
        shrink_history=or_none(COUNT),
        shrink_threshold=AT_LEAST_0,
        cache=POSITIVE,
        max_iter=COUNT,
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
