"""Texts to counts: tokens, stop lists, stemming, n-grams, vocabularies."""
