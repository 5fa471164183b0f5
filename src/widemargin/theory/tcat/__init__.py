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

__all__ = [
    "NOT_ENOUGH",
    "TCatConcept",
    "TCatEstimate",
    "WordBands",
    "WordSet",
    "estimate_concepts",
    "indicator_groups",
]
