"""Joachims (2000), Table 5.4: how many retraining steps exact leave-one-out needs.

An example whose rho alpha R_Delta^2 + xi is below 1 is no leave-one-out error (5.108), and one whose xi is
above 1 always is (5.109): only the others have to be left out. Counted over all categories of a collection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from widemargin.estimate.xi_alpha import xi_alpha_of
from widemargin.papers.joachims.estimators import trained
from widemargin.papers.joachims.random_splits import (
    Pool,
    Split,
    ohsumed_pool,
    random_split,
    reuters_pool,
    webkb_pool,
)
from widemargin.papers.joachims.text_tasks import Report
from widemargin.papers.joachims.thesis_svm import BIAS_NOTE
from widemargin.papers.result import Cell, PaperResult

RHO = (1, 2)
RETRAINED = {rho: f"retraining steps %, rho={rho}" for rho in RHO}
# Percent of the examples for each rho.
PUBLISHED: dict[str, tuple[Callable[[Report], Pool], tuple[float, float]]] = {
    "Reuters": (reuters_pool, (0.20, 0.58)),
    "WebKB": (webkb_pool, (6.78, 20.42)),
    "Ohsumed": (ohsumed_pool, (1.07, 2.56)),
}
SPLITS = 3


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
    ]
    for name in collections:
        load, printed = PUBLISHED[name]
        pool = load(report)
        shares = []
        for seed in range(splits):
            report(f"Training {pool.member.shape[1]} categories of {name}, {seed + 1} of {splits}")
            shares.append(retrained(random_split(pool, seed, size=size)))
        ours = np.mean(shares, axis=0)
        cells += [Cell(name, RETRAINED[rho], printed[k], float(ours[k])) for k, rho in enumerate(RHO)]
        notes += [f"{name}: {size or pool.half:,} training documents.", *pool.notes]
    title = "Joachims, Table 5.4: retraining steps of exact leave-one-out"
    return PaperResult("joachims-5.4", title, cells, notes, dict.fromkeys(RETRAINED.values(), 2))


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
