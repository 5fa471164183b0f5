"""Zhang, section 3: which family learns more quickly, by the sparsity of documents and of the target.

The text refers to simulations of Kivinen and Warmuth. The Winnows learn more quickly from dense documents
that are bounded in the infinity norm if the target is sparse; the Perceptrons from documents of a unit sphere
if it is dense. For text, sparse documents and a sparse target, no family has an advantage. It prints no
figures.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from widemargin.learn.online.dual_svm import DualSVM
from widemargin.learn.online.large_margin_winnow import LargeMarginWinnow
from widemargin.learn.online.perceptron import Perceptron
from widemargin.learn.online.winnow import Winnow
from widemargin.papers.joachims.text_tasks import Report
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult
from widemargin.report.plots import Line, Panel
from widemargin.theory.mistakes import entropy_terms, perceptron_mistakes, two_norm_terms, winnow_mistakes

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]

N_FEATURES = 400
RELEVANT = 5  # of a sparse target
ACTIVE = 20  # values of a sparse document
NEAR = 0.1  # documents nearer to the hyperplane than this share of the mean distance are not drawn
SIZES = (50, 100, 200, 400)
TEST_SIZE = 2000
REPEATS = 5
PASSES = 200


def _cube(rng: np.random.Generator, n: int) -> Floats:
    return rng.choice([-1.0, 1.0], size=(n, N_FEATURES))


def _sphere(rng: np.random.Generator, n: int) -> Floats:
    X = rng.normal(size=(n, N_FEATURES))
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def _sparse(rng: np.random.Generator, n: int) -> Floats:
    X = np.zeros((n, N_FEATURES))
    places = rng.random((n, N_FEATURES)).argpartition(ACTIVE, axis=1)[:, :ACTIVE]
    np.put_along_axis(X, places, 1.0, axis=1)
    return X


DOCUMENTS: dict[str, Draw] = {"dense, +1 or -1": _cube, "unit sphere": _sphere, "sparse, binary": _sparse}
TARGETS = ("sparse", "dense")
PERCEPTRON, SVM, WINNOW, MARGIN_WINNOW = "Perceptron", "SVM", "Winnow", "LM-UWin"
LEARNERS = (PERCEPTRON, SVM, WINNOW, MARGIN_WINNOW)
TERM_TWO, TERM_ONE = "Theorem 3.1", "Theorem 3.2"
BOUND_TWO, BOUND_ONE = "mistakes, Perceptron", "mistakes, Winnow"


def run(report: Report, sizes: Sequence[int] = SIZES, repeats: int = REPEATS) -> PaperResult:
    """Test errors of the four learners at several numbers of documents, and the terms of the theorems."""
    cells: list[Cell] = []
    panels = []
    for documents, draw in DOCUMENTS.items():
        for target in TARGETS:
            report(f"Documents: {documents}; target: {target}")
            row = f"{documents}; {target} target"
            errors: dict[str, list[float]] = {name: [] for name in LEARNERS}
            for n in sizes:
                found = [_figures(draw, target, n, seed) for seed in range(repeats)]
                means = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
                for name in LEARNERS:
                    errors[name].append(means[name])
                if n == sizes[len(sizes) // 2]:
                    cells += [Cell(row, name, UNPUBLISHED, mean) for name, mean in means.items()]
            lines = [Line(name, list(map(float, sizes)), errors[name]) for name in LEARNERS]
            panels.append(Panel(row, "training documents", "error, %", lines))
    notes = [
        f"Errors in percent on {TEST_SIZE:,} documents after {sizes[len(sizes) // 2]} training documents of "
        f"{N_FEATURES} features, means over {repeats} draws. A sparse target has {RELEVANT} weights of +1 "
        f"or -1, a dense one {N_FEATURES}; a sparse document has {ACTIVE} features. Documents nearer to the "
        f"target's hyperplane than {NEAR:g} times the mean distance are not drawn: all are separable. There "
        "is no constant feature.",
        "SVM and LM-UWin have hard margins (C = infinity). The Winnow has the rate eta of its mistake "
        f"bound, and all learners make at most {PASSES} passes.",
        "Of the theorems: the complexity for the target at its own margin, without the unspecified "
        "constant; for separable documents it has no root. Mistakes: the bounds of section 2 for the "
        "target.",
    ]
    digits = {TERM_TWO: 1, TERM_ONE: 1, BOUND_TWO: 0, BOUND_ONE: 0}
    title = "Zhang, section 3: errors by the sparsity of documents and of the target"
    return PaperResult("zhang-section-3", title, cells, notes, digits=digits, panels=panels)


def _figures(draw: Draw, target: str, n: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    w = np.zeros(N_FEATURES)
    relevant = RELEVANT if target == "sparse" else N_FEATURES
    w[rng.permutation(N_FEATURES)[:relevant]] = np.where(np.arange(relevant) % 2, -1.0, 1.0)
    X, y = _labeled(draw, w, n, rng)
    X_test, truth = _labeled(draw, w, TEST_SIZE, rng)
    bound = winnow_mistakes(X, y, w)
    learners: dict[str, Any] = {
        PERCEPTRON: Perceptron(bias=None, max_iter=PASSES),
        SVM: DualSVM(np.inf, bias=None, tol=1e-2, max_iter=PASSES),
        WINNOW: Winnow(eta=bound.eta, bias=None, max_iter=PASSES),
        MARGIN_WINNOW: LargeMarginWinnow(np.inf, bias=None, tol=1e-2, max_iter=PASSES),
    }
    figures = {}
    for name, learner in learners.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a note tells the passes
            predicted = learner.fit(X, y).predict(X_test)
        figures[name] = 100 * float(np.mean(predicted != truth))
    return {
        **figures,
        TERM_TWO: two_norm_terms(X, y, w, margin=None).excess,
        TERM_ONE: entropy_terms(X, y, w, margin=None).excess,
        BOUND_TWO: perceptron_mistakes(X, y, w),
        BOUND_ONE: bound.mistakes,
    }


def _labeled(draw: Draw, w: Floats, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Documents that are not too near to the hyperplane of `w`, and the sides they are on."""
    X = draw(rng, 4 * n)
    distance = X @ w
    near = NEAR * np.abs(distance).mean()
    while (np.abs(distance) > near).sum() < n:  # a sparse document seldom has a relevant feature
        more = draw(rng, 4 * n)
        X, distance = np.vstack([X, more]), np.append(distance, more @ w)
    kept = np.flatnonzero(np.abs(distance) > near)[:n]
    return X[kept], np.sign(distance[kept])
