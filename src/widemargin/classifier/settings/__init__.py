"""The settings of a classifier: what was given explicitly, and what "auto" stands for."""
