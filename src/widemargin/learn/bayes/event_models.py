"""The probability of a document in a class, as a linear rule (joachims 2.5.1).

A group of documents, those of a class or all others, has a model of the terms in its documents:

- multinomial: a document is drawn term by term, with P(w) = (s + TF(w)) / (s |F| + sum TF), (2.18), (2.19);
- Bernoulli: every term of the vocabulary is in a document or not, with P(w) = (s + DF(w)) / (2 s + n);

where s is the smoothing, 1 for Laplace's estimator. Both make log P(document) linear in the document. Scores:

- two classes, or label sets: the log-odds log P(d|y) P(y) - log P(d|not y) P(not y) of every column;
- several classes: log P(d|y) P(y), less its mean over the classes, which changes neither the largest score
  nor the posterior probabilities (2.20), and gives every term a weight that compares the classes;
- several classes by their complements (Rennie et al., ICML 2003): -log P(d|not y) instead, without priors.

A class without documents is never predicted: its weights are 0, its score is as if it had half a document.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin.learn.class_counts import ClassCounts, less

Floats = NDArray[np.float64]
EventModel = Literal["multinomial", "bernoulli", "complement"]
EVENT_MODELS = ("multinomial", "bernoulli", "complement")
PRIORS = ("documents", "uniform")


class Settings(NamedTuple):
    """What the rules of naive Bayes depend on, besides the counts.

    Attributes
    ----------
    event_model : see :class:`~widemargin.NaiveBayes`
    smoothing : count that is added to that of every term
    fitted_prior : whether P(y) is the share of documents (2.17); otherwise all classes are equally likely
    exclusive : whether a document has one of several classes
    """

    event_model: str
    smoothing: float
    fitted_prior: bool
    exclusive: bool

    @property
    def binary_terms(self) -> bool:
        """Whether terms count once in every document."""
        return self.event_model == "bernoulli"

    @property
    def uses_complements(self) -> bool:
        return self.event_model == "complement" and self.exclusive

    @property
    def uses_prior(self) -> bool:
        return self.fitted_prior and self.event_model != "complement"


def linear_rule(counts: ClassCounts, settings: Settings) -> tuple[Floats, Floats]:
    """Weights (features, columns) and intercepts of the scores.

    Examples
    --------
    >>> from widemargin._arrays import canonical_csr
    >>> X, signs = canonical_csr(np.array([[1.0, 0], [2, 1], [0, 3]])), np.array([[1], [1], [-1]], np.int8)
    >>> counts = ClassCounts.of(X, signs, np.zeros(0), None)
    >>> weights, intercept = linear_rule(counts, Settings("multinomial", 1.0, True, False))
    >>> np.exp(weights.ravel()).round(3).tolist()  # (4/6) / (1/5) and (2/6) / (4/5)
    [3.333, 0.417]
    >>> np.exp(intercept).round(3).tolist()
    [2.0]
    """
    weights, intercept = without_priors(counts, settings)
    intercept += log_priors(counts.documents, counts.rest, settings)
    if settings.exclusive:
        center(weights, counts.documents > 0)
    weights[:, settle(intercept, counts.documents, counts.rest, settings)] = 0.0
    return weights, intercept


def without_priors(counts: ClassCounts, settings: Settings) -> tuple[Floats, Floats]:
    """The rule before priors, and before scores of exclusive classes are centered: log P(d|y) for these."""
    return _bernoulli(counts, settings) if settings.binary_terms else _multinomial(counts, settings)


def log_priors(documents: Floats, rest: Floats, settings: Settings) -> Floats:
    """What the prior adds to the scores of columns with so many documents, and so many `rest` of all.

    It is 0 for classes without documents, whose scores `settle` sets, and lacks what all classes share.
    """
    if not settings.uses_prior:
        return np.zeros(documents.shape)
    return _log(documents) if settings.exclusive else _log(documents) - _log(rest)


def settle(scores: Floats, documents: Floats, rest: Floats, settings: Settings) -> NDArray[np.bool_]:
    """Center the scores of exclusive classes, and set those of a class of no documents, or of all.

    Parameters
    ----------
    scores : (columns,) intercepts, or (n, columns)
    documents, rest : in the same shape; the documents of each column, and the others

    Returns
    -------
    which scores were set
    """
    nobody, everybody = documents <= 0, (rest <= 0) & (not settings.exclusive)
    if settings.exclusive:
        center(scores, ~nobody)
    half = np.log(2 * np.maximum(documents + rest, 1.0))
    np.copyto(scores, -half, where=nobody)
    np.copyto(scores, half, where=everybody)
    return nobody | everybody


def center(values: Floats, present: NDArray[np.bool_]) -> None:
    """Subtract from (..., columns) the mean of the columns that are present."""
    values -= values.mean(axis=-1, keepdims=True, where=np.broadcast_to(present, values.shape))


def _log(values: Floats) -> Floats:
    """Logarithms of what is positive, 0 for the rest."""
    return np.log(values, out=np.zeros(values.shape), where=values > 0)


def _multinomial(counts: ClassCounts, settings: Settings) -> tuple[Floats, Floats]:
    """Log-probabilities of the terms, or their differences.

    Most terms of most labels have a count of 0, so their weights differ by a constant of the label from those
    of another such label: logarithms are only needed of the stored counts, and of all terms once.
    """
    s = float(settings.smoothing)
    sizes = counts.sizes
    inside, inside_size = np.log(s + counts.terms.data), np.log(_with_all_terms(counts, sizes, s))
    if settings.exclusive and not settings.uses_complements:
        missing, stored, constant = np.full(counts.terms.n_columns, np.log(s)), inside, -inside_size
    else:
        others = less(np.full(counts.terms.n_rows, counts.all_terms.sum()), sizes)
        outside_size = np.log(_with_all_terms(counts, others, s))
        missing, stored, constant = -np.log(s + counts.all_terms), -np.log(s + counts.others), outside_size
        if not settings.uses_complements:
            missing, stored, constant = missing + np.log(s), stored + inside, constant - inside_size
    columns = counts.columns
    weights = missing[:, None] + constant
    weights[counts.terms.indices, columns] = stored + constant[columns]
    return weights, np.zeros(counts.terms.n_rows)


def _with_all_terms(counts: ClassCounts, sizes: Floats, smoothing: float) -> Floats:
    return sizes + smoothing * counts.terms.n_columns


def _bernoulli(counts: ClassCounts, settings: Settings) -> tuple[Floats, Floats]:
    s, n_columns = float(settings.smoothing), counts.terms.n_rows
    weights, intercept = np.empty((counts.terms.n_columns, n_columns)), np.empty(n_columns)
    for k in range(n_columns):
        inside, n = counts.column(k), counts.documents[k]
        weights[:, k], intercept[k] = _presence(inside, n, s)
        if not settings.exclusive:
            odds, constant = _presence(less(counts.all_terms, inside), float(counts.rest[k]), s)
            weights[:, k] -= odds
            intercept[k] -= constant
    return weights, intercept


def _presence(with_term: Floats, n: float, smoothing: float) -> tuple[Floats, float]:
    """What a term adds to the log-probability of a document, and that of a document without terms."""
    absent = np.log(smoothing + less(np.full(len(with_term), n), with_term))
    constant = float(absent.sum() - len(with_term) * np.log(n + 2 * smoothing))
    return np.log(smoothing + with_term) - absent, constant
