"""Transduction of several exclusive classes together: every unlabeled document in one class, sizes given.

    min over classes c(j), w, b   sum_k [ 1/2 w_k.w_k + sum_i C_i xi_ki + sum_j C*_j xi*_kj ]

over one machine per class against the rest, where every unlabeled document j belongs to exactly one class and
class k gets as many documents as its share says. With fixed machines, the best classes are those of a
transportation problem (:mod:`widemargin.learn.svm.class_sizes`); with fixed classes, the machines are SVMs.
Both are solved in turns, with costs C* that double from level to level, as in Figure 9.1 of the thesis (which
exchanges two labels at a time, in one machine). A turn never raises the objective, except by the error of
rough solutions: large linear problems use a bias feature and dual coordinate descent
(core/linear/dual_cd.hpp) until the last level. Its machines, and all of other kernels, are solved exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr, canonical_csr
from widemargin._threads import thread_count
from widemargin.learn.kernels import Kernel
from widemargin.learn.linear_problem import linear_problem, train_linear
from widemargin.learn.svm.class_shares import estimated_shares
from widemargin.learn.svm.class_sizes import assigned
from widemargin.learn.svm.transduction_search import Found, Level, Machine, Search, search

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

# Levels of C* below the last one, and turns at each; both chosen on training documents.
_LEVELS, _TURNS = 6, 3
_SETTLED = 0.002  # share of documents that change their class, below which a level ends
_GROWTH_TO_PAR = 4.0
_SMALL = 20_000  # signs of a problem that is solved exactly at once
_ROUGH = 1e-2  # relative duality gap between levels
_ROUGH_PASSES = 200
_FOLDS = 5


def costs_in_classes(scores: Floats) -> Floats:
    """The sum of the slacks over all machines if a document belonged to each class, (n, classes).

    Examples
    --------
    >>> costs_in_classes(np.array([[1.0, -1.0, 0.0]])).tolist()
    [[1.0, 5.0, 3.0]]
    """
    as_other = np.maximum(0.0, 1.0 + scores)
    costs: Floats = as_other.sum(axis=1, keepdims=True) - as_other + np.maximum(0.0, 1.0 - scores)
    return costs


@dataclass(frozen=True)
class Machines:
    """One SVM per column of signs, for signs of which 0 means that an example takes no part.

    Attributes
    ----------
    csr : all examples
    costs : of positive and of negative examples, for each column
    equality, offset : as for :func:`~widemargin.learn.svm.transduction_search.search`
    """

    csr: Csr
    kernel: Kernel
    costs: tuple[Floats, Floats]
    how: Search
    equality: bool
    offset: float

    def exact(self, signs: NDArray[np.int8], weights: Floats) -> tuple[Machine, NDArray[np.bool_]]:
        """Solutions to the tolerance, and whether each converged; `signs` (columns, n), `weights` (n,)."""
        n_columns = len(signs)
        nothing = np.zeros((n_columns, 2))
        cost = np.where(signs > 0, self.costs[0][:, None], self.costs[1][:, None]) * weights
        # Examples without a sign cost nothing; the machine scores them.
        found = search(
            self.csr, self.kernel, np.ascontiguousarray(signs), cost, nothing, nothing,
            np.ones(n_columns, np.int64), self.how, equality=self.equality, offset=self.offset,
        )  # fmt: skip
        return found.inductive, found.converged

    def rough(self, signs: NDArray[np.int8], weights: Floats) -> Machine:
        """Solutions that are good enough to assign documents; large ones with a bias feature, less exact."""
        part = np.flatnonzero((signs != 0).any(axis=0))
        if self.kernel.name != "linear" or len(part) * len(signs) <= _SMALL:
            return self.exact(signs, weights)[0]
        whole = len(part) == signs.shape[1]
        csr = self.csr if whole else canonical_csr(self.csr.matrix[part])
        options = _core.LinearSvmOptions(
            bias=1.0 if self.equality else math.sqrt(self.offset),
            squared_loss=False,
            stop_on_gap=True,
            tol=max(_ROUGH, self.how.tol),
            max_passes=_ROUGH_PASSES,
            seed=self.how.seed,
        )
        problem = linear_problem(signs[:, part], self.costs, np.ascontiguousarray(weights[part]))
        found = train_linear(csr, problem, options, thread_count(self.how.n_jobs))
        alpha = found.alpha
        if not whole:
            alpha = np.zeros(signs.shape)
            alpha[:, part] = found.alpha
        s = np.ascontiguousarray((self.csr.matrix @ found.coef).T, dtype=np.float64)
        return Machine(signs.astype(np.float64), alpha, s, np.asarray(found.intercept)[:, None])


def held_out_scores(machines: Machines, signs: NDArray[np.int8]) -> Floats:
    """Scores of labeled examples by machines that did not learn from them, (labeled, columns).

    A class keeps at least one example in every fold; one that is alone in its class cannot be held out, and
    has NaN. `signs` (columns, n), 0 for unlabeled.
    """
    labeled = np.flatnonzero((signs != 0).any(axis=0))
    known = signs[:, labeled]
    codes = class_codes(known)
    fold = np.full(len(labeled), -1)
    for c in np.unique(codes):
        own = np.flatnonzero(codes == c)
        if len(own) > 1:
            fold[own] = np.arange(len(own)) % _FOLDS
    scores = np.full((len(labeled), len(signs)), np.nan)
    only = Machines(
        canonical_csr(machines.csr.matrix[labeled]), machines.kernel, machines.costs, machines.how,
        machines.equality, machines.offset,
    )  # fmt: skip
    for number in range(_FOLDS):
        out = fold == number
        if out.any():
            part = np.where(out, 0, known).astype(np.int8)
            scores[out] = only.rough(part, np.ones(len(labeled))).scores.T[out]
    return scores


def class_codes(signs: NDArray[np.int8]) -> Places:
    """The class of every example of (columns, n) signs; of two classes there is one column."""
    return np.asarray(signs.argmax(axis=0) if len(signs) > 1 else (signs[0] > 0).astype(np.intp))


def shares_by_scores(machines: Machines, signs: NDArray[np.int8]) -> Floats:
    """The estimated shares of the classes among unlabeled examples (two for a single column)."""
    labeled = (signs != 0).any(axis=0)
    held_out = held_out_scores(machines, signs)
    scores = machines.rough(signs, np.ones(signs.shape[1])).scores.T[~labeled]
    return estimated_shares(_both_sides(held_out), class_codes(signs[:, labeled]), _both_sides(scores))


def _both_sides(scores: Floats) -> Floats:
    return np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores


def joint_search(
    machines: Machines, signs: NDArray[np.int8], sizes: NDArray[np.int64], weight: float, *, to_par: bool
) -> Found:
    """Classes of all examples whose signs are 0.

    Parameters
    ----------
    signs : (classes, n), of an unlabeled example all 0
    sizes : (classes,) numbers of unlabeled examples
    weight : C* / C at the last level
    to_par : go on until unlabeled examples cost as much as labeled ones (`Found.at_par`)
    """
    n_classes, n = signs.shape
    unlabeled = (signs == 0).all(axis=0)
    ones = np.ones(n)
    inductive, fine = machines.exact(signs, ones)
    scores = inductive.scores.T[unlabeled]
    place: Places | None = None
    levels: list[list[Level]] = [[] for _ in range(n_classes)]
    steps = weight * 2.0 ** np.arange(1 - _LEVELS, 1)
    par = np.zeros(0)
    if to_par and weight < 1:
        count = math.ceil(math.log(1 / weight, _GROWTH_TO_PAR))
        par = np.minimum(1.0, weight * _GROWTH_TO_PAR ** np.arange(1, count + 1))
    machine = transductive = inductive
    for number, step in enumerate(np.concatenate([steps, par])):
        weights = np.where(unlabeled, step, 1.0)
        for turn in range(_TURNS if number < _LEVELS else 1):
            found = assigned(costs_in_classes(scores), sizes)
            changed = len(found) if place is None else int(np.count_nonzero(found != place))
            if turn and changed <= _SETTLED * len(found):
                break
            place = found
            labels = _labels(signs, unlabeled, place)
            machine = machines.rough(labels, weights)
            scores = machine.scores.T[unlabeled]
            _record(levels, machines, machine, weights, turn, changed)
        if number == _LEVELS - 1:
            transductive, converged = machines.exact(labels, weights)
            fine = fine & converged
    none = [np.zeros((0, 2), np.int32)] * n_classes
    return Found(inductive, transductive, machine if len(par) else transductive, levels, none, fine)


def _labels(signs: NDArray[np.int8], unlabeled: NDArray[np.bool_], place: Places) -> NDArray[np.int8]:
    labels = signs.copy()
    labels[:, unlabeled] = np.where(place == np.arange(len(signs))[:, None], 1, -1)
    return labels


def _record(
    levels: list[list[Level]], machines: Machines, machine: Machine, weights: Floats, turn: int, changed: int
) -> None:
    """Add to the record of a level, or begin one with its first turn."""
    y = machine.y
    cost = np.where(y > 0, machines.costs[0][:, None], machines.costs[1][:, None]) * weights
    ww = (machine.alpha * y * machine.s).sum(axis=1)
    objective = 0.5 * ww + (cost * np.maximum(0.0, 1.0 - y * machine.scores)).sum(axis=1)
    lowest = float(weights.min())
    for k, column in enumerate(levels):
        margin = 1 / math.sqrt(ww[k]) if ww[k] > 0 else math.inf
        first, switches = float(objective[k]), changed
        if turn:
            last = column.pop()
            first, switches = last.first_objective, last.switches + changed
        column.append(
            Level(
                lowest * machines.costs[1][k], lowest * machines.costs[0][k], first, float(objective[k]),
                margin, switches, turn + 1,
            )
        )  # fmt: skip
