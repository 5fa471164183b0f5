"""Models of text and of text-classification tasks, as closed formulas and as generators."""

from widemargin.theory.tcat import TCatConcept

__all__ = ["TCatConcept"]
