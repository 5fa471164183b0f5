"""Dask collections: `fit` and `predict` of a classifier on bags, Series and DataFrames (extra ``dask``)."""
