"""Transductive SVMs: label a collection from a few labeled documents (joachims, 7 and 9)."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from widemargin._arrays import Csr, canonical_csr, checked_matrix, row_squares
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import (
    AT_LEAST_0,
    POSITIVE,
    PROBABILITY,
    SIZE_OF_BIAS,
    either,
    one_of,
    or_none,
    parameter,
)
from widemargin.errors import DataError, DataWarning
from widemargin.labels import Labels
from widemargin.learn.costs import label_costs
from widemargin.learn.kernel_rows import refuse_negative
from widemargin.learn.label_model import State
from widemargin.learn.svm.class_shares import completed_shares
from widemargin.learn.svm.class_sizes import assigned, sizes_of
from widemargin.learn.svm.joint_search import Machines, costs_in_classes, joint_search, shares_by_scores
from widemargin.learn.svm.kernel_model import KERNELS, KernelModel
from widemargin.learn.svm.transduction_search import (
    Found,
    Level,
    Machine,
    Search,
    check_both_sides,
    count_positives,
    search,
)
from widemargin.measure.alarm import LEAST_SUPPORT, Alarm, transduction_alarm

Floats = NDArray[np.float64]

_MAX_ITER = 100_000_000
# Default ratio of the total costs of unlabeled and labeled documents. With 17 labeled Reuters stories, 0.2 to
# 0.5 performed alike on training documents, and 0.5 best on test documents.
TOGETHER = 0.5


@dataclass(eq=False, repr=False)
class TransductiveSVM(KernelModel):
    """Label unlabeled documents so that the margin between the classes is widest.

    Minimizes ``1/2 w.w + sum C xi + sum C* xi*`` over the hyperplane and the labels of the unlabeled
    documents, of which `positives` become positive, by the search of Figure 9.1
    (core/kernel/transduction.hpp). Several exclusive classes are searched together
    (:mod:`widemargin.learn.svm.joint_search`), labels of label sets one by one. Afterwards the tests of 7.5
    check the result. They compare labeled with unlabeled documents, so they use the solution at which both
    cost the same.

    Parameters
    ----------
    C : cost of a margin error of a labeled document
    C_unlabeled : C*, the cost for an unlabeled document; 0 for the inductive SVM. None: all unlabeled
        documents together weigh half as much as the labeled ones, and none more than `C`. The thesis uses
        `C`; then a few labeled documents have little weight against thousands of others
    positives : the positive share or number of the unlabeled documents; for several labels a sequence, or a
        dict from labels. Shares of exclusive classes are scaled to add up to 1. "labeled": the shares among
        the labeled documents, as in the thesis. None: the same for label sets; for exclusive classes an
        estimate (:mod:`widemargin.learn.svm.class_shares`), because labeled documents are often a fixed
        number per class. A single unlabeled document gets the label of the inductive SVM
    classes : how several exclusive classes are searched: "joint", so that every unlabeled document is in one
        class and all classes have their shares, or "separate", each against the rest, as in the thesis
    kernel, gamma, degree, coef0 : as for :class:`~widemargin.KernelSVM`, without "precomputed"
    bias : "unregularized" for the biased hyperplane of the thesis; None for hyperplanes through the origin; a
        positive number for a bias feature of that size
    switching : pairs of labels to exchange between two solutions: "multiple" (at least half of those that
        lower the objective) or "single" (as published; slower for very many documents)
    first_costs : initial costs C*- and C*+: "balanced", so that positive and negative documents have the same
        total weight (as SVM-light does), or "published", `positives` / (unlabeled - `positives`) times the
        cost of a negative document for each positive one (Figure 9.1)
    unlabeled : the mark of an unlabeled document in `y`: None for None and NaN, or a value such as -1 or 0.
        In an indicator matrix it marks cells, so every label may have its own labeled documents
    on_alarm : what to do if the labeling looks wrong: "warn", use the "inductive" labels instead, raise an
        "error", or "ignore" it
    alarm_level : p-value of the tests of 7.5 at or below which the alarm fires; 0 for no alarm, which saves
        the search with equal costs
    alarm_support : share of support vectors among unlabeled documents below which the alarm fires
        (:mod:`widemargin.measure.alarm`); 0 for the tests of 7.5 only. Not for classes searched together;
        for these, and for shares that are estimated, labeled and unlabeled documents are compared within each
        class only
    class_weight : as for :class:`~widemargin.LinearSVM`
    tol : largest violation of an optimality condition (8.32)-(8.34), at least 1e-12
    cache : megabytes for the kernel matrix; if it does not fit, a linear SVM uses weight vectors
    random_state, n_jobs, verbose : as for :class:`~widemargin.LinearSVM`; the result depends on neither

    Attributes
    ----------
    transduction_ : labels of all training documents, in the form of `y`
    unlabeled_ : true for inferred labels: (n,), for an indicator matrix (n, columns)
    scores_ : (n, columns) scores of the training documents
    inductive_ : (n, columns) their scores by the SVM trained on the labeled documents only
    coef_, intercept_ : weights and intercepts of the linear SVM, for new documents
    alpha_, xi_ : (n, columns) dual variables and slacks
    positives_ : (columns,) number of unlabeled documents that became positive
    shares_ : (classes,) shares of exclusive classes among the unlabeled documents, as estimated or given;
        None for label sets
    objective_, duality_gap_, n_switches_ : (columns,) final values, and number of exchanged pairs of labels
        (of classes searched together, of documents that changed their class)
    switches_ : of each column the exchanged pairs in order, (pairs, 2): the document that became negative
        and the one that became positive; at most two pairs for every document are kept, none of classes
        searched together
    levels_ : of each column a list of :class:`~widemargin.learn.svm.transduction_search.Level`
    alarm_ : of each column an :class:`~widemargin.measure.alarm.Alarm`; None if everything is labeled,
        unlabeled documents cost nothing, or the alarm is off
    fell_back_ : (columns,) true if the inductive labels are used

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [0.3, 0.8], [1.0, 0.0], [0.9, 0.2], [0.7, 0.3]])
    >>> y = ["ham", None, None, "spam", None, None]
    >>> model = TransductiveSVM(C=10).fit(X, y)
    >>> model.transduction_.tolist()
    ['ham', 'ham', 'ham', 'spam', 'spam', 'spam']
    """

    C: float = parameter(20.0, POSITIVE)
    _: KW_ONLY
    C_unlabeled: float | None = parameter(None, or_none(AT_LEAST_0))
    positives: Any = None
    classes: Literal["joint", "separate"] = parameter("joint", one_of("joint", "separate"))
    kernel: Literal["linear", "poly", "rbf", "sigmoid", "chi2"] = parameter("linear", one_of(*KERNELS))
    bias: float | Literal["unregularized"] | None = parameter(
        "unregularized", either(SIZE_OF_BIAS, one_of("unregularized"))
    )
    switching: Literal["multiple", "single"] = parameter("multiple", one_of("multiple", "single"))
    first_costs: Literal["balanced", "published"] = parameter("balanced", one_of("balanced", "published"))
    unlabeled: Any = None
    on_alarm: Literal["warn", "inductive", "error", "ignore"] = parameter(
        "warn", one_of("warn", "inductive", "error", "ignore")
    )
    alarm_level: float = parameter(0.01, PROBABILITY)
    alarm_support: float = parameter(LEAST_SUPPORT, AT_LEAST_0)
    cache: float = parameter(400, POSITIVE)

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any) -> TransductiveSVM:
        """Train on labeled and unlabeled documents.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in any form that :mod:`widemargin.labels` accepts, with unlabeled documents marked
        """
        self._check_parameters()
        X = checked_matrix(self, X, first=True)
        if self.kernel == "chi2":
            refuse_negative(X)
        space, signs = Labels.partial(y, self.unlabeled, X.shape[0]).space_and_signs
        check_both_sides(space, signs)
        if signs.all():
            warnings.warn(
                "Every document is labeled, so this is the inductive SVM. Mark documents to label by "
                f"{'None or NaN' if self.unlabeled is None else repr(self.unlabeled)}.",
                DataWarning,
                stacklevel=3,
            )
        self.label_space_ = space
        self.unlabeled_: NDArray[np.bool_] = signs == 0 if space.indicator else signs[:, 0] == 0
        # Rows in an order of their own make the result independent of the order in which they came.
        rows = sp.csr_array(X)
        self._kernel.refuse_overflow(canonical_csr(rows), self._offset)
        order = _order_of_content(rows, signs)
        rows = rows[order]
        self._set_sizes(rows, signs[order])
        found = self._search(rows, signs[order])
        alone = np.count_nonzero(signs == 0, axis=0) == 1
        decided = np.count_nonzero((signs[order].T == 0) & (found.transductive.y > 0), axis=1)
        self.positives_[alone] = decided[alone]
        self._keep(rows, signs, order, found)
        return self

    def get_state(self) -> State:
        """What is needed to score and to decide: a configuration for JSON, and arrays."""
        config, arrays = super().get_state()
        for name in ("positives", "unlabeled"):  # which may be NumPy's, or NaN, which None stands for too
            value = config["parameters"][name]
            value = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
            config["parameters"][name] = None if value != value else value
        return config, arrays

    @property
    def _how(self) -> Search:
        return Search(
            switching=self.switching,
            first_costs=self.first_costs,
            tol=float(self.tol),
            max_iter=_MAX_ITER,
            cache_megabytes=float(self.cache),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )

    def _machines(self, rows: sp.csr_array, signs: NDArray[np.int8]) -> Machines:
        costs = label_costs(self.C, self.class_weight, self.label_space_, signs, np.zeros(0))
        equality = isinstance(self.bias, str)
        return Machines(canonical_csr(rows), self._kernel, costs, self._how, equality, self._offset)

    def _set_sizes(self, rows: sp.csr_array, signs: NDArray[np.int8]) -> None:
        """Decide how many unlabeled documents become positive in every column."""
        space, k = self.label_space_, np.count_nonzero(signs == 0, axis=0)
        labeled_shares = isinstance(self.positives, str) and self.positives == "labeled"
        given = None if labeled_shares else self.positives
        self.positives_: NDArray[np.int64] = count_positives(given, space, signs)
        self.shares_: Floats | None = None
        if space.kind == "multilabel" or k.max() < 2:
            return
        n = int(k[0])
        if (given is None and not labeled_shares) or isinstance(given, dict):
            estimate = shares_by_scores(self._machines(rows, signs), np.ascontiguousarray(signs.T))
            names = space.classes.tolist()
            columns = space.column_names.tolist()
            known = {names.index(name): self.positives_[columns.index(name)] / n for name in given or ()}
            self.shares_ = completed_shares(estimate, known)
        elif space.kind == "binary":
            share = self.positives_[0] / n
            self.shares_ = np.array([1 - share, share])
        else:
            self.shares_ = self.positives_ / self.positives_.sum()
        if space.kind == "binary":
            self.positives_ = np.clip(sizes_of(self.shares_, n)[1:], 1, n - 1)
        elif self.classes == "joint":
            self.positives_ = sizes_of(self.shares_, n)

    def _search(self, rows: sp.csr_array, signs: NDArray[np.int8]) -> Found:
        machines = self._machines(rows, signs)
        costs, by_column = machines.costs, np.ascontiguousarray(signs.T)
        par = np.column_stack([costs[1], costs[0]])
        if self.C_unlabeled is None:
            n_labeled, k = np.count_nonzero(signs, axis=0), np.count_nonzero(signs == 0, axis=0)
            factor = np.minimum(1.0, TOGETHER * n_labeled / np.maximum(k, 1))
        else:
            factor = np.full(len(par), self.C_unlabeled / self.C)
        self._limits = factor[:, None] * par
        if self._together and factor[0] > 0:
            to_par = bool(self.alarm_level)
            return joint_search(machines, by_column, self.positives_, float(factor[0]), to_par=to_par)
        return search(
            machines.csr,
            self._kernel,
            by_column,
            np.where(by_column > 0, costs[0][:, None], costs[1][:, None]),
            self._limits,
            par if self.alarm_level else self._limits,
            self.positives_,
            machines.how,
            equality=machines.equality,
            offset=self._offset,
        )

    @property
    def _together(self) -> bool:
        """Whether several classes are searched together."""
        several = self.label_space_.kind == "multiclass" and np.count_nonzero(self.unlabeled_) > 1
        return bool(several and self.classes == "joint")

    @property
    def _offset(self) -> float:
        return float(self.bias) ** 2 if isinstance(self.bias, Real) else 0.0

    def _keep(
        self, rows: sp.csr_array, signs: NDArray[np.int8], order: NDArray[np.intp], found: Found
    ) -> None:
        """Set the attributes; `rows` and what was `found` are in that `order`."""
        back = np.argsort(order)
        ours, inductive = found.transductive.in_order(back), found.inductive.in_order(back)
        y, alpha, scores = ours.y, ours.alpha, ours.scores
        costs = label_costs(self.C, self.class_weight, self.label_space_, signs, np.zeros(0))
        upper = np.where(y > 0, costs[0][:, None], costs[1][:, None])
        limits = np.where(y > 0, self._limits[:, 1:], self._limits[:, :1])
        upper = np.where(signs.T == 0, limits, upper)
        xi = np.where(upper > 0, np.maximum(0.0, 1.0 - y * scores), 0.0)
        ww = (alpha * y * ours.s).sum(axis=1)
        self.objective_ = 0.5 * ww + (upper * xi).sum(axis=1)
        self.duality_gap_ = np.maximum(self.objective_ - (alpha.sum(axis=1) - 0.5 * ww), 0.0)
        self.levels_: list[list[Level]] = found.levels
        self.switches_: list[NDArray[np.intp]] = [order[pairs] for pairs in found.switched]
        self.n_switches_ = np.array([sum(level.switches for level in column) for column in found.levels])
        self.alpha_, self.xi_ = alpha.T, xi.T
        self.inductive_ = inductive.scores.T
        self._raise_alarms(canonical_csr(rows), found.at_par.in_order(back), signs == 0)
        fell_back = self.fell_back_[:, None]
        y = np.where(fell_back, self._inductive_labels(signs), y)
        self.scores_ = np.where(fell_back, inductive.scores, scores).T
        signed = np.where(fell_back, inductive.alpha, alpha) * np.where(signs.T != 0, signs.T, y)
        intercept = np.where(fell_back, inductive.intercept, ours.intercept)[:, 0]
        if isinstance(self.bias, Real):
            intercept = self._offset * signed.sum(axis=1)
        self.intercept_ = intercept
        self._set_rule(rows, signed[:, order])
        choice = y.T.copy()
        if self.label_space_.kind == "multiclass":
            choice[self.unlabeled_] = self._chosen(self.scores_[self.unlabeled_])
        self.transduction_: Any = self.label_space_.decide(choice)
        if not found.converged.all():
            warnings.warn(
                f"{np.count_nonzero(~found.converged)} of {len(found.converged)} searches did "
                f"not converge. Raise tol, or lower C.",
                ConvergenceWarning,
                stacklevel=4,
            )

    @property
    def _tests(self) -> tuple[str, ...]:
        """The tests of 7.5 that hold: labeled documents may be a number per class, not a sample."""
        if self._together:
            return ("positive",)
        by_class = self.label_space_.kind == "binary" and self.positives is None
        return ("positive", "negative") if by_class else ("all", "positive", "negative")

    def _chosen(self, scores: Floats) -> Floats:
        """Scores whose largest is that of the class of each unlabeled document."""
        if not self._together:
            return scores
        place = assigned(costs_in_classes(scores), self.positives_)
        return np.where(place[:, None] == np.arange(scores.shape[1]), 1.0, -1.0)

    def _raise_alarms(self, csr: Csr, at_par: Machine, unlabeled: NDArray[np.bool_]) -> None:
        names = self.label_space_.column_names.tolist()
        self.fell_back_ = np.zeros(len(names), dtype=bool)
        self.alarm_: list[Alarm | None] = [None] * len(names)
        if not self.alarm_level:
            return
        largest = self._kernel.largest(row_squares(csr))
        # Values of the other kernels may be negative, those of data without negative values cannot.
        kernel_range = 2 * largest if self.kernel != "rbf" and csr.data.min(initial=0.0) < 0 else largest
        xi = np.maximum(0.0, 1.0 - at_par.y * at_par.scores)
        for column in np.flatnonzero(unlabeled.any(axis=0) & (self._limits > 0).any(axis=1)).tolist():
            self.alarm_[column] = transduction_alarm(
                at_par.alpha[column],
                xi[column],
                at_par.y[column],
                unlabeled[:, column],
                kernel_range=kernel_range,
                level=float(self.alarm_level),
                # The boundary of one of many classes is near few documents.
                least_support=0.0 if self._together else float(self.alarm_support),
                tests=self._tests,
            )
        fired = {names[c]: alarm.sentence for c, alarm in enumerate(self.alarm_) if alarm and alarm.fired}
        if not fired or self.on_alarm == "ignore":
            return
        if self.on_alarm == "inductive":
            self.fell_back_ = np.array([bool(alarm and alarm.fired) for alarm in self.alarm_])
            return
        message = " ".join(f"{name!r}: {sentence}" for name, sentence in list(fired.items())[:3])
        if len(fired) > 3:
            message += f" And {len(fired) - 3} more labels."
        if self.on_alarm == "error":
            raise DataError(f'{message} Label more documents, or pass on_alarm="inductive".')
        warnings.warn(message, DataWarning, stacklevel=5)

    def _inductive_labels(self, signs: NDArray[np.int8]) -> Floats:
        """The labels that the inductive rule gives: `positives_` of the unlabeled documents are positive."""
        labels = signs.T.astype(np.float64)
        for column, count in enumerate(self.positives_):
            rows = np.flatnonzero(signs[:, column] == 0)
            ranked = rows[np.argsort(-self.inductive_[rows, column], kind="stable")]
            labels[column, ranked[:count]] = 1.0
            labels[column, ranked[count:]] = -1.0
        return labels


def _order_of_content(X: sp.csr_array, signs: NDArray[np.int8]) -> NDArray[np.intp]:
    """An order of the rows that depends on what they hold (and their labels), not on where they stand."""
    generator = np.random.default_rng(0)
    # Rows of a sparse matrix are added up alike; with a dense one rounding depends on where a row stands.
    content = X @ generator.standard_normal(X.shape[1])
    return np.lexsort((signs @ generator.standard_normal(signs.shape[1]), content))
