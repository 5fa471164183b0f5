"""Linear SVMs on rows that no one machine holds: CoCoA+, with a verified duality gap.

The rows are divided into K parts, each of which stays with the workers. In every round, each part improves
its dual variables as if the other parts did not, and the changes of the weights are added (Ma et al., "Adding
vs. averaging in distributed primal-dual optimization", ICML 2015; core/linear/by_blocks/local_descent.hpp).
Rounds are pure functions of the rows, the dual variables and the weights, so a worker that dies is harmless.

It is solved when the duality gap of all rows is small enough (P - D <= tol P), with sums in double precision
and weights that are made again from the dual variables. The solution is that of one machine, up to the
tolerance. A label that is solved takes no part in later rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin.cluster.tasks import Tasks
from widemargin.learn.svm.by_blocks.solving import BlockOptions

Floats = NDArray[np.float64]

# Passes of coordinate descent in a round: more of them save rounds, fewer save work that other parts undo.
_PASSES = 2


class Partition(NamedTuple):
    """Some of the rows, with all that is known of them.

    Attributes
    ----------
    csr : the rows
    signs : (rows, labels), +1 and -1
    weights : of the rows, None if all are 1
    """

    csr: Csr
    signs: NDArray[np.int8]
    weights: Floats | None


class PartitionSolution(NamedTuple):
    """What was found.

    Attributes
    ----------
    weights : (labels, columns + 1); the last is that of the bias feature
    objective, gap : (labels,) the primal objective, and the duality gap, verified
    rounds : (labels,) how often all parts were changed
    alphas : (rows, labels) of every part
    """

    weights: Floats
    objective: Floats
    gap: Floats
    rounds: NDArray[np.int64]
    converged: NDArray[np.bool_]
    alphas: list[Floats]


class _Given(NamedTuple):
    """What every task of a round is told: the weights and costs of the labels that are not solved."""

    labels: NDArray[np.int32]
    weights: Floats
    cost_positive: Floats
    cost_negative: Floats


class _Sums(NamedTuple):
    """Of one part, for every label: losses at their costs, the dual without weights, and the weights."""

    losses: Floats
    dual: Floats
    weights: Floats | None


def solve_partitions(
    tasks: Tasks,
    parts: Sequence[Any],
    sizes: Sequence[int],
    n_columns: int,
    cost_positive: Floats,
    cost_negative: Floats,
    options: BlockOptions,
    *,
    progress: Callable[[int], None] = lambda done: None,
) -> PartitionSolution:
    """The machines of all labels.

    Parameters
    ----------
    parts : futures of :class:`Partition`
    sizes : the rows of every part
    cost_positive, cost_negative : (labels,)
    options : `max_iter` bounds the rounds
    progress : is called with the number of labels that are solved
    """
    n_labels = len(cost_positive)
    alphas = [np.zeros((size, n_labels)) for size in sizes]
    weights = np.zeros((n_labels, n_columns + 1))
    objective, gap = np.full(n_labels, np.inf), np.full(n_labels, np.inf)
    rounds = np.zeros(n_labels, dtype=np.int64)
    converged = np.zeros(n_labels, dtype=bool)
    for number in range(options.max_iter + 1):
        open_labels = np.flatnonzero(~converged)
        given = _Given(
            open_labels.astype(np.int32),
            weights[open_labels],
            cost_positive[open_labels],
            cost_negative[open_labels],
        )
        last = number == options.max_iter
        seeds = np.random.SeedSequence([options.seed, number]).generate_state(len(parts), np.uint64)
        kept = tasks.keep(given)
        stepped = [
            tasks.submit(
                _checked if last else _stepped,
                part,
                kept,
                alphas[place][:, open_labels],
                options,
                len(parts),
                int(seeds[place]),
            )
            for place, part in enumerate(parts)
        ]
        found = list(tasks.results(stepped))
        _measure([sums for sums, *_ in found], weights, open_labels, objective, gap)
        close = open_labels[gap[open_labels] <= options.tol * objective[open_labels]]
        if len(close):
            # The weights may have drifted from the dual variables: made again, they decide.
            exact = given._replace(
                labels=close.astype(np.int32),
                weights=np.empty((0, 0)),
                cost_positive=cost_positive[close],
                cost_negative=cost_negative[close],
            )
            some = [alpha[:, close] for alpha in alphas]
            weights[close] = _summed(tasks, parts, some, exact, options)
            kept = tasks.keep(exact._replace(weights=weights[close]))
            checks = [
                tasks.submit(_checked, part, kept, alpha, options, len(parts), 0)
                for part, alpha in zip(parts, some, strict=True)
            ]
            _measure([sums for sums, *_ in tasks.results(checks)], weights, close, objective, gap)
            converged[close] = gap[close] <= options.tol * objective[close]
        progress(int(converged.sum()))
        if last or converged.all():
            break
        going_on = ~converged[open_labels]
        for place, (_, after, _) in enumerate(found):
            alphas[place][:, open_labels[going_on]] = after[:, going_on]
        # In the order of the parts, so that rounding does not depend on which worker is first.
        weights[open_labels[going_on]] += sum(delta[going_on] for *_, delta in found)
        rounds[open_labels[going_on]] += 1
    return PartitionSolution(weights, objective, gap, rounds, converged, alphas)


def _measure(
    sums: Sequence[_Sums], weights: Floats, labels: NDArray[np.intp], objective: Floats, gap: Floats
) -> None:
    """Set the objectives and gaps of some labels from the sums of all parts."""
    half = 0.5 * np.einsum("ij,ij->i", weights[labels], weights[labels])
    objective[labels] = half + sum(each.losses for each in sums)
    dual = sum(each.dual for each in sums) - half
    gap[labels] = np.maximum(objective[labels] - dual, 0.0)


def _summed(
    tasks: Tasks, parts: Sequence[Any], alphas: Sequence[Floats], given: _Given, options: BlockOptions
) -> Floats:
    """The weights from all dual variables."""
    kept = tasks.keep(given)
    sums = [
        tasks.submit(_weights, part, kept, alpha, options) for part, alpha in zip(parts, alphas, strict=True)
    ]
    total: Floats = sum(tasks.results(sums), np.zeros(1))
    return total


# ---------------------------------------------------------------------- tasks


def _stepped(
    part: Partition, given: _Given, alphas: Floats, options: BlockOptions, n_parts: int, seed: int
) -> tuple[_Sums, Floats, Floats]:
    """The sums at the beginning of a round, and the dual variables and the change of weights at its end."""
    sums, *_ = _checked(part, given, alphas, options, n_parts, seed)
    after, delta = np.array(alphas.T, order="C"), np.empty_like(given.weights)
    for place, label in enumerate(given.labels.tolist()):
        upper, diagonal = _bounds(part, given, place, options)
        task = _core.LocalTask(
            signs=np.ascontiguousarray(part.signs[:, label]),
            upper=upper,
            diagonal=diagonal,
            alpha=after[place],
            w=np.ascontiguousarray(given.weights[place]),
            delta=delta[place],
        )
        how = _core.LocalOptions(
            bias=options.bias, sigma=float(n_parts), passes=_PASSES, seed=seed + 7919 * label
        )
        _core.descend_locally(part.csr.native(), task, how)
    return sums, np.ascontiguousarray(after.T), delta


def _checked(
    part: Partition, given: _Given, alphas: Floats, options: BlockOptions, n_parts: int, seed: int
) -> tuple[_Sums, None, None]:
    """The sums of a part at the given weights."""
    losses, dual = np.empty(len(given.labels)), np.empty(len(given.labels))
    values = part.csr.matrix
    for place, label in enumerate(given.labels.tolist()):
        weights, costs = given.weights[place], _costs(part, given, place)
        scores = values @ weights[:-1] + options.bias * weights[-1]
        slacks = np.maximum(1 - part.signs[:, label] * scores, 0.0)
        losses[place] = np.sum(costs * (slacks * slacks if options.squared_loss else slacks))
        _, diagonal = _bounds(part, given, place, options)
        alpha = alphas[:, place]
        dual[place] = np.sum(alpha - 0.5 * diagonal * alpha * alpha)
    return _Sums(losses, dual, None), None, None


def _weights(part: Partition, given: _Given, alphas: Floats, options: BlockOptions) -> Floats:
    """The share of a part in the weights: (labels, columns + 1)."""
    signed = alphas * part.signs[:, given.labels]
    found = np.empty((len(given.labels), part.csr.n_columns + 1))
    found[:, :-1] = (part.csr.matrix.T @ signed).T
    found[:, -1] = options.bias * signed.sum(axis=0)
    return found


def _costs(part: Partition, given: _Given, place: int) -> Floats:
    positive = part.signs[:, given.labels[place]] > 0
    costs: Floats = np.where(positive, given.cost_positive[place], given.cost_negative[place])
    return costs if part.weights is None else costs * part.weights


def _bounds(part: Partition, given: _Given, place: int, options: BlockOptions) -> tuple[Floats, Floats]:
    """The upper bounds of the dual variables, and what is added to their curvature."""
    costs = _costs(part, given, place)
    if not options.squared_loss:
        return costs, np.zeros(len(costs))
    with np.errstate(divide="ignore"):
        return np.where(costs > 0, np.inf, 0.0), np.where(costs > 0, 0.5 / costs, 0.0)
