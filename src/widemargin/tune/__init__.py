"""Choose a representation, a learner and its parameters, using only the training documents."""
