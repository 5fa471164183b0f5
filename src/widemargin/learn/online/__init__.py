"""Online learners: the Perceptron, the Winnow family, and large-margin duals."""
