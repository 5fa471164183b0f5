"""What leave-one-out of a LinearSVM costs, exact and by one step, against what is predicted.

`estimate="auto"` chooses by predicted work, so the predictions matter. Printed for samples of every
collection: seconds of one core for one training, for exact leave-one-out and for its approximation by one
step, each with predicted / measured; how far the approximate scores are from the exact ones, on average over
the support vectors; accuracy (all labels right) by both; and what "auto" takes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from _whole_corpora import CORPORA, collection
from widemargin import LinearSVM, Vectorizer
from widemargin._arrays import is_sparse
from widemargin._work import RATE
from widemargin.estimate.held_out import choose_method, leave_one_out
from widemargin.labels import Labels


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    return work(), time.process_time() - begin


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpora", nargs="*", default=CORPORA, help="NAME:K takes the K most frequent labels")
    parser.add_argument("--documents", type=int, nargs="+", default=[1000, 3000])
    parser.add_argument("--C", type=float, nargs="+", default=[1.0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print every row as JSON")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in asked.corpora:
        texts, labels = collection(name)
        order = np.random.default_rng(asked.seed).permutation(len(texts))
        for n in asked.documents:
            rows = order[:n]
            y = Labels.of(labels).take(rows)
            X = Vectorizer().fit_transform([texts[i] for i in rows])
            for C in asked.C:
                found = measured(name, LinearSVM(C, n_jobs=1), X, y)
                print(json.dumps(found) if asked.json else text_of(found), flush=True)
    return 0


def measured(name: str, model: LinearSVM, X: Any, y: Labels) -> dict[str, Any]:
    _, training = timed(lambda: model.fit(X, y))
    cost = model.left_out_cost(X)
    exact, of_exact = timed(lambda: leave_one_out(model, X, y, n_jobs=1))
    step, of_step = timed(lambda: leave_one_out(model, X, y, n_jobs=1, one_step=True))
    alpha: Any = model.alpha_.toarray() if is_sparse(model.alpha_) else model.alpha_
    support = alpha.reshape(exact.scores.shape) > 0
    right = [float(np.mean((y.space.choose(found.scores) == y.signs).all(axis=1))) for found in (exact, step)]
    return {
        "task": f"{name} {X.shape[0]} C={model.C:g}",
        "seconds": {"training": training, "exact": of_exact, "one step": of_step},
        "predicted / measured": {
            "exact": cost.seconds / of_exact,
            "one step": cost.one_step / RATE / of_step,
        },
        "away": float(np.abs(step.scores - exact.scores)[support].mean()),
        "accuracy": {"exact": right[0], "one step": right[1]},
        "auto": choose_method("auto", model, X),
    }


def text_of(found: dict[str, Any]) -> str:
    seconds, ratio, right = found["seconds"], found["predicted / measured"], found["accuracy"]
    return (
        f"{found['task']}: training {seconds['training']:.2f} s; exact {seconds['exact']:.2f} s (predicted / "
        f"measured {ratio['exact']:.1f}); one step {seconds['one step']:.2f} s ({ratio['one step']:.1f}), "
        f"{found['away']:.4f} away; accuracy {right['exact']:.4f} and {right['one step']:.4f}; "
        f"auto takes {found['auto']}"
    )


if __name__ == "__main__":
    sys.exit(main())
