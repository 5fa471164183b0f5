"""Joachims, The Maximum-Margin Approach to Learning Text Classifiers (2000)."""
