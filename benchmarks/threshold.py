"""The cost of the bias feature in LinearSVM: passes, seconds and objectives, against the same without one.

All labels of a collection on one thread at the default tolerance (a relative duality gap of 0.001), in CPU
time. With `--before PYTHON`, the peer is instead the `widemargin` of another interpreter, such as that of an
earlier checkout; its objectives are compared with ours.

Every run is a process of its own that fits once to warm up. Objectives and gaps are recomputed here in
float64 from the weights and dual variables: a gap may be at most the tolerance, and the sum of our objectives
at most 0.02 percent above that of an earlier version.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from _compare import Check, Row, arguments, report
from linear_svm import TASKS, load, objective

COSTS = (0.1, 1.0)
TOL = 1e-3
WITHIN = 2e-4
WORKER = """
import pickle, sys, time
from widemargin import LinearSVM
X, Y, C, bias, tol = pickle.load(open(sys.argv[1], "rb"))
for _ in range(2):
    start = time.process_time()
    model = LinearSVM(C, bias=bias, tol=tol, n_jobs=1)
    if hasattr(model, "balance"):  # not in older versions
        model.balance = 0
    model.fit(X, Y)
    seconds = time.process_time() - start
names = ("coef_", "intercept_", "alpha_", "n_iter_")
pickle.dump((seconds, *(getattr(model, name) for name in names)), open(sys.argv[2], "wb"))
"""


def fit(python: str, X, Y, C: float, bias: float | None, folder: Path) -> tuple:
    """CPU seconds, weights, intercepts, dual variables and passes of one run."""
    task, result = folder / "task", folder / "result"
    task.write_bytes(pickle.dumps((X, Y, C, bias, TOL)))
    subprocess.run([python, "-c", WORKER, str(task), str(result)], check=True)
    return pickle.loads(result.read_bytes())


def largest_gap(X, Y, run: tuple, C: float) -> float:
    """The largest relative duality gap of all labels."""
    _, coef, intercept, alpha, _ = run
    signed = alpha * (2 * Y - 1)
    from_alpha = np.vstack([X.T @ signed, signed.sum(axis=0) * (intercept != 0)])
    dual = alpha.sum(axis=0) - 0.5 * (from_alpha**2).sum(axis=0)
    primal = [objective(X, Y[:, [k]], (coef[[k]], intercept[[k]]), C) for k in range(Y.shape[1])]
    return float(np.max((primal - dual) / primal))


def compare(title: str, X, Y: np.ndarray, repeats: int, before: str | None, folder: Path) -> Iterator[Row]:
    X64 = X.astype(np.float64)
    for C in COSTS:
        ours = partial(fit, sys.executable, X, Y, C, 1.0, folder)
        peer = (
            partial(fit, before, X, Y, C, 1.0, folder)
            if before
            else partial(ours.func, *ours.args[:4], None, folder)
        )
        runs = [(ours(), peer()) for _ in range(repeats)]
        (here, there), seconds = (
            runs[-1],
            [median(run[0] for run in side) for side in zip(*runs, strict=True)],
        )
        reached = [objective(X64, Y, run[1:3], C) for run in (here, there)]
        checks = [Check("largest relative gap", largest_gap(X64, Y, here, C), TOL * (1 + 1e-6))]
        if before:
            checks.append(Check("objective above the peer's", reached[0] / reached[1] - 1, WITHIN))
        quality = {
            "passes": float(here[4].mean()),
            "peer's passes": float(there[4].mean()),
            "most passes": int(here[4].max()),
            "peer's most passes": int(there[4].max()),
            "objective": reached[0],
            "peer's objective": reached[1],
        }
        name = "before" if before else "without a bias feature"
        yield Row(f"{title}, C = {C:g}", name, *seconds, checks, quality)


def rows(tasks: list[str], repeats: int, before: str | None) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        for task in tasks:
            title, name, split = TASKS[task]
            yield from compare(title, *load(name, split), repeats, before, Path(folder))


def main() -> int:
    parser = arguments(__doc__, repeats=5, tasks=tuple(TASKS))
    parser.add_argument("--before", metavar="PYTHON", help="interpreter with another version of widemargin")
    options = parser.parse_args()
    return report(rows(options.tasks, options.repeats, options.before), options.json)


if __name__ == "__main__":
    sys.exit(main())
