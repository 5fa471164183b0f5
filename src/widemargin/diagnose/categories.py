"""Each label by itself: its words, how far it is separated, how good it is, and how good it can become."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from widemargin.diagnose.give_aways import TermTable
from widemargin.errors import DataWarning
from widemargin.estimate.curves.extrapolation import FEWEST, Extrapolation, Needed
from widemargin.estimate.curves.growth import Growth
from widemargin.estimate.error_bounds import error_bounds
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.measure.intervals import Figure
from widemargin.measure.quality import LabelQuality
from widemargin.theory.tcat import NOT_ENOUGH, TCatEstimate, WeightingAdvice

# So large that a training document on the wrong side costs more than any margin, and still quick to learn.
ALMOST_HARD = 100.0


@dataclass(frozen=True)
class Category:
    """What is known of one label. Figures that need more examples are None.

    Attributes
    ----------
    label : the label
    examples : documents with it
    vocabulary : distinct terms of these documents
    best_term, best_term_f1 : the single term that marks the label best, and F1 of the rule "has the term"
    concept : its TCat-concept in words
    redundancy : indicative words in an average document of the label
    discriminative_power : of the indicators in average documents, the share that points to the right side
    uncovered : share of its documents without an indicative term
    weighting : "tfc" if inverse document frequencies widen the margin of its concept, "txc" if they do not
    separable : whether an almost hard margin separates all training documents
    margin : 1 / |w| of that rule
    error : held-out error of decisions at 0, by leave-one-out or cross-validation
    bounds : on that error, for decisions at 0: "xi_alpha" and "expected" (Theorem 1 of the thesis) are never
        below leave-one-out; "vc" holds with a confidence of 95 %
    quality : held-out precision, recall and F1
    curve : measured F1 by number of training documents
    now, doubled : F1 on new documents after training on all documents, and on twice as many like them
    needed : how many labeled documents reach the target
    """

    label: Any
    examples: int
    vocabulary: int
    best_term: str | None
    best_term_f1: float
    concept: list[str]
    redundancy: float | None
    discriminative_power: float | None
    uncovered: float | None
    weighting: str | None
    separable: bool
    margin: float
    error: float
    bounds: dict[str, float]
    quality: LabelQuality
    curve: list[tuple[int, float]]
    now: Figure | None
    doubled: Figure | None
    needed: Needed | None

    @property
    def enough(self) -> bool:
        """Whether there are examples enough for a curve."""
        return self.now is not None

    @property
    def f1(self) -> float:
        """Held-out F1."""
        return self.quality.figures["f1"].value

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain = {
            name: getattr(self, name)
            for name in (
                "label",
                "examples",
                "vocabulary",
                "best_term",
                "concept",
                "weighting",
                "separable",
                "curve",
            )
        }
        numbers = ("best_term_f1", "redundancy", "discriminative_power", "uncovered", "margin", "error")
        rounded = {
            name: None if getattr(self, name) is None else round(getattr(self, name), 6) for name in numbers
        }
        return {
            **plain,
            **rounded,
            # A bound that says nothing is no number in JSON.
            "bounds": {name: value if math.isfinite(value) else None for name, value in self.bounds.items()},
            "quality": self.quality.to_dict(),
            "now": None if self.now is None else self.now.to_dict(),
            "doubled": None if self.doubled is None else self.doubled.to_dict(),
            "needed": NOT_ENOUGH if self.needed is None else self.needed.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class Margins:
    """How far every label is separated: (labels,) each.

    `separable` and `margin` are of an almost hard margin, `bounds` of the rule that all figures are about.
    """

    separable: NDArray[np.bool_]
    margin: NDArray[np.float64]
    bounds: list[dict[str, float]]


def find_margins(learner: Any, X: Any, y: Labels) -> Margins:
    """Separate the training documents with an almost hard margin.

    Examples
    --------
    >>> X, y = np.array([[0.0, 1], [1, 2], [5, 1], [6, 2]]), Labels.of(["a", "a", "b", "b"])
    >>> found = find_margins(LinearSVM().fit(X, y), X, y)
    >>> found.separable.tolist(), found.margin.round(1).tolist()
    ([True], [1.2])
    """
    hard = LinearSVM(
        C=ALMOST_HARD,
        balance=0,
        tol=0.01,
        max_iter=300,
        n_jobs=learner.n_jobs,
        random_state=learner.random_state,
    )
    with warnings.catch_warnings():
        # Labels that cannot be separated do not converge in so few passes, which is the answer.
        warnings.simplefilter("ignore", ConvergenceWarning)
        hard.fit(X, y)
    scores = np.asarray(hard.decision_function(X)).reshape(y.signs.shape)
    norms = np.sqrt(np.square(np.asarray(hard.coef_)).sum(axis=1) + np.square(hard.intercept_))
    return Margins(
        np.asarray((y.signs * scores > 0).all(axis=0)),
        1 / np.maximum(norms, 1e-300),
        [
            {name: round(getattr(found, name), 6) for name in ("xi_alpha", "expected", "vc")}
            for found in error_bounds(learner, X, y, left_out=False)
        ],
    )


@dataclass(frozen=True, eq=False)
class Findings:
    """All that was found out about the labels of a space, column by column, both classes of two."""

    space: LabelSpace
    terms: Sequence[str]
    table: TermTable
    concepts: list[TCatEstimate]
    weightings: list[WeightingAdvice]
    margins: Margins
    errors: NDArray[np.float64]
    labels: list[LabelQuality]
    growth: Growth
    target: float

    def categories(self) -> list[Category]:
        """One entry per label, the hardest first; labels with too few examples to say are last."""
        n = len(self.growth.labels)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            found = [self._category(k) for k in range(n)]
        return sorted(found, key=lambda one: (not one.enough, one.f1, str(one.label)))

    def _category(self, k: int) -> Category:
        # Of two classes one rule decides, in one column.
        column = 0 if self.space.kind == "binary" else k
        concept, growth = self.concepts[k], self.growth
        curve = Extrapolation.of(growth, k) if growth.examples[k] >= FEWEST else None
        n = growth.documents
        return Category(
            label=growth.labels[k],
            examples=int(growth.examples[k]),
            vocabulary=int(self.table.vocabulary[k]),
            best_term=self.terms[self.table.best[k]] if self.table.best_f1[k] > 0 else None,
            best_term_f1=float(self.table.best_f1[k]),
            concept=concept.describe(),
            redundancy=_known(concept, concept.redundancy),
            discriminative_power=_known(concept, concept.discriminative_power),
            uncovered=_known(concept, concept.uncovered),
            weighting=self.weightings[k].best,
            separable=bool(self.margins.separable[column]),
            margin=float(self.margins.margin[column]),
            error=float(self.errors[column]),
            bounds=self.margins.bounds[column],
            quality=self.labels[k],
            curve=[
                (size, round(value, 4))
                for size, value in zip(growth.sizes.tolist(), growth.f1[:, k].tolist(), strict=True)
            ],
            now=None if curve is None else curve.at(n),
            doubled=None if curve is None else curve.at(2 * n),
            needed=None if curve is None else curve.needed(self.target),
        )


def _known(concept: TCatEstimate, value: float) -> float | None:
    return float(value) if concept.enough and not np.isnan(value) else None
