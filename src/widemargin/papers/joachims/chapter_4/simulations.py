"""Open questions of Joachims (2000), sections 4.6 to 4.8 and 10.5, as far as drawn documents can answer them.

- 4.6: does the model get better with intervals of occurrences instead of exact numbers?
- 4.7: can naive Bayes learn a TCat-concept if words depend on each other?
- 4.8: how do Winnow, Perceptron, naive Bayes and boosted stumps learn TCat-concepts, next to the SVM?
- 10.5: do L1-margins suit a few strong words, and L-infinity-margins dense concepts?

The thesis prints no figures for these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from widemargin.learn.bayes.naive_bayes import NaiveBayes
from widemargin.learn.online.large_margin_winnow import LargeMarginWinnow
from widemargin.learn.online.perceptron import Perceptron
from widemargin.learn.online.winnow import Winnow
from widemargin.learn.svm.kernel_svm import KernelSVM
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.learn.trees.boosting import BoostedTrees
from widemargin.papers.joachims.text_tasks import Report
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult
from widemargin.report.plots import Line, Panel
from widemargin.theory import TCatConcept
from widemargin.theory.tcat import cost_for_noise, error_bound, interval_concept, measured_noise

Floats = NDArray[np.float64]

REPEATS = 20
TEST_SIZE = 1000
SIZES = (20, 50, 100, 200, 400)
# Few strong words among many others; the concept of Figure 4.5, with smaller sets; nearly all words a little.
SPARSE = TCatConcept([(1, 0, 1), (0, 1, 1), (20, 20, 1000)])
MEDIUM = TCatConcept([(20, 20, 100), (4, 1, 100), (1, 4, 100), (9, 1, 400), (1, 9, 400), (5, 5, 100)])
DENSE = TCatConcept([(30, 20, 500), (20, 30, 500)])
CONCEPTS = {"sparse": SPARSE, "medium": MEDIUM, "dense": DENSE}
# The same with fewer words, for linear programs.
SMALL = {
    "sparse": TCatConcept([(1, 0, 1), (0, 1, 1), (20, 20, 300)]),
    "medium": TCatConcept([(4, 1, 50), (1, 4, 50), (15, 15, 200)]),
    "dense": TCatConcept([(30, 20, 150), (20, 30, 150)]),
}
LEARNERS: dict[str, Callable[[], Any]] = {
    "SVM": lambda: LinearSVM(C=1.0),
    "Perceptron": Perceptron,
    "Winnow": Winnow,
    "large-margin Winnow": LargeMarginWinnow,
    "naive Bayes": NaiveBayes,
    "boosted stumps": lambda: BoostedTrees(base="stumps"),
}
ERROR = "error, %"
NOISE_RATES = (0.0, 0.05, 0.1, 0.2)
NOISY = TCatConcept([(12, 3, 100), (3, 12, 100), (15, 15, 300)])


def run(report: Report, name: str, repeats: int = REPEATS) -> PaperResult:
    """One of the simulations; errors are means over `repeats` draws of training and test documents."""
    return {"4.6": intervals, "4.7": naive_bayes, "4.8": learners, "10.5": norms}[name](report, repeats)


def intervals(report: Report, repeats: int) -> PaperResult:
    """Theorem 3 against intervals that hold all training documents, at several rates of attribute noise."""
    cells: list[Cell] = []
    n = 200
    sizes = [f for _, _, f in NOISY.sets]
    for rate in NOISE_RATES:
        report(f"Attribute noise {rate:g}")
        figures: dict[str, list[float]] = {}
        for seed in range(repeats):
            X, y = balanced(NOISY, n, seed, attribute_noise=rate)
            test, truth = balanced(NOISY, TEST_SIZE, 10_000 + seed, attribute_noise=rate)
            R2 = float(X.multiply(X).sum(axis=1).max())
            machine = LinearSVM(C=cost_for_noise(R2), bias=None).fit(X, y)
            noise = measured_noise(NOISY, X, y)
            within = interval_concept(X, y, sizes)
            margin = within.margin_bound()
            found = {
                ERROR: error(machine, test, truth),
                "Theorem 3, %": 100 * error_bound(NOISY, n, R2, attribute_noise=noise),
                "Theorem 2 without noise, %": 100 * error_bound(NOISY, n, R2),
                "intervals, %": 100 * R2 / (margin**2 * (n + 1)) if margin > 0 else np.inf,
                "trained margin, %": 100 * R2 * hard_margin(X, y) / (n + 1),
            }
            for name, value in found.items():
                figures.setdefault(name, []).append(value)
        for name, values in figures.items():
            mean = float(np.mean(values))
            cells.append(
                Cell(f"noise {rate:g}", name, UNPUBLISHED, mean if np.isfinite(mean) else UNPUBLISHED)
            )
    notes = [
        f"{n} training documents of {NOISY}, means over {repeats} draws; a dash where the intervals of a "
        "draw allow no separation.",
        "Intervals from the least to the largest number of words that a training document has of each set. "
        "They give a margin that holds for all documents within; the trained margin is that of the "
        "hard-margin machine.",
    ]
    title = "Joachims, section 4.6: exact numbers of occurrences or intervals"
    return PaperResult("joachims-section-4.6", title, cells, notes)


def naive_bayes(report: Report, repeats: int) -> PaperResult:
    """TCat([2:1:4], [1:2:4]) drawn uniformly, and with words that depend on each other."""
    cells: list[Cell] = []
    curves: dict[str, list[float]] = {}
    for n in SIZES:
        report(f"{n} training documents")
        found: dict[str, list[float]] = {}
        for seed in range(repeats):
            for name, draw in (("independent", independent_words), ("dependent", dependent_words)):
                X, y = draw(n, seed)
                test, truth = draw(TEST_SIZE, 10_000 + seed)
                for learner, make in (("naive Bayes", NaiveBayes), ("SVM", lambda: LinearSVM(C=100.0))):
                    fitted = make().fit(X, y)
                    found.setdefault(f"{learner}, {name} words", []).append(error(fitted, test, truth))
        for name, values in found.items():
            curves.setdefault(name, []).append(float(np.mean(values)))
            cells.append(Cell(f"n={n}", name, UNPUBLISHED, curves[name][-1]))
    notes = [
        "Both draws follow TCat([2:1:4], [1:2:4]). Dependent words: one positive document in ten has the "
        "words that nine negative ones in ten choose from, so each of its words speaks against its class.",
        f"Means over {repeats} draws, {TEST_SIZE:,} test documents each.",
    ]
    title = "Joachims, section 4.7: naive Bayes on TCat([2:1:4], [1:2:4])"
    return PaperResult("joachims-section-4.7", title, cells, notes, {}, [panel_of("Errors", curves)])


def learners(report: Report, repeats: int) -> PaperResult:
    """Errors of several learners on a sparse, a medium and a dense concept."""
    cells: list[Cell] = []
    panels: list[Panel] = []
    for name, concept in CONCEPTS.items():
        curves: dict[str, list[float]] = {}
        for n in SIZES:
            report(f"{name} concept, {n} training documents")
            for learner, make in LEARNERS.items():
                values = [one_error(make(), concept, n, seed) for seed in range(repeats)]
                curves.setdefault(learner, []).append(float(np.mean(values)))
                cells.append(Cell(f"{name}, n={n}", learner, UNPUBLISHED, curves[learner][-1]))
        panels.append(panel_of(f"{name}: {concept}", curves))
    title = "Joachims, section 4.8: learners on TCat-concepts"
    return PaperResult("joachims-section-4.8", title, cells, _notes(repeats, CONCEPTS), {}, panels)


def norms(report: Report, repeats: int) -> PaperResult:
    """The rules of smallest L1, L2 and L-infinity norm that separate the documents."""
    rules: dict[str, Callable[[Any, Any], Floats]] = {
        "L1": least_l1,
        "L2": least_l2,
        "L-infinity": least_l_infinity,
    }
    cells: list[Cell] = []
    panels: list[Panel] = []
    for name, concept in SMALL.items():
        curves: dict[str, list[float]] = {}
        for n in SIZES[:4]:
            report(f"{name} concept, {n} training documents")
            found: dict[str, list[float]] = {}
            for seed in range(repeats):
                X, y = balanced(concept, n, seed)
                test, truth = balanced(concept, TEST_SIZE, 10_000 + seed)
                for rule, least in rules.items():
                    wrong = np.where(test @ least(X, y) > 0, 1, -1) != truth
                    found.setdefault(rule, []).append(100 * float(wrong.mean()))
            for rule, values in found.items():
                curves.setdefault(rule, []).append(float(np.mean(values)))
                cells.append(Cell(f"{name}, n={n}", rule, UNPUBLISHED, curves[rule][-1]))
        panels.append(panel_of(f"{name}: {concept}", curves, SIZES[:4]))
    notes = [*_notes(repeats, SMALL), "Hyperplanes through the origin that separate all training documents."]
    title = "Joachims, section 10.5: margins in three norms"
    return PaperResult("joachims-section-10.5", title, cells, notes, {}, panels)


def balanced(concept: TCatConcept, n: int, seed: int, **noise: Any) -> tuple[sp.csr_array, NDArray[np.int8]]:
    """`n` documents, half of them positive."""
    X, y = concept.sample(n // 2, n - n // 2, random_state=seed, **noise)
    return X.astype(np.float64), y


def independent_words(n: int, seed: int) -> tuple[sp.csr_array, NDArray[np.int8]]:
    """Documents of TCat([2:1:4], [1:2:4]), all of distinct words, equally likely."""
    X, y = TCatConcept([(2, 1, 4), (1, 2, 4)]).sample(n // 2, n - n // 2, distinct=True, random_state=seed)
    return X.astype(np.float64), y


def dependent_words(n: int, seed: int) -> tuple[sp.csr_array, NDArray[np.int8]]:
    """Documents of the same concept, whose words come from one half of each set: of the one half in 10 % of
    the positive and 90 % of the negative documents.

    Examples
    --------
    >>> X, y = dependent_words(6, 0)
    >>> dense = X.toarray()
    >>> dense[:, :4].sum(axis=1).tolist(), dense[:, 4:].sum(axis=1).tolist()
    ([2.0, 2.0, 2.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    """
    rng = np.random.default_rng(seed)
    y = np.repeat(np.array([1, -1], dtype=np.int8), [n // 2, n - n // 2])
    half = np.where(rng.random(n) < np.where(y > 0, 0.1, 0.9), 0, 2)
    one = rng.integers(2, size=n)
    X = np.zeros((n, 8))
    rows = np.arange(n)
    for first, both in ((0, y > 0), (4, y < 0)):
        X[rows, first + half + one] = 1
        X[rows[both], (first + half + 1 - one)[both]] = 1
    return sp.csr_array(X), y


def one_error(learner: Any, concept: TCatConcept, n: int, seed: int) -> float:
    """The error of a learner in percent, after training on `n` documents."""
    X, y = balanced(concept, n, seed)
    return error(learner.fit(X, y), *balanced(concept, TEST_SIZE, 10_000 + seed))


def error(learner: Any, X: Any, y: NDArray[np.int8]) -> float:
    return 100 * float(np.mean(np.asarray(learner.predict(X)) != y))


def hard_margin(X: Any, y: Any) -> float:
    """1/delta^2 of the best separating hyperplane through the origin; infinite if there is none."""
    machine = KernelSVM(C=1e6, kernel="linear", bias=None, tol=1e-4).fit(X, y)
    return float(machine.margin_) ** -2 if float(np.max(machine.xi_)) < 1e-2 else float("inf")


def least_l2(X: Any, y: Any) -> Floats:
    """The separating weights of smallest Euclidean norm."""
    return np.asarray(KernelSVM(C=np.inf, kernel="linear", bias=None).fit(X, y).coef_).reshape(-1)


def least_l1(X: Any, y: Any) -> Floats:
    """The separating weights of smallest sum of absolute values: min sum u + v with w = u - v."""
    signed: Any = sp.diags_array(y.astype(np.float64)) @ X
    A: Any = sp.hstack([-signed, signed])
    found: Any = linprog(np.ones(2 * X.shape[1]), A_ub=A, b_ub=-np.ones(len(y)))
    u, v = np.split(found.x, 2)
    return np.asarray(u - v)


def least_l_infinity(X: Any, y: Any) -> Floats:
    """The separating weights whose largest absolute value is smallest.

    Scaled so that this value is 1, they have the largest least score: max t with y w.x >= t and |w_j| <= 1.
    """
    signed: Any = sp.diags_array(y.astype(np.float64)) @ X
    goal = np.append(np.zeros(X.shape[1]), -1.0)
    bounds = [(-1, 1)] * X.shape[1] + [(None, None)]
    A: Any = sp.hstack([-signed, sp.csr_array(np.ones((len(y), 1)))])
    found: Any = linprog(goal, A_ub=A, b_ub=np.zeros(len(y)), bounds=bounds)
    return np.asarray(found.x[:-1])


def panel_of(title: str, curves: dict[str, list[float]], sizes: tuple[int, ...] = SIZES) -> Panel:
    lines = [Line(name, list(map(float, sizes)), values) for name, values in curves.items()]
    return Panel(title, "training documents", ERROR, lines)


def _notes(repeats: int, used: dict[str, TCatConcept]) -> list[str]:
    concepts = "; ".join(f"{name}: {concept}" for name, concept in used.items())
    return [f"Errors in percent, means over {repeats} draws, {TEST_SIZE:,} test documents each.", concepts]
