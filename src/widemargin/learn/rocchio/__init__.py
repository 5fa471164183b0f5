"""Rocchio's classifier: sums of documents per label, and the centroids that follow from them."""
