"""Naive Bayes: the most probable class, if terms occur independently of each other (joachims 2.5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import checked_csr
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import require_finite
from widemargin.labels import Labels
from widemargin.labels.growing import receive
from widemargin.learn.bayes import left_out
from widemargin.learn.bayes.bayes_model import BayesModel
from widemargin.learn.class_counts import ClassCounts
from widemargin.learn.costs import sample_weights
from widemargin.learn.left_out_documents import Documents
from widemargin.measure.held_out_scores import HeldOutScores, LeftOutCost
from widemargin.weight.left_out import AsNew


@dataclass(eq=False, repr=False)
class NaiveBayes(BayesModel):
    """Naive Bayes on counts of terms, for two classes, several classes or label sets.

    The scores of two classes, and of every label of label sets, are log-odds: log Pr(y|d) / Pr(not y|d).
    Those of several classes are log Pr(y|d) but for a constant of the document. Rows are counts, such as
    those of ``Vectorizer(weighting="txx")``, which is what :class:`~widemargin.TextClassifier` takes by
    default. Values that are not whole numbers are fine, negative ones are not. A class without documents is
    never predicted.

    Parameters
    ----------
    smoothing : count that is added to that of every term in every class; 1 is Laplace's estimator (2.19)
    event_model : "multinomial": how often a term occurs counts; "bernoulli": whether it occurs, and which
        terms do not; "complement": for several classes, a class is compared by the documents of all other
        classes, which suits classes of very different sizes (Rennie et al., 2003), and there is no prior. For
        two classes and label sets this is multinomial with a uniform prior.
    prior : "documents" for the share of documents of a class (2.17), "uniform" for equally likely classes
    n_jobs : number of threads, None for all cores

    Attributes
    ----------
    coef_ : (labels, features); one row for a binary task
    intercept_ : (labels,)
    counts_ : sums of terms and documents, from which the weights follow

    Examples
    --------
    >>> X, y = np.array([[2, 0, 1], [1, 1, 0], [0, 2, 0], [0, 1, 3]]), ["a", "a", "b", "b"]
    >>> model = NaiveBayes().fit(X, y)
    >>> model.predict(np.array([[1, 0, 0], [0, 1, 1]])).tolist()
    ['a', 'b']
    >>> model.predict_proba(np.array([[1, 0, 0]])).round(3).tolist()  # (4/8) and (1/9)
    [[0.818, 0.182]]
    """

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the terms of documents with each label.

        Parameters
        ----------
        X : sparse or dense matrix (n, features) without negative values
        y : labels in any form that :mod:`widemargin.labels` accepts
        sample_weight : (n,) how often each document counts
        """
        self._check_parameters()
        csr = checked_csr(self, X, first=True)
        space, signs = Labels.of(y, csr.n_rows).space_and_signs
        weights = sample_weights(sample_weight, csr.n_rows)
        self._keep(space, ClassCounts.of(self.as_scored(csr), signs, weights, self.n_jobs))
        coef, intercept = self._linear_rule()
        require_finite(self, csr, coef_=coef, intercept_=intercept)
        return self

    @one_fit_at_a_time
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add the counts of more documents; the result is that of one `fit` on all of them.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in the form of the first call; earlier documents do not have labels that are new
        classes : sequence of labels, optional
            Expected labels, in the first call. Two of them make the task binary; by default every label has
            a column.
        sample_weight : (n,) how often each document counts
        """
        first = not hasattr(self, "label_space_")
        self._check_parameters()
        csr = checked_csr(self, X, first=first)
        batch = receive(None if first else self.label_space_, y, classes, n=csr.n_rows)
        weights = sample_weights(sample_weight, csr.n_rows)
        counts = ClassCounts.of(self.as_scored(csr), batch.signs.T, weights, self.n_jobs)
        if not first:
            counts = self.counts_.placed(batch.kept, batch.space.n_columns).plus(counts)
        self._keep(batch.space, counts)
        return self

    def left_out_scores(
        self, X: Any, y: Any, sample_weight: Any = None, *, as_new: AsNew | None = None, **_: Any
    ) -> HeldOutScores:
        """Scores of training examples by the rules learned without them, in closed form.

        The counts of each document are taken out of those of its labels; nothing is learned again. What else
        learners take here is about ways that are not exact.
        """
        check_is_fitted(self, "label_space_")
        csr = checked_csr(self, X, first=False)
        labels = Labels.of(y, csr.n_rows, space=self.label_space_)
        weights = sample_weights(sample_weight, csr.n_rows)
        new = None if as_new is None else self.as_scored(checked_csr(self, as_new.rows, first=False))
        documents = Documents.of(self.as_scored(csr), weights, new)
        scores = left_out.scores(self.counts_, documents, labels.signs, self._settings)
        require_finite(self, csr, left_out_scores=scores)
        return HeldOutScores.of_closed_form(scores, labels.signs)

    def left_out_cost(self, X: Any) -> LeftOutCost:
        """What `left_out_scores` is predicted to take on `X`."""
        check_is_fitted(self, "label_space_")
        size = X.nnz if hasattr(X, "nnz") else np.size(X)
        cells = float(size + X.shape[1]) * self.label_space_.n_columns
        return LeftOutCost(
            left_out.WORK[self.event_model] * cells, "naive Bayes would take every term out of all counts"
        )
