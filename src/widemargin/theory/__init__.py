"""Models of text and of classification tasks, and theoretical bounds."""

from widemargin.theory.laws import HeapsLaw, ZipfLaw, document_sizes, fit_heaps, fit_zipf
from widemargin.theory.tcat import TCatConcept, TCatEstimate, WordBands, estimate_concepts

__all__ = [
    "HeapsLaw",
    "TCatConcept",
    "TCatEstimate",
    "WordBands",
    "ZipfLaw",
    "document_sizes",
    "estimate_concepts",
    "fit_heaps",
    "fit_zipf",
]
