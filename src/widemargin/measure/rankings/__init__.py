"""Measures of how scores rank documents."""
