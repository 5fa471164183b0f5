"""How often is the drift alarm false, and how soon does it see a changed mix of topics?

20 Newsgroups: a model of half of the messages, its profile of left-out documents, and a stream drawn with
replacement from the other half, which no model has seen. Months of 30,000 documents without drift: how many
have an alarm, at a level of 1 %. Then, after 5,000 documents, another mix: half of the groups at a fifth of
their share, or one group at eight times its share; how many documents until the alarm. Simulated profiles
beside it, of 20 classes, without any tolerance: the rate that the level bounds. No peer has an alarm whose
false rate is bounded at any time, so there is no ratio.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import numpy as np

from widemargin import LinearSVM, TextClassifier, Vectorizer, load_corpus
from widemargin.monitor import reference as references
from widemargin.monitor.drift_monitor import DriftMonitor
from widemargin.monitor.observed import Observed
from widemargin.monitor.reference import Reference

MONTH, BEFORE = 30_000, 5_000


def taken(seen: Observed, rows: Any) -> Observed:
    return Observed(*(None if part is None else part[rows] for part in seen))


def newsgroups(months: int) -> list[dict[str, Any]]:
    corpus = load_corpus("20newsgroups")
    texts = [*corpus.train.texts, *corpus.test.texts]
    labels = np.array([label for (label,) in [*corpus.train.labels, *corpus.test.labels]])
    rng = np.random.default_rng(0)
    order = rng.permutation(len(texts))
    known, new = np.split(order, 2)
    model = TextClassifier(Vectorizer(), LinearSVM(), tune=None, estimate="k-fold")
    model.fit([texts[i] for i in known], labels[known])
    seen = model.scorer.observe([texts[i] for i in new])[1]
    reference = model.record_.profile.reference
    names = model.label_space_.column_names.tolist()
    false = 0
    for month in range(months):
        rng = np.random.default_rng([1, month])
        monitor = DriftMonitor(reference, names)
        monitor.update(taken(seen, rng.integers(0, len(new), MONTH)))
        false += bool(monitor.alarms)
    found: list[dict[str, Any]] = [{"name": "20newsgroups, no drift", "months": months, "with alarm": false}]
    groups = np.unique(labels)
    for name, factors in (
        ("half of the groups at a fifth", np.where(np.arange(len(groups)) < len(groups) // 2, 0.2, 1.0)),
        ("one group eight times as often", np.where(np.arange(len(groups)) == 3, 8.0, 1.0)),
    ):
        weights = factors[np.searchsorted(groups, labels[new])]
        delays = []
        for run in range(20):
            rng = np.random.default_rng([2, run])
            monitor = DriftMonitor(reference, names)
            early = monitor.update(taken(seen, rng.integers(0, len(new), BEFORE)))
            after = rng.choice(len(new), 5_000, p=weights / weights.sum())
            late = monitor.update(taken(seen, after))
            delays.append(late[0].seen - BEFORE if late and not early else np.inf)
        median, longest = float(np.median(delays)), max(delays)
        row = {"name": f"20newsgroups, {name}", "median delay": median, "longest": longest}
        found.append(row)
    return found


def simulated(months: int) -> dict[str, Any]:
    """Without tolerance: the rate that the level bounds."""
    kept = dict(references.TOLERANCES)
    references.TOLERANCES.update(dict.fromkeys(kept, 1.0))
    false = 0
    for month in range(months):
        rng = np.random.default_rng([3, month])
        shares = rng.dirichlet(np.full(20, 2.0))

        def drawn(n: int, rng: Any = rng, shares: Any = shares) -> Observed:
            decided = np.eye(20, dtype=bool)[rng.choice(20, n, p=shares)]
            return Observed(decided, rng.normal(size=n), None, None, rng.beta(1, 9, n), rng.random(n) < 0.002)

        monitor = DriftMonitor(Reference.of(drawn(3000)))
        monitor.update(drawn(MONTH))
        false += bool(monitor.alarms)
    references.TOLERANCES.update(kept)
    return {"name": "simulated, no tolerance, no drift", "months": months, "with alarm": false}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print one object per row")
    parser.add_argument("--months", type=int, default=300, help="how many months to draw")
    given = parser.parse_args()
    for row in [*newsgroups(given.months), simulated(given.months)]:
        print(json.dumps(row) if given.json else ", ".join(f"{key}: {value}" for key, value in row.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
