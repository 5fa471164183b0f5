"""The cost of the gate to the core: one check of a matrix, compared with the fits that it comes before.

In CPU time, one thread, on the training documents of a collection: the check of row pointers and column
numbers as a share of a fit of LinearSVM (one label, default parameters) and of one pass of BalancedWinnow and
Perceptron over the same vectors. The peer is the learner itself, its own call of the gate included. At most 1
percent of a fit and 10 percent of a pass are allowed. "with values" is the whole gate: its check of the
values replaces scikit-learn's and BalancedWinnow's own; Perceptron needs none.

Times are the smallest of all repeats, since other load on the machine is not small compared with
microseconds. The matrix is in the caches when it is checked. The first reader of a matrix waits for memory:
the gate, or without it the learner.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from _compare import Check, Row, arguments, report
from widemargin import BalancedWinnow, LinearSVM, Perceptron, Vectorizer, load_corpus
from widemargin._arrays import canonical_csr

TASKS = {"reuters21578": ("modapte", "earn"), "20newsgroups": ("bydate", "sci.med")}
SHARES = (
    (LinearSVM(n_jobs=1), 0.01),
    (BalancedWinnow(max_iter=1, n_jobs=1), 0.10),
    (Perceptron(max_iter=1, n_jobs=1), 0.10),
)


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def rows(tasks: list[str], repeats: int) -> Iterator[Row]:
    for name in tasks:
        split, label = TASKS[name]
        train = load_corpus(name, split).train
        X = Vectorizer().fit_transform(train.texts)
        y = np.array([label in labels for labels in train.labels])
        check, whole = partial(canonical_csr, X, finite=False), partial(canonical_csr, X)
        for learner, allowed in SHARES:
            fit = partial(learner.fit, X, y)
            # The first check brings the column numbers back into the caches after the fit.
            turn = (fit, whole, check, check)
            fit_s, whole_s, _, check_s = np.min(
                [[seconds(work) for work in turn] for _ in range(repeats)], axis=0
            ).tolist()
            checks = [Check("share of the learner's time", check_s / fit_s, allowed)]
            quality = {"with values": whole_s / fit_s}
            yield Row(f"{name} gate", type(learner).__name__, check_s, fit_s, checks, quality)


def main() -> int:
    options = arguments(__doc__, repeats=41, tasks=tuple(TASKS)).parse_args()
    return report(rows(options.tasks, options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
