"""Naive Bayes that also learns from unlabeled documents, by expectation maximization (joachims 7.6.1)."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from widemargin._arrays import Csr, canonical_csr, checked_csr
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import AT_LEAST_0, COUNT, one_of, parameter, require_finite
from widemargin.errors import DataError
from widemargin.labels import Labels
from widemargin.learn.bayes.bayes_model import BayesModel, Floats
from widemargin.learn.bayes.expectation import Mixture


@dataclass(eq=False, repr=False)
class SemiSupervisedBayes(BayesModel):
    """Naive Bayes on labeled and unlabeled documents.

    Unlabeled documents count in every class by its probability, which the counts give: both are computed in
    turns, and every turn makes the model more probable (:mod:`widemargin.learn.bayes.expectation`). This
    helps where few documents are labeled and the classes are the topics that the documents fall into.

    Parameters
    ----------
    smoothing, prior, n_jobs : as in :class:`~widemargin.NaiveBayes`
    event_model : "multinomial" or "bernoulli"
    unlabeled_weight : how often an unlabeled document counts; less than 1 where they are many
    unlabeled : the mark of an unlabeled document in `y`: None for None and NaN, or a value such as -1
    tol : stop when the log-posterior rises by less than this share of it
    max_iter : the maximum number of turns

    Attributes
    ----------
    coef_, intercept_, counts_ : as in :class:`~widemargin.NaiveBayes`
    objectives_ : the log-posterior of every model, from that of the labeled documents to the last one; it
        never falls
    n_iter_ : number of models, one more than there were turns
    transduction_ : labels of all training documents, in the form of `y`; those that were given stay
    unlabeled_ : (n,) true for inferred labels
    scores_ : (n, columns) scores of the training documents
    inductive_ : (n, columns) their scores by naive Bayes on the labeled documents only

    Examples
    --------
    >>> X = np.array([[2, 0, 1, 0], [0, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2], [0, 1, 0, 0]])
    >>> y = ["grain", "money", None, None, None]
    >>> model = SemiSupervisedBayes().fit(X, y)  # the last term only occurs in unlabeled documents
    >>> model.predict(np.array([[0, 0, 0, 1]])).tolist()
    ['grain']
    """

    smoothing: float = 1.0
    _: KW_ONLY
    event_model: Literal["multinomial", "bernoulli"] = parameter(
        "multinomial", one_of("multinomial", "bernoulli")
    )
    unlabeled_weight: float = parameter(1.0, AT_LEAST_0)
    unlabeled: Any = None
    tol: float = parameter(1e-6, AT_LEAST_0)
    max_iter: int = parameter(100, COUNT)

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any) -> Self:
        """Train on labeled and unlabeled documents.

        Parameters
        ----------
        X : sparse or dense matrix (n, features) without negative values
        y : labels in any form that :mod:`widemargin.labels` accepts, some of them marked as unlabeled
        """
        self._check_parameters()
        csr = checked_csr(self, X, first=True)
        labels = Labels.partial(y, self.unlabeled, csr.n_rows)
        unknown = labels.unlabeled
        known = labels.take(~unknown)
        if known.marked is not None:
            raise DataError(
                "Some documents have labels of which only a part is known. Mark all labels of a document as "
                "unlabeled, or none."
            )
        self.label_space_ = labels.space
        rows = self.as_scored(csr).matrix
        labeled, others = (canonical_csr(rows[np.flatnonzero(some)]) for some in (~unknown, unknown))
        weight = float(self.unlabeled_weight)
        mixture = Mixture(labeled, known.signs, others, weight, self._settings, self.n_jobs)
        start = counts = mixture.start()
        objectives: list[float] = []
        self.n_iter_ = 1
        while weight > 0 and others.n_rows:
            following, objective = mixture.step(counts, start)
            objectives.append(objective)
            if len(objectives) > 1 and objective - objectives[-2] <= float(self.tol) * abs(objective):
                break
            if self.n_iter_ > self.max_iter:
                warnings.warn(
                    f"The model still changes after {self.max_iter} turns. Raise max_iter or tol.",
                    ConvergenceWarning,
                    stacklevel=4,
                )
                break
            counts = following
            self.n_iter_ += 1
        self.objectives_ = np.array(objectives)
        self._keep(labels.space, start)
        self.inductive_ = self._scores(csr)
        self._keep(labels.space, counts)
        self.scores_ = self._scores(csr)
        coef, intercept = self._linear_rule()
        require_finite(self, csr, coef_=coef, intercept_=intercept, objectives_=self.objectives_)
        self.unlabeled_: NDArray[np.bool_] = unknown
        choice = labels.signs.astype(np.float64)
        choice[unknown] = self.scores_[unknown]
        self.transduction_: Any = labels.space.decide(choice)
        return self

    def _scores(self, csr: Csr) -> Floats:
        return np.asarray(self.decision_function(csr.matrix)).reshape(csr.n_rows, -1)
