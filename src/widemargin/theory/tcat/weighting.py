"""Whether TFIDF weights suit a task: what they do to the margin of its TCat-concept (joachims, 4.4.1).

Weights multiply the counts of rare words by larger factors than those of frequent words. The margin grows if
rare words discriminate between the classes, but so do all vectors: what counts is the margin relative to the
length of documents.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from widemargin.errors import UsageError
from widemargin.labels import Labels
from widemargin.theory.laws import counts_of
from widemargin.theory.tcat.concept import TCatConcept
from widemargin.theory.tcat.estimation import WordBands, estimate_concepts
from widemargin.weight.smart import weigh


@dataclass(frozen=True)
class WeightingAdvice:
    """Which weighting gives a category the largest margin for documents of unit length.

    Attributes
    ----------
    label : the category
    inverse_margins : R^2/delta^2 of its concept in every weighting
    best : the weighting with the smallest one; None if there are too few documents to say
    """

    label: Any
    inverse_margins: dict[str, float]
    best: str | None


def length_factor(concept: TCatConcept, factors: Iterable[float]) -> float:
    """How much longer documents get when the words of every set are multiplied by a factor: that of R^2.

    As in the thesis, for documents of distinct words, averaged over the two classes.

    Examples
    --------
    TCat_lf of the thesis, in which 30 of 100 words of a document are of low frequency:

    >>> concept = TCatConcept([(40, 40, 50), (30, 30, 2000), (12, 3, 7500), (3, 12, 7500), (15, 15, 15000)])
    >>> round(length_factor(concept, [1, 1, 2, 2, 2]), 4)
    1.9
    """
    words = np.array(concept.sets, dtype=np.float64)[:, :2]
    longer = np.square(np.array(list(factors), dtype=np.float64))
    if longer.shape != words.shape[:1]:
        raise UsageError(f"There are {len(longer)} factors for {len(words)} sets.")
    return float((longer @ words / words.sum(axis=0)).mean())


def weighted_margin(concept: TCatConcept, factors: Iterable[float]) -> float:
    """The least margin after weighting, relative to what weighting does to the length of documents.

    TFIDF weights are worth it if this is more than ``concept.margin_bound()``.

    Examples
    --------
    >>> concept = TCatConcept([(40, 40, 50), (30, 30, 2000), (12, 3, 7500), (3, 12, 7500), (15, 15, 15000)])
    >>> round(concept.margin_bound(), 3), round(weighted_margin(concept, [1, 1, 2, 2, 2]), 3)
    (0.073, 0.107)
    """
    factors = list(factors)
    return concept.reweighted(factors).margin_bound() / math.sqrt(length_factor(concept, factors))


def advise_weighting(
    counts: Any,
    y: Any,
    *,
    schemes: Sequence[str] = ("txc", "tfc"),
    bands: WordBands | None = None,
    min_documents: int = 10,
    n_jobs: int | None = None,
) -> list[WeightingAdvice]:
    """Compare weightings of documents by the margins of the concepts of all categories.

    Parameters
    ----------
    counts : (documents, terms)
    y : labels in any form
    schemes : weightings with unit length (the last letter is c), by default without and with IDF

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> concept = TCatConcept([(40, 40, 50), (4, 1, 1000), (1, 4, 1000)])
    >>> X, y = concept.sample(200, 200, random_state=0)
    >>> advise_weighting(X, y)[0].best
    'tfc'
    """
    for scheme in schemes:
        if not scheme.endswith("c"):
            raise UsageError(f"schemes: {scheme!r} does not give documents unit length. Use {scheme[:2]}c.")
    matrix = counts_of(counts)
    labels = Labels.of(y, matrix.shape[0])
    found: dict[str, list[float]] = {}
    for scheme in schemes:
        estimates = estimate_concepts(
            matrix,
            labels,
            bands=bands,
            min_documents=min_documents,
            weights=weigh(matrix, scheme),
            n_jobs=n_jobs,
        )
        found[scheme] = [estimate.inverse_margin for estimate in estimates]
    advice = []
    for k, label in enumerate(labels.space.column_names.tolist()):
        inverse = {scheme: values[k] for scheme, values in found.items()}
        known = not any(math.isnan(value) for value in inverse.values())
        advice.append(
            WeightingAdvice(label, inverse, min(inverse, key=inverse.__getitem__) if known else None)
        )
    return advice
