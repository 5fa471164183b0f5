"""Choosing a representation, a learner and its parameters from the training documents alone."""
