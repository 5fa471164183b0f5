"""Estimates of machines that were trained on rows on disk, block by block."""
