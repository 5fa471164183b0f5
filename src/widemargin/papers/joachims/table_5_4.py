"""Joachims (2000), Table 5.4: how many retraining steps exact leave-one-out needs, and their CPU time.

An example whose rho alpha R_Delta^2 + xi is below 1 is no leave-one-out error (5.108), and one whose xi is
above 1 always is (5.109): only the others have to be left out. Counted over all categories of a collection.
The time of a category is that of training once, and again for every step, from the solution on all examples.
Some steps of each category are timed and stand for the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin.estimate.held_out import leave_one_out
from widemargin.estimate.xi_alpha import xi_alpha_of
from widemargin.learn.svm.kernel_svm import KernelSVM
from widemargin.papers.joachims.estimators import C, trained
from widemargin.papers.joachims.random_splits import (
    Pool,
    Split,
    ohsumed_pool,
    random_split,
    reuters_pool,
    webkb_pool,
)
from widemargin.papers.joachims.text_tasks import Report
from widemargin.papers.joachims.thesis_svm import BIAS_NOTE, linear_svm
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult

Floats = NDArray[np.float64]

RHO = (1, 2)
RETRAINED = {rho: f"retraining steps %, rho={rho}" for rho in RHO}
SECONDS = {rho: f"CPU s, rho={rho}" for rho in RHO}
LIBRARY = "CPU s, library"
# Percent of the examples for each rho, and the CPU seconds of a category.
PUBLISHED: dict[str, tuple[Callable[[Report], Pool], tuple[float, float], tuple[float, float]]] = {
    "Reuters": (reuters_pool, (0.20, 0.58), (11.1, 32.3)),
    "WebKB": (webkb_pool, (6.78, 20.42), (78.5, 235.4)),
    "Ohsumed": (ohsumed_pool, (1.07, 2.56), (433.0, 1132.3)),
}
SPLITS = 3
# Steps of each category that are timed.
TIMED = 10


def run(
    report: Report,
    collections: Sequence[str] = tuple(PUBLISHED),
    splits: int = SPLITS,
    size: int | None = None,
) -> PaperResult:
    """Train all categories of some `collections` on `splits` random halves, or on `size` documents."""
    cells: list[Cell] = []
    notes = [
        BIAS_NOTE,
        f"Averages over all categories and {splits} random training sets, half of a collection each unless "
        "its documents are counted below; published are 6,451, 2,092 and 10,000 documents.",
        "CPU seconds of one thread and one category, on the first training set: of training, and of every "
        f"retraining step from the solution on all examples. At most {TIMED} random steps of each category "
        "are timed, and their mean counts for the others. Published on a Sun Ultra at 400 MHz.",
        f"{LIBRARY}: leave-one-out as this library does it, with the same result as retraining.",
    ]
    for name in collections:
        load, printed, printed_seconds = PUBLISHED[name]
        pool = load(report)
        shares = []
        for seed in range(splits):
            report(f"Training {pool.member.shape[1]} categories of {name}, {seed + 1} of {splits}")
            shares.append(retrained(random_split(pool, seed, size=size)))
        ours = np.mean(shares, axis=0)
        report(f"Timing retraining steps of {name}")
        first = random_split(pool, 0, size=size)
        seconds = retraining_seconds(first)
        cells += [Cell(name, SECONDS[rho], printed_seconds[k], seconds[k]) for k, rho in enumerate(RHO)]
        cells.append(Cell(name, LIBRARY, UNPUBLISHED, library_seconds(first)))
        cells += [Cell(name, RETRAINED[rho], printed[k], float(ours[k])) for k, rho in enumerate(RHO)]
        notes += [f"{name}: {size or pool.half:,} training documents.", *pool.notes]
    title = "Joachims, Table 5.4: retraining steps of exact leave-one-out"
    columns = (*SECONDS.values(), LIBRARY, *RETRAINED.values())
    return PaperResult("joachims-5.4", title, cells, notes, dict.fromkeys(columns, 2))


def retrained(split: Split) -> list[float]:
    """The share of examples, in percent and over all categories, that neither condition decides."""
    learner = trained(split)
    # What is a training error is at risk as well, whatever rho.
    errors = (learner.xi_ > 1).sum()
    shares = []
    for rho in RHO:
        at_risk = xi_alpha_of(learner, split.X_train, split.y_train, risk_factor=rho).merged()
        steps = at_risk.false_positive + at_risk.false_negative - errors
        shares.append(100 * float(steps / at_risk.n))
    return shares


def retraining_seconds(split: Split, timed: int = TIMED) -> list[float]:
    """CPU seconds of exact leave-one-out for each rho, the mean over the categories."""
    rng = np.random.default_rng(0)
    totals = []
    # In a random half, some rare categories have no example.
    for member in split.in_train.T[split.in_train.any(axis=0)]:
        y = sp.csr_array(member[:, None])
        learner = linear_svm(C, n_jobs=1)
        before = time.process_time()
        learner.fit(split.X_train, y)
        training = time.process_time() - before
        whole, xi = learner.alpha_.copy(), learner.xi_[:, 0]
        # What is undecided with rho = 1 is so with rho = 2.
        undecided = [
            np.flatnonzero((learner.left_out_risk(split.X_train, risk_factor=rho)[:, 0] >= 1) & (xi <= 1))
            for rho in RHO
        ]
        learner.set_params(warm_start=True)
        steps = {int(i) for part in undecided for i in rng.permutation(part)[:timed]}
        seconds = {i: _without(learner, whole, split, y, i) for i in sorted(steps)}
        totals.append(
            [
                training
                + len(part) * float(np.mean([seconds[i] for i in part.tolist() if i in seconds] or [0.0]))
                for part in undecided
            ]
        )
    return [float(mean) for mean in np.mean(totals, axis=0)]


def _without(learner: KernelSVM, whole: Floats, split: Split, y: sp.csr_array, i: int) -> float:
    """CPU seconds of training without example `i`, from the solution on all examples."""
    weights = np.ones(len(whole))
    weights[i] = 0.0
    learner.alpha_ = whole
    before = time.process_time()
    learner.fit(split.X_train, y, sample_weight=weights)
    return time.process_time() - before


def library_seconds(split: Split) -> float:
    """CPU seconds of the library's exact leave-one-out, training included, the mean over the categories."""
    before = time.process_time()
    learner = linear_svm(C, n_jobs=1).fit(split.X_train, split.y_train)
    leave_one_out(learner, split.X_train, split.y_train, scores=False)
    return (time.process_time() - before) / int(split.in_train.any(axis=0).sum())
