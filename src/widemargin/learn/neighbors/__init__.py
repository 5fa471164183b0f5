"""Nearest neighbors: documents that are kept, and the votes of those most similar to a new one."""
