"""Counts to weights: SMART term weighting, and the vectorizer that turns texts into weights."""
