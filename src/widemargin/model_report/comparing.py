"""Two models on the same test documents: which one is better, and whether the difference is real."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataError
from widemargin.measure.contingency import contingency
from widemargin.measure.quality import figures_of
from widemargin.measure.resampling import randomization_test
from widemargin.measure.significance import (
    Comparison,
    holm,
    macro_sign_test,
    macro_t_test,
    mcnemar,
    micro_sign_test,
)
from widemargin.model_report.errors import cases_of
from widemargin.model_report.measuring import Measured
from widemargin.model_report.tradeoffs import above_thresholds
from widemargin.report.contents import CategoryDifference, ComparedModels, Difference, ModelReport

_POINTS = 100  # of a curve
_APART = 100  # documents of each model
_SAMPLES = 1999


def compare_models(
    first: Measured, second: Measured, reports: tuple[ModelReport, ModelReport], source: str
) -> ComparedModels:
    """Figures of both models, and tests of their differences on the labels that both know.

    p-values of the overall tests are corrected for their number, those of categories for the number of
    categories (Holm).
    """
    ours, theirs = ([str(label) for label in one.scorer.space.classes.tolist()] for one in (first, second))
    common = [label for label in ours if label in theirs]
    if not common:
        raise DataError("The two models have no label in common. Compare models of the same task.")
    truth, a = (_columns(part, ours, common) for part in _signs(first))
    b = _columns(_signs(second)[1], theirs, common)
    notes = []
    for report, names in zip(reports, (ours, theirs), strict=True):
        other = [label for label in names if label not in common]
        if other:
            notes.append(
                f"{len(other):,} labels of {report.name} are unknown to the other model and left out."
            )
    if (truth != _columns(_signs(second)[0], theirs, common)).any():
        raise DataError("The two models read the labels of the test documents differently.")
    right = [(truth == decided).all(axis=1) for decided in (a, b)]
    several = len(common) > 2
    shares = [float(one.mean()) for one in right]
    tests: list[tuple[str, Comparison, float, float]] = [
        ("documents with all labels right", mcnemar(right[0], right[1]), shares[0], shares[1])
    ]
    for average in ("micro", "macro"):
        found = randomization_test(truth, a, b, average=average, samples=_SAMPLES)
        tests.append((f"{average}-F1", found, found.first, found.second))
    if several:
        decisions = micro_sign_test(truth, a, b)
        shares = [float((truth == one).mean()) for one in (a, b)]
        tests.append(("decisions that are right", decisions, shares[0], shares[1]))
        tests += [
            ("labels with the better F1", found := macro_sign_test(truth, a, b), found.first, found.second),
            ("mean F1 of labels", found := macro_t_test(truth, a, b), found.first, found.second),
        ]
    corrected = holm([test.p_value for _, test, _, _ in tests])
    overall = [
        Difference(name, one, other, test.test, float(p), test.better if p <= 0.05 else None)
        for (name, test, one, other), p in zip(tests, corrected, strict=True)
    ]
    categories = _by_category(common, truth, a, b)
    cases, others = cases_of(first), cases_of(second)
    apart = []
    for winner, (one, other) in enumerate(((right[0], right[1]), (right[1], right[0])), 1):
        for i in np.flatnonzero(one & ~other)[:_APART].tolist():
            # The decision of the model that is wrong, and its longer text.
            wrong = others[i] if winner == 1 else cases[i]
            apart.append((winner, wrong, (cases if winner == 1 else others)[i].decided))
    curves = [(report.name, *_curve(one)) for report, one in zip(reports, (first, second), strict=True)]
    return ComparedModels(*reports, source, len(truth), overall, categories, apart, curves, notes)


def _curve(found: Measured) -> tuple[list[float], list[float]]:
    """Recall and precision over all labels, if all thresholds are moved by the same amount."""
    above, _ = above_thresholds(found)
    above = np.nan_to_num(above, nan=0.0)
    truth = found.by_class(found.truth) > 0
    order = np.argsort(-above, axis=None, kind="stable")
    hits = np.cumsum(truth.ravel()[order])
    places = np.unique(np.linspace(1, hits[-1], _POINTS).round()) if hits[-1] else np.zeros(0)
    rows = np.searchsorted(hits, places)
    recall, precision = hits[rows] / max(hits[-1], 1), hits[rows] / (rows + 1)
    return recall.round(4).tolist(), precision.round(4).tolist()


def _signs(found: Measured) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    return found.by_class(found.truth) > 0, found.by_class(found.chosen) > 0


def _columns(signs: NDArray[np.bool_], names: list[str], common: list[str]) -> NDArray[np.bool_]:
    return signs[:, [names.index(label) for label in common]]


def _by_category(
    labels: list[str], truth: NDArray[np.bool_], a: NDArray[np.bool_], b: NDArray[np.bool_]
) -> list[CategoryDifference]:
    figures = [figures_of(contingency(truth, decided), "measured")["f1"] for decided in (a, b)]
    tests = [mcnemar(a[:, j] == truth[:, j], b[:, j] == truth[:, j]) for j in range(len(labels))]
    corrected = holm([test.p_value for test in tests])
    return [
        CategoryDifference(
            label,
            int(truth[:, j].sum()),
            figures[0][j],
            figures[1][j],
            int(tests[j].first),
            int(tests[j].second),
            tests[j].p_value,
            float(corrected[j]),
        )
        for j, label in enumerate(labels)
    ]
