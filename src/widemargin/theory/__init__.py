"""Models of text and of classification tasks, and theoretical bounds."""

from widemargin.theory.tcat import TCatConcept

__all__ = ["TCatConcept"]
