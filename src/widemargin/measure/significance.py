"""Whether one method is better than another on the same documents, or only seems so.

All p-values are two-sided: how likely equally good methods differ at least as much. The tests of Yang and
Liu ("A re-examination of text categorization methods", SIGIR 1999, section 4) have their letters: s and p
compare decisions, S, T and T' the F1 of every label. The paper prints one-sided p-values, and those of more
than 12 differing signs by the normal distribution; here they are exact. ``measure/resampling.py`` tests any
measure.

Micro tests (s, p) take single decisions to be independent, although a document has one for every label.
Macro tests (S, T, T') take labels to be a sample of labels: they say what to expect of other labels, and
say little if there are few.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widemargin.errors import DataError, UsageError
from widemargin.measure.contingency import Contingency, contingency, f_measure

Floats = NDArray[np.float64]
Measure = Callable[[Contingency], Floats]
# Figures that differ by less, relative to their size, are equal but for rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Comparison:
    """The result of a test of two methods.

    Attributes
    ----------
    test : the name of the test
    compared : what was compared, such as "documents"
    n : how many of them
    first, second : the figures of both methods: a test of signs counts where each is better, the others
        compare means, shares or measures
    statistic : of the test
    p_value : the probability that equally good methods differ at least as much
    better : "first", "second", or None if both are equally good
    """

    test: str
    compared: str
    n: int
    first: float
    second: float
    statistic: float
    p_value: float
    better: Literal["first", "second"] | None


def sign_p_value(first: int, second: int, *, one_sided: bool = False) -> float:
    """The probability that chance divides the wins as unevenly; one-sided, as much in favor of the first.

    Examples
    --------
    >>> sign_p_value(5, 0), sign_p_value(5, 0, one_sided=True), sign_p_value(0, 5, one_sided=True)
    (0.0625, 0.03125, 1.0)
    """
    if first < 0 or second < 0:
        raise UsageError(f"{first} and {second} wins: expected 0 or more.")
    # The function behind scipy.stats, which takes a second to import. At most k of n: I_1/2(n - k, k + 1).
    from scipy.special import betainc

    if one_sided:
        return float(betainc(first, second + 1, 0.5)) if first else 1.0
    fewer, more = sorted((first, second))
    return min(1.0, 2 * float(betainc(more, fewer + 1, 0.5))) if more else 1.0


def sign_test(first: ArrayLike, second: ArrayLike, *, lower_is_better: bool = False) -> Comparison:
    """The sign test: on how many items each of two methods is better.

    Compares figures of the same items (documents, labels, collections): which is larger, not by how much.
    Assumes that items are independent. Ties say nothing. Items that are NaN for both are left out.

    Examples
    --------
    >>> found = sign_test([0.9, 0.8, 0.7, 0.9, 0.6, 0.5], [0.8, 0.7, 0.7, 0.6, 0.5, 0.4])
    >>> found.first, found.second, found.p_value, found.better
    (5.0, 0.0, 0.0625, 'first')
    """
    a, b = _pairs(first, second)
    return _signs("sign test", "items", a, b, lower_is_better)


def mcnemar(first: ArrayLike, second: ArrayLike) -> Comparison:
    """McNemar's exact test of two methods on the same documents: the sign test of right and wrong.

    Compares how many documents only one of them gets right. Assumes that documents are independent. Documents
    on which both are right or both wrong say nothing.

    Parameters
    ----------
    first, second : (n,) whether each method gets a document right

    Examples
    --------
    >>> found = mcnemar([1, 1, 1, 1, 1, 1, 0, 1], [0, 0, 0, 0, 0, 1, 0, 1])
    >>> found.first, found.second, found.p_value
    (5.0, 0.0, 0.0625)
    """
    a, b = _pairs(first, second)
    if not all(np.isin(right, (0, 1)).all() for right in (a, b)):
        raise UsageError("McNemar's test expects true (right) or false (wrong) for every document.")
    return _signs("McNemar's test", "documents", a, b)


def paired_t_test(first: ArrayLike, second: ArrayLike, *, lower_is_better: bool = False) -> Comparison:
    """Student's t-test of paired figures: whether the mean difference is 0.

    Compares figures of the same items, and by how much they differ. Assumes that items are independent and
    that the mean of their differences is normal, as it is for many items. Items that are NaN for both are
    left out. One item says nothing (p = 1). If all differ by the same amount, the statistic is infinite and p
    is 0.

    Examples
    --------
    >>> found = paired_t_test([0.9, 0.8, 0.7, 0.9], [0.8, 0.6, 0.7, 0.8])
    >>> round(found.statistic, 4), round(found.p_value, 4), found.better
    (2.4495, 0.0917, 'first')
    """
    a, b = _pairs(first, second)
    return _t("paired t-test", "items", a, b, lower_is_better)


def rank_t_test(first: ArrayLike, second: ArrayLike, *, lower_is_better: bool = False) -> Comparison:
    """The t-test of ranks: the figures of both methods are sorted together and replaced by their places.

    Compares figures of the same items. Extreme figures count less than in `paired_t_test`, which makes the
    same assumptions. Equal figures share their mean rank. `first` and `second` are mean ranks.

    Examples
    --------
    >>> found = rank_t_test([0.9, 0.8, 0.7, 0.95], [0.85, 0.6, 0.7, 0.1])
    >>> found.first, found.second, round(found.p_value, 4)
    (5.875, 3.125, 0.1737)
    """
    a, b = _ranked(*_pairs(first, second))
    return _t("t-test of ranks", "items", a, b, lower_is_better)


def micro_sign_test(truth: ArrayLike, first: ArrayLike, second: ArrayLike) -> Comparison:
    """Yang and Liu's s-test: the sign test of all decisions, one for every document and label.

    Compares how many decisions only one method gets right. Assumes that decisions are independent, also
    those on one document. Frequent labels have most of the differing decisions.

    Parameters
    ----------
    truth, first, second : (n,) or (n, labels), positive if a document has the label

    Examples
    --------
    >>> truth = [[1, -1], [1, 1], [-1, 1]]
    >>> found = micro_sign_test(truth, [[1, -1], [1, 1], [-1, -1]], [[-1, -1], [1, -1], [-1, 1]])
    >>> found.n, found.first, found.second, found.p_value
    (6, 2.0, 1.0, 1.0)
    """
    actual, a, b = as_signs(truth, first, second)
    right = [(claimed == actual).ravel().astype(np.float64) for claimed in (a, b)]
    return _signs("micro sign test (s)", "decisions", right[0], right[1])


def proportions_test(hits_first: int, n_first: int, hits_second: int, n_second: int) -> Comparison:
    """Yang and Liu's p-test: whether two shares differ, such as two precisions, recalls or accuracies.

    Compares hits among trials. Assumes that all trials are independent, and many enough for the normal
    distribution. It does not know which trials are of the same document, so it misses differences between
    methods that are right on the same ones: use `mcnemar` or `randomization_test` if the decisions are known.

    Examples
    --------
    >>> found = proportions_test(880, 1000, 850, 1000)
    >>> found.first, found.second, round(found.statistic, 3), round(found.p_value, 3)
    (0.88, 0.85, 1.963, 0.05)
    """
    for hits, n in ((hits_first, n_first), (hits_second, n_second)):
        if not (n > 0 and 0 <= hits <= n):
            raise UsageError(f"{hits} of {n}: expected hits between 0 and the number of trials, and a trial.")
    from scipy.special import ndtr

    a, b, n = hits_first / n_first, hits_second / n_second, n_first + n_second
    share = (hits_first + hits_second) / n
    error = np.sqrt(share * (1 - share) * (1 / n_first + 1 / n_second))
    z = float((a - b) / error) if 0 < share < 1 else 0.0
    return Comparison("p-test", "trials", n, a, b, z, min(1.0, 2 * float(ndtr(-abs(z)))), better_of(a, b))


def macro_sign_test(
    truth: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    measure: Measure = f_measure,
    lower_is_better: bool = False,
) -> Comparison:
    """Yang and Liu's S-test: the sign test of a measure of every label, F1 by default.

    Compares on how many labels each method is better, be they rare or frequent, by however little. Assumes
    that labels are independent. Labels without a positive document have no F1 and are left out.

    Parameters
    ----------
    truth, first, second : (n, labels), positive if a document has the label

    Examples
    --------
    >>> truth = np.eye(6) > 0
    >>> found = macro_sign_test(truth, truth, np.zeros((6, 6)))
    >>> found.n, found.first, found.second, found.p_value
    (6, 6.0, 0.0, 0.03125)
    """
    a, b = _by_label(truth, first, second, measure)
    return _signs("macro sign test (S)", "labels", a, b, lower_is_better)


def macro_t_test(
    truth: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    measure: Measure = f_measure,
    lower_is_better: bool = False,
) -> Comparison:
    """Yang and Liu's T-test: the paired t-test of a measure of every label, F1 by default.

    Compares macro-averages. Assumes what `paired_t_test` assumes, of labels. Rare labels, whose F1 varies
    most, may decide. Labels without a positive document have no F1 and are left out.

    Parameters
    ----------
    truth, first, second : (n, labels), positive if a document has the label

    Examples
    --------
    >>> truth = np.eye(4) > 0
    >>> found = macro_t_test(truth, truth, truth * [1, 1, 0, 0])
    >>> found.first, found.second, round(found.p_value, 4)
    (1.0, 0.5, 0.1817)
    """
    a, b = _by_label(truth, first, second, measure)
    return _t("macro t-test (T)", "labels", a, b, lower_is_better)


def macro_rank_test(
    truth: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    measure: Measure = f_measure,
    lower_is_better: bool = False,
) -> Comparison:
    """Yang and Liu's T'-test: the t-test of the ranks of a measure of every label, F1 by default.

    Compares ranks among the figures of both methods (`rank_t_test`), so that extreme figures of rare labels
    count less than in T. Labels without a positive document have no F1 and are left out.

    Parameters
    ----------
    truth, first, second : (n, labels), positive if a document has the label

    Examples
    --------
    >>> truth = np.eye(4) > 0
    >>> found = macro_rank_test(truth, truth, truth * [1, 1, 0, 0])
    >>> found.first, found.second, round(found.p_value, 4)
    (5.5, 3.5, 0.1817)
    """
    a, b = _ranked(*_by_label(truth, first, second, measure))
    return _t("macro t-test of ranks (T')", "labels", a, b, lower_is_better)


def holm(p_values: ArrayLike) -> Floats:
    """Holm's correction: the p-values of many comparisons, each raised for the others.

    If the differences with a corrected p-value of at most 0.05 are called significant, the probability that
    any of them is due to chance is at most 5 %. The comparisons may depend on each other.
    Holm, "A simple sequentially rejective multiple test procedure", 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, 0.005]).round(3).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise UsageError("Expected a list of p-values between 0 and 1.")
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return corrected


