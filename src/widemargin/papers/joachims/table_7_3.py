"""Joachims (2000), Figure 7.3: a transductive SVM on a TCat-concept, against the sizes of both sets.

Documents of the concept (7.7) have the word of their class and four of eight other words, every such vector
equally likely. The error of the labels that the test documents get falls with more training documents, and
with more test documents too. The published figure is a surface without printed values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from widemargin.learn.svm.transductive import TransductiveSVM
from widemargin.papers.joachims.text_tasks import Report
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult
from widemargin.report.plots import Line, Panel
from widemargin.theory import TCatConcept

CONCEPT = TCatConcept([(1, 0, 1), (0, 1, 1), (4, 4, 8)])
TRAIN_SIZES = (2, 3, 4, 6, 8, 12, 16)
TEST_SIZES = (4, 10, 20, 50, 100, 200)
REPEATS = 50
INDUCTIVE = "inductive SVM"
# Separable data: errors cost as much as they need to.
C = 1000.0
NOTES = [
    "The percentage of wrong labels of the test documents. The published figure is a surface "
    "without printed values; sizes and number of repetitions are ours.",
    "Training sets have at least one document of each class; half of the test documents are positive, "
    "which is the num+ of the machine.",
    "The inductive machine is measured on the largest test set.",
]


def run(
    report: Report,
    train_sizes: Sequence[int] = TRAIN_SIZES,
    test_sizes: Sequence[int] = TEST_SIZES,
    repeats: int = REPEATS,
) -> PaperResult:
    """Errors for every pair of sizes, averaged over `repeats` random training and test sets."""
    cells: list[Cell] = []
    curves: dict[str, list[float]] = {}
    for n in train_sizes:
        report(f"{n} training documents")
        errors: dict[str, list[float]] = {}
        for seed in range(repeats):
            for name, error in one_draw(n, test_sizes, seed).items():
                errors.setdefault(name, []).append(error)
        for name, values in errors.items():
            curves.setdefault(name, []).append(float(np.mean(values)))
            cells.append(Cell(f"n={n}", name, UNPUBLISHED, curves[name][-1]))
            cells.append(
                Cell(
                    f"n={n}",
                    f"{name} standard error",
                    UNPUBLISHED,
                    float(np.std(values) / len(values) ** 0.5),
                )
            )
    bound = f"The margin of the true labels is at least {CONCEPT.margin_bound():.3f} (Lemma 2)."
    notes = [*NOTES, f"Means over {repeats} repetitions.", bound]
    lines = [Line(name, list(train_sizes), values) for name, values in curves.items()]
    panels = [
        Panel("TCat([1:0:1], [0:1:1], [4:4:8])", "training documents", "error on test documents (%)", lines)
    ]
    title = "Joachims, Figure 7.3: a transductive SVM on a TCat-concept"
    return PaperResult("joachims-figure-7.3", title, cells, notes, {}, panels)


def one_draw(n: int, test_sizes: Sequence[int], seed: int) -> dict[str, float]:
    """Errors in percent on test sets that are parts of each other, after training on the same documents."""
    rng = np.random.default_rng([n, seed])
    X, y = _training_set(rng, n)
    most_X, most_y = _test_set(rng, max(test_sizes))
    found = {}
    for k in sorted(test_sizes, reverse=True):
        known = np.concatenate([y, np.zeros(k, dtype=np.int8)])
        machine = TransductiveSVM(C, C_unlabeled=C, positives=0.5, unlabeled=0, on_alarm="ignore")
        machine.fit(_stacked(X, most_X[:k]), known)
        if INDUCTIVE not in found:
            scores = np.asarray(machine.inductive_).reshape(-1)[n:]
            found[INDUCTIVE] = 100 * float(np.mean(np.where(scores > 0, 1, -1) != most_y))
        labels = np.asarray(machine.transduction_)[n:]
        found[f"TSVM, k={k}"] = 100 * float(np.mean(labels != most_y[:k]))
    return dict(sorted(found.items(), key=lambda item: item[0] != INDUCTIVE))


def _training_set(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """`n` documents, of either class with the same chance, but not all of one."""
    positive = 0
    while not 0 < positive < n:
        positive = int(rng.binomial(n, 0.5))
    return CONCEPT.sample(positive, n - positive, distinct=True, random_state=rng)


def _test_set(rng: np.random.Generator, k: int) -> tuple[Any, Any]:
    """`k` documents, in turn of the one and of the other class, so that parts are balanced too."""
    X, y = CONCEPT.sample(k // 2, k // 2, distinct=True, random_state=rng)
    order = np.arange(k).reshape(2, -1).T.ravel()
    return X[order], y[order]


def _stacked(first: Any, second: Any) -> sp.csr_array:
    return sp.csr_array(sp.vstack([first, second], format="csr").astype(np.float64))
