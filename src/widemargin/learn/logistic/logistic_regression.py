"""Logistic regression: all labels of a task in one call (core/linear/logistic.hpp)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

import widemargin._core as _core
from widemargin._arrays import Csr, checked_csr
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import AT_LEAST_0, COUNT, POSITIVE, SIZE_OF_BIAS, parameter, require_finite
from widemargin._threads import thread_count
from widemargin.decide.calibration import Platt
from widemargin.decide.rule import DecisionRule
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.costs import BALANCE, Balance, sample_weights, training_costs
from widemargin.learn.left_out.machines import LeavesOut
from widemargin.learn.linear_model import LinearModel
from widemargin.learn.linear_problem import linear_problem, train_logistic
from widemargin.learn.logistic.left_out import left_out_logistic, logistic_cost
from widemargin.progress import watch

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class LogisticRegression(LeavesOut, LinearModel):
    """Logistic regression with a penalty on squared weights, one against the rest for several labels.

    Minimizes ``1/2 w.w + sum_i C_i log(1 + exp(-y_i f(x_i)))`` by dual coordinate descent, for all labels
    together on several threads. `C` is that of LIBLINEAR and of scikit-learn. The scores are log-odds, so
    probabilities need no calibration.

    Parameters
    ----------
    C : weight of the losses against the penalty
    bias : size of the constant feature whose weight is the intercept, regularized like the others; None for
        hyperplanes through the origin
    class_weight : "balanced" gives the positive and the negative examples of each label the same total
        cost; a dict multiplies the cost of a label's positive examples (binary: of each class)
    balance : as for :class:`~widemargin.LinearSVM`, but 0 unless it is given: unequal costs would shift the
        probabilities
    tol : stop when the duality gap is at most `tol` times the objective
    max_iter : maximum number of passes per label
    warm_start : start from the last solution if it has the right shape
    random_state : random seed of the order in which examples are visited
    n_jobs : number of threads, None for all cores; the result does not depend on it
    verbose : show a progress bar when stderr is a terminal

    Attributes
    ----------
    coef_ : (labels, features); one row for a binary task
    intercept_ : (labels,)
    alpha_ : dual variables of the training examples, C times the probability of the wrong answer: (n,)
        binary, else (n, labels)
    xi_ : what the margins of the training examples lack to 1, shaped as `alpha_`
    objective_, duality_gap_, n_iter_ : primal objective, duality gap and number of passes, for each label
    label_space_ : the labels and their form
    classes_ : all labels

    Examples
    --------
    >>> X = np.array([[0, 1], [1, 1], [3, 0], [4, 1]])
    >>> model = LogisticRegression(C=10).fit(X, ["ham", "ham", "spam", "spam"])
    >>> model.predict(np.array([[5, 0], [0, 0]])).tolist()
    ['spam', 'ham']
    >>> model.predict_proba(np.array([[5, 0], [0, 0]])).round(2).tolist()
    [[0.0, 1.0], [0.78, 0.22]]
    """

    C: float = parameter(1.0, POSITIVE)
    _: KW_ONLY
    bias: float | None = parameter(1.0, SIZE_OF_BIAS)
    class_weight: Literal["balanced"] | dict[Any, float] | None = None
    balance: Balance = parameter(0.0, BALANCE)
    tol: float = parameter(1e-3, AT_LEAST_0)
    max_iter: int = parameter(1000, COUNT)
    warm_start: bool = False
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: bool = False

    loss = "logistic"  # not a parameter: bounds for the hinge loss do not apply

    _leave_out = left_out_logistic
    _left_out_cost = logistic_cost

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogisticRegression:
        """Train on documents and their labels.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in any form that :mod:`widemargin.labels` accepts
        sample_weight : (n,) factors on the losses of the examples
        """
        self._check_parameters()
        csr = checked_csr(self, X, first=True)
        space, signs = Labels.of(y, csr.n_rows).space_and_signs
        weights = sample_weights(sample_weight, csr.n_rows)
        costs = training_costs(self, space, signs, weights)
        start = self._start(csr.n_rows, space) if self.warm_start else None
        options = _core.LogisticOptions(
            bias=0.0 if self.bias is None else float(self.bias),
            tol=float(self.tol),
            max_passes=int(self.max_iter),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )
        done, n_labels = np.zeros(1, np.int64), signs.shape[1]
        with watch(done, "Training", total=n_labels, unit="labels", enabled=None if self.verbose else False):
            problem = linear_problem(signs.T, costs, weights, start)
            found = train_logistic(csr, problem, options, thread_count(self.n_jobs), done)
        self._keep(space, csr, found)
        if not found.converged.all():
            self._warn(found)
        return self

    def path(
        self, X: Any, y: Any, Cs: Iterable[float], sample_weight: Any = None
    ) -> list[LogisticRegression]:
        """One fitted model for each C, each started from the previous solution (best in increasing order).

        Examples
        --------
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
        >>> [round(model.objective_, 3) for model in LogisticRegression(tol=1e-6).path(X, y, [0.1, 1])]
        [0.273, 2.623]
        """
        models: list[LogisticRegression] = []
        for C in Cs:
            model: LogisticRegression = clone(self).set_params(C=C)
            if models:
                model.warm_start = True
                model.alpha_ = models[-1].alpha_
                model.label_space_ = models[-1].label_space_
            models.append(model.fit(X, y, sample_weight))
            model.warm_start = self.warm_start
        return models

    @property
    def calibration_(self) -> Platt:
        """What turns scores into probabilities: the sigmoid of each label, as it was learned."""
        check_is_fitted(self, "label_space_")
        n_columns = self.label_space_.n_columns
        return Platt(np.ones(n_columns), np.zeros(n_columns))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities, documents x `classes_`: the sigmoid of every score.

        For label sets each label has its own. For one of several classes they are divided by their sum, as
        scikit-learn does for one-vs-rest. The largest is that of the predicted class.
        """
        scores = self.decision_function(X)
        return DecisionRule(self.label_space_, calibration=self.calibration_).probabilities(scores)

    def _start(self, n: int, space: LabelSpace) -> Floats | None:
        """The last solution, (labels, n), if there is one for the same labels and number of examples."""
        alpha = getattr(self, "alpha_", None)
        if alpha is None or getattr(self, "label_space_", None) != space:
            return None
        by_label = np.ascontiguousarray(alpha.T if alpha.ndim == 2 else alpha[None, :])
        return by_label if by_label.shape == (space.n_columns, n) else None

    def _keep(self, space: LabelSpace, csr: Csr, found: _core.LogisticResults) -> None:
        coef, alpha, xi = found.coef.T, found.alpha, found.xi
        require_finite(self, csr, coef_=coef, intercept_=found.intercept, alpha_=alpha, xi_=xi)
        require_finite(self, csr, objective_=found.objective, duality_gap_=found.gap)
        self.label_space_ = space
        self.coef_, self.intercept_ = coef, found.intercept
        binary = space.kind == "binary"
        self.alpha_, self.xi_ = (alpha[0], xi[0]) if binary else (alpha.T, xi.T)
        self.objective_: Any = float(found.objective[0]) if binary else found.objective
        self.duality_gap_: Any = float(found.gap[0]) if binary else found.gap
        self.n_iter_ = int(found.passes[0]) if binary else found.passes

    def _warn(self, found: _core.LogisticResults) -> None:
        names = self.label_space_.column_names[found.converged == 0].tolist()
        worst = float(np.max(found.gap / np.maximum(found.objective, np.finfo(float).tiny)))
        warnings.warn(
            f"{len(names)} of {len(found.converged)} labels ({', '.join(map(repr, names[:3]))}"
            f"{', ...' if len(names) > 3 else ''}) did not converge in {self.max_iter} passes; the largest "
            f"duality gap is {worst:.2g} of the objective. Raise max_iter or tol, or lower C.",
            ConvergenceWarning,
            stacklevel=4,
        )
