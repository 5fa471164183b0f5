"""The search for labels of unlabeled examples, handed to the core (kernel/transduction.hpp)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin._parameters import require_finite
from widemargin._threads import thread_count
from widemargin.errors import DataError, UsageError
from widemargin.labels import LabelSpace
from widemargin.labels.forms import some
from widemargin.learn.kernels import Kernel, refused_values
from widemargin.learn.svm.dual_problem import cache_bytes
from widemargin.progress import watch_values

Floats = NDArray[np.float64]

# C*_minus of the first level: next to nothing, so that the inductive machine decides on the first labels
# (Figure 9.1), also beside limits that are next to nothing themselves.
_NEXT_TO_NOTHING, _SMALL = 1e-5, 1e-3
_SWITCHES_PER_EXAMPLE = 2  # exchanged pairs that are kept; searches have far fewer
_GROWTH = 2.0  # of the costs, from level to level


@dataclass(frozen=True)
class Level:
    """One level of the search: costs of unlabeled examples, and what the machine came to there.

    `first_objective` is that before any labels were exchanged; `switches` counts pairs of labels, `solutions`
    the problems solved; the margin is 1 / ||w||.
    """

    C_minus: float
    C_plus: float
    first_objective: float
    objective: float
    margin: float
    switches: int
    solutions: int


@dataclass(frozen=True)
class Search:
    """How to search: which pairs to exchange, how exactly to solve, with what."""

    switching: Literal["multiple", "single"]
    first_costs: Literal["balanced", "published"]
    tol: float
    max_iter: int
    cache_megabytes: float
    seed: int
    n_jobs: int | None
    verbose: bool


@dataclass(frozen=True)
class Machine:
    """Of each column: labels, dual variables, s = sum_j alpha_j y_j K(x_i, x_j), and the threshold b.

    All (columns, examples) but the last, (columns, 1). The labels of examples that it knows nothing of, and
    that cost it nothing, do not matter.
    """

    y: Floats
    alpha: Floats
    s: Floats
    intercept: Floats

    @property
    def scores(self) -> Floats:
        """w.x + b of every example."""
        return self.s + self.intercept

    def in_order(self, order: NDArray[np.intp]) -> Machine:
        """The same with the examples in that order."""
        return Machine(self.y[:, order], self.alpha[:, order], self.s[:, order], self.intercept)


@dataclass(frozen=True)
class Found:
    """The machine of the labeled examples alone, that of the search, and what the search saw.

    `switched` has the exchanged pairs of each column in order, (pairs, 2): which example became negative and
    which positive. `at_par` is the machine that the search comes to if it goes on until an unlabeled example
    costs as much as a labeled one; the same where it did so anyway.
    """

    inductive: Machine
    transductive: Machine
    at_par: Machine
    levels: list[list[Level]]
    switched: list[NDArray[np.int32]]
    converged: NDArray[np.bool_]


def search(
    csr: Csr,
    kernel: Kernel,
    signs: NDArray[np.int8],
    cost: Floats,
    limits: Floats,
    par: Floats,
    num_plus: NDArray[np.int64],
    how: Search,
    *,
    equality: bool,
    offset: float,
) -> Found:
    """Label what has the sign 0, for every row of `signs`.

    Parameters
    ----------
    signs, cost : (columns, examples); the costs of unlabeled examples do not matter here
    limits : (columns, 2) their costs at the end, as negative and as positive examples
    par : (columns, 2) the same if they were labeled
    num_plus : how many of them are positive; of a single one the inductive machine decides
    equality, offset : as for :func:`~widemargin.learn.svm.dual_problem.solve_dual`
    """
    n_columns, n = signs.shape
    k = np.count_nonzero(signs == 0, axis=1)
    limits = np.where(k[:, None] > 0, limits, 0.0)  # where everything is labeled there are no levels
    bounds = np.where(limits > 0, limits, np.inf)
    smallest = np.minimum(_NEXT_TO_NOTHING, _SMALL * bounds.min(axis=1, keepdims=True))
    first = np.minimum(smallest * _ratios(how.first_costs, num_plus, k), bounds)
    steps = np.log(np.maximum(limits, first) / first) / math.log(_GROWTH)
    kernel.refuse_overflow(csr, offset)
    problem = _core.TransductionProblem(
        signs=signs,
        cost=np.ascontiguousarray(cost),
        costs=np.hstack([first, limits, par]),
        num_plus=num_plus,
    )
    options = _core.TransductiveSvmOptions(
        equality=equality,
        growth=_GROWTH,
        many=how.switching == "multiple",
        tol=how.tol,
        max_iterations=how.max_iter,
        seed=how.seed,
        single_precision=kernel.precision(csr, offset, how.n_jobs) is np.float32,
        cache_bytes=cache_bytes(how.cache_megabytes),
    )
    most_levels = math.ceil(steps.max()) + 3
    results = _core.TransductionResults.zeros(
        labels=n_columns, examples=n, most_levels=most_levels, most_switches=_SWITCHES_PER_EXAMPLE * n
    )
    shown = watch_values(results.progress, _describe, enabled=None if how.verbose else False)
    with shown, refused_values():
        _core.train_transductive_svm(
            csr.native(), kernel.native(offset), problem, options, results, thread_count(how.n_jobs)
        )
    machines, intercepts = results.machines, results.intercepts
    require_finite("TransductiveSVM", csr, machines=machines, intercepts=intercepts)
    used = zip(results.levels, results.n_levels, strict=True)
    records = [[_level(row) for row in part[:count]] for part, count in used]
    inductive, transductive, at_par = (
        Machine(machines[:, 3 * m], machines[:, 3 * m + 1], machines[:, 3 * m + 2], intercepts[:, m, None])
        for m in range(3)
    )
    n_switches = [sum(level.switches for level in column) for column in records]
    switched = [part[:count] for part, count in zip(results.switched, n_switches, strict=True)]
    return Found(inductive, transductive, at_par, records, switched, results.converged.astype(bool))


def check_both_sides(space: LabelSpace, signs: NDArray[np.int8]) -> None:
    """Raise an error for columns without a positive or a negative example; `signs` (n, columns)."""
    for what, there in (("positive", signs > 0), ("negative", signs < 0)):
        empty = ~there.any(axis=0)
        if empty.any():
            names = [repr(name) for name in space.column_names[empty].tolist()[:5]]
            raise DataError(
                f"There is no {what} labeled document of {', '.join(names)}. Every label needs at least one "
                f"positive and one negative document. Label some, or drop the label."
            )


def count_positives(positives: Any, space: LabelSpace, signs: NDArray[np.int8]) -> NDArray[np.int64]:
    """The number of unlabeled examples of each column that become positive.

    Parameters
    ----------
    positives : None for the share of the labeled examples; a share of the unlabeled ones; their number; a
        sequence of these, one per column, or a dict from labels
    signs : (n, columns), 0 for unlabeled

    Examples
    --------
    >>> from widemargin.labels import Labels
    >>> space, given = Labels.of(["ham", "spam", "ham", "ham"]).space_and_signs
    >>> signs = np.vstack([given, np.zeros((100, 1), np.int8)])
    >>> [int(count_positives(share, space, signs)[0]) for share in (None, 0.1, 7)]
    [25, 10, 7]
    """
    names = space.column_names.tolist()
    labeled = np.count_nonzero(signs, axis=0)
    shares: list[Any] = (np.count_nonzero(signs > 0, axis=0) / labeled).tolist()
    if isinstance(positives, dict):
        for label, wanted in positives.items():
            if label not in names:
                known = some(list(map(repr, names)))
                raise UsageError(f"positives has {label!r}, which is not a label. Labels are {known}.")
            shares[names.index(label)] = wanted
    elif np.ndim(positives) == 1:
        if len(positives) != len(names):
            raise UsageError(
                f"positives has {len(positives)} values for {len(names)} labels; expected one per label."
            )
        shares = list(positives)
    elif positives is not None:
        shares = [positives] * len(names)
    unlabeled = (len(signs) - labeled).tolist()
    return np.array([_count(*each) for each in zip(shares, names, unlabeled, strict=True)], np.int64)


def _count(wanted: Any, name: Any, k: int) -> int:
    if k == 0:
        return 0
    if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool | np.bool_):
        if not 0 < wanted < k:
            raise UsageError(
                f"positives={wanted} for {name!r}: of {k} unlabeled documents at least one has to be "
                f"positive and one negative. Pass a number from 1 to {k - 1}, a share, or None."
            )
        return int(wanted)
    if not isinstance(wanted, float | np.floating) or not 0 < wanted < 1:
        raise UsageError(
            f"positives={wanted!r} for {name!r}: expected a number of documents, a share between 0 and 1, or "
            f"None."
        )
    # The inductive SVM decides on a single document.
    return min(max(int(wanted * k + 0.5), min(1, k - 1)), max(k - 1, 1))


def _describe(progress: Floats) -> str:
    """How many labels are done, and how far the first of the others is."""
    done = progress[:, 3] > 0
    violation, _, iterations, _ = progress[int(done.argmin())]
    return (
        f"Labeling: {np.count_nonzero(done)} of {len(done)} labels, "
        f"violation {violation:.4g}, iteration {int(iterations):,}"
    )


def _ratios(kind: str, num_plus: NDArray[np.int64], k: NDArray[np.int64]) -> Floats:
    """C*_minus and C*_plus of the first level over C*_minus, (columns, 2)."""
    odds = np.where((num_plus > 0) & (num_plus < k), num_plus / np.maximum(k - num_plus, 1), 1.0)
    odds = np.maximum(odds, np.finfo(float).tiny)
    positive = odds if kind == "published" else 1 / odds
    return np.column_stack([np.ones(len(k)), positive])


def _level(row: Floats) -> Level:
    margin = 1 / math.sqrt(row[4]) if row[4] > 0 else math.inf
    return Level(row[0], row[1], row[2], row[3], margin, int(row[5]), int(row[6]))
