"""How good a learner is, and which one to take, from its training examples alone."""
