"""Naive Bayes: counts of terms per label, and the rules that follow from them."""
