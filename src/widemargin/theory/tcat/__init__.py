"""TCat-concepts (joachims, chapter 4): tasks described by how many words of each kind a document has."""

from widemargin.theory.tcat.concept import TCatConcept
from widemargin.theory.tcat.estimation import (
    NOT_ENOUGH,
    TCatEstimate,
    WordBands,
    WordSet,
    estimate_concepts,
    indicator_groups,
)
from widemargin.theory.tcat.intervals import IntervalConcept, interval_concept
from widemargin.theory.tcat.learnability import cost_for_noise, documents_needed, error_bound, measured_noise
from widemargin.theory.tcat.weighting import (
    WeightingAdvice,
    advise_weighting,
    length_factor,
    weighted_margin,
)

__all__ = [
    "NOT_ENOUGH",
    "IntervalConcept",
    "TCatConcept",
    "TCatEstimate",
    "WeightingAdvice",
    "WordBands",
    "WordSet",
    "advise_weighting",
    "cost_for_noise",
    "documents_needed",
    "error_bound",
    "estimate_concepts",
    "indicator_groups",
    "interval_concept",
    "length_factor",
    "measured_noise",
    "weighted_margin",
]
