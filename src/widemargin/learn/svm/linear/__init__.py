"""Solvers of linear support vector machines beside the dual one: L1 penalty, measures, unregularized bias."""
