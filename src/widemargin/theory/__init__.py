"""Models of text and of tasks, as closed formulas and as generators, and what theory says of rules."""

from widemargin.theory.tcat import TCatConcept

__all__ = ["TCatConcept"]
