"""Training a classifier on more documents than fit into memory: `TextClassifier.fit_files`."""
