"""Expectation maximization for naive Bayes over labeled and unlabeled documents.

Nigam, McCallum, Thrun and Mitchell, Machine Learning 39, 2000 (joachims 7.6.1). The classes of unlabeled
documents are not known, so they count in every class by its probability: the E-step computes Pr(y|d) of every
unlabeled document, the M-step counts again. A turn of both never lowers the log-posterior of the model,

    sum over labeled d of log P(d, y) + c sum over unlabeled d of log sum_y P(d, y) + s sum of log P(w|y),

where c is the weight of an unlabeled document and the last term is the prior of which the smoothing s is the
estimate (for the Bernoulli model, of P(w|y) and 1 - P(w|y)). A document of label sets is in one of the two
classes "with the label" and "without" for every label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin._arrays import Csr, canonical_csr, times
from widemargin._threads import thread_count
from widemargin.learn.bayes.event_models import Settings, without_priors
from widemargin.learn.class_counts import ClassCounts, less

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Mixture:
    """Labeled counts, and unlabeled documents that are added to them.

    Attributes
    ----------
    labeled : the labeled documents
    signs : (n, columns) their labels
    unlabeled : the others
    weight : how much an unlabeled document counts
    settings : of the event model
    n_jobs : number of threads, None for all cores
    """

    labeled: Csr
    signs: NDArray[np.int8]
    unlabeled: Csr
    weight: float
    settings: Settings
    n_jobs: int | None = None

    def start(self) -> ClassCounts:
        """The counts of labeled documents alone."""
        return ClassCounts.of(self.labeled, self.signs, np.zeros(0), self.n_jobs)

    def step(self, counts: ClassCounts, start: ClassCounts) -> tuple[ClassCounts, float]:
        """One E-step and M-step: new counts, and the log-posterior of those that came in."""
        inside, outside = self._joint(counts, self.unlabeled)
        if self.settings.exclusive:
            total = np.logaddexp.reduce(inside, axis=1, keepdims=True)
        else:
            total = np.logaddexp(inside, outside)
        shares = np.exp(inside - total)
        # An impossible class, or one that every document has, stays that.
        open_columns = (start.documents > 0) & ((start.rest > 0) | self.settings.exclusive)
        objective = self.weight * total[:, open_columns if total.shape[1] > 1 else slice(None)].sum()
        shares[:, start.documents <= 0] = 0.0
        if not self.settings.exclusive:
            shares[:, start.rest <= 0] = 1.0
        objective += self._of_labeled(counts, open_columns) + self._of_prior(counts, open_columns)
        return start.plus(self._expected(shares)), float(objective)

    def _expected(self, shares: Floats) -> ClassCounts:
        """What unlabeled documents add, each by its share in every column."""
        rows = self.unlabeled.matrix.astype(np.float64)
        terms = sp.csr_array(self.weight * (rows.T @ shares).T)
        return ClassCounts(
            canonical_csr(terms),
            self.weight * np.asarray(rows.sum(axis=0), dtype=np.float64).ravel(),
            self.weight * shares.sum(axis=0),
            self.weight * self.unlabeled.n_rows,
        )

    def _of_labeled(self, counts: ClassCounts, open_columns: NDArray[np.bool_]) -> float:
        inside, outside = self._joint(counts, self.labeled)
        own = self.signs > 0
        found = np.where(own, inside, 0.0 if self.settings.exclusive else outside)
        return float(found[:, open_columns].sum())

    def _of_prior(self, counts: ClassCounts, open_columns: NDArray[np.bool_]) -> float:
        groups = [counts] if self.settings.exclusive else [counts, _others(counts)]
        found = 0.0
        for group in groups:
            weights, constant = without_priors(group, self._single)
            found += float(weights[:, open_columns].sum())
            if self.settings.binary_terms:
                found += 2 * float(constant[open_columns].sum())
        return self.settings.smoothing * found

    def _joint(self, counts: ClassCounts, documents: Csr) -> tuple[Floats, Floats]:
        """log P(d, y) and log P(d, not y) of documents, (n, columns); the latter for label sets only."""
        inside = self._log_joint(counts, documents, counts.documents, counts.n)
        if self.settings.exclusive:
            return inside, inside
        others = _others(counts)
        return inside, self._log_joint(others, documents, others.documents, counts.n)

    def _log_joint(self, counts: ClassCounts, documents: Csr, n_of: Floats, n: float) -> Floats:
        weights, constant = without_priors(counts, self._single)
        if self.settings.fitted_prior:
            with np.errstate(divide="ignore"):
                constant = constant + np.log(n_of / n)
        else:
            constant = constant - np.log(len(n_of) if self.settings.exclusive else 2)
        return times(documents, weights, thread_count(self.n_jobs), plus=constant)

    @property
    def _single(self) -> Settings:
        """Of the log-probabilities of one group, not of their differences."""
        return self.settings._replace(exclusive=True)


def _others(counts: ClassCounts) -> ClassCounts:
    """The counts of the documents that do not belong to each column."""
    terms = np.vstack([less(counts.all_terms, counts.column(k)) for k in range(counts.terms.n_rows)])
    made: Any = canonical_csr(sp.csr_array(terms))
    return ClassCounts(made, counts.all_terms, counts.rest, counts.n)
