"""What chapter 5 of Joachims (2000) compares: estimates from the training set, and tests on as many more."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from widemargin.estimate.held_out import leave_one_out
from widemargin.estimate.xi_alpha import xi_alpha_of
from widemargin.learn.svm.kernel_svm import KernelSVM
from widemargin.measure.contingency import (
    Contingency,
    contingency,
    error_rate,
    f_measure,
    precision,
    recall,
)
from widemargin.papers.joachims.published import printed
from widemargin.papers.joachims.random_splits import Split
from widemargin.papers.joachims.thesis_svm import linear_svm

Floats = NDArray[np.float64]
# category -> estimator -> (mean of each measure, deviation of each measure)
Figures = dict[str, dict[str, tuple[tuple[float, ...], tuple[float, ...]]]]

C = 0.5
HOLD_OUT, LEAVE_ONE_OUT = "hold-out", "leave-one-out"
XI_ALPHA = {1: "xi-alpha rho=1", 2: "xi-alpha rho=2"}
ESTIMATORS = (HOLD_OUT, LEAVE_ONE_OUT, *XI_ALPHA.values())
# In the order of the published tables.
MEASURES = {"error": error_rate, "F1": f_measure, "recall": recall, "precision": precision}


def trained(split: Split) -> KernelSVM:
    """The linear machine of section 5.4, for every category of the split."""
    return linear_svm(C).fit(split.X_train, split.y_train)


@dataclass(frozen=True)
class Estimates:
    """The table of every category by every estimator, where `HOLD_OUT` stands for the truth.

    `missed` is the number of leave-one-out errors that the rule rho = 1 calls harmless.
    """

    tables: dict[str, Contingency]
    missed: int = 0


def estimates(split: Split, *, left_out: bool = True) -> Estimates:
    """Train on a split and estimate; without leave-one-out, which takes longest, unless `left_out`."""
    learner = trained(split)
    tables = {HOLD_OUT: contingency(split.in_test, learner.decision_function(split.X_test))}
    for rho, name in XI_ALPHA.items():
        tables[name] = xi_alpha_of(learner, split.X_train, split.y_train, risk_factor=rho)
    if not left_out:
        return Estimates(tables)
    found = leave_one_out(learner, split.X_train, split.y_train, scores=False)
    assert found.method == "leave-one-out"
    wrong = (found.signs > 0) != split.in_train
    harmless = learner.left_out_risk(split.X_train, risk_factor=1) < 1
    return Estimates({**tables, LEAVE_ONE_OUT: found.table}, int(np.count_nonzero(wrong & harmless)))


def in_percent(table: Contingency) -> Floats:
    """The four measures of every category, (categories, measures)."""
    return 100 * np.column_stack([measure(table) for measure in MEASURES.values()])


def mean_and_deviation(runs: Floats) -> tuple[Floats, Floats]:
    """The mean over runs (the first axis) and the standard deviation of one run.

    Runs in which a figure is not defined are left out. A single run has no deviation (nan).

    Examples
    --------
    >>> mean_and_deviation(np.array([[1.0, 4.0], [3.0, np.nan]]))
    (array([2., 4.]), array([1.41421356,        nan]))
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of what has no figures, or only one
        return np.nanmean(runs, axis=0), np.nanstd(runs, axis=0, ddof=1)


def printed_estimates(table: str) -> Figures:
    """The printed figures of Table 5.1, 5.2 or 5.3."""
    step = 2 * len(ESTIMATORS)
    last = step * len(MEASURES)
    return {
        name: {
            estimator: (figures[2 * k : last : step], figures[2 * k + 1 : last : step])
            for k, estimator in enumerate(ESTIMATORS)
        }
        for name, figures in printed(table).items()
    }