def better_of(
    first: float, second: float, lower_is_better: bool = False
) -> Literal["first", "second"] | None:
    """Which of two figures is better, None if they are equal but for rounding, or undefined."""
    # A NaN fails every comparison.
    if not abs(first - second) > ROUNDING * max(abs(first), abs(second)):
        return None
    return "first" if (first > second) != lower_is_better else "second"


def as_signs(*arrays: ArrayLike) -> list[NDArray[np.bool_]]:
    """The truth and decisions on the same documents, (n,) or (n, labels): whether each label is there."""
    signs: list[NDArray[Any]] = [np.asarray(array) for array in arrays]
    check_same_documents(signs)
    if any(array.dtype.kind not in "biuf" for array in signs):
        raise UsageError("Expected signs: positive if a document has the label, otherwise 0 or negative.")
    if any(np.isnan(array).any() for array in signs if array.dtype.kind == "f"):
        raise UsageError("Some signs are NaN. Leave out documents whose labels are unknown.")
    return [array > 0 for array in signs]


def check_same_documents(arrays: Sequence[NDArray[Any]]) -> None:
    """Raise unless all arrays are of the same documents, one or more, (n,) or (n, labels)."""
    shapes = [array.shape for array in arrays]
    if len(set(shapes)) > 1 or len(shapes[0]) not in (1, 2):
        got = ", ".join(map(str, shapes))
        raise UsageError(f"Expected decisions on the same documents, (n,) or (n, labels), but got {got}.")
    if 0 in shapes[0]:
        raise DataError(f"There are no decisions to compare: the arrays have shape {shapes[0]}.")


