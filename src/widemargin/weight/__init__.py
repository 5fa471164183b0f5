"""Counts to weights: SMART term weighting, and the vectorizer that goes from texts to weights."""
