"""Dagan, Karov and Roth: what the text mentions besides Table 1, on the same samples.

- Section 3: Littlestone's version of Winnow with negative weights, which updates all weights.
- Section 4.4: a filtering range near zero, "the obvious one", in place of one around the start; and discarded
  features that leave the sum by which positive Winnow divides a document.
- Section 5: sparse n-grams (Cohen and Singer), here pairs of words with up to three others between them.

The text prints no figures for these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from widemargin.learn.online.balanced_winnow import BalancedWinnow
from widemargin.papers.dagan.tables import (
    FOLDS,
    RANGE,
    RATES,
    SHARES,
    STEPS,
    Sample,
    average,
    cross_validated,
    draw_samples,
    variant,
)
from widemargin.papers.joachims.text_tasks import Report
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult

PAIRS = "after:3"
WORDS, WITH_PAIRS = "words, as published", "words and sparse pairs"
NEAR_ZERO = {"BalancedWinnow": (-0.5, 0.5), "PositiveWinnow": (0.0, 0.5), "Perceptron": (-0.5, 0.5)}
BREAK_EVEN, LEFT = "break-even", "features discarded, %"
KEPT_SUM = "discarded features leave the sum"
ACTIVE, EVERY = "updates of active features, binary", "updates of all features, binary"


def run(report: Report, n_draws: int = 10, passes: int = 50) -> PaperResult:
    """Mean break-even points over draws of two samples and ten topics each."""
    report("Reading Reuters-21578")
    samples = draw_samples(n_draws)
    tuned_on = samples[:2]
    cells: list[Cell] = []
    notes = [
        f"Samples, words and features as in dagan-1, means over {n_draws} draws. Square roots of counts and "
        f"the range [{RANGE[0]:g}, {RANGE[1]:g}], unless the row says binary.",
        f"Rates, and the share of mistakes below which features are discarded, by {FOLDS}-fold "
        "cross-validation over the training documents of the first draw: for every learner, with the "
        "published range.",
        "The range near zero is up to half of the starting weight, chosen before any figure was seen.",
    ]
    for row, zero in NEAR_ZERO.items():
        report(f"Choosing the rate of {row}")
        rates = STEPS if row == "Perceptron" else RATES
        settings = [(rate, share) for rate in rates for share in SHARES]
        rate, share = settings[_best([variant(row, "Discard", *one, passes) for one in settings], tuned_on)]
        notes.append(f"{row}: rate {rate:g}, discarding below {share:g} of the documents.")
        made: dict[str, Any] = {
            "no discarding": variant(row, "Sqrt. Freq.", rate, share, passes),
            "near the start, as published": variant(row, "Discard", rate, share, passes),
            "near zero": variant(row, "Discard", rate, share, passes).set_params(filtering_range=zero),
        }
        if row == "PositiveWinnow":
            for name in ("near the start, as published", "near zero"):
                kept = variant(row, "Discard", rate, share, passes).set_params(normalize_by="kept")
                around = {} if name != "near zero" else {"filtering_range": zero}
                made[f"{name}; {KEPT_SUM}"] = kept.set_params(**around)
        for name, model in made.items():
            report(f"{row}, {name}")
            cells += _cells(f"{row}: {name}", model, samples, "sxx")
    for name, drawn in ((WORDS, samples), (WITH_PAIRS, draw_samples(n_draws, PAIRS))):
        report(f"BalancedWinnow+, {name}")
        settings = [(rate, share) for rate in RATES for share in SHARES]
        plus = [variant("BalancedWinnow", "Discard", *one, passes) for one in settings]
        rate, share = settings[_best(plus, drawn[:2])]
        features = drawn[0].counts.shape[1]
        notes.append(f"{name}: {features:,} features, rate {rate:g}, discarding below {share:g}.")
        cells += _cells(f"BalancedWinnow+: {name}", plus[settings.index((rate, share))], drawn, "sxx")
    report("Choosing the rates of both updates")
    for name, updates in ((ACTIVE, "active"), (EVERY, "all")):
        made_of = BalancedWinnow(max_iter=passes).set_params(updates=updates)
        variants = [clone(made_of).set_params(promotion=rate, demotion=1 / rate) for rate in RATES]
        best = variants[_best(variants, tuned_on, "bxx")]
        notes.append(f"{name}: promotion {best.promotion:g}, demotion its inverse.")
        cells += _cells(f"BalancedWinnow: {name}", best, samples, "bxx")
    title = "Dagan, Karov, Roth, sections 3 and 4.4: other updates and filtering ranges"
    return PaperResult("dagan-versions", title, cells, notes)


def _best(variants: Sequence[Any], samples: Sequence[Sample], weighting: str = "sxx") -> int:
    figures = [
        sum(cross_validated(one, s.vectors(weighting)[0], s.in_train, average) for s in samples)
        for one in variants
    ]
    return int(np.argmax(figures))


def _cells(row: str, model: Any, samples: Sequence[Sample], weighting: str) -> list[Cell]:
    found, discarded = [], []
    for sample in samples:
        X, X_test = sample.vectors(weighting)
        scores = model.fit(X, sample.in_train).decision_function(X_test)
        found.append(100 * average(sample.truth, scores))
        discarded.append(100 * float(np.mean(model.n_discarded_)) / X.shape[1])
    return [
        Cell(row, BREAK_EVEN, UNPUBLISHED, float(np.mean(found))),
        Cell(row, LEFT, UNPUBLISHED, float(np.mean(discarded))),
    ]
