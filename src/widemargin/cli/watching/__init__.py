"""What verbs say of documents beside their labels: what is left undecided, what drifts, what to do next."""
