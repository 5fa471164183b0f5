"""Regularized least squares, on all features or on a sample of them."""
