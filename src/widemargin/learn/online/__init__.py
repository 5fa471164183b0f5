"""Learners that take documents one by one: the Perceptron, the Winnow family, and large-margin duals."""
