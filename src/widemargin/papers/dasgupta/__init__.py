"""Dasgupta and others, Feature Selection Methods for Text Classification (2007)."""
