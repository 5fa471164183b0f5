"""What leave-one-out of a LinearSVM costs, exact and by one step, against what is predicted.

`estimate="auto"` chooses by predicted work, so the predictions matter. Printed for samples of every
collection: seconds of one core for one training, for exact leave-one-out and for its approximation by one
step, each with predicted / measured; how far the approximate scores are from the exact ones, on average over
the support vectors; accuracy (all labels right) by both; and what "auto" takes.
"""

from __future__ import annotations

import argparse
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
                print(line(name, LinearSVM(C, n_jobs=1), X, y), flush=True)
    return 0


def line(name: str, model: LinearSVM, X: Any, y: Labels) -> str:
    _, training = timed(lambda: model.fit(X, y))
    cost = model.left_out_cost(X)
    exact, of_exact = timed(lambda: leave_one_out(model, X, y, n_jobs=1))
    step, of_step = timed(lambda: leave_one_out(model, X, y, n_jobs=1, one_step=True))
    alpha: Any = model.alpha_.toarray() if is_sparse(model.alpha_) else model.alpha_
    support = alpha.reshape(exact.scores.shape) > 0
    away = np.abs(step.scores - exact.scores)[support].mean()
    right = [np.mean((y.space.choose(found.scores) == y.signs).all(axis=1)) for found in (exact, step)]
    return (
        f"{name} {X.shape[0]} C={model.C:g}: training {training:.2f} s; exact {of_exact:.2f} s "
        f"(predicted / measured {cost.seconds / of_exact:.1f}); one step {of_step:.2f} s "
        f"({cost.one_step / RATE / of_step:.1f}), {away:.4f} away; "
        f"accuracy {right[0]:.4f} and {right[1]:.4f}; "
        f"auto takes {choose_method('auto', model, X)}"
    )


if __name__ == "__main__":
    sys.exit(main())
