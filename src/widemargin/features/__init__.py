"""Selecting, sampling and constructing features."""
