"""scikit-learn's vectorizers and classifiers as parts of a classifier, and pipelines there and back."""