def _pairs(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    """The figures of both methods, without items that are undefined for both."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise UsageError(f"Expected figures of the same documents, but got shapes {a.shape} and {b.shape}.")
    known = ~(np.isnan(a) & np.isnan(b))
    a, b = a[known], b[known]
    if not (np.isfinite(a) & np.isfinite(b)).all():
        raise UsageError("A figure is infinite, or NaN for one of the methods. Leave out such items.")
    return a, b


def _by_label(
    truth: ArrayLike, first: ArrayLike, second: ArrayLike, measure: Measure
) -> tuple[Floats, Floats]:
    actual, a, b = as_signs(truth, first, second)
    if actual.ndim != 2:
        raise UsageError(f"Expected decisions on several labels, (n, labels), but got shape {actual.shape}.")
    return _pairs(measure(contingency(actual, a)), measure(contingency(actual, b)))


def _signs(test: str, what: str, a: Floats, b: Floats, lower_is_better: bool = False) -> Comparison:
    above, below = int(np.count_nonzero(a > b)), int(np.count_nonzero(a < b))
    wins, losses = (below, above) if lower_is_better else (above, below)
    p = sign_p_value(wins, losses)
    return Comparison(test, what, len(a), float(wins), float(losses), float(wins), p, better_of(wins, losses))


def _t(test: str, what: str, a: Floats, b: Floats, lower_is_better: bool) -> Comparison:
    from scipy.special import stdtr

    n, differences = len(a), a - b
    first, second = (float(x.mean()) if n else math.nan for x in (a, b))
    mean = float(differences.mean()) if n > 1 else 0.0
    error = float(differences.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    # Differences that are equal but for rounding have no spread.
    constant = error <= ROUNDING * abs(mean)
    t = mean / error if not constant else math.copysign(math.inf, mean) if mean else 0.0
    p = min(1.0, 2 * float(stdtr(n - 1, -abs(t)))) if n > 1 else 1.0
    return Comparison(test, what, n, first, second, t, p, better_of(first, second, lower_is_better))


def _ranked(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    _, places, counts = np.unique(np.concatenate([a, b]), return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return ranks[: len(a)], ranks[len(a) :]
