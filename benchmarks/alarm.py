"""How often the alarm fires if transduction fails, and if it helps.

The samples of `transduction.py` on Reuters: 17 labeled documents, ten topics, C = 20, with C* = C as
published and with the default. Transduction fails if its break-even point is more than 5 points below the
inductive one, and helps if it is above. "tests of 7.5" is the published alarm at the same level; "alarm" is
the default, which also tests the share of support vectors (`measure/alarm.py`). Its threshold was chosen on
training documents, with C* = C. With the default C*, the search continues to C* = C for the alarm; the CPU
seconds include this.

Intervals are Clopper and Pearson's, with 95 % confidence, over topics and samples.

Following the alarm must not cost more than 1 point of the average break-even point.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from _compare import arguments
from _transduction_tasks import Sample, draw, pool, sample
from transduction import C, fitted, in_percent
from widemargin.errors import DataWarning
from widemargin.measure.intervals import clopper_pearson

ALLOWED_LOSS = 1.0  # points


def main() -> int:
    parser = arguments(__doc__, repeats=None)
    parser.add_argument("--samples", type=int, default=20, metavar="N", help="samples of labeled documents")
    parser.add_argument("--first-seed", type=int, default=0, metavar="N", help="seed of the first sample")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    documents = pool("reuters")
    seeds = range(options.first_seed, options.first_seed + options.samples)
    tasks = [sample(documents, draw(documents, 17, seed)) for seed in seeds]
    failed = 0
    for title, cost in (("C* = C", C), ("default C*", None)):
        for row in outcomes(title, tasks, cost):
            print(json.dumps(row) if options.json else row, flush=True)
            if not row["guarded"] >= row["transductive"] - ALLOWED_LOSS:
                failed = 1
                print(f"{row['name']}: costs more than {ALLOWED_LOSS:g} point.", file=sys.stderr)
    return failed


def outcomes(title: str, tasks: list[Sample], cost: float | None) -> Iterator[dict[str, Any]]:
    """One row of the tests of 7.5 alone and one of the whole alarm."""
    inductive, transductive, least_p, alarm, seconds = [], [], [], [], []
    for task in tasks:
        model, cpu = fitted(task, C_unlabeled=cost)
        seconds.append(cpu)
        inductive += in_percent(task, model.inductive_).tolist()
        transductive += in_percent(task, model.scores_).tolist()
        for found in model.alarm_:
            assert found is not None
            least_p.append(min(found.p_values.values()))
            alarm.append(found.fired)
    before, after = np.array(inductive), np.array(transductive)
    failed, helped = after < before - 5, after > before
    for name, fires in {"tests of 7.5": np.array(least_p) <= 0.01, "alarm": np.array(alarm)}.items():
        yield {
            "name": f"{name}, {title}",
            "cases": len(before),
            "failed": int(failed.sum()),
            "helped": int(helped.sum()),
            "fires_where_failed": share(fires, failed),
            "fires_where_helped": share(fires, helped),
            "inductive": float(before.mean()),
            "transductive": float(after.mean()),
            "guarded": float(np.where(fires, before, after).mean()),
            "better_of_both": float(np.maximum(before, after).mean()),
            "cpu_s": float(np.median(seconds)),
        }


def share(fires: NDArray[np.bool_], cases: NDArray[np.bool_]) -> tuple[float, float, float] | None:
    """How often the alarm fires in these cases, with the ends of the interval."""
    if not cases.any():
        return None
    low, high = clopper_pearson((fires & cases).sum(), cases.sum())
    return float(fires[cases].mean()), float(low), float(high)


if __name__ == "__main__":
    sys.exit(main())
