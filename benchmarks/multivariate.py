"""Machines for PRBEP and F1, LinearSVM(loss="prbep") and loss="f1", against the hinge with thresholds.

On the 90 topics of Reuters-21578 and on Ohsumed. C of every machine is chosen by three-fold cross-validation
on the training documents: by the mean PRBEP of all labels for PRBEP, and by micro-F1 for F1. The hinge is
that of the default, whose rare labels cost more (balance="auto"). Micro- and macro-PRBEP are those of
rankings, label by label; F1 is decided by each machine's own rule (scores above 0), and by thresholds that
maximize F1 on the held-out scores of the same folds, as `--thresholds f1` does. Times are those of
one training with the chosen C, with two threads. Nothing is checked but that the machines reach their
tolerance: this compares qualities, and the figures say which is better.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from _compare import Check, Row, arguments, report
from small_models import CORPORA, f1, load
from widemargin import LinearSVM, Vectorizer
from widemargin.decide.thresholds import shrunk_f_thresholds
from widemargin.labels import Labels
from widemargin.measure.break_even import prbep

THREADS = 2
FOLDS = 3
TOL = 0.01
COSTS = (0.1, 0.3, 1.0, 3.0)
TASKS = ("reuters", "ohsumed")


def held_out(X: Any, signs: Any, loss: str, C: float) -> Any:
    """Scores of all training documents by machines that were trained without them."""
    fold = np.random.default_rng(0).permutation(X.shape[0]) % FOLDS
    scores = np.zeros(signs.shape)
    for out in range(FOLDS):
        inside, held = np.flatnonzero(fold != out), np.flatnonzero(fold == out)
        model = LinearSVM(C, loss=loss, tol=TOL, n_jobs=THREADS).fit(
            X[inside], (signs[inside] > 0).astype(int)
        )
        scores[held] = model.decision_function(X[held])
    return scores


def micro_own(signs: Any, scores: Any) -> float:
    """Micro-averaged PRBEP with a break-even threshold for each label: hits over positives."""
    positives = np.count_nonzero(signs > 0, axis=0)
    return 100 * float(np.nansum(prbep(signs, scores) * positives) / positives.sum())


def macro_f1(signs: Any, decided: Any) -> float:
    both = np.count_nonzero((signs > 0) & (decided > 0), axis=0)
    all_of = np.count_nonzero(signs > 0, axis=0) + np.count_nonzero(decided > 0, axis=0)
    return 100 * float(np.mean(2 * both / np.maximum(all_of, 1)))


def compare(task: str) -> Iterator[Row]:
    title, name = CORPORA[task]
    texts, y, new_texts, new_y = load(name)
    vectorizer = Vectorizer(n_jobs=THREADS)
    X = vectorizer.fit_transform(texts)
    new = vectorizer.transform(new_texts)
    labels = Labels.of(y)
    truth = labels.space.encode(new_y, unknown="ignore")
    seconds: dict[str, float] = {}
    figures: dict[str, dict[str, Any]] = {}
    for loss in ("hinge", "prbep", "f1"):
        found = {C: held_out(X, labels.signs, loss, C) for C in COSTS}
        by_prbep = max(found, key=lambda C: float(np.nanmean(prbep(labels.signs, found[C]))))
        by_f1 = max(found, key=lambda C: f1(labels.signs, _decided(found[C], labels.signs)))
        figures[loss] = {}
        for C in sorted({by_prbep, by_f1}):
            start = time.perf_counter()
            model = LinearSVM(C, loss=loss, tol=TOL, n_jobs=THREADS).fit(X, (labels.signs > 0).astype(int))
            seconds[loss] = time.perf_counter() - start
            scores = model.decision_function(new)
            if by_prbep == C:
                figures[loss] |= {
                    "C for PRBEP": C,
                    "micro-PRBEP": micro_own(truth, scores),
                    "macro-PRBEP": 100 * float(np.nanmean(prbep(truth, scores))),
                }
            if by_f1 == C:
                thresholds = shrunk_f_thresholds(found[C], labels.signs)
                own, chosen = np.where(scores > 0, 1, -1), np.where(scores > thresholds, 1, -1)
                figures[loss] |= {
                    "C for F1": C,
                    "micro-F1": f1(truth, own),
                    "macro-F1": macro_f1(truth, own),
                    "micro-F1 with thresholds": f1(truth, chosen),
                    "macro-F1 with thresholds": macro_f1(truth, chosen),
                    "largest gap": float(np.max(model.duality_gap_ / np.maximum(model.objective_, 1e-300))),
                }
    for loss in ("prbep", "f1"):
        quality = {
            f"{which}: {key}": value for which in (loss, "hinge") for key, value in figures[which].items()
        }
        gap = quality.pop(f"{loss}: largest gap")
        quality.pop("hinge: largest gap")
        check = Check("relative gap", gap, TOL)
        yield Row(f'{title}, loss="{loss}"', "hinge", seconds[loss], seconds["hinge"], [check], quality)


def _decided(scores: Any, signs: Any) -> Any:
    return np.where(scores > shrunk_f_thresholds(scores, signs), 1, -1)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    options = arguments(__doc__, None, TASKS).parse_args()
    sys.exit(report((row for task in options.tasks for row in compare(task)), options.json))
