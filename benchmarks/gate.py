"""The cost of the gate to the core: one check of a matrix, compared with the fits that it comes before.

In CPU time, one thread, on the training documents of a collection: the check as a share of a fit of LinearSVM
(one label, default parameters) and of one pass of BalancedWinnow and Perceptron over the same vectors. The
peer is the learner itself. At most 1 percent of a fit and 10 percent of a pass are allowed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial

import numpy as np

from _compare import Check, Row, arguments, in_turns, report
from widemargin import BalancedWinnow, LinearSVM, Perceptron, Vectorizer, load_corpus
from widemargin._arrays import canonical_csr

TASKS = {"reuters21578": ("modapte", "earn"), "20newsgroups": ("bydate", "sci.med")}
SHARES = (
    (LinearSVM(n_jobs=1), 0.01),
    (BalancedWinnow(max_iter=1, n_jobs=1), 0.10),
    (Perceptron(max_iter=1, n_jobs=1), 0.10),
)


def rows(tasks: list[str], repeats: int) -> Iterator[Row]:
    for name in tasks:
        split, label = TASKS[name]
        train = load_corpus(name, split).train
        X = Vectorizer().fit_transform(train.texts)
        y = np.array([label in labels for labels in train.labels])
        for learner, allowed in SHARES:
            # Perceptron sees by its scores whether values are finite, so nobody looks at them before.
            finite = not isinstance(learner, Perceptron)
            gate, fit = in_turns(
                partial(canonical_csr, X, finite=finite),
                partial(learner.fit, X, y),
                repeats=repeats,
                clock=time.process_time,
            )
            checks = [Check("share of the learner's time", gate.seconds / fit.seconds, allowed)]
            yield Row(f"{name} gate", type(learner).__name__, gate.seconds, fit.seconds, checks)


def main() -> int:
    options = arguments(__doc__, repeats=21, tasks=tuple(TASKS)).parse_args()
    return report(rows(options.tasks, options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
